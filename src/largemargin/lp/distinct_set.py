"""The training set of a linear program: copies of an example are one, in an order of their own."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from largemargin.base.classifier import checked_weights
from largemargin.base.labels import find_classes
from largemargin.base.training_set import TrainingSet, fingerprint_of
from largemargin.lp.duplicates import distinct


class DistinctSet(TrainingSet):
    """Different examples of positive weight, in an order that depends on nothing but what they are.

    Where a program has several solutions, the one that is found depends on the order of its rows
    and on their last bits. So a weight and as many copies, and the same rows in another order, are
    made the same numbers. The values of a precomputed kernel have no order that is their own: they
    stay as they are given.
    """

    def __init__(self, model: Any, X: Any, y: np.ndarray, sample_weight: Any = None) -> None:
        weights = checked_weights(X, y, sample_weight)
        rows = np.flatnonzero(weights > 0)
        precomputed = isinstance(model.kernel, str) and model.kernel == "precomputed"
        classes, labels = find_classes(y[rows])
        if precomputed or len(classes) < 2:  # which is refused there
            super().__init__(model, X, y, sample_weight)
            self.rows, self.group = self.positions, np.arange(len(self))
            self.shares = np.ones(len(self))
            return
        few = distinct(X if len(rows) == len(y) else X[rows], labels, weights[rows])
        first = rows[few.first]
        super().__init__(model, X[first], y[first], few.weights)
        self.fingerprint = fingerprint_of(X, y, weights, classes, labels)
        self.n_given, self.positions = len(y), first
        self.rows, self.group = rows, few.group  # of the examples given
        self.shares = weights[rows] / few.weights[few.group]

    def as_given(self, coefs: np.ndarray, evenly: bool) -> tuple[TrainingSet, np.ndarray]:
        """The examples as they were given, and their coefficients, a row a problem.

        The coefficient of an example is shared among its copies by weight, or the first one has it.
        Examples without any are left out.
        """
        shares = self.shares
        if not evenly:
            shares = (self.rows == self.positions[self.group]).astype(float)
        there = np.asarray(coefs.any(axis=0))
        used = np.flatnonzero(there[self.group] & (shares > 0))
        group = self.group[used]
        given = copy(self)
        given.X, given.labels = self.X[group], self.labels[group]
        given.positions = self.rows[used]
        return given, coefs[:, group] * shares[used]
