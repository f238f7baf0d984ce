"""A weight and as many copies, and rows in another order, are the same machine, even where a
program has many solutions.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, NuLPSVC
from largemargin.lp.duplicates import merge_duplicates

MACHINES = [LPSVC(C=3.0), NuLPSVC(nu=0.1), LeaveOneOutSVC(), AdaptiveMarginSVC(lam=0.3)]


def problem(seed):
    """Small, on a grid or with few features, so that solutions are seldom unique."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 25))
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    if rng.random() < 0.5:
        X = np.round(X)
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1, 0)
    y[:4] = 0, 1, 0, 1
    s = rng.integers(0, 4, n)
    s[:4] = 1
    return rng, X, y, s


def fitted(machine, X, y, s=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return type(machine)(**machine.get_params()).fit(X, y, s)


def together(model, X):
    """The coefficients of equal rows as one, by the row."""
    found = {}
    for row, coef in zip(X[model.support_].tolist(), model.dual_coef_[0], strict=True):
        found[tuple(row)] = found.get(tuple(row), 0.0) + coef
    return found


def check(machine, seed):
    rng, X, y, s = problem(seed)
    machine.set_params(kernel=str(rng.choice(["rbf", "linear", "poly"])), gamma="scale")
    weighted = fitted(machine, X, y, s)
    order = rng.permutation(int(s.sum()))
    rows = np.repeat(np.arange(len(y)), s)[order]
    copied = fitted(machine, X[rows], y[rows])
    np.testing.assert_array_equal(weighted.objective_, copied.objective_)
    np.testing.assert_array_equal(weighted.intercept_, copied.intercept_)
    ours, theirs = together(weighted, X), together(copied, X[rows])
    assert ours.keys() == theirs.keys()
    for row in ours:
        assert ours[row] == pytest.approx(theirs[row], rel=1e-13)


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_weights_are_copies_in_any_order(machine):
    for seed in range(15):
        check(machine, seed)


@pytest.mark.full
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_weights_are_copies_hundreds_of_times(machine):
    for seed in range(15, 400):
        check(machine, seed)


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_copies_share_a_coefficient_where_it_counts_in_their_own_margin(machine):
    _, X, y, _ = problem(1)
    X, y = np.round(X), y
    model = fitted(machine, np.r_[X, X], np.r_[y, y])
    coefs = np.zeros(2 * len(y))
    coefs[model.support_] = model.dual_coef_[0]
    if isinstance(machine, LPSVC | NuLPSVC):
        assert not coefs[len(y) :].any()
    else:
        np.testing.assert_array_equal(coefs[: len(y)], coefs[len(y) :])


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_a_precomputed_kernel_has_the_same_objective(machine):
    for seed in range(5):
        rng, X, y, s = problem(seed)
        K = np.exp(-((X[:, None] - X[None]) ** 2).sum(2))
        rows = rng.permutation(np.repeat(np.arange(len(y)), s))
        machine.set_params(kernel="precomputed")
        weighted = fitted(machine, K, y, s)
        copied = fitted(machine, K[np.ix_(rows, rows)], y[rows])
        gap = (weighted.dual_gap_ + copied.dual_gap_ + 1e-9) * max(1e-2, *weighted.objective_)
        assert abs(weighted.objective_ - copied.objective_) <= gap


def test_copies_are_one():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, size=(200, 3)).astype(float)
    X[X == 0] = rng.choice([0.0, -0.0], (X == 0).sum())
    labels, weights = rng.integers(0, 2, 200), rng.integers(1, 5, 200).astype(float)
    few = merge_duplicates(X, labels, weights)
    first, totals = few.first, few.weights
    pairs = {}
    for row, label, weight in zip(X, labels, weights, strict=True):
        key = (*(row + 0.0).tolist(), int(label))
        pairs[key] = pairs.get(key, 0) + weight
    found = {
        (*(X[i] + 0.0).tolist(), int(labels[i])): total
        for i, total in zip(first, totals, strict=True)
    }
    assert found == pairs
    order = rng.permutation(200)
    again = merge_duplicates(sp.csr_array(X[order]), labels[order], weights[order])
    np.testing.assert_array_equal(X[order][again.first], X[first])
    np.testing.assert_array_equal(again.weights, totals)
    np.testing.assert_array_equal(again.group, few.group[order])
    np.testing.assert_array_equal(X[first[few.group]], X)
