"""Visits of pages, and small pictures to train on."""

import functools

import pytest


@pytest.fixture
def visit(browser):
    """Opens a page and tells what happened."""
    from .browser import visit_of

    return functools.partial(visit_of, browser)


@pytest.fixture(scope="session")
def three_digits():
    """Small pictures of three classes: rows to train on and rows to test on."""
    from sklearn.datasets import load_digits

    X, y = load_digits(n_class=3, return_X_y=True)
    X = X / 16.0
    return (X[:120], y[:120]), (X[120:200], y[120:200])
