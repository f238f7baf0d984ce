"""The certificate and the margins of a model, by its family: the card of a machine names the module
that has its statements.

Such a module has two names.

    statements(model, X, y, asked) -> (n_examples, list of Statement)
    examine(model, X, y) -> Fitted; None takes the place of this function where there are no margins
                            in a feature space

y is None for a machine that learns without labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from largemargin.certificates.certificate import Certificate, Statement
from largemargin.certificates.covering import check_delta, check_positive
from largemargin.certificates.feature_space import HARD_MARGIN, MARGIN, VC, Asked
from largemargin.certificates.fitted import Fitted, checked
from largemargin.certificates.leave_one_out import LEAVE_ONE_OUT_ERROR
from largemargin.certificates.margins import (
    SMALLEST,
    Margins,
    error_statement,
    margins_of,
    score_margins,
)
from largemargin.machines import CLASSIFIER, card_of, room
from largemargin.runtime.arrays import MatrixLike, VectorLike


@contextmanager
def names_checked_once() -> Iterator[None]:
    """Rows that were checked are asked about without the names of their columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


@names_checked_once()
def certificate(
    model: Any,
    X: MatrixLike,
    y: VectorLike,
    *,
    delta: float = 0.05,
    constant: float = 1.0,
    rhos: Iterable[float] = (0.1,),
    leave_one_out: bool | str = "auto",
) -> Certificate:
    """What the theory says of a fitted model; see the `certificate` method of the estimators."""
    check_delta(delta)
    check_positive("constant", constant)
    asked = Asked(float(delta), float(constant), checked_rhos(rhos), leave_one_out)
    if leave_one_out not in (True, False, "auto"):
        raise ValueError(f"leave_one_out must be True, False or 'auto', got {leave_one_out!r}")
    if len(getattr(model, "classes_", (0, 1))) < 2:
        n, found = single_class_statements(model, X, y)
    else:
        n, found = room(card_of(model).statements).statements(model, X, y, asked)
    return Certificate(type(model).__name__, n, asked.delta, tuple(found))


def single_class_statements(
    model: Any, X: MatrixLike, y: VectorLike
) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said of a stream that has had one class so far."""
    X, labels = checked(model, X, y)
    reason = f"the stream has had one class so far, {model.classes_.tolist()[0]!r}"
    theorems = (SMALLEST, LEAVE_ONE_OUT_ERROR, VC, MARGIN, HARD_MARGIN)
    right = np.zeros(len(labels), bool)  # there is no other class to answer with
    return len(labels), [error_statement(right), *(theorem.fails(reason) for theorem in theorems)]


def checked_rhos(rhos: VectorLike) -> list[float]:
    """The margins at which margin errors are asked for, each once."""
    values = [float(rho) for rho in np.atleast_1d(np.asarray(rhos, float)).ravel()]
    if not np.isfinite(values).all():
        raise ValueError(f"rhos must be finite numbers, got {rhos!r}")
    return list(dict.fromkeys(values))


def examine(model: Any, X: MatrixLike, y: VectorLike) -> Fitted:
    """A model that is linear in some feature space, beside data."""
    fitted: Fitted = room(card_of(model).statements).examine(model, X, y)
    return fitted


@names_checked_once()
def margins(model: Any, X: MatrixLike, y: VectorLike) -> Margins:
    """The margins of a fitted model on the rows of X, whether or not it was trained on them.

    Parameters
    ----------
    model : fitted estimator of this package
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)

    Returns
    -------
    Margins

    Examples
    --------
    >>> from largemargin import SVC
    >>> X, y = np.array([[0.0, 0.0], [3.0, 4.0]]), ["left", "right"]
    >>> model = SVC(kernel="linear", C=np.inf).fit(X, y)
    >>> found = margins(model, X, y)
    >>> [one.round(6).tolist() for one in found.geometric], found.radius
    ([[2.5, 2.5]], 5.0)
    """
    if card_of(model).kind != CLASSIFIER:
        raise ValueError(
            f"margins are those of a classifier, and {type(model).__name__} learns without labels"
        )
    if room(card_of(model).statements).examine is not None:
        return margins_of(examine(model, X, y))
    X, labels = checked(model, X, y)
    found = score_margins(model.decision_function(X), labels)
    return Margins([found], None, np.nan, f"{type(model).__name__} has no feature space")
