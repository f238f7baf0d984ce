"""What is computed of a stretch of rows where it is, in another process.

A few rows at a time, in memory that is used again: a process that gives freed memory back at once,
as the workers of clusters do, spends longer on getting new pages than on the products.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.runtime.arrays import Matrix

PIECE = 256  # rows


def pieces(n: int) -> Iterator[slice]:
    for first in range(0, n, PIECE):
        yield slice(first, min(first + PIECE, n))


def times(X: Matrix, v: np.ndarray) -> np.ndarray:
    """X v"""
    found = np.empty((X.shape[0], *v.shape[1:]))
    for part, rows in _doubled(X):
        found[part] = rows @ v
    return found


def turned(X: Matrix, u: np.ndarray) -> np.ndarray:
    """X'u, or, of several vectors, U'X."""
    total = np.zeros((*u.shape[1:], X.shape[1]))
    for part, rows in _doubled(X):
        total += u[part].T @ rows
    return total


def lengths(
    X: Matrix, extra: np.ndarray, inner: np.ndarray, constant: np.ndarray, outer: np.ndarray
) -> np.ndarray:
    """The norms of the rows of X inner - constant + extra outer, in float32."""
    found = np.empty(X.shape[0], np.float32)
    for part in pieces(X.shape[0]):
        product = X[part].astype(np.float32, copy=False) @ inner
        product -= constant
        product += extra[part] @ outer
        found[part] = np.sqrt(np.einsum("ij,ij->i", product, product))
    return found


def normal(X: Any, weights: np.ndarray, extra: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Z' diag(weights) Z of Z = (X - shift, extra), of weights that are not negative."""
    n, d = X.shape
    room = np.empty((min(n, PIECE), d + extra.shape[1]))
    total = np.zeros((room.shape[1],) * 2)
    for part in pieces(n):
        Z = room[: part.stop - part.start]
        np.subtract(X[part].toarray() if sp.issparse(X) else X[part], shift, out=Z[:, :d])
        Z[:, d:] = extra[part]
        Z *= np.sqrt(weights[part])[:, None]
        total += Z.T @ Z  # NumPy knows that it is symmetric
    return total


def _doubled(X: Any) -> Iterator[tuple[slice, Any]]:
    """The rows in float64, those of another type a few at a time."""
    n, d = X.shape
    if sp.issparse(X) or X.dtype == np.float64:
        yield slice(0, n), X.astype(np.float64, copy=False)
        return
    room = np.empty((min(n, PIECE), d))
    for part in pieces(n):
        rows = room[: part.stop - part.start]
        rows[...] = X[part]
        yield part, rows
