"""Compiled exponentials, several values to an instruction: NumPy has that for float32 alone, and
takes a pass over the values for each operation before it.

e^x = 2^n e^r with n the whole number nearest to x / log 2 and |r| <= log 2 / 2, where a few terms
of the power series are exact to the last bit. Adding 1.5 * 2^52 (2^23 in float32) rounds to a whole
number and leaves it in the lowest bits, from where a shift takes it to the exponent. Results are
within one unit in the last place, or 1.25 where the processor has no fused multiply-add; where they
would not be normal numbers they are zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit, types
from numba.extending import overload

PER_LOG2 = 1 / np.log(2)
# added to a number and taken away again, they round it to a whole one
ROUND_64, ROUND_32 = 1.5 * 2.0**52, np.float32(1.5 * 2.0**23)
# log 2 in two parts, the first with so few bits that its product with n is exact
HIGH_64, LOW_64 = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
HIGH_32, LOW_32 = np.float32(0.693359375), np.float32(np.log(2) - 0.693359375)
LEAST_64, LEAST_32 = -708.0, np.float32(-87.0)  # below these e^x is no normal number


def _exp(x: np.floating) -> np.floating:
    """e^x for x <= 0, by its type; compiled code alone can call it."""
    raise NotImplementedError


@overload(_exp, jit_options={"fastmath": {"contract"}})
def _exp_by_type(x):
    return _exp32 if x == types.float32 else _exp64


def _exp64(x):
    shifted = x * PER_LOG2 + ROUND_64  # n is in its lowest bits
    n = shifted - ROUND_64
    r = (x - n * HIGH_64) - n * LOW_64
    p = r * (1 / 6227020800) + 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    # 2^n: the bits of n, with the bias of exponents, shifted to where a number has its exponent
    power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return 0.0 if x < LEAST_64 else p * power


def _exp32(x):
    shifted = x * np.float32(PER_LOG2) + ROUND_32
    n = shifted - ROUND_32
    r = (x - n * HIGH_32) - n * LOW_32
    p = r * np.float32(1 / 5040) + np.float32(1 / 720)
    p = p * r + np.float32(1 / 120)
    p = p * r + np.float32(1 / 24)
    p = p * r + np.float32(1 / 6)
    p = p * r + np.float32(0.5)
    p = p * r + np.float32(1.0)
    p = p * r + np.float32(1.0)
    bits = np.float32(shifted).view(np.int32) + np.int32(127)
    power = np.int32(bits << np.int32(23)).view(np.float32)
    return np.float32(0.0) if x < LEAST_32 else p * power


@njit(cache=True, nogil=True, fastmath={"contract"})
def exponentials(values):
    """values = e^values, for values <= 0."""
    for i in range(len(values)):
        row = values[i]
        for j in range(len(row)):
            row[j] = _exp(row[j])


@njit(cache=True, nogil=True, fastmath={"contract"})
def gaussians(products, a_squares, b_squares, gamma):
    """products = e^(-gamma |a - b|^2)"""
    zero = gamma - gamma
    for i in range(len(products)):
        row, own = products[i], gamma * a_squares[i]
        for j in range(len(row)):
            x = (gamma + gamma) * row[j] - own - gamma * b_squares[j]
            # rounding can leave a distance just below zero
            row[j] = _exp(zero if x > zero else x)


@njit(cache=True, nogil=True, fastmath={"contract"})
def materns(products, a_squares, b_squares, scale, linear, quadratic):
    """products = (1 + linear s + quadratic s^2) e^-s with s^2 = scale |a - b|^2"""
    zero = scale - scale
    for i in range(len(products)):
        row, own = products[i], scale * a_squares[i]
        for j in range(len(row)):
            square = own + scale * b_squares[j] - (scale + scale) * row[j]
            # rounding can leave a distance just below zero
            s = np.sqrt(zero if square < zero else square)
            power = _exp(-s)
            # without a 1, which would make float64 of float32
            row[j] = power + s * (linear + quadratic * s) * power


def transform(
    loop: Callable[..., None], products: np.ndarray, a: np.ndarray, b: np.ndarray, *numbers: float
) -> None:
    """Turn inner products into kernel values, in place, by one of the loops above, which takes the
    squared norms of a and b.
    """
    dtype = products.dtype
    squares = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    side_by_side = np.ascontiguousarray(products)  # several values to an instruction need it
    loop(side_by_side, *squares, *map(dtype.type, numbers))
    if side_by_side is not products:
        products[:] = side_by_side
