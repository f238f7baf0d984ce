"""The layouts of one-vs-one: LIBSVM's and ours say the same."""

from itertools import combinations

import numpy as np
import pytest

from largemargin.interchange.pairs import by_class, rows_of_pairs, to_ours


@pytest.mark.parametrize("seed", range(20))
def test_a_layout_there_and_back(seed):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 6))
    rows = rng.normal(size=(n_classes * (n_classes - 1) // 2, 9)) * (rng.random(9) < 0.8)
    found = by_class(rows, n_classes)
    back = np.zeros_like(rows)
    laid_out = rows_of_pairs(found.coefs, found.sizes)
    for column, vector in enumerate(found.order):
        back[:, vector] += laid_out[:, column]
    assert np.array_equal(back, rows)
    assert found.sizes.sum() == len(found.order)


@pytest.mark.parametrize("seed", range(20))
def test_pairs_in_any_order_of_labels(seed):
    rng = np.random.default_rng(seed)
    labels = rng.permutation([3, 8, -2, 5])
    pairs = list(combinations(range(4), 2))
    rows, thresholds = rng.normal(size=(6, 3)), rng.normal(size=6)
    classes, coefs, intercepts = to_ours(rows, thresholds, labels)
    assert classes.tolist() == [-2, 3, 5, 8]
    for p, (a, b) in enumerate(combinations(range(4), 2)):
        i, j = (int(np.flatnonzero(labels == classes[c])[0]) for c in (a, b))
        sign = -1 if i < j else 1  # theirs is positive for the first, ours for the second
        q = pairs.index((min(i, j), max(i, j)))
        assert np.array_equal(coefs[p], sign * rows[q])
        assert intercepts[p] == sign * thresholds[q]
