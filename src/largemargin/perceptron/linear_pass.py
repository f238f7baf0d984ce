"""The online pass with the linear kernel: the current prediction vectors are held explicitly.

A score is then one inner product, however many mistakes came before, and no kernel values are
needed. The problems are independent, so threads share them out; within a thread an example is read
once for all of its problems.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.basis import Basis
from largemargin.kernels.functions import squared_norms
from largemargin.perceptron.kernel_pass import SlotBook
from largemargin.perceptron.trace import Trace
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.threads import Workers

BLOCK = 4096  # examples of a block, after which someone looks at the clock


class LinearPass:
    """A pass over the rows of X. `weights` has one row per problem; its last column has the
    thresholds, which are zero without `threshold`.
    """

    def __init__(
        self,
        X: Matrix,
        basis: Basis,
        workers: Workers,
        labels: np.ndarray,
        positive: np.ndarray,
        trace: Trace,
        positions: np.ndarray,
        weights: np.ndarray,
        threshold: bool,
    ) -> None:
        self.X = X
        self.workers = workers
        self.labels = labels
        self.positive = positive
        self.trace = trace
        self.weights = weights
        self.bias = float(threshold)
        self.book = SlotBook(X, basis, positions)
        self._squares = squared_norms(X) + self.bias

    @property
    def n_blocks(self) -> int:
        return -(-int(self.X.shape[0]) // BLOCK)

    def visit(self, block: int) -> int:
        """Run over one block and return how many examples it has."""
        first, stop = block * BLOCK, min((block + 1) * BLOCK, int(self.X.shape[0]))
        groups = np.array_split(np.arange(len(self.positive)), self.workers.count)
        parts: list[list[np.ndarray]] = []
        self.workers.map(
            lambda group: parts.append(self._run_block(first, stop, group)),
            [g for g in groups if len(g)],
        )
        rows, problems, signs, wrong = (np.concatenate(field) for field in zip(*parts, strict=True))
        order = np.lexsort((problems, rows))
        rows = rows[order]
        self.trace.extend(
            {
                "slot": self.book.slots_of(rows),
                "problem": problems[order],
                "sign": signs[order],
                "step": self.trace.n_steps + rows - first,
                "score": wrong[order],
                "square": self._squares[rows],
            }
        )
        self.trace.n_steps += stop - first
        return stop - first

    def _run_block(self, first: int, stop: int, group: np.ndarray) -> list[np.ndarray]:
        """The mistakes of some problems: rows, problems, signs, scores."""
        from largemargin.perceptron import _loops

        room = (stop - first) * len(group)
        mistakes = [
            np.empty(room, np.int64),
            np.empty(room, np.int64),
            np.empty(room),
            np.empty(room),
        ]
        p = int(group[0])
        positive = self.positive[group]
        weights = self.weights[p : p + len(group)]
        X: Any = self.X
        sparse = sp.issparse(X)
        rows = (X.data, X.indices, X.indptr) if sparse else (X,)
        run: Any = _loops.run_sparse_block if sparse else _loops.run_dense_block
        made = run(*rows, first, stop, self.labels, positive, weights, p, self.bias, *mistakes)
        return [field[:made] for field in mistakes]


def weights_of(trace: Trace, basis: Basis, n_features: int, threshold: bool) -> np.ndarray:
    """The current prediction vectors, summed in the order in which training summed them."""
    weights = np.zeros((trace.n_problems, n_features + 1))
    vectors = basis.vectors
    for p, slot, sign in zip(trace.problem, trace.slot, trace.sign, strict=True):
        if basis.sparse:
            lo, hi = vectors.indptr[slot : slot + 2]
            weights[p, vectors.indices[lo:hi]] += sign * vectors.data[lo:hi].astype(np.float64)
        else:
            weights[p, :-1] += sign * vectors[slot].astype(np.float64)
        weights[p, -1] += sign * float(threshold)
    return weights
