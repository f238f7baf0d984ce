"""A compiled loop over kernel values that are kept: arithmetic on plain arrays."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def add_gathered(out, values, columns, rows, coefs):
    """out[j] += sum_r coefs[r] values[rows[r], columns[j]]"""
    n = len(rows)
    whole = n // 4 * 4
    # four rows at a time, so that each sum is loaded and stored once for four multiplications
    for r in range(0, whole, 4):
        k0, k1, k2, k3 = (
            values[rows[r]],
            values[rows[r + 1]],
            values[rows[r + 2]],
            values[rows[r + 3]],
        )
        c0, c1, c2, c3 = coefs[r], coefs[r + 1], coefs[r + 2], coefs[r + 3]
        for j in range(len(out)):
            at = columns[j]
            out[j] += (c0 * k0[at] + c1 * k1[at]) + (c2 * k2[at] + c3 * k3[at])
    for r in range(whole, n):
        k0, c0 = values[rows[r]], coefs[r]
        for j in range(len(out)):
            out[j] += c0 * k0[columns[j]]
