"""Linear machines of few columns and many rows: the answer of kernel values and of a general
quadratic program, exactly, from samples and bands of rows, and the same bits whatever the threads.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from largemargin.runtime.threads import workers
from largemargin.svm import SVC, NuSVC, formulations
from largemargin.svm.few_features import solve_in_features
from largemargin.svm.formulations import HINGE, SQUARED_HINGE, HardMargin, Nu, SoftMargin
from largemargin.svm.linear import (
    central_path,
    newton,
    rows,
    samples,
    screening,
    solver,
    working_sets,
)

from . import twin
from .problems import noisy, separable

FORMULATIONS = {
    "linear": SoftMargin(1.0, HINGE, True),
    "large C": SoftMargin(1e3, HINGE, True),
    "small C": SoftMargin(1e-4, HINGE, True),
    "no threshold": SoftMargin(1.0, HINGE, False),
    "squared": SoftMargin(1.0, SQUARED_HINGE, True),
    "squared, large C": SoftMargin(1e3, SQUARED_HINGE, True),
    "squared, no threshold": SoftMargin(0.1, SQUARED_HINGE, False),
    "nu": Nu(0.8, 1e-6, True),
    "nu, no threshold": Nu(0.8, 1e-6, False),
    "hard": HardMargin(1e-6, True),
    "hard, no threshold": HardMargin(1e-6, False),
}


@pytest.fixture
def small(monkeypatch):
    """Samples of few rows: what is worth it for a million happens with hundreds."""
    monkeypatch.setattr(solver, "MANY_ROWS", 100)
    monkeypatch.setattr(solver, "ROWS_PER_FEATURE", 4)
    monkeypatch.setattr(samples, "SMALLEST_SAMPLE", 40)
    monkeypatch.setattr(samples, "ROWS_PER_FEATURE", 5)
    monkeypatch.setattr(working_sets, "FIRST", 40)


@pytest.fixture
def alone(small, monkeypatch):
    """And no other method helps out, but where it is part of the one."""

    def refuse(*_):
        raise AssertionError("the method for few rows was asked")

    monkeypatch.setattr(solver, "solve_in_features", refuse)


def solved(name, X, y, weight=None, *, exact=True):
    formulation = FORMULATIONS[name]
    weight = np.ones(len(y)) if weight is None else weight
    problem = formulation.problem(y, weight)
    with workers(1) as team:
        ours = solver.solve_few_columns(problem, X, 1e-3, exact, team, lambda: "")
        truth = solve_in_features(problem, X, 1e-3, team, lambda: "")
    return problem, ours, truth


def data_for(name, seed, n=600, n_features=4):
    return (separable if "hard" in name else noisy)(seed, n=n, n_features=n_features)


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e2])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_the_answer_of_all_rows_at_once(name, scale, alone):
    X, y = data_for(name, 3)
    X = X * scale
    weight = np.random.default_rng(0).uniform(0.2, 3, len(y))
    weight[:50] = 0
    if name == "small C" or scale < 1:
        weight = np.ones(len(y))
    problem, ours, truth = solved(name, X, y, weight)
    assert ours.converged
    w, true_w = X.T @ ours.beta, X.T @ truth.beta
    rounding = np.finfo(float).eps * (np.abs(X).T @ np.abs(truth.beta)).max()
    if truth.violation < 1e-6:
        assert np.abs(w - true_w).max() < 1e-8 * np.abs(true_w).max() + rounding
    assert ours.violation <= max(1e-6, truth.violation)
    assert (problem.lo <= ours.beta).all()
    assert (ours.beta <= problem.hi).all()
    for g in range(problem.n_groups if problem.threshold else 0):
        mine = problem.group == g
        off = (problem.a * (ours.beta - problem.start))[mine].sum()
        assert abs(off) < 1e-12 * np.abs(ours.beta).sum()
    assert np.allclose(ours.grad, X @ w + problem.p + problem.ridge * ours.beta, atol=1e-9 * scale)


@pytest.mark.parametrize("name", ["linear", "no threshold", "squared", "squared, no threshold"])
def test_against_a_quadratic_program(name, alone):
    X, y = noisy(1, n=160, n_features=3)
    formulation = FORMULATIONS[name]
    _, ours, _ = solved(name, X, y)
    loss = "linear" if formulation.loss is HINGE else "squared"
    truth = twin.soft_margin(X @ X.T, y, np.ones(160), formulation.C, loss, formulation.threshold)
    assert twin.dual(X @ X.T, y, np.ones(160), ours.beta, formulation.C, loss) == pytest.approx(
        truth.objective, rel=1e-9
    )
    assert np.abs(X.T @ (ours.beta - truth.coefs)).max() < 1e-7
    if loss == "linear":  # in general position a coefficient off the margin is at an end
        inside = (ours.beta != 0) & (np.abs(ours.beta) < formulation.C)
        assert inside.sum() <= 4


MACHINES = {
    "linear": SVC(kernel="linear"),
    "squared": SVC(kernel="linear", slack="squared"),
    "squared-sum": SVC(kernel="linear", slack="squared-sum", C=0.01),
    "nu": NuSVC(kernel="linear", nu=0.8),
}


@pytest.mark.parametrize("name", MACHINES)
def test_weights_are_copies(name, small):
    X, y = noisy(2, n=400)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    once = MACHINES[name].fit(X, y, weight)
    coef, intercept, objective = once.coef_, once.intercept_, once.objective_
    often = MACHINES[name].fit(X.repeat(weight, axis=0), y.repeat(weight))
    assert often.objective_ == pytest.approx(objective, rel=1e-9)
    assert np.allclose(often.coef_, coef, rtol=0, atol=1e-8)
    assert np.allclose(often.intercept_, intercept, rtol=0, atol=1e-7)


@pytest.mark.parametrize("slack", ["linear", "squared"])
def test_sparse_rows_are_dense_rows(slack, small):
    X, y = noisy(4, n=500, n_features=5)
    X[np.abs(X) < 0.7] = 0
    X = np.column_stack([X, X[:, 0], np.full(len(X), 2.0)])  # one column twice, one constant
    dense = SVC(kernel="linear", slack=slack).fit(X, y)
    sparse = SVC(kernel="linear", slack=slack).fit(sp.csr_array(X), y)
    assert dense.dual_gap_[0] < 1e-9
    assert sparse.dual_gap_[0] < 1e-9
    assert np.allclose(sparse.coef_, dense.coef_, rtol=0, atol=1e-8)
    assert np.allclose(dense.coef_[:, 0], dense.coef_[:, 5], rtol=0, atol=1e-9)
    assert np.allclose(dense.coef_[:, 6], 0, rtol=0, atol=1e-9)  # the threshold is free


def test_one_sparse_column(small):
    x = np.random.default_rng(0).normal(size=400)
    x[np.abs(x) < 0.5] = 0
    y = np.where(x + 0.3 * np.random.default_rng(1).normal(size=400) > 0, 1, -1)
    model = SVC(kernel="linear").fit(sp.csr_array(x[:, None]), y)
    assert model.converged_
    assert model.dual_gap_[0] < 1e-9


def test_features_that_a_sample_hardly_has(alone):
    """A tenth of the rows has a feature of its own each five, which no sample tells of."""
    rng = np.random.default_rng(0)
    X, y = noisy(5, n=2000, n_features=3)
    rare = np.zeros((2000, 40))
    rare[np.arange(200), np.arange(200) // 5] = rng.normal(1, 0.1, 200)
    order = rng.permutation(2000)
    X, y = np.column_stack([X, 3 * rare])[order], y[order]
    _, ours, truth = solved("large C", X, y)
    assert ours.converged
    assert np.allclose(X.T @ ours.beta, X.T @ truth.beta, rtol=0, atol=1e-6)


def test_a_class_of_few(alone):
    X, y = noisy(6, n=3000)
    y = np.where(np.arange(3000) < 7, 1.0, -1.0)
    X[:7] += 1.0
    _, ours, truth = solved("linear", X, y)
    assert ours.converged
    assert np.allclose(X.T @ ours.beta, X.T @ truth.beta, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["hard", "hard, no threshold"])
def test_hulls_that_meet(name, small):
    X, y = noisy(2, n=600, noise=2.0)
    model = SVC(kernel="linear", C=np.inf, fit_intercept=name == "hard")
    with pytest.warns(ConvergenceWarning, match="separated"):
        model.fit(X, y)
    assert not model.converged_


@pytest.mark.bits
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("slack", ["linear", "squared"])
def test_threads_do_not_change_a_bit(slack, precision, small, monkeypatch):
    monkeypatch.setattr(rows, "ROWS", 32)
    monkeypatch.setattr(rows, "AT_ONCE", 3)
    X, y = noisy(4, n=700, n_features=5)
    params = {"kernel": "linear", "slack": slack, "precision": precision}
    first = SVC(n_jobs=1, **params).fit(X, y)
    for n_jobs in (2, 3):
        other = SVC(n_jobs=n_jobs, **params).fit(X, y)
        assert np.array_equal(other.support_, first.support_)
        assert np.array_equal(other.dual_coef_, first.dual_coef_)
        assert np.array_equal(other.intercept_, first.intercept_)


@pytest.mark.parametrize("looks", [0, 1, 5, 12, 20])
@pytest.mark.parametrize("name", ["linear", "nu", "squared", "hard"])
def test_stopped_at_any_time_the_point_is_feasible(name, looks, small):
    X, y = data_for(name, 7)
    problem = FORMULATIONS[name].problem(y, np.ones(len(y)))
    asked = iter(range(10**6))
    with workers(1) as team:
        found = solver.solve_few_columns(
            problem, X, 1e-3, True, team, lambda: "late" if next(asked) >= looks else ""
        )
    assert (problem.lo <= found.beta).all()
    assert (found.beta <= problem.hi).all()
    for g in range(problem.n_groups):
        off = (problem.a * (found.beta - problem.start))[problem.group == g].sum()
        assert abs(off) < 1e-9 * max(1.0, np.abs(found.beta).sum())
    assert np.allclose(
        found.grad, X @ (X.T @ found.beta) + problem.p + problem.ridge * found.beta, atol=1e-9
    )


def test_the_start_of_the_central_path():
    """Distances from two ends, with multipliers that make up the gradient."""
    r, width = np.array([-30.0, -1.0, 0.0, 0.5, 1e4]), np.array([1.0, 2.0, 3.0, 1.0, 0.5])
    near, far = central_path.central(r, width, 0.1)
    assert np.allclose(near + far, width)
    assert np.allclose(0.1 * width / near - 0.1 * width / far, r)


def test_where_the_path_is_lost_another_way_is_found(small, monkeypatch):
    X, y = noisy(3, n=600)
    truth = solved("linear", X, y)[2]

    def lost(*_, **__):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(screening, "follow", lost)
    monkeypatch.setattr(newton, "cho_factor", lost)
    for name in ("linear", "squared"):
        _, ours, truth = solved(name, X, y)
        assert ours.converged
        assert np.allclose(X.T @ ours.beta, X.T @ truth.beta, rtol=0, atol=1e-8)


@pytest.mark.parametrize("count", [7000, 7000.5])
def test_full_boxes_are_full(count):
    """Shares that sum to 1: full ones, and one with the rest if there is a rest."""
    box = np.full(20_000, 1 / count)
    found = formulations._filled(np.zeros(len(box)), box)
    inside = (found > 0) & (found < box)
    assert np.count_nonzero(inside) == (count != int(count))
    assert found.sum() == pytest.approx(1, rel=1e-14)


def test_a_class_whose_examples_are_all_at_their_ends(monkeypatch):
    """nu is so many whole examples of a class: none is free, and rounding frees none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    height = X @ rng.normal(size=10)
    y = (height > np.quantile(height, 0.6)) ^ (rng.random(len(X)) < 0.2)
    slow = []
    monkeypatch.setattr(solver, "solve_in_features", lambda *args: slow.append(args))
    model = NuSVC(kernel="linear", nu=0.7).fit(X, y)
    assert model.converged_
    assert not slow
