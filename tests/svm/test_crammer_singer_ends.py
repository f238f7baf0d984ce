"""The multiclass machine on data of any scale: it always ends, and as near to the solution as the
rounding of its own sums allows.
"""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from largemargin.kernels.choosing import make_kernel
from largemargin.svm import SVC, crammer_singer, interior_point

from . import twin
from .problems import several

STEPS = 300_000  # ten rounds of 20,000 and what is in between


def drawn(seed):
    """Few rows of any scale, some of them alike, with any kernel of a degree and any price."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 16)), int(rng.integers(1, 5))
    k = int(rng.integers(2, min(6, n) + 1))
    scale = 10.0 ** rng.uniform(-3, 3)
    X = rng.normal(size=(n, d)) * scale
    if rng.random() < 0.3:
        X = np.round(X / scale * 2) * scale
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    gamma = 10.0 ** rng.uniform(-2, 1) / (scale**2 if rng.random() < 0.7 else 1)
    params = {
        "kernel": "poly",
        "degree": int(rng.integers(1, 5)),
        "C": 10.0 ** rng.uniform(-3, 6),
        "gamma": "scale" if rng.random() < 0.5 else gamma,
        "coef0": float(rng.choice([0.0, 1.0])),
    }
    weight = rng.uniform(0.2, 3, n) if rng.random() < 0.5 else np.ones(n)
    return X, y, weight, params


def gram(X, weight, params):
    kernel = {name: value for name, value in params.items() if name not in ("C", "kernel")}
    return make_kernel("poly", X=X, sample_weight=weight, **kernel)(X, X)


def fitted(seed):
    X, y, weight, params = drawn(seed)
    model = SVC(multiclass="crammer-singer", max_iter=STEPS, **params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, weight)
    assert model.n_iter_[0] < STEPS, seed
    said = [str(w.message) for w in caught if w.category is ConvergenceWarning]
    assert said or model.converged_, seed
    why = "adds" if model.converged_ else "errors leave no better solution"
    assert all(f"rounding {why}" in message for message in said), seed
    coefs = np.zeros((len(model.dual_coef_), len(y)))
    coefs[:, model.support_] = model.dual_coef_
    K = gram(X, weight, params)
    # what the rounding of f = coefs @ K costs at the price of the slacks
    rounding = np.finfo(float).eps * (abs(coefs) @ abs(K)).max(axis=0)
    limit = params["C"] * float(weight @ rounding) / abs(model.objective_[0])
    if np.finfo(float).eps * params["C"] * weight.max() * K.max() > model.tol:
        limit = np.inf  # f of an example at its bound is not known to the tolerance
    # told with all that rounding may add: tens of units, of norms instead of values
    assert model.dual_gap_[0] <= 1e-9 + 2000 * limit, seed
    return model, K, y, weight, params, limit


def test_it_ends_at_the_solution():
    exact = 0
    for seed in range(80):
        model, *_, limit = fitted(seed)
        exact += limit < 1e-6
        assert model.converged_ or limit > 1e-6, seed
    assert exact > 60  # most of them can be solved


def test_small_pivots_do_not_spoil_the_exact_solution():
    """Two examples that are parallel but for rounding: the factors of their matrix tell nothing."""
    model, *_ = fitted(722)
    assert model.dual_gap_[0] < 1e-12


@pytest.mark.full
def test_many_more_end():
    for seed in range(80, 3000):
        fitted(seed)


def test_the_solution_is_that_of_a_general_program():
    compared = 0
    for seed in range(80, 120):
        model, K, y, weight, params, limit = fitted(seed)
        if limit > 1e-12 or abs(np.log10(K.max())) > 3 or not 1e-2 < params["C"] < 1e4:
            continue  # the twin knows nothing of scales
        truth, coefs = twin.crammer_singer(K, y, weight, params["C"], len(set(y)))
        own = np.arange(len(coefs))[:, None] == y
        f = coefs @ K
        slack = np.maximum(0, (f + ~own).max(axis=0) - f[y, np.arange(len(y))])
        upper = (coefs * f).sum() / 2 + params["C"] * float(weight @ slack)
        if upper - truth < 1e-7 * abs(truth):
            assert model.objective_[0] == pytest.approx(truth, rel=2e-7), seed
            compared += 1
    assert compared > 10


@pytest.mark.parametrize("n_classes", [2, 5])
def test_the_matrix_of_the_interior_point_method(n_classes):
    """Its solver against the whole matrix, class by class and sum by sum."""
    rng = np.random.default_rng(0)
    B = rng.normal(size=(6, 4))
    system = crammer_singer.Simplices(B @ B.T, n_classes)
    Q = np.kron(np.eye(n_classes), B @ B.T)
    A = np.kron(np.ones((1, n_classes)), np.eye(6))
    x, y, theta = rng.normal(size=6 * n_classes), rng.normal(size=6), rng.uniform(0.1, 2, len(Q))
    assert np.allclose(system.times(x), Q @ x)
    assert np.allclose(system.sums(x), A @ x)
    assert np.allclose(system.spread(y), A.T @ y)
    whole = np.block([[Q + np.diag(theta), -A.T], [A, np.zeros((6, 6))]])
    dx, dy = system.factor(theta)(x, y)
    assert np.allclose(whole @ np.concatenate([dx, dy]), np.concatenate([x, y]))
    dense = interior_point.Dense(Q, A).factor(theta)(x, y)
    assert np.allclose(dense[0], dx)


def test_a_block_among_others_by_the_interior_point_method(monkeypatch):
    """Where steps are given up at once, what is not in the block counts in its solution."""
    X, y = several(3, n=60, n_classes=4, noise=1.0)
    params = {"C": 1e4, "kernel": "poly", "gamma": 0.5, "multiclass": "crammer-singer"}
    whole = SVC(**params).fit(X, y)
    monkeypatch.setattr("largemargin.svm.session.WHOLE_GRAM_ROWS", 0)
    monkeypatch.setattr(crammer_singer, "WORKING_SET", 40)
    monkeypatch.setattr(crammer_singer, "SMO_STEPS", 10)
    blocks = SVC(**params).fit(X, y)
    assert blocks.converged_
    assert blocks.objective_[0] == pytest.approx(whole.objective_[0], rel=1e-9)
