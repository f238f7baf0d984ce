"""What a machine tells of itself holds: its objective and its gap, evaluated from what is stored,
in extended precision, against the program in full given to a general solver.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, MaxMarginHyperplane, NuLPSVC
from largemargin.kernels import Matern
from largemargin.lp.exact_values import ExactValues, longer_values
from largemargin.lp.proof import LARGER
from largemargin.runtime.threads import workers
from tests.hyperplane import twin as hyperplane_twin

L = np.longdouble
ROUNDING = 1e-14


def gram(kernel, X, gamma, nu=1.5):
    X, gamma = X.astype(L), L(gamma)
    if kernel == "linear":
        return X @ X.T
    if kernel == "poly":
        return (gamma * (X @ X.T) + 1) ** 2
    if kernel == "sigmoid":
        return np.tanh(gamma * (X @ X.T) + 1)
    apart = X[:, None] - X[None]
    if kernel == "rbf":
        return np.exp(-gamma * (apart**2).sum(2))
    if kernel == "matern":
        s = np.sqrt(4 * L(nu) * gamma * (apart**2).sum(2))
        return {0.5: 1, 1.5: 1 + s, 2.5: 1 + s + s**2 / 3}[nu] * np.exp(-s)
    return np.exp(-gamma * np.abs(apart).sum(2))


def objective(kind, value, K, y, s, alpha, b, rho):
    margins = y * (K @ (alpha * y) + b)
    if kind == "adaptive":
        return (s * np.maximum(0, 1 - margins + L(value) * alpha / s * np.diagonal(K))).sum()
    if kind == "lp":
        return alpha.sum() + (L(value) * s * np.maximum(0, 1 - margins)).sum()
    return (s / s.sum() * np.maximum(0, rho - margins)).sum() - L(value) * rho


def others(kind, value, K, y, s, most):
    """What general solvers propose: coefficients up to `most`, threshold, margin."""
    m, K = len(y), K.astype(float)
    B = y[:, None] * K * y
    if kind == "adaptive":
        B = B - np.diag(value * np.diagonal(K) / s)
    A, bounds = np.c_[B, np.eye(m)], [(0, most)] * m + [(0, None)] * m
    cost = np.r_[np.full(m, float(kind == "lp")), (value if kind == "lp" else 1.0) * s]
    least, E, e = np.ones(m), None, None
    if kind == "nu":
        A = np.c_[A, y, -np.ones(m)]
        cost = np.r_[np.zeros(m), s / s.sum(), 0, -value]
        bounds, least = [*bounds, (None, None), (0, None)], np.zeros(m)
        E, e = np.r_[np.ones(m), np.zeros(m + 2)][None], np.ones(1)
    sizes = np.abs(A).max(axis=0)
    sizes[sizes == 0] = 1.0
    cost = cost / sizes
    bounds = [
        tuple(None if end is None else end * size for end in pair)
        for pair, size in zip(bounds, sizes, strict=True)
    ]
    for method in ("highs-ds", "highs-ipm"):
        result = linprog(
            cost / np.abs(cost).max(), -A / sizes, -least, None if E is None else E / sizes, e,
            bounds, method=method,
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )  # fmt: skip
        if result.x is None:
            continue
        v = (result.x / sizes).astype(L)
        alpha = np.clip(v[:m], 0, most)
        total = alpha.sum() if kind == "nu" else L(1)
        if total > 0:
            b, rho = (v[-2], max(v[-1], L(0))) if kind == "nu" else (L(0), L(1))
            yield alpha / total, b / total, rho / total


def random_data(rng):
    n, d = int(rng.integers(2, 41)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.choice([0, 0.3, 1.0]) * rng.normal(size=n) > 0, 1.0, -1.0)
    if rng.random() < 0.15:
        y = -np.ones(n)
        y[rng.integers(n)] = 1
    y[:2] = -1, 1
    shape = rng.random()
    if shape < 0.15:
        X = np.round(X)
    elif shape < 0.25 and n > 4:
        X[n // 2 :] = X[: n - n // 2]
    elif shape < 0.3:
        X[:, 0] = 1.0
    scale = 10 ** rng.uniform(-6, 6) if rng.random() < 0.6 else 1.0
    s = np.ones(n)
    if rng.random() < 0.4:
        s = rng.integers(1, 4, n).astype(float)
    elif rng.random() < 0.3:
        s = 10 ** rng.uniform(-2, 2, n)
    return X * scale, y, s, scale


def random_machine(rng, y, s, scale):
    kernel = str(rng.choice(["linear", "poly", "rbf", "rbf", "rbf", "laplacian", "sigmoid"]))
    gamma = 10 ** rng.uniform(-2, 2) / (scale if kernel == "laplacian" else scale**2)
    if rng.random() < 0.15:
        gamma *= 10 ** rng.uniform(-3, 3)
    kind = str(rng.choice(["lp", "nu", "leave-one-out", "adaptive"]))
    if kind == "lp":
        value = 10 ** rng.uniform(-6, 12)
        model = LPSVC(C=value)
    elif kind == "nu":
        share = s[y > 0].sum() / s.sum()
        most = 2 * min(share, 1 - share)
        value = most * float(rng.choice([1.0, 1 - 1e-9, rng.uniform(), 1e-3, 1e-9, 0.5]))
        model = NuLPSVC(nu=value)
    elif kind == "leave-one-out":
        kind, value, model = "adaptive", 1.0, LeaveOneOutSVC()
    else:
        value = float(rng.choice([0.0, 10 ** rng.uniform(-6, 6), 10 ** rng.uniform(-1, 1)]))
        model = AdaptiveMarginSVC(lam=value)
    return kind, value, model.set_params(kernel=kernel, gamma=gamma, degree=2, n_jobs=1)


def check_machine(seed, nu=None):
    """True if the machine converged; with the Matern kernel if nu is given."""
    rng = np.random.default_rng(seed)
    X, y, s, scale = random_data(rng)
    kind, value, model = random_machine(rng, y, s, scale)
    if nu is not None:
        gamma = model.gamma / (scale if model.kernel == "laplacian" else 1.0)
        model.set_params(kernel="matern", matern_nu=nu, gamma=gamma)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, s)
    K = gram(model.kernel, X, model.gamma, model.matern_nu)
    alpha = np.zeros(len(y), L)
    alpha[model.support_] = model.dual_coef_[0] * y[model.support_]
    rho = L(getattr(model, "margin_", [1.0])[0])
    reached = objective(kind, value, K, y, s, alpha, L(model.intercept_[0]), rho)
    size = float(np.abs(np.diagonal(K)).max()) or 1.0
    most = LARGER * max(float(alpha.max()), 1 / size) if kind != "nu" else None
    proposed = others(kind, value, K, y, s, most)
    best = min([objective(kind, value, K, y, s, *p) for p in proposed], default=reached)
    trifle = {"lp": 0.0, "nu": 1e-2 * value * size, "adaptive": 1e-4 * s.sum()}[kind]
    unit = max(abs(reached), abs(min(best, reached)), trifle)
    gap, told = model.dual_gap_[0], model.objective_[0]
    assert gap >= 0
    assert reached - best <= (gap + ROUNDING) * unit, seed
    assert abs(told - reached) <= (gap + ROUNDING) * unit, seed
    assert model.converged_ == (gap <= model.tol)
    return model.converged_


def check_hyperplane(seed):
    rng = np.random.default_rng(seed)
    X, y, s, scale = random_data(rng)
    p = float(rng.choice([1.0, 2.0, np.inf, 1.3, 4.0]))
    C = 10 ** rng.uniform(-3, 10) / scale ** hyperplane_twin.power(p)
    model = MaxMarginHyperplane(norm=p, C=C)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, s)
    w, b = model.coef_[0].astype(L), L(model.intercept_[0])
    lack = np.maximum(0, 1 - y * (X.astype(L) @ w + b))
    r, largest = L(hyperplane_twin.power(p)), np.abs(w).max()
    length = largest
    if not np.isinf(p) and largest > 0:
        length = largest * ((np.abs(w) / largest) ** L(p)).sum() ** (1 / L(p))
    reached = length**r / r + L(C) * (s * lack).sum()
    gap, told = model.dual_gap_[0], model.objective_[0]
    assert gap >= 0
    assert abs(told - reached) <= (gap + ROUNDING) * reached, seed
    assert model.converged_ == (gap <= model.tol)
    return model.converged_


def test_machines_are_what_they_tell():
    check_machine(1713)  # coefficients of 1e6 at C = 4e8: what a multiple is rounded by counts
    assert np.mean([check_machine(seed) for seed in range(100)]) > 0.9


def test_hyperplanes_are_what_they_tell():
    assert np.mean([check_hyperplane(seed) for seed in range(30)]) > 0.8


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_machines_with_matern_kernels(nu):
    assert np.mean([check_machine(seed, nu) for seed in range(20)]) > 0.8


@pytest.mark.full
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_hundreds_of_machines_with_matern_kernels(nu):
    assert np.mean([check_machine(seed, nu) for seed in range(20, 520)]) > 0.9


@pytest.mark.skipif(np.finfo(L).eps > 1e-18, reason="nothing to compare with")
@pytest.mark.parametrize("layout", ["dense", "sparse", "finer"])
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_sums_of_matern_values(nu, layout):
    """Off by what is told, between rows that nearly coincide too; and not much more is told."""
    rng = np.random.default_rng(3)
    tightest = 0.0
    for gamma, shift in ((0.01, 0.0), (0.5, 0.0), (0.5, 30.0), (20.0, 3.0)):
        X = rng.normal(size=(40, 3)) + shift
        apart = 10.0 ** -np.arange(1, 11)[:, None]
        X[0], X[1:11] = 0.0, X[11] + apart * rng.normal(size=(10, 3))
        coefs, own = rng.normal(size=40), np.zeros(40)
        K = gram("matern", X, gamma, nu)
        rows = sp.csr_array(X) if layout == "sparse" else X
        with workers(1) as team:
            values = ExactValues(rows, Matern(nu, gamma), team, finer=layout == "finer")
            for j in ([11], np.arange(40)):  # one term: nothing but the kernel's own error
                sums, error = values.sums(np.array(j), coefs[j], own, scores=True)
                off = np.abs(sums - K[:, j] @ coefs[j])
                assert (off <= error).all()
                # with nu = 1/2 more is lost between those that nearly coincide, a quarter of them
                assert (error <= 1e-11 * (1 + shift**2) * max(1, gamma)).mean() > 0.6
                tightest = max(tightest, float((off / error).max()))
    assert tightest > 0.01


@pytest.mark.skipif(np.finfo(L).eps > 1e-18, reason="nothing to compare with")
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_longer_matern_values(nu):
    """To the last digits of extended precision, the third of nu = 5/2 too."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    off = np.abs(longer_values(Matern(nu, 0.5), X, X) / gram("matern", X, 0.5, nu) - 1)
    assert off[~np.eye(30, dtype=bool)].max() < 1e-17


@pytest.mark.full
def test_thousands_of_machines():
    assert np.mean([check_machine(seed) for seed in range(100, 2100)]) > 0.9


@pytest.mark.full
def test_hundreds_of_hyperplanes():
    assert np.mean([check_hyperplane(seed) for seed in range(30, 330)]) > 0.8


@pytest.mark.parametrize("size", [1e5, 1e7, 1e9])
def test_large_coefficients_are_proven_or_said_not_to_be(size):
    """Each example has one friend, and a value of 1 / size with it."""
    rng = np.random.default_rng(0)
    n = 20
    K = np.eye(n)
    for i in range(0, n, 2):
        K[i, i + 1] = K[i + 1, i] = 1 / size
    K += np.triu(rng.uniform(0, 0.1 / size, (n, n)), 1)
    y = np.where(np.arange(n) // 2 % 2, 1.0, -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LeaveOneOutSVC(kernel="precomputed").fit(K, y)
    alpha = np.zeros(n, L)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    reached = objective("adaptive", 1.0, K.astype(L), y, np.ones(n), alpha, L(0), L(1))
    told = model.dual_gap_[0] * max(reached, 1e-4 * n)
    assert abs(reached - model.objective_[0]) <= told + 1e-14
    assert model.converged_ == (model.dual_gap_[0] <= model.tol)


def test_a_price_that_rounding_could_not_pay():
    """A margin short of 1 by a last bit would cost 1e-4 at this C."""
    X, y = np.array([[-1.1], [-0.7], [0.9], [1.3]]), np.array([-1.0, -1.0, 1.0, 1.0])
    model = LPSVC(C=1e12, gamma=0.37).fit(X, y)
    alpha = np.zeros(4, L)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    K = gram("rbf", X, 0.37)
    reached = objective("lp", 1e12, K, y, np.ones(4), alpha, L(0), L(1))
    assert abs(model.objective_[0] - reached) <= 1e-12 * reached
    assert model.converged_
