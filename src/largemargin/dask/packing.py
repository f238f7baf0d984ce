"""Rows as they travel: without their zeros, where that is shorter.

A row of categories, or of an image, is mostly zero. A bit says for each entry whether it is, and
the others follow one after the other, as they are: a row arrives with the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.runtime.arrays import Matrix


@dataclass(frozen=True)
class PackedRows:
    """A dense matrix without its zeros: whether each entry is another number, a bit each, and
    these numbers, row by row.
    """

    shape: tuple[int, int]
    bits: np.ndarray
    numbers: np.ndarray


def packed(X: Matrix) -> Matrix | PackedRows:
    """A matrix as it travels.

    >>> rows = packed(np.eye(64))
    >>> len(rows.bits), len(rows.numbers)
    (512, 64)
    >>> np.array_equal(unpacked(rows), np.eye(64))
    True
    """
    if sp.issparse(X) or not X.size:
        return X
    X = np.ascontiguousarray(X)
    there = X.view(f"u{X.dtype.itemsize}") != 0  # a zero below zero is one that travels
    count = int(np.count_nonzero(there))
    if count * X.itemsize + X.size // 8 >= X.nbytes:
        return X
    return PackedRows((X.shape[0], X.shape[1]), np.packbits(there), X[there])


def unpacked(rows: Any) -> Matrix:
    """The matrix that was packed."""
    if not isinstance(rows, PackedRows):
        found: Matrix = rows
        return found
    there = np.unpackbits(rows.bits, count=rows.shape[0] * rows.shape[1])
    X = np.zeros(rows.shape, rows.numbers.dtype)
    X[there.reshape(rows.shape).view(bool)] = rows.numbers
    return X
