"""What is known of a support vector machine beyond its margins: how optimal it is, and what its
coefficients say of the examples left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from largemargin.certificates.certificate import Statement
from largemargin.certificates.feature_space import (
    Asked,
    examine_expansion,
    feature_space_statements,
)
from largemargin.certificates.fitted import (
    LARGEST_EIGENPROBLEM,
    Fitted,
    class_factors_of,
)
from largemargin.certificates.leave_one_out import (
    least_kernel_value,
    lone_words,
    shortfall,
    support_vector_bound,
    suspects,
    true_statement,
)
from largemargin.certificates.optimality import gap_statement, is_optimal
from largemargin.certificates.rounding import (
    FEW,
    UNIT,
    above,
    at_least,
    at_most,
    lowered,
    raised,
)
from largemargin.certificates.theorem import INDEPENDENT, Condition, Theorem

BOOK = "Advances in Large Margin Classifiers"
OPTIMAL = Theorem(
    "optimal hyperplane", "Cortes & Vapnik 1995, W = 2/rho^2", "always", bounds_from="below"
)
SUPPORT = Theorem("support vectors, leave-one-out", f"{BOOK}, section 1.3.4", "always", True)
EXPECTED = Theorem("support vectors, expected error", "Cortes & Vapnik 1995", "expectation", True)
JAAKKOLA = Theorem("Jaakkola-Haussler", f"{BOOK}, (1.84) as in (2.3)", "always", True)
XI_ALPHA = Theorem("xi-alpha", "Joachims 2000, theorem 2", "always", True)
RADIUS = Theorem("radius-margin", "Vapnik 1998, from Jaakkola-Haussler", "always", True)
LEFT_OUT = (SUPPORT, EXPECTED, JAAKKOLA, XI_ALPHA, RADIUS)
UNIQUE_WITHOUT = "the threshold stays unique when one is left out"

EDGE = 1e-9  # relative distance from its bound at which a coefficient is free


@dataclass(frozen=True)
class Dual:
    """A support vector machine as its dual says it, for the training examples.

    Attributes
    ----------
    alphas : array of shape (n_problems, m)
    box : array of shape (n_problems, m)
        Their upper bounds; inf where there is none.
    slack : str
        "none", "linear", "squared" or "squared-sum".
    ridge : array of shape (m,)
        1/(2 C s_i) with squared slacks, else 0.
    threshold : bool
        Whether the dual has the condition sum y alpha = 0.
    origin : bool
        Whether f goes through the origin of the feature space.
    of_nu : bool
        Whether the bounds come from a share nu of the examples.
    """

    alphas: np.ndarray
    box: np.ndarray
    slack: str
    ridge: np.ndarray
    threshold: bool
    origin: bool
    of_nu: bool


def dual_of(fitted: Fitted) -> Dual:
    from largemargin.svm import KernelAdatron, NuSVC

    model = fitted.model
    alphas, of_nu = fitted.alphas(), isinstance(model, NuSVC) and model.nu > 0
    s = class_factors_of(fitted)
    C = np.inf if isinstance(model, NuSVC) else float(model.C)
    slack = "linear" if of_nu else "none" if np.isinf(C) else getattr(model, "slack", "linear")
    box, ridge = np.full(alphas.shape, np.inf), np.zeros(len(fitted))
    if of_nu:  # the machine with linear slack and this C has the same solution
        box[:] = (alphas / s).max(axis=1, keepdims=True) * s
    elif slack == "linear":
        box[:] = C * s
    elif slack == "squared-sum":
        box[:] = (alphas / s).max(axis=1, keepdims=True) * s
    elif slack == "squared":
        ridge = 1 / (2 * C * s)
    origin = not model.fit_intercept or model.multiclass == "crammer-singer"
    threshold = not origin and not isinstance(model, KernelAdatron)
    return Dual(alphas, box, slack, ridge, threshold, origin, of_nu)


def statements(model: Any, X: Any, y: Any, asked: Asked) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said of a support vector machine."""
    fitted = examine(model, X, y)
    own = svm_statements(fitted, asked.leave_one_out)
    return feature_space_statements(fitted, own, asked)


def examine(model: Any, X: Any, y: Any) -> Fitted:
    joint = model.multiclass == "crammer-singer"
    return examine_expansion(model, X, y, by_pairs=getattr(model, "_by_pairs", False), joint=joint)


def svm_statements(fitted: Fitted, leave_one_out: bool | str) -> list[Statement]:
    if fitted.silent:
        rest = [theorem.fails(fitted.silent, fitted.records) for theorem in LEFT_OUT]
        return [
            gap_statement(fitted.model, _indefinite(fitted)),
            OPTIMAL.fails(fitted.silent, fitted.records),
            *rest,
            true_statement(fitted, leave_one_out),
        ]
    dual = dual_of(fitted)
    support = _support(fitted, dual)
    # that the others can be left out is a theorem only if all that it assumes is known to hold
    known = support.applies and not dual.of_nu and all(a.holds for a in support.assumptions)
    return [
        gap_statement(fitted.model, _indefinite(fitted)),
        _optimal(fitted, dual),
        support,
        _expected(fitted, dual),
        _jaakkola(fitted, dual),
        _xi_alpha(fitted, dual),
        _radius(fitted, dual),
        true_statement(fitted, leave_one_out, fitted.coefs_used() if known else None),
    ]


def _indefinite(fitted: Fitted) -> str:
    """Empty if the kernel is positive definite on the training examples, or why that is not
    known.
    """
    if fitted.foreign and not fitted.kernel.psd:
        return f"{fitted.kernel} is not known to be positive definite on the training examples"
    return fitted.indefinite


def _solved(fitted: Fitted) -> list[Condition]:
    return [
        *fitted.records,
        is_optimal(fitted.model),
        Condition("the kernel is positive definite on the examples", not fitted.indefinite,
                  fitted.indefinite),
    ]  # fmt: skip


def _optimal(fitted: Fitted, dual: Dual) -> Statement:
    conditions = [
        Condition("a hard margin", dual.slack == "none", "the margin is soft"),
        *_solved(fitted),
    ]
    refuted = OPTIMAL.refuted_by(conditions)
    if refuted:
        return refuted
    W = least_objectives(fitted, dual)
    w = np.asarray(fitted.norm_bounds[1])
    rho = raised(np.sqrt(2 / W.max())) if W.max() > 0 else np.inf
    found = lowered(min(2 * (f.min() - e) / n if n > 0 else 0.0 for f, e, n in zip(
        _without_threshold(fitted, dual), fitted.score_errors, w, strict=True
    )))  # fmt: skip
    several = ", in the problem where it is least," if fitted.n_problems > 1 else ""
    if dual.threshold:
        what = "hyperplane separates the classes with a distance between them"
        which = f"; the one found separates them with {at_least(found, 6)}"
    else:
        what = "hyperplane through the origin of the feature space has all examples on their sides "
        what += "with twice the distance to the nearest"
        which = f"; the one found has them there with {at_least(found, 6)}"
    sentence = (
        f"The dual objective W = {at_least(W.max(), 6)} shows that{several} no {what} above rho "
        f"= sqrt(2/W) = {at_most(rho, 6)}{which if found > 0 else ''}."
    )
    return OPTIMAL.says(W.max(), sentence, conditions, W)


def _without_threshold(fitted: Fitted, dual: Dual) -> list[np.ndarray]:
    """The margins of each problem that its dual knows of: a threshold that was put there
    afterwards does not count.
    """
    if dual.threshold or not fitted.thresholds.any():
        return fitted.functional
    return [
        y[y != 0] * (f - b)[y != 0]
        for y, f, b in zip(fitted.signs, fitted.scores, fitted.thresholds, strict=True)
    ]


def _feasible(fitted: Fitted, dual: Dual) -> tuple[np.ndarray, np.ndarray]:
    """The sums of the coefficients, rounded down, and by how much they have to be changed to meet
    the conditions of the dual: nothing, but for rounding.
    """
    sums = dual.alphas.sum(axis=1)
    lack = np.maximum(dual.alphas - dual.box, 0.0).sum(axis=1)
    if dual.threshold:
        lack = lack + np.abs((fitted.signs * dual.alphas).sum(axis=1))
    rounding = len(fitted) * UNIT * sums
    return sums - rounding, lack + rounding * dual.threshold


def least_objectives(fitted: Fitted, dual: Dual) -> np.ndarray:
    """The dual objective W of the hard margin that the coefficients show, rounded down: that of
    the best multiple of them, (sum alpha)^2 / (2 w.w).
    """
    sums, lack = _feasible(fitted, dual)
    longest = fitted.norm_bounds[1] + lack * fitted.largest_radius
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (np.maximum(sums - lack, 0.0) / longest) ** 2 / 2 * (1 - FEW * UNIT)
    return np.where(longest > 0, found, 0.0)


def absolute_gaps(fitted: Fitted, dual: Dual) -> np.ndarray:
    """What the dual objective of each problem's coefficients can lack of the best, rounded up."""
    R, s = fitted.largest_radius, class_factors_of(fitted)
    sums, lack = _feasible(fitted, dual)
    gaps = []
    for p, (outputs, norm, error) in enumerate(
        zip(_without_threshold(fitted, dual), fitted.norm_bounds[1], fitted.score_errors,
            strict=True)
    ):  # fmt: skip
        alpha, least = dual.alphas[p], outputs - error
        if dual.slack == "none":
            nearest = float(least.min())
            primal = (norm / nearest) ** 2 / 2 if nearest > 0 else np.inf
        else:
            price = float((alpha / s).max()) if dual.of_nu else float(fitted.model.C)
            weights, xi = s[fitted.signs[p] != 0], np.maximum(0.0, 1 - least)
            primal = norm**2 / 2 + price * float(weights @ (xi**2 if dual.ridge.any() else xi))
        value = sums[p] - norm**2 / 2 - float(dual.ridge @ alpha**2) / 2
        rounding = (len(fitted) + FEW) * UNIT * (abs(primal) + abs(value) + norm**2)
        gaps.append(primal - value + rounding + lack[p] * (1 + norm * R + lack[p] * R**2))
    if dual.slack not in ("linear", "squared") or dual.of_nu:
        return np.maximum(gaps, 0.0)
    # of these the solver has told the gap, relative to the primal objective
    told = np.maximum(np.asarray(fitted.model.dual_gap_, float), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(told < 1, told / (1 - told) * np.abs(fitted.model.objective_), np.inf)
    return np.maximum(np.minimum(gaps, best), 0.0)


def _shortfall(fitted: Fitted, dual: Dual) -> np.ndarray:
    """See `shortfall`. Where nobody knows that a fit is optimal, that is assumed and said."""
    known = is_optimal(fitted.model).holds is True
    gaps = absolute_gaps(fitted, dual) if known else np.zeros(fitted.n_problems)
    return shortfall(fitted, dual.alphas, gaps)


def _left_out(fitted: Fitted, dual: Dual) -> list[Condition]:
    """What all leave-one-out bounds assume."""
    from largemargin.svm import KernelAdatron

    halfway = isinstance(fitted.model, KernelAdatron) and bool(fitted.model.fit_intercept)
    free = (dual.alphas > 0) & (dual.alphas < dual.box * (1 - EDGE))
    unique = not dual.threshold or bool(free.any(axis=1).all())
    return [
        *_solved(fitted),
        Condition(
            "the threshold is part of the machine's program", not halfway,
            "the adatron's threshold is put halfway between the classes after training",
        ),
        Condition(
            "the threshold is unique", unique,
            "in some problem every coefficient is at a bound, so the threshold is not unique",
        ),
        Condition("the kernel, the price of slack and the weights stay when one is left out", True),
    ]  # fmt: skip


def _what(dual: Dual) -> str:
    return ", of the machine with linear slack that has this solution," * dual.of_nu


def _support(fitted: Fitted, dual: Dual) -> Statement:
    conditions = _left_out(fitted, dual)
    refuted = SUPPORT.refuted_by(conditions)
    if refuted:
        return refuted
    used, flags = np.any(dual.alphas > 0, axis=0), (dual.alphas > 0) | fitted.alone_by_problem
    share = support_vector_bound(flags)
    sentence = (
        f"The leave-one-out error{_what(dual)} is at most {at_most(share)}: only the "
        f"{int(used.sum())} support vectors of {len(fitted)} examples{lone_words(fitted, used)} "
        "can be wrong when left out."
    )
    return SUPPORT.says(share, sentence, conditions, _shares(fitted, flags))


def _shares(fitted: Fitted, flags: np.ndarray) -> list[float]:
    """Of the examples of each problem; a machine of all classes is one problem."""
    if fitted.joint:
        return []
    return [float(f[y != 0].mean()) for f, y in zip(flags, fitted.signs, strict=True)]


def _expected(fitted: Fitted, dual: Dual) -> Statement:
    conditions = [
        Condition(
            "the machine was chosen without the data", not dual.of_nu,
            "nu is a share of the examples, so the machine differs with their number",
        ),
        *_left_out(fitted, dual),
        INDEPENDENT,
    ]  # fmt: skip
    refuted = EXPECTED.refuted_by(conditions)
    if refuted:
        return refuted
    used, flags = np.any(dual.alphas > 0, axis=0), (dual.alphas > 0) | fitted.alone_by_problem
    share = support_vector_bound(flags)
    lone = " and of examples alone in their classes" * bool((fitted.alone & ~used).any())
    sentence = (
        "The expected error after training on one example less is at most the expected share of "
        f"support vectors{lone}; here that is {at_most(share)}."
    )
    return EXPECTED.says(share, sentence, conditions, _shares(fitted, flags))


def _two_sides(fitted: Fitted, dual: Dual) -> list[Condition]:
    together = fitted.model.multiclass == "crammer-singer"
    return [
        Condition("a reduction to problems of two sides", not together,
                  "the vectors of all classes were trained together"),
        Condition("slack counted singly", dual.slack != "squared-sum",
                  "the price is that of the square of the sum of the slacks"),
        *_left_out(fitted, dual),
    ]  # fmt: skip


def _jaakkola(fitted: Fitted, dual: Dual) -> Statement:
    conditions = [
        Condition("no threshold", dual.origin, "it is a bound only without a threshold"),
        *_two_sides(fitted, dual),
    ]
    refuted = JAAKKOLA.refuted_by(conditions)
    if refuted:
        return refuted
    return _flagged(JAAKKOLA, fitted, dual, _jaakkola_flags(fitted, dual), conditions)


def _jaakkola_flags(fitted: Fitted, dual: Dual) -> np.ndarray:
    assert fitted.squares is not None
    outputs = fitted.signs * fitted.scores
    short = _shortfall(fitted, dual)
    flags = suspects(outputs, dual.alphas, fitted.squares, False, None, 0.0, short)
    return flags & (fitted.signs != 0)


def _xi_alpha(fitted: Fitted, dual: Dual) -> Statement:
    plain = getattr(fitted.model, "class_weight", None) is None
    # every support vector of a machine without bounds is free; of one with bounds, leaving out an
    # example can leave none free, and then the error can exceed the bound
    conditions = [
        Condition(
            "a threshold", not dual.origin, "without a threshold Jaakkola-Haussler is the sharper"
        ),
        Condition("equal weights", plain, "it is proved for examples of equal weight"),
        *_two_sides(fitted, dual),
        Condition(UNIQUE_WITHOUT, None if dual.slack == "linear" else True),
    ]
    refuted = XI_ALPHA.refuted_by(conditions)
    if refuted:
        return refuted
    assert fitted.squares is not None
    least = least_kernel_value(fitted, LARGEST_EIGENPROBLEM)
    outputs, ridge = fitted.signs * fitted.scores, float(dual.ridge.max())
    short = _shortfall(fitted, dual)
    flags = suspects(outputs, dual.alphas, fitted.squares, True, least, ridge, short)
    return _flagged(XI_ALPHA, fitted, dual, flags & (fitted.signs != 0), conditions)


def _flagged(
    theorem: Theorem, fitted: Fitted, dual: Dual, flags: np.ndarray, conditions: list[Condition]
) -> Statement:
    flagged, counted = np.any(flags, axis=0), flags | fitted.alone_by_problem
    share = float(counted.any(axis=0).mean())
    open_question = any(c.text == UNIQUE_WITHOUT and c.holds is None for c in conditions)
    sentence = (
        f"The leave-one-out error{_what(dual)} is at most {at_most(share)}: only "
        f"{int(flagged.sum())} of {len(fitted)} examples{lone_words(fitted, flagged)} can be wrong "
        f"when left out"
        f"{', if ' + UNIQUE_WITHOUT if open_question else ''}."
    )
    return theorem.says(share, sentence, conditions, _shares(fitted, counted))


def _radius(fitted: Fitted, dual: Dual) -> Statement:
    conditions = [
        Condition("a hard margin", dual.slack == "none", "the margin is soft"),
        Condition("no threshold", dual.origin,
                  "this form of it is for hyperplanes through the origin"),
        *_two_sides(fitted, dual),
    ]  # fmt: skip
    refuted = RADIUS.refuted_by(conditions)
    if refuted:
        return refuted
    # it is what Jaakkola-Haussler counts at most, and that is counted with the gap in mind
    lone, counted = fitted.alone_by_problem.sum(axis=1), _jaakkola_flags(fitted, dual).sum(axis=1)
    R = Fraction(fitted.largest_radius)
    squares = [
        max((R * Fraction(float(norm))) ** 2, Fraction(int(count)))
        for norm, count in zip(fitted.norm_bounds[1], counted, strict=True)
    ]
    each = [
        above((square + int(k)) / int((y != 0).sum()))
        for square, k, y in zip(squares, lone, fitted.signs, strict=True)
    ]
    bound = above((sum(squares, Fraction(0)) + int(fitted.alone.sum())) / len(fitted))
    more = f" and {int(fitted.alone.sum())}/m for examples alone in their classes"
    sentence = (
        f"The leave-one-out error is at most R^2 |w|^2 / m{more if fitted.alone.any() else ''} = "
        f"{at_most(bound)}, R = {at_most(fitted.largest_radius)} being the largest norm and 1/|w| "
        "the margin."
    )
    return RADIUS.says(bound, sentence, conditions, each)
