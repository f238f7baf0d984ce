"""Small problems to train machines on, and the kernels to see them through."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import pairwise


def product(A, B):
    """A kernel that only a function says: (a.b + 1/2)^2."""
    return (A @ B.T + 0.5) ** 2


# parameters of an estimator beside the same kernel from scikit-learn
KERNELS = {
    "linear": ({"kernel": "linear"}, pairwise.linear_kernel),
    "poly": (
        {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
        lambda A, B: pairwise.polynomial_kernel(A, B, degree=2, gamma=0.5, coef0=1.0),
    ),
    "rbf": ({"kernel": "rbf", "gamma": 0.4}, lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.4)),
    "laplacian": (
        {"kernel": "laplacian", "gamma": 0.3},
        lambda A, B: pairwise.laplacian_kernel(A, B, gamma=0.3),
    ),
    "precomputed": (
        {"kernel": "precomputed"},
        lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.2) + 0.1 * A @ B.T,
    ),
    "callable": ({"kernel": product}, product),
}


def noisy(seed, n=24, n_features=3, noise=0.7):
    """Two classes, -1 and +1, that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = -1, 1
    return X, y


def separable(seed, n=24, n_features=3):
    """Two classes that a hyperplane through the origin separates, with a margin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    y[:2] = -1, 1
    X[:, 0] = y * (0.2 + abs(X[:, 0]))
    return X, y


def several(seed, n=30, n_features=3, n_classes=3, noise=0.5):
    """Several classes that overlap, 0 to n_classes - 1."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_classes
    centres = rng.normal(size=(n_classes, n_features)) * 1.5
    return centres[labels] + noise * rng.normal(size=(n, n_features)) * 2, labels


def given(name, X, K):
    """What `fit` is called with: the examples, or the matrix itself."""
    return K if name == "precomputed" else X
