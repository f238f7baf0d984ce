"""Scores of training rows by machines that were trained without them.

The rows of each class are dealt out to five folds, and each fold is scored by a machine trained on
the others. The fold of a row depends on its numbers alone: equal rows are in the same fold, also
those of different classes, so that none is scored by a machine that has seen it, a weight of 2 is a
row twice, and the order of rows does not matter. Where few rows make no five folds, there are less.

Support vector machines train all folds over the same kernel rows; other machines are fitted again
on each part. All folds have the parameters of the machine itself, and equal shares of its time.
"""

from __future__ import annotations

import signal
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from largemargin.base.classifier import checked_weights
from largemargin.base.fingerprint import row_hashes
from largemargin.base.labels import find_classes
from largemargin.calibration.calibration import Calibration, fit_calibration, scores_of
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.progress import Part, clock
from largemargin.runtime.showing import shown

FOLDS = 5


class CrossFitting:
    """The rows that a model is trained on, and the folds that they are dealt out to.

    They are looked at before the fit, so that it is not made in vain where there can be no folds.
    """

    def __init__(
        self, model: Any, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None
    ) -> None:
        X, y = clone(model).validate(X, y)
        weights = checked_weights(X, y, sample_weight)
        self.precomputed = bool(getattr(model, "precomputed", False))
        there = np.flatnonzero(weights > 0)
        if len(there) < len(y):  # weight 0 is absence
            X = X[np.ix_(there, there)] if self.precomputed else X[there]
            y, weights = y[there], weights[there]
        self.X, self.y, self.weights = X, y, weights
        classes, self.labels = find_classes(y)
        # data of one class are refused by the fit
        self.folds = (
            assign_folds(X, self.labels, weights, classes) if len(classes) > 1 else self.labels
        )

    @property
    def n_folds(self) -> int:
        return int(self.folds.max()) + 1

    def calibration(self, model: Any, seconds: float | None) -> Calibration | None:
        """The calibration of the fitted model; None if it was interrupted.

        `seconds` is the time that all folds may take, None is no limit.
        """
        shared = type(model).__module__ in ("largemargin.svm.svc", "largemargin.svm.nu_svc")
        try:
            with warnings.catch_warnings():  # the machine itself has said what there is to say
                warnings.simplefilter("ignore")
                scores = (self._over_shared_rows if shared else self._fitted_again)(model, seconds)
        except KeyboardInterrupt:
            if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
                raise  # somebody else counts on it
            return None
        return fit_calibration(model, scores, self.labels, self.weights, self.n_folds)

    def _over_shared_rows(self, model: Any, seconds: float | None) -> np.ndarray:
        from largemargin.svm.cross_validation import held_out_scores

        return held_out_scores(_alike(model, seconds), self.X, self.y, self.weights, self.folds)

    def _fitted_again(self, model: Any, seconds: float | None) -> np.ndarray:
        start = clock()
        scores: list[np.ndarray] = []
        held_out = [np.flatnonzero(self.folds == fold) for fold in range(self.n_folds)]
        for done, rows in enumerate(held_out):
            left = seconds and (seconds - (clock() - start)) / (self.n_folds - done)
            scores.append(self._scores_without(rows, _alike(model, left)))
        order = np.argsort(np.concatenate(held_out))
        return np.asarray(np.concatenate(scores)[order])

    def _scores_without(self, rows: np.ndarray, one: Any) -> np.ndarray:
        """Scores of some rows by a machine that is trained on all others."""
        one.part = part = Part(1.0)
        kept = np.setdiff1d(np.arange(len(self.y)), rows)
        given = {}
        if has_fit_parameter(one, "sample_weight"):
            given["sample_weight"] = self.weights[kept]
        one.fit(self._rows(kept, kept), self.y[kept], **given)
        if part.interrupted:
            raise KeyboardInterrupt
        return scores_of(one, self._rows(rows, kept))

    def _rows(self, rows: np.ndarray, against: np.ndarray) -> Matrix:
        """Some rows, of a kernel matrix their values against others."""
        return self.X[np.ix_(rows, against)] if self.precomputed else self.X[rows]


def _alike(model: Any, seconds: float | None) -> Any:
    """A machine like this one, to be trained on a part of its data in so many seconds."""
    limit = None if seconds is None else max(seconds, 1e-3)
    return clone(model).set_params(calibrate=False, verbose=0, max_seconds=limit)


def assign_folds(
    X: Matrix, labels: np.ndarray, weights: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    """The number of each row's fold, such that every class is in two of them at least."""
    different, group = np.unique(row_hashes(X), return_inverse=True)
    totals = np.zeros((len(different), len(classes)))
    np.add.at(totals, (group, labels), weights)
    main = totals.argmax(axis=1)  # the class that a row of these numbers is of, mostly
    places = np.empty(len(different), np.int64)
    for c in range(len(classes)):
        mine = np.flatnonzero(main == c)
        places[mine] = np.arange(len(mine)) + c  # classes of few rows begin at different folds
    for n_folds in range(FOLDS, 1, -1):
        folds = np.unique(places % n_folds, return_inverse=True)[1][group]
        parts = [len(np.unique(folds[labels == c])) for c in range(len(classes))]
        if min(parts) > 1:
            return np.asarray(folds)
    short = int(np.argmin(parts))
    raise ValueError(
        "calibrate=True holds out a part of each class in turn, and class "
        f"{shown(classes.tolist()[short])} cannot be parted, with {(labels == short).sum()} rows: "
        "give more rows of it, or leave calibrate out"
    )
