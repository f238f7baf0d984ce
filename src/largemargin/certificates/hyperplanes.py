"""What is said of a hyperplane among the features themselves: its distance from the examples in its
own norm, and the margin bound for weights with a bounded sum, theorem 1.9.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.certificates.certificate import Condition, Statement, Theorem
from largemargin.certificates.covering import sum_norm_margin_bound
from largemargin.certificates.feature_space import (
    BOOK,
    Asked,
    capacity_conditions,
    constant_words,
    covering_statement,
    feature_space_statements,
    has_threshold,
    rows_of,
)
from largemargin.certificates.fitted import Fitted, checked, numbers_of, recorded, signs_of
from largemargin.certificates.leave_one_out import leave_one_out_statement
from largemargin.certificates.optimality import gap_statement
from largemargin.certificates.rounding import FEW, at_most, total
from largemargin.kernels.basis import Basis
from largemargin.kernels.functions import UNIT, Linear
from largemargin.runtime.arrays import MatrixLike, VectorLike

SUM_NORM = Theorem(
    "sum-norm margin bound", f"{BOOK}, theorems 1.4, 1.5 (1.41) and 1.9", "probability", True
)
DISTANCE = Theorem("distance in the norm", f"{BOOK}, section 1.1.4", "measured")


def statements(
    model: Any, X: MatrixLike, y: VectorLike, asked: Asked
) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said of `MaxMarginHyperplane`."""
    fitted = examine(model, X, y)
    own = [
        *hyperplane_statements(model, fitted.records[1]),
        leave_one_out_statement(fitted, asked.leave_one_out),
    ]
    n, found = feature_space_statements(fitted, own, asked)
    return n, [*found, sum_norm_statement(fitted, asked.delta, asked.constant)]


def examine(model: Any, X: MatrixLike, y: VectorLike) -> Fitted:
    """A linear classifier that keeps no examples: expanded in its own normal vectors."""
    X, labels = checked(model, X, y)
    signs = signs_of(labels, len(model.classes_))
    basis = Basis(Linear(), np.dtype(float))
    basis.add(np.asarray(model.coef_, float), np.arange(len(model.coef_)))
    scores = model.decision_function(X)
    return Fitted(
        model, X, labels, numbers_of(model, scores), signs, rows_of(scores), basis.kernel, basis,
        np.eye(len(model.coef_)), np.asarray(model.intercept_, float), recorded(model, X, labels),
    )  # fmt: skip


def hyperplane_statements(model: Any, unchanged: Condition) -> list[Statement]:
    """The duality gap, and the distance in the norm, if the parameters are those of training."""
    nearest = np.asarray(model.margin_, float)
    if not np.isfinite(nearest).all():
        return [gap_statement(model), DISTANCE.fails("w = 0: there is no hyperplane")]
    if unchanged.silences:
        return [gap_statement(model), DISTANCE.fails(unchanged.otherwise, [unchanged])]
    sentence = (
        "The smallest y (w.x + b)/|w|_p of a training example, which is its distance to the "
        f"hyperplane in the norm conjugate to p = {model.norm:g}; it is negative on the wrong side."
    )
    return [
        gap_statement(model),
        DISTANCE.says(float(nearest.min()), sentence, by_problem=nearest),
    ]


def sum_norm_statement(fitted: Fitted, delta: float, constant: float) -> Statement:
    """The sum-norm margin bound, theorem 1.9: `sum_norm_margin_bound` for a hyperplane."""
    weights, b = np.asarray(fitted.model.coef_, float), fitted.thresholds
    largest = float(abs(fitted.X).max())
    lengths = np.abs(weights).sum(axis=1) * largest + np.abs(b)  # a threshold is a coordinate of 1
    conditions = [
        *capacity_conditions(fitted),
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
    return covering_statement(
        SUM_NORM, each, conditions,
        f"The error is at most {at_most(total(each))} with probability {1 - delta:g}: this is the "
        f"margin error at the best rho of 1, 1/2, 1/4, ..., where {N} coordinates are at most 1 "
        "and the weights sum to 1, plus a capacity term from covering numbers, "
        f"{constant_words(constant, P, delta)}.",
    )  # fmt: skip
