"""Lines of text, none of them endless, and records of a table that go over several."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from os import PathLike
from typing import IO, AnyStr

from largemargin.data.errors import DataError, broken
from largemargin.data.limits import MAX_LINE

Path = str | PathLike[str]


def take_lines(stream: IO[AnyStr], count: int, end: AnyStr, path: Path, first: int) -> list[AnyStr]:
    """The next lines of a stream, at most `count`; `end` is what it gives at its end, and `first`
    the number of the line that comes next."""
    lines: list[AnyStr] = []
    for line in islice(iter(partial(stream.readline, MAX_LINE + 1), end), count):
        if len(line) > MAX_LINE:
            raise _endless(path, first + len(lines))
        lines.append(line)
    return lines


def each_line(stream: IO[AnyStr], end: AnyStr, path: Path, first: int = 1) -> Iterator[AnyStr]:
    """The next lines of a stream, one at a time."""
    while lines := take_lines(stream, 1, end, path, first):
        yield lines[0]
        first += 1


def whole_record(
    line: str, more: Iterator[str], delimiter: str | None, path: Path, number: int
) -> tuple[str, int]:
    """A line of a table, with those below it that belong to it since a quote goes on there, and how
    many lines these are together. The lines have no newline at their ends, `more` may have them.
    """
    if delimiter is None or '"' not in line or not _goes_on(line, delimiter):
        return line, 1
    parts, length = [line], len(line)
    for below in more:
        below = below.rstrip("\r\n")
        parts.append(below)
        length += 1 + len(below)
        if length > MAX_LINE:
            raise _endless(path, number)
        if not ('"' in below and not _goes_on(f'"{below}', delimiter)):
            continue
        record = "\n".join(parts)
        try:  # a quote that was forgotten is closed by what opens the next
            list(csv.reader([record], delimiter=delimiter, skipinitialspace=True, strict=True))
        except csv.Error:
            return line, 0
        return record, len(parts)
    return line, 0


def all_whole(lines: list[str], delimiter: str | None) -> bool:
    """Whether no quote is open at the end of a line: then each of them is a record, and one that
    is put below them too."""
    below = chain((f"{line}\n" for line in lines), ["x"])
    records = csv.reader(below, delimiter=delimiter or " ", skipinitialspace=True)
    try:
        return sum(1 for _ in records) == len(lines) + 1
    except csv.Error:  # a cell that is longer than a cell can be
        return False


def _goes_on(line: str, delimiter: str) -> bool:
    """Whether a quote is open at the end of a line."""
    short = len(line) <= csv.field_size_limit()
    return short and not all_whole([line], delimiter)


def _endless(path: Path, number: int) -> DataError:
    return broken(
        path,
        f"expected a line of at most {MAX_LINE} characters, saw more than that; check that the "
        "file is text with ends of lines, or pass format= if it is not",
        line=number,
    )
