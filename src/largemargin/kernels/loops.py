"""Compiled loops over kernel rows: arithmetic on plain arrays."""

from __future__ import annotations

import numpy as np
from numba import njit

COLUMNS = 2048  # columns of which sums are made at a time: they stay in cache


@njit(cache=True, nogil=True)
def squares_of_rows(data, indptr):
    """The sums of the squared entries of the rows of a CSR matrix, in float64."""
    squares = np.empty(len(indptr) - 1)
    for i in range(len(squares)):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            entry = np.float64(data[e])
            total += entry * entry
        squares[i] = total
    return squares


@njit(cache=True, nogil=True)
def take(X, rows, columns, out):
    """out = X[rows][:, columns]"""
    for r in range(len(rows)):
        row = X[rows[r]]
        for c in range(len(columns)):
            out[r, c] = row[columns[c]]


@njit(cache=True, nogil=True)
def renew(last, at, known, across, among, new, out):
    """out[known, known] = last[at, at], out[new, known] = across, out[known, new] = across.T and
    out[new, new] = among
    """
    for r in range(len(known)):
        source, target = last[at[r]], out[known[r]]
        for c in range(len(known)):
            target[known[c]] = source[at[c]]
        for c in range(len(new)):
            target[new[c]] = across[c, r]
    for r in range(len(new)):
        target = out[new[r]]
        for c in range(len(known)):
            target[known[c]] = across[r, c]
        for c in range(len(new)):
            target[new[c]] = among[r, c]


@njit(cache=True, nogil=True)
def move_up(block, rows):
    """block[r] = block[rows[r]], for rows that ascend."""
    for r in range(len(rows)):
        if rows[r] > r:
            block[r] = block[rows[r]]


@njit(cache=True, nogil=True)
def copy_rows(block, slots, values, start):
    """values[slots[r], start + j] = block[r, j]"""
    for r in range(len(slots)):
        source = block[r]
        target = values[slots[r], start : start + len(source)]
        for j in range(len(source)):
            target[j] = source[j]


@njit(cache=True, nogil=True)
def add_rows(grad, start, values, slots, coefs):
    """grad[start + j] += sum_r coefs[r] values[slots[r], j]"""
    # a run of columns at a time, so that the sums stay in cache
    for left in range(0, values.shape[1], COLUMNS):
        right = min(left + COLUMNS, values.shape[1])
        add_part(grad[start:], values, left, right, slots, coefs)


@njit(cache=True, nogil=True)
def add_part(grad, values, left, right, slots, coefs):
    """grad[j] += sum_r coefs[r] values[slots[r], j] for the columns from `left` to `right`."""
    n = len(slots)
    whole = n // 4 * 4
    out = grad[left:right]
    # four rows at a time, so that each sum is loaded and stored once for four multiplications
    for r in range(0, whole, 4):
        k0 = values[slots[r], left:right]
        k1 = values[slots[r + 1], left:right]
        k2 = values[slots[r + 2], left:right]
        k3 = values[slots[r + 3], left:right]
        c0, c1, c2, c3 = coefs[r], coefs[r + 1], coefs[r + 2], coefs[r + 3]
        for j in range(len(out)):
            out[j] += (c0 * k0[j] + c1 * k1[j]) + (c2 * k2[j] + c3 * k3[j])
    for r in range(whole, n):
        k0 = values[slots[r], left:right]
        c0 = coefs[r]
        for j in range(len(out)):
            out[j] += c0 * k0[j]
