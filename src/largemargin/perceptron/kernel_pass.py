"""The online pass of the voted perceptron, in blocks.

For each example in order, and each problem p:

    mistake  <=>  y_p f_p(x) <= 0   ->   f_p += y_p k(x, .)

The pass is sequential, kernel values are not. A block of examples is brought up to date when it is
visited: the mistakes made elsewhere since its last visit are applied to it in a few well-shaped
products. Other threads do most of that ahead of the run, for the next AHEAD blocks, with the
mistakes known so far. The run inside the block is in `walk`. The mistakes are exactly those of the
one-by-one algorithm (Freund & Schapire 1999, figure 1).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np

from largemargin.kernels.basis import SLOTS, Basis, Growing
from largemargin.kernels.fused import is_cheap
from largemargin.kernels.tiles import tile_width
from largemargin.perceptron.trace import Trace
from largemargin.perceptron.values import ForgottenValues, TiledValues
from largemargin.perceptron.walk import KNOWN, Walk
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.threads import Workers

AHEAD = 6  # blocks brought up to date before their turn


class SlotBook:
    """Which slot of the basis each example has, given out in the order of first mistakes."""

    def __init__(self, X: Matrix, basis: Basis, positions: np.ndarray) -> None:
        self.X = X
        self.basis = basis
        self.positions = positions
        self._slots = np.full(X.shape[0], -1)
        self._n_before, self._given = len(basis), Growing(np.int64)

    def is_known(self, rows: slice) -> np.ndarray:
        """Whether examples have a slot."""
        return np.asarray(self._slots[rows] >= 0)

    def slots_of(self, rows: np.ndarray, vectors: Matrix | None = None) -> np.ndarray:
        """The slots of examples that have erred; new ones enter the basis, with their `vectors` if
        somebody has looked them up already.
        """
        fresh = first_times(rows[self._slots[rows] < 0])
        size = len(self.basis)
        self.basis.add(self.X[fresh] if vectors is None else vectors, self.positions[fresh])
        self._slots[fresh] = np.arange(size, size + len(fresh))
        self._given.extend(fresh)
        return np.asarray(self._slots[rows])

    def rows_of(self, slots: np.ndarray) -> np.ndarray:
        """The examples in slots that were given out here."""
        return np.asarray(self._given.values[slots - self._n_before])


def first_times(rows: np.ndarray) -> np.ndarray:
    """Rows without those that came before."""
    return np.asarray(rows[np.sort(np.unique(rows, return_index=True)[1])])


class KernelPass:
    """A pass over the rows of X, and the decision values of every example.

    Parameters
    ----------
    cache_bytes : int
        For kernel values that are kept.
    labels : array of int
        The class number of each row.
    positive : array of int
        The class that counts as +1 in each problem.
    positions : array of int
        The position of each row in the data or the stream.
    epochs : int
        How often each block will be visited.
    """

    def __init__(
        self,
        X: Matrix,
        basis: Basis,
        cache_bytes: int,
        workers: Workers,
        labels: np.ndarray,
        positive: np.ndarray,
        trace: Trace,
        positions: np.ndarray,
        epochs: int,
    ) -> None:
        self.book = SlotBook(X, basis, positions)
        self.values: TiledValues | ForgottenValues
        if is_cheap(basis.kernel, X, len(positive)):
            self.values = ForgottenValues(X, basis, self.book.rows_of)
        else:
            self.values = TiledValues(X, basis, cache_bytes, positions)
        self.n_rows, self.width = int(X.shape[0]), self.values.width
        self.workers = workers
        self.trace = trace
        self.n_blocks = -(-self.n_rows // self.width)
        self.scores = np.zeros((len(positive), self.n_blocks * self.width))
        self._visits_left = epochs * self.n_blocks
        self._seen = np.zeros(self.n_blocks, np.int64)  # mistakes that each block has been told of
        self._ahead: dict[int, Future[Any]] = {}
        self._tasks: dict[Future[Any], Callable[[], Any]] = {}
        self._walk = Walk(self.values, labels, positive, self.scores)

    @staticmethod
    def held(n_workers: int, n_rows: int, dtype: np.dtype) -> int:
        """Bytes of kernel values that a pass holds besides those that it keeps."""
        return int((KNOWN + n_workers * SLOTS) * tile_width(n_rows) * dtype.itemsize)

    def visit(self, block: int) -> int:
        """Run over one block and return how many examples it has."""
        seen = min(self.width, self.n_rows - block * self.width)
        if block in self._ahead:
            task = self._ahead.pop(block)
            self.workers.wait(self._tasks, task)
            del self._tasks[task]
        self._bring_up_to_date(block)()
        found = self._walk.run(block, seen)
        slots = self.book.slots_of(found.rows)
        self.trace.add_block(found, slots, block * self.width, seen)
        self.values.note_visits(np.unique(slots))
        self._seen[block] = len(self.trace)
        self._visits_left -= 1
        if self.n_blocks > AHEAD and self._visits_left >= AHEAD:
            self._look_ahead((block + AHEAD) % self.n_blocks)
        return seen

    def _bring_up_to_date(self, block: int) -> Callable[[], None]:
        """What is left to do for a block to know of all mistakes so far."""
        since = int(self._seen[block])
        self._seen[block] = len(self.trace)
        if since == len(self.trace):
            return lambda: None
        return partial(self.values.updates(self.trace, since), block, self.scores)

    def _look_ahead(self, block: int) -> None:
        """Have a block brought up to date with the mistakes known now. Which mistakes those are
        does not depend on the threads.
        """
        work = self._bring_up_to_date(block)
        task = self.workers.submit(work)
        self._ahead[block] = task
        self._tasks[task] = work
