"""The input: lines as they arrive on a descriptor, until it ends or a signal comes.

SIGINT, SIGTERM and SIGHUP are noted instead of obeyed, so that a stream stops between two blocks.
"""

from __future__ import annotations

import os
import select
import signal
import stat
import sys
import zlib
from dataclasses import dataclass
from types import FrameType
from typing import Any

from largemargin.data.errors import MAX_LINE

READ_BYTES = 1 << 18  # bytes that are read at once; a pipe holds a quarter of it


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


class LineReader:
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
        self._size = 0  # bytes of the unfinished line, kept or not
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
            data = os.read(self._source, READ_BYTES)
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


class SignalWatch:
    """A context in which a first signal is noted; a second one is obeyed as usual.

    Attributes
    ----------
    signal : int
        The signal that came; 0 as long as none has.
    alarm : int
        A descriptor that can be read from then on, to wait for together with others.
    """

    def __init__(self) -> None:
        self.signal = 0

    def __enter__(self) -> SignalWatch:
        self.alarm, self._ring = os.pipe()
        os.set_blocking(self._ring, False)
        # rung at once, in whatever thread the signal comes, and not when Python gets to its handler
        self._rung_before = signal.set_wakeup_fd(self._ring, warn_on_full_buffer=False)
        self._before: dict[int, Any] = {}
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # ignored in the background of a shell, and under nohup
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        self._restore()
        signal.set_wakeup_fd(self._rung_before)
        for descriptor in (self.alarm, self._ring):
            os.close(descriptor)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}


def standard_input(files: dict[str, str | None]) -> int:
    """The descriptor of standard input, which must not be one of the files that are written."""
    if sys.stdin is None:
        raise ValueError("there is no standard input: give events with < events.jsonl")
    source = sys.stdin.fileno()
    for option, path in files.items():
        if (
            path is not None
            and os.path.isfile(path)
            and os.path.samestat(os.fstat(source), os.stat(path))
        ):
            raise ValueError(f"{path} is the input and the output: give {option} another file")
    if files["-o"] is None and is_one_file(source, 1):
        raise ValueError("standard input and output are the same file: send answers elsewhere")
    return source


def is_one_file(*descriptors: int) -> bool:
    """Whether descriptors are of one regular file; a terminal may well be all of them."""
    try:
        found = [os.fstat(descriptor) for descriptor in descriptors]
    except OSError:  # closed
        return False
    return all(stat.S_ISREG(one.st_mode) and os.path.samestat(one, found[0]) for one in found)
