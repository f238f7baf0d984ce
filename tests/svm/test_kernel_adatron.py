"""The kernel adatron: the rule as it is written, and the machine that it climbs to."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from largemargin.svm import SVC, KernelAdatron

from . import twin
from .problems import KERNELS, given, noisy, separable, several
from .test_decomposition import small_blocks


def passes(K, y, rate, C, n):
    """alpha after n passes, example by example; the two classes in order, as in the machine."""
    alpha = np.zeros(len(y))
    for _ in range(n):
        for i in np.argsort(y, kind="stable"):
            z = K[i] @ (y * alpha)
            alpha[i] = min(C, max(0, alpha[i] + rate[i] * (1 - y[i] * z)))
    return y * alpha


@pytest.mark.parametrize("C", [0.5, np.inf])
@pytest.mark.parametrize("rate", ["auto", 0.4])
@pytest.mark.parametrize("n", [1, 3])
def test_the_rule(C, rate, n):
    X, y = noisy(1)
    K = KERNELS["rbf"][1](X, X)
    model = KernelAdatron(C=C, learning_rate=rate, gamma=0.4, max_iter=n, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model.fit(X, y)
    coefs = np.zeros(len(y))
    coefs[model.support_] = model.dual_coef_[0]
    expected = passes(K, y, np.full(len(y), 1.0 if rate == "auto" else rate), C, n)
    assert np.allclose(coefs, expected)
    assert (model.n_iter_ == n).all()
    z = K @ expected
    assert model.intercept_[0] == pytest.approx(-(z[y > 0].min() + z[y < 0].max()) / 2)


@pytest.mark.parametrize("name", KERNELS)
def test_a_soft_margin_is_the_machine_without_a_threshold(name):
    X, y = noisy(2)
    K = KERNELS[name][1](X, X)
    model = KernelAdatron(C=0.5, tol=1e-9, max_iter=10**5, fit_intercept=False, **KERNELS[name][0])
    model.fit(given(name, X, K), y)
    expected = twin.soft_margin(K, y, np.ones(len(y)), 0.5, "linear", False)
    truth = K @ expected.coefs
    assert np.allclose(model.decision_function(given(name, X, K)), truth, atol=1e-5)
    assert model.objective_[0] == pytest.approx(expected.objective, rel=1e-7)
    assert model.dual_gap_[0] < 1e-5
    assert model.converged_


def test_a_hard_margin_approaches_the_optimal_hyperplane():
    X, y = separable(1)
    model = KernelAdatron(C=np.inf, tol=1e-6, max_iter=10**5, gamma=0.4).fit(X, y)
    assert model.converged_
    scores = model.decision_function(X)
    assert (y * scores).min() >= 1 - 1e-5  # half the distance of the classes' closest scores
    hard = SVC(C=np.inf, fit_intercept=False, gamma=0.4).fit(X, y)
    assert model.margin_[0] == pytest.approx(hard.margin_[0], rel=0.05)
    assert model.dual_gap_[0] >= -1e-12


def test_data_that_cannot_be_separated_end():
    X, y = noisy(3, n=60)
    with pytest.warns(ConvergenceWarning, match="max_iter=50") as caught:
        model = KernelAdatron(C=np.inf, kernel="linear", max_iter=50).fit(X, y)
    assert "warm_start" not in str(caught[0].message)  # it has none
    assert not model.converged_
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.bits
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_several_classes_and_blocks(multiclass):
    X, y = several(1, n=90, n_classes=4)
    params = {"C": 2.0, "gamma": 0.4, "tol": 1e-8, "max_iter": 10**5, "multiclass": multiclass}
    model = KernelAdatron(**params).fit(X, y)
    plain = SVC(C=2.0, gamma=0.4, multiclass=multiclass, fit_intercept=False).fit(X, y)
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    assert (model.predict(X) == plain.predict(X)).mean() > 0.9
    with small_blocks():
        first = KernelAdatron(**params).fit(X, y)
        second = KernelAdatron(n_jobs=2, memory=1, **params).fit(X, y)
    assert np.allclose(first.decision_function(X), model.decision_function(X), atol=1e-6)
    assert np.array_equal(first.dual_coef_, second.dual_coef_)


def test_coefficients_that_grow_without_bound_are_refused():
    X, y = noisy(1)
    model = KernelAdatron(C=np.inf, kernel="sigmoid", gamma=5.0)
    with pytest.raises(ValueError, match=r"grow without bound with C=inf.*give a smaller C"):
        model.fit(X, y)
    assert not hasattr(model, "dual_coef_")
