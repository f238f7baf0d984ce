"""w itself, from the coefficients of a machine, as exactly as what is told of it asks for."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.functions import UNIT
from largemargin.runtime.arrays import Matrix

PIECE = 64  # vectors that are summed together
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
    if coefs.size * V.shape[1] <= few:
        rows = V[vectors].toarray() if sp.issparse(V) else V[vectors]
        columns = np.ascontiguousarray(rows.T.astype(LONG))
        w = np.array([(columns * row).sum(axis=1) for row in coefs.astype(LONG)])
        # NumPy adds up to 128 terms in eight sums of 16, and what these give in pairs
        return w.astype(float), eps * (24 + np.log2(count + 1))
    if sp.issparse(V):
        from largemargin.svm.verified_sums import weigh_rows

        w, csr = np.zeros((len(coefs), V.shape[1])), sp.csr_array(V)
        for k in range(len(coefs)):
            weigh_rows(csr.data, csr.indices, csr.indptr, vectors, coefs[k], w[k])
        return w, 4 * UNIT
    total = np.zeros((len(coefs), V.shape[1]), LONG)
    for first in range(0, count, PIECE * PIECE):
        part = vectors[first : first + PIECE * PIECE]
        pieces = -(-len(part) // PIECE)
        rows = np.zeros((pieces * PIECE, V.shape[1]))
        mine = np.zeros((len(coefs), pieces * PIECE))
        rows[: len(part)] = V[part]
        mine[:, : len(part)] = coefs[:, first : first + PIECE * PIECE]
        products = mine.reshape(len(coefs), pieces, 1, PIECE) @ rows.reshape(pieces, PIECE, -1)
        total += products[:, :, 0].astype(LONG).sum(axis=1)
    return total.astype(float), (PIECE + 2) * UNIT + eps * (count // PIECE + 1)
