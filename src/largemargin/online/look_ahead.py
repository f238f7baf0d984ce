"""Kernel values for stretches of the stream at once: against the cache, against the stretch before,
and within the stretch.

While one stretch is walked, the other threads compute the values of the next. What will then be in
the cache is not known yet, but it can only be what is in it now or an example of the stretch being
walked, so the values against both are computed, and the walk picks from them.

Threads run over panels of rows, whose shapes do not depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from largemargin.gram import fill as fill_together
from largemargin.kernels import FunctionKernel
from largemargin.online.apart import fill_apart
from largemargin.online.vectors import Vectors
from largemargin.workers import Workers

LOOK_AHEAD = 256  # examples: longer ones spend more on values among themselves than they gain
PANEL = 64


def block_bytes(n_rows: int, n_before: int, top: int, dtype: np.dtype) -> int:
    """What the kernel values of a stretch take."""
    return n_rows * (top + n_before + n_rows) * dtype.itemsize


@dataclass
class Stretch:
    """Rows start to stop of the stream, and their kernel values once the tasks are done."""

    start: int
    stop: int
    squares: np.ndarray  # squared norms
    own: np.ndarray  # k(x, x)
    against: np.ndarray  # a row an example, a column a slot as it was when this was begun
    before: np.ndarray  # a column an example of the stretch before, if there was one at hand
    within: np.ndarray
    tasks: dict[Future[Any], Callable[[], None]] = field(default_factory=dict)
    # for slots of the cache, which example of the stretch before has come into it, or -1
    arrivals: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def nbytes(self) -> int:
        """What the values take."""
        return self.against.nbytes + self.before.nbytes + self.within.nbytes

    def place(self, sources: np.ndarray) -> None:
        """Say where the values of each slot are, the three parts being one row."""
        sources[:] = np.arange(len(sources))
        slots = np.flatnonzero(self.arrivals >= 0)
        sources[slots] = self.against.shape[1] + self.arrivals[slots]


class LookAhead:
    """Goes along the rows of X, which begin at place `first` of the stream.

    If so asked, each kernel value is computed `apart`.
    """

    def __init__(self, vectors: Vectors, X: Any, first: int, team: Workers, apart: bool) -> None:
        self.vectors = vectors
        self.X = X
        self.squares = vectors.squares_of(X)
        self.positions = np.arange(first, first + X.shape[0])
        self._team = team
        self._values = fill_apart if apart else fill_together
        self._next: Stretch | None = None
        # two stretches are at hand at a time, and fresh memory would cost as much as their values
        self._rooms = [np.empty(0, vectors.dtype), np.empty(0, vectors.dtype)]

    @property
    def waiting(self) -> int:
        """The number of examples whose values have been begun."""
        return 0 if self._next is None else self._next.stop - self._next.start

    def take(self, start: int, n: int, top: int) -> Stretch:
        """The n rows from `start` on, those that were begun or else new ones."""
        stretch, self._next = self._next, None
        if stretch is None:
            stretch = self._begin(start, n, top, 0)
            self.finish(stretch)
        return stretch

    def begin(self, after: Stretch, n: int, top: int) -> None:
        """Begin with the n rows that come after a stretch, the vectors being as they are."""
        self._next = self._begin(after.stop, n, top, after.stop - after.start)

    def finish(self, stretch: Stretch | None = None) -> None:
        """Wait for the values of a stretch, or of that which was begun."""
        stretch = self._next if stretch is None else stretch
        if stretch is not None:
            for task in stretch.tasks:
                self._team.wait(stretch.tasks, task)
            stretch.tasks.clear()  # they refer to the stretch, which would outlive its use

    def arrived(self, origins: np.ndarray) -> None:
        """Say which examples have come into which slots while the next stretch was computed."""
        if self._next is not None:
            self._next.arrivals = origins

    def forget(self) -> None:
        """Drop what was begun."""
        self._next = None

    def rows(self, stretch: Stretch) -> Any:
        """The examples as they are stored: rows, or with a precomputed kernel their columns."""
        return self._stored(stretch.start, stretch.stop)[0]

    def _stored(self, start: int, stop: int) -> tuple[Any, np.ndarray]:
        part = slice(start, stop)
        rows = self.positions[part, None] if self.vectors.kernel.by_column else self.X[part]
        return rows, self.squares[part]

    def _begin(self, start: int, n: int, top: int, n_before: int) -> Stretch:
        widths = (top, n_before, n)
        self._rooms.reverse()
        if len(self._rooms[0]) < n * sum(widths):
            self._rooms[0] = np.empty(n * sum(widths), self.vectors.dtype)
        ends = np.cumsum([n * width for width in widths])
        parts = np.split(self._rooms[0][: ends[-1]], ends[:-1])
        against, before, within = (
            part.reshape(n, width) for part, width in zip(parts, widths, strict=True)
        )
        squares = self.squares[start : start + n]
        stretch = Stretch(start, start + n, squares, np.empty(n), against, before, within)
        cached = self.vectors.first(top)
        # the larger tasks first: the others are left for the thread that comes from the walk
        for kind in (partial(self._fill_against, cached), self._fill_newer):
            for lo in range(0, n, PANEL):
                work = partial(kind, stretch, lo, min(lo + PANEL, n))
                stretch.tasks[self._team.submit(work)] = work
        return stretch

    def _fill_against(self, cached: Any, stretch: Stretch, lo: int, hi: int) -> None:
        self._fill(stretch, lo, hi, cached, stretch.against)

    def _fill_newer(self, stretch: Stretch, lo: int, hi: int) -> None:
        start, n_before = stretch.start, stretch.before.shape[1]
        self._fill(stretch, lo, hi, self._stored(start - n_before, start), stretch.before)
        self._fill(stretch, lo, hi, self._stored(start, stretch.stop), stretch.within)
        kernel = self.vectors.kernel
        if kernel.by_column or isinstance(kernel, FunctionKernel):
            stretch.own[lo:hi] = np.diagonal(stretch.within)[lo:hi]
        else:
            stretch.own[lo:hi] = kernel.diag(self.X[start + lo : start + hi])

    def _fill(self, stretch: Stretch, lo: int, hi: int, stored: Any, values: np.ndarray) -> None:
        """The values of a panel against some of what is or may come to be stored."""
        kernel, dtype = self.vectors.kernel, self.vectors.dtype
        panel = (self.X[stretch.start + lo : stretch.start + hi], stretch.squares[lo:hi])
        out = values[lo:hi]
        if not out.shape[1]:
            return
        if kernel.by_column:  # the columns of these rows
            out[:] = self._values(kernel, dtype, panel, stored, np.empty(out.shape[::-1], dtype)).T
        else:
            self._values(kernel, dtype, stored, panel, out)
