"""Compiled hashes of rows, and their sums over positions: arithmetic on 64-bit integers, which is
the same on every processor.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# odd, with their bits evenly spread: the golden ratio and the constants of MurmurHash3's last step
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xFF51AFD7ED558CCD)
SECOND = np.uint64(0xC4CEB9FE1A85EC53)
OTHER_LANE = np.uint64(0xD6E8FEB86659FD93)
SHIFT = np.uint64(33)
ONE = np.uint64(1)


@njit(cache=True, nogil=True, inline="always")
def _mixed(x):
    """Every bit of the result depends on every bit of x, one to one."""
    x = (x ^ (x >> SHIFT)) * FIRST
    x = (x ^ (x >> SHIFT)) * SECOND
    return x ^ (x >> SHIFT)


@njit(cache=True, nogil=True)
def hash_rows(X, hashes):
    """hashes[i] = the sum over the non-zero values of row i of a hash of column and value."""
    for i in range(X.shape[0]):
        # the key of column j is (j + 1) GOLDEN, by addition; a sum over the entries that are not
        # zero has no order, so dense and sparse rows have the same hash
        total, key = np.uint64(0), np.uint64(0)
        for j in range(X.shape[1]):
            key += GOLDEN
            value = np.float64(X[i, j])
            if value != 0.0:
                total += _mixed(value.view(np.uint64) ^ key)
        hashes[i] = total


@njit(cache=True, nogil=True)
def hash_columns(columns, hashes):
    """The same of rows that lie in memory column by column: a sum has no order."""
    hashes[:] = 0
    key = np.uint64(0)
    for j in range(columns.shape[0]):
        key += GOLDEN
        for i in range(columns.shape[1]):
            value = np.float64(columns[j, i])
            if value != 0.0:
                hashes[i] += _mixed(value.view(np.uint64) ^ key)


@njit(cache=True, nogil=True)
def hash_entries(data, indices, ends, hashes):
    """The same of rows by their entries, each column once at most."""
    for i in range(len(hashes)):
        total = np.uint64(0)
        for k in range(ends[i], ends[i + 1]):
            value = np.float64(data[k])
            if value != 0.0:
                key = (np.uint64(indices[k]) + ONE) * GOLDEN
                total += _mixed(value.view(np.uint64) ^ key)
        hashes[i] = total


@njit(cache=True, nogil=True)
def sum_over_positions(hashes, start):
    """The sum modulo 2^128, as its two halves, of a 128-bit value for each hash and its position,
    which counts from `start`.
    """
    low, high = np.uint64(0), np.uint64(0)
    position = np.uint64(start)
    for i in range(len(hashes)):
        position += ONE
        place = _mixed(position * GOLDEN)
        one = _mixed(hashes[i] ^ place)
        low += one
        high += _mixed(hashes[i] * OTHER_LANE + place)
        if low < one:  # the sum of the lower halves went past 2^64: carry
            high += ONE
    return low, high
