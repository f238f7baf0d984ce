"""What is said of a hyperplane among the features themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.certificates.capacity import sum_norm_statement
from largemargin.certificates.certificate import Statement
from largemargin.certificates.feature_space import Asked, feature_space_statements, rows_of
from largemargin.certificates.fitted import Fitted, checked, numbers_of, recorded, signs_of
from largemargin.certificates.leave_one_out import true_statement
from largemargin.certificates.optimality import gap_statement
from largemargin.certificates.theorem import Condition, Theorem
from largemargin.kernels.basis import Basis
from largemargin.kernels.functions import Linear

NEAREST = Theorem(
    "distance in the norm", "Advances in Large Margin Classifiers, section 1.1.4", "measured"
)


def statements(model: Any, X: Any, y: Any, asked: Asked) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said of `MaxMarginHyperplane`."""
    fitted = examine(model, X, y)
    own = [
        *hyperplane_statements(model, fitted.records[1]),
        true_statement(fitted, asked.leave_one_out),
    ]
    n, found = feature_space_statements(fitted, own, asked)
    return n, [*found, sum_norm_statement(fitted, asked.delta, asked.constant)]


def examine(model: Any, X: Any, y: Any) -> Fitted:
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
    """For `MaxMarginHyperplane`, whose parameters must be those of training."""
    nearest = np.asarray(model.margin_, float)
    if not np.isfinite(nearest).all():
        return [gap_statement(model), NEAREST.fails("w = 0: there is no hyperplane")]
    if unchanged.silences:
        return [gap_statement(model), NEAREST.fails(unchanged.otherwise, [unchanged])]
    sentence = (
        "The smallest y (w.x + b)/|w|_p of a training example: its distance to the hyperplane in "
        f"the norm that is conjugate to p = {model.norm:g}, negative on the wrong side."
    )
    return [
        gap_statement(model),
        NEAREST.says(float(nearest.min()), sentence, by_problem=nearest),
    ]
