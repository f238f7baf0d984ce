"""Fits that end before they converge are said to, honestly, and can be used."""

import os
import signal
import threading
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, NuLPSVC
from largemargin.lp import highs
from largemargin.lp.highs import LinearProgram
from tests.svm.problems import noisy, several

from . import twin

MACHINES = [LPSVC(), NuLPSVC(), LeaveOneOutSVC(), AdaptiveMarginSVC(lam=2.0)]
machines = pytest.mark.parametrize("machine", MACHINES, ids=str)


def checked(machine, X, y, reason):
    with pytest.warns(ConvergenceWarning, match=f"stopped before it converged because {reason}"):
        model = machine.fit(X, y)
    assert not model.converged_
    assert (model.dual_gap_ > 0).all()
    assert np.isfinite(model.decision_function(X)).all()
    return model


@machines
def test_a_time_limit(machine):
    X, y = several(0, n=900, n_features=8)
    machine = type(machine)(**{**machine.get_params(), "max_seconds": 1e-3})
    model = checked(machine, X, y, "max_seconds=0.001 was reached")
    assert len(model.objective_) == 3


def test_the_objective_of_a_stopped_fit_is_its_own():
    X, y = noisy(0, n=500)
    model = checked(LeaveOneOutSVC(gamma=0.5, max_seconds=1e-3), X, y, "max_seconds")
    alpha = np.zeros(500)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    program = twin.adaptive_margin(rbf_kernel(X, gamma=0.5), y, np.ones(500), 1.0)
    slacks = np.maximum(0, 1 - program.A[:, :500] @ alpha)
    assert model.objective_[0] == pytest.approx(slacks.sum())


def test_ctrl_c_ends_with_what_there_is(monkeypatch):
    """The first one; a second, or one outside of the solver, interrupts as everywhere."""
    X, y = several(1, n=600, n_features=6)
    solve = LinearProgram.solve

    def interrupted(self, *args, **kwargs):
        os.kill(os.getpid(), signal.SIGINT)
        return solve(self, *args, **kwargs)

    assert threading.current_thread() is threading.main_thread()
    monkeypatch.setattr(LinearProgram, "solve", interrupted)
    checked(LeaveOneOutSVC(), X, y, "it was interrupted")


def test_an_interrupted_fit_leaves_the_estimator_as_it_was(monkeypatch):
    X, y = noisy(0, n=60)
    model = LPSVC().fit(X, y)
    before = model.decision_function(X)

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(LinearProgram, "solve", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:30, :2], y[:30])
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert model.n_features_in_ == 3


@machines
def test_a_solver_that_fails_is_not_believed(machine, monkeypatch):
    read = LinearProgram._outcome

    def failing(self, n_before):
        outcome = read(self, n_before)
        stale = np.zeros(len(outcome.duals))
        return highs.Outcome(highs.FAILED, outcome.x, stale, 0.0, outcome.n_steps)

    monkeypatch.setattr(LinearProgram, "_outcome", failing)
    X, y = noisy(0, n=60)
    checked(machine, X, y, "HiGHS called a part of it failed")


@machines
def test_a_stale_solution_that_claims_to_be_optimal_is_found_out(machine, monkeypatch):
    """The objective is computed from the coefficients, and must meet the dual."""
    read = LinearProgram._outcome

    def stale(self, n_before):
        outcome = read(self, n_before)
        worse = outcome.duals * np.linspace(0.5, 1.0, len(outcome.duals))
        return highs.Outcome(outcome.status, outcome.x, worse, outcome.objective, outcome.n_steps)

    monkeypatch.setattr(LinearProgram, "_outcome", stale)
    X, y = noisy(0, n=60)
    checked(machine, X, y, "rounding errors leave a gap of")


# widths at which off-diagonal values are 1e-12 to 1e-3 of the diagonal
@machines
@pytest.mark.parametrize("width", [0.1, 0.3, 0.5, 0.8])
def test_kernels_so_narrow_that_coefficients_are_huge(machine, width):
    X, y = noisy(4, n=120, n_features=13)
    machine = type(machine)(
        **{**machine.get_params(), "gamma": 1 / (2 * width**2), "max_seconds": 600.0}
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = machine.fit(X, y)
    assert model.converged_ == (not [w for w in caught if "stopped before" in str(w.message)])
    assert model.converged_ == (model.dual_gap_[0] <= model.tol)
    assert np.isfinite(model.dual_coef_).all()


def test_traces_are_zero_and_what_is_more_counts():
    """Values of 1e-9 of the diagonal decide; values below 1e-12 of it do not."""
    y = np.array([1.0, 1.0, -1.0, -1.0])
    K = np.eye(4)
    K[0, 1] = K[1, 0] = K[2, 3] = K[3, 2] = 1e-9
    model = LeaveOneOutSVC(kernel="precomputed").fit(K, y)
    assert model.objective_[0] == pytest.approx(0, abs=1e-9)
    assert np.abs(model.dual_coef_).max() == pytest.approx(1e9)
    K[K < 1] = 1e-13
    assert LeaveOneOutSVC(kernel="precomputed").fit(K, y).objective_[0] == pytest.approx(4)


def test_noisy_data_of_ten_features():
    from sklearn.datasets import make_classification
    from sklearn.preprocessing import scale

    X, y = make_classification(300, 10, n_informative=5, flip_y=0.2, random_state=0)
    X = scale(X)
    model = LeaveOneOutSVC(gamma=1 / (2 * 1.5**2)).fit(X, y)
    assert model.converged_
    signs = np.where(y, 1.0, -1.0)
    K = rbf_kernel(X, gamma=model.gamma)
    wanted, *_ = twin.solve(twin.adaptive_margin(K, signs, np.ones(300), 1.0))
    assert model.objective_[0] == pytest.approx(wanted, rel=1e-7)
