"""The same problem given to scikit-learn: objectives and decision values on real data."""

from functools import cache

import numpy as np
import pytest
from sklearn import svm as peer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.metrics import pairwise
from sklearn.preprocessing import minmax_scale, scale

from largemargin.svm import SVC, NuSVC

from . import twin


@cache
def real(name):
    loader = {"breast cancer": load_breast_cancer, "digits": load_digits, "iris": load_iris}[name]
    X, y = loader(return_X_y=True)
    X = X / 16 if name == "digits" else scale(X)
    return (X[:700], y[:700]) if name == "digits" else (X, y)


KERNELS = {
    "linear": ({"kernel": "linear"}, pairwise.linear_kernel),
    "rbf": ({"gamma": 0.05}, lambda A: pairwise.rbf_kernel(A, gamma=0.05)),
    "poly": (
        {"kernel": "poly", "degree": 3, "gamma": 0.05, "coef0": 1.0},
        lambda A: pairwise.polynomial_kernel(A, degree=3, gamma=0.05, coef0=1),
    ),
}


def objective(model, K, y, C):
    """The dual objective of a peer's two-class machine, from its coefficients."""
    coefs = np.zeros(len(y))
    coefs[model.support_] = model.dual_coef_[0]
    return twin.dual(K, y, np.ones(len(y)), coefs, C)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_soft_margin_on_breast_cancer(name, C):
    X, y = real("breast cancer")
    params, kernel = KERNELS[name]
    ours, theirs = SVC(C=C, **params).fit(X, y), peer.SVC(C=C, **params).fit(X, y)
    reached = objective(theirs, kernel(X), 2.0 * y - 1, C)
    assert ours.objective_[0] >= reached - 1e-9 * abs(reached)  # it is maximised
    assert abs(ours.objective_[0] - reached) < 1e-4 * abs(reached)
    scores = theirs.decision_function(X)
    assert np.allclose(ours.decision_function(X), scores, atol=5e-3 * (1 + abs(scores).max()))
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.998
    assert set(theirs.support_[abs(theirs.dual_coef_[0]) > 0.01 * C]) <= set(ours.support_)


@pytest.mark.parametrize("name", KERNELS)
def test_tight_tolerances_meet(name):
    X, y = real("breast cancer")
    params, _ = KERNELS[name]
    ours = SVC(C=2.0, **params).fit(X, y)
    theirs = peer.SVC(C=2.0, tol=1e-9, **params).fit(X, y)
    scores = theirs.decision_function(X)
    assert np.allclose(ours.decision_function(X), scores, atol=1e-6 * (1 + abs(scores).max()))
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)
    if name == "linear":
        assert np.allclose(ours.coef_, theirs.coef_, atol=1e-6)


def test_weights_are_those_of_the_peer():
    X, y = real("breast cancer")
    weight = np.random.default_rng(0).uniform(0, 3, len(y))
    ours = SVC(gamma=0.05, class_weight={0: 2.0}).fit(X, y, weight)
    theirs = peer.SVC(gamma=0.05, class_weight={0: 2.0}, tol=1e-9).fit(X, y, weight)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("name", ["rbf", "linear"])
def test_nu_on_breast_cancer(nu, name):
    X, y = real("breast cancer")
    params, kernel = KERNELS[name]
    ours, theirs = NuSVC(nu=nu, **params).fit(X, y), peer.NuSVC(nu=nu, **params).fit(X, y)
    # theirs is in the scale of rho = 1: the ratio of the objectives is that of the squares of rho
    alpha = np.zeros(len(y))
    alpha[theirs.support_] = theirs.dual_coef_[0]
    alpha *= nu / abs(alpha).sum()
    reached = -alpha @ kernel(X) @ alpha / 2
    assert abs(ours.objective_[0] - reached) < 1e-4 * abs(reached)
    scores = theirs.decision_function(X)
    assert np.allclose(ours.decision_function(X), scores, atol=2e-2 * abs(scores).max())
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.995


@pytest.mark.parametrize("data", ["iris", "digits"])
def test_one_vs_one(data):
    X, y = real(data)
    ours = SVC(C=5.0, gamma=0.05, multiclass="ovo").fit(X, y)
    theirs = peer.SVC(C=5.0, gamma=0.05, tol=1e-8, decision_function_shape="ovo").fit(X, y)
    K = pairwise.rbf_kernel(X, ours.support_vectors_, gamma=0.05)
    scores = ours.dual_coef_ @ K.T + ours.intercept_[:, None]
    assert np.allclose(scores.T, -theirs.decision_function(X), atol=1e-5)  # theirs is for the first
    theirs.decision_function_shape = "ovr"
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    assert np.array_equal(ours.predict(X), ours.decision_function(X).argmax(axis=1))
    theirs.break_ties = True
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_one_vs_rest_on_digits():
    X, y = real("digits")
    ours = SVC(C=2.0, gamma=0.05).fit(X, y)
    K = pairwise.rbf_kernel(X, gamma=0.05)
    for c in (0, 3, 8):
        theirs = peer.SVC(C=2.0, gamma=0.05).fit(X, y == c)
        reached = objective(theirs, K, np.where(y == c, 1.0, -1.0), 2.0)
        assert abs(ours.objective_[c] - reached) < 1e-4 * reached
        assert np.allclose(ours.decision_function(X)[:, c], theirs.decision_function(X), atol=5e-3)


def test_the_hard_margin_is_the_limit_of_a_large_c():
    X, y = real("iris")
    X, y = X[:100], y[:100]
    ours = SVC(C=np.inf, kernel="linear").fit(X, y)
    theirs = peer.SVC(C=1e8, kernel="linear", tol=1e-9).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    assert ours.margin_[0] == pytest.approx(1 / np.linalg.norm(theirs.coef_))


@pytest.mark.parametrize("slack", ["linear", "squared", "squared-sum"])
@pytest.mark.parametrize("data", ["breast cancer", "digits"])
def test_gap_and_slackness_recomputed(slack, data):
    """From public attributes alone: the two objectives, the box, and complementary slackness."""
    X, y = real(data)
    C = 0.7
    s = np.random.default_rng(1).uniform(0.5, 2, len(y))
    model = SVC(C=C, slack=slack, gamma=0.05).fit(X, y, s)
    K = pairwise.rbf_kernel(X, gamma=0.05)
    positives = [1] if data == "breast cancer" else range(10)
    for p, c in enumerate(positives):
        signs = np.where(y == c, 1.0, -1.0)
        coefs = np.zeros(len(y))
        coefs[model.support_] = model.dual_coef_[p]
        b = model.intercept_[p]
        upper = twin.primal(K, signs, s, coefs, b, C, slack)
        lower = twin.dual(K, signs, s, coefs, C, slack)
        assert model.objective_[p] == pytest.approx(lower, rel=1e-9)
        assert -1e-12 < (upper - lower) / upper < 1e-6
        assert model.dual_gap_[p] == pytest.approx((upper - lower) / upper, abs=1e-9)
        alpha, margins = signs * coefs, signs * (K @ coefs + b)
        assert abs(coefs.sum()) < 1e-9
        assert (alpha >= 0).all()
        xi = np.maximum(0, 1 - margins)
        if slack == "squared":  # alpha = 2 C s xi
            assert np.allclose(alpha, 2 * C * s * xi, atol=1e-6)
            continue
        end = C if slack == "linear" else 2 * C * (s @ xi)
        assert (alpha <= end * s * (1 + 1e-7)).all()
        assert (margins[alpha == 0] >= 1 - 1e-6).all()
        assert (margins[alpha >= end * s * (1 - 1e-7)] <= 1 + 1e-6).all()
        inside = (alpha > 0) & (alpha < end * s * (1 - 1e-7))
        assert np.allclose(margins[inside], 1, atol=1e-6)


def test_unscaled_features_end():
    """Numbers from 0.001 to 4,000 in one row, the linear kernel: slow for pairs of steps."""
    X, y = load_breast_cancer(return_X_y=True)
    model = SVC(kernel="linear", max_iter=10**6).fit(X, y)
    assert model.converged_
    assert model.dual_gap_[0] < 1e-4
    small = minmax_scale(X)
    assert SVC(kernel="linear", C=1e6, max_iter=10**6).fit(small, y).converged_
