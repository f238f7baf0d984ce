"""Watching a long computation: a progress bar and early stopping, by a time limit (`max_seconds`)
or by Ctrl-C, with what was computed until then.

The other kind of early stopping, a limit of steps or passes (`max_iter`, `epochs`), is counted by
each solver itself.
"""

from __future__ import annotations

import signal
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


def check_seconds(max_seconds: float | None) -> None:
    """Refuse a time limit that is none."""
    number = isinstance(max_seconds, Real) and not isinstance(max_seconds, bool)
    if max_seconds is not None and not (number and max_seconds > 0):
        raise ValueError(f"max_seconds must be None or a positive number, got {max_seconds!r}")


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
    ) -> None:
        check_seconds(max_seconds)
        self.stopped = ""
        self._description = description
        self._total = total
        self._verbose = verbose
        self._interruptible = interruptible
        self._max_seconds = max_seconds
        self._bar: Any = None
        self._previous: Any = None

    def __enter__(self) -> Watch:
        self._start = clock()
        self._asked: Callable[[], bool] | None = getattr(_HERE, "asked", None)
        if self._verbose:
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
        self.look()

    def look(self) -> str:
        """Notice when the time is up, from any thread; returns `stopped`."""
        if not self.stopped and self._asked is not None and self._asked():
            self.stopped = "it was no longer wanted"
        if not self.stopped and self.seconds_left <= 0:
            self.stopped = f"max_seconds={self._max_seconds:g} was reached"
        return self.stopped

    @property
    def is_shown(self) -> bool:
        """Whether anybody sees notes."""
        return self._bar is not None

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return clock() - self._start

    @property
    def seconds_left(self) -> float:
        """Until the time is up; infinite without a limit."""
        if self._max_seconds is None:
            return float("inf")
        return max(0.0, self._max_seconds - self.elapsed)

    def _interrupt(self, number: int, frame: Any) -> None:
        self.stopped = "it was interrupted"
        self._restore()

    def _restore(self) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
            self._previous = None
