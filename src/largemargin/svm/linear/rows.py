"""Rows of examples with the products that a solver with an explicit w needs.

Products run over blocks of rows, each on one thread, and are added up in the order of the blocks:
a solution depends neither on the threads nor on the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.runtime.arrays import Matrix
from largemargin.runtime.threads import Workers

ROWS = 2048  # rows of a block
AT_ONCE = 32  # blocks whose sums are held at the same time


class Rows:
    """Some rows of X, less a `shift`; products are in float64."""

    def __init__(self, X: Matrix, team: Workers, shift: np.ndarray | None = None) -> None:
        self.X, self.team = X, team
        self.n, self.d = X.shape
        self.shift = np.zeros(self.d) if shift is None else shift
        self._parts = [slice(k, k + ROWS) for k in range(0, self.n, ROWS)]

    def shifted(self, shift: np.ndarray) -> Rows:
        return Rows(self.X, self.team, shift)

    def unshifted(self) -> Rows:
        return Rows(self.X, self.team)

    def taken(self, which: np.ndarray) -> Rows:
        return Rows(self.X[which], self.team, self.shift)

    def mean(self) -> np.ndarray:
        return np.asarray(self.turned(np.ones(self.n)) / self.n)

    def times(self, v: np.ndarray) -> np.ndarray:
        """(X - shift) v"""
        found = np.empty(self.n)
        constant = float(self.shift @ v)

        def fill(part: slice) -> None:
            found[part] = self.X[part].astype(np.float64, copy=False) @ v

        self.team.map(fill, self._parts)
        found -= constant
        return found

    def turned(self, u: np.ndarray) -> np.ndarray:
        """(X - shift)'u"""
        total = summed_over(
            self.team,
            self._parts,
            lambda part: u[part] @ self.X[part].astype(np.float64, copy=False),
            np.zeros(self.d),
        )
        return total - self.shift * float(u.sum())

    def lengths(self, T: np.ndarray, extra: np.ndarray) -> np.ndarray:
        """The norms of the rows of (X - shift, extra) T."""
        found = np.empty(self.n)
        T = T.astype(np.float32)
        inner, outer = T[: self.d], T[self.d :]
        constant = self.shift.astype(np.float32) @ inner

        def fill(part: slice) -> None:
            product = self.X[part].astype(np.float32, copy=False) @ inner
            product -= constant
            product += extra[part].astype(np.float32) @ outer
            found[part] = np.sqrt(np.einsum("ij,ij->i", product, product))

        self.team.map(fill, self._parts)
        return found

    def dense(self, which: np.ndarray, extra: np.ndarray) -> np.ndarray:
        """Some rows, each with further entries at its end, as an array of float64."""
        Z = np.empty((len(which), self.d + extra.shape[1]))
        Z[:, self.d :] = extra

        def fill(first: int) -> None:
            part: Any = self.X[which[first : first + ROWS]]
            if sp.issparse(part):
                part = part.toarray()
            np.subtract(part, self.shift, out=Z[first : first + ROWS, : self.d])

        self.team.map(fill, range(0, len(which), ROWS))
        return Z


def normal(Z: np.ndarray, weights: np.ndarray, team: Workers) -> np.ndarray:
    """Z' diag(weights) Z, of weights that are not negative."""

    def product(part: slice) -> np.ndarray:
        scaled = Z[part] * np.sqrt(weights[part])[:, None]
        return np.asarray(scaled.T @ scaled)  # NumPy knows that it is symmetric

    parts = [slice(k, k + ROWS) for k in range(0, len(Z), ROWS)]
    return summed_over(team, parts, product, np.zeros((Z.shape[1],) * 2))


def summed_over(
    team: Workers, parts: list[slice], product: Callable[[slice], np.ndarray], total: np.ndarray
) -> np.ndarray:
    """The products of all blocks, added up in their order."""
    for first in range(0, len(parts), AT_ONCE):
        batch = parts[first : first + AT_ONCE]
        found: list[Any] = [None] * len(batch)

        def work(k: int, found: list[Any] = found, batch: list[slice] = batch) -> None:
            found[k] = product(batch[k])

        team.map(work, range(len(batch)))
        for one in found:
            total += one
    return total


def products_by_weights(
    X: Matrix, team: Workers, examples: np.ndarray, coefs: np.ndarray
) -> np.ndarray:
    """coefs @ (X[examples] X'), one row of coefficients per problem."""
    rows = Rows(X, team)
    return np.array([rows.times(row @ X[examples].astype(np.float64)) for row in coefs])
