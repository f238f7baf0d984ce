"""Every machine against its program in full, given to a general solver."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, NuLPSVC
from largemargin.lp import column_generation as solver
from largemargin.lp import kernel_values
from tests.svm.problems import KERNELS, noisy, separable

from . import twin

MACHINES = {
    "lp": (LPSVC, {"C": 0.7}, lambda K, y, s: twin.lp_machine(K, y, s, 0.7)),
    "lp-cheap": (LPSVC, {"C": 1e-3}, lambda K, y, s: twin.lp_machine(K, y, s, 1e-3)),
    "lp-dear": (LPSVC, {"C": 1e5}, lambda K, y, s: twin.lp_machine(K, y, s, 1e5)),
    "nu-lp": (NuLPSVC, {"nu": 0.3}, lambda K, y, s: twin.nu_machine(K, y, s, 0.3)),
    "leave-one-out": (LeaveOneOutSVC, {}, lambda K, y, s: twin.adaptive_margin(K, y, s, 1.0)),
    "adaptive-0": (
        AdaptiveMarginSVC, {"lam": 0.0}, lambda K, y, s: twin.adaptive_margin(K, y, s, 0.0),
    ),
    "adaptive-3": (
        AdaptiveMarginSVC, {"lam": 3.0}, lambda K, y, s: twin.adaptive_margin(K, y, s, 3.0),
    ),
    "adaptive-1e6": (
        AdaptiveMarginSVC, {"lam": 1e6}, lambda K, y, s: twin.adaptive_margin(K, y, s, 1e6),
    ),
}  # fmt: skip
machines = pytest.mark.parametrize("machine", MACHINES)
pytestmark = pytest.mark.filterwarnings("ignore:nu=0.3 is less:UserWarning")


def fit(machine, X, y, sample_weight=None, **parameters):
    kind, own, _ = MACHINES[machine]
    return kind(**own, **parameters).fit(X, y, sample_weight)


def check(machine, model, K, y, weights=None, tol=1e-7):
    """The objective is the general solver's, and the coefficients are optimal by themselves."""
    s = np.ones(len(y)) if weights is None else weights
    program = MACHINES[machine][2](K, y, s)
    wanted, *multipliers = twin.solve(program)
    trifle = 1e-11 * np.abs(program.cost).sum()
    assert abs(model.objective_[0] - wanted) <= tol * abs(wanted) + trifle
    assert model.converged_
    assert model.dual_gap_[0] <= tol
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.dual_coef_[0] * y[model.support_]
    rho = getattr(model, "margin_", [1.0])[0]
    twin.check_optimal(program, multipliers, alpha, model.intercept_[0], rho)


@machines
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("problem", [noisy, separable])
def test_objective_and_conditions(machine, kernel, problem):
    parameters, values = KERNELS[kernel]
    X, y = problem(1, n=30)
    K = values(X, X)
    model = fit(machine, K if kernel == "precomputed" else X, y, **parameters)
    check(machine, model, K, y)


@machines
def test_weights(machine):
    X, y = noisy(2, n=30)
    s = np.random.default_rng(0).uniform(0.1, 4.0, len(y))
    check(machine, fit(machine, X, y, s, gamma=0.5), rbf_kernel(X, gamma=0.5), y, s)


@machines
def test_samples_that_grow(machine, monkeypatch):
    """From 16 examples to 64 to 200, with few of them and of their coefficients in the program."""
    monkeypatch.setattr(solver, "SAMPLE", 16)
    monkeypatch.setattr(solver, "NEW_COEFFICIENTS", 3)
    monkeypatch.setattr(solver, "NEW_EXAMPLES", 5)
    X, y = noisy(3, n=200)
    check(machine, fit(machine, X, y, gamma=0.5), rbf_kernel(X, gamma=0.5), y)


@pytest.mark.bits
@machines
def test_rows_on_request(machine, monkeypatch):
    """Rows that are computed when asked for, with no memory to keep them, give the same."""
    monkeypatch.setattr(solver, "SAMPLE", 40)
    X, y = noisy(4, n=150)
    expected = fit(machine, X, y, gamma=0.5)
    monkeypatch.setattr(kernel_values, "WHOLE", 0)
    found = [fit(machine, X, y, gamma=0.5, memory=memory) for memory in ("1MB", 1)]
    np.testing.assert_array_equal(found[0].dual_coef_, found[1].dual_coef_)
    assert np.allclose(found[0].objective_, expected.objective_, rtol=1e-9)
    check(machine, found[0], rbf_kernel(X, gamma=0.5), y)


def twins(X, y):
    return np.repeat(X, 3, axis=0), np.repeat(y, 3)


def contradictions(X, y):
    return np.r_[X, X[:10]], np.r_[y, -y[:10]]


def one_a_class(X, y):
    return X[:2], y[:2]


def one_against_many(X, y):
    return np.r_[X[y > 0], X[y < 0][:1]], np.r_[y[y > 0], -1]


def constant(X, y):
    return np.ones_like(X), y


def on_a_grid(X, y):
    return np.round(X), y


@machines
@pytest.mark.parametrize(
    "degenerate", [twins, contradictions, one_a_class, one_against_many, constant, on_a_grid]
)
def test_degenerate_data(machine, degenerate, monkeypatch):
    monkeypatch.setattr(solver, "SAMPLE", 20)
    X, y = degenerate(*noisy(5, n=40))
    if machine == "nu-lp" and degenerate is one_against_many:
        return  # nu is infeasible there
    check(machine, fit(machine, X, y, gamma=0.7), rbf_kernel(X, gamma=0.7), y)


@machines
def test_a_kernel_that_is_not_symmetric(machine):
    X, y = noisy(6, n=30)
    K = rbf_kernel(X, gamma=0.5) + 0.2 * np.random.default_rng(0).normal(size=(30, 30))
    model = fit(machine, K, y, kernel="precomputed")
    check(machine, model, K, y)
    assert np.allclose(
        model.decision_function(K), model.dual_coef_[0] @ K[:, model.support_].T + model.intercept_
    )


@machines
def test_sparse_and_float32_input(machine):
    X, y = noisy(7, n=40)
    X = np.where(np.abs(X) < 0.5, 0, X).astype(np.float32)
    dense = fit(machine, X.astype(float), y, gamma=0.5)
    sparse = fit(machine, sp.csr_array(X), y, gamma=0.5)
    single = fit(machine, X, y, gamma=0.5, precision="float32")
    assert np.allclose(dense.objective_, sparse.objective_, rtol=1e-9)
    assert np.allclose(dense.objective_, single.objective_, rtol=1e-4, atol=1e-6)


@pytest.mark.bits
@machines
def test_the_number_of_threads_does_not_matter(machine, monkeypatch):
    monkeypatch.setattr(kernel_values, "WHOLE", 0)
    X, y = noisy(8, n=60)
    one, two = (fit(machine, X, y, gamma=0.5, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
