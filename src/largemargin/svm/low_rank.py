"""Kernel values of far fewer dimensions than examples, for the interior-point method.

A polynomial of low degree, a wide gaussian or any kernel of one or two columns has K = L L' but for
rounding, with a few dozen columns in L. It is found by the Cholesky decomposition that takes the
largest pivot that is left and ends where that is rounding (Fine & Scheinberg 2001). In these
columns the systems of the interior-point method are as small as those of few features; and a whole
problem that steps do not end is a linear one, with L in place of the features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from largemargin.svm.few_features import Factored
from largemargin.svm.interior_point import Dense, System

LOW = 4  # examples, for each column, from which on these pay
LEAST = 200  # examples up to which the whole matrix takes no time, and rounds less
UNITS = 8  # roundings of the largest value up to which a pivot is nothing
MOST_COLUMNS = 1024  # columns of the L of a whole problem at most
MOST_NUMBERS = 1 << 24  # and numbers in it
BATCH = 64  # rows of K that are computed together
SMALL_PIVOT = 0.1  # of the largest pivot that is left: smaller ones of a batch wait


@dataclass(frozen=True)
class Columns:
    """The columns of L with the products that solving takes."""

    L: np.ndarray

    @property
    def d(self) -> int:
        return int(self.L.shape[1])

    def times(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(self.L @ v)

    def turned(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(self.L.T @ u)

    def normal(self, weights: np.ndarray) -> np.ndarray:
        return np.asarray((self.L.T * weights) @ self.L)

    def squares(self) -> np.ndarray:
        return np.asarray((self.L**2).sum(axis=1))


def system_of(K: np.ndarray, ridge: np.ndarray, A: np.ndarray) -> System:
    """K + diag(ridge), and few sums, one row of A each: in the columns of L if these are few."""
    L = factor_of(K) if len(K) > LEAST else None
    if L is not None:
        return Factored(Columns(L), ridge, A)
    Q = K.astype(np.float64)
    Q[np.diag_indices(len(Q))] += ridge
    return Dense(Q, A)


def without_rounding(K: np.ndarray) -> np.ndarray:
    """Kernel values in float64; those of float32 and few dimensions without its rounding, which
    leaves them with no minimum.
    """
    L = factor_of(K) if K.dtype == np.float32 else None
    return K.astype(np.float64) if L is None else np.asarray(L @ L.T)


def factor_of(K: np.ndarray) -> np.ndarray | None:
    """L with K = L L' to the rounding of its type; None if that takes too many columns."""
    n = len(K)
    left = np.diagonal(K).astype(np.float64)
    least = UNITS * float(np.finfo(K.dtype).eps) * float(left.max(initial=0.0))
    L = np.zeros((n, n // LOW))
    for k in range(L.shape[1]):
        first = int(np.argmax(left))
        if not left[first] > least:
            return L[:, : max(k, 1)].copy()
        L[:, k] = (K[first] - L[:, :k] @ L[first, :k]) / np.sqrt(left[first])
        left -= L[:, k] ** 2
    return None


def factor_by_rows(
    diagonal: np.ndarray,
    rows: Callable[[np.ndarray], np.ndarray],
    unit: float,
    stopped: Callable[[], object] = lambda: "",
) -> np.ndarray | None:
    """The same from some rows of K alone, `rows(F)` being those of F, and `unit` their rounding;
    None where it is stopped, too.
    """
    left = np.array(diagonal, np.float64)
    n = len(left)
    least = UNITS * unit * float(left.max(initial=0.0))
    most = min(n // LOW, MOST_COLUMNS, MOST_NUMBERS // max(n, 1))
    turned, k = np.empty((most, n)), 0
    while float(left.max(initial=0.0)) > least:
        if stopped():
            return None
        # the largest pivots, and of those no two that are nearly alike
        batch = np.argsort(-left, kind="stable")[:BATCH]
        values = rows(batch).astype(np.float64)
        values -= np.ascontiguousarray(turned[:k, batch].T) @ turned[:k]
        enough = max(least, SMALL_PIVOT * float(left[batch[0]]))
        while float(left[batch].max()) > enough:
            if k == most:
                return None
            at = int(np.argmax(left[batch]))
            row = values[at] / np.sqrt(left[batch[at]])
            values -= np.outer(row[batch], row)
            left -= row**2
            left[batch[at]] = 0.0
            turned[k] = row
            k += 1
    return np.ascontiguousarray(turned[: max(k, 1)].T) if k else np.zeros((n, 1))
