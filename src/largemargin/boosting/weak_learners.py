"""The weak learners of boosting: decision stumps, and any classifier of scikit-learn's kind.

A decision stump is one feature, one threshold and a class on either side. `StumpLearner` finds the
one of minimum weighted error:

    L(X, Y, D) = argmin over j, theta, a, b of  sum_i D_i 1{y_i != (a if x_ij <= theta else b)}

A feature is sorted once, before the first round. A round adds up the weights of the classes along
that order and reads off at every threshold what the best pair of classes gets right, so it takes
time proportional to the number of entries. The rows that share a feature's most common value are
not even looked at: thresholds below it are reached from below, those above it from above, and
the side with that value has what remains of the total. So a sparse matrix is read at its nonzero
entries, and a dense one that is mostly zeros almost as fast.

Sums in different orders differ in their last bits. Stumps whose errors differ by less than that are
equal, and of equals the first is taken: the lowest feature, then the lowest threshold, then the
first classes. So a row of weight 2 and the same row twice give the same stumps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from largemargin.base.classifier import Classifier
from largemargin.base.labels import as_common_labels, numbers_in
from largemargin.boosting.examples import Examples
from largemargin.runtime.arrays import MatrixLike
from largemargin.runtime.showing import shown

LARGEST_SEED = 2**31 - 1  # seeds of base learners are below
WEIGHT_ROUNDING = 1e-12  # difference of two sums of weights, which are 1 in all, that is rounding


@dataclass(frozen=True)
class Stump:
    """A fitted decision stump: the label `left` where the feature is at most the threshold, and the
    label `right` elsewhere.
    """

    feature: int
    threshold: float
    left: Any
    right: Any

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The label of each row."""
        above = column(X, self.feature) > self.threshold
        return np.array([self.left, self.right])[above.astype(np.intp)]


def column(X: Any, j: int) -> np.ndarray:
    """A feature of all rows, dense."""
    if sp.issparse(X):
        return np.asarray(X[:, [j]].toarray()).ravel()
    return np.asarray(X)[:, j]


@dataclass(frozen=True)
class Scans:
    """The rows in the order of each feature: scan 2j is feature j from below up to its most common
    value, scan 2j + 1 from above down to it. Rows before a threshold are written ~row.
    """

    rows: np.ndarray
    values: np.ndarray
    starts: np.ndarray
    common: np.ndarray  # the most common value of each feature

    @classmethod
    def of(cls, X: Any) -> Scans:
        """The scans of an array or of a sparse matrix in CSC form."""
        n, n_features = X.shape
        parts = [_scans_of_column(*_entries(X, j), n) for j in range(n_features)]
        scans = [scan for below, above, _ in parts for scan in (below, above)]
        return cls(
            np.concatenate([rows for rows, _ in scans]).astype(np.int32 if n < 2**31 else np.int64),
            np.concatenate([values for _, values in scans]),
            np.concatenate([[0], np.cumsum([len(rows) for rows, _ in scans])]),
            np.array([common for *_, common in parts]),
        )

    def threshold(self, entry: int, scan: int) -> float:
        """Halfway between the value of an entry and the next one of its scan."""
        is_last = entry + 1 == self.starts[scan + 1]
        beyond = self.common[scan // 2] if is_last else self.values[entry + 1]
        low, high = sorted((float(self.values[entry]), float(beyond)))
        middle = low / 2 + high / 2
        return middle if low <= middle < high else low  # numbers with none between them


def _entries(X: Any, j: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a feature and their values; of a sparse feature, those that are not zero."""
    if not sp.issparse(X):
        return np.arange(X.shape[0]), X[:, j]
    part = slice(X.indptr[j], X.indptr[j + 1])
    rows, values = X.indices[part], X.data[part]
    kept = values != 0
    return rows[kept], values[kept]


def _scans_of_column(rows: np.ndarray, values: np.ndarray, n: int) -> tuple[Any, Any, Any]:
    order = np.argsort(values, kind="stable")
    rows, values = rows[order], values[order]
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    if len(rows) < n:  # the rows that are not there have the value zero
        start = end = int(np.searchsorted(values, 0))
        common = values.dtype.type(0)
    else:
        bounds = np.concatenate([[0], changes, [n]])
        group = int(np.argmax(np.diff(bounds)))
        start, end = int(bounds[group]), int(bounds[group + 1])
        common = values[start]
    below = (_marked(rows[:start], values[:start]), values[:start])
    above = (_marked(rows[end:][::-1], values[end:][::-1]), values[end:][::-1])
    return below, above, common


def _marked(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """~row where the next value is another one, as it is after the last."""
    ends = np.ones(len(rows), bool)
    ends[:-1] = values[1:] != values[:-1]
    return np.where(ends, ~rows, rows)


class StumpLearner:
    """Finds the decision stump of minimum weighted error, for one weighting after another."""

    def __init__(self, examples: Examples) -> None:
        X = examples.X
        self.X = sp.csc_array(X) if sp.issparse(X) else X
        self.labels = examples.labels.astype(np.int32)
        self.classes = examples.classes
        self.scans = Scans.of(self.X)
        self._signs = 2.0 * (self.labels == 1) - 1.0
        self._near = np.zeros(len(self.classes))
        self._best = np.zeros(len(self.scans.starts) - 1)

    def __call__(self, D: np.ndarray) -> tuple[Stump, np.ndarray]:
        """The stump for weights D, which add up to 1, and its answers as class numbers."""
        from largemargin.boosting._loops import sums_above

        totals = np.bincount(self.labels, D, len(self.classes))
        found = self._search(D, totals)
        if found is None:  # all features are constant
            best = _first_largest(totals)
            stump = Stump(0, np.inf, self.classes[best], self.classes[best])
            return stump, np.full(len(D), best)
        feature, threshold = found
        values = column(self.X, feature).astype(np.float64)  # one type to compile for
        sums_above(values, threshold, self.labels, D, self._near)
        left, right = _first_largest(totals - self._near), _first_largest(self._near)
        stump = Stump(feature, threshold, self.classes[left], self.classes[right])
        return stump, np.where(values > threshold, right, left)

    def _search(self, D: np.ndarray, totals: np.ndarray) -> tuple[int, float] | None:
        from largemargin.boosting._loops import entry_reaching, most_right, most_right_of_two

        scans = self.scans
        if len(totals) == 2:
            most_right_of_two(scans.rows, scans.starts, self._signs * D, totals, self._best)
        else:
            most_right(
                scans.rows, scans.starts, self.labels, D, totals, self._near, self._best
            )  # fmt: skip
        most = self._best.max()
        if most == 0:
            return None
        wanted = most - WEIGHT_ROUNDING
        feature = int(np.argmax(self._best >= wanted)) // 2
        for scan in (2 * feature, 2 * feature + 1):  # the lowest threshold is last from above
            entry = entry_reaching(
                scans.rows, scans.starts[scan], scans.starts[scan + 1], self.labels, D, totals,
                self._near, wanted - WEIGHT_ROUNDING / 1000, scan % 2 == 1,
            )  # fmt: skip
            if entry >= 0:
                return feature, scans.threshold(entry, scan)
        raise AssertionError("a threshold was found and lost")


def _first_largest(sums: np.ndarray) -> int:
    return int(np.argmax(sums >= sums.max() - WEIGHT_ROUNDING))


class EstimatorLearner:
    """Any classifier as a weak learner: fits a clone of it for one weighting after another, each
    with seeds of its own.
    """

    def __init__(
        self, estimator: Any, examples: Examples, random_state: np.random.RandomState
    ) -> None:
        self.estimator = estimator
        self.examples = examples
        self.random_state = random_state

    def __call__(self, D: np.ndarray) -> tuple[Any, np.ndarray]:
        """A classifier fitted with weights D, and its answers as class numbers."""
        classifier = clone(self.estimator)
        seeds = {
            name: int(self.random_state.randint(LARGEST_SEED))
            for name in sorted(classifier.get_params(deep=True))
            if name == "random_state" or name.endswith("__random_state")
        }
        classifier.set_params(**seeds)
        y = self.examples.y
        if y.dtype.kind == "T" and not isinstance(classifier, Classifier):
            y = as_common_labels(y)
        classifier.fit(self.examples.X, y, sample_weight=D)
        return classifier, numbers_in(self.examples.classes, classifier.predict(self.examples.X))


def check_estimator(estimator: Any) -> None:
    """Refuse what cannot be a weak learner."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not is_classifier(estimator):
        raise ValueError(
            f"estimator must be None, for stumps, or a classifier, got {shown(estimator)}"
        )
    if getattr(estimator, "calibrate", False):
        raise ValueError(
            "a base learner needs no probabilities, got calibrate=True: give it to AdaBoost"
        )
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"estimator must take sample_weight in fit, which {type(estimator).__name__} does not: "
            "use None, for stumps, or a classifier that takes weights"
        )
