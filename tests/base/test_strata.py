import numpy as np
import pytest

from largemargin.base.strata import held_out


@pytest.mark.parametrize("labels", ["ints", "text", "objects"])
@pytest.mark.parametrize("fraction", [0.01, 0.25, 0.9])
def test_of_every_class_its_share(labels, fraction):
    y = np.repeat([0, 1, 2], [2, 37, 200])
    y = np.random.default_rng(0).permutation(y)
    y = {"ints": y, "text": y.astype(str), "objects": y.astype(str).astype(object)}[labels]
    rows, others = held_out(y, fraction, seed=1)
    assert sorted([*rows, *others]) == list(range(len(y)))
    for label in np.unique(y):
        n, held = np.sum(y == label), np.sum(y[others] == label)
        assert held == min(max(1, round(fraction * n)), n - 1)
    for mine, again in zip((rows, others), held_out(y, fraction, seed=1), strict=True):
        np.testing.assert_array_equal(mine, again)
    assert fraction == 0.01 or not np.array_equal(others, held_out(y, fraction, seed=2)[1])
