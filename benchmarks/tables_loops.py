"""The compiled pass of the bare loop over tiles."""

from __future__ import annotations

import numpy as np
from numba import njit

PER_LOG2 = np.float32(1 / np.log(2))
# log 2 in two parts, the first with so few bits that its product with n is exact
HIGH, LOW = np.float32(0.693359375), np.float32(np.log(2) - 0.693359375)
TERMS = tuple(np.float32(1 / f) for f in (720, 120, 24, 6, 2))
LEAST, ONE = np.float32(-87.0), np.float32(1)
BIAS, SHIFT = np.int32(127), np.int32(23)


@njit(cache=True, nogil=True, fastmath=True)
def add_exponentials(tile, coefs, sums):
    """sums += coefs @ exp(tile), for float32 exponents that are 0 at most but for rounding.

    e^x = 2^n e^r with n the whole number nearest to x / log 2.
    """
    a, b, c, d, e = TERMS
    for i in range(len(tile)):
        row, coef = tile[i], coefs[i]
        for j in range(len(row)):
            x = max(row[j], LEAST)
            n = np.float32(np.rint(x * PER_LOG2))
            r = (x - n * HIGH) - n * LOW
            p = ((((a * r + b) * r + c) * r + d) * r + e) * r * r + r + ONE
            power = np.int32((np.int32(n) + BIAS) << SHIFT).view(np.float32)
            sums[j] += coef * p * power
