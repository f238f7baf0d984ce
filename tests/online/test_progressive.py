"""Answers before learning: those of the model as it was, and the same bits in any chunks."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from largemargin import ALMA, MIRA, ROMMA, AggressivePerceptron, save
from largemargin.online.learner import LearnerState
from largemargin.online.progressive import answer_and_learn
from largemargin.runtime.threads import Workers

MODELS = {
    "mira": MIRA(budget=25, gamma=0.3),
    "mira, distill, float32": MIRA(margin=0.1, gamma=0.3, precision="float32"),
    "romma, projectron": ROMMA(budget=20, policy="projectron", kernel="laplacian"),
    "alma, forgetron": ALMA(budget=20, policy="forgetron", kernel="poly", degree=2),
    "perceptron, average": AggressivePerceptron(
        budget=30, policy="random", average=True, kernel="sigmoid"
    ),
}


def a_stream(n, sparse, seed=0):
    """Examples of classes that appear one after the other, some without a label."""
    numbers = np.random.default_rng(seed)
    X = numbers.normal(size=(n, 21)) / 2
    y = np.minimum((X[:, 0] > 0) + 2 * (X[:, 1] > 0), np.arange(n) // (n // 8))
    if sparse:
        X = sp.csr_array(X * (numbers.random(X.shape) < 0.6))
    return X, y, numbers.random(n) < 0.8


def go(model, X, y, labelled, cuts, path):
    found = []
    for start, stop in pairwise(cuts):
        part = slice(start, stop)
        found += answer_and_learn(
            model, X[part], y[part][labelled[part]], labelled[part], Workers(1)
        )
    save(model, path)
    return found, path.read_bytes()


@pytest.mark.bits
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_not_one_bit_depends_on_the_chunks(name, sparse, tmp_path):
    n = 80
    X, y, labelled = a_stream(n, sparse)
    expected = go(
        clone(MODELS[name]).set_params(random_state=0), X, y, labelled, [0, n], tmp_path / "m"
    )
    numbers = np.random.default_rng(1)
    for cuts in (np.arange(n + 1), np.unique([0, *numbers.integers(1, n, 9), n])):
        assert (
            go(clone(MODELS[name]).set_params(random_state=0), X, y, labelled, cuts, tmp_path / "m")
            == expected
        )


@pytest.mark.bits
def test_slots_are_given_up_where_the_stream_says(monkeypatch, tmp_path):
    """Most slots become free in the middle of a block: from there on sums run over fewer."""
    compacted, compact = [], LearnerState._compact
    monkeypatch.setattr(LearnerState, "_compact", lambda one: (compacted.append(1), compact(one)))
    numbers = np.random.default_rng(0)
    X, y = 1 + 0.01 * numbers.normal(size=(1200, 3)), np.ones(1200, int)
    later, labels = numbers.normal(size=(200, 3)), numbers.integers(0, 2, 200)
    later[:20], labels[19] = X[:20], 0
    every, results = np.ones(1200, bool), []
    for cuts in ([0, 200], [*range(0, 200, 7), 200]):
        model = AggressivePerceptron(kernel="linear", margin=1e9, random_state=0)
        answer_and_learn(model, X, y, every, Workers(1), classes=np.array([0, 1]))
        model.learner_state.learner.settings[0] = model.margin = 0.5  # few of them are needed now
        results.append(go(model, later, labels, every[:200], cuts, tmp_path / "m"))
    assert results[0] == results[1]
    assert compacted == [1, 1]


@pytest.mark.parametrize("average", [False, True])
def test_answers_are_those_before_learning(average):
    X, y, labelled = a_stream(200, False)
    y = np.array(["a", "b", "c", "d"])[y]
    model, twin = (MIRA(budget=15, gamma=0.3, average=average) for _ in range(2))
    answers = answer_and_learn(model, X, y[labelled], labelled, Workers(1))
    for i, answer in enumerate(answers):
        row = X[i : i + 1]
        if hasattr(twin, "learner_state"):
            assert answer.label == twin.predict(row)[0]
            assert answer.classes == twin.classes_.tolist()
            if len(twin.classes_) > 1:
                scores = np.ravel(twin.decision_function(row))
                np.testing.assert_allclose(answer.scores, scores, atol=1e-9)
        else:
            assert answer.label is None
        if labelled[i]:
            twin.partial_fit(row, y[i : i + 1])
    np.testing.assert_array_equal(model.support_, twin.support_)
    assert model.online_errors_ == twin.online_errors_


def test_a_class_is_no_answer_to_its_first_example():
    X = np.array([[1.0, 0], [0, 1], [-1, -1]])
    answers = answer_and_learn(
        MIRA(kernel="linear"), X, np.array([5, 3, 4]), np.ones(3, bool), Workers(1)
    )
    assert [answer.label for answer in answers] == [None, 5, 5]
    assert [answer.classes for answer in answers] == [[], [5], [3, 5]]


def test_a_failure_leaves_no_trace(tmp_path):
    X, y, labelled = a_stream(80, False)
    model, twin = (MIRA(kernel="poly", random_state=0) for _ in range(2))
    for learner in (model, twin):
        answer_and_learn(learner, X[:40], y[:40][labelled[:40]], labelled[:40], Workers(1))
    bad = X[40:].copy()
    bad[-1] = 1e200
    with pytest.raises(ValueError, match="more than float64"):
        answer_and_learn(model, bad, y[40:][labelled[40:]], labelled[40:], Workers(1))
    every = np.ones(40, bool)
    with pytest.raises(ValueError, match="use one type of label"):
        answer_and_learn(model, X[40:], np.array(["a"] * 40), every, Workers(1))
    assert go(model, X[40:], y[40:], labelled[40:], [0, 40], tmp_path / "m") == go(
        twin, X[40:], y[40:], labelled[40:], [0, 40], tmp_path / "m"
    )
