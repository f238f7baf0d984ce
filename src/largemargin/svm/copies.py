"""Equal examples of one label, trained on as one of what they weigh together.

An example of weight s and s copies of it are the same problem, and a table of few columns with few
values each has many copies. Without them there are fewer variables, and no two that are exchanged
for each other without end: the matrix of a problem with copies is singular. What is found for an
example is shared among its copies by weight, or, where slack costs the same however it is shared,
given to as few of them as can have it: either is a solution of the problem as it was given.
Linear machines are solved as they are given: they are quick, and what they tell is known to more
digits than shares have.

Copies are known by the hashes of rows that the fingerprint of the data is made of, and then looked
at entry by entry.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from largemargin.base.training_set import TrainingSet
from largemargin.kernels.engine import SMALL_PROBLEM, choose_dtype, prepare
from largemargin.kernels.functions import UNIT, Linear
from largemargin.kernels.fused import form_of
from largemargin.runtime.arrays import DistantRows, Matrix
from largemargin.svm.evaluation import sum_loops
from largemargin.svm.formulations import SoftMargin

if TYPE_CHECKING:
    from largemargin.svm.estimator import Fit
    from largemargin.svm.jobs import TrainedProblem

MOST_DISTINCT = 0.95  # the share of distinct examples from which on copies stay as they are
CHUNK = 4096  # rows that are looked at together
# Roundings that a coefficient is from the sum of so many largest ones: weights are summed to one,
# and their product with the price, for all and for one, their number and the difference are others
ROUNDINGS = 6


class Distinct:
    """The examples of a training set without copies, if it has many and that is `wanted`.

    Attributes
    ----------
    data : TrainingSet
        What to train on: the given one, or the first of each set of copies, with its weight.
    """

    def __init__(self, model: Any, given: TrainingSet, wanted: bool) -> None:
        self._given, self.data, self._merged = given, given, False
        self._group = np.arange(len(given))
        wanted = wanted and not isinstance(given.X, DistantRows)
        if not wanted or isinstance(given.kernel, Linear) or form_of(given.kernel) is None:
            return
        group = sets_of_copies(given.given, given.labels, given.row_hashes)
        if group is None:
            return
        self._merged = True
        self._group = group
        first = np.unique(group, return_index=True)[1]
        data = copy(given)
        data.given, data.labels, data.positions = given.given[first], given.labels[first], first
        data.weights = sum_loops().sums_of_groups(group, given.weights, len(first))
        few = len(first) <= SMALL_PROBLEM
        data.dtype = choose_dtype(model.precision, few, given.kernel, data.given)
        data.X, data.has_copies = prepare(data.given, given.kernel, data.dtype), True
        self.data = data

    def merged(self, start: np.ndarray | None) -> np.ndarray | None:
        """A point to start from, one row per function."""
        if start is None or not self._merged:
            return start
        return np.array([np.bincount(self._group, row) for row in start])

    def as_given(self, fit: Fit) -> tuple[TrainingSet, Fit]:
        """What was trained on `data`, as coefficients of the examples that were given; those
        without any are left out.
        """
        if not self._merged:
            return self._given, fit
        given, group = self._given, self._group
        coefs = fit.coefs[:, group] * (given.weights / self.data.weights[group])
        for row, whole, one in zip(coefs, fit.coefs, fit.trained, strict=False):
            with np.errstate(over="ignore"):
                most = self._most(one)
                if most is not None:
                    row[:] = self._given_to_few(whole, row, most)
        used = np.flatnonzero(coefs.any(axis=0))
        data = copy(given)
        data.dtype, data.X = self.data.dtype, self.data.X[group[used]]
        data.labels, data.positions = given.labels[used], given.positions[used]
        return data, replace(fit, coefs=coefs[:, used], trained=())

    def _most(self, one: TrainedProblem) -> np.ndarray | None:
        """The largest coefficient of each example, if its slack costs so much and no more."""
        formulation = one.job.formulation
        if one.criterion is not None or not isinstance(formulation, SoftMargin):
            return None
        if formulation.loss.ridge:
            return None
        return formulation.loss.upper_bounds(formulation.C, self._given.weights)

    def _given_to_few(self, whole: np.ndarray, shared: np.ndarray, most: np.ndarray) -> np.ndarray:
        """Coefficients with those of copies of equal weight as large as they may be, one after the
        other, as far as their sum goes; `shared` are those by weight.
        """
        group, size = self._group, np.abs(whole)[self._group]
        rounding = ROUNDINGS * UNIT * size
        left = size - np.where(self._rank > 0, self._rank * most, 0.0)
        few = np.where(left >= most - rounding, most, np.where(left <= rounding, 0.0, left))
        few = np.where(self._is_even[group], few, np.minimum(np.abs(shared), most))
        return np.asarray(np.copysign(few, whole[group]))

    @cached_property
    def _rank(self) -> np.ndarray:
        """How many copies of each example come before it."""
        order = np.argsort(self._group, kind="stable")
        rank = np.empty(len(order), np.int64)
        groups = self._group[order]
        rank[order] = np.arange(len(order)) - np.searchsorted(groups, groups)
        return rank

    @cached_property
    def _is_even(self) -> np.ndarray:
        """Whether the copies of each set have the same weight."""
        weights, n = self._given.weights, len(self.data)
        low, high = np.full(n, np.inf), np.zeros(n)
        np.minimum.at(low, self._group, weights)
        np.maximum.at(high, self._group, weights)
        return np.asarray(low == high)


def sets_of_copies(X: Matrix, labels: np.ndarray, hashes: np.ndarray) -> np.ndarray | None:
    """The number of the set of equal examples of one label that each is in, in the order of their
    first ones; None where there are hardly any equal ones. Equal rows have equal hashes.
    """
    n, in_order = len(labels), np.sort(hashes)
    if 1 + np.count_nonzero(in_order[1:] != in_order[:-1]) > MOST_DISTINCT * n:
        return None
    order = np.lexsort((labels, hashes))
    before, after = order[:-1], order[1:]
    same = (hashes[before] == hashes[after]) & (labels[before] == labels[after])
    candidates = np.flatnonzero(same)
    for k in range(0, len(candidates), CHUNK):
        part = candidates[k : k + CHUNK]
        same[part] = _are_equal(X[before[part]], X[after[part]])
    sets = np.empty(n, np.int64)
    sets[order] = np.concatenate([[0], np.cumsum(~same)])
    _, first, sets = np.unique(sets, return_index=True, return_inverse=True)
    if len(first) > MOST_DISTINCT * n:
        return None
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[sets]


def _are_equal(A: Matrix, B: Matrix) -> np.ndarray:
    """Whether each row of one matrix is that of the other."""
    if sp.issparse(A):
        return np.asarray(np.asarray((A != B).sum(axis=1)).ravel() == 0)
    return np.asarray((A == B).all(axis=1))
