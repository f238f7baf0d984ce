"""Small stand-ins for MNIST and USPS: the digits of scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from largemargin.data.dataset import Dataset


@pytest.fixture(scope="session")
def small_mnist():
    X, y = load_digits(return_X_y=True)
    X = (15 * X).astype(np.float32)
    return Dataset(X[:300], y[:300], X[300:450], y[300:450], name="mnist")


@pytest.fixture(scope="session")
def small_usps():
    X, y = load_digits(return_X_y=True)
    X = (X / 8 - 1).astype(np.float32)
    return Dataset(X[:300], y[:300], X[300:450], y[300:450], name="usps")
