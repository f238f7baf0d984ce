"""Bounds from the capacity of a class of functions, with probability 1 - delta, for numbers of your
own: the VC bound and the margin bounds, whose constant nobody knows, and the bound of
adaptive-margin machines, which has all its constants. `covering` has margin bounds with all their
constants. Statements about a fit are in `feature_space`, that of theorem 2.2 in `linear_programs`.

    theorem 1.2   R(g) <= R_emp(g) + sqrt(c/m (h + ln(1/delta)))                           (1.31)
    theorem 1.8   R(f) <= c/m (R^2/rho^2 ln^2(m/rho) + ln(1/delta))   if R_rho(f) = 0      (1.45)
                  R(f) <= R_rho(f) + sqrt(c/m (R^2/rho^2 ln^2(m/rho) + ln(1/delta)))       (1.46)
    theorem 2.2   R(f) <= 2/m (kappa log2(8em/kappa) log2(32m) + log2(2m(28 + log2 m)/delta))
                  kappa = floor(65 (W R + 3 D)^2),  D^2 = sum_i max(0, xi_i - lambda alpha_i k_ii)^2

(Advances in Large Margin Classifiers.) Values are rounded up, margins down. No value of the
universal constant c is known that would be worth stating, so it is the user's to choose; it is 1 by
default.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, e, floor, log, log2, sqrt
from typing import Any

import numpy as np

from largemargin.certificates.covering import check_delta, check_positive
from largemargin.certificates.margins import margin_error
from largemargin.certificates.rounding import raised
from largemargin.kernels.choosing import WithConstant
from largemargin.kernels.functions import Kernel, Linear, Polynomial
from largemargin.runtime.arrays import VectorLike


def vc_bound(
    error: float, n_examples: int, dimension: float, *, delta: float = 0.05, constant: float = 1.0
) -> float:
    """Theorem 1.2: what the error is at most, with probability 1 - delta.

    Parameters
    ----------
    error : float
        On the training data.
    n_examples : int
    dimension : float
        The VC dimension of the class of decision functions.
    delta : float, default=0.05
    constant : float, default=1.0
        The theorem's universal constant c, which it does not give.

    Examples
    --------
    >>> round(vc_bound(0.1, 1000, 11), 4)
    0.2183
    """
    check_delta(delta)
    check_positive("constant", constant)
    return raised(error + sqrt(constant / n_examples * (dimension + log(1 / delta))))


def margin_bound(
    margins: VectorLike,
    radius: float,
    *,
    rho: float | None = None,
    delta: float = 0.05,
    constant: float = 1.0,
) -> float:
    """Theorem 1.8, (1.46): what the error of a linear function with |w| <= 1 is at most, with
    probability 1 - delta.

    Parameters
    ----------
    margins : array
        y (w.x) of the training examples.
    radius : float
        All examples, seen or not, lie in the ball of this radius. The logarithm in the theorem
        depends on the unit of length: give examples in the unit ball, radius 1, unless there is a
        reason not to.
    rho : float or None, default=None
        None takes the best, which is allowed: the theorem holds for all at once.
    delta : float, default=0.05
    constant : float, default=1.0
        The theorem's constant c, which it does not give.

    Examples
    --------
    >>> round(margin_bound([0.5] * 99 + [-0.1], 1.0, rho=0.5), 3)
    1.084
    """
    check_delta(delta)
    check_positive("constant", constant)
    check_positive("radius", radius)
    values = np.asarray(margins, float)
    m = len(values)
    if rho is not None:
        check_positive("rho", rho)
        return raised(margin_error(values, rho) + sqrt(_capacity(m, radius, rho, delta, constant)))
    # between two margins the errors stay and the capacity falls with rho, so one of them is best
    rhos = np.unique(np.append(values[(values > 0) & (values < radius)], radius))
    errors = np.searchsorted(np.sort(values), rhos) / m
    return raised(float((errors + np.sqrt(_capacity(m, radius, rhos, delta, constant))).min()))


def _capacity(m: int, radius: float, rho: Any, delta: float, constant: float) -> Any:
    """c/m (R^2/rho^2 ln^2(m/rho) + ln(1/delta))"""
    return constant / m * ((radius / rho * np.log(m / rho)) ** 2 + log(1 / delta))


def hard_margin_bound(
    n_examples: int, radius: float, rho: float, *, delta: float = 0.05, constant: float = 1.0
) -> float:
    """Theorem 1.8, (1.45): `margin_bound` where no training example has a margin below rho.

    >>> round(hard_margin_bound(10000, 1.0, 0.5), 4)
    0.0395
    """
    return raised(float(_capacity(n_examples, radius, rho, delta, constant)))


def adaptive_margin_bound(
    norm: float, radius: float, deviations: VectorLike, *, delta: float = 0.05
) -> float | None:
    """Theorem 2.2: what the error of an adaptive-margin machine is at most, with probability
    1 - delta. None where its provisos fail: kappa <= e m and m >= max(2/bound, 6).

    Parameters
    ----------
    norm : float
        W, the norm of w.
    radius : float
        R, of a ball around the origin that holds all examples.
    deviations : array
        xi_i - lambda alpha_i k(x_i, x_i) of the training examples; negative values count as 0.
    delta : float, default=0.05

    Examples
    --------
    >>> round(adaptive_margin_bound(1.0, 1.0, np.zeros(100_000)), 3)  # kappa = 65
    0.423
    >>> adaptive_margin_bound(10.0, 1.0, np.zeros(1000)) is None
    True
    """
    check_delta(delta)
    deviations = np.maximum(np.asarray(deviations, float), 0.0)
    if not np.isfinite([norm, radius, deviations.max(initial=0.0)]).all():
        return None
    m, D = len(deviations), raised(float(np.linalg.norm(deviations)), len(deviations))
    kappa = floor(65 * (Fraction(norm) * Fraction(radius) + 3 * Fraction(D)) ** 2)
    if kappa > e * m:
        return None
    capacity = kappa * log2(8 * e * m / kappa) * log2(32 * m) if kappa else 0.0
    bound = raised(2 / m * (capacity + log2(2 * m * (28 + log2(m)) / delta)))
    return bound if m >= max(2 / bound, 6) else None


def vc_dimension(kernel: Kernel, n_features: int, threshold: bool) -> int | None:
    """The VC dimension of the signs of linear functions in a kernel's feature space; None if it is
    infinite or unknown.

    >>> vc_dimension(Polynomial(degree=2), 2, threshold=False)
    6
    """
    if isinstance(kernel, WithConstant):
        return vc_dimension(kernel.kernel, n_features, True)
    if isinstance(kernel, Linear):
        return n_features + int(threshold)
    if isinstance(kernel, Polynomial):
        d = kernel.degree
        if kernel.coef0 != 0 or d == 0:  # the constant is one of the monomials
            return comb(n_features + d, d)
        return comb(n_features + d - 1, d) + int(threshold)
    return None
