"""The certificate of a model, by its family."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from largemargin.certificates import linear_programs, svm
from largemargin.certificates.boosting import boosting_statements
from largemargin.certificates.cache import cache_statements
from largemargin.certificates.capacity import (
    HARD,
    MARGIN,
    VC,
    capacity_statements,
    check_delta,
    check_positive,
    sum_norm_statement,
)
from largemargin.certificates.certificate import Certificate, Statement
from largemargin.certificates.fitted import (
    Fitted,
    checked,
    lead,
    numbers_of,
    recorded,
    signs_of,
)
from largemargin.certificates.leave_one_out import TRUE, true_statement
from largemargin.certificates.margins import (
    SMALLEST,
    Margins,
    error_statement,
    margin_statements,
    margins_of,
)
from largemargin.certificates.mistakes import perceptron_statements
from largemargin.certificates.optimality import hyperplane_statements
from largemargin.kernels.basis import Basis
from largemargin.kernels.functions import Linear


@contextmanager
def names_checked_once() -> Iterator[None]:
    """Rows that were checked are asked about without the names of their columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


@names_checked_once()
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
    from largemargin.boosting import AdaBoost, RBFNetwork

    check_delta(delta)
    check_positive("constant", constant)
    rhos = checked_rhos(rhos)
    if leave_one_out not in (True, False, "auto"):
        raise ValueError(f"leave_one_out must be True, False or 'auto', got {leave_one_out!r}")
    if len(getattr(model, "classes_", (0, 1))) < 2:
        n, statements = lonely_statements(model, X, y)
    elif isinstance(model, AdaBoost):
        n, statements = boosting_statements(model, X, y, rhos, float(delta), float(constant))
    elif isinstance(model, RBFNetwork):
        n, statements = network_statements(model, X, y)
    else:
        fitted = examine(model, X, y)
        n = len(fitted)
        statements = [
            *margin_statements(fitted, rhos),
            *family_statements(fitted, float(delta), leave_one_out),
            *capacity_statements(fitted, float(delta), float(constant)),
            *hyperplane_capacity(fitted, float(delta), float(constant)),
        ]
    return Certificate(type(model).__name__, n, float(delta), tuple(statements))


def lonely_statements(model: Any, X: Any, y: Any) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said of a stream that has had one class so far."""
    X, labels = checked(model, X, y)
    reason = f"the stream has had one class so far, {model.classes_.tolist()[0]!r}"
    theorems = (SMALLEST, TRUE, VC, MARGIN, HARD)
    right = np.zeros(len(labels), bool)  # there is no other class to answer with
    return len(labels), [error_statement(right), *(theorem.fails(reason) for theorem in theorems)]


def hyperplane_capacity(fitted: Fitted, delta: float, constant: float) -> list[Statement]:
    """What is said of hyperplanes among the features, by the sum of their weights."""
    from largemargin.hyperplane import MaxMarginHyperplane

    linear = isinstance(fitted.model, MaxMarginHyperplane)
    return [sum_norm_statement(fitted, delta, constant)] if linear else []


def checked_rhos(rhos: Any) -> list[float]:
    values = [float(rho) for rho in np.atleast_1d(np.asarray(rhos, float)).ravel()]
    if not np.isfinite(values).all():
        raise ValueError(f"rhos must be finite numbers, got {rhos!r}")
    return list(dict.fromkeys(values))


def family_statements(fitted: Fitted, delta: float, leave_one_out: bool | str) -> list[Statement]:
    """What is said of the machines of one family only."""
    from largemargin.lp.estimator import LinearProgramMachine
    from largemargin.online.estimator import OnlineLearner
    from largemargin.perceptron import VotedPerceptron
    from largemargin.svm.estimator import SupportVectorMachine

    model = fitted.model
    if isinstance(model, SupportVectorMachine):
        return svm.svm_statements(fitted, leave_one_out)
    if isinstance(model, LinearProgramMachine):
        return linear_programs.program_statements(fitted, delta, leave_one_out)
    if isinstance(model, VotedPerceptron):
        own = perceptron_statements(fitted)
    elif isinstance(model, OnlineLearner):
        own = cache_statements(fitted)
    else:
        own = hyperplane_statements(model, fitted.records[1])
    return [*own, true_statement(fitted, leave_one_out)]


def examine(model: Any, X: Any, y: Any) -> Fitted:
    """A model that is linear in some feature space, beside data."""
    from largemargin.perceptron import VotedPerceptron

    X, labels = checked(model, X, y)
    if isinstance(model, VotedPerceptron):
        return _perceptron(model, X, labels)
    if not hasattr(model, "_expansion"):
        return _hyperplane(model, X, labels)
    return _expansion(model, X, labels)


def _perceptron(model: Any, X: Any, labels: np.ndarray) -> Fitted:
    state = model.state
    signs = signs_of(labels, len(model.classes_))
    coefs = model.coefficients()
    scores = model.decision_function(X)
    several = (
        f"method={model.method!r} decides with many vectors, not with one"
        if model.method in ("vote", "random")
        else ""
    )
    return Fitted(
        model, X, labels, numbers_of(model, scores), signs,
        scores[None] if scores.ndim == 1 else scores.T, state.kernel, state.basis, coefs,
        np.zeros(len(signs)), recorded(model, X, labels), one_vector=several,
    )  # fmt: skip


def _expansion(model: Any, X: Any, labels: np.ndarray) -> Fitted:
    from largemargin.online.estimator import OnlineLearner

    expansion, n_classes = model._expansion, len(model.classes_)
    if n_classes < 2:
        raise ValueError(
            f"margins need a model of two classes, got {model.classes_.tolist()}: go on with the "
            "stream"
        )
    online = isinstance(model, OnlineLearner)
    signs = signs_of(labels, n_classes, getattr(model, "_by_pairs", False))
    scores = model.problem_scores(X)
    together = online or getattr(model, "multiclass", "ovr") == "crammer-singer"
    return Fitted(
        model, X, labels, numbers_of(model, model.join_scores(scores)), signs, scores,
        expansion.basis.kernel, expansion.basis, expansion.coefs, expansion.intercepts,
        recorded(model, X, labels), joint=together and n_classes > 2,
    )  # fmt: skip


def _hyperplane(model: Any, X: Any, labels: np.ndarray) -> Fitted:
    """A linear classifier that keeps no examples: expanded in its own normal vectors."""
    signs = signs_of(labels, len(model.classes_))
    basis = Basis(Linear(), np.dtype(float))
    basis.add(np.asarray(model.coef_, float), np.arange(len(model.coef_)))
    scores = model.decision_function(X)
    return Fitted(
        model, X, labels, numbers_of(model, scores), signs,
        scores[None] if scores.ndim == 1 else scores.T, basis.kernel, basis,
        np.eye(len(model.coef_)), np.asarray(model.intercept_, float), recorded(model, X, labels),
    )  # fmt: skip


def network_statements(model: Any, X: Any, y: Any) -> tuple[int, list[Statement]]:
    """The number of examples, and the little that is known of a network."""
    X, labels = checked(model, X, y)
    scores = model.decision_function(X)
    sentence = "The smallest y f(x) of an example; negative if it is misclassified."
    records = recorded(model, X, labels)
    unknown = "the capacity of networks with moving centres is not known"
    return len(labels), [
        error_statement(numbers_of(model, scores) != labels),
        SMALLEST.says(float(score_margins(scores, labels).min()), sentence),
        *(theorem.fails(unknown, records) for theorem in (VC, MARGIN, HARD)),
    ]


def score_margins(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """y f(x), or the lead of the true class, from what `decision_function` gives."""
    if scores.ndim == 1:
        return np.where(labels == 1, scores, -scores)
    return lead(scores.T, labels)


@names_checked_once()
def margins_found(model: Any, X: Any, y: Any) -> Margins:
    """See `margins`."""
    from largemargin.boosting import AdaBoost, RBFNetwork

    if not isinstance(model, AdaBoost | RBFNetwork):
        return margins_of(examine(model, X, y))
    X, labels = checked(model, X, y)
    found = score_margins(model.decision_function(X), labels)
    return Margins([found], None, np.nan, f"{type(model).__name__} has no feature space")
