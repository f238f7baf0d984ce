"""Compiled passes of dual coordinate descent over the rows of a CSR matrix, or of an array."""

from __future__ import annotations

import numpy as np
from numba import njit

BATCH = 8  # rows whose entries are asked for at the same time
LINE = 64  # bytes that memory gives at a time, on the processors there are


@njit(cache=True, nogil=True)
def shuffle(values, seed):
    """Fisher & Yates by Marsaglia's xorshift; returns the state of the random numbers."""
    state = np.uint64(seed)
    for k in range(len(values) - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        j = np.int64(state % np.uint64(k + 1))
        values[k], values[j] = values[j], values[k]
    return state


@njit(cache=True, nogil=True)
def descend(
    data, indices, indptr, p, lo, hi, ridge, diagonal, beta, w, level, stiffness, active, left_out,
    above, below,
):  # fmt: skip
    """One pass over the rows `active`; beta and w are changed.

    Row i goes to the minimum of its own variable: beta_i -= g / diagonal_i, within its box, with
    g = x_i.w + ridge_i beta_i + p_i + level. A level that follows the sum of the variables rises by
    `stiffness` times their change. Rows at an end of their box whose gradient points beyond it by
    more than `above` or less than `below` are marked in `left_out`.

    Returns the largest and the least gradient of variables that can move against it, the level, and
    a number without a meaning.
    """
    most, least, touched = 0.0, 0.0, 0.0
    n = len(active)
    values_per_line, indices_per_line = LINE // data.itemsize, LINE // indices.itemsize
    for k in range(n):
        if k % BATCH == 0:
            # Rows in random order are not read ahead, and waiting for memory takes longer than all
            # else: one entry of each line of the next rows is read first, with nothing to wait for
            for i in active[k : k + BATCH]:
                for e in range(indptr[i], indptr[i + 1], values_per_line):
                    touched += data[e]
                for e in range(indptr[i], indptr[i + 1], indices_per_line):
                    touched += indices[e]
        i = active[k]
        first, last = indptr[i], indptr[i + 1]
        g = _sum_of_row(ridge[i] * beta[i] + p[i] + level, data, indices, first, last, w)
        change = _move(i, g, lo, hi, diagonal, beta, left_out, above, below)
        if change != 0.0:
            most, least, level = max(most, g), min(least, g), level + stiffness * change
            for e in range(first, last):
                w[indices[e]] += change * data[e]
    return most, least, level, touched


@njit(cache=True, nogil=True)
def _sum_of_row(g0, data, indices, first, last, w):
    """A number and the product of w and a row, whose entries are those from `first` to `last`, in
    four sums, whose additions need not wait for each other.
    """
    g1, g2, g3 = 0.0, 0.0, 0.0
    whole = last - (last - first) % 4
    for e in range(first, whole, 4):
        g0 += data[e] * w[indices[e]]
        g1 += data[e + 1] * w[indices[e + 1]]
        g2 += data[e + 2] * w[indices[e + 2]]
        g3 += data[e + 3] * w[indices[e + 3]]
    for e in range(whole, last):
        g0 += data[e] * w[indices[e]]
    return (g0 + g1) + (g2 + g3)


@njit(cache=True, nogil=True)
def times(data, indices, indptr, w, start, out):
    """out = X[start : start + len(out)] w for a CSR matrix X."""
    for k in range(len(out)):
        first, last = indptr[start + k], indptr[start + k + 1]
        out[k] = _sum_of_row(0.0, data, indices, first, last, w)


@njit(cache=True, nogil=True, inline="always")
def _move(i, g, lo, hi, diagonal, beta, left_out, above, below):
    """Move variable i against its gradient g; return its change, zero where an end of its box is
    in the way, beyond which g may point so far that the row is left out.
    """
    old = beta[i]
    if (old <= lo[i] and g >= 0.0) or (old >= hi[i] and g <= 0.0):
        left_out[i] = g > above or g < below
        return 0.0
    beta[i] = min(max(old - g / diagonal[i], lo[i]), hi[i])
    return beta[i] - old


@njit(cache=True, nogil=True)
def descend_dense(
    X, p, lo, hi, ridge, diagonal, beta, w, level, stiffness, active, left_out, above, below
):
    """`descend` over the rows of an array."""
    most, least = 0.0, 0.0
    for k in range(len(active)):
        i = active[k]
        row = X[i]
        g = ridge[i] * beta[i] + p[i] + level + _product(row, w)
        change = _move(i, g, lo, hi, diagonal, beta, left_out, above, below)
        if change != 0.0:
            most, least, level = max(most, g), min(least, g), level + stiffness * change
            for e in range(len(row)):
                w[e] += change * row[e]
    return most, least, level, 0.0


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _product(row, w):
    """row.w in float64, in as many sums side by side as the processor has room for."""
    total = 0.0
    for e in range(len(row)):
        total += row[e] * w[e]
    return total
