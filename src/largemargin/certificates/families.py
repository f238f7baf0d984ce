"""The certificate of a model, by its family."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from largemargin.certificates.capacity import capacity_statements, check_delta, check_positive
from largemargin.certificates.certificate import Certificate, Statement
from largemargin.certificates.fitted import (
    Fitted,
    checked,
    numbers_of,
    signs_of,
    why_foreign,
)
from largemargin.certificates.leave_one_out import true_statement
from largemargin.certificates.margins import margin_statements


def certificate(
    model: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 0.05,
    constant: float = 1.0,
    rhos: Iterable[float] = (0.1,),
    leave_one_out: bool | str = "auto",
) -> Certificate:
    """What the theory says of a fitted model; see the `certificate` method of the estimators."""
    check_delta(delta)
    check_positive("constant", constant)
    rhos = checked_rhos(rhos)
    if leave_one_out not in (True, False, "auto"):
        raise ValueError(f"leave_one_out must be True, False or 'auto', got {leave_one_out!r}")
    fitted = examine(model, X, y)
    statements = [
        *margin_statements(fitted, rhos),
        *family_statements(fitted, leave_one_out),
        *capacity_statements(fitted, float(delta), float(constant)),
    ]
    return Certificate(type(model).__name__, len(fitted), float(delta), tuple(statements))


def checked_rhos(rhos: Any) -> list[float]:
    values = [float(rho) for rho in np.atleast_1d(np.asarray(rhos, float)).ravel()]
    if not np.isfinite(values).all():
        raise ValueError(f"rhos must be finite numbers, got {rhos!r}")
    return list(dict.fromkeys(values))


def examine(model: Any, X: Any, y: Any) -> Fitted:
    """A model beside data."""
    from largemargin.certificates.svm import with_weights_checked
    from largemargin.perceptron import VotedPerceptron
    from largemargin.svm.estimator import SupportVectorMachine

    X, labels = checked(model, X, y)
    if isinstance(model, VotedPerceptron):
        return _perceptron(model, X, labels)
    fitted = _expansion(model, X, labels)
    return with_weights_checked(fitted) if isinstance(model, SupportVectorMachine) else fitted


def _perceptron(model: Any, X: Any, labels: np.ndarray) -> Fitted:
    run = model._run
    signs = signs_of(labels, len(model.classes_))
    coefs = model._expansion()
    foreign = why_foreign(X, signs, run.n_seen, run.basis, coefs)
    scores = model.decision_function(X)
    several = (
        f"method={model.method!r} decides with many vectors, not with one"
        if model.method in ("vote", "random")
        else ""
    )
    return Fitted(
        model, X, labels, numbers_of(model, scores), signs,
        scores[None] if scores.ndim == 1 else scores.T, run.kernel, run.basis, coefs,
        np.zeros(len(signs)), one_vector=several, foreign=foreign,
    )  # fmt: skip


def _expansion(model: Any, X: Any, labels: np.ndarray) -> Fitted:
    expansion, n_classes = model._expansion, len(model.classes_)
    signs = signs_of(labels, n_classes, getattr(model, "_by_pairs", False))
    scores = model._problem_scores(X)
    joint = n_classes > 2 and getattr(model, "multiclass", "ovr") == "crammer-singer"
    foreign = why_foreign(X, signs, model._n_given, expansion.basis, expansion.coefs)
    return Fitted(
        model, X, labels, numbers_of(model, model._joined(scores)), signs, scores,
        expansion.basis.kernel, expansion.basis, expansion.coefs, expansion.intercepts,
        joint=joint, foreign=foreign,
    )  # fmt: skip


def family_statements(fitted: Fitted, leave_one_out: bool | str) -> list[Statement]:
    """What is said of machines of one family only."""
    from largemargin.certificates.mistakes import perceptron_statements
    from largemargin.certificates.svm import svm_statements
    from largemargin.perceptron import VotedPerceptron
    from largemargin.svm.estimator import SupportVectorMachine

    if isinstance(fitted.model, VotedPerceptron):
        return [*perceptron_statements(fitted), true_statement(fitted, leave_one_out)]
    if isinstance(fitted.model, SupportVectorMachine):
        return svm_statements(fitted, leave_one_out)
    return [true_statement(fitted, leave_one_out)]
