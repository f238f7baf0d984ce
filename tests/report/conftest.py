"""A browser, and small pictures to train on."""

import warnings

import pytest


@pytest.fixture(scope="session")
def browser():
    """Chromium, for all pages; without one the tests that need it say so in a warning."""
    from .browser import Browser, find_chromium

    if find_chromium() is None:
        said = "no chromium on this machine, so no page was rendered: apt-get install chromium"
        warnings.warn(said, stacklevel=1)
        pytest.skip(said)
    opened = Browser()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def three_digits():
    """Small pictures of three classes: rows to train on and rows to test on."""
    from sklearn.datasets import load_digits

    X, y = load_digits(n_class=3, return_X_y=True)
    X = X / 16.0
    return (X[:120], y[:120]), (X[120:200], y[120:200])
