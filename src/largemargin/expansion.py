"""A kernel expansion: f_p(x) = sum_i c_pi k(x_i, x) + b_p for a few problems p, evaluated in tiles.

The kernel values of a tile are used while they are in cache and dropped. The shapes of tiles follow
from the data alone, each is one single-threaded product, and sums are in float64, over tiles in
their order, so scores do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.gram import Basis, Gram
from largemargin.workers import for_each, single_thread

PANEL = 256  # rows of X a tile
STRIP = 512  # expansion vectors a tile
FEW_ROWS = 64
TASK = 1 << 23  # multiplications that are worth a tile where there are few rows
TRANSFORM = 64  # so many are as long as what is done to a value after the product
LINEAR = 1 << 13  # rows a product with a few vectors


def strip_of(X: Any) -> int:
    """How many vectors a tile takes where X has few rows: one row stays one row's work."""
    width = X.nnz / X.shape[0] if sp.issparse(X) else X.shape[1]
    return max(STRIP, int(TASK / (X.shape[0] * (width + TRANSFORM))))


def linear_scores(X: Any, weights: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Inner products of the rows of X with the few rows of `weights`, a row a row of X."""
    n = X.shape[0]
    if n <= LINEAR or sp.issparse(X):
        with single_thread():
            return np.asarray(X @ weights.T, np.float64)
    scores = np.empty((n, len(weights)))

    def run(first: int) -> None:
        part = slice(first, first + LINEAR)
        scores[part] = X[part] @ weights.T

    for_each(run, range(0, n, LINEAR), n_jobs)
    return scores


class Expansion:
    """Vectors in a basis, with a row of coefficients a problem."""

    def __init__(self, basis: Basis, coefs: np.ndarray, intercepts: np.ndarray) -> None:
        self.basis = basis
        self.coefs = np.ascontiguousarray(coefs)  # a product of one row depends on it
        self.intercepts = intercepts
        self._weights: np.ndarray | None = None

    def __call__(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """f of each row of X, a row a problem."""
        n, n_slots = X.shape[0], len(self.basis)
        scores = np.empty((len(self.coefs), n))
        scores[:] = self.intercepts[:, None]
        if not n_slots:
            return scores
        gram = Gram(self.basis.match(X), self.basis)
        gram.check_overflow()
        if n <= FEW_ROWS or n * n_slots <= 1 << 18:
            return self._few(gram, scores, n_jobs)
        vectors, squares = self.basis.vectors, self.basis.squares
        strips = []
        for lo in range(0, n_slots, STRIP):
            part = slice(lo, lo + STRIP)
            used = np.flatnonzero(self.coefs[:, part].any(axis=1))
            strips.append((vectors[part], squares[part], used, self.coefs[used, part]))

        def run(first: int) -> None:
            rows = gram.examples(first, PANEL)
            until = min(PANEL, n - first)
            for V, V_squares, used, coefs in strips:
                values = np.empty((V.shape[0], PANEL), self.basis.dtype)
                gram.fill(rows, (V, V_squares), values)
                scores[used, first : first + until] += (coefs @ values)[:, :until]

        for_each(run, range(0, n, PANEL), n_jobs)
        return scores

    def _few(self, gram: Gram, scores: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Add the sums over the vectors to scores of a few rows."""
        n_slots, strip = len(self.basis), strip_of(gram.X)
        vectors, squares = self.basis.vectors, self.basis.squares
        rows = gram.examples(0, gram.n_rows)

        firsts = range(0, n_slots, strip)
        parts = np.empty((len(firsts), *scores.shape))

        def add_up(k: int) -> None:
            part = slice(firsts[k], min(firsts[k] + strip, n_slots))
            values = np.empty((part.stop - part.start, gram.n_rows), self.basis.dtype)
            gram.fill(rows, (vectors[part], squares[part]), values)
            parts[k] = self.coefs[:, part] @ values

        for_each(add_up, range(len(firsts)), n_jobs)
        for part in parts:
            scores += part
        return scores

    def weights(self, n_features: int) -> np.ndarray:
        """With the linear kernel, the vectors themselves: a row a problem."""
        if self._weights is None:
            self._weights = np.zeros((len(self.coefs), n_features))
            if len(self.basis):
                with single_thread():
                    self._weights += self.coefs @ self.basis.vectors
        return self._weights
