"""What is said of every machine that is linear in a feature space, and how such a machine is
examined: as a kernel expansion of each problem beside data.

The statements are those of margins, of the machine's family, and of the capacity of linear
functions: the VC bound, the margin bounds with a constant that nobody knows, and those with all
their constants. Their numbers come from `capacity` and `covering`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from largemargin.certificates.capacity import (
    hard_margin_bound,
    margin_bound,
    vc_bound,
    vc_dimension,
)
from largemargin.certificates.certificate import INDEPENDENT, Condition, Statement, Theorem
from largemargin.certificates.covering import explicit_hard_margin_bound, explicit_margin_bound
from largemargin.certificates.fitted import Fitted, checked, numbers_of, recorded, signs_of
from largemargin.certificates.margins import margin_statements, no_geometry
from largemargin.certificates.rounding import FEW, at_least, at_most, total
from largemargin.kernels.choosing import WithConstant
from largemargin.kernels.functions import UNIT
from largemargin.machines import card_of
from largemargin.runtime.arrays import MatrixLike, VectorLike

BOOK = "Advances in Large Margin Classifiers"
VC = Theorem("VC bound", f"{BOOK}, theorem 1.2", "probability", True)
MARGIN = Theorem("margin bound", f"{BOOK}, theorem 1.8, (1.46)", "probability", True)
HARD_MARGIN = Theorem(
    "margin bound, no margin error", f"{BOOK}, theorem 1.8, (1.45)", "probability", True
)
EXPLICIT_MARGIN = Theorem(
    "explicit margin bound", f"{BOOK}, theorems 1.4, 1.5 (1.41) and 1.7", "probability", True
)
EXPLICIT_HARD_MARGIN = Theorem(
    "explicit margin bound, no margin error", f"{BOOK}, theorems 1.4, 1.5 (1.40) and 1.7",
    "probability", True,
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """What the caller of `certificate` wants to know; see the `certificate` method of models."""

    delta: float
    constant: float
    rhos: list[float]
    leave_one_out: bool | str


def feature_space_statements(
    fitted: Fitted, own: Sequence[Statement], asked: Asked
) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said: by margins, by the family itself, by capacity."""
    return len(fitted), [
        *margin_statements(fitted, asked.rhos),
        *own,
        *capacity_statements(fitted, asked.delta, asked.constant),
    ]


def examine_expansion(
    model: Any, X: MatrixLike, y: VectorLike, *, by_pairs: bool = False, joint: bool = False
) -> Fitted:
    """A model that is one kernel expansion per problem; `joint` if its classes compete."""
    X, labels = checked(model, X, y)
    expansion, n_classes = model.expansion, len(model.classes_)
    if n_classes < 2:
        raise ValueError(
            f"margins need a model of two classes, got {model.classes_.tolist()}: go on with the "
            "stream"
        )
    signs = signs_of(labels, n_classes, by_pairs)
    scores = model.problem_scores(X)
    return Fitted(
        model, X, labels, numbers_of(model, model.join_scores(scores)), signs, scores,
        expansion.basis.kernel, expansion.basis, expansion.coefs, expansion.intercepts,
        recorded(model, X, labels), joint=joint and n_classes > 2,
    )  # fmt: skip


def rows_of(scores: np.ndarray) -> np.ndarray:
    """What `decision_function` gives, as one row per problem."""
    return scores[None] if scores.ndim == 1 else scores.T


def capacity_statements(fitted: Fitted, delta: float, constant: float) -> list[Statement]:
    """Theorems 1.2, 1.5 and 1.8, for problems of two sides; delta is shared among several."""
    return [
        vc_statement(fitted, delta, constant),
        margin_bound_statement(fitted, delta, constant),
        hard_margin_statement(fitted, delta, constant),
        explicit_margin_statement(fitted, delta),
        explicit_hard_margin_statement(fitted, delta),
    ]


def capacity_conditions(fitted: Fitted) -> list[Condition]:
    """What all bounds from capacity assume."""
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


def margin_conditions(fitted: Fitted) -> list[Condition]:
    """What all bounds from margins in a feature space assume."""
    geometry = "" if fitted.foreign else no_geometry(fitted)
    definite = fitted.definite_everywhere
    return [
        *capacity_conditions(fitted),
        Condition("there is a hyperplane in a feature space", not geometry, geometry),
        Condition(
            "the kernel is positive definite on all inputs", definite,
            f"{fitted.kernel} is not positive definite on all inputs",
        ),
        Condition("no example to come is longer than the longest seen", None),
    ]  # fmt: skip


def all_positive(fitted: Fitted, found: list[np.ndarray]) -> Condition:
    """Whether no margin is 0 or less, rounded down."""
    right = all(float(f.min()) > 0 for f in fitted.functional)
    return Condition(
        "all margins are positive", all(float(f.min()) > 0 for f in found),
        "some margin is positive to rounding only" if right else
        "some training example is misclassified",
    )  # fmt: skip


def vc_statement(fitted: Fitted, delta: float, constant: float) -> Statement:
    """The VC bound, theorem 1.2: `vc_bound`."""
    h = vc_dimension(fitted.kernel, fitted.model.n_features_in_, has_threshold(fitted))
    conditions = [
        *capacity_conditions(fitted),
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
        f"The error is at most {at_most(total(each))} with probability {1 - delta:g}: this is the "
        f"training error plus a capacity term for {len(fitted):,} examples and functions of VC "
        f"dimension h = {h}, "
        f"{constant_words(constant, P, delta)}."
    )
    return VC.says(total(each), sentence, conditions, each)


def margin_bound_statement(fitted: Fitted, delta: float, constant: float) -> Statement:
    """The margin bound, theorem 1.8, (1.46): `margin_bound` at the best rho."""
    conditions = margin_conditions(fitted)
    refuted = MARGIN.refuted_by(conditions)
    if refuted:
        return refuted
    P = fitted.n_problems
    found, radius = normalised(fitted)
    each = [margin_bound(f, radius, delta=delta / P, constant=constant) for f in found]
    sentence = (
        f"The error is at most {at_most(total(each))} with probability {1 - delta:g}: this is the "
        "margin error at the best rho plus a capacity term for margins of that size, with examples "
        "scaled into the unit ball"
        f"{' and the threshold as a coordinate' if has_threshold(fitted) else ''}, "
        f"{constant_words(constant, P, delta)}."
    )
    return MARGIN.says(total(each), sentence, conditions, each)


def hard_margin_statement(fitted: Fitted, delta: float, constant: float) -> Statement:
    """The margin bound without margin errors, theorem 1.8, (1.45): `hard_margin_bound`."""
    conditions = margin_conditions(fitted)
    refuted = HARD_MARGIN.refuted_by(conditions)
    if refuted:
        return refuted
    P = fitted.n_problems
    found, radius = normalised(fitted)
    separated = all_positive(fitted, found)
    conditions.append(separated)
    if not separated.holds:
        return HARD_MARGIN.fails(separated.otherwise, conditions)
    each = [
        hard_margin_bound(len(f), radius, float(f.min()), delta=delta / P, constant=constant)
        for f in found
    ]
    sentence = (
        f"No training example has a margin below {at_least(min(f.min() for f in found))} (in the "
        f"unit ball), so the error is at most {at_most(total(each))} with probability "
        f"{1 - delta:g}, "
        f"{constant_words(constant, P, delta)}."
    )
    return HARD_MARGIN.says(total(each), sentence, conditions, each)


def explicit_margin_statement(fitted: Fitted, delta: float) -> Statement:
    """The margin bound from covering numbers, theorem 1.5, (1.41): `explicit_margin_bound`."""
    conditions = margin_conditions(fitted)
    refuted = EXPLICIT_MARGIN.refuted_by(conditions)
    if refuted:
        return refuted
    P = fitted.n_problems
    found, radius = normalised(fitted)
    each = [explicit_margin_bound(f, radius, delta=delta / P) for f in found]
    return covering_statement(
        EXPLICIT_MARGIN, each, conditions,
        f"The error is at most {at_most(total(each))} with probability {1 - delta:g}: this is the "
        "margin error at the best rho of 1, 1/2, 1/4, ... in the unit ball, plus a capacity term "
        "from covering numbers of linear functions. It has no unknown constant"
        f"{_sharing_words(P)}.",
    )  # fmt: skip


def explicit_hard_margin_statement(fitted: Fitted, delta: float) -> Statement:
    """The margin bound from covering numbers without margin errors, theorem 1.5, (1.40):
    `explicit_hard_margin_bound` at the next smaller rho of 1, 1/2, 1/4, ...
    """
    conditions = margin_conditions(fitted)
    refuted = EXPLICIT_HARD_MARGIN.refuted_by(conditions)
    if refuted:
        return refuted
    found, radius = normalised(fitted)
    separated = all_positive(fitted, found)
    conditions.append(separated)
    if not separated.holds:
        return EXPLICIT_HARD_MARGIN.fails(separated.otherwise, conditions)
    P = fitted.n_problems
    each = [
        explicit_hard_margin_bound(
            len(f), radius, float(f.min()), delta=delta / P, chosen_before=False
        )
        for f in found
    ]
    return covering_statement(
        EXPLICIT_HARD_MARGIN, each, conditions,
        f"The error is at most {at_most(total(each))} with probability {1 - delta:g}, since no "
        f"training example has a margin below {at_least(min(f.min() for f in found))} (in the unit "
        f"ball). It has no unknown constant{_sharing_words(P)}.",
    )  # fmt: skip


def covering_statement(
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


def constant_words(constant: float, n_problems: int, delta: float) -> str:
    """What a sentence says of the constant c, and of delta if problems share it."""
    shared = f", delta = {delta:g} shared among {n_problems} problems" if n_problems > 1 else ""
    return f"with the constant c, which the theorem does not give, taken to be {constant:g}{shared}"


def _sharing_words(n_problems: int) -> str:
    """What a sentence says of delta if problems share it."""
    return f"; {n_problems} problems share delta" if n_problems > 1 else ""
