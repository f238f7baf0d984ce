"""Bounds from the capacity of a class of functions, with probability 1 - delta, whose constants
nobody knows, and one that has them; `covering` has those with all their constants.

    theorem 1.2   R(g) <= R_emp(g) + sqrt(c/m (h + ln(1/delta)))                           (1.31)
    theorem 1.8   R(f) <= c/m (R^2/rho^2 ln^2(m/rho) + ln(1/delta))   if R_rho(f) = 0      (1.45)
                  R(f) <= R_rho(f) + sqrt(c/m (R^2/rho^2 ln^2(m/rho) + ln(1/delta)))       (1.46)
    theorem 2.2   R(f) <= 2/m (kappa log2(8em/kappa) log2(32m) + log2(2m(28 + log2 m)/delta))
                  kappa = floor(65 (W R + 3 D)^2),  D^2 = sum_i max(0, xi_i - lambda alpha_i k_ii)^2

(Advances in Large Margin Classifiers.) Values are rounded up, margins down. No value of the
universal constant c is known that would be worth stating, so it is the user's, 1 unless said
otherwise.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, e, floor, log, log2, sqrt
from typing import Any

import numpy as np

from largemargin.certificates.certificate import Statement
from largemargin.certificates.covering import (
    check_delta,
    check_positive,
    explicit_hard_margin_bound,
    explicit_margin_bound,
    sum_norm_margin_bound,
)
from largemargin.certificates.fitted import Fitted
from largemargin.certificates.margins import margin_error, no_geometry
from largemargin.certificates.rounding import FEW, UNIT, at_least, at_most, raised, total
from largemargin.certificates.theorem import INDEPENDENT, Condition, Theorem
from largemargin.kernels.functions import Kernel, Linear, Polynomial, WithConstant
from largemargin.machines import card_of

BOOK = "Advances in Large Margin Classifiers"
VC = Theorem("VC bound", f"{BOOK}, theorem 1.2", "probability", True)
MARGIN = Theorem("margin bound", f"{BOOK}, theorem 1.8, (1.46)", "probability", True)
HARD = Theorem("margin bound, no margin error", f"{BOOK}, theorem 1.8, (1.45)", "probability", True)
EXPLICIT = Theorem(
    "explicit margin bound", f"{BOOK}, theorems 1.4, 1.5 (1.41) and 1.7", "probability", True
)
EXPLICIT_HARD = Theorem(
    "explicit margin bound, no margin error", f"{BOOK}, theorems 1.4, 1.5 (1.40) and 1.7",
    "probability", True,
)  # fmt: skip
SUM_NORM = Theorem(
    "sum-norm margin bound", f"{BOOK}, theorems 1.4, 1.5 (1.41) and 1.9", "probability", True
)
ADAPTIVE = Theorem("adaptive margin bound", f"{BOOK}, theorem 2.2", "probability", True)


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
    margins: Any,
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
    norm: float, radius: float, deviations: Any, *, delta: float = 0.05
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
    """Of the signs of linear functions in a kernel's feature space; None if infinite or unknown.

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


def capacity_statements(fitted: Fitted, delta: float, constant: float) -> list[Statement]:
    """Theorems 1.2, 1.5 and 1.8, for problems of two sides; delta is shared among several."""
    return [
        _vc(fitted, delta, constant),
        _margin(fitted, delta, constant),
        _hard(fitted, delta, constant),
        _explicit(fitted, delta),
        _explicit_hard(fitted, delta),
    ]


def _conditions(fitted: Fitted) -> list[Condition]:
    return [
        *fitted.records,
        Condition(
            "f is one linear function in the feature space", not fitted.one_vector,
            fitted.one_vector,
        ),
        Condition(
            "every problem has two sides", not fitted.joint,
            "the theorem is about two classes, and the vectors of several were trained together",
        ),
        INDEPENDENT,
    ]  # fmt: skip


def _constant_said(constant: float, n_problems: int, delta: float) -> str:
    shared = f", delta = {delta:g} shared among {n_problems} problems" if n_problems > 1 else ""
    return f"with the constant c, which the theorem does not give, taken to be {constant:g}{shared}"


def _vc(fitted: Fitted, delta: float, constant: float) -> Statement:
    h = vc_dimension(fitted.kernel, fitted.model.n_features_in_, has_threshold(fitted))
    conditions = [
        *_conditions(fitted),
        Condition(
            "the VC dimension is finite and known", h is not None,
            "the VC dimension of functions in the feature space of this kernel is infinite or "
            "unknown",
        )
    ]  # fmt: skip
    refuted = VC.refuted_by(conditions)
    if refuted or h is None:
        return refuted or VC.fails("")
    P = fitted.n_problems
    each = [
        vc_bound(float(np.mean(f <= 0)), len(f), h, delta=delta / P, constant=constant)
        for f in fitted.functional
    ]
    sentence = (
        f"The error is at most {at_most(total(each))} with probability {1 - delta:g}: the training "
        f"error and what {len(fitted)} examples leave open of functions of VC dimension h = {h}, "
        f"{_constant_said(constant, P, delta)}."
    )
    return VC.says(total(each), sentence, conditions, each)


def has_threshold(fitted: Fitted) -> bool:
    """Whether the functions to choose from have a threshold, be it 0 in the one chosen; one that is
    a coordinate of the kernel's does not count.
    """
    model = fitted.model
    if fitted.thresholds.any() or card_of(model).name == "NuLPSVC":
        return True
    through_origin = getattr(model, "multiclass", "") == "crammer-singer"
    inside = isinstance(fitted.kernel, WithConstant)
    return bool(getattr(model, "fit_intercept", False)) and not through_origin and not inside


def normalised(fitted: Fitted) -> tuple[list[np.ndarray], float]:
    """Margins of w/|w| on examples scaled into the unit ball, rounded down, and that ball's radius.

    A threshold is a weight b/R of one more coordinate, R, in all examples.
    """
    R, (_, norms) = fitted.largest_radius, fitted.norm_bounds
    if has_threshold(fitted):
        norms, R = np.hypot(norms, fitted.thresholds / R), R * sqrt(2)
    scales = norms * R * (1 + FEW * UNIT)
    return [
        np.nextafter((f - error) / scale, -np.inf)
        for f, error, scale in zip(fitted.functional, fitted.score_errors, scales, strict=True)
    ], 1.0


def _margin_conditions(fitted: Fitted) -> list[Condition]:
    geometry = "" if fitted.foreign else no_geometry(fitted)
    definite = fitted.definite_everywhere
    return [
        *_conditions(fitted),
        Condition("there is a hyperplane in a feature space", not geometry, geometry),
        Condition(
            "the kernel is positive definite on all inputs", definite,
            f"{fitted.kernel} is not positive definite on all inputs",
        ),
        Condition("no example to come is longer than the longest seen", None),
    ]  # fmt: skip


def _margin(fitted: Fitted, delta: float, constant: float) -> Statement:
    conditions = _margin_conditions(fitted)
    refuted = MARGIN.refuted_by(conditions)
    if refuted:
        return refuted
    P = fitted.n_problems
    found, radius = normalised(fitted)
    each = [margin_bound(f, radius, delta=delta / P, constant=constant) for f in found]
    sentence = (
        f"The error is at most {at_most(total(each))} with probability {1 - delta:g}: the margin "
        "error at the best rho and what margins of that size leave open, with examples scaled into "
        f"the unit ball{' and the threshold as a coordinate' if has_threshold(fitted) else ''}, "
        f"{_constant_said(constant, P, delta)}."
    )
    return MARGIN.says(total(each), sentence, conditions, each)


def all_positive(fitted: Fitted, found: list[np.ndarray]) -> Condition:
    """Whether no margin is 0 or less, rounded down."""
    right = all(float(f.min()) > 0 for f in fitted.functional)
    return Condition(
        "all margins are positive", all(float(f.min()) > 0 for f in found),
        "some margin is positive to rounding only" if right else
        "some training example is misclassified",
    )  # fmt: skip


def _hard(fitted: Fitted, delta: float, constant: float) -> Statement:
    conditions = _margin_conditions(fitted)
    refuted = HARD.refuted_by(conditions)
    if refuted:
        return refuted
    P = fitted.n_problems
    found, radius = normalised(fitted)
    separated = all_positive(fitted, found)
    conditions.append(separated)
    if not separated.holds:
        return HARD.fails(separated.otherwise, conditions)
    each = [
        hard_margin_bound(len(f), radius, float(f.min()), delta=delta / P, constant=constant)
        for f in found
    ]
    sentence = (
        f"No training example has a margin below {at_least(min(f.min() for f in found))} (in the "
        f"unit ball), so the error is at most {at_most(total(each))} with probability "
        f"{1 - delta:g}, "
        f"{_constant_said(constant, P, delta)}."
    )
    return HARD.says(total(each), sentence, conditions, each)


def _explicit(fitted: Fitted, delta: float) -> Statement:
    conditions = _margin_conditions(fitted)
    refuted = EXPLICIT.refuted_by(conditions)
    if refuted:
        return refuted
    P = fitted.n_problems
    found, radius = normalised(fitted)
    each = [explicit_margin_bound(f, radius, delta=delta / P) for f in found]
    return _covered(
        EXPLICIT, each, conditions,
        f"The error is at most {at_most(total(each))} with probability {1 - delta:g}: the margin "
        "error at the best rho of 1, 1/2, 1/4, ... in the unit ball, and what covering numbers of "
        f"linear functions leave open. Nothing in it is a constant left to guess{_shared(P)}.",
    )  # fmt: skip


def _explicit_hard(fitted: Fitted, delta: float) -> Statement:
    conditions = _margin_conditions(fitted)
    refuted = EXPLICIT_HARD.refuted_by(conditions)
    if refuted:
        return refuted
    found, radius = normalised(fitted)
    separated = all_positive(fitted, found)
    conditions.append(separated)
    if not separated.holds:
        return EXPLICIT_HARD.fails(separated.otherwise, conditions)
    P = fitted.n_problems
    each = [
        explicit_hard_margin_bound(
            len(f), radius, float(f.min()), delta=delta / P, chosen_before=False
        )
        for f in found
    ]
    return _covered(
        EXPLICIT_HARD, each, conditions,
        f"The error is at most {at_most(total(each))} with probability {1 - delta:g}, since no "
        f"training example has a margin below {at_least(min(f.min() for f in found))} (in the unit "
        f"ball). Nothing in it is a constant left to guess{_shared(P)}.",
    )  # fmt: skip


def _shared(n_problems: int) -> str:
    return f"; {n_problems} problems share delta" if n_problems > 1 else ""


def _covered(
    theorem: Theorem, each: list[float], conditions: list[Condition], sentence: str
) -> Statement:
    """A bound from covering numbers, if there are examples enough for theorem 1.4."""
    enough = Condition(
        "twice the examples are at least fat(rho/8)", bool(np.isfinite(each).all()),
        "theorem 1.4 is about 2m points that are not fewer than fat(rho/8), which is bounded by "
        "(8 R/rho)^2; there are too few examples for every rho",
    )  # fmt: skip
    conditions = [*conditions, enough]
    if not enough.holds:
        return theorem.fails(enough.otherwise, conditions)
    return theorem.says(total(each), sentence, conditions, each)


def sum_norm_statement(fitted: Fitted, delta: float, constant: float) -> Statement:
    """Theorem 1.9 for a hyperplane in the space of the features."""
    weights, b = np.asarray(fitted.model.coef_, float), fitted.thresholds
    largest = float(abs(fitted.X).max())
    lengths = np.abs(weights).sum(axis=1) * largest + np.abs(b)  # a threshold is a coordinate of 1
    conditions = [
        *_conditions(fitted),
        Condition("there is a hyperplane", bool((lengths > 0).all()), "w = 0 and b = 0"),
        Condition("no example to come has a larger coordinate than those seen", None),
    ]
    refuted = SUM_NORM.refuted_by(conditions)
    if refuted:
        return refuted
    P, N = fitted.n_problems, weights.shape[1] + int(has_threshold(fitted))
    operations = weights.shape[1] + FEW
    each = [
        sum_norm_margin_bound(
            # a score is off by no more than this share of the length
            f / n - 2 * operations * UNIT, N, delta=delta / P, constant=constant,
        )
        for f, n in zip(fitted.functional, lengths, strict=True)
    ]  # fmt: skip
    return _covered(
        SUM_NORM, each, conditions,
        f"The error is at most {at_most(total(each))} with probability {1 - delta:g}: the margin "
        f"error at the best rho of 1, 1/2, 1/4, ..., where {N} coordinates are at most 1 and the "
        f"weights sum to 1, and what covering numbers leave open, "
        f"{_constant_said(constant, P, delta)}.",
    )  # fmt: skip


def adaptive_statement(fitted: Fitted, delta: float) -> Statement:
    """Theorem 2.2 for an adaptive-margin machine."""
    met = all(bool((f >= 1).any()) for f in fitted.functional)
    conditions = [
        *_margin_conditions(fitted),
        Condition("some example has y f(x) >= 1", met, "no training example has y f(x) >= 1"),
    ]
    refuted = ADAPTIVE.refuted_by(conditions)
    if refuted:
        return refuted
    # max(0, xi - lambda alpha k(x, x)) is max(0, 1 - y f(x)), whatever lambda is
    lack = 1 - fitted.signs * fitted.scores
    share = delta / fitted.n_problems
    each = [
        adaptive_margin_bound(float(n), fitted.largest_radius, one + error, delta=share)
        for n, one, error in zip(fitted.norm_bounds[1], lack, fitted.score_errors, strict=True)
    ]
    known = [bound for bound in each if bound is not None]
    provisos = Condition(
        "kappa <= e m and m >= max(2/bound, 6)", len(known) == len(each),
        f"the theorem needs kappa = floor(65 (W R + 3 D)^2) <= e m, which is {e * len(fitted):.4g}",
    )  # fmt: skip
    conditions.append(provisos)
    if not provisos.holds:
        return ADAPTIVE.fails(provisos.otherwise, conditions)
    sentence = (
        f"The error is at most {at_most(total(known))} with probability {1 - delta:g}, from the "
        "norm of w and what the adaptive margins lack."
    )
    return ADAPTIVE.says(total(known), sentence, conditions, known)
