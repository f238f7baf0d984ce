"""What the first records of a table of mixed columns tell: separator, header, decimal comma.

separator   the one that parts all of them into the same number of cells, more than one
header      words over numbers, or words that do not occur below them
decimal     a comma, where the separator is another one and some numbers can only be read so
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from os import PathLike

from largemargin.data.cells import is_missing, is_number
from largemargin.data.errors import broken
from largemargin.data.files import whole_record
from largemargin.data.formats import ReadOptions
from largemargin.data.label_rule import default_name
from largemargin.data.layout import (
    TableLayout,
    check_names,
    check_text,
    content,
    given_delimiter,
    split_cells,
)
from largemargin.runtime.showing import shown

_SAMPLE = 200  # records that are looked at
_SAMPLE_SIZE = 1 << 20  # characters of them
_SEPARATORS = (";", "\t", "|", ",")  # in this order, if several part the records alike
_NAMES = ("label", "target", "class", "y")
_HAS_DIGIT = re.compile("[0-9]")


def tell_layout(
    path: str | PathLike[str], suffix: str, lines: Iterable[str], options: ReadOptions
) -> TableLayout:
    """The layout of a table, told from its first records where the options leave it open."""
    head = _first_lines(path, lines)
    filled = [line for _, line in content(iter(head))]
    if not filled:
        raise broken(path, "expected at least one example, saw no line with any")
    if options.sep is not None or suffix == ".tsv":
        delimiter = given_delimiter(options.sep, suffix)
    else:
        delimiter = _tell_delimiter(filled)
    records = list(islice(_records(path, head, delimiter), _SAMPLE))
    number, height, top = records[0]
    rows = [cells for _, _, cells in records[1:] if len(cells) == len(top)]
    header = options.header
    if header is None:
        header = _tell_header(path, number, top, rows, options)
    if header and len(records) == 1:
        raise broken(path, "expected an example below the header line", line=number + height)
    decimal = options.decimal
    if decimal is None:
        decimal = "." if delimiter == "," else _tell_decimal(rows if header else [top, *rows])
    notes = []
    if decimal == "," and options.decimal is None:
        notes.append("numbers are read with a decimal comma")
    if not header:
        return TableLayout(delimiter, None, len(top), number, decimal, tuple(notes))
    check_names(path, top, number)
    return TableLayout(delimiter, tuple(top), len(top), number + height, decimal, tuple(notes))


def _first_lines(path: str | PathLike[str], lines: Iterable[str]) -> list[str]:
    head: list[str] = []
    size = 0
    for number, line in enumerate(lines, 1):
        check_text(path, line, number)
        head.append(line.rstrip("\r\n"))
        size += len(line)
        if len(head) == 4 * _SAMPLE or size > _SAMPLE_SIZE:
            break
    return head


def _records(
    path: str | PathLike[str], head: list[str], delimiter: str | None
) -> Iterator[tuple[int, int, list[str]]]:
    """The number of the first line, the count of lines and the cells of each record."""
    at = 0
    for number, line in content(iter(head)):
        if number <= at:  # within the record above
            continue
        record, height = whole_record(line, iter(head[number:]), delimiter, path, number)
        if not height and not at:
            raise broken(path, "a quote is not closed", line=number)
        if not height:  # the sample ends within a record, or the main pass will say what is wrong
            return
        at = number + height - 1
        yield number, height, split_cells(record, delimiter)


def _tell_delimiter(lines: list[str]) -> str | None:
    best, share = None, 0.0
    for delimiter in _SEPARATORS:
        widths = _widths(lines, delimiter)
        common = max(set(widths), key=widths.count)
        alike = widths.count(common) / len(widths) if common > 1 else 0.0
        if alike > share:
            best, share = delimiter, alike
    if best is not None:
        return best
    widths = [len(line.replace('"', "").split()) for line in lines]
    return None if min(widths) == max(widths) > 1 else ","


def _widths(lines: list[str], delimiter: str) -> list[int]:
    try:
        records = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter,
                             skipinitialspace=True)  # fmt: skip
        return [len(cells) for cells in records] or [1]
    except csv.Error:  # a cell that is longer than the module allows
        return [len(split_cells(line, delimiter)) for line in lines]


def _tell_header(
    path: str | PathLike[str],
    number: int,
    top: list[str],
    rows: list[list[str]],
    options: ReadOptions,
) -> bool:
    if options.names:
        if set(options.names) & set(top):
            return True
        if set(options.names) <= {default_name(j) for j in range(len(options.names))}:
            return False
    known = {name.lower() for name in _NAMES}
    if isinstance(options.label, str):
        known.add(options.label.lower())
    columns = [[row[j] for row in rows] for j in range(len(top))]
    if any(c.lower() in known and c not in below for c, below in zip(top, columns, strict=True)):
        return True
    votes = [_vote(cell, below) for cell, below in zip(top, columns, strict=True)]
    if 2 in votes and -2 in votes:
        column = votes.index(2)
        raise broken(
            path,
            f"does this line name the columns? It has the word {shown(top[column])} over numbers, "
            f"and the number {shown(top[votes.index(-2)])}; pass header=True if it does, or "
            "header=False if it does not",
            line=number,
            column=column + 1,
        )
    if 2 in votes or -2 in votes:
        return 2 in votes
    if -1 in votes or 1 in votes:
        return -1 not in votes
    return all(cell and not is_number(cell) for cell in top) and len(set(top)) == len(top)


def _vote(cell: str, below: Sequence[str]) -> int:
    """How a cell of the first line speaks for a header, from 2, surely, to -2, surely not."""
    present = [value for value in below if not is_missing(value)]
    if is_missing(cell) or not present:
        return 0
    numbers = all(map(is_number, present))
    if is_number(cell):
        return -2 if numbers else 0
    if numbers or (not _HAS_DIGIT.search(cell) and all(map(_HAS_DIGIT.search, present))):
        return 2
    if cell in present:
        return -1
    return 1 if 2 * len(set(present)) <= len(present) else 0


_PLAIN_COMMA = re.compile(r"[+-]?(?:0|[0-9]{4,}|[0-9]{1,3}(?:\.[0-9]{3})*),[0-9]+ ?%?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")
_POINT = re.compile(r"[+-]?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?")
_THOUSANDS_OF_POINTS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+")


def _tell_decimal(rows: list[list[str]]) -> str:
    """A comma if some cells are numbers only with a decimal comma, and none only with a point."""
    cells = {cell for row in rows for cell in row}
    if any(_POINT.fullmatch(c) and not _THOUSANDS_OF_POINTS.fullmatch(c) for c in cells):
        return "."
    comma = any(_PLAIN_COMMA.fullmatch(c) and not _THOUSANDS.fullmatch(c) for c in cells)
    return "," if comma else "."
