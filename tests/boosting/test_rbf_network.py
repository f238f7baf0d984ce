"""Networks of radial basis functions: what they minimise, where they start, what they learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime

from largemargin.boosting import RBFNetwork
from largemargin.boosting.rbf_training import _ReducedObjective, kmeans

from .problems import noisy, several


def objective(model, X, Y, d):
    """E as it is written down."""
    error = 0.0
    for x, y, weight in zip(X, Y, d / d.sum(), strict=True):
        g = [
            np.exp(-((x - c) ** 2).sum() / (2 * width**2))
            for c, width in zip(model.centers_, model.widths_, strict=True)
        ]
        error += 0.5 * weight * ((y - model.coef_ @ g) ** 2).sum()
    return error + 0.5 * model.regularization * (model.coef_**2).sum()


@pytest.mark.parametrize("problem", [noisy, several])
@pytest.mark.parametrize("max_iter", [0, 7])
def test_objective_and_optimal_output_weights(problem, max_iter):
    X, y = problem(0)
    d = np.random.default_rng(0).random(len(y))
    Y = 2.0 * (y[:, None] == np.unique(y)) - 1
    if problem is noisy:
        Y = Y[:, 1:]
    model = RBFNetwork(5, regularization=1e-3, max_iter=max_iter, random_state=0).fit(X, y, d)
    assert model.objective_ == pytest.approx(objective(model, X, Y, d), rel=1e-10)
    best = model.coef_
    for shift in np.random.default_rng(1).normal(size=(5, *best.shape)):
        model.coef_ = best + 1e-3 * shift
        assert objective(model, X, Y, d) > model.objective_


def test_gradient():
    rng = np.random.default_rng(0)
    X, d = rng.normal(size=(30, 2)), rng.random(30)
    Y = rng.normal(size=(30, 2))
    problem = _ReducedObjective(X, Y, d / d.sum(), 1e-2, (4, 2))
    point = rng.normal(size=12)
    expected = approx_fprime(point, lambda v: problem(v)[0], 1e-7)
    assert np.allclose(problem(point)[1], expected, atol=1e-6)


def test_steps_go_down():
    X, y = noisy(1, n=100)
    found = [
        RBFNetwork(6, max_iter=k, random_state=0).fit(X, y).objective_ for k in (0, 1, 3, 10, 30)
    ]
    assert all(np.diff(found) < 0)


def test_answers_far_from_the_origin():
    X, y = noisy(2)
    near = RBFNetwork(6, random_state=0).fit(X, y)
    far = RBFNetwork(6, random_state=0).fit(X + 2.0**20, y)
    assert np.allclose(
        near.decision_function(X), far.decision_function(X + 2.0**20), rtol=0, atol=1e-4
    )
    assert near.decision_function(X + 1e4) == pytest.approx(0)


def brute_kmeans(X, d, centers):
    """Lloyd's steps, one row at a time."""
    centers = centers.copy()
    for _ in range(30):
        nearest = np.array([((x - centers) ** 2).sum(axis=1).argmin() for x in X])
        for k in range(len(centers)):
            centers[k] = np.average(X[nearest == k], axis=0, weights=d[nearest == k])
    return centers


def test_kmeans_is_where_lloyd_ends():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(20, 2)) + 8 * np.eye(2)[k % 2] * k for k in range(4)])
    d = rng.random(80)
    d /= d.sum()
    found = kmeans(X, d, 4, np.random.RandomState(0))
    assert np.allclose(brute_kmeans(X, d, found), found)
    assert found.shape == (4, 2)


def test_kmeans_starts_by_weight():
    """With all weight on two rows, these are the centres."""
    X = np.arange(10.0)[:, None]
    d = np.full(10, 1e-12)
    d[[2, 7]] = 0.5
    for seed in range(5):
        found = kmeans(X, d, 2, np.random.RandomState(seed))
        assert np.allclose(np.sort(found.ravel()), [2, 7], atol=1e-6)


def test_fewer_rows_than_centres():
    X = np.array([[0.0], [1.0], [0.0], [1.0], [2.0]])
    model = RBFNetwork(10, random_state=0).fit(X, [0, 1, 0, 1, 0])
    assert np.array_equal(model.predict(X), [0, 1, 0, 1, 0])
    assert len(model.centers_) == 3


def test_one_centre_and_constant_features():
    X, y = noisy(0)
    assert RBFNetwork(1, random_state=0).fit(X, y).centers_.shape == (1, 3)
    constant = RBFNetwork(3, random_state=0).fit(np.ones((5, 2)), [1, 0, 1, 1, 0])
    assert constant.predict(np.ones((2, 2))).tolist() == [1, 1]
    assert constant.decision_function(np.ones((1, 2))) == pytest.approx(0.2, abs=1e-4)


def test_the_order_of_rows_is_nothing():
    X, y = several(0)
    order = np.random.default_rng(0).permutation(len(y))
    one, two = (RBFNetwork(5, random_state=4) for _ in range(2))
    one.fit(X, y)
    two.fit(X[order], y[order])
    assert np.array_equal(one.centers_, two.centers_)
    assert np.array_equal(one.coef_, two.coef_)


def test_sparse_and_float32():
    X, y = several(1)
    X[np.abs(X) < 0.7] = 0
    model = RBFNetwork(5, random_state=0).fit(X, y)
    sparse = RBFNetwork(5, random_state=0).fit(sp.csr_array(X), y)
    assert np.array_equal(sparse.centers_, model.centers_)
    assert np.array_equal(sparse.predict(sp.csc_array(X)), model.predict(X))
    narrow = RBFNetwork(5, random_state=0).fit(X.astype(np.float32), y)
    assert narrow.decision_function(X) == pytest.approx(model.decision_function(X), abs=1e-3)


def test_learns_what_it_should():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = np.where(np.hypot(*X.T) > 1.2, "out", "in")
    model = RBFNetwork(8, random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.93


def test_max_seconds():
    X, y = noisy(0)
    with pytest.warns(UserWarning, match="stopped after 0 of 10 steps because max_seconds"):
        model = RBFNetwork(max_seconds=1e-9, random_state=0).fit(X, y)
    assert model.n_iter_ == 1


def test_a_progress_bar(capsys):
    X, y = noisy(0)
    RBFNetwork(verbose=1, random_state=0).fit(X, y)
    assert "RBFNetwork" in capsys.readouterr().err
