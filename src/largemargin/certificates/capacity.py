"""Bounds from the capacity of a class of functions, with probability 1 - delta.

    theorem 1.2   R(g) <= R_emp(g) + sqrt(c/m (h + ln(1/delta)))                           (1.31)
    theorem 1.8   R(f) <= c/m (R^2/rho^2 ln^2(m/rho) + ln(1/delta))   if R_rho(f) = 0      (1.45)
                  R(f) <= R_rho(f) + sqrt(c/m (R^2/rho^2 ln^2(m/rho) + ln(1/delta)))       (1.46)
    theorem 2.2   R(f) <= 2/m (kappa log2(8em/kappa) log2(32m) + log2(2m(28 + log2 m)/delta))
                  kappa = floor(65 (W R + 3 D)^2),  D^2 = sum_i max(0, xi_i - lambda alpha_i k_ii)^2

(Advances in Large Margin Classifiers.) No value of the universal constant c is known that would be
worth stating, so it is the user's, 1 unless said otherwise.
"""

from __future__ import annotations

from math import comb, e, floor, log, log2, sqrt
from numbers import Real
from typing import Any

import numpy as np

from largemargin.certificates.certificate import Statement, at_most
from largemargin.certificates.fitted import Fitted
from largemargin.certificates.margins import margin_error, no_geometry
from largemargin.certificates.theorem import INDEPENDENT, Condition, Theorem
from largemargin.kernels import Kernel, Linear, Polynomial, WithConstant

BOOK = "Advances in Large Margin Classifiers"
VC = Theorem("VC bound", f"{BOOK}, theorem 1.2", "probability", True)
MARGIN = Theorem("margin bound", f"{BOOK}, theorem 1.8, (1.46)", "probability", True)
HARD = Theorem("margin bound, no margin error", f"{BOOK}, theorem 1.8, (1.45)", "probability", True)
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
    return error + sqrt(constant / n_examples * (dimension + log(1 / delta)))


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
        return margin_error(values, rho) + sqrt(_capacity(m, radius, rho, delta, constant))
    # between two margins the errors stay and the capacity falls with rho, so one of them is best
    rhos = np.unique(np.append(values[(values > 0) & (values < radius)], radius))
    errors = np.searchsorted(np.sort(values), rhos) / m
    return float((errors + np.sqrt(_capacity(m, radius, rhos, delta, constant))).min())


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
    return float(_capacity(n_examples, radius, rho, delta, constant))


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
    m, D = len(deviations), float(np.linalg.norm(deviations))
    kappa = floor(65 * (norm * radius + 3 * D) ** 2)
    if kappa > e * m:
        return None
    capacity = kappa * log2(8 * e * m / kappa) * log2(32 * m) if kappa else 0.0
    bound = 2 / m * (capacity + log2(2 * m * (28 + log2(m)) / delta))
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
    """Theorems 1.2 and 1.8, for problems of two sides; delta is shared among several."""
    return [
        _vc(fitted, delta, constant),
        _margin(fitted, delta, constant),
        _hard(fitted, delta, constant),
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
    threshold = bool(fitted.thresholds.any()) or _has_threshold(fitted.model)
    h = vc_dimension(fitted.kernel, fitted.model.n_features_in_, threshold)
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
        f"The error is at most {at_most(sum(each))} with probability {1 - delta:g}: the training "
        f"error and what {len(fitted)} examples leave open of functions of VC dimension h = {h}, "
        f"{_constant_said(constant, P, delta)}."
    )
    return VC.says(sum(each), sentence, conditions, each)


def _has_threshold(model: Any) -> bool:
    return bool(getattr(model, "fit_intercept", False))


def normalised(fitted: Fitted) -> tuple[list[np.ndarray], float]:
    """Margins of w/|w| on examples scaled into the unit ball, and that ball's radius.

    A threshold is a weight b/R of one more coordinate, R, in all examples.
    """
    R, norms = fitted.radius, fitted.norms
    assert norms is not None
    if not fitted.thresholds.any():
        return [f / (n * R) for f, n in zip(fitted.functional, norms, strict=True)], 1.0
    lengths = np.hypot(norms, fitted.thresholds / R)
    return [f / (n * sqrt(2) * R) for f, n in zip(fitted.functional, lengths, strict=True)], 1.0


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
        f"The error is at most {at_most(sum(each))} with probability {1 - delta:g}: the margin "
        "error at the best rho and what margins of that size leave open, with examples scaled into "
        f"the unit ball{' and the threshold as a coordinate' if fitted.thresholds.any() else ''}, "
        f"{_constant_said(constant, P, delta)}."
    )
    return MARGIN.says(sum(each), sentence, conditions, each)


def _hard(fitted: Fitted, delta: float, constant: float) -> Statement:
    separated = all(float(f.min()) > 0 for f in fitted.functional)
    conditions = [
        *_margin_conditions(fitted),
        Condition("all margins are positive", separated, "some training example is misclassified"),
    ]
    refuted = HARD.refuted_by(conditions)
    if refuted:
        return refuted
    P = fitted.n_problems
    found, radius = normalised(fitted)
    each = [
        hard_margin_bound(len(f), radius, float(f.min()), delta=delta / P, constant=constant)
        for f in found
    ]
    sentence = (
        f"No training example has a margin below {min(f.min() for f in found):.4g} (in the unit "
        f"ball), so the error is at most {at_most(sum(each))} with probability {1 - delta:g}, "
        f"{_constant_said(constant, P, delta)}."
    )
    return HARD.says(sum(each), sentence, conditions, each)


def adaptive_statement(fitted: Fitted, lam: float, delta: float) -> Statement:
    """Theorem 2.2 for an adaptive-margin machine."""
    met = all(bool((f >= 1).any()) for f in fitted.functional)
    conditions = [
        *_margin_conditions(fitted),
        Condition("some example has y f(x) >= 1", met, "no training example has y f(x) >= 1"),
    ]
    refuted = ADAPTIVE.refuted_by(conditions)
    if refuted:
        return refuted
    assert fitted.squares is not None
    assert fitted.norms is not None
    own = lam * fitted.alphas() * fitted.squares
    slack = np.maximum(0.0, 1 - fitted.signs * fitted.scores + own)
    each = [
        adaptive_margin_bound(float(n), fitted.radius, xi - a, delta=delta / fitted.n_problems)
        for n, xi, a in zip(fitted.norms, slack, own, strict=True)
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
        f"The error is at most {at_most(sum(known))} with probability {1 - delta:g}, from the norm "
        "of w and what the adaptive margins lack."
    )
    return ADAPTIVE.says(sum(known), sentence, conditions, known)


def check_delta(delta: Any) -> None:
    if not isinstance(delta, Real) or isinstance(delta, bool) or not 0 < float(delta) < 1:
        raise ValueError(f"delta must lie between 0 and 1, got {delta!r}")


def check_positive(name: str, value: Any) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
