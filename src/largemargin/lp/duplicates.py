"""Duplicates of an example are merged into one; the order of what is left does not depend on the
order in which examples were given.

An example of weight s and s copies of it then are the same program to the last bit, so that even
where a program has many solutions they get the same one.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.base.classifier import checked_weights
from largemargin.base.labels import find_classes
from largemargin.base.training_set import TrainingSet, fingerprint_of
from largemargin.runtime.arrays import Matrix, VectorLike

CHUNK = 4096  # rows that are made sparse and hashed together


@dataclass(frozen=True)
class Merged:
    """Each set of equal examples of one label as one of them.

    Attributes
    ----------
    first : array
        The position of the first of each set.
    weights : array
        What the examples of each set weigh together.
    group : array
        The number of the set that each example is in.
    """

    first: np.ndarray
    weights: np.ndarray
    group: np.ndarray


def merge_duplicates(X: Matrix, labels: np.ndarray, weights: np.ndarray) -> Merged:
    """The sets of equal examples. They are ordered by a digest of the entries of a row that are not
    zero, so that dense and sparse rows agree.
    """
    digests = np.array([blake2b(row, digest_size=16).digest() for row in _rows(X)], "S16")
    order = np.lexsort((labels, digests))
    before, after = order[:-1], order[1:]
    new = np.ones(len(order), bool)
    new[1:] = (digests[after] != digests[before]) | (labels[after] != labels[before])
    totals = np.add.reduceat(weights[order], np.flatnonzero(new))
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(new) - 1
    return Merged(order[new], totals, group)


def _rows(X: Matrix) -> Iterator[bytes]:
    """The bytes of each row: where it is not zero, and what is there."""
    for first in range(0, X.shape[0], CHUNK):
        rows = sp.csr_array(X[first : first + CHUNK], copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        columns, values = rows.indices.astype(np.int64), rows.data.astype(np.float64)
        for start, end in zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True):
            yield columns[start:end].tobytes() + values[start:end].tobytes()


class DistinctSet(TrainingSet):
    """Distinct examples of positive weight, in an order that depends on nothing but what they are.

    Where a program has several solutions, the one that is found depends on the order of its rows
    and on their last bits. So a weight and as many copies, and the same rows in another order, are
    made the same numbers. The values of a precomputed kernel have no order that is their own: they
    stay as they are given.
    """

    def __init__(
        self, model: Any, X: Matrix, y: np.ndarray, sample_weight: VectorLike = None
    ) -> None:
        weights = checked_weights(X, y, sample_weight)
        rows = np.flatnonzero(weights > 0)
        precomputed = isinstance(model.kernel, str) and model.kernel == "precomputed"
        classes, labels = find_classes(y[rows])
        if precomputed or len(classes) < 2:  # which is refused there
            super().__init__(model, X, y, sample_weight)
            self.rows, self.group = self.positions, np.arange(len(self))
            self.shares = np.ones(len(self))
            return
        few = merge_duplicates(X if len(rows) == len(y) else X[rows], labels, weights[rows])
        first = rows[few.first]
        super().__init__(model, X[first], y[first], few.weights)
        self.fingerprint = fingerprint_of(X, y, weights, classes, labels)
        self.n_given, self.positions = len(y), first
        self.rows, self.group = rows, few.group  # one entry per example given
        self.shares = weights[rows] / few.weights[few.group]

    def as_given(self, coefs: np.ndarray, evenly: bool) -> tuple[TrainingSet, np.ndarray]:
        """The examples as they were given, and their coefficients, one row per problem.

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
