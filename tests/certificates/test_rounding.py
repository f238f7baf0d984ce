"""Bounds are rounded so that they stay bounds."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import largemargin as lm
from largemargin.certificates import cache_bound, mistake_bound
from largemargin.certificates.rounding import (
    above,
    at_least,
    at_most,
    below,
    kernel_error,
    lowered,
    percent_within,
    quotients,
    raised,
    total,
)
from largemargin.kernels.choosing import WithConstant
from largemargin.kernels.functions import Gaussian, Laplacian, Linear, Polynomial
from largemargin.report.intervals import ErrorRate
from tests.certificates.problems import separable

positive = st.floats(1e-200, 1e200)
quick = settings(max_examples=40, deadline=None)


@quick
@given(st.fractions())
def test_fractions(exact):
    assert Fraction(below(exact)) <= exact <= Fraction(above(exact))
    assert above(exact) <= np.nextafter(below(exact), np.inf)


def test_fractions_out_of_range():
    huge = Fraction(10) ** 400
    assert above(huge) == np.inf
    assert below(-huge) == -np.inf
    assert below(huge) == np.finfo(float).max


@quick
@given(st.floats(allow_nan=False), st.integers(1, 17))
@example(5.960464477539063e-08, 16)
def test_what_is_written(value, digits):
    assert float(at_least(value, digits)) <= value <= float(at_most(value, digits))
    if np.isfinite(value) and digits == 17:
        assert float(at_most(value, digits)) == value


@quick
@given(st.floats(0, 1), st.floats(0, 1))
def test_intervals(a, b):
    low, high = percent_within(min(a, b), max(a, b))
    assert Fraction(low) / 100 <= Fraction(repr(min(a, b)))
    assert Fraction(high) / 100 >= Fraction(repr(max(a, b)))


@quick
@given(st.integers(1, 400), st.data())
def test_intervals_of_errors_hold_what_they_say(n, data):
    k = data.draw(st.integers(0, n))
    low, high = ErrorRate(k, n).interval
    assert low <= k / n <= high
    assert (low == 0) == (k == 0)
    assert k == 0 or binom.sf(k - 1, n, low) <= 0.025 * (1 + 1e-10)
    assert k == n or binom.cdf(k, n, high) <= 0.025 * (1 + 1e-10)


@quick
@given(st.lists(positive, max_size=20))
def test_sums(values):
    assert Fraction(total(values)) >= sum(map(Fraction, values))


@quick
@given(positive)
def test_a_few_units(value):
    assert lowered(value) < value < raised(value)


@quick
@given(st.floats(-1e100, 1e100), st.floats(1e-50, 1e50), st.floats(1, 1.1))
def test_quotients(a, least, more):
    most = least * more
    found = Fraction(float(quotients(np.array(a), least, most)))
    assert found <= Fraction(a) / Fraction(least)
    assert found <= Fraction(a) / Fraction(most)


KERNELS = {
    "linear": (Linear(), lambda p, d: p),
    "poly": (Polynomial(3, 0.5, 1.0), lambda p, d: (np.longdouble(0.5) * p + 1) ** 3),
    "rbf": (Gaussian(0.7), lambda p, d: np.exp(-np.longdouble(0.7) * (d**2).sum(axis=2))),
    "laplacian": (
        Laplacian(0.7), lambda p, d: np.exp(-np.longdouble(0.7) * np.abs(d).sum(axis=2)),
    ),
    "constant": (WithConstant(Linear()), lambda p, d: p + 1),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
def test_kernel_values_are_within_their_error(name, dtype, scale):
    kernel, exactly = KERNELS[name]
    X = (scale * np.random.default_rng(0).normal(size=(40, 20))).astype(dtype)
    long = X.astype(np.longdouble)
    truth = exactly(long @ long.T, long[:, None] - long[None])
    found = np.asarray(kernel(X, X), dtype)
    error = kernel_error(kernel, X, dtype)
    assert np.abs(found - truth).max() <= error
    assert error <= 1e4 * np.finfo(dtype).eps * max(1.0, float(np.abs(truth).max()), scale**2)


@quick
@given(positive, st.floats(1e-3, 1e3), st.floats(0, 10))
def test_bounds_of_exact_numbers(radius, ratio, beta):
    gamma = radius / ratio
    if not 1e-150 < gamma < 1e150:
        return
    R, g = Fraction(radius), Fraction(gamma)
    assert Fraction(mistake_bound([gamma], radius, gamma=gamma)) >= (R / g) ** 2
    assert Fraction(cache_bound(radius, beta, gamma)) >= (R**2 + 2 * Fraction(beta)) / g**2


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_as_many_mistakes_as_there_can_be(precision):
    """Orthogonal examples of one length are a mistake each, and (R/gamma)^2 of them."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 6))
        X = np.eye(n) * np.float32(rng.uniform(0.1, 10))
        y = np.append([0, 1], rng.integers(0, 2, n - 2))
        model = lm.VotedPerceptron(
            kernel="linear", precision=precision, epochs=1, shuffle=False
        ).fit(X, y)
        found = model.certificate(X, y, leave_one_out=False)
        made = found["mistakes"].value
        for name in ("mistake bound", "mistake bound, separable data"):
            assert made <= found[name].value <= made * (1 + 1e-2)
            assert f"At most {int(made)} mistakes" in found[name].sentence


def test_margins_are_not_larger_than_they_are():
    X, y = separable(0)
    found = (
        lm.VotedPerceptron(kernel="linear", epochs=50, shuffle=False).fit(X, y).certificate(X, y)
    )
    told = found["mistake bound, separable data"].value
    long, signs = X.astype(np.longdouble), np.where(y == "yes", 1, -1)
    best = lm.SVC(kernel="linear", C=np.inf, fit_intercept=False, tol=1e-12).fit(X, y)
    w = best.coef_[0].astype(np.longdouble)
    gamma = (signs * (long @ w)).min() / np.sqrt(w @ w)
    truth = (long**2).sum(axis=1).max() / gamma**2
    assert truth * (1 - 1e-9) <= told <= truth * (1 + 1e-2)


def test_pages_and_tables_are_rounded_outward():
    from largemargin.report.fit.words import learned_words

    facts = {"converged": True, "problems": 1, "iterations": 3, "dual_gap": 0.0012341}
    told = dict(learned_words({**facts, "margin": 0.99999, "features_used": 2}))
    assert told["duality gap"] == "0.00124"
    assert told["margin"] == "0.9999"
