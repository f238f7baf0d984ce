"""What a reader refuses, and how it says so."""

from __future__ import annotations

from os import PathLike

from largemargin.runtime.showing import LONGEST, printable

# What is longer is damage or malice.
MAX_LINE = 1 << 26  # bytes of a line
MAX_NAME = 1 << 16  # characters of a feature's name
MAX_LABEL = 1 << 12  # characters of a label


class DataError(ValueError):
    """A file or data set that cannot be read.

    The message is one sentence with the file, the line, row or byte, what was expected there, what
    was seen, and what to do.
    """


class EncodingError(DataError):
    """A file whose bytes are not text in the encoding that was expected."""


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
