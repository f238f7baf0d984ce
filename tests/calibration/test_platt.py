"""Platt's sigmoid against a general minimiser, and where numbers are extreme."""

import numpy as np
import pytest
from scipy.optimize import minimize

from largemargin.calibration import PlattScaling
from largemargin.calibration.platt import Sigmoid, fit_sigmoid


def twin(values, positive, weights):
    """The probabilities of the sigmoid that SciPy finds, in scores of mean 0 and variance 1."""
    scaled = values / np.abs(values).max()
    scaled = (scaled - scaled.mean()) / scaled.std()
    n, m = weights[positive].sum(), weights[~positive].sum()
    targets = np.where(positive, (n + 1) / (n + 2), 1 / (m + 2))

    def loss(point):
        z = point[0] * scaled + point[1]
        return weights @ (np.logaddexp(0.0, z) - (1 - targets) * z)

    slope, offset = minimize(loss, [0.0, 0.0], method="BFGS", tol=1e-12).x
    return 1 / (1 + np.exp(slope * scaled + offset))


def noisy(seed, n=120):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n)
    positive = rng.random(n) < 1 / (1 + np.exp(-3 * values + 1))
    return values, positive, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize(
    ("size", "place"), [(1.0, 0.0), (1e150, 0.0), (1e-150, 0.0), (1.0, 300.0), (1e8, -1e9)]
)
def test_it_is_what_a_general_minimiser_finds(size, place):
    values, positive, weights = noisy(int(abs(np.log10(size))))
    values = values * size + place
    found = fit_sigmoid(values, positive, weights)
    assert np.allclose(found(values), twin(values, positive, weights), atol=1e-6)


def test_scores_that_part_the_classes_have_a_finite_sigmoid():
    values = np.concatenate([np.linspace(-3, -1, 50), np.linspace(1, 2, 30)])
    positive = values > 0
    found = fit_sigmoid(values, positive)
    assert np.isfinite([found.slope, found.offset]).all()
    assert np.allclose(found(values), twin(values, positive, np.ones(80)), atol=1e-5)
    # the targets are reached from below
    assert found(values[positive]).max() < 1
    assert found(np.array([1e300, -1e300])).tolist() == [1.0, 0.0]


def test_weights_are_copies():
    values, positive, weights = noisy(3)
    copies = np.repeat(np.arange(len(values)), weights.astype(int))
    one, other = (
        fit_sigmoid(values, positive, weights),
        fit_sigmoid(values[copies], positive[copies]),
    )
    assert np.allclose([one.slope, one.offset], [other.slope, other.offset], rtol=1e-10)
    weights[::3] = 0
    there = weights > 0
    assert fit_sigmoid(values, positive, weights) == fit_sigmoid(
        values[there], positive[there], weights[there]
    )


@pytest.mark.parametrize("value", [0.0, 7.0, 1e300, 5e-324])
def test_equal_scores_tell_the_share_of_the_classes_alone(value):
    positive = np.arange(30) < 10
    found = fit_sigmoid(np.full(30, value), positive)
    targets = (10 * 11 / 12 + 20 / 22) / 30
    assert found.slope == 0
    assert found(np.array([value]))[0] == pytest.approx(targets)


def test_one_side_alone_is_nearly_certain():
    found = fit_sigmoid(np.linspace(-1, 1, 20), np.ones(20, bool))
    assert np.allclose(found(np.linspace(-1, 1, 5)), 21 / 22)


def test_the_gradient_vanishes():
    values, positive, weights = noisy(5)
    found = fit_sigmoid(values, positive, weights)
    n, m = weights[positive].sum(), weights[~positive].sum()
    left = weights * (np.where(positive, (n + 1) / (n + 2), 1 / (m + 2)) - found(values))
    assert np.abs([left.sum(), left @ values]).max() < 1e-9 * weights.sum()


def test_the_estimator_has_labels_of_any_type():
    values, positive, weights = noisy(7)
    labels = np.where(positive, "yes", "no")
    scaling = PlattScaling().fit(values, labels, weights)
    assert scaling.classes_.tolist() == ["no", "yes"]
    assert scaling.a_ < 0
    found = scaling.predict_proba(values)
    assert np.array_equal(found[:, 1], Sigmoid(scaling.a_, scaling.b_)(values))
    assert np.allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("values", "labels", "weights", "message"),
    [
        ([0.0, np.nan], [0, 1], None, "must be finite"),
        ([0.0, 1.0], [0, 0], None, "about two classes, got 1"),
        ([0.0, 1.0, 2.0], [0, 1], None, "inconsistent"),
        ([0.0, 1.0], [0, 1], [1.0, -1.0], "must not be negative"),
    ],
)
def test_bad_input_is_said(values, labels, weights, message):
    with pytest.raises(ValueError, match=message):
        PlattScaling().fit(values, labels, weights)
