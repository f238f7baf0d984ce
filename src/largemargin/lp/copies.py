"""Copies of an example as one of them, in an order that does not depend on how they were given.

An example of weight s and s copies of it then are the same program to the last bit, so that even
where a program has many solutions they get the same one.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp


def distinct(X: Any, labels: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of each set of equal examples of a label, and what they weigh together.

    Ordered by a digest of what is not zero in a row, so that dense and sparse rows agree.
    """
    digests = np.array([blake2b(row, digest_size=16).digest() for row in _rows(X)], "S16")
    order = np.lexsort((labels, digests))
    before, after = order[:-1], order[1:]
    new = np.ones(len(order), bool)
    new[1:] = (digests[after] != digests[before]) | (labels[after] != labels[before])
    totals = np.add.reduceat(weights[order], np.flatnonzero(new))
    return order[new], totals


def _rows(X: Any) -> Any:
    """The bytes of each row: where it is not zero, and what is there."""
    rows = sp.csr_array(X)
    if rows is X or sp.issparse(X):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    columns, values = rows.indices.astype(np.int64), rows.data.astype(np.float64)
    for first, end in zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True):
        yield columns[first:end].tobytes() + values[first:end].tobytes()
