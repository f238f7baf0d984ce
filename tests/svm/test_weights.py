"""A weight of s is exactly s examples, a weight of zero exactly none."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given as draw
from hypothesis import settings
from hypothesis import strategies as st

from largemargin.svm import SVC, NuSVC

from .problems import KERNELS, noisy, separable, several

MACHINES = {
    "linear": lambda **p: SVC(C=0.8, **p),
    "squared": lambda **p: SVC(C=0.8, slack="squared", **p),
    "squared-sum": lambda **p: SVC(C=0.3, slack="squared-sum", **p),
    "hard": lambda **p: SVC(C=np.inf, **p),
    "nu": lambda **p: NuSVC(nu=0.6, **p),
    "balanced": lambda **p: SVC(class_weight="balanced", **p),
}


def weighted_and_repeated(seed, machine, n=40):
    X, y = (separable if machine == "hard" else noisy)(seed, n=n)
    weight = np.random.default_rng(seed).integers(0, 4, n)
    weight[:4] = 1, 1, 0, 3
    return X, y, weight


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("threshold", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
@pytest.mark.parametrize("sparse", [False, True])
def test_weights_are_repetitions(machine, threshold, kernel, sparse):
    X, y, weight = weighted_and_repeated(3, machine)
    params = {"kernel": kernel, "gamma": "scale", "fit_intercept": threshold}
    form = sp.csr_array if sparse else np.asarray
    once = MACHINES[machine](**params).fit(form(X), y, weight)
    often = MACHINES[machine](**params).fit(form(X.repeat(weight, axis=0)), y.repeat(weight))
    truth = often.decision_function(X)
    assert np.allclose(once.decision_function(X), truth, rtol=0, atol=1e-8 * (1 + abs(truth).max()))
    assert once.objective_ == pytest.approx(often.objective_, rel=1e-9)
    assert (weight[once.support_] > 0).all()


@pytest.mark.parametrize(
    ("machine", "multiclass"),
    [
        *[(machine, multiclass) for machine in MACHINES for multiclass in ("ovr", "ovo")],
        ("linear", "crammer-singer"),
        ("balanced", "crammer-singer"),
    ],
)
def test_weights_are_repetitions_with_several_classes(machine, multiclass):
    X, y = several(2, n=36, noise=0.15 if machine == "hard" else 0.5)
    weight = np.random.default_rng(5).integers(0, 4, 36)
    weight[:6] = 2
    once = MACHINES[machine](multiclass=multiclass).fit(X, y, weight)
    often = MACHINES[machine](multiclass=multiclass)
    often.fit(X.repeat(weight, axis=0), y.repeat(weight))
    f, truth = once.decision_function(X), often.decision_function(X)
    assert np.allclose(f, truth, rtol=0, atol=1e-8 * (1 + abs(truth).max()))


@pytest.mark.parametrize("machine", MACHINES)
def test_weight_zero_is_absence_with_a_precomputed_kernel(machine):
    X, y, weight = weighted_and_repeated(4, machine)
    K = KERNELS["rbf"][1](X, X)
    model = MACHINES[machine](kernel="precomputed").fit(K, y, weight)
    plain = MACHINES[machine](gamma=0.4).fit(X, y, weight)
    assert np.array_equal(model.support_, plain.support_)
    assert np.allclose(model.decision_function(K), plain.decision_function(X), atol=1e-9)


def test_a_class_of_weight_zero_is_none():
    X, y = several(1)
    model = SVC().fit(X, y, (y != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]
    part = SVC().fit(X[y != 1], y[y != 1])
    assert np.allclose(model.decision_function(X), part.decision_function(X), atol=1e-12)
    assert np.array_equal(model.support_, np.flatnonzero(y != 1)[part.support_])


@pytest.mark.parametrize("factor", [1e-3, 7.0])
def test_the_price_of_a_weight(factor):
    """Weights times a factor are C times it; for nu and for the hard margin they are nothing."""
    X, y = noisy(6)
    s = np.random.default_rng(1).uniform(0.5, 2, len(y))
    for slack, power in (("linear", 1), ("squared", 1), ("squared-sum", 2)):
        one = SVC(C=0.5 * factor**power, slack=slack).fit(X, y, s).decision_function(X)
        two = SVC(C=0.5, slack=slack).fit(X, y, factor * s).decision_function(X)
        assert np.allclose(one, two, rtol=0, atol=1e-8)
    one = NuSVC(nu=0.4).fit(X, y, s).decision_function(X)
    assert np.allclose(one, NuSVC(nu=0.4).fit(X, y, factor * s).decision_function(X), atol=1e-8)
    X, y = separable(6)
    one = SVC(C=np.inf, gamma=0.5).fit(X, y, s).decision_function(X)
    assert np.allclose(one, SVC(C=np.inf, gamma=0.5).fit(X, y).decision_function(X), atol=1e-8)


@settings(max_examples=40, deadline=None)
@draw(st.integers(0, 10**6), st.sampled_from(sorted(MACHINES)), st.booleans())
def test_coarse_data(seed, machine, threshold):
    """Ties and duplicates: many examples lie exactly on a margin."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (14, 2)).astype(float)
    y = np.where(X @ [1.0, 0.4] > 0, 1.0, -1.0)
    X[:2], y[:2] = [[-1, -1], [1, 1]], [-1, 1]
    if machine in ("linear", "squared", "squared-sum", "balanced"):
        flip = rng.random(14) < 0.2
        flip[:2] = False
        y[flip] *= -1
    weight = rng.integers(0, 4, 14)
    weight[:2] = 2
    params = {"kernel": "poly", "degree": 2, "gamma": 1.0, "fit_intercept": threshold}
    if machine == "nu":
        most = min(weight[y > 0].sum(), weight[y < 0].sum()) * 2 / weight.sum()
        once, often = (NuSVC(nu=0.7 * most, **params) for _ in range(2))
    else:
        once, often = (MACHINES[machine](**params) for _ in range(2))
    once.fit(X, y, weight)
    often.fit(X.repeat(weight, axis=0), y.repeat(weight))
    f, truth = once.decision_function(X), often.decision_function(X)
    assert np.allclose(f, truth, rtol=0, atol=1e-7 * (1 + abs(truth).max()))
