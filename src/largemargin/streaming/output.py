"""The answers on their way: to standard output, a pipe or a device, or to a file.

A file is never written over unless that is asked for. One that goes on must be recognised: it
begins with what had been written when the checkpoint was, and what comes after that, which is
written once more, is answers too. It is then cut back to the place of the checkpoint.
"""

from __future__ import annotations

import os
import select
import sys
import zlib
from typing import BinaryIO

from largemargin.runtime.files import check_writable, flush_folder
from largemargin.streaming.checkpoint import WrittenOutput

_PIECE_BYTES = 1 << 20  # bytes of a file looked at together
_ANSWER_STARTS = (b'{"id": ', b'{"prediction": ', b'{"error": ')  # how a line of output can begin
_STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_kept(path: str | None) -> bool:
    """Whether what is written to a path can be read again, from a file."""
    if path is None or path in _STDOUT:
        return False
    return not os.path.exists(path) or os.path.isfile(path) or os.path.isdir(path)


def is_there(path: str | None) -> bool:
    """Whether there is a file with something in it."""
    return path is not None and os.path.isfile(path) and os.path.getsize(path) > 0


def check_new(option: str, path: str) -> None:
    """Refuse a path at which something would be lost."""
    if is_there(path):
        goes_on = {"--checkpoint": "go on from it with --resume", "-o": "go on with --resume"}
        choices = [f"give {option} another file", *filter(None, [goes_on.get(option)])]
        raise FileExistsError(
            f"{path} exists: {', '.join(choices)}, or begin anew and write over it with --overwrite"
        )


class Output:
    """Where answers go.

    Parameters
    ----------
    path : str or None
        A file, or a pipe or a device; None is standard output.
    written : WrittenOutput or None
        What was written before, to which a file is cut back. None begins anew.
    overwrite : bool
        Whether a file that begins anew may take the place of another.

    Attributes
    ----------
    length : int
        Bytes written so far, those before included.
    checksum : int or None
        Of these bytes; None if those before had none.
    """

    def __init__(
        self, path: str | None, written: WrittenOutput | None = None, *, overwrite: bool = False
    ) -> None:
        self.path = path if is_kept(path) else None
        self._goes_on = written is not None
        self._overwrite = overwrite
        self._special = path if path not in _STDOUT and not is_kept(path) else None
        self._descriptor = -1
        self.length, self.checksum, _ = written or WrittenOutput(0, 0, 0)
        if self.path is None:
            return
        check_writable(self.path)
        if written is not None:
            self.checksum = recognise(self.path, written)
        elif not overwrite:
            check_new("-o", self.path)

    def open(self) -> None:
        """Begin the file, or cut it back."""
        if self._special is not None:
            self._descriptor = os.open(self._special, os.O_WRONLY)
        elif self.path is None:
            if sys.stdout is None:
                raise ValueError("there is no standard output: give a file with -o")
            sys.stdout.flush()
            self._descriptor = sys.stdout.fileno()
        else:
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o666)
            if not self._goes_on and not self._overwrite:
                check_new("-o", self.path)
            os.ftruncate(self._descriptor, self.length)
            os.lseek(self._descriptor, self.length, os.SEEK_SET)
            flush_folder(self.path)

    def write(self, text: str) -> None:
        """Write and hand over, so that whoever waits for an answer has it."""
        data = text.encode()
        rest = memoryview(data)
        try:
            while rest:
                try:
                    rest = rest[os.write(self._descriptor, rest) :]
                except BlockingIOError:  # a pipe that is full and does not let us wait in it
                    select.select([], [self._descriptor], [])
        except OSError as error:
            raise self._failure(error) from error
        self.length += len(data)
        if self.checksum is not None:
            self.checksum = zlib.crc32(data, self.checksum)

    def secure(self) -> None:
        """Have everything written so far on the disk, if that is where it goes."""
        if self.path is not None:
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                raise self._failure(error) from error

    def _failure(self, error: OSError) -> OSError:
        if isinstance(error, BrokenPipeError):
            return error
        where = self.path or self._special or "standard output"
        return OSError(f"cannot write {where}: {error.strerror}; make room, or write elsewhere")

    def close(self) -> None:
        if self._descriptor >= 0 and (self.path is not None or self._special is not None):
            os.close(self._descriptor)
        self._descriptor = -1


def recognise(path: str, written: WrittenOutput) -> int | None:
    """See that a file is the output that was written, and perhaps more answers after that.

    Returns the checksum of what was written.
    """
    remedy = "give -o the file that the checkpoint was written with"
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {path} to go on with: {remedy}")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < written.length:
            raise ValueError(
                f"{path} has {size} bytes, and the checkpoint was written when it had "
                f"{written.length}: {remedy}"
            )
        checksum = _checksum(file, written.length)
        if written.checksum is None:  # an earlier version: see that it looks like it
            file.seek(0)
            same = _count_answers(file, written.length) == written.answers
        else:
            same = checksum == written.checksum
        if not same:
            raise ValueError(
                f"the first {written.length} bytes of {path} are not those that had been written "
                f"when the checkpoint was: {remedy}"
            )
        file.seek(written.length)
        if _count_answers(file, size - written.length) is None:
            raise ValueError(
                f"after the {written.length} bytes that the checkpoint knows of, {path} has "
                f"{size - written.length} that are not answers: keep them elsewhere, and cut the "
                f"file with truncate -s {written.length}"
            )
    return checksum


def _checksum(file: BinaryIO, length: int) -> int:
    checksum = 0
    while length and (piece := file.read(min(length, _PIECE_BYTES))):
        checksum = zlib.crc32(piece, checksum)
        length -= len(piece)
    return checksum


def _count_answers(file: BinaryIO, length: int) -> int | None:
    """Whole lines in the next bytes; None if one of them is no answer. The last may be cut off, or
    be the zeros of a file whose end never came to the disk."""
    count, begins = 0, True
    while length > 0 and (piece := file.readline(min(length, _PIECE_BYTES))):
        length -= len(piece)
        if not piece.strip(b"\0"):
            continue
        if begins and not piece.startswith(_ANSWER_STARTS):
            last = not length and not piece.endswith(b"\n")
            piece = piece.rstrip(b"\0")
            return (
                count if last and any(form.startswith(piece) for form in _ANSWER_STARTS) else None
            )
        begins = piece.endswith(b"\n")
        count += begins
    return count
