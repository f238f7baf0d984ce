"""`fit_report`: the page about a fitted model, from arrays."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array

from largemargin.base.labels import numbers_in
from largemargin.report.fit.content import FitReport
from largemargin.report.fit.describing import describe_fit
from largemargin.report.fit.notes import known_notes
from largemargin.report.fit.outcome import Rows
from largemargin.report.templates import environment
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.showing import listed, shown

LABELS_SHOWN = 10  # labels of the model in a sentence


def fit_report(
    model: Any,
    X_test: MatrixLike | None = None,
    y_test: VectorLike | None = None,
    X_train: MatrixLike | None = None,
    y_train: VectorLike | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    name: str | None = None,
    info: dict[str, Any] | None = None,
) -> FitReport:
    """Measure a fitted model and make a page about it.

    The page is the one that ``largemargin train --report`` writes: the test error with its
    interval, confusions, margins, learning curves, the certificate, the hardest examples and what
    was found in training. It is one HTML file that needs nothing else.

    Parameters
    ----------
    model : classifier
        Fitted: one of this package, or a pipeline or a search that ends in one.
    X_test : array, sparse matrix or data frame of shape (n_samples, n_features), default=None
        Rows to test on. Without them the error is that of the training set, and the page says so.
    y_test : array of shape (n_samples,), default=None
        Their labels. One that the model does not know counts as an error.
    X_train, y_train : as X_test and y_test, default=None
        What the model was trained on. Without it there is no certificate.
    feature_names : list of str, default=None
        Names of the columns; None is those of the data frame that the model was trained on.
    name : str, default=None
        What to call the data on the page.
    info : dict, default=None
        Notes of the training to show: ``largemargin.describe(file)["info"]`` for a model that
        `largemargin train` wrote.

    Returns
    -------
    report : FitReport
        With the page as `html`, and `save(path)`. A notebook shows it.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If there are no labelled rows, or they are not such as the model was trained on; or if
        jinja2 is missing.

    See Also
    --------
    plot_decision : A picture of a classifier of two features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> from largemargin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    >>> report = fit_report(SVC().fit(X, y), X_test, y_test, X, y, name="iris")
    >>> report
    FitReport(SVC on iris: test error 2.63 % (0.06 to 13.81))
    >>> report.html[:15]
    '<!doctype html>'

    ``report.save("iris.html")`` writes the page to a file.
    """
    environment()  # jinja2 is missed before the work, not after it
    model = _checked_model(model)
    notes = known_notes(model, {**(info or {}), **({"data": name} if name else {})})
    if feature_names is not None:
        notes["feature_names"] = _checked_names(model, feature_names)
    data = str(notes.get("data") or "")
    tested = f"the test set of {data}" if data else "the test set"
    test = _rows(model, tested, X_test, y_test, "test")
    training = _rows(model, data or "the training set", X_train, y_train, "train")
    if training is not None and (training.truth < 0).any():
        raise ValueError(
            "y_train has labels that the model does not know, so it was not trained on it"
        )
    with warnings.catch_warnings():
        # the columns have been compared already
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return describe_fit(model, test=test, training=training, info=notes)


def _checked_model(model: Any) -> Any:
    """The model, inside a search the best one; it must be fitted, and one of this package."""
    model = getattr(model, "best_estimator_", model)
    final = model[-1] if hasattr(model, "steps") else model
    if not hasattr(final, "certificate"):
        raise ValueError(
            "model must be a classifier of largemargin, or a pipeline or a search that ends in "
            f"one, got {shown(model)}"
        )
    if not hasattr(final, "classes_"):
        raise NotFittedError(
            f"this {type(final).__name__} is not fitted: call its fit before fit_report"
        )
    return model


def _checked_names(model: Any, feature_names: Sequence[str]) -> list[str]:
    names = [str(one) for one in feature_names]
    if len(names) != model.n_features_in_:
        raise ValueError(
            f"feature_names has {len(names)} names, and the model was trained with "
            f"{model.n_features_in_} features: give one name for each"
        )
    return names


def _rows(
    model: Any, name: str, X: MatrixLike | None, y: VectorLike | None, which: str
) -> Rows | None:
    """Labelled rows, with the class numbers of their labels; None if none are given."""
    if X is None and y is None:
        return None
    if y is None:
        raise ValueError(f"X_{which} has no labels to compare with: give y_{which} as well")
    if X is None:
        raise ValueError(f"y_{which} has no rows that it belongs to: give X_{which} as well")
    rows = _checked_rows(model, X, f"X_{which}")
    numbers = numbers_in(model.classes_, y)
    if numbers.shape != (rows.shape[0],):
        raise ValueError(
            f"X_{which} has {rows.shape[0]} rows, and y_{which} is of shape {numbers.shape}: give "
            "one label for each row"
        )
    if not (numbers >= 0).any():
        known = listed(model.classes_.tolist(), LABELS_SHOWN)
        raise ValueError(f"the labels of y_{which} are not those the model knows, {known}")
    return Rows(name, rows, numbers)


def _checked_rows(model: Any, X: MatrixLike, which: str) -> Matrix:
    """Numbers in an array or a CSR matrix, in the columns that the model was trained with."""
    trained = getattr(model, "feature_names_in_", None)
    if trained is not None and hasattr(X, "columns") and list(X.columns) != list(trained):
        raise ValueError(
            f"the columns of {which} are {listed(list(X.columns))}, and the model was trained with "
            f"{listed(list(trained))}: give the same columns in the same order"
        )
    rows = check_array(X, accept_sparse="csr", dtype="numeric", input_name=which)
    if rows.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{which} has {rows.shape[1]} features, and the model was trained with "
            f"{model.n_features_in_}: give the same features"
        )
    return np.asarray(rows) if isinstance(rows, np.ndarray) else rows
