"""gamma="stream": the first hundred examples, held back until they give gamma."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin import ALMA, MIRA, ROMMA, AggressivePerceptron, load, save
from largemargin.online.beginning import HELD_BACK
from largemargin.online.progressive import answer_and_learn
from largemargin.runtime.threads import workers

LEARNERS = [AggressivePerceptron, MIRA, ROMMA, ALMA]


def stream(n=140, n_classes=3, seed=0):
    """Rows whose scale is far from 1, so that gamma matters, with labels that they give."""
    rng = np.random.default_rng(seed)
    X = 50.0 + 20.0 * rng.normal(size=(n, 4))
    y = ((X - 50) @ rng.normal(size=(4, n_classes))).argmax(axis=1)
    y[:n_classes] = range(n_classes)
    return X, y


def in_chunks(model, X, y, cuts, **given):
    for start, stop in zip([0, *cuts], [*cuts, len(y)], strict=True):
        model.partial_fit(X[start:stop], y[start:stop], **given)
    return model


def assert_same(one, other):
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
    np.testing.assert_array_equal(one.support_, other.support_)
    assert one.learner_state.kernel == other.learner_state.kernel
    assert one.online_errors_ == other.online_errors_
    assert one.training_record.data == other.training_record.data


@pytest.mark.bits
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("given", [{}, {"classes": [0, 1, 2]}])
def test_chunks_do_not_matter(learner, given):
    X, y = stream()
    whole = learner(budget=30).partial_fit(X, y, **given)
    for cuts in ([1, 2, 3], [99], [100, 101], [40, 99, 100, 130]):
        assert_same(whole, in_chunks(learner(budget=30), X, y, cuts, **given))


@pytest.mark.full
@pytest.mark.bits
@pytest.mark.parametrize("learner", LEARNERS)
def test_one_by_one(learner):
    X, y = stream()
    whole = learner(budget=30).partial_fit(X, y)
    assert_same(whole, in_chunks(learner(budget=30), X, y, [*range(1, len(y))]))


def test_gamma_is_that_of_the_first_hundred():
    X, y = stream()
    expected = 1 / (X.shape[1] * X[:HELD_BACK].var())
    fitted, streamed = MIRA(shuffle=False).fit(X, y), MIRA().partial_fit(X, y)
    for model in (fitted, streamed):
        assert model.learner_state.kernel.gamma == pytest.approx(expected, rel=1e-12)
    named = MIRA(gamma=fitted.learner_state.kernel.gamma, shuffle=False).fit(X, y)
    np.testing.assert_array_equal(named.dual_coef_, fitted.dual_coef_)
    few = MIRA(shuffle=False).fit(X[:30], y[:30])
    assert few.learner_state.kernel.gamma == pytest.approx(1 / (4 * X[:30].var()), rel=1e-12)


@pytest.mark.parametrize("learner", LEARNERS)
def test_within_the_first_hundred_it_answers_as_if_they_were_all(learner):
    X, y = stream()
    model = in_chunks(learner(budget=10), X[:57], y[:57], [5, 20])
    gamma = 1 / (4 * X[:57].var())
    plain = learner(budget=10, gamma=gamma).partial_fit(X[:57], y[:57])
    np.testing.assert_allclose(
        model.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-9
    )
    assert len(model.beginning) == model.n_trained == 57


@pytest.mark.bits
@pytest.mark.parametrize(
    ("at", "form"), [(1, "dense"), (99, "dense"), (100, "dense"), (40, "sparse"), (40, "float32")]
)
def test_a_file_from_within_the_first_hundred_goes_on(tmp_path, at, form):
    X, y = stream()
    X = {"dense": X, "sparse": sp.csr_array(X), "float32": X.astype(np.float32)}[form]
    words = np.array(["low", "middle", "high"])[y]
    settings = {"budget": 20, "policy": "random"}
    whole = MIRA(**settings, random_state=np.random.RandomState(3)).partial_fit(X, words)
    before = MIRA(**settings, random_state=3).partial_fit(X[:at], words[:at])
    save(before, tmp_path / "model")
    after = load(tmp_path / "model")
    np.testing.assert_array_equal(after.decision_function(X), before.decision_function(X))
    assert_same(whole, after.partial_fit(X[at:], words[at:]))


def test_what_is_held_back_is_a_copy():
    X, y = stream()
    chunk = X[:50].copy()
    model = MIRA().partial_fit(chunk, y[:50])
    chunk[:] = 0.0
    assert_same(MIRA().partial_fit(X, y), model.partial_fit(X[50:], y[50:]))


def test_a_chunk_that_fails_leaves_the_beginning_as_it_was():
    X, y = stream()
    model = MIRA().partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="not in classes"):
        model.partial_fit(X[50:60], [7] * 10)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="fit again"):
        model.set_params(margin=0.5).partial_fit(X[50:], y[50:])
    model.set_params(margin=0.01)
    assert len(model.beginning) == 50
    whole = MIRA().partial_fit(X, y, classes=[0, 1, 2])
    assert_same(whole, model.partial_fit(X[50:], y[50:]))


def test_only_kernels_with_gamma_hold_back():
    X, y = stream()
    model = MIRA(kernel="linear").partial_fit(X[:5], y[:5])
    assert model.beginning is None
    assert MIRA(gamma="auto").partial_fit(X[:5], y[:5]).beginning is None


@pytest.mark.bits
@pytest.mark.parametrize("classes", [None, np.array([0, 1, 2])])
def test_every_example_is_answered_before_it_is_learned(classes):
    """One by one: predict, then learn; unlabelled rows are answered and do not count."""
    X, y = stream(135)
    labelled = np.random.default_rng(1).random(len(y)) < 0.8
    plain, expected = MIRA(budget=25), []
    for row, label, known in zip(X, y, labelled, strict=True):
        started = hasattr(plain, "classes_")
        expected.append(plain.predict([row])[0] if started else None)
        if known:
            plain.partial_fit([row], [label], classes=classes if not started else None)
    with workers(1) as team:
        for cuts in ([0, 135], [0, 1, 30, 118, 119, 135]):
            model, found = MIRA(budget=25), []
            for start, stop in pairwise(cuts):
                part = slice(start, stop)
                found += answer_and_learn(
                    model, X[part], y[part][labelled[part]], labelled[part], team, classes
                )
            begun = int(np.argmax(labelled))  # before it there may be no class to answer with
            answers = [answer.label for answer in found]
            assert answers[begun + 1 :] == expected[begun + 1 :]
            assert_same(plain, model)


def test_no_gamma_but_a_known_one():
    X, y = stream()
    with pytest.raises(ValueError, match="gamma must be"):
        MIRA(gamma="streams").fit(X, y)
