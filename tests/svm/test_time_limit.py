"""Limits of time on a clock that moves with the kernel values computed: how late a fit ends, and
what it then says.
"""

import os
import signal
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from largemargin.kernels import rows as kernel_rows
from largemargin.svm import SVC, NuSVC, cross_validate, decomposition, few_features, solving

from ..clock import driven_clock
from . import twin
from .problems import noisy
from .test_decomposition import small_blocks

SPEED = 5e3  # kernel values a second
N = 320
HEIGHTS = (2 * kernel_rows.PLACES, kernel_rows.PLACES)  # of products
PRODUCTS = 2 * HEIGHTS[0] * N / SPEED  # seconds of what is fetched at a time, for two pieces


class Timed:
    """A kernel that takes its time."""

    def __init__(self, clock):
        self.clock = clock

    def __call__(self, A, B):
        self.clock.now += len(A) * len(B) / SPEED
        return np.exp(-0.5 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


@pytest.fixture
def data():
    return noisy(1, n=N, noise=1.5)


@pytest.fixture(autouse=True)
def few_rows_at_a_time(monkeypatch):
    monkeypatch.setattr(kernel_rows, "HEIGHTS", HEIGHTS)
    monkeypatch.setattr(decomposition, "PIECE", 16)
    monkeypatch.setattr(decomposition, "USUAL_SPEED", SPEED)
    with small_blocks(working_set=32, portions=True):
        yield


def fitted(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert {w.category for w in caught} <= {ConvergenceWarning}
    return " ".join(str(w.message) for w in caught)


def check(model, X, y, slack="linear"):
    """Its objective is that of its coefficients, and its gap, if it says one, is true."""
    K = Timed(type("still", (), {"now": 0.0}))(X, X)
    coefs = np.zeros(N)
    coefs[model.support_] = model.dual_coef_[0]
    lower = twin.dual(K, y, np.ones(N), coefs, model.C, slack)
    assert model.objective_[0] == pytest.approx(lower, rel=1e-6)
    upper = twin.primal(K, y, np.ones(N), coefs, model.intercept_[0], model.C, slack)
    told = model.dual_gap_[0]
    assert np.isinf(told) or told == pytest.approx((upper - lower) / upper, rel=1e-6, abs=1e-8)
    return coefs


@pytest.mark.parametrize(
    "slack",
    [
        "linear",
        *(pytest.param(name, marks=pytest.mark.full) for name in ("squared", "squared-sum")),
    ],
)
def test_it_ends_in_time(data, slack):
    X, y = data
    params = {"C": 3.0 if slack != "squared-sum" else 0.01, "slack": slack, "n_jobs": 1}
    with driven_clock() as clock:
        truth = SVC(kernel=Timed(clock), **params).fit(X, y)
        assert truth.converged_
    whole, seen = clock.now, set()
    for limit in np.geomspace(whole / 200, 0.9 * whole, 4 if slack == "linear" else 3):
        with driven_clock() as clock:
            model = SVC(kernel=Timed(clock), max_seconds=limit, **params)
            said = fitted(model, X, y)
        assert clock.now <= 1.2 * limit + 1 + PRODUCTS, limit
        assert f"max_seconds={limit:g} was reached" in said or model.converged_
        assert check(model, X, y, slack).any()
        assert model.objective_[0] <= truth.objective_[0] * (1 + 1e-9)
        seen.add((model.converged_, bool(np.isinf(model.dual_gap_[0]))))
    if slack == "linear":  # both ends were met: a gap, and no time for one
        assert {(False, False), (False, True)} <= seen


def test_going_on_without_the_time_for_it(data):
    """The first thing to do is to look at all examples; a start that there is no time for stays."""
    X, y = data
    with driven_clock() as clock:
        model = SVC(C=3.0, kernel=Timed(clock), warm_start=True, max_iter=60, n_jobs=1)
        fitted(model, X, y)
        before, coefs = model.objective_[0], check(model, X, y)
        model.set_params(max_iter=-1, max_seconds=0.01)
        said = fitted(model, X, y)
        assert "max_seconds=0.01 was reached" in said
        assert np.allclose(check(model, X, y), coefs, rtol=1e-12)
        assert model.objective_[0] == pytest.approx(before, rel=1e-9)
        model.set_params(max_seconds=None)
        assert fitted(model, X, y) == ""
    assert model.converged_


@pytest.mark.parametrize("press", [3, 20, 45, 60, 90])
def test_interrupted_at_any_time(data, press):
    X, y = data

    class Pressing(Timed):
        calls = late = 0

        def __call__(self, A, B):
            self.calls += 1
            if self.calls == press:
                os.kill(os.getpid(), signal.SIGINT)
            values = super().__call__(A, B)
            self.late += len(values) * len(B) / SPEED if self.calls > press else 0
            return values

    with driven_clock() as clock:
        kernel = Pressing(clock)
        model = SVC(C=3.0, kernel=kernel, n_jobs=1)
        assert "it was interrupted" in fitted(model, X, y)
    assert kernel.late <= 0.2 * (clock.now - kernel.late) + 1 + PRODUCTS
    check(model, X, y)


@pytest.mark.parametrize("model", [SVC(C=np.inf), NuSVC(nu=0.7), SVC(multiclass="ovo")])
def test_other_machines(model, data):
    X, y = data
    labels = y + 2 * (X[:, 1] > 0) if model.get_params().get("multiclass") == "ovo" else y
    for limit in (0.01, 0.3, 2.0):
        with driven_clock() as clock:
            model.set_params(kernel=Timed(clock), max_seconds=limit, n_jobs=1)
            said = fitted(model, X, labels)
        assert clock.now <= 1.2 * limit + 1 + PRODUCTS
        assert said
        assert np.isfinite(model.decision_function(X)).all()


def test_scores_of_folds_that_were_stopped(data, monkeypatch):
    """Answers are computed where training did not get to them."""
    X, y = data

    def scores():
        with driven_clock() as clock, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            kernel = Timed(clock)
            stopped = SVC(kernel=lambda A, B: kernel(A, B), max_seconds=1.0, n_jobs=1)
            return cross_validate(stopped, X, y, [3.0], cv=2)

    found = scores()
    assert np.isinf(found.dual_gaps).any()
    nothing_known = lambda model, fit, data: np.full(len(data), -1)  # noqa: E731
    monkeypatch.setattr("largemargin.svm.cross_validation._known_answers", nothing_known)
    assert np.array_equal(found.scores, scores().scores)


def test_few_features_in_time(monkeypatch):
    """A system at a time: the clock moves with each."""
    monkeypatch.setattr(solving, "SMO_FIRST_ROWS", 0)
    X, y = noisy(1, n=N, noise=1.5)
    normal = few_features.Features.normal

    def slow(self, weights):
        clock.now += 1.0
        return normal(self, weights)

    monkeypatch.setattr(few_features.Features, "normal", slow)
    for limit in (1.5, 4.5, 9.5):
        with driven_clock() as clock:
            model = SVC(kernel="linear", C=100.0, max_seconds=limit)
            said = fitted(model, X, y)
        assert f"max_seconds={limit:g} was reached" in said
        assert clock.now <= limit + 1
        coefs = np.zeros(N)
        coefs[model.support_] = model.dual_coef_[0]
        lower = twin.dual(X @ X.T, y, np.ones(N), coefs, 100.0)
        assert model.objective_[0] == pytest.approx(lower, rel=1e-6, abs=1e-6)
        assert (abs(coefs) <= 100.0).all()
        assert abs(coefs.sum()) < 1e-8


def test_an_interior_point_method_in_time(monkeypatch, data):
    """The way out of a block that steps do not solve is looked at the clock in, too."""
    X, y = data
    monkeypatch.setattr("largemargin.svm.dense_solver.SMO_STEPS", 5)
    monkeypatch.setattr("largemargin.svm.dense_solver.SMO_STEPS_PER_VARIABLE", 0)
    with driven_clock() as clock:
        looked = []

        def look(system, *args, **kwargs):
            looked.append(kwargs["stopped"]())
            clock.now += 10.0
            return minimise(system, *args, **kwargs)

        from largemargin.svm.interior_point import minimise

        monkeypatch.setattr("largemargin.svm.interior_point.minimise", look)
        model = SVC(C=1e4, gamma=3.0, max_seconds=25.0, n_jobs=1)
        assert "max_seconds=25 was reached" in fitted(model, X, y)
    assert 1 <= len(looked) <= 4
    assert not any(looked)
