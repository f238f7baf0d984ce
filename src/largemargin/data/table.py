"""Tables in text: CSV, TSV and columns between blanks.

The first lines tell the layout (`find_layout`). The label is cut out of each line as text
(`TableReader._cut_out_labels`; `labels.parse_labels` makes integers of it), and what is left goes
to NumPy's C parser, a block at a time. When that refuses, the lines are looked at one by one to
find the cell that is wrong (`line_problem`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import IO, Any

import numpy as np

from largemargin.data.cells import swap_points
from largemargin.data.column_builder import ColumnBuilder
from largemargin.data.errors import DataError, broken
from largemargin.data.files import Source, all_whole, each_line, take_lines, whole_record
from largemargin.data.formats import Block, Reader, ReadOptions
from largemargin.data.label_rule import check_distinct, choose_label, default_name
from largemargin.data.labels import LabelKind, first_bad_label, label_kind, label_position
from largemargin.data.layout import TableLayout, check_text, find_layout, line_problem
from largemargin.data.sniffing import tell_layout
from largemargin.data.text import open_text
from largemargin.runtime.showing import shown

_COLUMN_ROWS = 1 << 15  # rows that columns are made of together
_SURVEY_ROWS = 4096  # rows that a survey reads together
_EXACT_FLOATS = 1 << 53  # integers below this are floats


class TableReader(Reader):
    """A table in text. Blocks are numbers, beside the label; columns are of any kind."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self._source = source
        self._layout: TableLayout = self._find_layout(options)
        names, width = self._layout.names, self._layout.width
        if options.mixed:
            self.column_names = tuple(
                name or default_name(j) for j, name in enumerate(names or [""] * width)
            )
            check_distinct(source.path, self.column_names)
            self.label_choice = choose_label(source.path, options.label, names, width)
            self._label = self.label_choice.position
            self.notes = self._layout.notes
        else:
            self._label = label_position(source.path, options.label, names, width)
        if width == 1 and self._label is not None:
            sep = ", or sep= if something else parts the cells" if options.mixed else ""
            raise broken(
                source.path,
                "expected features beside the label, saw a single column; pass label=False if "
                f"there are no labels{sep}",
                line=self._layout.first_line,
            )
        if names is not None:
            names = self.column_names or names
            self.feature_names = tuple(n for i, n in enumerate(names) if i != self._label)

    def _find_layout(self, options: ReadOptions) -> TableLayout:
        path, suffix = self._source.path, self._source.suffix
        with open_text(self._source) as stream:
            lines = each_line(stream, "", path)
            if options.mixed:
                return tell_layout(path, suffix, lines, options)
            return find_layout(
                path, suffix, lines, options.header, options.label, options.sep, options.decimal
            )

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

    def read_columns(self, kinds: Mapping[str, str]) -> dict[str, Any]:
        build = ColumnBuilder(self._source.path, self.column_names, kinds, self._layout.decimal)
        self._fill(build)
        if late := build.late_texts():  # columns that were numbers at first
            again = ColumnBuilder(
                self._source.path, self.column_names, dict.fromkeys(late, "text"),
                self._layout.decimal, late,
            )  # fmt: skip
            self._fill(again)
            self.notes += tuple(again.notes())
            found = build.columns() | again.columns()
            return {name: found[name] for name in self.column_names}
        self.notes += tuple(build.notes())
        return build.columns()

    def _fill(self, build: ColumnBuilder) -> None:
        for first, lines in self._line_blocks(_COLUMN_ROWS):
            rows = [line for line in lines if line]
            if "\0" in "".join(rows):
                for number, line in enumerate(lines, first):
                    check_text(self._source.path, line, number)
            cells = self._layout.raw_cells_of(rows)
            if any(len(row) != self._layout.width for row in cells):
                raise self._ragged(lines, first)
            build.add(cells, [n for n, line in enumerate(lines, first) if line])

    def _ragged(self, lines: list[str], first: int) -> DataError:
        width = self._layout.width
        number, line = next(
            (number, line)
            for number, line in enumerate(lines, first)
            if line and len(self._layout.cells(line)) != width
        )
        seen, sep = len(self._layout.cells(line)), shown(self._layout.delimiter or " ")
        return broken(
            self._source.path,
            f"expected {width} columns between {sep}, as in the lines above, saw {seen}; put cells "
            "that hold the separator between quotes, or pass sep=',' or what else parts the cells",
            line=number,
        )

    def _line_blocks(self, rows: int) -> Iterator[tuple[int, list[str]]]:
        """Blocks of `rows` records that are not blank, each with the number of its first line;
        blank lines, and those that a record goes on in, are kept as empty strings, so that
        positions still give line numbers."""
        path = self._source.path
        with open_text(self._source) as stream:
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
            X = _parse_numbers(features, self._layout)
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


def _parse_numbers(rows: list[str], layout: TableLayout) -> np.ndarray:
    if "" in rows:
        raise ValueError("a row has no features")
    delimiter = layout.delimiter
    if layout.decimal == ",":
        if delimiter == ",":
            raise ValueError("a decimal comma needs another separator")
        rows = [swap_points(row) for row in rows]
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
