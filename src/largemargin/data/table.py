"""Tables in text: CSV, TSV and columns between blanks.

The first lines tell the layout (`find_layout`). The label is cut out of each line as text
(`TableReader._cut_out_labels`; `labels.parse_labels` makes integers of it), and what is left goes
to NumPy's C parser, a block at a time. When that refuses, the lines are looked at one by one to
find the cell that is wrong (`line_problem`).
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from os import PathLike
from typing import IO

import numpy as np

from largemargin.data.errors import MAX_NAME, DataError, broken
from largemargin.data.files import Source, all_whole, each_line, take_lines, whole_record
from largemargin.data.formats import Block, Reader, ReadOptions
from largemargin.data.labels import (
    LABEL_NAMES,
    LabelColumn,
    LabelKind,
    first_bad_label,
    label_kind,
    label_position,
    label_problem,
)
from largemargin.runtime.showing import shown

_SURVEY_ROWS = 4096  # rows that a survey reads together
_EXACT_FLOATS = 1 << 53  # integers below this are floats
# Cells, in lower case, that stand for a missing value.
_MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})


class TableReader(Reader):
    """A table in text; every column but the label is a number."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self._source = source
        label = options.label
        with _text(source) as stream:
            lines = each_line(stream, "", source.path)
            self._layout: TableLayout = find_layout(
                source.path, source.suffix, lines, options.header, label
            )
        names, width = self._layout.names, self._layout.width
        self._label = label_position(source.path, label, names, width)
        if width == 1 and self._label is not None:
            raise broken(
                source.path,
                "expected features beside the label, saw a single column; pass label=False if "
                "there are no labels",
                line=self._layout.first_line,
            )
        if names is not None:
            self.feature_names = tuple(n for i, n in enumerate(names) if i != self._label)

    def survey(self) -> LabelKind | None:
        if self._label is None:
            return None
        seen: set[str] = set()
        for _, lines in self._line_blocks(_SURVEY_ROWS):
            seen.update(self._cut_out_labels([line for line in lines if line])[1])
        return label_kind(list(seen))

    def blocks(self, rows: int) -> Iterator[Block]:
        for first, lines in self._line_blocks(rows):
            yield self._parse(lines, first)

    def _line_blocks(self, rows: int) -> Iterator[tuple[int, list[str]]]:
        """Blocks of `rows` records that are not blank, each with the number of its first line;
        blank lines, and those that a record goes on in, are kept as empty strings, so that
        positions still give line numbers."""
        path = self._source.path
        with _text(self._source) as stream:
            first = self._layout.first_line
            for _ in islice(each_line(stream, "", path), first - 1):
                pass
            lines: list[str] = []
            found = 0
            while chunk := take_lines(stream, rows - found, "", path, first + len(lines)):
                # A tab at the end of a line is an empty last cell, so only newlines are cut off.
                stripped = [line.rstrip("\r\n") for line in chunk]
                if self._layout.delimiter is not None and _has_quotes(stripped):
                    stripped = self._whole_records(stripped, stream, first + len(lines))
                lines += ["" if line.isspace() else line for line in stripped]
                found = len(lines) - lines.count("")
                if found == rows:
                    yield first, lines
                    first, lines, found = first + len(lines), [], 0
            if found:
                yield first, lines

    def _whole_records(self, chunk: list[str], stream: IO[str], first: int) -> list[str]:
        """Lines with those below them that belong to them, in whose places are empty strings."""
        path, delimiter = self._source.path, self._layout.delimiter
        if all_whole(chunk, delimiter):
            return chunk
        records: list[str] = []
        own = iter(chunk)
        for line in own:
            number = first + len(records)
            after = each_line(stream, "", path, first + len(chunk))
            record, height = whole_record(line, chain(own, after), delimiter, path, number)
            if not height:
                problem = line_problem(line, self._layout, self._label)
                told, column = problem or ("a quote is not closed", None)
                raise broken(path, told, line=number, column=column)
            records += [record, *[""] * (height - 1)]
        return records

    def _parse(self, lines: list[str], first: int) -> Block:
        rows = [line for line in lines if line]
        features, labels = self._cut_out_labels(rows)
        try:
            X = _parse_numbers(features, self._layout.delimiter)
        except ValueError as error:
            raise self._diagnose(lines, first, str(error)) from None
        if X.shape != (len(rows), self._layout.width - (self._label is not None)):
            raise self._diagnose(lines, first, "the number of columns changes")
        if not np.all(np.isfinite(X)):
            raise self._diagnose(lines, first, "a value is not finite")
        if self._label is None:
            return Block(X, None)
        if first_bad_label(labels) is not None:
            raise self._diagnose(lines, first, "a label is missing")
        return Block(X, labels)

    def _cut_out_labels(self, rows: list[str]) -> tuple[list[str], list[str]]:
        """The lines without their labels, and the labels."""
        delimiter, label = self._layout.delimiter, self._label
        if _has_quotes(rows):
            return self._cut_out_of_cells(rows)
        if label is None:
            return rows, []
        if label == self._layout.width - 1:
            pairs = [row.rsplit(delimiter, 1)[::-1] for row in rows]
        elif label == 0:
            pairs = [row.split(delimiter, 1) for row in rows]
        else:
            return self._cut_out_of_cells(rows)
        return (
            [pair[1] if len(pair) == 2 else "" for pair in pairs],
            [pair[0].strip() for pair in pairs],
        )

    def _cut_out_of_cells(self, rows: list[str]) -> tuple[list[str], list[str]]:
        features, labels = [], []
        separator = self._layout.delimiter or " "
        for cells in self._layout.cells_of(rows):
            if self._label is not None:
                labels.append(cells.pop(self._label) if self._label < len(cells) else "")
            features.append(separator.join(cells))
        return features, labels

    def _diagnose(self, lines: list[str], first: int, reason: str) -> DataError:
        for number, line in enumerate(lines, first):
            if line and (found := line_problem(line, self._layout, self._label)):
                problem, column = found
                return broken(self._source.path, problem, line=number, column=column)
        return broken(
            self._source.path,
            f"cannot be read as a table ({reason}), somewhere in lines {first} to "
            f"{first + len(lines) - 1}",
        )


def _has_quotes(lines: list[str]) -> bool:
    return '"' in "".join(lines)


def _parse_numbers(rows: list[str], delimiter: str | None) -> np.ndarray:
    if "" in rows:
        raise ValueError("a row has no features")
    X = _parse_whole_numbers(rows, delimiter) if delimiter is not None else None
    if X is not None:
        return X
    return np.loadtxt(rows, dtype=np.float64, delimiter=delimiter, comments=None, ndmin=2)


def _parse_whole_numbers(rows: list[str], delimiter: str) -> np.ndarray | None:
    """What `loadtxt` makes of rows that hold nothing but short integers, in a quarter of its time;
    None for any others, whatever is the matter with them."""
    text, between = delimiter.join(rows), delimiter
    found = text.encode()
    if found.translate(None, b"0123456789-" + between.encode()):
        return None
    # NumPy reads on to the end if each delimiter has a number on both sides, each minus on one.
    ended = text[0] != between and text[-1] not in (between, "-") and between * 2 not in text
    signed = text.count("-") == text.count(f"{between}-") + text.startswith("-")
    # Of integers there is no -0.
    if not ended or not signed or f"-{between}" in text or "-0" in text:
        return None
    widths = {row.count(between) for row in rows}
    values = np.fromstring(found, dtype=np.int64, sep=between)
    # A number that is too long comes out as the largest there is.
    if len(widths) > 1 or np.any(np.abs(values) >= _EXACT_FLOATS):
        return None
    return values.reshape(len(rows), -1).astype(np.float64)


@contextmanager
def _text(source: Source) -> Iterator[IO[str]]:
    """The lines of a file in UTF-8; anything else is a `DataError` with the line."""
    with source.open() as stream, io.TextIOWrapper(stream, encoding="utf-8-sig") as text:
        try:
            yield text
        except UnicodeDecodeError:
            raise _not_text(source) from None


def _not_text(source: Source) -> DataError:
    with source.open() as stream:
        for number, line in enumerate(each_line(stream, b"", source.path), 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return broken(
                    source.path,
                    f"expected text in UTF-8, saw the byte 0x{line[error.start]:02x}; save the "
                    "file as UTF-8, or pass format= if it is not a table in text",
                    line=number,
                )
    return broken(source.path, "expected text in UTF-8")


@dataclass(frozen=True)
class TableLayout:
    """What the first lines of a table tell about the rest.

    A `delimiter` of None is any run of blanks; `first_line` is the number of the first line that
    can hold an example.
    """

    delimiter: str | None
    names: tuple[str, ...] | None
    width: int
    first_line: int

    def cells(self, line: str) -> list[str]:
        """The cells of a line, without quotes and surrounding blanks."""
        return split_cells(line, self.delimiter)

    def cells_of(self, lines: list[str]) -> list[list[str]]:
        """The cells of each of many lines, with one CSV reader for all: to make one for each line
        takes longer than to read the line."""
        if self.delimiter is not None:
            with suppress(csv.Error):
                reader = csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True)
                found = [[cell.strip() for cell in cells] for cells in reader]
                if len(found) == len(lines):
                    return found
        return [self.cells(line) for line in lines]


def find_layout(
    path: str | PathLike[str],
    suffix: str,
    lines: Iterable[str],
    header: bool | None,
    label: LabelColumn,
) -> TableLayout:
    """The layout told by the first two lines, not counting blank ones and comments at the top."""
    lines = iter(lines)
    number, first = next(_content(lines), (0, ""))
    if not first:
        raise broken(path, "expected at least one example, saw no line with any")
    delimiter = "\t" if suffix == ".tsv" else _find_delimiter(first)
    first, height = whole_record(first, lines, delimiter, path, number)
    if not height:
        raise broken(path, "a quote is not closed", line=number)
    top = split_cells(first, delimiter)
    next_line = number + height
    below_number, below = next(_content(lines, next_line), (next_line, ""))
    below, _ = whole_record(below, lines, delimiter, path, below_number)
    if header is None:
        header = _has_header(path, number, top, split_cells(below, delimiter), label)
    if not header:
        return TableLayout(delimiter, None, len(top), number)
    if not below:
        raise broken(path, "expected an example below the header line", line=below_number)
    if max(map(len, top)) > MAX_NAME:
        name = max(top, key=len)
        raise broken(
            path,
            f"expected names of at most {MAX_NAME} characters, saw {shown(name)}",
            line=number,
            column=top.index(name) + 1,
        )
    return TableLayout(delimiter, tuple(top), len(top), next_line)


def split_cells(line: str, delimiter: str | None) -> list[str]:
    """The cells of a line, without quotes and surrounding blanks.

    Examples
    --------
    >>> split_cells('1, 2,"a,b"', ",")
    ['1', '2', 'a,b']
    """
    if delimiter is None:
        return line.replace('"', "").split()
    cells = line.split(delimiter)
    if '"' in line:
        # a cell that is longer than a cell can be is found out as it stands
        with suppress(csv.Error):
            cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    return [cell.strip() for cell in cells]


def _content(lines: Iterator[str], first: int = 1) -> Iterator[tuple[int, str]]:
    """Numbered lines that are not blank, after the comments with which the file may start."""
    in_comments = first == 1
    for number, line in enumerate(lines, first):
        line = line.rstrip("\r\n")
        if in_comments and line.startswith("#"):
            continue
        if line.strip():
            in_comments = False
            yield number, line


def _find_delimiter(line: str) -> str | None:
    """A semicolon wins over commas, which beside it are decimal commas or part of the text."""
    unquoted = "".join(line.split('"')[::2])
    if ";" in unquoted:
        return ";"
    counts = {delimiter: unquoted.count(delimiter) for delimiter in (",", "\t")}
    best = max(counts, key=lambda delimiter: counts[delimiter])
    if counts[best]:
        return best
    return None if len(unquoted.split()) > 1 else ","


def _has_header(
    path: str | PathLike[str], number: int, top: list[str], below: list[str], label: LabelColumn
) -> bool:
    """Whether the first line names the columns: it has text wherever the next has numbers, or one
    of its cells is a usual name of a label. Text over only some numbers could be either a header
    or a slip in an example, and a row silently lost is worse than a question."""
    words = [not is_number(cell) and not is_missing(cell) for cell in top]
    if not any(words):
        return False
    known = set(LABEL_NAMES) | ({label.lower()} if isinstance(label, str) else set())
    if any(cell.lower() in known for cell in top):
        return True
    if not any(below):
        return all(words)
    over_numbers = [
        (column, word)
        for column, (word, cell) in enumerate(zip(words, below, strict=False), 1)
        if is_number(cell)
    ]
    if not any(word for _, word in over_numbers):
        return False
    if all(word for _, word in over_numbers):
        return True
    column = next(column for column, word in over_numbers if word)
    raise broken(
        path,
        f"expected a number as in the line below, saw {shown(top[column - 1])}; correct it, or "
        "pass header=True if this line names the columns",
        line=number,
        column=column,
    )


def is_number(cell: str) -> bool:
    """Whether a cell is a number, infinities included and NaN not.

    Examples
    --------
    >>> is_number("1e-3"), is_number("nan"), is_number("1_000")
    (True, False, False)
    """
    try:
        value = float(cell)
    except ValueError:
        return False
    return not math.isnan(value) and "_" not in cell and cell.isascii()


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value.

    Examples
    --------
    >>> is_missing("?"), is_missing("0")
    (True, False)
    """
    return cell.lower() in _MISSING


def line_problem(line: str, table: TableLayout, label: int | None) -> tuple[str, str | None] | None:
    """What is wrong with a line and in which column, or None."""
    cells = table.cells(line)
    if len(cells) != table.width:
        hint = "; a quote is not closed" if line.count('"') % 2 else ""
        return f"expected {table.width} columns, saw {len(cells)}{hint}", None
    for position, cell in enumerate(cells):
        problem = label_problem(cell) if position == label else _feature_problem(cell, position)
        if problem:
            name = f" ({shown(table.names[position])[1:-1]})" if table.names else ""
            return problem, f"{position + 1}{name}"
    return None


def _feature_problem(cell: str, position: int) -> str | None:
    seen = shown(cell)
    if is_missing(cell):
        return f"expected a number, saw the missing value {seen}; remove the row or fill it in"
    if not is_number(cell):
        return (
            f"expected a number, saw {seen}; write categories as numbers, or pass "
            f"label={position} if this column is the label"
        )
    if math.isinf(float(cell)):
        return f"expected a finite number, saw {seen}; remove the row or fill in the value"
    return None
