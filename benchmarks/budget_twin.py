"""MIRA with a fixed cache in NumPy: one example at a time, vectorised over cache and classes.

The same algorithm as the library's, written as carefully as NumPy allows: kernel values by one
matrix-vector product, scores of the stored examples kept up to date, nothing computed twice. The
exponentials are the library's, which are faster than NumPy's, so that the values are the same bits.
"""

from __future__ import annotations

import numpy as np

from largemargin.kernels.exponential import exponentials


class NumpyMIRA:
    """Gaussian kernel, margin policy."""

    def __init__(self, budget: int, gamma: float, margin: float = 0.01) -> None:
        self.budget = budget
        self.gamma = gamma
        self.margin = margin

    def fit(self, X: np.ndarray, y: np.ndarray) -> NumpyMIRA:
        n_classes, budget = int(y.max()) + 1, self.budget
        self.vectors = np.zeros((budget, X.shape[1]), X.dtype)
        self.positions = np.zeros(budget, np.int64)
        self.coefs = np.zeros((budget, n_classes))
        squares, labels = np.zeros(budget, X.dtype), np.zeros(budget, np.int64)
        others = np.zeros((budget, n_classes))  # scores of each stored example by the others
        gram = np.ones((budget, budget))
        everyone = np.arange(budget)
        norms = np.einsum("ij,ij->i", X, X)
        size = self.margin_errors = 0
        for t in range(len(y)):
            x, label = X[t], y[t]
            k = self.vectors[:size] @ x
            k *= 2
            k -= squares[:size]
            k -= norms[t]
            k *= self.gamma
            exponentials(k[None])
            k = k.astype(np.float64)
            scores = k @ self.coefs[:size]
            own = scores[label]
            scores[label] = -np.inf
            if own - scores.max() > self.margin:
                continue
            scores[label] = own
            self.margin_errors += 1
            slot = size
            if size == budget:
                correct = others[everyone, labels]
                others[everyone, labels] = -np.inf
                lead = correct - others.max(axis=1)
                others[everyone, labels] = correct
                slot = self._best(lead)
                scores -= k[slot] * self.coefs[slot]
                others -= gram[slot][:, None] * self.coefs[slot]
            tau = self._step(scores, label)
            if tau is None:
                raise NotImplementedError("a step of zero, which this stream does not have")
            self.vectors[slot], squares[slot], labels[slot] = x, norms[t], label
            self.positions[slot], self.coefs[slot] = t, tau
            size = max(size, slot + 1)
            if len(k) < size:
                k = np.append(k, 1.0)
            k[slot] = 1.0
            gram[slot, :size] = gram[:size, slot] = k
            others[:size] += k[:, None] * tau
            others[slot] = scores
        self.size = size
        return self

    def _best(self, lead: np.ndarray) -> int:
        best = np.flatnonzero(lead == lead.max())
        return int(best[np.argmin(self.positions[best])])

    def _step(self, scores: np.ndarray, label: int) -> np.ndarray | None:
        """e_y minus the projection of the scores with the margin onto the simplex; k(x, x) = 1."""
        v = scores + self.margin
        v[label] += 1 - self.margin
        u = np.sort(v)[::-1]
        theta = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
        tau = -np.maximum(v - theta[np.flatnonzero(u > theta)[-1]], 0)
        tau[label] += 1
        return tau if tau.any() else None
