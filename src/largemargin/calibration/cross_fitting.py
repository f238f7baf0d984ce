"""Scores of training rows by machines that were trained without them.

The rows of each class are dealt out to five folds, and each fold is scored by a machine trained on
the others. The fold of a row depends on its numbers alone: equal rows are in the same fold, so that
none is scored by a machine that has seen its copy, a weight of 2 is a row twice, and the order of
rows does not matter. A class of few different rows makes for fewer folds.

Support vector machines train all folds together, over the same kernel rows; other machines are
fitted again on each part. All folds have the parameters of the machine itself.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from largemargin.base.classifier import checked_weights
from largemargin.base.fingerprint import row_hashes
from largemargin.base.labels import numbers_in
from largemargin.calibration.calibration import Calibration, fit_calibration, scores_of
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.progress import Part, clock
from largemargin.runtime.showing import shown

FOLDS = 5


@dataclass(frozen=True)
class Examples:
    """Rows of positive weight; `labels` are numbers of the model's classes."""

    X: Matrix
    y: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    precomputed: bool

    def part(self, rows: np.ndarray, against: np.ndarray) -> Matrix:
        """Some rows, of a kernel matrix their values against others."""
        return self.X[np.ix_(rows, against)] if self.precomputed else self.X[rows]


def cross_fitted(
    model: Any, X: MatrixLike, y: VectorLike, sample_weight: VectorLike, seconds: float | None
) -> Calibration | None:
    """The calibration of a model that was fitted on these rows; None if it was interrupted.

    `seconds` is the time that all folds may take, None is no limit.
    """
    examples = _examples(model, X, y, sample_weight)
    folds = assign_folds(examples.X, examples.labels, model.classes_)
    try:
        with warnings.catch_warnings():  # the machine itself has said what there is to say
            warnings.simplefilter("ignore")
            if type(model).__module__ in ("largemargin.svm.svc", "largemargin.svm.nu_svc"):
                scores = _trained_together(model, examples, folds, seconds)
            else:
                scores = _fitted_again(model, examples, folds, seconds)
    except KeyboardInterrupt:
        return None
    n_folds = int(folds.max()) + 1
    return fit_calibration(model, scores, examples.labels, examples.weights, n_folds)


def _examples(model: Any, X: MatrixLike, y: VectorLike, sample_weight: VectorLike) -> Examples:
    X, y = clone(model).validate(X, y)
    weights = checked_weights(X, y, sample_weight)
    precomputed = bool(getattr(model, "precomputed", False))
    there = np.flatnonzero(weights > 0)
    if len(there) < len(y):  # weight 0 is absence
        X = X[np.ix_(there, there)] if precomputed else X[there]
        y, weights = y[there], weights[there]
    return Examples(X, y, numbers_in(model.classes_, y), weights, precomputed)


def assign_folds(X: Matrix, labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The number of each row's fold, with different rows of a class in all of them."""
    hashes = row_hashes(X)
    places = np.empty(len(labels), np.int64)
    n_folds = FOLDS
    for c, name in enumerate(classes.tolist()):
        rows = np.flatnonzero(labels == c)
        different, places[rows] = np.unique(hashes[rows], return_inverse=True)
        places[rows] += c  # so that classes of few rows are not all in the first folds
        n_folds = min(n_folds, len(different))
        if n_folds < 2:
            raise ValueError(
                "calibrate=True holds out a part of each class in turn, and all rows of class "
                f"{shown(name)} are equal ({len(rows)} in number): give more rows of it, or leave "
                "calibrate out"
            )
    return np.asarray(places % n_folds)


def _trained_together(
    model: Any, examples: Examples, folds: np.ndarray, seconds: float | None
) -> np.ndarray:
    from largemargin.svm.cross_validation import held_out_scores

    one = _machine(model, seconds)
    return held_out_scores(one, examples.X, examples.y, examples.weights, folds)


def _fitted_again(
    model: Any, examples: Examples, folds: np.ndarray, seconds: float | None
) -> np.ndarray:
    start, n_folds = clock(), int(folds.max()) + 1
    weighted = has_fit_parameter(model, "sample_weight")
    scores: np.ndarray | None = None
    for fold in range(n_folds):
        left = None if seconds is None else (seconds - (clock() - start)) / (n_folds - fold)
        one = _machine(model, left)
        one._part = part = Part(1.0)
        kept, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        given = {"sample_weight": examples.weights[kept]} if weighted else {}
        one.fit(examples.part(kept, kept), examples.y[kept], **given)
        if part.interrupted:
            raise KeyboardInterrupt
        found = scores_of(one, examples.part(held_out, kept))
        if scores is None:
            scores = np.empty((len(folds), *found.shape[1:]))
        scores[held_out] = found
    assert scores is not None
    return scores


def _machine(model: Any, seconds: float | None) -> Any:
    """A machine like this one, to be trained on a part of its data in so many seconds."""
    limit = None if seconds is None else max(seconds, 1e-3)
    return clone(model).set_params(calibrate=False, verbose=0, max_seconds=limit)
