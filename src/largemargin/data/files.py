"""Files as streams of decompressed bytes, and as lines, none of them endless.

Compression is told from the first bytes, not from the name, so `a.csv.gz` that a browser has
already unpacked is read just the same.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import IO, Any, AnyStr

from largemargin.data.errors import MAX_LINE, DataError, broken

COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz")

# First bytes of compressed files, and the name and the opener of the compression.
_OPENERS: dict[bytes, tuple[str, Callable[[Any], Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\x00": ("xz", lzma.open),
}
_BUFFER_BYTES = 1 << 20  # bytes that are read from a file at once
_SPOOLED_BYTES = 64 << 20  # bytes of an unpacked file that are kept in memory, not on disk


@dataclass(frozen=True)
class Source:
    """A file to read, plain or compressed."""

    path: Path
    size: int = 0  # bytes when the file was found
    changed: int = 0  # time of its last change then, in nanoseconds
    encoding: str | None = None  # of text that is to be read as UTF-8

    def check_unchanged(self) -> None:
        """Raise if the file is not what it was when it was found. It may have grown: what was there
        is what was read."""
        try:
            now = self.path.stat()
        except OSError:  # gone, and what is still open is whole
            return
        if now.st_size < self.size or (
            now.st_size == self.size and now.st_mtime_ns != self.changed
        ):
            raise broken(
                self.path,
                f"the file changed while it was read, from {self.size} to {now.st_size} bytes; "
                "read it again when nobody writes to it",
            )

    def open(self) -> IO[bytes]:
        """The decompressed bytes from the beginning, as UTF-8 if another encoding is known; damage
        is a `DataError` while reading."""
        stream = self._decompressed()
        if self.encoding is None:
            return stream
        return io.BufferedReader(_Recoded(stream, self.encoding, self.path), _BUFFER_BYTES)

    def _decompressed(self) -> IO[bytes]:
        raw = _open_raw(self.path)
        magic = raw.read(6)
        raw.seek(0)
        for start, (kind, opener) in _OPENERS.items():
            if magic.startswith(start):
                return io.BufferedReader(
                    _Decompressed(raw, opener(raw), kind, self.path), _BUFFER_BYTES
                )
        return raw

    def open_seekable(self) -> IO[bytes]:
        """The same, for formats with a table of contents at the end; a compressed file is unpacked
        to memory, or to a temporary file if it is large."""
        stream = self.open()
        if not isinstance(getattr(stream, "raw", None), _Decompressed):
            return stream
        unpacked: IO[bytes] = tempfile.SpooledTemporaryFile(_SPOOLED_BYTES)  # noqa: SIM115
        with stream:
            shutil.copyfileobj(stream, unpacked, _BUFFER_BYTES)
        unpacked.seek(0)
        return unpacked

    def head(self, size: int) -> bytes:
        """The first decompressed bytes."""
        with self.open() as stream:
            return stream.read(size)

    @property
    def suffix(self) -> str:
        """The last suffix that is not one of compression, in lower case."""
        suffixes = [s.lower() for s in self.path.suffixes]
        if suffixes and suffixes[-1] in COMPRESSION_SUFFIXES:
            suffixes.pop()
        return suffixes[-1] if suffixes else ""


def find_file(path: str | PathLike[str]) -> Source:
    """The source of a path, which must be a file that is not empty."""
    path = Path(path)
    if path.is_dir():
        raise broken(path, "is a directory; give the path of a file in it")
    if not path.exists():
        raise broken(path, "there is no such file; check the path")
    state = path.stat()
    source = Source(path, state.st_size, state.st_mtime_ns)
    if not source.head(1):
        raise broken(path, "the file is empty, at byte 0; expected at least one example")
    return source


def _open_raw(path: Path) -> IO[bytes]:
    try:
        raw = path.open("rb", buffering=_BUFFER_BYTES)
    except OSError as error:
        raise broken(path, f"cannot be opened ({error.strerror})") from error
    if not raw.seekable():
        raw.close()
        raise broken(path, "is a pipe or a device, which cannot be read twice; save it to a file")
    return raw


class _Decompressed(io.RawIOBase):
    """A decompressing stream whose errors name the file and the byte reached."""

    def __init__(self, raw: IO[bytes], stream: IO[bytes], kind: str, path: Path) -> None:
        self._raw, self._stream, self._kind, self._path = raw, stream, kind, path
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count: int = self._stream.readinto(buffer)  # type: ignore[attr-defined]
        except EOFError as error:
            raise self._damaged("ends before its end-of-stream mark") from error
        except (OSError, zlib.error, lzma.LZMAError) as error:
            raise self._damaged(f"is damaged ({error})") from error
        self._position += count
        return count

    def _damaged(self, what: str) -> DataError:
        return broken(
            self._path,
            f"the {self._kind} data {what}, after byte {self._position} of the decompressed "
            "content; copy or download the file again",
        )

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._raw.close()
        super().close()


class _Recoded(io.RawIOBase):
    """A stream of text in any encoding as UTF-8."""

    def __init__(self, stream: IO[bytes], encoding: str, path: Path) -> None:
        self._stream, self._encoding, self._path = stream, encoding, path
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._position = 0
        self._pending = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._pending:
            chunk = self._stream.read(_BUFFER_BYTES)
            try:
                self._pending = self._decoder.decode(chunk, final=not chunk).encode()
            except UnicodeError as error:
                told = f"expected text in {self._encoding}, saw other bytes ({error})"
                raise broken(
                    self._path,
                    f"{told}; pass encoding= with the right one, or save the file as UTF-8",
                    byte=self._position + getattr(error, "start", 0),
                ) from None
            self._position += len(chunk)
            if not chunk:
                break
        count = min(len(buffer), len(self._pending))
        buffer[:count], self._pending = self._pending[:count], self._pending[count:]
        return count

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def take_lines(
    stream: IO[AnyStr], count: int, end: AnyStr, path: str | PathLike[str], first: int
) -> list[AnyStr]:
    """The next lines of a stream, at most `count`; `end` is what it gives at its end, and `first`
    the number of the line that comes next."""
    lines: list[AnyStr] = []
    for line in islice(iter(partial(stream.readline, MAX_LINE + 1), end), count):
        if len(line) > MAX_LINE:
            raise _endless(path, first + len(lines))
        lines.append(line)
    return lines


def each_line(
    stream: IO[AnyStr], end: AnyStr, path: str | PathLike[str], first: int = 1
) -> Iterator[AnyStr]:
    """The next lines of a stream, one at a time."""
    while lines := take_lines(stream, 1, end, path, first):
        yield lines[0]
        first += 1


def whole_record(
    line: str, more: Iterator[str], delimiter: str | None, path: str | PathLike[str], number: int
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


def _endless(path: str | PathLike[str], number: int) -> DataError:
    return broken(
        path,
        f"expected a line of at most {MAX_LINE} characters, saw more than that; check that the "
        "file is text with ends of lines, or pass format= if it is not",
        line=number,
    )
