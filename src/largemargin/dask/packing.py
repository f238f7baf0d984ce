"""Rows and numbers as they travel, shorter and with the same bits.

A row of categories, or of an image, is mostly zero. A bit says for each entry whether it is, and
the others follow one after the other, as they are. The numbers of rows ascend, in few runs, by
little each, which is what a general compression sees best. Of numbers that are few, as those of a
gradient before the first step, a byte says which it is.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.runtime.arrays import Matrix

FEW = 64  # numbers that travel as they are
FAST = 1  # the level of compression that takes least time
MOST_CODES = 64  # numbers that are few
SAMPLE = 1024  # the first so many tell whether it is worth a look at all


@dataclass(frozen=True)
class PackedRows:
    """A dense matrix without its zeros: whether each entry is another number, a bit each, and
    these numbers, row by row.
    """

    shape: tuple[int, int]
    bits: np.ndarray
    numbers: np.ndarray


@dataclass(frozen=True)
class Differences:
    """Integers by their differences, compressed."""

    dtype: str
    steps: str
    compressed: bytes


@dataclass(frozen=True)
class Codes:
    """Numbers by their places among those that there are."""

    table: np.ndarray
    places: np.ndarray


Numbers = np.ndarray | Differences | Codes


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


def packed_numbers(values: np.ndarray) -> Numbers:
    """An array of one dimension as it travels.

    >>> rows = packed_numbers(np.arange(0, 7000, 7))
    >>> len(rows.compressed) < 100, (unpacked_numbers(rows) == np.arange(0, 7000, 7)).all()
    (True, np.True_)
    >>> packed_numbers(np.array([-1.0, 1.0, -0.0, -1.0] * 100)).places[:4]
    array([2, 0, 1, 2], dtype=uint8)
    """
    if len(values) < FEW:
        return values
    if values.dtype.kind == "i":
        short = np.int32 if np.abs(values).max() < 2**30 else np.int64
        steps = np.diff(values, prepend=values.dtype.type(0)).astype(short)
        compressed = zlib.compress(steps.tobytes(), FAST)
        return Differences(values.dtype.str, steps.dtype.str, compressed)
    bits = values.view(f"u{values.itemsize}")  # a zero below zero is another number
    if len(np.unique(bits[:SAMPLE])) <= MOST_CODES:
        table, places = np.unique(bits, return_inverse=True)
        if len(table) <= MOST_CODES:
            return Codes(table.view(values.dtype), places.astype(np.uint8))
    return values


def unpacked_numbers(numbers: Numbers) -> np.ndarray:
    """The array that was packed."""
    if isinstance(numbers, Codes):
        found: np.ndarray = numbers.table[numbers.places]
        return found
    if isinstance(numbers, Differences):
        steps = np.frombuffer(zlib.decompress(numbers.compressed), numbers.steps)
        return np.cumsum(steps, dtype=numbers.dtype)
    return numbers
