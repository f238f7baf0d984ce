"""Numbers that bound something, rounded to the side on which they still do.

What is known exactly is computed in fractions and rounded once, outward. Kernel values and sums of
them are known to within an error that is bounded, with u the unit roundoff of a type (2^-53 in
float64, 2^-24 in float32) and n columns:

    products      |fl(a.b) - a.b| <= n u |a| |b|, in any order of the sum; `Kernel.rounding` has
                  what follows from it for the values of each kernel
    expansions    |fl(f) - f| <= A (e + (s + 4) u R^2) + 2 u |b|,   A = sum |c_j| over s vectors,
                  e the error of a kernel value and R^2 the largest of them
    norms         | fl(|w|^2) - |w|^2 | <= A^2 (e + 2 (s + 4) u R^2)
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import inf, isfinite, nextafter

import numpy as np
from numpy.typing import DTypeLike

from largemargin.kernels.functions import UNIT, Kernel, squared_norms
from largemargin.runtime.arrays import Matrix, VectorLike

FEW = 16  # operations on a value that bounds allow for without counting them one by one


def above(exact: Fraction | float) -> float:
    """The least double that is not below an exact number.

    >>> above(Fraction(1, 3)) > Fraction(1, 3), above(Fraction(9, 2)), above(0.1)
    (True, 4.5, 0.1)
    """
    return -below(-exact)


def below(exact: Fraction | float) -> float:
    """The largest double that is not above an exact number."""
    try:
        nearest = float(exact)
    except OverflowError:
        return -inf if exact < 0 else float(np.finfo(float).max)
    if not isinstance(exact, Fraction) or not isfinite(nearest) or Fraction(nearest) <= exact:
        return nearest
    return nextafter(nearest, -inf)


def raised(value: float, operations: int = FEW) -> float:
    """An upper bound of the true value of a number that so many operations gave, each of them right
    to within one unit in the last place, from terms that do not cancel.
    """
    return nextafter(float(value * (1 + 2 * operations * UNIT)), inf) if value > 0 else value


def lowered(value: float, operations: int = FEW) -> float:
    """A lower bound of the true value of a number, as `raised` is an upper one."""
    return nextafter(float(value * (1 - 2 * operations * UNIT)), 0.0) if value > 0 else value


def total(values: VectorLike) -> float:
    """The sum of bounds, rounded up.

    >>> total([0.1, 0.2])
    0.30000000000000004
    """
    numbers = [float(value) for value in values]
    if not all(map(isfinite, numbers)):
        return sum(numbers)
    return above(sum(map(Fraction, numbers), Fraction(0)))


def at_most(value: float, digits: int = 4) -> str:
    """An upper bound as text with `digits` digits, rounded up, so that it still is one.

    >>> at_most(0.123412), at_most(0.1), at_most(1234567.0), at_most(81312.3, 5)
    ('0.1235', '0.1', '1.235e+06', '81313')
    """
    return _written(value, digits, ROUND_CEILING)


def at_least(value: float, digits: int = 4) -> str:
    """A lower bound as text, rounded down.

    >>> at_least(0.12349), at_least(0.1), at_least(-0.12341)
    ('0.1234', '0.1', '-0.1235')
    """
    return _written(value, digits, ROUND_FLOOR)


def _written(value: float, digits: int, rounding: str) -> str:
    """A number with `digits` digits, in a way of rounding of `decimal`."""
    value = float(value)
    if not isfinite(value):
        return str(value)
    written = Decimal(repr(value))  # 0.1, not the 0.1000000000000000055 that is stored
    rounded = float(Context(prec=digits, rounding=rounding).create_decimal(written))
    text = f"{rounded:.{digits}g}"
    return text if float(text) == rounded else repr(rounded)  # from 16 digits on they may differ


def percent_within(low: float, high: float) -> tuple[str, str]:
    """An interval in percent with two digits after the point, rounded so that it never shrinks.

    >>> percent_within(0.0049123, 0.0288)
    ('0.49', '2.88')
    """
    hundredth = Decimal("0.01")
    ends = [Decimal(repr(float(end))) * 100 for end in (low, high)]
    return (
        f"{ends[0].quantize(hundredth, ROUND_FLOOR)}",
        f"{ends[1].quantize(hundredth, ROUND_CEILING)}",
    )


def kernel_error(kernel: Kernel, X: Matrix, dtype: DTypeLike) -> float:
    """The largest error of a kernel value between any two rows of X that was computed in a type.

    It is one number for all pairs, from `Kernel.rounding`, which has the bounds of each kernel:
    each of its terms at its largest, with |k| <= max k(x, x) on the rows. Every column counts as a
    term of an inner product, and `FEW` more for the operations after it and for the conversion of
    the data. (The duality gaps of linear programs take the bounds of `lp.exact_values`, which are
    for sums of values that were computed once more for that purpose.)
    """
    unit = float(np.finfo(dtype).eps) / 2
    by_norm = kernel.on_products
    squares = squared_norms(X).astype(float) if by_norm else np.zeros(X.shape[0])
    terms = np.full(X.shape[0], float(X.shape[1] + FEW))
    found, size = kernel.rounding(squares, terms, unit), _largest(kernel, X)
    value, distance, left, right, constant = (
        float(np.max(part, initial=0.0))
        for part in (found.value, found.distance, found.left, found.right, found.constant)
    )
    by_distance = distance * 2 * float(squares.max(initial=0.0))
    return min(found.most, raised((value + by_distance) * size + left * right + constant))


def _largest(kernel: Kernel, X: Matrix) -> float:
    """The largest |k(x, x')|, of a kernel that is positive definite on the rows."""
    if kernel.by_column:
        return float(np.abs(np.asarray(X, float)).max(initial=0.0))
    return float(np.abs(kernel.diag(X)).max(initial=0.0))


def quotients(numerators: np.ndarray, least: float, most: float) -> np.ndarray:
    """Lower bounds of a / d, for a denominator d between two positive numbers."""
    with np.errstate(divide="ignore", over="ignore"):
        found = np.where(numerators > 0, numerators / most, numerators / least)
    return np.nextafter(found, -np.inf)
