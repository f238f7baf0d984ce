"""A limit of time ends a fit wherever it is, with a model that can be used. The clock is the
test's: it goes on by one second each time that it is looked at.
"""

import os
import signal

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, NuLPSVC
from largemargin.boosting import RBFNetwork
from largemargin.lp import column_generation as solver
from largemargin.lp import highs, kernel_values
from largemargin.lp.exact_values import ExactValues
from largemargin.lp.highs import STOPPED, LinearProgram
from largemargin.runtime import progress as watch
from tests.svm.problems import noisy, several

MACHINES = [LPSVC(), NuLPSVC(nu=0.3), LeaveOneOutSVC(), AdaptiveMarginSVC(lam=2.0)]
machines = pytest.mark.parametrize("machine", MACHINES, ids=str)


class Clock:
    def __init__(self):
        self.seconds = 0

    def __call__(self):
        self.seconds += 1
        return float(self.seconds)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(watch, "clock", made)
    return made


def stopped(machine, X, y, limit):
    model = type(machine)(**{**machine.get_params(), "max_seconds": limit})
    with pytest.warns(ConvergenceWarning, match="max_seconds=.* was reached"):
        model.fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    return model


@machines
@pytest.mark.parametrize("limit", [1e-3, 5.0, 17.0, 40.0])
def test_a_fit_ends_within_few_looks(machine, limit, clock, monkeypatch):
    """Rows on request, samples that grow, three problems: wherever it is, it ends."""
    monkeypatch.setattr(kernel_values, "WHOLE", 0)
    monkeypatch.setattr(solver, "SAMPLE", 16)
    monkeypatch.setattr(solver, "LITTLE", 1)
    X, y = several(0, n=200)
    model = stopped(machine, X, y, limit)
    assert clock.seconds < limit + 60
    assert not model.converged_
    assert (model.dual_gap_ > 0).all()
    assert np.isfinite(model.objective_).all()


@machines
def test_no_kernel_value_is_computed_when_the_time_is_up(machine, clock, monkeypatch):
    monkeypatch.setattr(kernel_values, "WHOLE", 0)
    computed = []
    compute = kernel_values.GramRows._compute

    def watched(self, task):
        compute(self, task)
        computed.append(clock.seconds)

    monkeypatch.setattr(kernel_values.GramRows, "_compute", watched)
    X, y = noisy(0, n=120)
    stopped(machine, X, y, 10.0)
    assert not [seconds for seconds in computed if seconds > 12]


def test_what_is_left_to_do_is_little(clock, monkeypatch):
    """Of the proof of a fit that was stopped, no more than a little is computed."""
    monkeypatch.setattr(solver, "LITTLE", 50_000)
    sums, terms = ExactValues.sums, []

    def counted(self, examples, *args, **kwargs):
        terms.append(len(examples))
        return sums(self, examples, *args, **kwargs)

    monkeypatch.setattr(ExactValues, "sums", counted)
    X, y = noisy(1, n=300)
    stopped(NuLPSVC(nu=0.3), X, y, 1e-3)
    assert sum(terms) * 300 * 33 <= 100_000


class Spy:
    """HiGHS, and the limits of time that it was given, from where its own clock stood."""

    def __init__(self, highs):
        self.highs, self.limits = highs, []

    def __getattr__(self, name):
        return getattr(self.highs, name)

    def setOptionValue(self, name, value):
        if name == "time_limit":
            self.limits.append(value - self.highs.getRunTime())
        return self.highs.setOptionValue(name, value)


def test_highs_is_given_what_is_left(clock, monkeypatch):
    """A slice at a time, and no more than is left."""
    monkeypatch.setattr(highs, "SLICE", 1e-6)
    rng = np.random.default_rng(0)
    lp = LinearProgram(maximize=True)
    lp.add_columns(np.ones(360), 0.0, 1.0)
    lp.add_rows(rng.normal(size=(240, 360)), -np.inf, 0.0)
    lp._highs = spy = Spy(lp._highs)
    assert lp.solve(9.5).status == STOPPED
    assert clock.seconds < 16
    assert max(spy.limits) <= 1e-6 * (1 + 1e-6)
    monkeypatch.setattr(highs, "SLICE", 0.5)
    lp.solve(0.25)
    assert max(spy.limits) <= 0.25


def test_a_path_ends_too(clock):
    X, y = noisy(0, n=60)
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        models = AdaptiveMarginSVC(max_seconds=20.0).path(X, y, [0.1, 1.0, 2.0, 5.0, 9.0])
    assert clock.seconds < 120
    for model in models:
        assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("limit", [1e-3, 8.0, 15.0, 30.0])
def test_a_network_ends_within_a_few_looks(limit, clock):
    X, y = noisy(0, n=200)
    model = RBFNetwork(8, max_iter=1000, max_seconds=limit, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_seconds=.* was reached"):
        model.fit(X, y)
    assert clock.seconds < limit + 20
    assert np.isfinite(model.decision_function(X)).all()
    assert model.objective_ > 0


@machines
def test_ctrl_c_while_kernel_values_are_computed(machine, monkeypatch):
    monkeypatch.setattr(kernel_values, "WHOLE", 0)
    compute = kernel_values.GramRows._compute

    def interrupted(self, task):
        compute(self, task)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(kernel_values.GramRows, "_compute", interrupted)
    X, y = noisy(0, n=120)
    with pytest.warns(ConvergenceWarning, match="it was interrupted"):
        model = type(machine)(**{**machine.get_params(), "n_jobs": 1}).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
