"""What a kernel machine is trained on: the examples that count, their weights and their kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.base.classifier import checked_weights
from largemargin.base.fingerprint import Fingerprint, fingerprint, row_hashes
from largemargin.base.labels import find_classes, too_few
from largemargin.kernels.choosing import kernel_of
from largemargin.kernels.engine import SMALL_PROBLEM, choose_dtype, prepare
from largemargin.runtime.arrays import Matrix, VectorLike, taken
from largemargin.runtime.showing import shown


class TrainingSet:
    """Examples of positive weight, in the order given, with the kernel that they are seen through.

    Parameters
    ----------
    model : estimator
        Whose kernel parameters, precision and class weights are meant.
    y : array or None
        None is no labels: then all examples are of one class.

    Attributes
    ----------
    X, given : array or sparse matrix
        The rows, as the engine reads them and as they were given.
    all_rows, all_labels : array or sparse matrix, array
        Those of all examples, also of weight 0.
    row_hashes : array
        A hash of each row, which is the same for equal rows.
    has_copies : bool
        Whether an example may stand for several, among which its coefficient will be shared.
    """

    has_copies = False

    def __init__(
        self, model: Any, X: Matrix, y: np.ndarray | None, sample_weight: VectorLike = None
    ) -> None:
        weights = checked_weights(X, y, sample_weight)
        labelled = y is not None
        y = unlabelled(X) if y is None else y
        self.n_given, self.all_rows, self.all_labels = len(y), X, y
        self.positions = np.flatnonzero(weights > 0)
        given = X, y, weights
        precomputed = isinstance(model.kernel, str) and model.kernel == "precomputed"
        if len(self.positions) < self.n_given:  # weight 0 is absence
            y, weights = y[self.positions], weights[self.positions]
            X = taken(X, self.positions)
            if precomputed:
                X = X[:, self.positions]
        self.classes, self.labels = find_classes(y)
        if labelled and len(self.classes) < 2:
            raise too_few(type(model).__name__, self.classes, sample_weight is not None)
        hashes = row_hashes(given[0])
        self.row_hashes = hashes[self.positions]
        self.fingerprint = fingerprint_of(*given, self.classes, self.labels, hashes)
        self.weights = weights * class_factors(
            getattr(model, "class_weight", None), self.classes, self.labels, weights
        )
        self.kernel = kernel_of(model, X, weights)
        small = X.shape[0] <= SMALL_PROBLEM
        self.dtype = choose_dtype(model.precision, small, self.kernel, X)
        self.given = X
        self.X = prepare(X, self.kernel, self.dtype)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_classes(self) -> int:
        return len(self.classes)


def unlabelled(X: Matrix) -> np.ndarray:
    """The labels of rows that have none, for what asks for some: all the same."""
    return np.zeros(X.shape[0], np.int64)


def fingerprint_of(
    X: Matrix,
    y: np.ndarray,
    weights: np.ndarray,
    classes: np.ndarray,
    labels: np.ndarray,
    hashes: np.ndarray | None = None,
) -> Fingerprint:
    """The fingerprint of what a fit was given, from the classes and labels of the examples that
    count: of all of them, unless some have weight 0.
    """
    if len(labels) < len(y):
        classes, labels = find_classes(y)
    return fingerprint(X, classes, labels, weights, hashes=hashes)


def class_factors(
    class_weight: Any, classes: np.ndarray, labels: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """The factor of each example's weight that `class_weight` means."""
    if class_weight is None:
        return np.ones(len(labels))
    if isinstance(class_weight, str) and class_weight == "balanced":
        sums = np.bincount(labels, weights)
        factors = sums.sum() / (len(classes) * sums)
    elif isinstance(class_weight, dict):
        factors = np.array([class_weight.get(c, 1.0) for c in classes.tolist()], dtype=float)
    else:
        raise ValueError(
            f"class_weight must be None, 'balanced' or a dictionary, got {shown(class_weight)}"
        )
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise ValueError(f"class_weight must hold positive numbers, got {shown(class_weight)}")
    return np.asarray(factors[labels])
