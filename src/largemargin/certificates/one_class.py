"""What is said of a machine that learns without labels: the nu-property, and how optimal it is.

    share of training rows outside  <=  nu  <=  share of training rows that are support vectors

The coefficients are at most 1 each and sum to nu m, so at least nu m rows have one. The threshold
is the quantile of the scores that nu names, so at most nu m rows are below it, whether the fit is
optimal or not. Both are counted all the same; a row whose score is within rounding of the threshold
is on the boundary, and counts as inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from largemargin.base.training_set import unlabelled
from largemargin.certificates.certificate import Condition, Statement, Theorem
from largemargin.certificates.feature_space import Asked
from largemargin.certificates.fitted import Fitted, recorded
from largemargin.certificates.optimality import gap_statement, is_optimal
from largemargin.runtime.arrays import MatrixLike, VectorLike

SOURCE = "Schoelkopf et al. 2001, proposition 3"
OUTLIERS = Theorem("outliers", "counted", "measured")
OUTSIDE = Theorem("nu-property, outliers", SOURCE, "always")
SUPPORT = Theorem("nu-property, support vectors", SOURCE, "always", bounds_from="below")
SAME_SHARE = 1e-12  # shares that differ by this fraction are the same

examine = None  # there are no margins without labels


def statements(
    model: Any, X: MatrixLike, y: VectorLike, asked: Asked
) -> tuple[int, list[Statement]]:
    """The number of rows, and what is said of `OneClassSVM`."""
    fitted = _beside(model, X)
    decision, error = fitted.scores[0], fitted.score_errors[0]
    n, below = len(fitted), int((decision < 0).sum())
    outside, near = int((decision < -error).sum()), int((np.abs(decision) <= error).sum())
    sentence = f"{below:,} of these {n:,} rows are outside"
    sentence += f"; the scores of {near} are on the boundary, apart from rounding." if near else "."
    return n, [
        OUTLIERS.says(below / n, sentence),
        _outside(fitted, outside),
        _support(fitted),
        gap_statement(model, fitted.indefinite_in_training),
    ]


def _beside(model: Any, X: MatrixLike) -> Fitted:
    """The model beside rows, which are one class."""
    check_is_fitted(model)
    X = model.validate(X, reset=False)
    labels, expansion = unlabelled(X), model.expansion
    return Fitted(
        model, X, labels, labels, np.ones((1, len(labels))), model.problem_scores(X),
        expansion.basis.kernel, expansion.basis, expansion.coefs, expansion.intercepts,
        recorded(model, X, labels),
    )  # fmt: skip


def _outside(fitted: Fitted, outside: int) -> Statement:
    n, nu = len(fitted), float(fitted.model.nu)
    counted = f"{outside:,} of {n:,} are"
    conditions = [
        *fitted.records,
        is_optimal(fitted.model),
        Condition("the count agrees", outside <= nu * n * (1 + SAME_SHARE), counted),
    ]
    sentence = (
        f"At most a share nu of the training rows is outside, apart from rounding: {counted}."
    )
    return OUTSIDE.refuted_by(conditions) or OUTSIDE.says(nu, sentence, conditions)


def _support(fitted: Fitted) -> Statement:
    n, nu, used = len(fitted), float(fitted.model.nu), int(fitted.model.n_support_)
    counted = f"{used:,} of {n:,} are"
    conditions = [
        *fitted.records,
        Condition("the count agrees", used >= nu * n * (1 - SAME_SHARE), counted),
    ]
    sentence = f"At least a share nu of the training rows are support vectors: {counted}."
    return SUPPORT.refuted_by(conditions) or SUPPORT.says(nu, sentence, conditions)
