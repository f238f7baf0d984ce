"""Streams for the tests, and look-aheads so small that they go through every edge."""

from contextlib import contextmanager

import numpy as np
import pytest


def integers(seed, n=120, n_features=4, n_classes=3, noise=0.1):
    """Small integers, whose linear and polynomial kernel values are exact, and labels that a linear
    map of them gives, but for some noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, n_features)).astype(float)
    X[~X.any(axis=1), 0] = 1
    scores = X @ rng.normal(size=(n_features, n_classes))
    y = np.where(rng.random(n) < noise, rng.integers(0, n_classes, n), scores.argmax(axis=1))
    y[:n_classes] = rng.permutation(n_classes)  # every class is there
    return X, y


def reals(seed, **kind):
    """The same without ties: a repeated example would meet, but for rounding, the margin that MIRA
    and ROMMA gave it."""
    X, y = integers(seed, **kind)
    return X + np.random.default_rng(seed).normal(scale=0.2, size=X.shape), y


@contextmanager
def look_ahead(length, task=1600):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("largemargin.online.learner.LOOK_AHEAD", length)
        patch.setattr("largemargin.online.prefetch.TASK", task)
        yield
