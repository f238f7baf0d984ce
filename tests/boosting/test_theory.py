"""Theorem 1.12: the margin error on the training data is at most a product over the rounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largemargin.boosting import AdaBoost, RBFNetwork

from .problems import coarse, noisy, several


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([noisy, coarse, several]),
    st.integers(1, 40),
    st.floats(-1, 1),
    st.booleans(),
)
@pytest.mark.filterwarnings("ignore:the base learner is no better")
def test_margin_error(seed, problem, n_rounds, rho, weighted):
    X, y = problem(seed)
    s = np.random.default_rng(seed).integers(1, 5, len(y)) if weighted else None
    model = AdaBoost(n_rounds=n_rounds).fit(X, y, s)
    for r in (rho, 0.0, 0.1):
        assert model.margin_error(X, y, r, s) <= model.margin_error_bound(r) * (1 + 1e-12)


def test_with_networks():
    X, y = noisy(4, n=80)
    model = AdaBoost(RBFNetwork(5), n_rounds=15, random_state=0).fit(X, y)
    for rho in np.linspace(-0.5, 0.9, 8):
        assert model.margin_error(X, y, rho) <= model.margin_error_bound(rho)


def test_the_product_as_printed():
    X, y = noisy(1)
    model = AdaBoost(n_rounds=9).fit(X, y)
    e = model.weighted_errors_
    for rho in (-0.2, 0.0, 0.3, 1.0):
        printed = 2.0**9 * np.prod(np.sqrt(e ** (1 - rho) * (1 - e) ** (1 + rho)))
        assert model.margin_error_bound(rho) == pytest.approx(printed, rel=1e-12)


def test_the_product_of_several_classes():
    """Markov's inequality on exp(alpha (1 + rho) - 2 alpha [right]), round by round."""
    X, y = several(1)
    model = AdaBoost(n_rounds=9).fit(X, y)
    e, alphas = model.weighted_errors_, model.alphas_
    for rho in (0.0, 0.3):
        factors = (e + (1 - e) * np.exp(-2 * alphas)) * np.exp((1 + rho) * alphas)
        assert model.margin_error_bound(rho) == pytest.approx(np.prod(factors), rel=1e-12)


def test_the_bound_says_something():
    X, y = noisy(0, noise=0.0)
    model = AdaBoost(n_rounds=200).fit(X, y)
    assert model.margin_error_bound(0.0) < 0.05
    assert model.margin_error(X, y, 0.0) == 0


def test_zero_error():
    X, y = noisy(0)
    X[:, 0] = y
    model = AdaBoost().fit(X, y)
    assert model.margin_error_bound(0.5) == 0
    assert model.margin_error(X, y, 0.5) == 0
    assert model.margin_error_bound(1.0) == 2


def test_margin_errors_count():
    X, y = noisy(2)
    model = AdaBoost(n_rounds=5).fit(X, y)
    margins = model.margins(X, y)
    assert model.margin_error(X, y, 0.2) == np.mean(margins < 0.2)
    assert model.margin_error(X, y, -1.0) == 0
    assert model.margin_error(X, y, 1.1) == 1
    s = np.arange(len(y))
    assert model.margin_error(X, y, 0.2, s) == pytest.approx(s[margins < 0.2].sum() / s.sum())


def test_it_does_not_hold_with_regularization():
    X, y = noisy(0)
    model = AdaBoost(regularization=1.0, n_rounds=3).fit(X, y)
    with pytest.raises(ValueError, match=r"needs regularization=0, got 1\.0"):
        model.margin_error_bound(0.1)
