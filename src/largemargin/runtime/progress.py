"""Watching a long computation: a progress bar and early stopping, by a time limit (`max_seconds`)
or by Ctrl-C, with what was computed until then.

The other kind of early stopping, a limit of steps or passes (`max_iter`, `epochs`), is counted by
each solver itself.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from types import TracebackType
from typing import Any


def clock() -> float:
    """Seconds from some moment on: what every limit of time is measured by."""
    return time.monotonic()


LINES = 2  # the value of `verbose` that means lines of text, for a log, in place of a bar
LINE_SECONDS = 10.0  # seconds between two of them
_interruptions = 0


def interruptions() -> int:
    """How often Ctrl-C has ended a computation early in this process, with its result."""
    return _interruptions


def check_seconds(max_seconds: float | None) -> None:
    """Refuse a time limit that is none."""
    number = isinstance(max_seconds, Real) and not isinstance(max_seconds, bool)
    if max_seconds is not None and not (number and max_seconds > 0):
        raise ValueError(f"max_seconds must be None or a positive number, got {max_seconds!r}")


INTERRUPTED = "it was interrupted"  # what `Watch.stopped` says of Ctrl-C
_HERE = threading.local()


@contextmanager
def stoppable(asked: Callable[[], bool]) -> Iterator[None]:
    """Within it, what this thread computes ends early when `asked` says so, as by a time limit.

    >>> with stoppable(lambda: True), Watch("a loop", 10) as watch:
    ...     watch.look()
    'it was no longer wanted'
    """
    _HERE.asked = asked
    try:
        yield
    finally:
        del _HERE.asked


class Watch:
    """Use as a context manager around a loop that calls `advance` and looks at `stopped`.

    Within it, if it is `interruptible`, a first Ctrl-C is noted in `stopped` instead of raised, so
    that the loop can end at a point where its result is whole; a second one interrupts as usual.
    With `verbose` a bar is shown; `LINES` is a line of text every ten seconds instead.

    Attributes
    ----------
    stopped : str
        Why the loop should end, in words; empty as long as it should not.
    """

    def __init__(
        self,
        description: str,
        total: int | None,
        *,
        verbose: int = 0,
        max_seconds: float | None = None,
        interruptible: bool = True,
        part: Part | None = None,
    ) -> None:
        check_seconds(max_seconds)
        self.stopped = ""
        self._description = description
        self._total = total
        self._verbose = verbose
        self._interruptible = interruptible
        self._limit = self._whole = max_seconds
        self._told = f"max_seconds={max_seconds:g}" if max_seconds is not None else ""
        if part is not None:
            part.watches.append(self)
            if max_seconds is not None:
                self._limit = self._whole = max_seconds * part.share
                self._told = f"its share of {self._told}, {self._limit:.3g} seconds,"
        self._bar: Any = None
        self._previous: Any = None
        self._done, self._next_line = 0, float("inf")

    def __enter__(self) -> Watch:
        self._start = clock()
        self._asked: Callable[[], bool] | None = getattr(_HERE, "asked", None)
        if self._verbose and self._verbose != LINES:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

            self._bar = Progress(
                "[progress.description]{task.description}",
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                "{task.fields[note]}",
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task(self._description, total=self._total, note="")
            self._bar.start()
        if (
            self._interruptible
            and threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            self._previous = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()
        if self._bar is not None:
            self._bar.stop()

    def advance(self, amount: int, note: str = "") -> None:
        """Count work done, and notice when the time is up."""
        if self._bar is not None:
            self._bar.update(self._task, advance=amount, note=note)
        self._done += amount
        if self._verbose == LINES:
            self._tell(note)
        self.look()

    def _tell(self, note: str) -> None:
        """Write a line if it is time for one; the first steps, which load code, do not count."""
        now = self.elapsed
        if self._next_line == float("inf"):
            self._next_line = now + LINE_SECONDS
        if now >= self._next_line:
            self._next_line = now + LINE_SECONDS
            self._write_line(note)

    def _write_line(self, note: str) -> None:
        done = f"{self._done:,}" + ("" if self._total is None else f" of {self._total:,}")
        told = f"{self._description}: {done} after {self.elapsed:.0f} seconds"
        if self._total is not None and 0 < self._done < self._total and "to go" not in note:
            left = self.elapsed * (self._total / self._done - 1)
            told += f", about {left:.0f} seconds to go"
        print(f"{told}, {note}" if note else told, file=sys.stderr, flush=True)

    def allow(self, share: float) -> None:
        """Let what comes next take so much of the time that is left, though what came before may
        have taken all of its own.
        """
        if self._whole is not None and self.stopped != INTERRUPTED:
            self.stopped = ""
            self._limit = self.elapsed + share * max(self._whole - self.elapsed, 0.0)

    def look(self) -> str:
        """Notice when the time is up, from any thread; returns `stopped`."""
        if not self.stopped and self._asked is not None and self._asked():
            self.stopped = "it was no longer wanted"
        if not self.stopped and self.seconds_left <= 0:
            self.stopped = f"{self._told} was reached"
        return self.stopped

    @property
    def is_shown(self) -> bool:
        """Whether anybody sees notes."""
        return bool(self._verbose)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return clock() - self._start

    @property
    def seconds_left(self) -> float:
        """Until the time is up; infinite without a limit."""
        if self._limit is None:
            return float("inf")
        return max(0.0, self._limit - self.elapsed)

    def _interrupt(self, number: int, frame: Any) -> None:
        global _interruptions
        _interruptions += 1
        self.stopped = INTERRUPTED
        self._restore()

    def _restore(self) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
            self._previous = None


class Part:
    """A part of a longer computation: its share of the time limit, and the watches over it."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.watches: list[Watch] = []

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return any(watch.stopped == INTERRUPTED for watch in self.watches)
