"""The order in which `fit` visits the rows, and what is told of rows that were visited in it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import largemargin
from largemargin.online import ALMA, MIRA, ROMMA, AggressivePerceptron

from .streams import integers, look_ahead, reals

LEARNERS = [AggressivePerceptron, MIRA, ROMMA, ALMA]
POLYNOMIAL = {"kernel": "poly", "degree": 2, "gamma": 1.0}  # of integers, exact


def told(model):
    """What two equal models agree in, whatever the numbers of their rows."""
    return [
        model.n_insertions_,
        model.online_errors_,
        model.margin_errors_,
        model.classes_.tolist(),
    ]


def visited(model, n, seed):
    """The order of n rows, by its definition: the second draw of the generator."""
    generator = np.random.RandomState(seed)
    generator.randint(2**31 - 1)
    order = generator.permutation(n)
    assert order.tolist() != list(range(n))
    return order


@pytest.mark.parametrize("learner", LEARNERS)
def test_shuffled_is_the_fit_of_the_rows_in_that_order(learner):
    X, y = integers(5)
    order = visited(learner, len(y), 7)
    for form in (np.asarray, sp.csr_array):
        shuffled = learner(**POLYNOMIAL, budget=20, random_state=7).fit(form(X), y)
        other = learner(**POLYNOMIAL, budget=20, random_state=7, shuffle=False)
        other.fit(form(X[order]), y[order])
        assert told(shuffled) == told(other)
        rows = order[other.support_]
        assert np.array_equal(shuffled.support_, np.sort(rows))
        assert np.array_equal(shuffled.dual_coef_, other.dual_coef_[:, np.argsort(rows)])
        vectors = shuffled.support_vectors_
        assert np.array_equal(
            vectors.toarray() if sp.issparse(vectors) else vectors, X[shuffled.support_]
        )
        assert np.array_equal(shuffled.decision_function(X), other.decision_function(X))


def test_kernel_values_that_are_given_are_those_of_the_rows():
    X, y = integers(6)
    K = (X @ X.T + 1) ** 2
    given = MIRA(kernel="precomputed", budget=15).fit(K, y)
    named = MIRA(**POLYNOMIAL, budget=15).fit(X, y)
    assert np.array_equal(given.support_, named.support_)
    f = named.decision_function(X)  # in sums of another order
    close = 1e-14 * abs(named.dual_coef_).sum() * K.max()
    assert np.allclose(given.decision_function(K), f, rtol=0, atol=close)
    assert np.allclose(given.decision_function(K[:, given.support_]), f, rtol=0, atol=close)


def test_without_a_seed_two_fits_are_equal():
    X, y = reals(0)
    one, other = MIRA(budget=9).fit(X, y), MIRA(budget=9).fit(X, y)
    assert np.array_equal(one.decision_function(X), other.decision_function(X))
    seeded = MIRA(budget=9, random_state=5).fit(X, y)
    assert not np.array_equal(one.decision_function(X), seeded.decision_function(X))


@pytest.mark.parametrize("learner", LEARNERS)
def test_rows_that_are_sorted_by_class(learner):
    X, y = load_digits(return_X_y=True)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    train = np.arange(len(y)) % 4 < 3
    model = learner(budget=60).fit(X[train], y[train])
    assert model.score(X[~train], y[~train]) > 0.9
    if learner is MIRA:  # what it was without
        model.set_params(shuffle=False).fit(X[train], y[train])
        assert model.score(X[~train], y[~train]) < 0.7


def test_a_stream_goes_on_after_a_shuffled_fit(tmp_path):
    X, y = integers(8, n=200)
    order = visited(MIRA, 120, 3)
    model = MIRA(**POLYNOMIAL, budget=30, policy="forgetron", random_state=3).fit(X[:120], y[:120])
    largemargin.save(model, tmp_path / "m")
    loaded = largemargin.load(tmp_path / "m")
    assert np.array_equal(loaded.support_, model.support_)
    twin = MIRA(**POLYNOMIAL, budget=30, policy="forgetron", random_state=3)
    twin.partial_fit(X[order], y[order], classes=[0, 1, 2])
    numbers = np.concatenate([order, np.arange(120, 200)])
    for learner in (model, loaded, twin):
        learner.partial_fit(X[120:], y[120:])
    for learner in (model, loaded):
        assert np.array_equal(learner.decision_function(X), twin.decision_function(X))
        assert np.array_equal(learner.support_, np.sort(numbers[twin.support_]))
        assert np.array_equal(learner.support_vectors_, X[learner.support_])


def test_a_shuffled_fit_that_is_stopped_knows_which_rows_it_has(tmp_path):
    X, y = integers(0, n=2000)
    model = MIRA(gamma="auto", max_seconds=1e-9)
    with look_ahead(10), pytest.warns(ConvergenceWarning, match="stopped after 10 of 2000"):
        model.fit(X, y)
    assert model.support_.max() >= 10
    assert np.array_equal(model.support_vectors_, X[model.support_])
    largemargin.save(model, tmp_path / "m")
    for learner in (model, largemargin.load(tmp_path / "m")):
        learner.partial_fit(X[:500] + 0.5, y[:500])
        assert learner.n_trained == 2500
        rows = np.concatenate([X, X[:500] + 0.5])[learner.support_]
        assert np.array_equal(learner.support_vectors_, rows)
        assert learner.training_record.data.n_rows == 2500


@pytest.mark.parametrize("shuffle", [None, "yes", 1])
def test_a_wrong_shuffle(shuffle):
    with pytest.raises(ValueError, match="shuffle must be True or False, got"):
        MIRA(shuffle=shuffle).fit(*integers(0))
