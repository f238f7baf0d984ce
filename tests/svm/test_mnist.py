"""The machine of Cortes and Vapnik (1995) on MNIST: degree 4, ten classes against the rest."""

import os

import numpy as np
import pytest

from largemargin import SVC, data
from largemargin.svm import cross_validate

pytestmark = [
    pytest.mark.data,
    pytest.mark.full,
    pytest.mark.skipif(
        "LARGEMARGIN_DATA" not in os.environ,
        reason="needs MNIST: set LARGEMARGIN_DATA to the folder that holds the data sets",
    ),
]


def test_the_error_at_the_C_that_cross_validation_chooses():
    loaded = data.load("mnist")
    X, X_test = (np.asarray(part, np.float32) / 255 for part in (loaded.X, loaded.X_test))
    machine = SVC(kernel="poly", degree=4, gamma=1.0, coef0=1.0)
    found = cross_validate(machine, X[:10_000], loaded.y[:10_000], Cs=[1e-8, 1e-7, 1e-6, 10.0])
    assert found.best_C == 1e-7
    machine.set_params(C=found.best_C).fit(X, loaded.y)
    assert machine.converged_
    assert 1 - machine.score(X_test, loaded.y_test) <= 0.017
