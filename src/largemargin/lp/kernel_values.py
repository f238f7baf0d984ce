"""Kernel values for linear programs: all of them for small data, rows on request for large data.

Values below TRACE times the diagonal are made zero. A Gaussian so narrow that its values are 1e-15
would have coefficients of 1e15, which no solver can tell from infinity; values of 1e-9 on the other
hand can be all that a machine has to go by, and stay.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

import numpy as np

from largemargin.kernels.functions import Kernel, Matern
from largemargin.kernels.rows import BLOCK, KernelRows, Task, whole_gram
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.threads import Workers

TRACE = 1e-12  # kernel values below this fraction of the diagonal are made zero
WHOLE = 2048  # examples up to which all values are computed at once
SEGMENT = 8192  # columns of a segment of kernel rows, at most
AT_A_TIME = 1024  # kernel rows computed before anyone looks at the clock again


class OutOfTime(Exception):
    """Kernel values are asked for, and there is no time left to compute them."""


class KernelValues(Protocol):
    """Values k(x_i, x_j), one row per j: what a coefficient of j adds to each score.

    `largest` has the largest absolute value in each column outside the diagonal, of those that were
    computed so far.
    """

    diagonal: np.ndarray
    largest: np.ndarray

    def rows(self, examples: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """A block of values."""

    def scores(self, examples: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        """sum_j coefs_j k(x_i, x_j) for all i."""

    def transposed_scores(self, examples: np.ndarray, duals: np.ndarray) -> np.ndarray:
        """sum_i duals_i k(x_i, x_j) for all j, which pricing needs."""

    def block(self, examples: np.ndarray) -> np.ndarray:
        """The values among some examples, not kept."""


class WholeGram:
    """All values; they need not be symmetric."""

    def __init__(self, gram: np.ndarray) -> None:
        self.gram = gram  # k(x_i, x_j) in row j and column i
        self.diagonal = np.diagonal(gram).astype(np.float64)
        self._transposed = gram
        off = np.abs(gram)
        np.fill_diagonal(off, 0.0)
        self.largest = off.max(axis=1, initial=0.0)

    @classmethod
    def of(cls, X: Matrix, kernel: Kernel, dtype: np.dtype, team: Workers) -> WholeGram:
        gram = whole_gram(X, np.arange(X.shape[0]), kernel, dtype, team)
        if isinstance(kernel, Matern):  # with nu = 1/2 half of the digits are lost on the diagonal
            np.fill_diagonal(gram, kernel.diag(X))
        drop_traces(gram, np.diagonal(gram).copy(), np.diagonal(gram).copy())
        made = cls(gram)
        if not kernel.on_products and not np.array_equal(gram, gram.T):
            made._transposed = np.ascontiguousarray(gram.T)
        return made

    def rows(self, examples: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.asarray(self.gram[np.ix_(examples, columns)])

    def scores(self, examples: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        return np.asarray(coefs @ self.gram[examples])

    def transposed_scores(self, examples: np.ndarray, duals: np.ndarray) -> np.ndarray:
        return np.asarray(duals @ self._transposed[examples])

    def block(self, examples: np.ndarray) -> np.ndarray:
        return np.asarray(self.gram[np.ix_(examples, examples)])


class GramRows(KernelRows):
    """Rows that are computed when they are asked for, and kept within the memory. The kernel is
    taken to be symmetric.

    `look` is called before values are computed, and may raise `OutOfTime`; after that no more
    values can be had.
    """

    def __init__(
        self,
        X: Matrix,
        kernel: Kernel,
        dtype: np.dtype,
        memory: int,
        team: Workers,
        look: Callable[[], None],
    ) -> None:
        n = X.shape[0]
        self._look = look
        self.diagonal = np.asarray(kernel.diag(X), np.float64)
        self._roots = np.sqrt(np.abs(self.diagonal))
        self.largest = np.zeros(n)
        self._lock = threading.Lock()
        segments = np.array_split(np.arange(n), -(-n // SEGMENT))
        super().__init__(X, kernel, dtype, segments, memory, team)

    def rows(self, examples: np.ndarray, columns: np.ndarray) -> np.ndarray:
        found = np.empty((len(examples), len(columns)), self.dtype)
        ends = np.cumsum([segment.width for segment in self.segments])
        home = np.searchsorted(ends, columns, side="right")
        step = min(AT_A_TIME, max(BLOCK, self.capacity // BLOCK * BLOCK))
        wanted = {s: [examples] for s in np.unique(home).tolist()}
        self.announce(wanted)
        for first in range(0, len(examples), step):
            part = examples[first : first + step]
            self.fetch({s: [part] for s in wanted})
            for s in wanted:
                segment, mine = self.segments[s], np.flatnonzero(home == s)
                place = columns[mine] - (ends[s] - segment.width)
                values = segment.values[np.ix_(segment.slot_of[part], place)]
                found[first : first + len(part), mine] = values
        return found

    def scores(self, examples: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        if AT_A_TIME < len(examples) <= self.capacity:
            everywhere = range(len(self.segments))
            self.announce({s: [examples] for s in everywhere})
            for first in range(0, len(examples), AT_A_TIME):
                self.fetch({s: [examples[first : first + AT_A_TIME]] for s in everywhere})
        return np.asarray(self.products(examples, coefs[None])[0])

    transposed_scores = scores

    def block(self, examples: np.ndarray) -> np.ndarray:
        values = super().block(examples)
        return drop_traces(values, self.diagonal[examples], self.diagonal[examples])

    def _compute(self, task: Task) -> None:
        from largemargin.lp._loops import settle

        self._look()
        super()._compute(task)
        segment, part = task.segment, task.part
        columns = segment.columns[part.first : part.first + len(part.squares)]
        largest = np.zeros(len(columns))
        # exactly the diagonal: what a program takes from it must not leave rounding errors
        settle(
            segment.values, segment.slot_of[task.rows], part.first, task.rows, columns,
            self.diagonal, TRACE * self._roots, self._roots, largest,
        )  # fmt: skip
        with self._lock:
            self.largest[columns] = np.maximum(self.largest[columns], largest)


def drop_traces(values: np.ndarray, down: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Make zero, in place, what is below TRACE times the diagonal."""
    low = TRACE * np.sqrt(np.abs(down))
    high = np.sqrt(np.abs(across))
    for k in range(len(values)):  # a row at a time, while it is in cache
        row = values[k]
        row[np.abs(row) < low[k] * high] = 0.0
    return values


def kernel_values(
    X: Matrix,
    kernel: Kernel,
    dtype: np.dtype,
    memory: int,
    team: Workers,
    look: Callable[[], None] = lambda: None,
) -> WholeGram | GramRows:
    """All values if there are few or the user computed them, else rows."""
    n = X.shape[0]
    if kernel.by_column or n <= WHOLE:
        return WholeGram.of(X, kernel, dtype, team)
    return GramRows(X, kernel, dtype, memory, team, look)
