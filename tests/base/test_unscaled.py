"""A machine that has not learned because its columns are of unusual sizes says so."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_moons

import largemargin
from largemargin.base.unscaled import learned, unusual


def one_large_column(X):
    """A column that says nothing, in large numbers."""
    return np.column_stack([X, 1e6 * np.random.default_rng(0).normal(size=len(X))])


IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("name", ["SVC", "VotedPerceptron", "AggressivePerceptron"])
def test_one_column_hides_the_others(name):
    X, y = IRIS
    X = one_large_column(X - X.mean(axis=0))
    with pytest.warns(UserWarning, match=r"errs on .* reach from .* standardise the columns"):
        getattr(largemargin, name)().fit(X, y)


def test_in_every_form():
    pandas = pytest.importorskip("pandas")
    X, y = IRIS
    X = one_large_column(X - X.mean(axis=0))
    for form in (np.asarray, sp.csr_array, sp.coo_array, pandas.DataFrame, np.ndarray.tolist):
        rows = form(X)
        with pytest.warns(UserWarning, match="standardise"):
            largemargin.SVC().fit(rows, list(y))


def test_what_helps_where_all_columns_are_large():
    X, y = make_moons(300, noise=0.2, random_state=0)
    with pytest.warns(UserWarning, match=r"are about .*, or use gamma='scale'"):
        largemargin.VotedPerceptron().fit(1000 * X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = largemargin.VotedPerceptron(gamma="scale").fit(1000 * X, y)
        assert model.score(1000 * X, y) > 0.85


@pytest.mark.parametrize("name", ["SVC", "MIRA", "LPSVC"])
def test_half_of_what_is_to_be_learned(name):
    """One column of two alone tells the classes in part, and hides the other."""
    X, y = make_moons(300, noise=0.25, random_state=0)
    with pytest.warns(UserWarning, match=r"errs on [12].* where .* 50\.00 %.* standardise"):
        getattr(largemargin, name)().fit(X * [1, 1e6], y)


def test_silent_where_the_kernel_follows_the_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + rng.normal(size=300) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (1000 * X, X + 1000):
            assert largemargin.SVC().fit(rows, y).score(rows, y) < 0.85
            largemargin.MIRA(budget=50).fit(rows, y)


def test_silent_where_it_learned_or_scaling_is_not_the_reason():
    X, y = IRIS
    noise = np.random.default_rng(0).permutation(y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        largemargin.SVC().fit(1000 * X, y)
        largemargin.SVC(C=0.01).fit(X - X.mean(axis=0), noise)
        largemargin.AdaBoost(n_rounds=2).fit(one_large_column(X), noise)
        largemargin.SVC(C=0.01).fit(one_large_column(X), y, sample_weight=np.ones(150))
        largemargin.SVC(C=0.01, kernel="precomputed").fit(X @ X.T, noise)


def test_sizes():
    rows = np.random.default_rng(0).normal(size=(100, 3))
    assert unusual(rows) is None
    assert "about 1e+03" in unusual(1000 * rows)
    assert "about 0.001" in unusual(rows / 1000)
    assert "far from 0" in unusual(rows + 100)
    assert "reach from" in unusual(rows * [1, 1, 100])
    for plain in (
        np.zeros((3, 2)),
        np.ones((3, 2)),
        np.full((2, 1), np.finfo(float).max),
        np.ones((2, 0)),
    ):
        assert unusual(plain) is None
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert "reach" in unusual(rows * [1, 1e-300, 1e300])


def test_what_counts_as_learned():
    truth = np.repeat([0, 1], [90, 10])
    assert learned(truth, np.zeros(100, int)) == (0.1, pytest.approx(0.1))
    assert learned(truth, truth)[0] is None
    balanced = np.where(np.arange(100) < 20, 1, truth)  # a fifth of the large class is wrong
    assert learned(truth, balanced)[0] is None
    assert learned(np.zeros(5), np.zeros(5)) == (None, 0.0)
