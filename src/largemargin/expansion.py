"""A kernel expansion: f_p(x) = sum_i c_pi k(x_i, x) + b_p for a few problems p, evaluated in tiles.

The kernel values of a tile are used while they are in cache and dropped. Sums are in float64, over
tiles in their order, so they do not depend on the number of threads or on the memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.gram import Basis, Gram
from largemargin.workers import blas_threads, workers

PANEL = 256  # rows of X a tile
STRIP = 512  # expansion vectors a tile
FEW_ROWS = 64


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
        vectors, squares = self.basis.vectors, self.basis.squares
        if n <= FEW_ROWS or n * n_slots <= 1 << 18:
            values = np.empty((n_slots, n), self.basis.dtype)
            with blas_threads(n_jobs):
                gram.fill(gram.examples(0, n), (vectors, squares), values)
                scores += self.coefs @ values
            return scores
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

        with workers(n_jobs) as team:
            team.map(run, range(0, n, PANEL))
        return scores

    def weights(self, n_features: int) -> np.ndarray:
        """With the linear kernel, the vectors themselves: a row a problem."""
        if self._weights is None:
            self._weights = np.zeros((len(self.coefs), n_features))
            if len(self.basis):
                self._weights += self.coefs @ self.basis.vectors
        return self._weights
