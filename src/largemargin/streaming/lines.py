"""The lines that have arrived on a descriptor, as they arrive."""

from __future__ import annotations

import os
import select
import zlib
from dataclasses import dataclass

from largemargin.data.errors import MAX_LINE

READ = 1 << 18  # bytes asked for at once; a pipe holds a quarter of it


@dataclass(frozen=True)
class TooLong:
    """A line of which nothing was kept but its size in bytes."""

    size: int


Line = bytes | TooLong


def add_checksum(checksum: int, lines: list[Line]) -> int:
    """The checksum of what one was taken of, and then these lines."""
    for line in lines:
        checksum = zlib.crc32(
            b"\n", zlib.crc32(b"" if isinstance(line, TooLong) else line, checksum)
        )
    return checksum


class Lines:
    """Complete lines, some at a time, of what a descriptor gives.

    At most one reading and one unfinished line are kept, so whoever writes faster than lines are
    taken has to wait.

    Parameters
    ----------
    source : int
        The descriptor.
    alarm : int
        Another one: something to read there ends the waiting.

    Attributes
    ----------
    taken : int
        Lines taken so far.
    alarmed : bool
        Whether the alarm was raised while waiting.
    cut : bool
        Whether the line taken last, which is then alone, was ended by the end of the input.
    """

    def __init__(self, source: int, alarm: int) -> None:
        self.taken = 0
        self.alarmed = False
        self.cut = False
        self._source = source
        self._alarm = alarm
        self._ready: list[Line] = []
        self._next = 0
        self._unfinished = bytearray()
        self._size = 0  # of what is unfinished, kept or not
        self._ended = False

    def take(self, most: int) -> list[Line]:
        """At least one line and at most so many: those that are there, or else the first to come.

        None at the end of the input, and when the alarm has been raised.
        """
        while self._next == len(self._ready):
            if self._ended or not self._wait():
                return []
            self._read()
        lines = self._ready[self._next : self._next + most]
        self._next += len(lines)
        self.taken += len(lines)
        return lines

    def _wait(self) -> bool:
        """Wait for something to read; whether that is what there is."""
        select.select([self._source, self._alarm], [], [])
        # looked at once more: of a signal and the end of the input that it causes, it came first
        self.alarmed = bool(select.select([self._alarm], [], [], 0)[0])
        return not self.alarmed

    def _read(self) -> None:
        try:
            data = os.read(self._source, READ)
        except BlockingIOError:  # somebody else was faster
            return
        except OSError as error:
            raise OSError(
                f"the input cannot be read: {error.strerror}; give a file or a pipe"
            ) from (error)
        if not data:
            self._ended = True
            self.cut = self._size > 0
            self._ready = [self._finish()] if self._size else []
            self._next = 0
            return
        *finished, rest = data.split(b"\n")
        self._ready, self._next = [], 0
        for part in finished:
            self._keep(part)
            self._ready.append(self._finish())
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > MAX_LINE:
            self._unfinished.clear()
        else:
            self._unfinished += part

    def _finish(self) -> Line:
        line = TooLong(self._size) if self._size > MAX_LINE else bytes(self._unfinished)
        self._unfinished.clear()
        self._size = 0
        return line
