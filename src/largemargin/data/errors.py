"""What a reader says when a file is not what it should be."""

from __future__ import annotations

from os import PathLike

from largemargin.runtime.showing import LONGEST, printable


class DataError(ValueError):
    """A file or data set that cannot be read.

    The message is one sentence with the file, the line, row or byte, what was expected there, what
    was seen, and what to do.
    """


def broken(
    path: str | PathLike[str],
    problem: str,
    *,
    line: int | str | None = None,
    row: int | None = None,
    byte: int | None = None,
    column: str | int | None = None,
) -> DataError:
    """The `DataError` for a problem at a place in a file; lines, rows and columns count from 1."""
    places = {"line": line, "row": row, "byte": byte, "column": column}
    where = [
        printable(str(path)),
        *(f"{kind} {_short(str(at))}" for kind, at in places.items() if at is not None),
    ]
    return DataError(f"{', '.join(where)}: {problem}")


def _short(place: str) -> str:
    return printable(place if len(place) <= LONGEST else f"{place[: LONGEST - 16]}...")
