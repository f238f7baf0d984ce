"""Files as streams of decompressed bytes.

Compression is told from the first bytes, not from the name, so `a.csv.gz` that a browser has
already unpacked is read just the same.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

from largemargin.data.errors import DataError, broken

COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz")

_OPENERS: dict[bytes, tuple[str, Callable[[Any], Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\x00": ("xz", lzma.open),
}
_BUFFER = 1 << 20
_SPOOLED_IN_MEMORY = 64 << 20


@dataclass(frozen=True)
class Source:
    """A file to read, plain or compressed."""

    path: Path
    size: int = 0  # when it was found, as is the time
    changed: int = 0

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
        """The decompressed bytes from the beginning; damage is a `DataError` while reading."""
        raw = _open_raw(self.path)
        magic = raw.read(6)
        raw.seek(0)
        for start, (kind, opener) in _OPENERS.items():
            if magic.startswith(start):
                return io.BufferedReader(_Decompressed(raw, opener(raw), kind, self.path), _BUFFER)
        return raw

    def open_seekable(self) -> IO[bytes]:
        """The same, for formats with a table of contents at the end; a compressed file is unpacked
        to memory, or to a temporary file if it is large."""
        stream = self.open()
        if not isinstance(getattr(stream, "raw", None), _Decompressed):
            return stream
        unpacked: IO[bytes] = tempfile.SpooledTemporaryFile(_SPOOLED_IN_MEMORY)  # noqa: SIM115
        with stream:
            shutil.copyfileobj(stream, unpacked, _BUFFER)
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
        raw = path.open("rb", buffering=_BUFFER)
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
            count = self._stream.readinto(buffer)  # type: ignore[attr-defined]
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
