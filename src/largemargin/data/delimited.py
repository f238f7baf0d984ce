"""Tables in text: CSV, TSV and columns between blanks.

The label is cut out of each line as text and what is left goes to NumPy's C parser, a block at a
time. When that refuses, `table_problems` looks at the lines one by one to say where.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import IO

import numpy as np

from largemargin.data.blocks import Block
from largemargin.data.columns import LabelColumn, label_position
from largemargin.data.errors import DataError, broken
from largemargin.data.labels import LabelKind, bad_label, label_kind
from largemargin.data.lines import all_whole, each_line, take_lines, whole_record
from largemargin.data.opening import Source
from largemargin.data.table_layout import Layout, find_layout
from largemargin.data.table_problems import line_problem

_SURVEY_ROWS = 4096


class DelimitedReader:
    """A table in text; every column but the label is a number."""

    def __init__(self, source: Source, label: LabelColumn, header: bool | None) -> None:
        self._source = source
        with _text(source) as stream:
            lines = each_line(stream, "", source.path)
            self._layout: Layout = find_layout(source.path, source.suffix, lines, header, label)
        names, width = self._layout.names, self._layout.width
        self._label = label_position(source.path, label, names, width)
        if width == 1 and self._label is not None:
            raise broken(
                source.path,
                "expected features beside the label, saw a single column; pass label=False if "
                "there are no labels",
                line=self._layout.first_line,
            )
        self.feature_names: tuple[str, ...] | None = None
        if names is not None:
            self.feature_names = tuple(n for i, n in enumerate(names) if i != self._label)

    def survey(self) -> LabelKind | None:
        if self._label is None:
            return None
        seen: set[str] = set()
        for _, lines in self._line_blocks(_SURVEY_ROWS):
            seen.update(self._split([line for line in lines if line])[1])
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
        features, labels = self._split(rows)
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
        if bad_label(labels) is not None:
            raise self._diagnose(lines, first, "a label is missing")
        return Block(X, labels)

    def _split(self, rows: list[str]) -> tuple[list[str], list[str]]:
        """The lines without their labels, and the labels."""
        delimiter, label = self._layout.delimiter, self._label
        if _has_quotes(rows):
            return self._split_cells(rows)
        if label is None:
            return rows, []
        if label == self._layout.width - 1:
            pairs = [row.rsplit(delimiter, 1)[::-1] for row in rows]
        elif label == 0:
            pairs = [row.split(delimiter, 1) for row in rows]
        else:
            return self._split_cells(rows)
        return (
            [pair[1] if len(pair) == 2 else "" for pair in pairs],
            [pair[0].strip() for pair in pairs],
        )

    def _split_cells(self, rows: list[str]) -> tuple[list[str], list[str]]:
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
    return np.loadtxt(rows, dtype=np.float64, delimiter=delimiter, comments=None, ndmin=2)


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
