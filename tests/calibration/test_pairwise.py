"""The coupling of pairwise probabilities against the iteration of its paper, and its limits."""

import numpy as np
import pytest

from largemargin.calibration import PairwiseCoupling, couple
from largemargin.calibration.pairwise import pairs_of


def twin(r, steps=1_000):
    """The fixed-point iteration of Wu, Lin and Weng (2004), algorithm 2."""
    k = len(r)
    Q = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            Q[i, j] = (
                sum(r[s, i] ** 2 for s in range(k) if s != i) if i == j else -r[j, i] * r[i, j]
            )
    p = np.full(k, 1 / k)
    for step in range(steps):
        t = step % k
        p[t] = (p @ Q @ p - sum(Q[t, j] * p[j] for j in range(k) if j != t)) / Q[t, t]
        p /= p.sum()
    return p


def random_pairs(rng, n, k, least=0.02):
    r = rng.uniform(least, 1 - least, (n, k, k))
    low = np.tril_indices(k, -1)
    r[:, low[0], low[1]] = 1 - r[:, low[1], low[0]]
    return r


@pytest.mark.parametrize("k", [2, 3, 6])
def test_it_is_the_limit_of_the_iteration(k):
    r = random_pairs(np.random.default_rng(k), 3, k)
    found = couple(r)
    assert np.allclose(found, [twin(one) for one in r], atol=1e-9)
    assert (found > 0).all()
    assert np.allclose(found.sum(axis=1), 1)


def test_consistent_pairs_give_their_classes_back():
    p = np.random.default_rng(0).dirichlet(np.ones(7), 50)
    p = np.maximum(p, 1e-4) / np.maximum(p, 1e-4).sum(axis=1, keepdims=True)
    assert np.allclose(couple(p[:, :, None] / (p[:, :, None] + p[:, None])), p, atol=1e-10)


def test_certain_pairs_are_kept_from_certainty():
    r = np.zeros((1, 4, 4))
    r[0][np.triu_indices(4, 1)] = 1.0  # 0 beats 1 beats 2 beats 3
    found = couple(r)[0]
    assert np.isfinite(found).all()
    assert found.argmax() == 0
    assert (np.diff(found) <= 1e-12).all()


def test_a_row_does_not_depend_on_its_neighbours():
    r = random_pairs(np.random.default_rng(1), 40, 5)
    assert np.array_equal(couple(r)[7:9], couple(r[7:9]))


def test_the_estimator_couples_a_sigmoid_a_pair():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 300)
    centres = np.array([[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]])
    X = centres[labels] + rng.normal(size=(300, 2))
    scores = np.column_stack([X @ (centres[j] - centres[i]) for i, j in pairs_of(3)])
    model = PairwiseCoupling().fit(scores, labels, np.ones(300))
    assert model.a_.shape == model.b_.shape == (3,)
    assert (model.a_ < 0).all()
    found = model.predict_proba(scores)
    truth = np.exp(X @ centres.T - (centres**2).sum(axis=1) / 2)
    truth /= truth.sum(axis=1, keepdims=True)
    assert np.abs(found - truth).mean() < 0.05
    with pytest.raises(ValueError, match="each of the 3 pairs of 3 classes, got shape"):
        model.predict_proba(scores[:, :2])
    with pytest.raises(ValueError, match="must be finite"):
        model.predict_proba(np.full((2, 3), np.inf))
