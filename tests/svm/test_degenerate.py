"""Data that leave nothing, or too much, to find: every fit ends and says what it found."""

import contextlib
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise

from largemargin.svm import SVC, NuSVC

from . import twin
from .extended import true_gaps
from .problems import noisy, separable, several

SLACKS = ["linear", "squared", "squared-sum"]
STEPS = 2 * 10**6  # what no fit needs that ends


def quiet(model, X, y, sample_weight=None):
    """Fitted, without a warning of any kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model.fit(X, y, sample_weight)


def is_finite(model, X):
    parts = (model.dual_coef_, model.intercept_, model.objective_, model.dual_gap_)
    return all(np.isfinite(part).all() for part in (*parts, model.decision_function(X)))


@pytest.mark.parametrize("slack", SLACKS)
@pytest.mark.parametrize("threshold", [True, False])
def test_duplicates_with_opposite_labels(slack, threshold):
    X, y = noisy(0)
    X, y = np.repeat(X, 2, axis=0), np.tile([-1.0, 1.0], len(X))
    model = quiet(SVC(slack=slack, fit_intercept=threshold), X, y)
    assert np.allclose(model.decision_function(X), 0, atol=1e-9)
    price = {"linear": 48, "squared": 48, "squared-sum": 48**2}[slack]
    assert model.objective_[0] == pytest.approx(price)
    assert model.margin_[0] > 1e6  # w is zero, but for rounding


@pytest.mark.parametrize("slack", SLACKS)
def test_one_example_a_class(slack):
    X, y = noisy(1)
    X, y = X[:2], y[:2]
    K = pairwise.rbf_kernel(X, gamma=0.4)
    for C in (0.3, 100.0):
        model = quiet(SVC(C=C, slack=slack, gamma=0.4), X, y)
        expected = twin.soft_margin(K, y, np.ones(2), C, slack)
        assert model.objective_[0] == pytest.approx(expected.objective, rel=1e-7)
        assert np.allclose(model.intercept_, 0, atol=1e-9)


def test_one_example_a_class_with_hard_margins_and_nu():
    X, y = noisy(1)
    for model in (SVC(C=np.inf, kernel="linear"), NuSVC(nu=1.0, kernel="linear")):
        quiet(model, X[:2], y[:2])
        assert model.margin_[0] == pytest.approx(np.linalg.norm(X[0] - X[1]) / 2)
        assert np.allclose(model.decision_function(X[:2]), y[:2])


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "crammer-singer"])
def test_one_example_of_each_of_six_classes(multiclass):
    X = np.random.default_rng(0).normal(size=(6, 8))
    model = quiet(SVC(C=100.0, multiclass=multiclass), X, np.arange(6))
    assert np.array_equal(model.predict(X), np.arange(6))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "poly"])
@pytest.mark.parametrize("slack", SLACKS)
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_features(kernel, slack, value):
    X, y = np.full((10, 3), value), np.array([0] * 7 + [1] * 3)
    model = quiet(SVC(slack=slack, kernel=kernel), X, y)
    assert is_finite(model, X)
    assert (model.predict(X) == 0).all()
    several = quiet(SVC(slack=slack, kernel=kernel), X, np.arange(10) % 3)
    most = (10 - 2 * np.array([4, 3, 3])) / 10 if slack == "squared" else 1.0  # of slack's minimum
    assert np.allclose(several.decision_function(X), -most, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("threshold", [True, False])
def test_constant_features_cannot_be_separated(kernel, threshold):
    X, y = np.zeros((10, 3)), np.array([0] * 7 + [1] * 3)
    for model in (
        SVC(C=np.inf, kernel=kernel, fit_intercept=threshold),
        NuSVC(nu=0, kernel=kernel),
    ):
        with pytest.warns(ConvergenceWarning, match="cannot be separated"):
            model.fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert model.predict(X).shape == (10,)


@pytest.mark.crossing
@pytest.mark.parametrize("C", [1e-9, 1e9])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("slack", SLACKS)
@pytest.mark.parametrize("threshold", [True, False])
def test_extreme_prices(C, kernel, slack, threshold):
    X, y = noisy(4, n=60)
    model = SVC(C=C, kernel=kernel, slack=slack, fit_intercept=threshold, max_iter=STEPS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert model.converged_ or "rounding errors leave no better" in str(caught[0].message)
    assert len(caught) == 1 - model.converged_
    assert is_finite(model, X)
    assert true_gaps(model, X, y)[0] <= model.dual_gap_[0] < 0.1
    assert true_gaps(model, X, y)[0] < 1e-3


def test_a_large_price_of_overlapping_classes_is_that_of_the_hinge():
    """Overlap, linear kernel: for a large C the objective is C times the least sum of slacks."""
    X, y = noisy(4, n=60)
    small, large = (SVC(C=C, kernel="linear").fit(X, y).objective_[0] / C for C in (1e4, 1e6))
    assert small == pytest.approx(large, rel=1e-2)
    assert large < small


@pytest.mark.parametrize("slack", SLACKS)
@pytest.mark.parametrize("C", [0.1, 100.0, 1e6])
@pytest.mark.parametrize("threshold", [True, False])
def test_a_kernel_that_is_not_positive_definite(slack, C, threshold):
    """It ends, with numbers; the objective that it reports is that of its coefficients."""
    X, y = noisy(2, n=60)
    params = {"kernel": "sigmoid", "gamma": 2.0, "coef0": -1.0}
    K = pairwise.sigmoid_kernel(X, gamma=2.0, coef0=-1.0)
    assert np.linalg.eigvalsh(K)[0] < -0.1
    model = SVC(slack=slack, C=C, fit_intercept=threshold, max_iter=STEPS, **params)
    bounded = slack != "squared" or np.linalg.eigvalsh(K)[0] + 1 / (2 * C) > 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not bounded:  # refused, or ended at a point of the box
            with contextlib.suppress(ValueError):
                model.fit(X, y)
            if not hasattr(model, "classes_"):
                with pytest.raises(ValueError, match="not positive semi-definite"):
                    model.fit(X, y)
                return
        else:
            model.fit(X, y)
    assert {w.category for w in caught} <= {ConvergenceWarning}
    assert is_finite(model, X)
    assert model.converged_ or caught
    coefs = np.zeros(60)
    coefs[model.support_] = model.dual_coef_[0]
    assert model.objective_[0] == pytest.approx(
        twin.dual(K, y, np.ones(60), coefs, C, slack), rel=1e-6, abs=1e-9
    )


@pytest.mark.parametrize("model", [SVC(C=np.inf), NuSVC(nu=0.3), SVC(C=5.0, multiclass="ovo")])
def test_other_machines_with_such_a_kernel(model):
    X, y = several(2, n=60)
    model.set_params(kernel="sigmoid", gamma=2.0, coef0=-1.0, max_iter=STEPS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert RuntimeWarning not in {w.category for w in caught}
    assert np.isfinite(model.decision_function(X)).all()
    assert model.converged_ or ConvergenceWarning in {w.category for w in caught}


def test_a_negative_kernel():
    X, y = noisy(2)

    def negative(A, B):
        return -(A @ B.T) - 1

    for slack in ("linear", "squared-sum"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = SVC(kernel=negative, slack=slack, max_iter=STEPS).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
    with pytest.raises(ValueError, match="not positive semi-definite"):
        SVC(kernel=negative, slack="squared").fit(X, y)


@pytest.mark.parametrize("threshold", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_data_that_cannot_be_separated(threshold, kernel):
    X, y = noisy(3, n=80)
    params = {"kernel": kernel, "degree": 2, "fit_intercept": threshold}
    for model in (SVC(C=np.inf, **params), NuSVC(nu=0, **params)):
        with pytest.warns(
            ConvergenceWarning, match=r"cannot be separated.*min_margin=1e-06"
        ) as caught:
            model.fit(X, y)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert not model.converged_
        assert np.isfinite(model.decision_function(X)).all()


def test_a_margin_that_is_too_small():
    X, y = separable(5)
    margin = SVC(C=np.inf, kernel="linear").fit(X, y).margin_[0]
    for threshold in (True, False):
        model = SVC(C=np.inf, kernel="linear", fit_intercept=threshold)
        margin = model.fit(X, y).margin_[0]
        quiet(model.set_params(min_margin=0.99 * margin), X, y)
        assert model.margin_[0] == pytest.approx(margin)
        with pytest.warns(ConvergenceWarning, match="cannot be separated with a margin"):
            model.set_params(min_margin=1.01 * margin).fit(X, y)


@pytest.mark.parametrize("distance", [1e-3, 1e3])
def test_hard_margins_at_any_scale(distance):
    X, y = separable(5)
    model = quiet(SVC(C=np.inf, kernel="linear"), X * distance, y)
    one = SVC(C=np.inf, kernel="linear").fit(X, y)
    assert model.margin_[0] == pytest.approx(distance * one.margin_[0], rel=1e-8)
    assert np.allclose(model.decision_function(X * distance), one.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("threshold", [True, False])
def test_nu_that_is_too_small_for_the_data(threshold):
    """Below the least fraction of margin errors the best margin is none, and that is said."""
    X, y = noisy(3, n=60, noise=3.0)
    model = NuSVC(nu=0.1, kernel="linear", fit_intercept=threshold)
    with pytest.warns(ConvergenceWarning, match="nu"):
        model.fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    quiet(model.set_params(nu=0.9 if threshold else 0.95), X, y)
    assert model.converged_


def test_many_duplicates():
    X, y = noisy(6, n=20)
    for estimator in (SVC(), SVC(slack="squared"), NuSVC(nu=0.3)):
        model = quiet(estimator, np.repeat(X, 60, axis=0), np.repeat(y, 60))
        once = type(estimator)(**estimator.get_params()).fit(X, y, np.full(20, 60.0))
        assert np.allclose(model.decision_function(X), once.decision_function(X), atol=1e-7)


@pytest.mark.full
@pytest.mark.parametrize(
    "estimator",
    [
        SVC(kernel="linear", C=np.inf, max_iter=STEPS),
        NuSVC(nu=0.2, kernel="linear", max_iter=STEPS),
        SVC(kernel="poly", gamma=1e-3, max_iter=STEPS),
    ],
)
def test_unscaled_features(estimator):
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    assert all("max_iter" not in str(w.message) for w in caught)


def test_a_feature_that_outweighs_all_others():
    X, y = noisy(7, n=60)
    model = quiet(SVC(kernel="linear", max_iter=STEPS), X * [1.0, 1e3, 1e4], y)
    assert model.converged_
    assert model.dual_gap_[0] < 1e-3
