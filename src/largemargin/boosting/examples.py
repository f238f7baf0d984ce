"""The examples that a fit is about: those of positive weight, and their classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largemargin.base.classifier import Classifier, checked_weights
from largemargin.base.fingerprint import Fingerprint
from largemargin.base.labels import find_classes, too_few
from largemargin.base.training_set import fingerprint_of
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike


@dataclass(frozen=True)
class Examples:
    """Rows of X with positive weight, in the order given; `labels` are numbers of `classes`. The
    fingerprint is that of all rows given.
    """

    X: Matrix
    y: np.ndarray
    weights: np.ndarray
    labels: np.ndarray
    classes: np.ndarray
    fingerprint: Fingerprint

    @classmethod
    def of(
        cls, model: Classifier, X: MatrixLike, y: VectorLike, sample_weight: VectorLike
    ) -> Examples:
        """The examples that `fit` of a model was given, checked."""
        X, y = model.validate(X, y)
        weights = checked_weights(X, y, sample_weight)
        given = X, y, weights
        there = np.flatnonzero(weights > 0)
        if len(there) < len(y):  # weight 0 is absence
            X, y, weights = X[there], y[there], weights[there]
        classes, labels = find_classes(y)
        if len(classes) < 2:
            raise too_few(type(model).__name__, classes, sample_weight is not None)
        known = fingerprint_of(*given, classes, labels)
        return cls(X, y, weights, labels, classes, known)
