"""Kernel values for stretches of the stream at once: against the cache, against what has come into
the cache since, and within the stretch.

While one stretch is walked, the other threads compute the values of the next against the cache as
it is. When the walk is over, those against the examples that it has left there are added: few,
since an example that is stored is often soon removed. Values among the examples of a stretch need
no cache, so those of the stretch after the next are begun too: they are what the other threads do
while the cache changes hands.

Threads run over panels of columns, whose shapes do not depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.choosing import FunctionKernel
from largemargin.kernels.engine import fill as fill_together
from largemargin.online.apart import fill_apart
from largemargin.online.vectors import Vectors
from largemargin.runtime.threads import Workers

LOOK_AHEAD = 320  # examples: longer ones spend more on values among themselves than they gain
TASK = 6e7  # multiplications that are one task
TRANSFORM = 100  # so many are as long as what is done to a value after the product
AT_HAND = (("within", 3), ("against", 2), ("since", 2))  # stretches, by what of them is


def block_bytes(n_rows: int, n_since: int, top: int, dtype: np.dtype) -> int:
    """What the kernel values of a stretch take."""
    return n_rows * (top + n_since + n_rows) * dtype.itemsize


@dataclass
class Stretch:
    """Rows start to stop of the stream, and their kernel values once the tasks are done."""

    start: int
    stop: int
    squares: np.ndarray  # squared norms
    own: np.ndarray  # k(x, x)
    within: np.ndarray  # a row an example, a column one that comes no later
    against: np.ndarray  # a column a slot as it was when this was begun
    since: np.ndarray  # a column an example that has come into the cache since
    tasks: dict[Future[Any], Callable[[], None]] = field(default_factory=dict)
    # for slots of the cache, which of these is there, or -1
    arrivals: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def width(self) -> int:
        """The number of values of an example."""
        return self.against.shape[1] + self.since.shape[1] + self.within.shape[1]

    @property
    def nbytes(self) -> int:
        """What the values take."""
        return self.against.nbytes + self.since.nbytes + self.within.nbytes


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
        width = X.nnz / max(X.shape[0], 1) if sp.issparse(X) else X.shape[1]
        self._area = int(TASK / (width + TRANSFORM))  # values that are one task
        self._next: Stretch | None = None
        self._later: Stretch | None = None
        # so many stretches are at hand at a time, and fresh memory would cost as much as the values
        self._rooms = {kind: [np.empty(0, vectors.dtype)] * at_hand for kind, at_hand in AT_HAND}

    @property
    def waiting(self) -> int:
        """The number of examples whose values have been begun."""
        return 0 if self._next is None else len(self._next)

    def take(self, start: int, n: int, top: int) -> Stretch:
        """The n rows from `start` on, those that were begun or else new ones."""
        stretch, self._next = self._next, None
        if stretch is None:
            self.forget()
            stretch = self._open(start, n)
            self._begin(stretch, top)
            self.finish(stretch)
        return stretch

    def begin(self, after: Stretch, n: int, top: int, n_later: int) -> None:
        """Begin with the n rows that come after a stretch, the vectors being as they are, and with
        what can be known of n_later more."""
        stretch = self._later or self._open(after.stop, n)
        self._begin(stretch, top)
        self._next = stretch
        self._later = self._open(stretch.stop, n_later) if n_later else None

    def finish(self, stretch: Stretch | None = None) -> None:
        """Wait for the values of a stretch, or of that which was begun."""
        stretch = self._next if stretch is None else stretch
        if stretch is not None:
            for task in stretch.tasks:
                self._team.wait(stretch.tasks, task)
            stretch.tasks.clear()  # they refer to the stretch, which would outlive its use

    def arrived(self, slots: np.ndarray, vectors: Any, squares: np.ndarray) -> None:
        """Add the values of the next stretch against these vectors, with their squared norms, which
        have come into these slots since it was begun."""
        stretch = self._next
        if stretch is None or not len(slots):
            return
        n, width = len(stretch), len(slots)
        stretch.since = self._room("since", n * width).reshape(n, width)
        stretch.arrivals = np.full(slots[-1] + 1, -1)
        stretch.arrivals[slots] = np.arange(width)

        def fill(stretch: Stretch, part: slice) -> None:
            self._fill(stretch, (vectors[part], squares[part]), stretch.since[:, part])

        self._submit(stretch, fill, width, self._area)
        self.finish()

    def forget(self) -> None:
        """Drop what was begun."""
        for stretch in (self._next, self._later):
            for task in stretch.tasks if stretch else ():
                if not task.cancel():  # it writes where another is to be
                    task.result()
        self._next = self._later = None

    def rows(self, stretch: Stretch, places: np.ndarray) -> tuple[Any, np.ndarray]:
        """Examples of the stretch as they are stored: rows, or with a precomputed kernel their
        columns, and their squared norms."""
        rows, squares = self._stored(stretch.start, stretch.stop)
        return rows[places], squares[places]

    def _stored(self, start: int, stop: int) -> tuple[Any, np.ndarray]:
        part = slice(start, stop)
        rows = self.positions[part, None] if self.vectors.kernel.by_column else self.X[part]
        return rows, self.squares[part]

    def _open(self, start: int, n: int) -> Stretch:
        """Begin with the values of n rows that need no vectors."""
        within = self._room("within", n * n).reshape(n, n)
        squares = self.squares[start : start + n]
        none = np.empty((n, 0), self.vectors.dtype)
        stretch = Stretch(start, start + n, squares, np.empty(n), within, none, none)
        self._submit(stretch, self._fill_within, n, min(self._area, n * n) // 2)
        return stretch

    def _begin(self, stretch: Stretch, top: int) -> None:
        """Begin with the values of a stretch against the vectors as they are."""
        n = len(stretch)
        stretch.against = self._room("against", n * top).reshape(n, top)
        self._submit(stretch, self._fill_against(top), top, self._area)

    def _room(self, kind: str, size: int) -> np.ndarray:
        """That of the rooms which was given out longest ago."""
        rooms = self._rooms[kind]
        room = rooms.pop(0)
        rooms.append(room if len(room) >= size else np.empty(size, room.dtype))
        return rooms[-1][:size]

    def _submit(
        self, stretch: Stretch, fill: Callable[[Stretch, slice], None], width: int, area: int
    ) -> None:
        for part in _parts(width, max(1, area // len(stretch))):
            work = partial(fill, stretch, part)
            stretch.tasks[self._team.submit(work)] = work

    def _fill_against(self, top: int) -> Callable[[Stretch, slice], None]:
        cached, squares = self.vectors.first(top)

        def fill(stretch: Stretch, part: slice) -> None:
            self._fill(stretch, (cached[part], squares[part]), stretch.against[:, part])

        return fill

    def _fill_within(self, stretch: Stretch, part: slice) -> None:
        """Values against these examples of all that come after the first of them."""
        start, kernel = stretch.start, self.vectors.kernel
        lo, hi = start + part.start, start + part.stop
        self._fill(stretch, self._stored(lo, hi), stretch.within[part.start :, part])
        if kernel.by_column or isinstance(kernel, FunctionKernel):
            stretch.own[part] = np.diagonal(stretch.within)[part]
        else:
            stretch.own[part] = kernel.diag(self.X[lo:hi])

    def _fill(self, stretch: Stretch, stored: Any, out: np.ndarray) -> None:
        """The values of the last rows of the stretch, as many as `out` has, against some of what is
        or may come to be stored."""
        kernel, dtype = self.vectors.kernel, self.vectors.dtype
        n = len(out)
        rows = (self.X[stretch.stop - n : stretch.stop], stretch.squares[len(stretch) - n :])
        if kernel.by_column:  # the columns of these rows
            out[:] = self._values(kernel, dtype, rows, stored, np.empty(out.shape[::-1], dtype)).T
        else:
            self._values(kernel, dtype, stored, rows, out)


def _parts(width: int, longest: int) -> Iterator[slice]:
    """Cut `width` columns into as few parts as can be, of like lengths."""
    count = -(-width // longest)
    for i in range(count):
        yield slice(width * i // count, width * (i + 1) // count)
