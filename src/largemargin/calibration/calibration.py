"""How the scores of a fitted classifier become probabilities.

    two classes      one sigmoid of the one score, the probability of the second class
    one score each   a sigmoid of each class's score, divided by their sum
    pairs            a sigmoid of each pair's score, and their coupling (`pairwise`)

Sigmoids of classes that are divided by their sum were compared with the softmax of scaled scores,
with one slope and with one per class, on six data sets and seven machines, among them those whose
scores of classes are meant to be compared only (Crammer and Singer's, MIRA). They had the smaller
loss on most, and the form of one score alone is that of two classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from largemargin.calibration.pairwise import couple, pairs_of, pairwise_of
from largemargin.calibration.platt import Sigmoid, fit_sigmoid, log_logistic
from largemargin.runtime.arrays import MatrixLike
from largemargin.runtime.showing import shown
from largemargin.runtime.threads import single_thread


@dataclass(frozen=True)
class Calibration:
    """The sigmoids of a model, and what they were made of.

    Attributes
    ----------
    slopes, offsets : arrays
        A and B of the sigmoids 1 / (1 + exp(A f + B)): of the one score of two classes, of each
        class's score, or of each pair's.
    n_rows : int
        Rows whose scores they were fitted to.
    n_folds : int
        Parts of the training data that were left out in turn; 0 if those rows were not part of it.
    read_with : dict
        The parameters that the scores were read off the model with.
    """

    slopes: np.ndarray
    offsets: np.ndarray
    n_rows: int
    n_folds: int
    read_with: Mapping[str, Any]

    def probabilities(self, scores: np.ndarray, by_pairs: bool) -> np.ndarray:
        """Of the classes, one row per row of scores."""
        if scores.ndim == 1:
            positive = Sigmoid(self.slopes[0], self.offsets[0])(scores)
            return np.column_stack([1.0 - positive, positive])
        if by_pairs:
            return couple(pairwise_of(scores, self.slopes, self.offsets))
        # the quotient of sigmoids, which may all be too small for a float
        return np.asarray(softmax(log_logistic(-(scores * self.slopes + self.offsets)), axis=1))


def n_sigmoids(n_classes: int, by_pairs: bool) -> int:
    """How many sigmoids so many classes have."""
    if n_classes == 2:
        return 1
    return n_classes * (n_classes - 1) // 2 if by_pairs else n_classes


def is_by_pairs(model: Any) -> bool:
    """Whether a fitted model has a score for each pair of several classes."""
    return bool(getattr(model, "by_pairs", False))


def scores_of(model: Any, X: MatrixLike) -> np.ndarray:
    """The scores that sigmoids are of: one per row, per class or per pair. A machine that was
    trained on a part of the data has them in the same unit.
    """
    if not is_by_pairs(model):
        return np.asarray(model.decision_function(X) / model.score_unit)
    with single_thread():
        return np.asarray(model.problem_scores(X).T)


def reading_of(model: Any) -> dict[str, Any]:
    """The parameters that scores are read off a model with."""
    return {name: getattr(model, name) for name in model.read_with}


def fit_calibration(
    model: Any, scores: np.ndarray, labels: np.ndarray, weights: np.ndarray, n_folds: int
) -> Calibration:
    """The calibration of a model from scores of rows, whose labels are numbers of its classes."""
    columns = scores[:, None] if scores.ndim == 1 else scores
    if scores.ndim == 1:
        sides = [(np.ones(len(labels), bool), 1)]
    elif is_by_pairs(model):
        sides = [((labels == i) | (labels == j), j) for i, j in pairs_of(len(model.classes_))]
    else:
        sides = [(np.ones(len(labels), bool), c) for c in range(len(model.classes_))]
    sigmoids = [
        fit_sigmoid(column[rows], labels[rows] == positive, weights[rows])
        for column, (rows, positive) in zip(columns.T, sides, strict=True)
    ]
    return Calibration(
        np.array([one.slope for one in sigmoids]), np.array([one.offset for one in sigmoids]),
        len(labels), n_folds, reading_of(model),
    )  # fmt: skip


def probabilities(model: Any, X: MatrixLike) -> np.ndarray:
    """What `predict_proba` of a fitted model answers."""
    calibration = model.calibration
    name = type(model).__name__
    remedy = "fit it again, or give rows that it has not seen to largemargin.calibrated"
    if calibration is None:
        raise ValueError(
            f"the scores of this {name} were not calibrated when it was fitted: {remedy}"
        )
    for parameter, value in calibration.read_with.items():
        if value != getattr(model, parameter):
            raise ValueError(
                f"the scores of this {name} were calibrated with {parameter}={shown(value)}, and "
                f"it is {shown(getattr(model, parameter))} now: {remedy}"
            )
    found: np.ndarray = calibration.probabilities(scores_of(model, X), is_by_pairs(model))
    return found
