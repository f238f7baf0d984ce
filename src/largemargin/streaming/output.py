"""The answers on their way: to standard output, or to a file that can be cut back."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import BinaryIO

from largemargin.atomic_file import check_writable, flush_folder


class Output:
    """Where answers go.

    Parameters
    ----------
    path : str or None
        A file; None is standard output.
    length : int or None
        Bytes that were written before, to which a file is cut back. None begins anew.

    Attributes
    ----------
    length : int
        Bytes written so far, those before included.
    """

    def __init__(self, path: str | None, length: int | None = None) -> None:
        self.length = length or 0
        self.path = path
        self._goes_on = length is not None
        if path is not None and length is None:
            check_writable(path)
        elif path is not None:
            _check_length(path, self.length)

    def open(self) -> None:
        """Begin the file, or cut it back."""
        if self.path is None:
            self._file: BinaryIO = sys.stdout.buffer
        elif self._goes_on:
            self._file = open(self.path, "r+b")  # noqa: SIM115
            self._file.truncate(self.length)
            self._file.seek(self.length)
        else:
            self._file = open(self.path, "wb")  # noqa: SIM115
            flush_folder(self.path)

    def write(self, text: str) -> None:
        """Write and hand over, so that whoever waits for an answer has it."""
        data = text.encode()
        self._file.write(data)
        self._file.flush()
        self.length += len(data)

    def secure(self) -> None:
        """Have everything written so far on the disk, if that is where it goes."""
        if self.path is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        if self.path is not None:
            self._file.close()

    def abandon(self) -> None:
        """The reader has gone: what is left in buffers goes nowhere."""
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._file.fileno())


def _check_length(path: str, length: int) -> None:
    remedy = "give -o the file that the checkpoint was written with"
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {path} to go on with: {remedy}")
    size = os.path.getsize(path)
    if size < length:
        raise ValueError(
            f"{path} has {size} bytes, and the checkpoint was written when it had {length}: "
            f"{remedy}"
        )
