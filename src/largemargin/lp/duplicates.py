"""Copies of an example as one of them, in an order that does not depend on how they were given.

An example of weight s and s copies of it then are the same program to the last bit, so that even
where a program has many solutions they get the same one.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp

CHUNK = 4096  # rows looked at together


@dataclass(frozen=True)
class Distinct:
    """Each set of equal examples of a label as one of them.

    Attributes
    ----------
    first : array
        The position of the first of each set.
    weights : array
        What the examples of each set weigh together.
    group : array
        The number of the set that each example is in.
    """

    first: np.ndarray
    weights: np.ndarray
    group: np.ndarray


def distinct(X: Any, labels: np.ndarray, weights: np.ndarray) -> Distinct:
    """The sets, ordered by a digest of what is not zero in a row, so that dense and sparse rows
    agree.
    """
    digests = np.array([blake2b(row, digest_size=16).digest() for row in _rows(X)], "S16")
    order = np.lexsort((labels, digests))
    before, after = order[:-1], order[1:]
    new = np.ones(len(order), bool)
    new[1:] = (digests[after] != digests[before]) | (labels[after] != labels[before])
    totals = np.add.reduceat(weights[order], np.flatnonzero(new))
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(new) - 1
    return Distinct(order[new], totals, group)


def _rows(X: Any) -> Any:
    """The bytes of each row: where it is not zero, and what is there."""
    for first in range(0, X.shape[0], CHUNK):
        rows = sp.csr_array(X[first : first + CHUNK], copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        columns, values = rows.indices.astype(np.int64), rows.data.astype(np.float64)
        for start, end in zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True):
            yield columns[start:end].tobytes() + values[start:end].tobytes()
