"""Rows of examples with the products that a solver with an explicit w needs.

Products run over blocks of rows, each on one thread, and are added up in the order of the blocks:
a solution depends neither on the threads nor on the memory. Of rows that are in other processes
each block is multiplied where it is; some numbers per row, or a sum of all blocks, come back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.runtime.arrays import DistantRows, Matrix, some_rows
from largemargin.runtime.threads import Workers
from largemargin.svm.linear import passes

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
        return Rows(some_rows(self.X, which), self.team, self.shift)

    def mean(self) -> np.ndarray:
        return np.asarray(self.turned(np.ones(self.n)) / self.n)

    def times(self, v: np.ndarray) -> np.ndarray:
        """(X - shift) v"""
        constant = float(self.shift @ v)
        if isinstance(self.X, DistantRows):
            return self.X.by_rows(passes.times, v) - constant
        found = np.empty(self.n)

        def fill(part: slice) -> None:
            found[part] = self.X[part].astype(np.float64, copy=False) @ v

        def fill_sparse(part: slice) -> None:
            loops().times(*entries(self.X), v, part.start, found[part])

        self.team.map(fill_sparse if sp.issparse(self.X) else fill, self._parts)
        found -= constant
        return found

    def turned(self, u: np.ndarray) -> np.ndarray:
        """(X - shift)'u"""
        if isinstance(self.X, DistantRows):
            total = self.X.totals(passes.turned, beside=[u])
        else:
            total = summed_over(
                self.team,
                self._parts,
                lambda part: u[part] @ self.X[part].astype(np.float64, copy=False),
                np.zeros(self.d),
            )
        return np.asarray(total - self.shift * float(u.sum()))

    def lengths(self, T: np.ndarray, extra: np.ndarray) -> np.ndarray:
        """The norms of the rows of (X - shift, extra) T."""
        T = T.astype(np.float32)
        inner, outer = T[: self.d], T[self.d :]
        constant = self.shift.astype(np.float32) @ inner
        if isinstance(self.X, DistantRows):
            return self.X.by_rows(
                passes.lengths, inner, constant, outer, beside=[extra.astype(np.float32)]
            ).astype(np.float64)
        found = np.empty(self.n)

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
        X: Any = self.X
        if isinstance(X, DistantRows):  # all at once, and not block by block
            X, which = X[which], np.arange(len(which))

        def fill(first: int) -> None:
            part: Any = X[which[first : first + ROWS]]
            if sp.issparse(part):
                part = part.toarray()
            np.subtract(part, self.shift, out=Z[first : first + ROWS, : self.d])

        self.team.map(fill, range(0, len(which), ROWS))
        return Z

    def band(self, which: np.ndarray, extra: np.ndarray) -> Band | DistantBand:
        """Some rows, each with further entries at its end, for products with them."""
        if isinstance(self.X, DistantRows):
            rows = self.taken(which)
            if isinstance(rows.X, DistantRows):
                return DistantBand(rows, extra)
            return Band(rows.dense(np.arange(rows.n), extra), self.team)
        return Band(self.dense(which, extra), self.team)

    def normal(self, which: np.ndarray, extra: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Z' diag(weights) Z of some rows, each with further entries at its end."""
        if isinstance(self.X, DistantRows):  # which takes less than to fetch them
            rows = Rows(self.X.taken(which), self.team, self.shift)
            return DistantBand(rows, extra).normal(weights)
        return Band(self.dense(which, extra), self.team).normal(weights)


def entries(X: Any) -> tuple[np.ndarray, ...]:
    """A CSR matrix as compiled loops read it: without a sign no index needs a test for one."""
    return X.data, X.indices.view(f"u{X.indices.itemsize}"), X.indptr


@cache
def loops() -> Any:
    """Compiled code, loaded at its first use."""
    from largemargin.svm.linear import loops

    return loops


@dataclass(frozen=True)
class Band:
    """Rows Z with the products that a system with them takes."""

    Z: np.ndarray
    team: Workers

    def times(self, v: np.ndarray) -> np.ndarray:
        """Z v"""
        found = np.empty(len(self.Z))

        def fill(part: slice) -> None:
            np.matmul(self.Z[part], v, out=found[part])

        self.team.map(fill, self._parts)
        return found

    def turned(self, u: np.ndarray) -> np.ndarray:
        """Z'u"""
        return summed_over(
            self.team, self._parts, lambda part: u[part] @ self.Z[part], np.zeros(self.Z.shape[1])
        )

    def normal(self, weights: np.ndarray) -> np.ndarray:
        """Z' diag(weights) Z, of weights that are not negative."""
        return summed_over(
            self.team,
            self._parts,
            lambda part: _normal(self.Z[part], weights[part]),
            np.zeros((self.Z.shape[1],) * 2),
        )

    @property
    def _parts(self) -> list[slice]:
        return [slice(k, k + ROWS) for k in range(0, len(self.Z), ROWS)]


@dataclass(frozen=True)
class DistantBand:
    """The same of rows in other processes, with `extra` entries at their ends."""

    rows: Rows
    extra: np.ndarray

    def times(self, v: np.ndarray) -> np.ndarray:
        d = self.rows.d
        return np.asarray(self.rows.times(v[:d]) + self.extra @ v[d:])

    def turned(self, u: np.ndarray) -> np.ndarray:
        return np.concatenate([self.rows.turned(u), u @ self.extra])

    def normal(self, weights: np.ndarray) -> np.ndarray:
        X: Any = self.rows.X
        found: np.ndarray = X.totals(passes.normal, self.rows.shift, beside=[weights, self.extra])
        return found


def _normal(Z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    scaled = Z * np.sqrt(weights)[:, None]
    return np.asarray(scaled.T @ scaled)  # NumPy knows that it is symmetric


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
    if isinstance(X, DistantRows):
        near = some_rows(X, examples)
        if isinstance(near, DistantRows):
            w = near.totals(passes.turned, beside=[coefs.T])
        else:
            w = coefs @ near.astype(np.float64)
        return X.by_rows(passes.times, w.T).T
    rows = Rows(X, team)
    return np.array([rows.times(row @ X[examples].astype(np.float64)) for row in coefs])
