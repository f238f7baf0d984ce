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
from largemargin.perceptron.trace import Mistakes, Trace
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

    @property
    def n_blocks(self) -> int:
        return -(-int(self.X.shape[0]) // BLOCK)

    def visit(self, block: int) -> int:
        """Run over one block and return how many examples it has."""
        first, stop = block * BLOCK, min((block + 1) * BLOCK, int(self.X.shape[0]))
        found = walk_rows(
            self.X, first, stop, self.labels, self.positive, self.weights, self.bias, self.workers
        )
        self.trace.add_block(found, self.book.slots_of(found.rows), first, stop - first)
        return stop - first


def walk_rows(
    X: Any,
    first: int,
    stop: int,
    labels: np.ndarray,
    positive: np.ndarray,
    weights: np.ndarray,
    bias: float,
    workers: Workers,
) -> Mistakes:
    """Run over rows first..stop, whose mistakes change the weights."""
    from largemargin.perceptron import _loops

    sparse = sp.issparse(X)
    rows = (X.data, X.indices, X.indptr) if sparse else (X,)
    run: Any = _loops.run_sparse_block if sparse else _loops.run_dense_block
    parts: list[list[np.ndarray]] = []

    def walk(group: np.ndarray) -> None:
        """The mistakes of some problems: rows, problems, signs, scores."""
        room = (stop - first) * len(group)
        mistakes = [np.empty(room, dtype) for dtype in (np.int64, np.int64, float, float)]
        p = int(group[0])
        own = weights[p : p + len(group)]
        made = run(*rows, first, stop, labels, positive[group], own, p, bias, *mistakes)
        parts.append([field[:made] for field in mistakes])

    groups = np.array_split(np.arange(len(positive)), workers.count)
    workers.map(walk, [group for group in groups if len(group)])
    found, problems, signs, wrong = (np.concatenate(field) for field in zip(*parts, strict=True))
    order = np.lexsort((problems, found))
    found = found[order]
    erred, which = np.unique(found, return_inverse=True)
    squares = squared_norms(X[erred])[which] + bias
    return Mistakes(found, problems[order], signs[order], wrong[order], squares)


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
