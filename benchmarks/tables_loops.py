"""The compiled passes of the bare loop over tiles."""

from __future__ import annotations

import numpy as np
from numba import njit

from largemargin.kernels.simd import (
    add_multiple,
    exponential,
    fma,
    lanes,
    load,
    splat,
    store,
    zeros,
)

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


@njit(cache=True, nogil=True)
def add_in_registers(vectors, columns, coefs, sums, panel):
    """sums += coefs @ exp(vectors @ columns), four vectors against two registers of columns at a
    time, of which nothing is written but the sums. There are whole fours and registers only;
    `panel` is room for two registers of all columns, side by side.
    """
    width, stride, d = lanes(columns), len(sums), len(vectors) // len(coefs)
    for j in range(0, stride, 2 * width):
        for k in range(d):
            store(panel, 2 * k * width, load(columns, k * stride + j))
            store(panel, (2 * k + 1) * width, load(columns, k * stride + j + width))
        s0, s1 = load(sums, j), load(sums, j + width)
        for i in range(0, len(coefs), 4):
            a0 = zeros(columns)
            a1, b0, b1, c0, c1, d0, d1 = a0, a0, a0, a0, a0, a0, a0
            for k in range(d):
                x0, x1 = load(panel, 2 * k * width), load(panel, (2 * k + 1) * width)
                v = splat(vectors, i * d + k)
                a0, a1 = fma(v, x0, a0), fma(v, x1, a1)
                v = splat(vectors, (i + 1) * d + k)
                b0, b1 = fma(v, x0, b0), fma(v, x1, b1)
                v = splat(vectors, (i + 2) * d + k)
                c0, c1 = fma(v, x0, c0), fma(v, x1, c1)
                v = splat(vectors, (i + 3) * d + k)
                d0, d1 = fma(v, x0, d0), fma(v, x1, d1)
            s0 = add_multiple(s0, coefs, i, exponential(a0))
            s1 = add_multiple(s1, coefs, i, exponential(a1))
            s0 = add_multiple(s0, coefs, i + 1, exponential(b0))
            s1 = add_multiple(s1, coefs, i + 1, exponential(b1))
            s0 = add_multiple(s0, coefs, i + 2, exponential(c0))
            s1 = add_multiple(s1, coefs, i + 2, exponential(c1))
            s0 = add_multiple(s0, coefs, i + 3, exponential(d0))
            s1 = add_multiple(s1, coefs, i + 3, exponential(d1))
        store(sums, j, s0)
        store(sums, j + width, s1)
