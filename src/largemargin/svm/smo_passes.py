"""Compiled loops: the passes of SMO over all variables, at the speed of the vector unit.

Compilers do not vectorise the search for the place of a maximum. So the candidates here are float32
numbers that are not negative, whose bits are ordered as integers are, and the last bits of each are
replaced by its place: what remains is the maximum of integers, which is vectorised. The places of
2,048 variables take 11 bits, which leaves 12 of the mantissa, enough to choose by. Only the choice
is made in float32, from differences relative to the violation; the gradient has the type that it is
given in.

A variable that cannot be chosen has infinity in the array `fixed`, others have zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

LEAST_CURVE = 1e-30  # the least curvature of a candidate, which a float32 can be divided by
TINY = 1e-300  # the least number to divide by
NONE = np.float32(0.0)


def _bits_of(typing: Any, number: Any) -> Any:
    """The bits of a float32, as an integer."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.int32))

    return types.int32(types.float32), generate


def _number_of(typing: Any, bits: Any) -> Any:
    """The float32 that has these bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.float32))

    return types.float32(types.int32), generate


def _key_of(typing: Any, score: Any, places: Any, place: Any) -> Any:
    """The bits of a score that is not negative, the last of them replaced by a place. In Numba's
    own arithmetic, which makes 64 bits of 32, this takes as long as all the rest of a pass.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        score, places, place = args
        bits = builder.bitcast(score, context.get_value_type(types.int32))
        first = builder.trunc(place, context.get_value_type(types.int32))
        kept = builder.and_(bits, builder.not_(places))
        return builder.or_(kept, builder.sub(places, first))

    return types.int32(types.float32, types.int32, types.int64), generate


_bits: Any = intrinsic(_bits_of)
_number: Any = intrinsic(_number_of)
_key: Any = intrinsic(_key_of)


@njit(cache=True, nogil=True, inline="always")
def like(array, number):
    """A number in the type of an array."""
    return array.dtype.type(number)


@njit(cache=True, nogil=True, error_model="numpy")
def place_bits(n):
    """The bits of a key that hold the place of one of n candidates."""
    size = 1
    while size < n:
        size *= 2
    return np.int32(size - 1)


@njit(cache=True, nogil=True, error_model="numpy")
def _place(key, places):
    """The place that a key holds, -1 if its score is zero. Of equal scores the first is found."""
    return np.int64(places - (key & places)) if key > places else np.int64(-1)


@njit(cache=True, nogil=True, error_model="numpy")
def second_of_pair(row, curves, fixed, grad, own, least, two, start, unit, places):
    """The best partner of a variable that has the gradient `start`, and the largest difference of a
    gradient in I_low from that, in units.
    """
    best, most = np.int32(0), np.int32(0)
    at, scale = like(grad, start), like(grad, unit)
    for k in range(len(grad)):
        gain = np.float32((grad[k] - at) * scale) - fixed[k]
        gain = gain if gain > NONE else NONE
        curve = np.float32(own + (curves[k] - two * row[k]))
        curve = curve if curve > least else least
        key = _key(gain * gain / curve, places, k)
        best = key if key > best else best
        size = _bits(gain)
        most = size if size > most else most
    return _place(best, places), np.float64(_number(most))


@njit(cache=True, nogil=True, error_model="numpy")
def move_pair(row, other, step, grad, fixed, top, unit, places):
    """Change the gradient, and find its least value in I_up, if that is less than `top`."""
    best = np.int32(0)
    by, least, scale = like(grad, step), like(grad, top), like(grad, unit)
    for k in range(len(grad)):
        new = grad[k] + by * (like(grad, row[k]) - like(grad, other[k]))
        grad[k] = new
        gain = np.float32((least - new) * scale) - fixed[k]
        gain = gain if gain > NONE else NONE
        key = _key(gain, places, k)
        best = key if key > best else best
    return _place(best, places)


@njit(cache=True, nogil=True, error_model="numpy")
def estimate(grad, up_fixed, down_fixed, top, worst, places):
    """The variable of I_up with the least gradient, if that is below the middle of what was known
    of the group; the largest gradient in I_low, or the middle if that is larger; and the violation
    that follows from the two, or more.
    """
    best, fall = np.int32(0), np.int32(0)
    middle, width = top - worst / 2, max(worst, TINY)
    unit = 1 / width
    for k in range(len(grad)):
        slope = np.float32((grad[k] - middle) * unit)
        down, up = slope - down_fixed[k], -slope - up_fixed[k]
        down = down if down > NONE else NONE
        up = up if up > NONE else NONE
        fall = _bits(down) if _bits(down) > fall else fall
        key = _key(up, places, k)
        best = key if key > best else best
    first, top = _place(best, places), middle + np.float64(_number(fall)) * width
    return first, top, top - (grad[first] if first >= 0 else middle)


@njit(cache=True, nogil=True, error_model="numpy")
def partner(row, curves, up_fixed, down_fixed, grad, share, shrink, least, unit, places):
    """The variable that brings the largest decrease in addition to the step of the one that has
    this row. That step takes share row_k from its gradient, and what the two variables have in
    common, shrink row_k^2, from its curvature.
    """
    best = np.int32(0)
    for k in range(len(grad)):
        slope = np.float32((grad[k] - share * np.float64(row[k])) * unit)
        down, up = slope - down_fixed[k], -slope - up_fixed[k]
        gain = down if down > up else up
        gain = gain if gain > NONE else NONE
        curve = np.float32(curves[k] - shrink * row[k] * row[k])
        curve = curve if curve > least else least
        key = _key(gain * gain / curve, places, k)
        best = key if key > best else best
    return _place(best, places)


@njit(cache=True, nogil=True, error_model="numpy")
def move_both(row, other, step, second, grad, up_fixed, down_fixed, unit, places):
    """Change the gradient, and find the variable that violates optimality most, and how far the
    gradient is from zero in I_low and in I_up together, in units.
    """
    best, fall, rise = np.int32(0), np.int32(0), np.int32(0)
    for k in range(len(grad)):
        new = grad[k] + (step * np.float64(row[k]) + second * np.float64(other[k]))
        grad[k] = new
        slope = np.float32(new * unit)
        down, up = slope - down_fixed[k], -slope - up_fixed[k]
        down = down if down > NONE else NONE
        up = up if up > NONE else NONE
        fall = _bits(down) if _bits(down) > fall else fall
        rise = _bits(up) if _bits(up) > rise else rise
        gain = up + down  # one of them is zero
        key = _key(gain, places, k)
        best = key if key > best else best
    return _place(best, places), np.float64(_number(fall)) + np.float64(_number(rise))
