"""How many examples the aggressive perceptron stores if it distills its cache.

If |x_t| <= R and a unit vector u has y_t (u.x_t) >= gamma for all t, it stores at most

    (R^2 + 2 beta) / gamma^2

examples, beta being the margin that is asked for (Crammer, Kandola & Singer 2003).
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from largemargin.certificates.certificate import Condition, Statement, Theorem
from largemargin.certificates.feature_space import (
    Asked,
    examine_expansion,
    feature_space_statements,
)
from largemargin.certificates.fitted import Fitted
from largemargin.certificates.leave_one_out import leave_one_out_statement
from largemargin.certificates.margins import no_geometry
from largemargin.certificates.mistakes import MOST_SEPARATED, can_be_trained, separating_machine
from largemargin.certificates.rounding import (
    FEW,
    above,
    at_least,
    at_most,
    kernel_error,
    quotients,
    raised,
)
from largemargin.kernels.functions import UNIT
from largemargin.machines import card_of
from largemargin.runtime.arrays import MatrixLike, VectorLike

PAPER = "Crammer, Kandola & Singer 2003"
SIZE = Theorem("cache size", PAPER, "measured", counts=True)
BOUND = Theorem("cache bound", f"{PAPER}, theorem 1", "always", counts=True)


def cache_bound(radius: float, margin: float, gamma: float) -> float:
    """The cache bound: how many examples the aggressive perceptron stores at most.

    Parameters
    ----------
    radius : float
        R, the largest norm of an example.
    margin : float
        beta, of the aggressive perceptron.
    gamma : float
        The margin with which some unit vector separates the examples.

    Examples
    --------
    >>> cache_bound(1.0, 0.5, 0.25)
    32.0
    """
    if not gamma > 0:
        raise ValueError(f"gamma must be positive, got {gamma!r}: the data must be separable")
    exact = (Fraction(radius) ** 2 + 2 * Fraction(margin)) / Fraction(gamma) ** 2
    return above(exact)


def statements(
    model: Any, X: MatrixLike, y: VectorLike, asked: Asked
) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said of an online learner."""
    fitted = examine(model, X, y)
    own = [*cache_statements(fitted), leave_one_out_statement(fitted, asked.leave_one_out)]
    return feature_space_statements(fitted, own, asked)


def examine(model: Any, X: MatrixLike, y: VectorLike) -> Fitted:
    """An online learner beside data."""
    return examine_expansion(model, X, y, joint=True)


def cache_statements(fitted: Fitted) -> list[Statement]:
    """How many examples an online learner has stored, and the bound of that number."""
    model = fitted.model
    if fitted.silent:
        return [theorem.fails(fitted.silent, fitted.records) for theorem in (SIZE, BOUND)]
    largest = max([model.n_support_, *model.cache_sizes_[:, 1].tolist()])
    sentence = (
        "The largest number of examples that were stored at a recorded time; at the end there are "
        f"{model.n_support_}."
    )
    return [SIZE.says(largest, sentence), cache_bound_statement(fitted, largest)]


def cache_bound_statement(fitted: Fitted, largest: int) -> Statement:
    """The cache bound, theorem 1: `cache_bound` of this stream."""
    model = fitted.model
    distills = model.budget is None and model.policy in ("auto", "distill")
    conditions = [
        Condition(
            "the aggressive perceptron", card_of(model).name == "AggressivePerceptron",
            f"the theorem is about the aggressive perceptron, not {type(model).__name__}",
        ),
        Condition(
            "redundant examples are removed, without a budget", distills,
            "the theorem is about policy='distill', without a budget",
        ),
        Condition("two classes", not fitted.joint, "the theorem is about two classes"),
        Condition("the kernel is positive definite on the examples", not fitted.indefinite,
                  fitted.indefinite),
    ]  # fmt: skip
    refuted = BOUND.refuted_by(conditions)
    if refuted:
        return refuted
    gamma = best_margin(fitted)
    many = ", and there are too many for an SVM to look for one" * (len(fitted) > MOST_SEPARATED)
    separable = Condition(
        "some vector separates the data", gamma > 0,
        f"no vector that separates the data was found{many}",
    )  # fmt: skip
    conditions.append(separable)
    if not separable.holds:
        return BOUND.fails(separable.otherwise, conditions)
    bound = cache_bound(fitted.largest_radius, score_bound(fitted, largest), gamma)
    sentence = (
        f"At most {floor(bound):,} examples are stored at any time of this stream, since "
        f"a vector separates it with margin gamma = {at_least(gamma)}; the largest norm is R = "
        f"{at_most(fitted.largest_radius)} and beta = {model.margin:g}. At most {largest} "
        "were stored at a recorded time."
    )
    return BOUND.says(bound, sentence, conditions)


def score_bound(fitted: Fitted, largest: int) -> float:
    """The largest score at which an example was stored: beta, and the rounding of the scores of as
    many examples as were stored.
    """
    each = kernel_error(fitted.kernel, fitted.X, fitted.basis.dtype)
    error = largest * (each + (largest + FEW) * UNIT * fitted.largest_radius**2)
    return raised(float(fitted.model.margin) + error)


def best_margin(fitted: Fitted) -> float:
    """The largest smallest margin of a unit vector that was found, rounded down."""
    found = [-np.inf]
    if not no_geometry(fitted):
        nearest = fitted.functional[0].min() - fitted.score_errors[0]
        least, most = fitted.norm_bounds
        found.append(float(quotients(nearest, least[0], most[0])))
    if len(fitted) <= MOST_SEPARATED and can_be_trained(fitted):
        found.append(float(separating_machine(fitted).margins.min()))
    return max(found)
