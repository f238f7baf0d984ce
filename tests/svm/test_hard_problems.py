"""Problems that many steps do not end."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from largemargin.kernels.functions import Linear, Polynomial
from largemargin.svm import SVC, NuSVC, chunking, low_rank, single_first

from .problems import noisy


def by_rows(K):
    return low_rank.factor_by_rows(np.diagonal(K), lambda some: K[some], 2.0**-53)


@pytest.mark.parametrize("name", ["poly", "wide"])
def test_columns_from_some_rows_give_all_values(name):
    X, _ = noisy(0, n=300, n_features=2)
    K = polynomial_kernel(X, degree=3) if name == "poly" else rbf_kernel(X, gamma=0.01)
    L = by_rows(K)
    assert L.shape[1] <= (10 if name == "poly" else 60)
    assert abs(L @ L.T - K).max() <= 1e-14 * K.max()


def test_there_are_no_columns_for_a_narrow_kernel_or_when_it_is_stopped():
    X, _ = noisy(0, n=60, n_features=2)
    K = rbf_kernel(X, gamma=50.0)
    assert by_rows(K) is None
    assert not by_rows(np.zeros((8, 8))).any()
    K = polynomial_kernel(X, degree=1)
    assert by_rows(K) is not None
    stopped = low_rank.factor_by_rows(np.diagonal(K), lambda some: K[some], 2.0**-53, lambda: "now")
    assert stopped is None


@pytest.mark.parametrize("coef0", [0.0, 1.0])
def test_the_dimensions_of_a_polynomial(coef0):
    X = np.random.default_rng(0).normal(size=(60, 3))
    kernel = Polynomial(degree=3, coef0=coef0)
    assert np.linalg.matrix_rank(kernel(X, X)) == kernel.dimensions(3)
    assert Linear().dimensions(3) == 3


@pytest.mark.parametrize("machine", ["linear", "squared", "squared-sum", "nu", "hard"])
@pytest.mark.parametrize("n", [240, 2100])
def test_in_few_dimensions_from_the_start(machine, n, monkeypatch):
    """The machine is the same; whole matrices end between the two numbers of rows."""
    X, y = noisy(3, n=n, n_features=2)
    kernel = {"kernel": "poly", "degree": 2}
    if machine == "hard":
        y = np.where((X**2).sum(axis=1) > 1, 1, 0)
        far = abs((X**2).sum(axis=1) - 1) > 0.2
        X, y, model = X[far], y[far], SVC(C=np.inf, **kernel)
    elif machine == "nu":
        model = NuSVC(nu=0.6, **kernel)
    else:
        model = SVC(C=3.0, slack=machine, **kernel)
    usual = model.fit(X, y).objective_
    monkeypatch.setattr("largemargin.svm.solving.Solving._patience", lambda self, n: 0.0)
    model.fit(X, y)
    assert model.converged_
    assert model.dual_gap_[0] < 1e-5
    assert np.allclose(model.objective_, usual, rtol=1e-6)


def test_a_price_that_steps_take_long_for():
    """Some ten million steps, if nothing else were tried."""
    X, y = noisy(5, n=2200, n_features=6)
    model = SVC(C=1000.0, slack="squared", kernel="poly", degree=2, gamma=0.2).fit(X, y)
    assert model.converged_
    assert model.n_iter_[0] < 200_000
    K = polynomial_kernel(X, degree=2, gamma=0.2, coef0=1.0)
    coefs = np.zeros(len(y))
    coefs[model.support_] = model.dual_coef_[0]
    f = K @ coefs
    slacks = np.maximum(0, 1 - np.where(y == model.classes_[1], 1, -1) * (f + model.intercept_))
    primal = coefs @ f / 2 + 1000 * (slacks**2).sum()
    dual = abs(coefs).sum() - coefs @ f / 2 - (coefs**2).sum() / 4000
    assert -1e-9 < (primal - dual) / primal <= model.dual_gap_[0] < 1e-4


def test_values_in_float32_that_never_meet_the_tolerance():
    """Large coefficients of few distinct rows: float32 leaves more than the tolerance."""
    rng = np.random.default_rng(0)
    X = np.eye(5)[rng.integers(5, size=(2100, 3))].reshape(2100, 15)
    y = (X @ rng.normal(size=15) > 0) ^ (rng.random(2100) < 0.1)
    model = SVC(C=1e5, slack="squared", kernel="poly", degree=2, precision="float32").fit(X, y)
    assert model.converged_


@pytest.mark.parametrize("in_matrix", [True, False])
def test_many_free_variables_are_taken_beyond_the_tolerance(in_matrix, monkeypatch):
    """Until the objective is known well, and no further."""
    X, y = noisy(1, n=2100, n_features=4)
    monkeypatch.setattr(single_first, "MOST_NEAR", 10)
    monkeypatch.setattr(single_first, "MANY_ENTRIES", 0 if in_matrix else 100)
    monkeypatch.setattr(chunking, "MOST_FREE", 10)
    fits = {}
    for close in (np.inf, 2e-3, 0.0):
        monkeypatch.setattr(chunking, "CLOSE", close)
        fits[close] = SVC(C=1000.0, gamma=1.0, tol=0.1).fit(X, y)
        assert fits[close].converged_
    gaps = {close: float(model.dual_gap_[0]) for close, model in fits.items()}
    assert gaps[np.inf] > 2e-3 > gaps[2e-3] >= gaps[0.0]
    steps = {close: int(model.n_iter_[0]) for close, model in fits.items()}
    assert steps[np.inf] < steps[2e-3]
    assert in_matrix or steps[2e-3] < steps[0.0]


def test_rounds_that_lead_nowhere_end():
    progress = chunking.Progress()
    assert not progress.is_over(1.0, -1.0)
    for k in range(3 * chunking.STALLED_ROUNDS):  # slow, but it falls
        assert not progress.is_over(1.0, -1.0 - 1e-7 * (k + 1))
    left = [progress.is_over(1.0 + k % 2, -1.0) for k in range(chunking.STALLED_ROUNDS + 1)]
    assert left == [False] * chunking.STALLED_ROUNDS + [True]
