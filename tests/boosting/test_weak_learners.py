"""Stumps found with one sort per feature, against all stumps there are."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from largemargin.boosting import AdaBoost, Stump
from largemargin.boosting.examples import Examples
from largemargin.boosting.weak_learners import Scans, StumpLearner

from .problems import coarse, noisy, several
from .twin import brute_force_stump


def learner(X, y):
    model = AdaBoost()
    return StumpLearner(Examples.of(model, X, y, None))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([coarse, noisy, several]),
    st.sampled_from([np.asarray, sp.csr_array, np.asfortranarray]),
)
def test_the_first_of_least_error(seed, problem, form):
    X, y = problem(seed)
    find = learner(form(X), y)
    rng = np.random.default_rng(seed)
    for D in (np.ones(len(y)), rng.random(len(y)), rng.random(len(y)) ** 4):
        D = D / D.sum()
        stump, answers = find(D)
        assert stump == brute_force_stump(X, y, D)
        assert np.array_equal(np.unique(y)[answers], stump.predict(X))
        assert np.array_equal(stump.predict(form(X)), stump.predict(X))


def test_weights_of_every_size():
    """Rows of next to no weight do not decide, and do not break anything."""
    X, y = noisy(0)
    find = learner(X, y)
    for seed in range(20):
        D = 10 ** np.random.default_rng(seed).uniform(-300, 0, len(y))
        D /= D.sum()
        wrong, least = (s.predict(X) != y for s in (find(D)[0], brute_force_stump(X, y, D)))
        assert D[wrong].sum() <= D[least].sum() + 2e-12


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_many_rounds_with_ties(n_classes):
    """Round by round with the weights of boosting itself."""
    X, y = coarse(3, n=40, d=4, n_classes=n_classes)
    model = AdaBoost(n_rounds=30).fit(X, y)
    D = np.full(len(y), 1 / len(y))
    for stump, alpha, error in zip(
        model.estimators_, model.alphas_, model.weighted_errors_, strict=True
    ):
        assert stump == brute_force_stump(X, y, D)
        wrong = stump.predict(X) != y
        assert error == pytest.approx(D[wrong].sum(), abs=1e-13)
        D *= np.exp(np.where(wrong, alpha, -alpha))
        D /= D.sum()


def test_rows_of_weight_zero_make_no_thresholds():
    X = np.array([[0.0], [1.0], [1.5], [4.0]])
    model = AdaBoost(n_rounds=1).fit(X, [0, 0, 1, 1], sample_weight=[1, 1, 0, 1])
    assert model.estimators_ == [Stump(0, 2.5, 0, 1)]


def test_constant_features():
    X = np.ones((5, 2))
    model = AdaBoost(n_rounds=5).fit(X, [1, 0, 1, 1, 0])
    assert model.estimators_ == [Stump(0, np.inf, 1, 1)]
    assert model.ended_ == "chance"
    assert model.predict(X).tolist() == [1] * 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbouring_numbers_are_told_apart(dtype):
    low = dtype(1.0)
    high = np.nextafter(low, dtype(2.0))
    X = np.array([[low], [high]], dtype)
    model = AdaBoost().fit(X, ["low", "high"])
    assert model.predict(X).tolist() == ["low", "high"]


def test_the_largest_numbers():
    X = np.array([[-1.7e308], [1.6e308], [1.7e308]])
    model = AdaBoost().fit(X, [0, 0, 1])
    assert model.predict(X).tolist() == [0, 0, 1]
    assert 1.6e308 <= model.estimators_[0].threshold < 1.7e308


def test_scans_leave_out_the_most_common_value():
    X = np.array([[0.0, 1], [0, 1], [3, 1], [0, 2], [-1, 3], [3, 4]])
    dense, sparse = Scans.of(X), Scans.of(sp.csc_array(X))
    assert dense.starts.tolist() == [0, 1, 3, 3, 6]
    assert dense.rows.tolist() == [~4, 5, ~2, ~5, ~4, ~3]
    assert dense.common.tolist() == [0, 1]
    assert sparse.rows.tolist() == dense.rows.tolist()
    assert sparse.starts.tolist() == dense.starts.tolist()


def test_explicit_zeros_are_zeros():
    X = np.array([[0.0, 1], [2, 0], [0, 3], [-1, 0]])
    rows, columns = np.indices(X.shape)
    filled = sp.coo_array((X.ravel(), (rows.ravel(), columns.ravel())), shape=X.shape).tocsr()
    assert filled.nnz == X.size
    expected = AdaBoost(n_rounds=5).fit(sp.csr_array(X), [0, 1, 0, 1])
    assert AdaBoost(n_rounds=5).fit(filled, [0, 1, 0, 1]).estimators_ == expected.estimators_
