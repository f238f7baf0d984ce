"""Kernels of few dimensions: the interior-point method in the columns of K = L L'."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from largemargin.svm import SVC, dense_solver, interior_point, low_rank
from largemargin.svm.dense_solver import solve_block
from largemargin.svm.problem import Problem

from .extended import true_gaps
from .problems import noisy


def kernel_values(n=300):
    X, _ = noisy(0, n=n, n_features=2)
    return {"poly": polynomial_kernel(X, degree=3), "wide": rbf_kernel(X, gamma=0.01)}


@pytest.mark.parametrize("name", ["poly", "wide"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_columns_are_few_and_give_the_values(name, dtype):
    K = kernel_values()[name].astype(dtype)
    L = low_rank.factor_of(K)
    assert L.shape[1] <= (10 if name == "poly" else 60)
    assert abs(L @ L.T - K).max() <= 20 * np.finfo(dtype).eps * K.max()


def test_there_are_none_for_a_narrow_kernel():
    X, _ = noisy(0, n=60, n_features=2)
    assert low_rank.factor_of(rbf_kernel(X, gamma=50.0)) is None
    assert not low_rank.factor_of(np.zeros((8, 8))).any()


@pytest.mark.parametrize("name", ["poly", "wide"])
def test_the_system_of_the_columns(name):
    """Against that of the whole matrix."""
    K, rng = kernel_values()[name], np.random.default_rng(0)
    ridge, theta = rng.uniform(0, 1, len(K)), rng.uniform(0.1, 2, len(K))
    A, x = rng.choice([-1.0, 1.0], (1, len(K))), rng.normal(size=len(K))
    ours = low_rank.system_of(K, ridge, A)
    whole = interior_point.Dense(K + np.diag(ridge), A)
    assert type(ours) is not type(whole)
    assert np.allclose(ours.times(x), whole.times(x))
    for one, other in zip(ours.factor(theta)(x, [1.0]), whole.factor(theta)(x, [1.0]), strict=True):
        assert np.allclose(one, other)


@pytest.mark.parametrize("params", [{"kernel": "poly", "degree": 2}, {"gamma": 0.01}])
def test_a_machine_that_pair_steps_do_not_end(params, monkeypatch):
    X, y = noisy(3, n=240, n_features=2)
    monkeypatch.setattr("largemargin.svm.dense_solver.SMO_STEPS", 10)
    monkeypatch.setattr("largemargin.svm.dense_solver.SMO_STEPS_PER_VARIABLE", 0)
    model = SVC(C=1e4, **params).fit(X, y)
    assert model.converged_
    assert true_gaps(model, X, y)[0] <= model.dual_gap_[0] < 1e-6


def test_the_interior_point_method_leaves_the_sum_as_it_was(monkeypatch):
    """Large kernel values make much of a sum that is off, if one variable has to mend it."""
    monkeypatch.setattr(dense_solver, "SMO_STEPS", 0)
    monkeypatch.setattr(dense_solver, "SMO_STEPS_PER_VARIABLE", 0)
    n = 500
    for seed in (4, 5):
        rng = np.random.default_rng(seed)
        X, y = 1.5 * rng.normal(size=(n, 8)), np.sign(rng.normal(size=n))
        K = (X @ X.T + 1.0) ** 2
        lo, hi = np.minimum(0, 100 * y), np.maximum(0, 100 * y)
        group = np.zeros(n, np.uint8)
        problem = Problem(-y, lo, hi, np.zeros(n), np.ones(n), group, 1, True, np.zeros(n))
        found, steps = solve_block(problem, slice(None), K, problem.p, problem.start, 1e-3, np.inf)
        assert steps == 0
        assert np.abs(found).max() > 1
        assert abs(found.sum()) <= 1e-14 * np.abs(found).sum()
