"""The example that goes from a full cache, found by bounds, against looking at all of them."""

import numpy as np
import pytest

from largemargin.online.policies import _find_rivals, _largest_by_bounds


def by_looking_at_all(newest, labels, positions, loo_scores, coefs, values, margin):
    scores = loo_scores + coefs[:, None] * np.where(np.arange(len(labels)) == newest, 0.0, values)
    surplus = []
    for j, label in enumerate(labels):
        rival = max(scores[r, j] for r in range(len(scores)) if r != label)
        surplus.append(scores[label, j] - rival - margin)
    best = np.flatnonzero(np.array(surplus) == max(surplus))
    return best[np.argmin(positions[best])]


@pytest.mark.parametrize("whole_numbers", [True, False])  # with many ties, and with none
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_it_is_the_one(n_classes, whole_numbers):
    rng = np.random.default_rng(n_classes)
    gone = set()
    for size in rng.integers(1, 40, 300):
        numbers = rng.integers(-3, 4, (n_classes + 1, size + 1)).astype(float)
        if not whole_numbers:
            numbers = rng.normal(size=numbers.shape)
        loo_scores, values = np.ascontiguousarray(numbers[1:, 1:]), numbers[0, 1:]
        coefs = numbers[1:, 0].copy()
        labels, positions = rng.integers(0, n_classes, size), rng.permutation(size)
        newest = int(positions.argmax())
        own, best, without = np.zeros((3, size))
        rivals = np.zeros(size, np.int64)
        _find_rivals(labels, loo_scores, 0.5, own, best, rivals, without)
        found = _largest_by_bounds(
            newest, labels, positions, loo_scores, coefs, values, 0.5, own, best, rivals, without
        )
        expected = by_looking_at_all(newest, labels, positions, loo_scores, coefs, values, 0.5)
        assert found == expected
        gone.add(found == newest)
    assert gone == {True, False}
