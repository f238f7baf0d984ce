"""The online pass of the voted perceptron, in blocks.

For each example in order, and each problem p:

    mistake  <=>  y_p f_p(x) <= 0   ->   f_p += y_p k(x, .)

The pass is sequential, kernel values are not. A block of examples is brought up to date when it is
visited: the mistakes made elsewhere since its last visit are applied to it in a few well-shaped
products. Other threads do most of that ahead of the run, for the next AHEAD blocks, with the
mistakes known so far. Inside the block, the run needs only the rows of the kernel matrix of
examples that err there. They are guessed - those that would err if nothing changed, then the
nearest to erring - and computed together; an example that errs unforeseen stops the run for
another round of guesses. The mistakes are exactly those of the one-by-one algorithm (Freund &
Schapire 1999, figure 1).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np

from largemargin.kernels.basis import SLOTS, Basis, Growing
from largemargin.kernels.fused import is_computed_again
from largemargin.kernels.tiles import WIDTH_STEP, tile_width
from largemargin.perceptron.trace import Trace
from largemargin.perceptron.values import ForgottenValues, TiledValues
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.threads import Workers

AHEAD = 6  # blocks brought up to date before their turn
GUESSES = 32  # examples whose kernel rows are computed in one round, at most
KNOWN = 256  # kernel rows within a block that are held at a time


class SlotBook:
    """Which slot of the basis each example has, given out in the order of first mistakes."""

    def __init__(self, X: Matrix, basis: Basis, positions: np.ndarray) -> None:
        self.X = X
        self.basis = basis
        self.positions = positions
        self._slots = np.full(X.shape[0], -1)
        self._n_before, self._given = len(basis), Growing(np.int64)

    def slots_of(self, rows: np.ndarray) -> np.ndarray:
        """The slots of examples that have erred; new ones enter the basis."""
        fresh = rows[self._slots[rows] < 0]
        fresh = fresh[np.sort(np.unique(fresh, return_index=True)[1])]
        size = len(self.basis)
        self.basis.add(self.X[fresh], self.positions[fresh])
        self._slots[fresh] = np.arange(size, size + len(fresh))
        self._given.extend(fresh)
        return np.asarray(self._slots[rows])

    def rows_of(self, slots: np.ndarray) -> np.ndarray:
        """The examples in slots that were given out here."""
        return np.asarray(self._given.values[slots - self._n_before])


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
        if is_computed_again(basis.kernel, X, len(positive)):
            self.values = ForgottenValues(X, basis, self.book.rows_of)
        else:
            self.values = TiledValues(X, basis, cache_bytes, positions)
        self.n_rows, self.width = int(X.shape[0]), self.values.width
        self.workers = workers
        self.labels = labels
        self.positive = positive
        self.trace = trace
        self.n_blocks = -(-self.n_rows // self.width)
        self.scores = np.zeros((len(positive), self.n_blocks * self.width))
        self._visits_left = epochs * self.n_blocks
        self._seen = np.zeros(self.n_blocks, np.int64)  # mistakes that each block has been told of
        self._ahead: dict[int, Future[Any]] = {}
        self._tasks: dict[Future[Any], Callable[[], Any]] = {}
        # where in `_kernel_rows` each example of the block has its kernel row, or -1
        self._row_of = np.empty(self.width, np.int64)
        self._kernel_rows = np.zeros((KNOWN, self.width), self.values.dtype)

    @staticmethod
    def held(n_workers: int, n_rows: int, dtype: np.dtype) -> int:
        """Bytes of kernel values that a pass holds besides those that it keeps."""
        return int((KNOWN + n_workers * SLOTS) * tile_width(n_rows) * dtype.itemsize)

    def visit(self, block: int) -> int:
        """Run over one block and return how many examples it has."""
        first = block * self.width
        stop = min(first + self.width, self.n_rows)
        if block in self._ahead:
            task = self._ahead.pop(block)
            self.workers.wait(self._tasks, task)
            del self._tasks[task]
        self._bring_up_to_date(block)()
        before = len(self.trace)
        self._run_block(first, stop)
        self.values.note_visits(np.unique(self.trace.slot[before:]))
        self.trace.n_steps += stop - first
        self._seen[block] = len(self.trace)
        self._visits_left -= 1
        if self.n_blocks > AHEAD and self._visits_left >= AHEAD:
            self._look_ahead((block + AHEAD) % self.n_blocks)
        return stop - first

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

    def _run_block(self, first: int, stop: int) -> None:
        """Run over examples first..stop, in rounds: guess who errs, compute kernel rows, go on."""
        from largemargin.perceptron._loops import run_block

        room = (stop - first) * len(self.positive)
        rows, problems = np.empty(room, np.int64), np.empty(room, np.int64)
        signs, wrong = np.empty(room), np.empty(room)
        at, known = first, 0
        self._row_of.fill(-1)
        while True:
            if known > KNOWN - GUESSES:
                self._row_of.fill(-1)
                known = 0
            guesses = self._guess(first, at, stop)
            if guesses is None:
                return
            known = self._add_kernel_rows(first, guesses, known)
            at, made = run_block(
                self.scores, first, at, stop, self.labels, self.positive, self._row_of,
                self._kernel_rows, rows, problems, signs, wrong,
            )  # fmt: skip
            place = rows[:made] - first
            self.trace.extend(
                {
                    "slot": self.book.slots_of(rows[:made]),
                    "problem": problems[:made],
                    "sign": signs[:made],
                    "step": self.trace.n_steps + place,
                    "score": wrong[:made],
                    "square": self._kernel_rows[self._row_of[place], place],
                }
            )

    def _guess(self, first: int, at: int, stop: int) -> np.ndarray | None:
        """Examples whose kernel rows the run from `at` is likely to want and does not have: those
        that err if nothing changes, in their order, then those nearest to erring. None if no
        example errs any more.
        """
        from largemargin.perceptron._loops import smallest_margins

        margins = np.empty(stop - at)
        smallest_margins(self.scores, at, stop, self.labels, self.positive, margins)
        if not (margins <= 0).any():
            return None
        missing = np.flatnonzero(self._row_of[at - first : stop - first] < 0)
        margins = margins[missing]
        erring = missing[margins <= 0][:GUESSES]
        width = min(-(-len(erring) * 5 // (4 * WIDTH_STEP)) * WIDTH_STEP, GUESSES, len(missing))
        if len(erring) < width:
            erring = missing[np.argpartition(margins, width - 1)[:width]]
        return at + erring

    def _add_kernel_rows(self, first: int, guesses: np.ndarray, known: int) -> int:
        """Compute the kernel rows of some examples within their block. Returns the number of rows
        that are known now.
        """
        if not len(guesses):
            return known
        block = first // self.width
        written = self.values.fill(block, guesses, self._kernel_rows[known:])
        self._row_of[guesses - first] = known + np.arange(len(guesses))
        return known + written
