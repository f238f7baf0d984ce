"""A clock that a test drives, in place of the one that limits of time are measured by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


class Clock:
    """Stands still unless it is moved; `tick` is what it moves by itself each time it is read."""

    def __init__(self, tick: float = 0.0) -> None:
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


@contextmanager
def driven_clock(tick: float = 0.0) -> Iterator[Clock]:
    """Measure every limit of time by a clock of the test's."""
    clock = Clock(tick)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("largemargin.runtime.progress.clock", clock)
        yield clock
