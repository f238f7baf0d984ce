"""`largemargin.calibrated`: probabilities from rows that a fitted model has not seen."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from largemargin.base.classifier import checked_weights
from largemargin.base.fingerprint import fingerprint
from largemargin.base.labels import find_classes, numbers_in
from largemargin.base.pipelines import before_final_step, best_model, final_step
from largemargin.calibration.calibration import fit_calibration, scores_of
from largemargin.machines import CLASSIFIER, card_of
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.showing import shown


def calibrated(model: Any, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> Any:
    """A copy of a fitted model that has `predict_proba`, from rows that it has not seen.

    Sigmoids are fitted to the scores of these rows. Scores of training rows are no use for that,
    since the model has been fitted to them, so the data that it was trained on are refused. To
    train and to calibrate on the same rows, fit with `calibrate=True`.

    Parameters
    ----------
    model : estimator
        A fitted classifier of this library, or a scikit-learn `Pipeline` that ends in one.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Other rows than those of training, in the form that `model.predict` takes. For
        kernel="precomputed", their kernel values against the training examples.
    y : array of shape (n_samples,)
        Their labels. Every class of the model must occur.
    sample_weight : array of shape (n_samples,), optional
        A row of weight s counts as s rows.

    Returns
    -------
    estimator
        Of the same class. Scores and predictions are those of the model given.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> import largemargin
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = largemargin.SVC().fit(X[:300], y[:300])
    >>> sure = largemargin.calibrated(model, X[300:500], y[300:500])
    >>> sure.predict_proba(X[500:503]).round(2).tolist()
    [[0.05, 0.95], [0.95, 0.05], [0.0, 1.0]]
    """
    machine = _machine_of(model)
    rows = before_final_step(model, X)
    found = copy.deepcopy(machine)
    _calibrate(found, rows, y, sample_weight)
    if machine is model:
        return found
    whole = copy.copy(model)
    whole.steps = [*model.steps[:-1], (model.steps[-1][0], found)]
    return whole


def _machine_of(model: Any) -> Any:
    if best_model(model) is not model:
        raise TypeError(
            f"calibrated takes a fitted model, got a {type(model).__name__}: give its "
            "best_estimator_"
        )
    machine = final_step(model)
    try:
        kind = card_of(machine).kind
    except TypeError as error:
        raise TypeError(
            "calibrated takes a classifier of largemargin, or a pipeline that ends in one, got "
            f"{type(machine).__name__}: use sklearn.calibration.CalibratedClassifierCV for it"
        ) from error
    if kind != CLASSIFIER:
        raise TypeError(
            f"calibrated takes a classifier, got {type(machine).__name__}, which knows no classes"
        )
    if hasattr(machine, "to_local"):
        raise TypeError(
            f"calibrated takes a model of this process, got {type(machine).__name__}: give "
            "model.to_local()"
        )
    check_is_fitted(machine)
    return machine


def _calibrate(model: Any, X: MatrixLike, y: VectorLike, sample_weight: VectorLike) -> None:
    """Calibrate a model in place, with rows as it takes them."""
    if len(model.classes_) < 2:
        raise ValueError(
            f"this {type(model).__name__} has seen one class only, "
            f"{shown(model.classes_.tolist()[0])}: there is nothing to tell apart"
        )
    scores = scores_of(model, X)
    rows, y = _checked(model, X, y)
    labels = _labels(model, y)
    weights = checked_weights(rows, labels, sample_weight)
    _refuse_training_rows(model, rows, y)
    there = weights > 0
    missing = np.setdiff1d(np.arange(len(model.classes_)), labels[there])
    if len(missing):
        raise ValueError(
            f"there is no row of class {shown(model.classes_.tolist()[missing[0]])} to calibrate "
            "with: give rows of every class"
        )
    model.calibration = fit_calibration(
        model, scores[there], labels[there], weights[there], n_folds=0
    )


def _checked(model: Any, X: MatrixLike, y: VectorLike) -> tuple[Matrix, np.ndarray]:
    """Rows and labels as a fit would see them."""
    looking = copy.copy(model)  # it notes what it sees
    if not getattr(model, "precomputed", False):
        checked: tuple[Matrix, np.ndarray] = looking.validate(X, y)
        return checked
    values = np.asarray(X, np.float64)  # scores have been made of them
    return values, looking.validate(np.eye(len(values)), y)[1]


def _labels(model: Any, y: np.ndarray) -> np.ndarray:
    labels = numbers_in(model.classes_, y)
    if (labels < 0).any():
        strange = y[labels < 0].tolist()[0]
        raise ValueError(
            f"y holds the label {shown(strange)}, which is not among those of the training data"
        )
    return labels


def _refuse_training_rows(model: Any, X: Any, y: np.ndarray) -> None:
    record = model.training_record
    if record is None or record.data.n_rows != X.shape[0]:
        return
    if fingerprint(X, *find_classes(y)).rows == record.data.rows:
        raise ValueError(
            f"these {X.shape[0]} rows are those that this {type(model).__name__} was trained on, "
            "whose scores say nothing of new rows: give other rows, or fit with calibrate=True"
        )
