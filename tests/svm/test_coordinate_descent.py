"""Linear machines of many columns, sparse or dense, by coordinate descent: the answer of kernel
values and of a general quadratic program, and the same bits whatever the threads.
"""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.runtime.threads import workers
from largemargin.svm import SVC, few_features, session, solving, verified_sums
from largemargin.svm.formulations import HINGE, SQUARED_HINGE, SoftMargin
from largemargin.svm.linear import coordinate_descent, loops
from largemargin.svm.linear.coordinate_descent import solve_by_coordinates

from . import twin


@pytest.fixture
def without_matrix(monkeypatch):
    """As if there were too many rows for a matrix of all kernel values."""
    monkeypatch.setattr(session, "WHOLE_GRAM_ROWS", 0)


def texts(seed, n=150, d=200, noise=0.1):
    """Rows of unit length with few entries, and labels of which some are wrong."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.05, format="csr", rng=rng)
    X.data += 0.1
    X = sp.csr_array(sp.diags_array(1 / np.maximum(1e-9, np.sqrt(X.multiply(X).sum(axis=1)))) @ X)
    f = X @ rng.normal(size=d)
    y = np.where((f > 0.1) != (rng.random(n) < noise), 1.0, -1.0)
    return X, y


FORMULATIONS = {
    "linear": SoftMargin(1.0, HINGE, True),
    "large C": SoftMargin(30.0, HINGE, True),
    "small C": SoftMargin(1e-3, HINGE, True),
    "no threshold": SoftMargin(1.0, HINGE, False),
    "squared": SoftMargin(1.0, SQUARED_HINGE, True),
    "squared, no threshold": SoftMargin(1.0, SQUARED_HINGE, False),
}


@pytest.fixture
def team():
    with workers(1) as team:
        yield team


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_against_a_quadratic_program(name, exact, dense, team):
    formulation = FORMULATIONS[name]
    X, y = texts(0)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    problem = formulation.problem(y, weight)
    given = X.toarray() if dense else X
    ours = solve_by_coordinates(problem, given, 1e-3, exact, team, lambda: "")
    assert ours.converged
    assert (problem.lo <= ours.beta).all()
    assert (ours.beta <= problem.hi).all()
    if formulation.threshold:
        assert abs(ours.beta.sum()) < 1e-12
    K = (X @ X.T).toarray()
    assert np.allclose(ours.grad, K @ ours.beta + problem.p + problem.ridge * ours.beta)
    loss = "linear" if formulation.loss is HINGE else "squared"
    truth = twin.soft_margin(K, y, weight, formulation.C, loss, formulation.threshold)
    reached = twin.dual(K, y, weight, ours.beta, formulation.C, loss)
    assert reached == pytest.approx(truth.objective, rel=1e-9 if exact else 1e-3)
    if exact:
        assert np.abs(X.T @ (ours.beta - truth.coefs)).max() < 1e-7


@pytest.mark.parametrize("slack", ["linear", "squared", "squared-sum"])
def test_the_answer_of_kernel_values(slack, without_matrix, monkeypatch):
    X, y = texts(2, n=120)
    params = {"kernel": "linear", "slack": slack, "C": 2.0}
    ours = SVC(**params).fit(X, y)
    dense = SVC(**params).fit(X.toarray(), y)  # of which there are too many columns
    monkeypatch.setattr(solving, "fits", lambda _: False)
    truth = SVC(**params).fit(X, y)
    for model in (ours, dense):
        assert model.converged_
        assert model.dual_gap_[0] < 1e-9
        assert model.objective_ == pytest.approx(truth.objective_, rel=1e-9)
        assert np.allclose(model.coef_, truth.coef_, rtol=0, atol=1e-8)
        assert np.allclose(model.intercept_, truth.intercept_, rtol=0, atol=1e-7)


def test_more_passes_than_it_may_make(without_matrix, monkeypatch):
    """Kernel values take over, or systems of as many equations as dense rows have columns."""
    X, y = texts(3, n=120)
    truth = SVC(kernel="linear").fit(X, y)
    monkeypatch.setattr(few_features, "MOST_FEATURES", 10)
    for name in ("PASSES", "DENSE_PASSES"):
        monkeypatch.setattr(coordinate_descent, name, 2)
    for given in (X, X.toarray(), X.toarray()[:, :50]):
        if given.shape != X.shape:
            truth = SVC(kernel="linear").fit(sp.csr_array(given), y)
        model = SVC(kernel="linear").fit(given, y)
        assert model.converged_
        assert np.allclose(model.coef_, truth.coef_, rtol=0, atol=1e-8)


@pytest.mark.bits
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("dense", [False, True])
def test_threads_do_not_change_a_bit(precision, dense, without_matrix):
    X, y = texts(4, n=200)
    X = X.toarray() if dense else X
    y = y + 2 * (np.arange(200) % 3 == 0)
    params = {"kernel": "linear", "precision": precision}
    first = SVC(n_jobs=1, **params).fit(X, y)
    for multiclass in ("ovr", "ovo"):
        first = SVC(n_jobs=1, multiclass=multiclass, **params).fit(X, y)
        assert first.converged_
        other = SVC(n_jobs=3, multiclass=multiclass, memory=1, **params).fit(X, y)
        assert np.array_equal(other.dual_coef_, first.dual_coef_)
        assert np.array_equal(other.intercept_, first.intercept_)


@pytest.mark.parametrize("looks", [0, 1, 3, 10])
def test_stopped_at_any_time_the_point_is_feasible(looks, team):
    X, y = texts(5)
    problem = FORMULATIONS["large C"].problem(y, np.ones(len(y)))
    asked = iter(range(10**6))
    found = solve_by_coordinates(
        problem, X, 1e-3, True, team, lambda: "late" if next(asked) >= looks else ""
    )
    assert (problem.lo <= found.beta).all()
    assert (found.beta <= problem.hi).all()
    assert abs(found.beta.sum()) < 1e-9
    K = (X @ X.T).toarray()
    assert np.allclose(found.grad, K @ found.beta + problem.p)


def test_rows_without_entries(team):
    X, y = texts(6)
    X = sp.csr_array(sp.vstack([X, sp.csr_array((20, X.shape[1]))]))
    y = np.append(y, np.arange(20) % 2 * 2 - 1.0)
    problem = FORMULATIONS["linear"].problem(y, np.ones(len(y)))
    for given in (X, X.toarray()):
        assert solve_by_coordinates(problem, given, 1e-3, False, team, lambda: "").converged


def descend_twin(X, p, lo, hi, ridge, diagonal, beta, w, level, stiffness, active):
    for i in active:
        g = X[i] @ w + ridge[i] * beta[i] + p[i] + level
        change = np.clip(beta[i] - g / diagonal[i], lo[i], hi[i]) - beta[i]
        beta[i] += change
        w += change * X[i]
        level += stiffness * change
    return level


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_pass_against_its_twin(dtype):
    X, y = texts(7, n=40, d=30)
    X = X.astype(dtype)
    problem = FORMULATIONS["squared"].problem(y, np.ones(len(y)))
    rng = np.random.default_rng(0)
    beta = np.clip(rng.normal(size=40), problem.lo, problem.hi)
    fixed = problem.p, problem.lo, problem.hi, problem.ridge, rng.uniform(1, 2, 40)
    active = np.arange(40)
    state = loops.shuffle(active, np.uint64(1))
    assert not np.array_equal(active, np.arange(40))
    assert np.array_equal(np.sort(active), np.arange(40))
    assert state != 1
    theirs, other = beta.copy(), X.T @ beta
    twin_level = descend_twin(X.toarray().astype(float), *fixed, theirs, other, 0.3, 0.5, active)
    for descend, matrix in (
        (loops.descend, (X.data, X.indices.view(np.uint32), X.indptr)),
        (loops.descend_dense, (X.toarray(),)),
    ):
        ours, w = beta.copy(), X.T @ beta
        most, least, level, _ = descend(
            *matrix, *fixed, ours, w, 0.3, 0.5, active, np.zeros(40, bool), np.inf, -np.inf
        )
        assert level == pytest.approx(twin_level)
        assert most > 0 > least
        assert np.allclose(ours, theirs)
        assert np.allclose(w, other)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_some_rows_against_their_twin(dtype):
    rng = np.random.default_rng(5)
    X = sp.random(40, 23, 0.3, "csr", dtype, rng)
    w, out = rng.normal(size=23), np.empty(17)
    loops.times(X.data, X.indices.view(np.uint32), X.indptr, w, 9, out)
    assert np.allclose(out, X.toarray()[9:26].astype(float) @ w, rtol=1e-14, atol=1e-14)


def test_rows_far_from_the_margin_are_left_out():
    X, ones = sp.csr_array(np.eye(3)), np.ones(3)
    for descend, matrix in (
        (loops.descend, (X.data, X.indices.view(np.uint32), X.indptr)),
        (loops.descend_dense, (X.toarray(),)),
    ):
        left_out = np.zeros(3, bool)
        descend(
            *matrix, np.array([5.0, 0.1, -5.0]), 0 * ones, ones, 0 * ones, ones,
            np.array([0.0, 0.0, 1.0]), np.zeros(3), 0.0, 0.0, np.arange(3), left_out, 1.0, -1.0,
        )  # fmt: skip
        assert left_out.tolist() == [True, False, True]


def test_sums_over_sparse_rows():
    """As exact as sums of rounded products can be."""
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 7), density=0.5, format="csr", rng=rng)
    X.data *= 10.0 ** rng.integers(-8, 8, X.nnz)
    chosen, coefs = np.arange(0, 300, 2), rng.normal(size=150)
    total = np.zeros(7)
    verified_sums.weigh_rows(X.data, X.indices, X.indptr, chosen, coefs, total)
    dense = X.toarray()[chosen]
    for j in range(7):
        terms = (coefs * dense[:, j]).tolist()
        assert abs(total[j] - math.fsum(terms)) <= 4 * 2.0**-53 * np.abs(terms).sum()
