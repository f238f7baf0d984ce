"""Small sets of examples."""

import numpy as np


def noisy(seed, n=30, d=3, noise=0.25):
    """Two classes, -1 and 1, that no combination of few stumps gets right."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + X[:, 1] * X[:, -1] > 0, 1, -1)
    flipped = rng.random(n) < noise
    y[flipped] *= -1
    y[:2] = -1, 1
    return X, y


def several(seed, n=32, d=3, n_classes=4, noise=0.8):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    centers = rng.normal(size=(n_classes, d)) * 1.5
    return centers[y] + noise * rng.normal(size=(n, d)), y


def coarse(seed, n=25, d=3, n_classes=2):
    """Few values: ties among values, thresholds and errors, and a constant feature."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 3, (n, d)).astype(float)
    X[:, -1] = 1.0
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    return X, y
