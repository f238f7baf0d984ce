"""SIGINT, SIGTERM and SIGHUP noted instead of obeyed, so that a stream stops between two blocks."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Any


class Stopping:
    """Use as a context manager. A first signal is noted; a second one is obeyed as usual.

    Attributes
    ----------
    signal : int
        The signal that came; 0 as long as none has.
    alarm : int
        A descriptor that can be read from then on, to wait for together with others.
    """

    def __init__(self) -> None:
        self.signal = 0

    def __enter__(self) -> Stopping:
        self.alarm, self._ring = os.pipe()
        os.set_blocking(self._ring, False)
        # rung at once, in whatever thread the signal comes, and not when Python gets to its handler
        self._rung_before = signal.set_wakeup_fd(self._ring, warn_on_full_buffer=False)
        self._before: dict[int, Any] = {}
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if (
                signal.getsignal(number) is not signal.SIG_IGN
            ):  # in the background of a shell, or nohup
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
