"""What the papers prove, on streams that meet the assumptions."""

import numpy as np
import pytest

from largemargin.online import ALMA, MIRA, ROMMA, AggressivePerceptron


def separable(seed, n=2000, n_features=6, gamma=0.3):
    """Examples of norm at most 1 that the first axis separates with margin gamma."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4 * n, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X = X[np.abs(X[:, 0]) >= gamma][:n]
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("beta", [0.01, 0.2, 1.0])
def test_the_cache_of_distill_is_bounded(seed, beta):
    X, y = separable(seed, gamma=0.2 + 0.1 * seed / 4)
    gamma, R = np.abs(X[:, 0]).min(), 1.0
    model = AggressivePerceptron(kernel="linear", margin=beta, shuffle=False).fit(X, y)
    bound = (R**2 + 2 * beta) / gamma**2
    assert model.cache_sizes_[:, 1].max() <= bound
    assert 0 < model.n_support_ < model.n_insertions_


@pytest.mark.parametrize("seed", range(4))
def test_the_perceptron_without_a_margin_makes_few_mistakes(seed):
    X, y = separable(seed)
    model = AggressivePerceptron(kernel="linear", margin=0, policy="keep").fit(X, y)
    assert model.online_errors_ == model.margin_errors_ <= 1 / np.abs(X[:, 0]).min() ** 2


@pytest.mark.parametrize("seed", range(4))
def test_romma_makes_few_mistakes_and_keeps_the_best_vector_ahead(seed):
    X, y = separable(seed)
    gamma = np.abs(X[:, 0]).min()
    for aggressive in (False, True):
        model = ROMMA(kernel="linear", policy="keep", aggressive=aggressive).fit(X, y)
        assert model.online_errors_ <= 1 / gamma**2
        assert np.linalg.norm(model.coef_) <= 1 / gamma + 1e-9


def test_alma_reaches_the_margin_that_it_promises():
    X, y = separable(0, n=300)
    signs, gamma = 2 * y - 1, np.abs(X[:, 0]).min()
    model = ALMA(kernel="linear", alpha=0.5, policy="keep")
    for _ in range(200):
        before = model.margin_errors_ if hasattr(model, "classes_") else -1
        model.partial_fit(X, y, classes=[0, 1])
        if model.margin_errors_ == before:
            break
    assert model.margin_errors_ == before
    w = model.coef_[0]
    xh = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert np.linalg.norm(w) <= 1 + 1e-12
    assert (signs * (xh @ w)).min() / np.linalg.norm(w) >= 0.5 * gamma


def test_mira_moves_as_little_as_gives_the_margin():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 3, 60)
    model = MIRA(kernel="linear", margin=0.5, policy="keep", average=False)
    for t in range(60):
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1, 2])
        scores = model.decision_function(X[t : t + 1])[0]
        lead = scores[y[t]] - np.delete(scores, y[t]).max()
        capped = t in model.support_ and model.dual_coef_[y[t], -1] >= 1 - 1e-12
        assert lead >= 0.5 - 1e-9 or capped
