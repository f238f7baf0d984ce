"""What the first records of a table of mixed columns tell: separator, header, decimal comma.

separator   the one that parts all of them into the same number of cells, more than one
header      words over numbers, or words that do not occur below them
decimal     a comma, where the separator is another one and some numbers can only be read so
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    given_delimiter,
    split_cells,
)
from largemargin.runtime.showing import shown

_SAMPLE = 200  # records that are looked at
_SAMPLE_SIZE = 1 << 20  # characters of them
_SEPARATORS = (";", "\t", "|", ",")  # in this order, if several part the records alike
_NAMES = ("label", "target", "class", "y")
_TITLES = 5  # lines that may stand above a table
_SEP_LINE = re.compile(r"sep=([^A-Za-z0-9\"])", re.IGNORECASE)
_QUOTED = re.compile(r'(?:^|(?<=[;\t|, ]))"[^"]*(?:""[^"]*)*"', re.MULTILINE)
_DIGITS = re.compile("[0-9]+")


@dataclass(frozen=True)
class _Record:
    number: int  # of its first line
    height: int  # lines
    cells: list[str]


def tell_layout(
    path: str | PathLike[str], suffix: str, lines: Iterable[str], options: ReadOptions
) -> TableLayout:
    """The layout of a table, told from its first records where the options leave it open."""
    head, is_all = _first_lines(path, lines)
    if not any(line.strip() for line in head):
        raise broken(path, "expected at least one example, saw no line with any")
    delimiter = _find_delimiter(head, suffix, options.sep)
    records, notes = _without_titles(_records(path, head, is_all, delimiter))
    first, below = records[0], records[1:]
    top, rows = first.cells, [r.cells for r in below if len(r.cells) == len(first.cells)]
    header = options.header
    if header is None:
        header = _tell_header(path, first.number, top, rows, options)
    if header and not below and is_all:
        line = first.number + first.height
        raise broken(path, "expected an example below the header line", line=line)
    decimal = options.decimal
    if decimal is None:
        decimal = "." if delimiter == "," else _tell_decimal(rows if header else [top, *rows])
        if decimal == ",":
            notes.append("numbers are read with a decimal comma")
    if not header:
        return TableLayout(delimiter, None, len(top), first.number, decimal, tuple(notes))
    check_names(path, top, first.number)
    next_line = first.number + first.height
    return TableLayout(delimiter, tuple(top), len(top), next_line, decimal, tuple(notes))


def _first_lines(path: str | PathLike[str], lines: Iterable[str]) -> tuple[list[str], bool]:
    """Lines at the beginning, and whether they are all. Comments are empty lines here."""
    head: list[str] = []
    size, in_comments = 0, True
    for number, line in enumerate(lines, 1):
        check_text(path, line, number)
        line = line.rstrip("\r\n")
        in_comments = in_comments and (line.startswith("#") or not line.strip())
        head.append("" if in_comments else line)
        size += len(line)
        if len(head) == 4 * _SAMPLE or size > _SAMPLE_SIZE:
            return head, False
    return head, True


def _records(
    path: str | PathLike[str], head: list[str], is_all: bool, delimiter: str | None
) -> list[_Record]:
    records: list[_Record] = []
    at = 0
    for number, line in enumerate(head, 1):
        if number <= at or not line.strip() or _SEP_LINE.fullmatch(line):
            continue
        record, height = whole_record(line, iter(head[number:]), delimiter, path, number)
        if not height and (is_all or not records):
            raise broken(path, "a quote is not closed", line=number)
        if not height or len(records) == _SAMPLE:
            break
        at = number + height - 1
        records.append(_Record(number, height, split_cells(record, delimiter)))
    if not records:
        raise broken(path, "expected at least one example, saw no line with any")
    return records


def _without_titles(records: list[_Record]) -> tuple[list[_Record], list[str]]:
    """Records below the lines that a report may begin with, which have a single cell each."""
    widths = {len(record.cells) for record in records[_TITLES:]}
    table = next((i for i, record in enumerate(records[:_TITLES]) if len(record.cells) > 1), 0)
    if not table or widths != {len(records[table].cells)}:
        return records, []
    notes = [
        f"line {title.number}, {shown(title.cells[0])}, stands above the table and is left out"
        for title in records[:table]
    ]
    return records[table:], notes


def _find_delimiter(head: list[str], suffix: str, sep: str | None) -> str | None:
    if sep is not None or suffix == ".tsv":
        return given_delimiter(sep, suffix)
    first = next(line for line in head if line.strip())
    if told := _SEP_LINE.fullmatch(first):  # Excel writes such a line
        return given_delimiter(told[1])
    lines = [line for line in _QUOTED.sub("", "\n".join(head)).split("\n") if line.strip()]
    best, share = None, 0.0
    for delimiter in _SEPARATORS:
        counts = [line.count(delimiter) for line in lines]
        common = max(set(counts), key=counts.count)
        alike = counts.count(common) / len(counts) if common else 0.0
        if alike > share:
            best, share = delimiter, alike
    if best is not None:
        return best
    widths = {len(line.replace('"', "").split()) for line in head if line.strip()}
    return None if len(widths) == 1 and widths != {1} else ","


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
    if numbers:
        return 2
    if cell in present or (_DIGITS.search(cell) and _shape(cell) in map(_shape, present)):
        return -1
    if not _DIGITS.search(cell) and all(map(_DIGITS.search, present)):
        return 1
    return 1 if 2 * len(set(present)) <= len(present) else 0


def _shape(cell: str) -> str:
    """A cell with 0 for each number in it: what dates, or identifiers, have in common."""
    return _DIGITS.sub("0", cell)


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
