"""`LinearSVC`: its solvers against general ones, and its objective against LIBLINEAR's."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from largemargin.dropin import LinearSVC
from largemargin.dropin.absolute_norm import duality_gap
from largemargin.dropin.crammer_singer_loops import level_of
from largemargin.dropin.newton import LinearProblem, best_length

SETTINGS = [
    {}, {"dual": True, "C": 30.0}, {"loss": "hinge"}, {"penalty": "l1"},
    {"penalty": "l1", "C": 30.0, "intercept_scaling": 10.0}, {"multi_class": "crammer_singer"},
    {"class_weight": "balanced", "fit_intercept": False}, {"loss": "hinge", "intercept_scaling": 5},
]  # fmt: skip


def losses(model, slack):
    return slack if model.loss == "hinge" else slack**2


def objective(model, X, y, weights=1.0):
    """What LIBLINEAR minimises, summed over the functions of the classes."""
    scaling = model.intercept_scaling if model.fit_intercept else 1.0
    intercepts = np.reshape(model.intercept_ + np.zeros(len(model.coef_)), (-1, 1))
    W = np.hstack([model.coef_, intercepts / scaling])
    Z = np.hstack([X, np.full((len(X), 1), float(scaling))])
    costs = model.C * weights * np.ones(len(X))
    if model.multi_class == "crammer_singer":
        W = np.vstack([-W / 2, W / 2]) if len(W) == 1 else W
        own, scores = np.searchsorted(model.classes_, y), Z @ W.T
        each = np.arange(len(y))
        loss = 1 + scores - scores[each, own][:, None]
        loss[each, own] = 0
        return (W**2).sum() / 2 + costs @ loss.max(axis=1)
    total = 0.0
    for c, w in zip(model.classes_[-len(W) :], W, strict=True):
        slack = np.maximum(0, 1 - np.where(y == c, 1, -1) * (Z @ w))
        total += np.abs(w).sum() if model.penalty == "l1" else w @ w / 2
        total += costs @ losses(model, slack)
    return total


@pytest.mark.crossing
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_wine])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_objective_is_no_worse_than_that_of_liblinear(settings, load):
    X, y = load(return_X_y=True)
    X = scale(X)[::2]
    y = y[::2]
    ours, theirs = (cls(**settings).fit(X, y) for cls in (LinearSVC, svm.LinearSVC))
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    weights = len(y) / len(ours.classes_) / np.bincount(y)[y] if ours.class_weight else 1.0
    assert objective(ours, X, y, weights) <= objective(theirs, X, y, weights) * (1 + 2e-5)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.97


def small():
    chance = np.random.default_rng(4)
    X = chance.normal(size=(40, 3))
    y = (X @ [1.0, -1.0, 0.0] + 0.7 * chance.normal(size=40) > 0.2).astype(int)
    return X, y, chance.uniform(0.1, 3.0, 40)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_squared_hinge_loss_against_a_general_solver(penalty, kind):
    X, y, weights = small()
    model = LinearSVC(penalty=penalty, C=0.3, tol=1e-10).fit(kind(X), y, weights)
    Z, signs = np.hstack([X, np.ones((40, 1))]), np.where(y == 1, 1, -1)

    def value(parts):  # w as a difference of two vectors that are not negative
        w = parts[:4] - parts[4:]
        norm = parts.sum() if penalty == "l1" else w @ w / 2
        return norm + 0.3 * weights @ np.maximum(0, 1 - signs * (Z @ w)) ** 2

    found = minimize(
        value, np.full(8, 0.1), bounds=[(0, None)] * 8, options={"ftol": 1e-15, "gtol": 1e-9}
    )
    expected = found.x[:4] - found.x[4:]
    assert np.allclose(np.append(model.coef_, model.intercept_), expected, atol=1e-4)
    assert objective(model, X, y, weights) <= found.fun * (1 + 1e-9)


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_weight_is_so_many_copies(settings):
    X, y, _ = small()
    y = y + 2 * (X[:, 2] > 0.3)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    settings = {"tol": 1e-7 if "multi_class" in settings else 1e-9, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        weighted = LinearSVC(**settings).fit(X, y, weights)
        copied = LinearSVC(**settings).fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert np.allclose(weighted.coef_, copied.coef_, atol=1e-3)
    sparse = LinearSVC(**settings).fit(sp.csr_matrix(X), y, weights)
    assert np.allclose(weighted.coef_, sparse.coef_, atol=1e-3)


def test_more_columns_than_rows():
    chance = np.random.default_rng(2)
    X, y = chance.normal(size=(30, 200)), np.arange(30) % 3
    for settings in ({}, {"penalty": "l1"}):
        ours = LinearSVC(**settings).fit(X, y)
        theirs = svm.LinearSVC(tol=1e-8, max_iter=100_000, **settings).fit(X, y)
        assert objective(ours, X, y) <= objective(theirs, X, y) * (1 + 1e-4)


def test_conjugate_gradients_find_the_same(monkeypatch):
    X, y, weights = small()
    direct = LinearSVC(tol=1e-9).fit(X, y, weights)
    monkeypatch.setattr("largemargin.dropin.newton.DIRECT", 0)
    for kind in (np.asarray, sp.csr_array):
        assert np.allclose(LinearSVC(tol=1e-9).fit(kind(X), y, weights).coef_, direct.coef_)


def test_the_duality_gap_is_one():
    X, y, costs = small()
    problem = LinearProblem(X, np.where(y == 1, 1.0, -1.0), costs)
    chance = np.random.default_rng(3)
    best = LinearSVC(penalty="l1", fit_intercept=False, tol=1e-12).fit(X, y, costs).coef_[0]

    def value(w):
        return np.abs(w).sum() + costs @ np.maximum(0, 1 - problem.margins(w)) ** 2

    for size in (0.0, 0.1, 1.0, 10.0):
        w = best + size * chance.normal(size=3)
        assert duality_gap(problem, w, 1 - problem.margins(w)) >= (value(w) - value(best)) * 0.999
    assert abs(duality_gap(problem, best, 1 - problem.margins(best))) < 1e-9 * value(best)


def test_the_best_length_of_a_step():
    chance = np.random.default_rng(5)
    for _ in range(50):
        margins, slopes, costs = chance.normal(size=(3, 6))
        linear, curved, costs = chance.normal(), chance.uniform(0.1, 1), np.abs(costs)

        def value(t, m=margins, s=slopes, c=costs, a=linear, b=curved):
            return a * t + b * t * t / 2 + c @ np.maximum(0, 1 - m - t * s) ** 2

        if value(1e-6) < value(0):
            t = best_length(linear, curved, margins, slopes, costs)
            assert value(t) <= min(value(t * f) for f in (0.5, 0.99, 1.01, 2)) + 1e-12


def test_the_level_of_a_row():
    chance = np.random.default_rng(6)
    for k in range(2, 7):
        reach, total = chance.normal(size=k), chance.uniform(0, 3)
        level = level_of(reach.copy(), total)
        assert np.isclose(np.maximum(0, reach - level).sum(), total)


def test_bad_input():
    X, y, _ = small()
    with pytest.raises(ValueError, match=r"intercept_scaling.*Got -1"):
        LinearSVC(intercept_scaling=-1).fit(X, y)
    with pytest.raises(ValueError, match="only one class: 1"):
        LinearSVC().fit(X, np.ones(40, int))
    with pytest.raises(ValueError, match="all samples of class 0 have zero"):
        LinearSVC().fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match="penalty='l1'"):
        LinearSVC(penalty="l1", loss="hinge").fit(X, y)
