"""Measures of answers, beside scikit-learn's."""

import numpy as np
import pytest
from sklearn import metrics

from largemargin.report.measures import guess_error, measure


@pytest.mark.parametrize("seed", range(5))
def test_beside_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    k, n = 2 + seed % 3, 60
    truth = np.concatenate([np.arange(k), rng.integers(0, k, n)])
    predicted = np.where(rng.random(len(truth)) < 0.6, truth, rng.integers(0, k, len(truth)))
    scores = rng.normal(size=len(truth)) if k == 2 else rng.normal(size=(len(truth), k))
    found = measure(truth, predicted, np.array(list("abc"))[:k] if k < 4 else np.arange(k), scores)
    assert found.error == pytest.approx(1 - metrics.accuracy_score(truth, predicted))
    expected = 1 - metrics.balanced_accuracy_score(truth, predicted)
    assert found.balanced_error == pytest.approx(expected)
    np.testing.assert_allclose(
        list(found.recalls.values()), metrics.recall_score(truth, predicted, average=None)
    )
    assert found.auc == (pytest.approx(metrics.roc_auc_score(truth, scores)) if k == 2 else None)
    assert found.guess_error == min(np.mean(truth != c) for c in range(k))


def test_labels_that_are_not_known_are_errors():
    truth, answers = np.array([-1, 0, 1, 1]), np.array([0, 0, 1, 0])
    found = measure(truth, answers, np.array(["no", "yes"]), np.array([-1.0, -2.0, 1.0, -1.0]))
    assert found.rate.errors == 2
    assert found.guess_error == 0.5
    assert found.recalls == {"no": 1.0, "yes": 0.5}
    assert found.auc == 1.0


@pytest.mark.parametrize(
    ("counts", "rare"), [((80, 20), False), ((81, 19), True), ([10] * 10, False),
                         ([40] * 9 + [10], True), ((100, 0), False)],
)  # fmt: skip
def test_what_is_rare(counts, rare):
    truth = np.repeat(np.arange(len(counts)), counts)
    assert measure(truth, truth, np.arange(len(counts))).imbalanced == rare


def test_answering_like_a_guess_does_not_beat_it():
    """Whatever the rounding of shares."""
    for n in range(2, 60):
        truth = np.array([1] + [0] * (n - 1))
        found = measure(truth, np.zeros(n, int), np.arange(2))
        assert not found.beats_guess
        assert found.error == guess_error(truth)
