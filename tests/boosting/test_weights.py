"""A weight of s is exactly s examples, a weight of zero exactly none."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from largemargin.boosting import AdaBoost, RBFNetwork

from .problems import coarse, noisy, several

MODELS = {
    "stumps": AdaBoost(n_rounds=25),
    "regularized": AdaBoost(n_rounds=25, regularization=20.0),
    "network": RBFNetwork(5, random_state=0),
    "networks": AdaBoost(RBFNetwork(4, max_iter=3), n_rounds=5, random_state=0),
    "bayes": AdaBoost(GaussianNB(), n_rounds=8),
}


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(sorted(MODELS)),
    st.sampled_from([noisy, coarse, several]),
    st.booleans(),
)
@pytest.mark.filterwarnings("ignore:the base learner is no better")
def test_weights_are_repetitions(seed, name, problem, sparse):
    X, y = problem(seed)
    if name == "bayes" and problem is coarse:
        X = X + np.random.default_rng(seed).normal(size=X.shape)  # it needs a variance
    form = sp.csr_array if sparse and name in ("stumps", "network") else np.asarray
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, len(y))
    weight[:4] = 2
    copies = rng.permutation(np.repeat(np.arange(len(y)), weight))
    model = MODELS[name]
    once = model.fit(form(X), y, weight).decision_function(X)
    often = model.fit(form(X[copies]), y[copies]).decision_function(X)
    assert np.allclose(once, often, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["stumps", "network"])
def test_the_very_same(name):
    X, y = noisy(5)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    once = MODELS[name].fit(X, y, weight)
    first = once.estimators_ if name == "stumps" else once.centers_.tolist()
    often = MODELS[name].fit(X.repeat(weight, axis=0), y.repeat(weight))
    assert first == (often.estimators_ if name == "stumps" else often.centers_.tolist())


@pytest.mark.parametrize("name", [name for name in MODELS if name != "regularized"])
def test_the_scale_of_weights_is_nothing(name):
    """But with regularization, where the number of examples counts."""
    X, y = noisy(6)
    s = np.random.default_rng(1).uniform(0.5, 2, len(y))
    one = MODELS[name].fit(X, y, s).decision_function(X)
    assert np.allclose(one, MODELS[name].fit(X, y, 8 * s).decision_function(X), atol=1e-12)


@pytest.mark.parametrize("model", [AdaBoost(n_rounds=5), RBFNetwork(4, random_state=0)])
def test_a_class_of_weight_zero_is_none(model):
    X, y = several(1)
    scores = model.fit(X, y, (y != 1).astype(float)).decision_function(X)
    assert model.classes_.tolist() == [0, 2, 3]
    assert np.allclose(scores, model.fit(X[y != 1], y[y != 1]).decision_function(X))
