"""The estimators: chunks, classes as they appear, averages, what is shown."""

from itertools import pairwise

import numpy as np
import pytest

from largemargin.online import ALMA, MIRA, ROMMA, AggressivePerceptron

from .streams import integers, look_ahead, reals
from .test_loop import POLICIES, RULES, make


def chunks(n, seed):
    """Cuts of 0..n at random places, some of them next to each other."""
    cuts = np.random.default_rng(seed).integers(0, n, 12)
    return pairwise(np.unique([0, *cuts, n]))


def stream(model, X, y, seed, **how):
    for start, stop in chunks(len(y), seed):
        model.partial_fit(X[start:stop], y[start:stop], **how)
    return model


def assert_equal(one, other):
    for name in ("classes_", "support_", "dual_coef_", "cache_sizes_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("n_insertions_", "n_removals_", "online_errors_", "margin_errors_"):
        assert getattr(one, name) == getattr(other, name), name


@pytest.mark.crossing
@pytest.mark.bits
@pytest.mark.parametrize(("policy", "budget"), POLICIES[:6])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_chunking_changes_nothing(rule, policy, budget, n_classes):
    X, y = integers(6, n=300, n_classes=n_classes)
    whole = make(rule, policy, budget, average=True).fit(X, y)
    with look_ahead(32):
        for seed in range(2):
            parts = make(rule, policy, budget, average=True)
            assert_equal(stream(parts, X, y, seed, classes=np.unique(y)), whole)


@pytest.mark.crossing
@pytest.mark.parametrize(("policy", "budget"), POLICIES[:6])
@pytest.mark.parametrize("rule", RULES)
def test_classes_that_appear_in_mid_stream(rule, policy, budget):
    """A new class is there from its first example on, wherever that falls in a chunk."""
    X, y = integers(6, n=300, n_classes=4)
    names = np.array(["m", "c", "x", "a"])  # they appear in an order that is not theirs
    y = np.concatenate(
        [np.zeros(20, int), np.minimum(y[20:60], 1), np.minimum(y[60:90], 2), y[90:]]
    )
    whole = make(rule, policy, budget).partial_fit(X, names[y])
    assert whole.classes_.tolist() == ["a", "c", "m", "x"]
    with look_ahead(16):
        for seed in range(2):
            assert_equal(stream(make(rule, policy, budget), X, names[y], seed), whole)


def test_two_classes_become_three_by_mirror_images():
    X, y = reals(1, n=80, n_classes=2)
    for rule in RULES:
        model = make(rule, "keep", None, "linear", average=False).partial_fit(X, y)
        row, scores = model.dual_coef_[0], model.decision_function(X)
        model.partial_fit(0 * X[:1], [2])  # an example of no length is learned by no vector
        kept = model.support_ < len(y)
        expected = np.array([-row, row, 0 * row])
        np.testing.assert_array_equal(model.dual_coef_[:, kept], expected)
        if kept.all():
            np.testing.assert_allclose(model.decision_function(X)[:, :2].T, [-scores, scores])


def test_one_class_teaches_nothing():
    X, y = integers(1)
    for rule in RULES:
        model = make(rule, "distill", None).partial_fit(X[:50], np.zeros(50, int))
        assert model.n_support_ == model.margin_errors_ == model.online_errors_ == 0
        assert model.predict(X).tolist() == [0] * len(X)
        assert model.decision_function(X).shape == (len(X),)
        assert model.cache_sizes_[-1].tolist() == [50, 0]
        model.partial_fit(X, y)
        assert model.support_.min() >= 50


def test_a_class_that_was_named_takes_part_before_it_is_seen():
    X = np.array([[1.0], [1.0]])
    named = AggressivePerceptron(kernel="linear").partial_fit(X, [1, 1], classes=[0, 1, 2])
    assert named.dual_coef_.tolist() == [[-1], [1], [0]]
    unnamed = AggressivePerceptron(kernel="linear").partial_fit(X, [1, 1])
    assert unnamed.n_support_ == 0


def test_removal_comes_before_the_step():
    """A step that the removal has made zero: a margin error, and nothing is stored."""
    paper = {"policy": "margin", "average": False, "shuffle": False}
    model = MIRA(kernel="linear", margin=1.0, budget=1, **paper)
    model.fit(np.array([[1.0], [-1.0], [2.0]]), [1, 1, 0])
    # the second example contradicts the first, the cache is full: the first goes, the second is
    # stored; the third agrees with the second and clears the margin
    assert (model.n_insertions_, model.n_removals_, model.margin_errors_) == (2, 1, 2)
    ties = AggressivePerceptron(kernel="linear", margin=0.1, budget=2, **paper)
    ties.fit(np.eye(3), [0, 1, 0])
    assert ties.support_.tolist() == [1, 2]  # of two that are equally good, the older one went


def test_equal_best_wrong_classes_are_taken_in_order():
    model = AggressivePerceptron(kernel="linear", average=False, shuffle=False)
    model.fit(np.eye(3), [2, 1, 0])
    assert model.dual_coef_.tolist() == [[-1, -1, 1], [0, 1, -1], [1, 0, 0]]


def test_the_average_is_exact_where_nothing_is_removed():
    X, y = integers(4, n=100, n_classes=3)
    for rule in RULES:
        model, sums = make(rule, "keep", None, average=True), np.zeros((3, 100))
        last = make(rule, "keep", None, average=False)
        for t in range(100):
            last.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1, 2])
            sums[:, last.support_] += last.dual_coef_
        model.fit(X, y)
        np.testing.assert_allclose(model.dual_coef_, sums[:, model.support_] / 100, atol=1e-12)
        model.average = False
        np.testing.assert_allclose(model.dual_coef_, last.dual_coef_)
        last.average = True
        with pytest.raises(ValueError, match="choose it before the first example"):
            last.predict(X)


def test_averages_answer_better_than_what_is_left_of_them():
    """On a noisy stream the average beats the last vector, with removals too."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 5))
    y = (X[:, 0] + X[:, 1] > 0) ^ (rng.random(6000) < 0.2)
    X_test = rng.normal(size=(2000, 5))
    y_test = X_test[:, 0] + X_test[:, 1] > 0
    for policy, budget in (("margin", 100), ("random", 100), ("forgetron", 100), ("keep", None)):
        model = MIRA(gamma=0.1, policy=policy, budget=budget, average=True, random_state=0)
        model.fit(X, y)
        averaged = model.score(X_test, y_test)
        # the paper's removal rule keeps the noise, which no average can mend
        assert averaged > (0.6 if policy == "margin" else 0.85)
        assert averaged > model.set_params(average=False).score(X_test, y_test)


def test_cache_sizes_are_thinned_but_exact():
    X, y = integers(3, n=5000, n_classes=3)
    settings = {"kernel": "linear", "budget": 20, "policy": "margin", "shuffle": False}
    model = AggressivePerceptron(**settings).fit(X, y)
    seen, size = model.cache_sizes_.T
    assert 512 <= len(seen) <= 1024
    assert (np.diff(seen) == seen[0]).all()
    assert 5000 - seen[-1] < seen[0]
    for t in seen[:3]:
        short = AggressivePerceptron(**settings)
        short.partial_fit(X[:t], y[:t], classes=np.unique(y))
        assert short.n_support_ == size[seen == t][0]


def test_random_removal_follows_its_seed():
    X, y = reals(3, n=400, n_classes=3)
    supports = [
        AggressivePerceptron(budget=20, policy="random", random_state=seed).fit(X, y).support_
        for seed in (0, 0, 1)
    ]
    assert np.array_equal(supports[0], supports[1])
    assert not np.array_equal(supports[0], supports[2])


@pytest.mark.bits
@pytest.mark.parametrize("cls", [AggressivePerceptron, MIRA, ROMMA, ALMA])
def test_threads_and_memory_change_nothing(cls):
    X, y = reals(9, n=600, n_classes=4)
    for policy, budget in POLICIES[:6]:
        model = cls(gamma=0.2, policy=policy, budget=budget, random_state=0, n_jobs=1).fit(X, y)
        other = cls(gamma=0.2, policy=policy, budget=budget, random_state=0, n_jobs=3).fit(X, y)
        assert_equal(model, other)
        room = 2 * 600 * 600 * 8 + 10**7 * (budget is None)  # hardly more than the least
        small = cls(gamma=0.2, policy=policy, budget=budget, random_state=0, memory=room).fit(X, y)
        assert_equal(model, small)


def test_float32_is_kept():
    X, y = reals(9, n=300, n_classes=3)
    model = MIRA(budget=20).partial_fit(X.astype(np.float32), y)
    assert model.support_vectors_.dtype == np.float32
    assert model.learner_state.cache.gram.dtype == np.float32
    model.partial_fit(X, y)  # later chunks follow the first
    assert model.support_vectors_.dtype == np.float32


def test_memory_does_not_grow_with_the_stream():
    def held(model):
        state = model.learner_state
        parts = [*state.cache, *state.weights, state.stored.rows, state.stored.squares]
        parts += [part for part in state.learner if isinstance(part, np.ndarray)]
        return sum(part.nbytes for part in parts)

    rng = np.random.default_rng(0)
    for policy, budget in POLICIES[2:6]:
        model = make("mira", policy, budget, "rbf", average=True)
        sizes = []
        for _ in range(12):
            X = rng.normal(size=(500, 5))
            model.partial_fit(X, rng.integers(0, 3, 500), classes=[0, 1, 2])
            sizes.append(held(model))
        assert len(set(sizes)) == 1
        assert model.margin_errors_ > 2000


def test_a_cache_that_shrinks_gives_its_room_back():
    X, y = np.ones((3000, 1)), np.ones(3000, int)
    model = AggressivePerceptron(kernel="linear", margin=1e9, average=False)
    model.partial_fit(X, y, classes=[0, 1])
    assert model.n_support_ == 3000
    state = model.learner_state
    assert len(state.cache.positions) >= 3000
    state.learner.settings[0] = model.margin = 0.5
    model.partial_fit(X[:1], [0])  # now one of them is enough, and the rest goes
    assert model.coef_.tolist() == [[1.0]]
    assert len(state.cache.positions) == len(state.cache.gram) == model.n_support_ <= 3
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 1)), rng.integers(0, 2, 500)
    model.partial_fit(X, y)
    expected = model.dual_coef_ @ model.support_vectors_
    np.testing.assert_allclose(model.decision_function(X), X @ expected[0])
