import dataclasses

import numpy as np
import pytest

from largemargin.data import Dataset


def test_unpacks_into_examples_and_labels():
    X, y = Dataset(np.eye(2), np.array([0, 1]))
    assert X.shape == (2, 2)
    assert y.tolist() == [0, 1]


def test_repr_is_one_short_line():
    data = Dataset(np.eye(2), None, X_test=np.eye(2)[:1], name="a")
    assert repr(data) == "Dataset('a', 2 x 2, no labels, 1 test rows)"


def test_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Dataset(np.eye(2), None).name = "b"
