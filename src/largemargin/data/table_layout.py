"""How a table in text is laid out: its delimiter, its header and its width."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike

from largemargin.data.columns import LABEL_NAMES, LabelColumn
from largemargin.data.errors import broken
from largemargin.data.limits import MAX_NAME
from largemargin.data.lines import whole_record
from largemargin.data.table_problems import is_missing, is_number
from largemargin.runtime.showing import shown


@dataclass(frozen=True)
class Layout:
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
        """The cells of each of many lines; to start reading for every line takes longer than to
        read it."""
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
) -> Layout:
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
        return Layout(delimiter, None, len(top), number)
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
    return Layout(delimiter, tuple(top), len(top), next_line)


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
