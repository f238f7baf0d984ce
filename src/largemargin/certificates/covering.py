"""Fat-shattering dimensions, covering numbers, and the bounds that follow with all their constants.

A set of points is rho-shattered by a class F if for some levels b every choice of signs y is met
with y_i (f(x_i) - b_i) >= rho; the largest such set has fat_F(rho) points. N(eps, F, m) is the
least number of functions that come within eps of each function of F on m points, the worst m.

    theorem 1.4   log2(e)/8 fat(16 eps) <= log2 N(eps, F, m) <= 3 fat(eps/4) log2^2(4 e B m / eps)
                  for functions into [0, B] and m >= fat(eps/4)                             (1.39)
    theorem 1.5   Pr(some f has R_rho(f) = 0, R(f) >= eps) <= 2 N(rho/2, F, 2m) 2^(-eps m/2)
                                                                                            (1.40)
                  Pr(some f has R(f) >= R_rho(f) + eps) <= 2 N(rho/2, F, 2m) e^(-eps^2 m/8) (1.41)
    theorem 1.6   Pr(some f has |R(f) - R_emp(f)| >= eps) <= 4 N(eps/16, F, 2m) e^(-eps^2 m/32)
                  for the quadratic cost, f and y in [0, 1]                                 (1.42)
    theorem 1.7   fat(rho) <= (R/rho)^2            for w.x with |w| <= 1, |x| <= R          (1.44)
    theorem 1.9   fat(rho) <= c (R/rho)^2 ln(2N + 2)   for |w|_1 <= R and N coordinates, at most 1
                                                                                            (1.48)

(Advances in Large Margin Classifiers.) Functions from -R to R are ones into [0, 2R], moved. Theorem
1.5 is about a rho that was chosen without the data; for the best of R, R/2, R/4, ... the k-th of
them, from 0, may fail for a share delta/((k + 1)(k + 2)) of the training sets: these sum to delta.
Values are rounded up. Logarithms of covering numbers are to the base 2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, e, floor, inf, log, log2, sqrt
from numbers import Real
from typing import Any

import numpy as np

from largemargin.certificates.rounding import lowered, raised
from largemargin.runtime.arrays import VectorLike


def fat_dimension_bound(radius: float, rho: float) -> int:
    """Theorem 1.7: what the fat-shattering dimension at rho is at most, of linear functions w.x
    with |w| <= 1 on the ball of this radius.

    >>> fat_dimension_bound(1.0, 0.5), fat_dimension_bound(1.0, 0.3), fat_dimension_bound(1.0, 2.0)
    (4, 11, 0)
    """
    check_positive("radius", radius)
    check_positive("rho", rho)
    return floor((Fraction(radius) / Fraction(rho)) ** 2)  # it is a number of points


def sum_norm_fat_dimension_bound(
    norm: float, n_features: int, rho: float, *, constant: float = 1.0
) -> float:
    """Theorem 1.9: the same of linear functions whose weights sum to at most `norm` in absolute
    value, where no coordinate of an example is above 1.

    Parameters
    ----------
    norm : float
        R, what the absolute values of the weights sum to at most.
    n_features : int
    rho : float
    constant : float, default=1.0
        The theorem's universal constant c, which it does not give.

    Examples
    --------
    >>> round(sum_norm_fat_dimension_bound(1.0, 9, 0.5), 3)
    11.983
    """
    for name, value in (("norm", norm), ("n_features", n_features), ("rho", rho)):
        check_positive(name, value)
    check_positive("constant", constant)
    return raised(constant * (norm / rho) ** 2 * log(2 * n_features + 2))


def covering_number_bound(dimension: float, epsilon: float, width: float, n_points: int) -> float:
    """Theorem 1.4: what log2 N(epsilon, F, n_points) is at most.

    Parameters
    ----------
    dimension : float
        What fat(epsilon/4) is at most.
    epsilon : float
        The distance at which a function counts as covered.
    width : float
        B, of the interval that the functions take their values in.
    n_points : int
        m, at least `dimension`; infinite is returned for fewer, about which the theorem says
        nothing.

    Examples
    --------
    >>> round(covering_number_bound(4, 0.5, 2.0, 1000), 1)
    2849.1
    """
    for name, value in (("epsilon", epsilon), ("width", width), ("n_points", n_points)):
        check_positive(name, value)
    if dimension == 0:  # every two functions are within epsilon of each other
        return 0.0
    check_positive("dimension", dimension)
    if n_points < dimension:
        return inf
    return raised(3 * dimension * log2(4 * e * width * n_points / epsilon) ** 2)


def covering_number_least(dimension: float) -> float:
    """Theorem 1.4: what log2 N(epsilon, F, m) is at least, where fat(16 epsilon) is `dimension` or
    more than that.

    >>> round(covering_number_least(16), 4)
    2.8854
    """
    return lowered(log2(e) / 8 * dimension)


def covering_margin_bound(
    error: float, log2_covering: float, n_examples: int, *, delta: float = 0.05
) -> float:
    """Theorem 1.5, (1.41): what the error is at most, with probability 1 - delta.

    Parameters
    ----------
    error : float
        The margin error at rho on the training data.
    log2_covering : float
        What log2 N(rho/2, F, 2 n_examples) is at most.
    n_examples : int
    delta : float, default=0.05

    Examples
    --------
    >>> round(covering_margin_bound(0.1, 100.0, 100_000), 4)  # sqrt(8/m ln(2 N / delta)) = 0.0764
    0.1764
    """
    check_delta(delta)
    check_positive("n_examples", n_examples)
    exponent = log(2) * (1 + log2_covering) + log(1 / delta)
    return raised(error + sqrt(8 / n_examples * exponent))


def covering_hard_margin_bound(
    log2_covering: float, n_examples: int, *, delta: float = 0.05
) -> float:
    """Theorem 1.5, (1.40): the same where no training example has a margin below rho.

    >>> round(covering_hard_margin_bound(100.0, 100_000), 6)  # 2/m log2(2 N / delta)
    0.002106
    """
    check_delta(delta)
    check_positive("n_examples", n_examples)
    return raised(2 / n_examples * (1 + log2_covering + log2(1 / delta)))


def regression_bound(
    error: float,
    log2_covering: Callable[[float], float],
    n_examples: int,
    *,
    delta: float = 0.05,
) -> float | None:
    """Theorem 1.6: what the expected square of y - f(x) is at most, with probability 1 - delta, for
    functions and targets from 0 to 1. None where the theorem has no deviation below 1 to give.

    Parameters
    ----------
    error : float
        The mean square on the training data.
    log2_covering : function
        What log2 N(epsilon, F, 2 n_examples) is at most, of epsilon; it must not rise with it.
    n_examples : int
    delta : float, default=0.05

    Examples
    --------
    >>> round(regression_bound(0.1, lambda epsilon: 10.0, 100_000), 4)
    0.1602
    >>> regression_bound(0.1, lambda epsilon: 10.0, 100) is None
    True
    """
    check_delta(delta)
    check_positive("n_examples", n_examples)

    def holds(eps: float) -> bool:
        """Whether a larger deviation than eps has a probability of at most delta."""
        covered = raised(log(2) * (2 + log2_covering(eps / 16)) + log(1 / delta))
        return lowered(eps * eps * n_examples / 32) >= covered

    low, high = 0.0, 1.0
    if not holds(high):
        return None
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return raised(error + high)


def explicit_margin_bound(
    margins: VectorLike, radius: float, *, rho: float | None = None, delta: float = 0.05
) -> float:
    """Theorems 1.4, 1.5 (1.41) and 1.7: what the error of a linear function with |w| <= 1 is at
    most, with probability 1 - delta; all constants are known.

    Parameters
    ----------
    margins : array
        y (w.x) of the training examples.
    radius : float
        All examples, seen or not, lie in the ball of this radius.
    rho : float or None, default=None
        A margin that was chosen without the data. None takes the best of the radius divided by
        powers of 2, which share delta.
    delta : float, default=0.05

    Returns
    -------
    float
        Infinite where there are so few examples, for each rho, that theorem 1.4 says nothing.

    Examples
    --------
    >>> round(explicit_margin_bound(np.full(1_000_000, 0.5), 1.0, rho=0.5), 3)
    1.786
    """
    check_positive("radius", radius)
    return _best(
        np.asarray(margins, float), radius, rho, delta, 2 * radius,
        lambda scale: fat_dimension_bound(radius, scale),
    )  # fmt: skip


def explicit_hard_margin_bound(
    n_examples: int,
    radius: float,
    rho: float,
    *,
    delta: float = 0.05,
    chosen_before: bool = True,
) -> float:
    """Theorems 1.4, 1.5 (1.40) and 1.7: `explicit_margin_bound` where no training example has a
    margin below rho.

    Parameters
    ----------
    n_examples : int
    radius, rho, delta :
        As for `explicit_margin_bound`.
    chosen_before : bool, default=True
        Whether rho was chosen without the data. If not, the next smaller of the radius divided by
        powers of 2 is taken, with its part of delta.

    Examples
    --------
    >>> round(explicit_hard_margin_bound(10_000_000, 1.0, 0.5), 4)
    0.1447
    """
    check_positive("radius", radius)
    check_positive("rho", rho)
    if not chosen_before:
        k = max(0, ceil(log2(radius / rho)))
        k += radius * 2.0**-k > rho  # a logarithm is rounded
        rho, delta = radius * 2.0**-k, _part(delta, k)
    covering = _of_margins(
        rho, n_examples, 2 * radius, lambda scale: fat_dimension_bound(radius, scale)
    )
    return covering_hard_margin_bound(covering, n_examples, delta=delta)


def sum_norm_margin_bound(
    margins: VectorLike,
    n_features: int,
    *,
    rho: float | None = None,
    delta: float = 0.05,
    constant: float = 1.0,
) -> float:
    """Theorems 1.4, 1.5 (1.41) and 1.9: what the error of a linear function whose weights sum to at
    most 1 in absolute value is at most, with probability 1 - delta, where no coordinate of an
    example is above 1.

    Parameters
    ----------
    margins : array
        y (w.x) of the training examples.
    n_features : int
    rho, delta :
        As for `explicit_margin_bound`, with 1 in place of the radius.
    constant : float, default=1.0
        The constant c of theorem 1.9, which it does not give.

    Examples
    --------
    >>> round(sum_norm_margin_bound(np.full(1_000_000, 0.5), 10, rho=0.5), 3)
    3.141
    """
    return _best(
        np.asarray(margins, float), 1.0, rho, delta, 2.0,
        lambda scale: sum_norm_fat_dimension_bound(1.0, n_features, scale, constant=constant),
    )  # fmt: skip


def _of_margins(
    rho: float, n_examples: int, width: float, dimension: Callable[[float], float]
) -> float:
    """What log2 N(rho/2, F, 2m) is at most, from fat(rho/8)."""
    return covering_number_bound(dimension(rho / 8), rho / 2, width, 2 * n_examples)


def _part(delta: float, k: int) -> float:
    """The part of delta that the k-th rho has, from 0."""
    return lowered(delta / ((k + 1) * (k + 2)))


def _best(
    margins: np.ndarray,
    largest: float,
    rho: float | None,
    delta: float,
    width: float,
    dimension: Callable[[float], float],
) -> float:
    """(1.41) at rho, or at the best of `largest` divided by powers of 2."""
    check_delta(delta)
    m = len(margins)

    def at(rho: float, delta: float) -> float:
        covering = _of_margins(rho, m, width, dimension)
        if covering == inf:
            return inf
        share = float(np.count_nonzero(margins < rho)) / m
        return covering_margin_bound(share, covering, m, delta=delta)

    if rho is not None:
        check_positive("rho", rho)
        return at(float(rho), delta)
    best, k = inf, 0
    # fat grows fourfold from one to the next, until there are too few examples to say anything
    while dimension(largest * 2.0**-k / 8) <= 2 * m:
        best = min(best, at(largest * 2.0**-k, _part(delta, k)))
        k += 1
    return best


def check_delta(delta: Any) -> None:
    """Refuse what is no probability."""
    if not isinstance(delta, Real) or isinstance(delta, bool) or not 0 < float(delta) < 1:
        raise ValueError(f"delta must lie between 0 and 1, got {delta!r}")


def check_positive(name: str, value: Any) -> None:
    """Refuse what is no positive number."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
