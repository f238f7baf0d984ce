"""The lines that have arrived on a descriptor, as they arrive."""

from __future__ import annotations

import os
import select
import zlib

READ = 1 << 18  # bytes asked for at once; a pipe holds a quarter of it
LONGEST = 1 << 26  # bytes of a line: there must be some end to what is kept of it


def add_checksum(checksum: int, lines: list[bytes | None]) -> int:
    """The checksum of what one was taken of, and then these lines."""
    for line in lines:
        checksum = zlib.crc32(b"\n", zlib.crc32(line or b"", checksum))
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
    """

    def __init__(self, source: int, alarm: int) -> None:
        self.taken = 0
        self.alarmed = False
        self._source = source
        self._alarm = alarm
        self._ready: list[bytes | None] = []  # a line that was too long to keep is None
        self._next = 0
        self._unfinished: list[bytes] = []
        self._size = 0  # of what is unfinished, kept or not
        self._ended = False

    def take(self, most: int) -> list[bytes | None]:
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
        data = os.read(self._source, READ)
        if not data:
            self._ended = True
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
        if self._size > LONGEST:
            self._unfinished.clear()
        elif part:
            self._unfinished.append(part)

    def _finish(self) -> bytes | None:
        line = b"".join(self._unfinished) if self._size <= LONGEST else None
        self._unfinished.clear()
        self._size = 0
        return line
