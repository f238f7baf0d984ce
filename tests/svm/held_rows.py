"""Rows that stand for a matrix as those of a cluster do, but are in this process."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from largemargin.base.labels import plain_labels
from largemargin.base.training_set import TrainingSet
from largemargin.kernels.fused import FusedRows
from largemargin.runtime.arrays import DistantRows, PairedSum
from largemargin.svm import SVC, NuSVC

STRETCH = 128


class HeldRows(DistantRows):
    """A matrix in stretches, shared out among some holders; `fetched` are the numbers of rows that
    were asked for.
    """

    def __init__(self, X, n_holders=1, rows=None, fetched=None):
        self._X, self._n_holders = X, n_holders
        self._rows = np.arange(X.shape[0]) if rows is None else rows
        self.fetched = [] if fetched is None else fetched
        self.shape, self.dtype = (len(self._rows), X.shape[1]), X.dtype

    def _stretches(self):
        n = self._X.shape[0]
        order = np.argsort(self._rows, kind="stable")
        ends = np.searchsorted(self._rows[order], np.arange(0, n + STRETCH, STRETCH))
        return [order[first:end] for first, end in pairwise(ends)]

    def _of(self, function, part, args, beside):
        return function(self._X[self._rows[part]], *(one[part] for one in beside), *args)

    def by_rows(self, function, *args, beside=()):
        parts = self._stretches()
        found = np.concatenate([self._of(function, part, args, beside) for part in parts])
        out = np.empty_like(found)
        out[np.concatenate(parts)] = found
        return out

    def totals(self, function, *args, beside=()):
        parts, total = self._stretches(), PairedSum()
        for mine in np.array_split(np.arange(len(parts)), self._n_holders)[::-1]:
            own = PairedSum()
            for k in mine.tolist():
                own.add(0, k, self._of(function, parts[k], args, beside))
            for key, value in own.parts.items():
                total.add(*key, value)
        return total.total()

    def astype(self, dtype):
        X = self._X.astype(dtype)
        return HeldRows(X, self._n_holders, self._rows, self.fetched)

    def taken(self, rows):
        return HeldRows(self._X, self._n_holders, self._rows[rows], self.fetched)

    def fused(self, kernel, dtype, team, segments=()):
        return FusedRows(kernel, self._X[self._rows], team, dtype)

    def together(self, work, items):
        for item in items:
            work(item)

    def __getitem__(self, rows):
        rows = self._rows[rows]
        self.fetched.append(len(rows))
        return self._X[rows]


class Held:
    """A machine that is trained on such rows; the plain class comes after it."""

    n_holders = 1
    rows = None

    def training_set(self, X, y, sample_weight=None):
        X, y = self.validate(X, plain_labels(y))
        self.rows = HeldRows(X, self.n_holders)
        return TrainingSet(self, self.rows, y, sample_weight)


class HeldSVC(Held, SVC):
    pass


class HeldNuSVC(Held, NuSVC):
    pass
