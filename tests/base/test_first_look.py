"""`predict` looks in float32 first, and answers with the classes of scores in float64."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin import SVC, OneClassSVM
from largemargin.base import expansion as evaluated
from largemargin.base import first_look
from largemargin.base.expansion import Expansion
from largemargin.base.first_look import TRIAL_ROWS, look
from largemargin.kernels.basis import Basis
from largemargin.kernels.engine import largest_square, prepare
from largemargin.kernels.functions import Gaussian, Matern, Polynomial, Sigmoid
from largemargin.kernels.fused import single_enough

N_VECTORS, N_ROWS, WIDTH = 300, 900, 5
KERNELS = {
    "rbf": lambda gamma: Gaussian(gamma),
    "matern 0.5": lambda gamma: Matern(0.5, gamma),
    "matern 2.5": lambda gamma: Matern(2.5, gamma),
    "poly": lambda gamma: Polynomial(2, gamma, 1.0),
    "sigmoid": lambda gamma: Sigmoid(gamma, 0.1),
}
SCALES = {"as it is": (1.0, 0.0), "large": (1e3, 0.0), "small": (1e-3, 0.0), "far": (1.0, 1e3)}


@pytest.fixture
def looks(monkeypatch):
    """How many rows each first look has left open."""
    counts = []

    def counting(*args):
        left = look(*args)
        counts.append(len(left))
        return left

    monkeypatch.setattr(evaluated, "look", counting)
    return counts


def classifier(kernel, X, n_classes, multiclass, sparse, rng):
    """A classifier with the expansion given: vectors, and coefficients that add up to zero."""
    by_pairs = n_classes > 2 and multiclass == "ovo"
    n_problems = n_classes * (n_classes - 1) // 2 if by_pairs or n_classes == 2 else n_classes
    coefs = rng.normal(size=(n_problems, len(X)))
    coefs -= coefs.mean(axis=1, keepdims=True)
    basis = Basis(kernel, np.dtype(float))
    basis.add(prepare(sp.csr_array(X) if sparse else X, kernel, basis.dtype), np.arange(len(X)))
    model = SVC(multiclass=multiclass)
    model.classes_, model.n_features_in_ = np.arange(n_classes) * 10, X.shape[1]
    model._by_pairs = by_pairs
    intercepts = 0.1 * rng.normal(size=n_problems)
    model.restore_expansion(Expansion(basis, coefs, intercepts), np.arange(len(X)), len(X))
    return model


def on_the_boundary(model, X, rng, n_steps=60):
    """Rows between rows of different classes, where the class changes, up to the last bit."""
    labels = model.classes_of(model.decision_function(X))
    a, b = rng.integers(len(X), size=(2, 200))
    a, b = X[a[labels[a] != labels[b]]], X[b[labels[a] != labels[b]]]
    of_a = model.classes_of(model.decision_function(a))
    for _ in range(n_steps):
        middle = (a + b) / 2
        same = (model.classes_of(model.decision_function(middle)) == of_a)[:, None]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return np.concatenate([a, b])


@pytest.mark.crossing
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("reduction", [(2, "ovr"), (4, "ovr"), (4, "ovo")])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_classes_are_those_of_the_scores(kernel, scale, reduction, sparse, looks):
    factor, shift = SCALES[scale]
    rng = np.random.default_rng(len(kernel))
    X = (rng.normal(size=(N_VECTORS + N_ROWS, WIDTH)) + shift) * factor
    X *= rng.random(X.shape) < 0.8
    made = KERNELS[kernel](0.1 / factor**2)
    model = classifier(made, X[:N_VECTORS], *reduction, sparse, rng)
    near = on_the_boundary(model, X[N_VECTORS:], rng)
    assert len(near) > 5
    rows = np.concatenate([X[N_VECTORS:], near])
    looks.clear()
    for given in (sp.csr_array(rows) if sparse else rows, rows.astype(np.float32)):
        scores = model.decision_function(given)
        assert not looks
        assert np.array_equal(model.predict(given), model.classes_of(scores))
        (left,) = looks
        looks.clear()
        if not single_enough(made, largest_square(rows)):
            assert left == len(rows)
        elif scale != "far":
            assert left < len(rows) / 2


def test_rows_on_the_boundary_are_left_open(looks):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_VECTORS + N_ROWS, WIDTH))
    model = classifier(Gaussian(0.1), X[:N_VECTORS], 2, "ovr", False, rng)
    near = on_the_boundary(model, X[N_VECTORS:], rng)
    rows = np.concatenate([X[N_VECTORS:], near])
    assert np.abs(model.decision_function(near)).max() < 1e-12
    looks.clear()
    model.predict(rows)
    assert len(near) <= looks[0] < len(near) + N_ROWS / 10


def test_where_much_would_be_left_open_the_rest_is_not_looked_at(looks, monkeypatch):
    """A few rows show it, and all others are computed in float64 at once."""
    monkeypatch.setattr(first_look, "FEW_ROWS", 0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_VECTORS + N_ROWS, WIDTH))
    model = classifier(Gaussian(0.1), X[:N_VECTORS], 2, "ovr", False, rng)
    near = on_the_boundary(model, X[N_VECTORS:], rng)
    rows = np.concatenate([near[:TRIAL_ROWS], X[N_VECTORS:]])
    looks.clear()
    assert np.array_equal(model.predict(rows), model.classes_of(model.decision_function(rows)))
    assert looks == [len(rows)]


@pytest.mark.parametrize("size", [1e37, 1e60, 1e-60])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_coefficients_of_any_size(kernel, size, looks):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_VECTORS + N_ROWS, WIDTH))
    model = classifier(KERNELS[kernel](1.0), X[:N_VECTORS], 4, "ovo", False, rng)
    model.expansion.coefs *= size
    model.expansion.intercepts *= size
    assert np.array_equal(model.predict(X), model.classes_of(model.decision_function(X)))
    assert looks == [len(X)]


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_a_class_is_certain_only_if_no_error_changes_it(multiclass):
    """Against all ways in which the scores may be off as far as they can."""
    rng = np.random.default_rng(0)
    n_classes = 4
    model = classifier(Gaussian(0.1), rng.normal(size=(9, 2)), n_classes, multiclass, False, rng)
    n_problems = len(model.intercept_)
    scores = rng.normal(size=(n_problems, 400))
    scores[:, :10] = np.round(scores[:, :10])  # ties
    errors = 10 ** rng.uniform(-3, 1, size=400)
    told = model._tell_classes(scores, errors)
    assert 40 < np.count_nonzero(told) < 360
    first = model.classes_of(model.join_scores(scores))
    always = np.ones(400, bool)
    for signs in product((-1, 1), repeat=n_problems):
        moved = scores + np.array(signs)[:, None] * errors
        always &= model.classes_of(model.join_scores(moved)) == first
    assert not (told & ~always).any()
    if multiclass == "ovr":
        assert np.array_equal(told[10:], always[10:])


def test_outliers_are_those_of_the_scores(looks):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    model = OneClassSVM(nu=0.5, gamma=0.1).fit(X[:1000])
    assert np.array_equal(model.predict(X), np.where(model.decision_function(X) >= 0, 1, -1))
    assert 0 < looks[0] < 2000  # support vectors on the margin are on the boundary


@pytest.mark.bits
@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "crammer-singer"])
def test_fitted_classifiers(multiclass, looks):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 4))
    y = (X[:, 0] + rng.normal(size=1500) > 0) + 2 * (X[:, 1] > 0)
    model = SVC(gamma=0.3, multiclass=multiclass, tol=1e-2).fit(X[:600], y[:600])
    scores = model.decision_function(X)
    for n_jobs in (1, 2):
        model.set_params(n_jobs=n_jobs)
        assert np.array_equal(model.predict(X), model.classes_of(scores))
    assert looks[0] == looks[1] < 750
