"""How a table in text is laid out: what parts its cells, and which line names its columns."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike

from largemargin.data.cells import is_missing, is_number, swap_points
from largemargin.data.errors import MAX_NAME, broken
from largemargin.data.files import whole_record
from largemargin.data.labels import LABEL_NAMES, LabelColumn, label_problem
from largemargin.runtime.showing import shown

_BETWEEN_BLANKS = re.compile(r'(?:"[^"]*"|[^\s"]|"(?=[^"]*$))+')  # quoted cells may hold blanks


@dataclass(frozen=True)
class TableLayout:
    """What the first lines of a table tell about the rest.

    A `delimiter` of None is any run of blanks; `first_line` is the number of the first line that
    can hold an example; `notes` say what was told from the content.
    """

    delimiter: str | None
    names: tuple[str, ...] | None
    width: int
    first_line: int
    decimal: str = "."
    notes: tuple[str, ...] = ()

    def cells(self, line: str) -> list[str]:
        """The cells of a line, without quotes and surrounding blanks."""
        return split_cells(line, self.delimiter)

    def cells_of(self, lines: list[str]) -> list[list[str]]:
        """The cells of each of many lines, with one CSV reader for all: to make one for each line
        takes longer than to read the line."""
        return [[cell.strip() for cell in cells] for cells in self.raw_cells_of(lines)]

    def raw_cells_of(self, lines: list[str]) -> list[list[str]]:
        """The same, where blanks may be left behind a cell."""
        if self.delimiter is not None:
            with suppress(csv.Error):
                found = list(csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True))
                if len(found) == len(lines):
                    return found
        return [self.cells(line) for line in lines]


def find_layout(
    path: str | PathLike[str],
    suffix: str,
    lines: Iterable[str],
    header: bool | None,
    label: LabelColumn,
    sep: str | None = None,
    decimal: str | None = None,
) -> TableLayout:
    """The layout told by the first two lines, not counting blank ones and comments at the top."""
    lines = iter(lines)
    number, first = next(content(lines), (0, ""))
    if not first:
        raise broken(path, "expected at least one example, saw no line with any")
    delimiter = _find_delimiter(first)
    if sep is not None or suffix == ".tsv":
        delimiter = given_delimiter(sep, suffix)
    first, height = whole_record(first, lines, delimiter, path, number)
    if not height:
        raise broken(path, "a quote is not closed", line=number)
    top = split_cells(first, delimiter)
    next_line = number + height
    below_number, below = next(content(lines, next_line), (next_line, ""))
    below, _ = whole_record(below, lines, delimiter, path, below_number)
    if header is None:
        header = _has_header(path, number, top, split_cells(below, delimiter), label)
    if not header:
        return TableLayout(delimiter, None, len(top), number, decimal or ".")
    if not below:
        raise broken(path, "expected an example below the header line", line=below_number)
    check_names(path, top, number)
    return TableLayout(delimiter, tuple(top), len(top), next_line, decimal or ".")


def given_delimiter(sep: str | None, suffix: str = "") -> str | None:
    """What `sep` or the ending of the name means; None is a run of blanks.

    Examples
    --------
    >>> given_delimiter("tab"), given_delimiter(" "), given_delimiter("|")
    ('\\t', None, '|')
    """
    if sep is None:
        return "\t" if suffix == ".tsv" else ","
    sep = {"tab": "\t", "\\t": "\t", "blank": " ", "blanks": " "}.get(sep, sep)
    if len(sep) != 1 or sep in '"\r\n' or sep.isalnum():
        raise ValueError(
            "sep must be a single character that is neither a letter, a digit nor a quote, 'tab' "
            f"or 'blank', got {shown(sep)}"
        )
    return None if sep == " " else sep


def check_text(path: str | PathLike[str], line: str, number: int) -> None:
    """Raise for a line that no text has."""
    if "\0" in line:
        raise broken(
            path,
            "expected text, saw a zero byte; save the file as UTF-8, or pass encoding='utf-16-le' "
            "if it is UTF-16",
            line=number,
        )


def check_names(path: str | PathLike[str], names: list[str], line: int) -> None:
    """Raise for a name that is too long."""
    name = max(names, key=len)
    if len(name) > MAX_NAME:
        raise broken(
            path,
            f"expected names of at most {MAX_NAME} characters, saw {shown(name)}",
            line=line,
            column=names.index(name) + 1,
        )


def split_cells(line: str, delimiter: str | None) -> list[str]:
    """The cells of a line, without quotes and surrounding blanks.

    Examples
    --------
    >>> split_cells('1, 2,"a,b"', ",")
    ['1', '2', 'a,b']
    """
    if delimiter is None:
        if '"' not in line:
            return line.split()
        return [cell.replace('"', "").strip() for cell in _BETWEEN_BLANKS.findall(line)]
    cells = line.split(delimiter)
    if '"' in line:
        try:
            cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
        except csv.Error:  # a cell that is longer than the module allows
            cells = _split_long(line, delimiter)
    return [cell.strip() for cell in cells]


def _split_long(line: str, delimiter: str) -> list[str]:
    """The same by a pattern, which knows no limit."""
    between = re.escape(delimiter)
    cells, at = [], 0
    pattern = re.compile(rf' *(?:"([^"]*(?:""[^"]*)*)" *(?={between}|$)|([^{between}]*))')
    while at <= len(line):
        found = pattern.match(line, at)
        assert found is not None  # an empty cell at least
        quoted, plain = found.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        at = found.end() + 1
    return cells


def content(lines: Iterator[str], first: int = 1) -> Iterator[tuple[int, str]]:
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
    counts = {delimiter: unquoted.count(delimiter) for delimiter in (",", "\t", "|")}
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


def line_problem(line: str, table: TableLayout, label: int | None) -> tuple[str, str | None] | None:
    """What is wrong with a line and in which column, or None."""
    cells = table.cells(line)
    if len(cells) != table.width:
        hint = "; a quote is not closed" if line.count('"') % 2 else ""
        return f"expected {table.width} columns, saw {len(cells)}{hint}", None
    for position, cell in enumerate(cells):
        number = swap_points(cell) if table.decimal == "," else cell
        problem = label_problem(cell) if position == label else _feature_problem(number, position)
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
