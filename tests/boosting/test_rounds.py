"""AdaBoost against the table it is, round by round; its relatives; where it ends."""

import os
import signal

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from largemargin.boosting import AdaBoost, RBFNetwork, Stump
from largemargin.boosting.rounds import LARGEST_STEP

from .problems import coarse, noisy, several
from .twin import adaboost_reg, brute_force_stump, samme, table_1_2

NEW = np.random.default_rng(99).normal(size=(50, 3))


@pytest.mark.parametrize("seed", range(6))
def test_table_1_2(seed):
    X, y = noisy(seed)
    f, classifiers, alphas, errors = table_1_2(X, y, 20)
    model = AdaBoost(n_rounds=20).fit(X, y)
    assert model.estimators_ == classifiers
    assert np.allclose(model.alphas_, alphas, rtol=1e-10)
    assert np.allclose(model.weighted_errors_, errors, rtol=1e-10)
    assert np.allclose(model.decision_function(NEW), f(NEW), atol=1e-10)
    assert model.n_iter_ == 20
    assert model.ended_ == "n_rounds"


@pytest.mark.parametrize("seed", range(4))
def test_table_1_2_with_ties(seed):
    X, y = coarse(seed)
    y = 2 * y - 1
    _, classifiers, alphas, _ = table_1_2(X, y, 15)
    model = AdaBoost(n_rounds=15).fit(X, y)
    assert model.estimators_ == classifiers
    assert np.allclose(model.alphas_, alphas, atol=1e-10)


class Memory:
    """A base learner that hands out scikit-learn trees, as the table asks for classifiers."""

    def __init__(self, **parameters):
        self.parameters = parameters

    def __call__(self, X, y, D):
        return DecisionTreeClassifier(**self.parameters).fit(X, y, D)


def test_table_1_2_with_any_classifier():
    X, y = noisy(3, n=60)
    tree = {"max_depth": 2, "max_features": 1, "random_state": 0}
    f, _, alphas, _ = table_1_2(X, y, 8, Memory(max_depth=2))
    model = AdaBoost(DecisionTreeClassifier(max_depth=2), n_rounds=8, random_state=0).fit(X, y)
    assert np.allclose(model.alphas_, alphas)
    assert np.allclose(model.decision_function(X), f(X))
    drawn = AdaBoost(DecisionTreeClassifier(**tree), n_rounds=8, random_state=1).fit(X, y)
    seeds = [g.random_state for g in drawn.estimators_]
    assert len(set(seeds)) == 8
    again = clone(drawn).fit(X, y)
    assert [g.random_state for g in again.estimators_] == seeds


@pytest.mark.parametrize("n_classes", [3, 5])
def test_samme(n_classes):
    X, y = several(n_classes, n=40, n_classes=n_classes)
    votes, classifiers, alphas, errors = samme(X, y, 12, n_classes)
    model = AdaBoost(n_rounds=12).fit(X, y)
    assert model.estimators_ == classifiers
    assert np.allclose(2 * model.alphas_, alphas, rtol=1e-10)
    assert np.allclose(model.weighted_errors_, errors, rtol=1e-10)
    found = model.decision_function(NEW)
    assert np.allclose(found, votes(NEW) / sum(alphas), atol=1e-10)
    assert np.array_equal(model.predict(NEW), found.argmax(axis=1))


@pytest.mark.parametrize("C", [0.0, 5.0, 300.0])
@pytest.mark.parametrize("seed", range(3))
def test_regularized(seed, C):
    X, y = noisy(seed, n=20, d=2, noise=0.3)
    model = AdaBoost(n_rounds=5, regularization=C).fit(X, y)
    b, weights = adaboost_reg(X, y, model.estimators_, C)
    assert np.allclose(2 * model.alphas_, b, rtol=1e-6, atol=1e-7)
    for t, w in enumerate(weights[:-1]):
        least = brute_force_stump(X, y, w)
        error = w[model.estimators_[t].predict(X) != y].sum()
        assert error == pytest.approx(w[least.predict(X) != y].sum(), abs=1e-7)
        assert error == pytest.approx(model.weighted_errors_[t], abs=1e-7)


def test_next_to_no_regularization_is_none():
    for X, y in (noisy(1), several(1)):
        plain = AdaBoost(n_rounds=15).fit(X, y)
        regular = AdaBoost(n_rounds=15, regularization=1e-9).fit(X, y)
        assert regular.estimators_ == plain.estimators_
        assert np.allclose(regular.alphas_, plain.alphas_, atol=1e-7)


def test_regularization_forgives_what_was_heavy():
    """A flipped label: the more regularization, the less weight it gathers."""
    X = np.linspace(-1, 1, 40)[:, None]
    y = np.where(X[:, 0] > 0, 1, -1)
    y[5] = 1
    margins = [
        AdaBoost(n_rounds=30, regularization=C).fit(X, y).margins(X, y)[5] for C in (0, 50, 1000)
    ]
    assert margins[0] > margins[1] > margins[2]
    assert margins[2] < 0


def test_a_step_has_a_largest():
    """Where every error is forgiven, the objective falls for ever."""
    X, y = noisy(0)
    model = AdaBoost(n_rounds=3, regularization=1e9).fit(X, y)
    assert model.alphas_.max() == LARGEST_STEP
    assert np.isfinite(model.decision_function(X)).all()


def test_ends_at_zero_error():
    X, y = noisy(0)
    X[:, 1] = y
    model = AdaBoost().fit(X, y)
    assert model.estimators_ == [Stump(1, 0.0, -1, 1)]
    assert (model.ended_, model.n_iter_) == ("zero error", 1)
    assert model.alphas_.tolist() == [np.inf]
    assert model.weighted_errors_.tolist() == [0.0]
    assert np.array_equal(model.decision_function(X), y)
    assert model.margins(X, y).min() == 1


class Growing(ClassifierMixin, BaseEstimator):
    """A stump in two rounds, then a classifier that knows everything."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        self.model_ = DecisionTreeClassifier(max_depth=None if self.fits > 2 else 1)
        self.model_.fit(X, y, sample_weight)
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.mark.parametrize("C", [0.0, 10.0])
@pytest.mark.parametrize("problem", [noisy, several])
def test_zero_error_in_a_later_round_leaves_that_classifier_alone(problem, C):
    X, y = problem(1)
    Growing.fits = 0
    model = AdaBoost(Growing(), regularization=C).fit(X, y)
    assert (model.ended_, model.n_iter_) == ("zero error", 3)
    assert np.isinf(model.alphas_[2])
    assert np.array_equal(model.predict(NEW), model.estimators_[2].predict(NEW))
    assert np.allclose(model.margins(X, y), 1)
    *before, last = model.staged_predict(X)
    assert np.array_equal(before[0], model.estimators_[0].predict(X))
    assert np.array_equal(last, y)


def test_ends_at_one_half():
    """Two stumps in one: after it, no stump is better than chance."""
    X = np.array([[0.0], [0], [0], [1], [1], [1]])
    y = np.array([0, 0, 1, 1, 1, 0])
    model = AdaBoost().fit(X, y)
    assert (model.ended_, model.n_iter_) == ("chance", 1)
    assert model.weighted_errors_ == pytest.approx([1 / 3])
    assert model.estimators_ == [Stump(0, 0.5, 0, 1)]


@pytest.mark.parametrize("C", [0.0, 3.0])
def test_no_better_than_chance_from_the_start(C):
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.warns(UserWarning, match="no better than chance in the first round"):
        model = AdaBoost(regularization=C).fit(X, [0, 1, 1, 0])
    assert model.ended_ == "chance"
    assert model.alphas_.tolist() == [0.0]
    assert set(np.abs(model.decision_function(X))) == {1.0}


class Contrary(DecisionTreeClassifier):
    """Says the opposite."""

    def predict(self, X):
        return -super().predict(X)


def test_worse_than_chance():
    X, y = noisy(0)
    with pytest.warns(UserWarning, match="no better than chance"):
        model = AdaBoost(Contrary(max_depth=1)).fit(X, y)
    assert model.weighted_errors_[0] > 0.5
    assert model.n_iter_ == 1


@pytest.mark.parametrize("problem", [noisy, several])
def test_stages(problem):
    X, y = problem(2)
    model = AdaBoost(n_rounds=12).fit(X, y)
    scores = list(model.staged_decision_function(NEW))
    assert len(scores) == 12
    assert np.array_equal(scores[-1], model.decision_function(NEW))
    assert np.array_equal(list(model.staged_predict(NEW))[-1], model.predict(NEW))
    margins = list(model.staged_margins(X, y))
    assert np.array_equal(margins[-1], model.margins(X, y))
    for t in (1, 5):
        short = clone(model).set_params(n_rounds=t).fit(X, y)
        assert np.array_equal(scores[t - 1], short.decision_function(NEW))
        assert np.array_equal(margins[t - 1], short.margins(X, y))


def test_margins_of_several_classes():
    X, y = several(0)
    model = AdaBoost(n_rounds=10).fit(X, y)
    shares, margins = model.decision_function(X), model.margins(X, y)
    for i, label in enumerate(y):
        assert margins[i] == shares[i, label] - max(np.delete(shares[i], label))
    assert np.array_equal(margins > 0, (model.predict(X) == y) & (margins != 0))


def test_many_rounds_do_not_underflow():
    """Weights of easy examples become 1e-300 of the others, and errors on them still count."""
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] >= 20).astype(int)
    y[[3, 35]] = 1, 0
    model = AdaBoost(LogisticRegression(C=1e6), n_rounds=400).fit(X, y)
    stumps = AdaBoost(n_rounds=2000).fit(X, y)
    for one in (model, stumps):
        assert np.isfinite(one.decision_function(X)).all()
        assert one.ended_ != "zero error"
    assert stumps.score(X, y) == 1


def test_boosted_networks_get_better():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.sin(3 * X[:, 0]) > X[:, 1]
    base = RBFNetwork(4, max_iter=2)
    model = AdaBoost(base, n_rounds=20, random_state=0).fit(X[:150], y[:150])
    stages = [np.mean(p == y[150:]) for p in model.staged_predict(X[150:])]
    assert stages[-1] > stages[0] + 0.02


def test_max_seconds():
    X, y = noisy(0)
    with pytest.warns(UserWarning, match="stopped after .* because max_seconds=1e-09 was reached"):
        model = AdaBoost(max_seconds=1e-9).fit(X, y)
    assert model.n_iter_ == 1
    assert model.ended_.startswith("max_seconds")
    assert model.score(X, y) > 0.5


class Interrupted(DecisionTreeClassifier):
    """Has Ctrl-C pressed while it is fitted."""

    def fit(self, X, y, sample_weight=None):
        os.kill(os.getpid(), signal.SIGINT)
        return super().fit(X, y, sample_weight)


def test_ctrl_c_leaves_a_model_of_the_rounds_so_far():
    X, y = noisy(0)
    with pytest.warns(UserWarning, match="stopped after 1 of 100 rounds because it was interrupt"):
        model = AdaBoost(Interrupted(max_depth=1)).fit(X, y)
    assert model.score(X, y) > 0.5


def test_a_progress_bar(capsys):
    X, y = noisy(0)
    AdaBoost(verbose=1, n_rounds=5).fit(X, y)
    assert "5/5" in capsys.readouterr().err
