"""w itself, from the coefficients of a machine, as exactly as what is told of it asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.functions import UNIT
from largemargin.runtime.arrays import DistantRows, Matrix
from largemargin.svm.linear.passes import pieces

PIECE = 64  # vectors that are summed together
SHORT = 1 << 15  # entries of w that are summed up where the rows are, and not the rows fetched
LONG = np.longdouble


def weighted_sums(
    V: Matrix, vectors: np.ndarray, coefs: np.ndarray, few: int
) -> tuple[np.ndarray, float]:
    """coefs @ V[vectors], and its error relative to the sum of the sizes of its terms.

    If there are no more than `few` terms, they are multiplied in extended precision and added in
    pairs; else PIECE at a time, and only what these give is added in extended precision, or, of
    sparse rows, one by one as if with twice the digits.
    """
    eps, count = float(np.finfo(LONG).eps), len(vectors)
    is_few = coefs.size * V.shape[1] <= few
    if isinstance(V, DistantRows):
        if not is_few and len(coefs) * V.shape[1] <= SHORT:
            return _distant_sums(V.taken(vectors), coefs)
        V, vectors = V[vectors], np.arange(count)
    if is_few:
        rows = V[vectors].toarray() if sp.issparse(V) else V[vectors]
        columns = np.ascontiguousarray(rows.T.astype(LONG))
        w = np.array([(columns * row).sum(axis=1) for row in coefs.astype(LONG)])
        # NumPy adds up to 128 terms in eight sums of 16, and what these give in pairs
        return w.astype(float), eps * (24 + np.log2(count + 1))
    if sp.issparse(V):
        return _sparse_sums(V, vectors, coefs), 4 * UNIT
    total, _ = _dense_sums(V, vectors, coefs)
    return total.astype(float), (PIECE + 2) * UNIT + eps * (count // PIECE + 1)


def _sparse_sums(V: Matrix, vectors: np.ndarray, coefs: np.ndarray) -> np.ndarray:
    from largemargin.svm.verified_sums import weigh_rows

    w, csr = np.zeros((len(coefs), V.shape[1])), sp.csr_array(V)
    for k in range(len(coefs)):
        weigh_rows(csr.data, csr.indices, csr.indptr, vectors, coefs[k], w[k])
    return w


def _dense_sums(V: np.ndarray, vectors: np.ndarray, coefs: np.ndarray) -> tuple[np.ndarray, int]:
    """The sums in extended precision, and of how many pieces."""
    n_pieces = 0
    total = np.zeros((len(coefs), V.shape[1]), LONG)
    for first in range(0, len(vectors), PIECE * PIECE):
        part = vectors[first : first + PIECE * PIECE]
        pieces = -(-len(part) // PIECE)
        n_pieces += pieces
        rows = np.zeros((pieces * PIECE, V.shape[1]))
        mine = np.zeros((len(coefs), pieces * PIECE))
        rows[: len(part)] = V[part]
        mine[:, : len(part)] = coefs[:, first : first + PIECE * PIECE]
        products = mine.reshape(len(coefs), pieces, 1, PIECE) @ rows.reshape(pieces, PIECE, -1)
        total += products[:, :, 0].astype(LONG).sum(axis=1)
    return total, n_pieces


def _distant_sums(V: DistantRows, coefs: np.ndarray) -> tuple[np.ndarray, float]:
    """The sums of rows in other processes, each stretch of them where it is."""
    found = V.totals(_sums_of_stretch, beside=[coefs.T])
    eps, n_pieces = float(np.finfo(LONG).eps), float(found[0, -1])
    return found[:, :-1].astype(float), (PIECE + 2) * UNIT + eps * n_pieces


def _sums_of_stretch(V: Any, coefs: np.ndarray) -> np.ndarray:
    """The sums in extended precision, and, in a last column, of how many pieces."""
    if sp.issparse(V):
        w = _sparse_sums(V, np.arange(V.shape[0]), np.ascontiguousarray(coefs.T))
        return np.column_stack([w.astype(LONG), np.ones(len(w), LONG)])
    total = np.zeros((coefs.shape[1], V.shape[1] + 1), LONG)
    for part in pieces(V.shape[0]):
        rows = V[part]
        w, n_pieces = _dense_sums(rows, np.arange(len(rows)), coefs[part].T)
        total[:, :-1] += w
        total[:, -1] += n_pieces
    return total
