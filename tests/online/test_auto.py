"""What "auto" is, and that it learns: noise, few dimensions, large kernel values."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from largemargin import ALMA, MIRA, ROMMA, AggressivePerceptron, describe, save

LEARNERS = [AggressivePerceptron, MIRA, ROMMA, ALMA]


def noisy_moons(n, share):
    X, y = make_moons(n, noise=0.2, random_state=0)
    return X, np.where(np.random.default_rng(0).random(n) < share, 1 - y, y)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("budget", "policy"), [(20, "projectron"), (None, "distill")])
def test_auto_is_named_in_the_file(tmp_path, learner, budget, policy):
    X, y = noisy_moons(150, 0.1)
    auto = learner(budget=budget).fit(X, y)
    named = learner(budget=budget, policy=policy, average=True).fit(X, y)
    np.testing.assert_array_equal(auto.dual_coef_, named.dual_coef_)
    save(auto, tmp_path / "model")
    facts = describe(tmp_path / "model")["steps"][-1]["facts"]
    assert facts["policy"] == policy
    assert facts["averages"] is True


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("budget", [20, 200])
def test_a_budget_alone_learns_from_noise(learner, budget):
    X, y = noisy_moons(600, 0.2)
    X_test, y_test = make_moons(300, noise=0.2, random_state=1)
    assert learner(budget=budget).fit(X, y).score(X_test, y_test) > 0.82


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_projectron_keeps_its_digits_in_two_dimensions(precision):
    """The stored examples nearly span what there is, and the Gram matrix is nearly singular."""
    X, y = noisy_moons(800, 0.2)
    model = AggressivePerceptron(budget=400, policy="projectron", precision=precision).fit(X, y)
    state, size = model.learner_state, model.n_support_
    gram = state.kernel(state.stored.rows[:size], state.stored.rows[:size])
    off = state.cache.inverse[:size, :size] @ gram - np.eye(size)
    assert np.abs(off).max() < (0.1 if precision == "float32" else 1e-2)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("policy", ["margin", "forgetron", "random", "projectron"])
def test_kernel_values_of_any_size(learner, policy):
    """k(x, x) is about 1e40, and no step may vanish beside it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) + 4.0 * np.repeat(np.eye(3), 100, axis=0)
    X, y = X[:, [0, 1, 2]], np.repeat([0, 1, 2], 100)
    order = rng.permutation(300)
    kernel = {"kernel": "poly", "degree": 9, "gamma": "auto", "coef0": 0.0}
    model = learner(budget=60, policy=policy, random_state=0, **kernel)
    model.fit(3e4 * X[order], y[order])
    assert model.learner_state.cache.squares.max() > 1e35
    assert model.n_support_ > 0
    assert model.score(3e4 * X, y) > 0.6


def test_a_learner_that_stores_nothing_says_so():
    X, y = np.zeros((30, 2)), np.arange(30) % 2
    with pytest.warns(ConvergenceWarning, match="has stored none of 30 examples"):
        MIRA(kernel="linear").fit(X, y)
    stream = MIRA(kernel="linear").partial_fit(X, y)
    stream.partial_fit(np.zeros((900, 2)), np.arange(900) % 2)
    with pytest.warns(ConvergenceWarning, match="has stored none of 1030 examples"):
        stream.partial_fit(np.zeros((100, 2)), np.arange(100) % 2)


@pytest.mark.parametrize("average", ["yes", 1, None])
def test_average_is_a_choice_of_three(average):
    with pytest.raises(ValueError, match="average must be 'auto', True or False"):
        MIRA(average=average).fit([[0.0], [1.0]], [0, 1])
