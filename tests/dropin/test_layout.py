"""LIBSVM's layout of coefficients, and its votes."""

from itertools import combinations

import numpy as np

from largemargin.dropin.layout import packed, unpacked, winners


def slow_winner(scores, n_classes):
    votes = [0] * n_classes
    for score, (i, j) in zip(scores, combinations(range(n_classes), 2), strict=True):
        votes[i if score > 0 else j] += 1
    return votes.index(max(votes))


def test_packing_loses_nothing():
    chance = np.random.default_rng(0)
    for k in range(2, 7):
        counts = chance.integers(0, 4, k)
        table = chance.normal(size=(k - 1, counts.sum()))
        assert np.array_equal(packed(unpacked(table, counts), counts), table)


def test_votes_are_those_of_a_count():
    chance = np.random.default_rng(1)
    for k in range(2, 7):
        scores = chance.integers(-1, 2, (k * (k - 1) // 2, 40)).astype(float)
        slow = [slow_winner(column, k) for column in scores.T]
        assert winners(scores, k).tolist() == slow
