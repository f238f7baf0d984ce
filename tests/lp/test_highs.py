"""HiGHS told apart: solved, infeasible, unbounded, stopped; and what follows a failure."""

import numpy as np
import pytest
from scipy.optimize import linprog

from largemargin.lp import highs
from largemargin.lp.highs import FAILED, INFEASIBLE, OPTIMAL, STOPPED, UNBOUNDED, LinearProgram
from largemargin.runtime import progress as watch


def random_program(seed, n_rows=20, n_columns=30):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)), rng.uniform(0.1, 1, n_rows), rng.uniform(1, 2, 30)


def built(A, b, c):
    lp = LinearProgram(maximize=True)
    lp.add_columns(c, 0.0, 1.0)
    lp.add_rows(A, -np.inf, b)
    return lp


@pytest.mark.parametrize("seed", range(3))
def test_in_parts_as_at_once(seed):
    A, b, c = random_program(seed)
    expected = linprog(-c, A, b, bounds=(0, 1))
    whole = built(A, b, c).solve()
    assert whole.status == OPTIMAL
    assert whole.objective == pytest.approx(-expected.fun)
    assert np.allclose(whole.x, expected.x)
    assert np.allclose(whole.duals, -expected.ineqlin.marginals)
    lp = LinearProgram(maximize=True)
    lp.add_columns(c[:10], 0.0, 1.0)
    lp.add_rows(A[:5, :10], -np.inf, b[:5])
    lp.solve()
    lp.add_columns(c[10:], 0.0, 1.0, A[:5, 10:])
    lp.solve()
    lp.add_rows(A[5:], -np.inf, b[5:])
    assert lp.shape == A.shape
    assert lp.solve().objective == pytest.approx(-expected.fun)


def test_changes():
    A, b, c = random_program(0)
    lp = built(A, b, c)
    lp.solve()
    lp.delete_rows(np.array([0, 3]))
    lp.delete_columns(np.array([1]))
    lp.set_column(0, 5.0, np.arange(18.0))
    lp.set_coefficient(2, 1, 7.0)
    lp.set_bounds(3, 0.0, np.array([2.0, 3.0]))
    lp.set_row_bounds(4, -np.inf, 9.0)
    A, b = np.delete(np.delete(A, [0, 3], 0), 1, 1), np.delete(b, [0, 3])
    c, A[:, 0], A[2, 1], b[4] = np.delete(c, 1), np.arange(18.0), 7.0, 9.0
    c[0] = 5.0
    bounds = [(0, 1)] * 29
    bounds[3:5] = (0, 2), (0, 3)
    assert lp.solve().objective == pytest.approx(-linprog(-c, A, b, bounds=bounds).fun)
    assert lp.solve(afresh=True).objective == pytest.approx(lp.solve().objective)


def test_infeasible_and_unbounded():
    lp = LinearProgram()
    lp.add_columns([1.0, 1.0], 0.0, np.inf)
    lp.add_rows(np.array([[1.0, 1.0]]), -np.inf, -1.0)
    assert lp.solve().status == INFEASIBLE
    lp = LinearProgram(maximize=True)
    lp.add_columns([1.0, 1.0], 0.0, np.inf)
    lp.add_rows(np.array([[1.0, -1.0]]), -np.inf, 1.0)
    assert lp.solve().status == UNBOUNDED


def hard():
    rng = np.random.default_rng(0)
    lp = LinearProgram(maximize=True)
    lp.add_columns(np.ones(360), 0.0, 1.0)
    lp.add_rows(rng.normal(size=(240, 360)), -np.inf, 0.0)
    return lp


def test_a_time_limit_and_a_word_to_stop(monkeypatch):
    lp = hard()
    seconds = iter(range(1000))
    with monkeypatch.context() as patch:
        patch.setattr(highs, "SLICE", 1e-6)
        patch.setattr(watch, "clock", lambda: float(next(seconds)))
        assert lp.solve(3.5).status == STOPPED
    assert hard().solve(stopped=lambda: True).status in (STOPPED, OPTIMAL)
    assert lp.solve().status == OPTIMAL  # and on from where it was


def test_a_stalled_simplex_is_followed_by_other_ways(monkeypatch):
    monkeypatch.setattr(highs, "BASE_STEPS", 20)
    monkeypatch.setattr(highs, "STEPS_PER_LINE", 0)
    tried = []
    attempt = LinearProgram._try

    def watched(self, solver, *rest):
        outcome = attempt(self, solver, *rest)
        tried.append((solver, outcome.status))
        return outcome

    monkeypatch.setattr(LinearProgram, "_try", watched)
    outcome = hard().solve()
    assert tried == [("simplex", STOPPED), ("simplex", STOPPED), ("ipm", OPTIMAL)]
    monkeypatch.undo()
    assert outcome.objective == pytest.approx(hard().solve().objective, rel=1e-7)


def test_a_verdict_that_cannot_be_is_looked_into(monkeypatch):
    """Of a program known to have a solution, infeasible is a failure of the solver."""
    verdicts = iter([INFEASIBLE, FAILED, OPTIMAL])
    read = LinearProgram._outcome

    def lying(self, n_before):
        outcome = read(self, n_before)
        return highs.Outcome(
            next(verdicts), outcome.x, outcome.duals, outcome.objective, outcome.n_steps
        )

    A, b, c = random_program(0)
    lp = LinearProgram(maximize=True, solvable=True)
    lp.add_columns(c, 0.0, 1.0)
    lp.add_rows(A, -np.inf, b)
    monkeypatch.setattr(LinearProgram, "_outcome", lying)
    assert lp.solve().status == OPTIMAL
    assert next(verdicts, None) is None
