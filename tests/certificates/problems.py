"""Data that the tests of certificates share."""

import numpy as np


def blobs(seed, n=16, width=2, noise=0.5):
    """Two classes that overlap the more, the more noise there is; both have two examples."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width))
    y = (X[:, 0] + noise * rng.normal(size=n) > 0).astype(int)
    y[:4] = [0, 0, 1, 1]
    return X, y


def separable(seed, n=30, width=3, gamma=0.3):
    """Examples that the first axis separates with margin gamma, through the origin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width))
    X[:, 0] = np.sign(X[:, 0]) * (np.abs(X[:, 0]) + gamma)
    X[0, 0], X[1, 0] = gamma, -gamma
    return X, np.where(X[:, 0] > 0, "yes", "no")


def three(seed, n=24):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return np.eye(3)[y] + 0.4 * rng.normal(size=(n, 3)), y


def says_why(statement, words):
    """Whether a statement does not apply, and says so in these words."""
    assert not statement.applies
    assert statement.value is None
    assert statement.sentence.startswith("Not applicable: ")
    assert words in statement.sentence, statement.sentence
    return True
