"""Files as text in UTF-8."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from largemargin.data.errors import DataError, EncodingError, broken
from largemargin.data.files import Source, each_line


@contextmanager
def open_text(source: Source) -> Iterator[IO[str]]:
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
                told = broken(
                    source.path,
                    f"expected text in UTF-8, saw the byte 0x{line[error.start]:02x}; save the "
                    "file as UTF-8, or pass format= if it is not a table in text",
                    line=number,
                )
                return EncodingError(str(told))
    return EncodingError(str(broken(source.path, "expected text in UTF-8")))
