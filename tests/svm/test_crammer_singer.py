"""The multiclass machine that is one problem, against a general quadratic program."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from largemargin.svm import SVC

from . import twin
from .problems import KERNELS, given, several
from .test_decomposition import small_blocks


def primal(K, labels, s, coefs, C):
    f = coefs @ K
    own = np.arange(len(coefs))[:, None] == labels
    xi = np.maximum(0, (f + ~own).max(axis=0) - f[labels, np.arange(len(labels))])
    return (coefs * f).sum() / 2 + C * s @ xi


def full(model, n):
    coefs = np.zeros((len(model.dual_coef_), n))
    coefs[:, model.support_] = model.dual_coef_
    return coefs


@pytest.mark.crossing
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize("blocks", [False, True])
def test_against_the_twin(name, C, n_classes, blocks):
    X, labels = several(int(10 * C) + n_classes, n=18, n_classes=n_classes)
    s = np.random.default_rng(0).uniform(0.3, 2, 18)
    K = KERNELS[name][1](X, X)
    objective, coefs = twin.crammer_singer(K, labels, s, C, n_classes)
    assert primal(K, labels, s, coefs, C) == pytest.approx(objective, rel=1e-8)
    model = SVC(C=C, multiclass="crammer-singer", **KERNELS[name][0])
    if blocks:
        with small_blocks(working_set=6):
            model.fit(given(name, X, K), labels, s)
    else:
        model.fit(given(name, X, K), labels, s)
    assert model.objective_[0] == pytest.approx(objective, rel=1e-7)
    truth = (coefs @ K).T
    found = model.decision_function(given(name, X, K))
    assert np.allclose(found, truth, rtol=0, atol=1e-7 * (1 + abs(truth).max()))
    assert np.array_equal(model.predict(given(name, X, K)), found.argmax(axis=1))
    assert not model.intercept_.any()
    assert model.converged_
    assert abs(model.dual_gap_[0]) < 1e-6
    assert np.allclose(full(model, 18).sum(axis=0), 0, atol=1e-9)


def test_two_classes_are_the_machine_without_a_threshold():
    """m_1 = -m_0 = w/2, so that 1/2 sum |m|^2 is a quarter of w.w: C twice as large."""
    X, labels = several(2, n_classes=2)
    for C in (0.1, 3.0):
        model = SVC(C=C, multiclass="crammer-singer", gamma=0.4).fit(X, labels)
        plain = SVC(C=2 * C, fit_intercept=False, gamma=0.4).fit(X, labels)
        assert model.decision_function(X).shape == (30,)
        assert np.allclose(model.decision_function(X), plain.decision_function(X), atol=1e-7)
        assert 2 * model.objective_[0] == pytest.approx(plain.objective_[0], rel=1e-8)


def test_against_the_linear_machine_of_the_peer():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    ours = SVC(C=0.5, kernel="linear", multiclass="crammer-singer").fit(X, y)
    theirs = LinearSVC(
        C=0.5, multi_class="crammer_singer", fit_intercept=False, tol=1e-8, max_iter=10**5
    ).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_ - theirs.coef_.mean(axis=0), atol=1e-4)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.bits
@pytest.mark.parametrize("sparse", [False, True])
def test_neither_threads_nor_memory_change_a_bit(sparse):
    X, y = several(3, n=200, n_features=5, n_classes=3, noise=0.6)
    X = sp.csr_array(X * (abs(X) > 0.5)) if sparse else X
    params = {"multiclass": "crammer-singer", "gamma": 0.3}
    for precision in ("float32", "float64"):
        with small_blocks(working_set=96):
            first = SVC(n_jobs=1, precision=precision, **params).fit(X, y)
            for n_jobs, memory in ((2, "auto"), (1, "50KB"), (2, 1)):
                other = SVC(n_jobs=n_jobs, memory=memory, precision=precision, **params).fit(X, y)
                assert np.array_equal(other.support_, first.support_)
                assert np.array_equal(other.dual_coef_, first.dual_coef_)


def test_slack_that_it_does_not_have():
    """Only the sum of slacks is its price; another is refused rather than ignored."""
    X, y = several(2)
    for slack in ("squared", "squared-sum"):
        with pytest.raises(ValueError, match="slack"):
            SVC(multiclass="crammer-singer", slack=slack).fit(X, y)


def test_a_price_that_it_does_not_have():
    X, y = several(2)
    with pytest.raises(ValueError, match="finite C"):
        SVC(C=np.inf, multiclass="crammer-singer").fit(X, y)
