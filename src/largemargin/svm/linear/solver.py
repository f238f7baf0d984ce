"""Which method solves a linear machine of few features, and its answer as a `Solution`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from largemargin.runtime.arrays import DistantRows, Matrix
from largemargin.runtime.threads import Workers
from largemargin.svm.active_set import SUM_ROUNDING, with_kept_sums
from largemargin.svm.few_features import solve_in_features
from largemargin.svm.linear.newton import newton
from largemargin.svm.linear.rows import Rows
from largemargin.svm.linear.samples import Sample, samples, whole
from largemargin.svm.linear.screening import solve_by_screening
from largemargin.svm.linear.working_sets import solve_in_working_sets
from largemargin.svm.problem import Optimality, Problem, Solution

MANY_ROWS = 500  # rows from which bands of them pay
ROWS_PER_FEATURE = 10  # and as many for each feature
EXACT = 1e-6  # a violation, relative to the gradients, of a solution that may be exact


def in_order_of_data(
    problem: Problem, examples: np.ndarray, X: Matrix,
    solve: Callable[[Problem, Matrix], Solution],
) -> Solution:  # fmt: skip
    """The solution of a problem whose variables are some examples, which a solver is given in the
    order of the data, so that these need not be copied.
    """
    order = np.argsort(examples)
    rows = X if len(order) == X.shape[0] else _part(X, examples[order])
    at = solve(problem.taken(order), rows)
    beta, grad = np.empty_like(at.beta), np.empty_like(at.grad)
    beta[order], grad[order] = at.beta, at.grad
    return replace(at, beta=beta, grad=grad)


def solve_few_columns(
    problem: Problem, X: Matrix, tol: float, exact: bool, team: Workers,
    stopped: Callable[[], object],
) -> Solution:  # fmt: skip
    """The solution, beyond the tolerance if `exact`, or the best point found until stopped."""
    moving = problem.hi > problem.lo
    n = int(np.count_nonzero(moving))
    if n < max(MANY_ROWS, ROWS_PER_FEATURE * X.shape[1]):
        return solve_in_features(problem, X, tol, team, stopped)
    if problem.start.any() and not problem.relative and _is_solved(problem, X, tol, team):
        return solve_in_features(problem, X, tol, team, stopped)
    found = None
    if n == len(problem):
        found = _solve(problem, X, tol, exact, team, stopped)
    else:
        which = np.flatnonzero(moving)
        found = _solve(problem.taken(which), _part(X, which), tol, exact, team, stopped)
        if found is not None:
            found = _enlarged(problem, Rows(X, team), which, found, tol)
    if found is not None and (stopped() or _is_good(found, exact)):
        return found
    other = solve_in_features(problem, X, tol, team, stopped)
    return other if found is None or other.violation < found.violation else found


def _part(X: Matrix, rows: np.ndarray) -> Matrix:
    """Some of the rows, wherever they are."""
    return X.taken(rows) if isinstance(X, DistantRows) else X[rows]


def _is_good(found: Solution, exact: bool) -> bool:
    size = 1.0 + float(np.abs(found.grad).max(initial=0.0))
    return found.converged and (not exact or found.violation <= EXACT * size)


def _solve(
    problem: Problem, X: Matrix, tol: float, exact: bool, team: Workers,
    stopped: Callable[[], object],
) -> Solution | None:  # fmt: skip
    """By samples; None where no method for them fits, or it fails."""
    plain = rows = Rows(X, team)
    # coefficients that sum to zero do not depend on the origin: the mean rounds least
    total, size = float(problem.start.sum()), float(np.abs(problem.start).sum())
    if problem.threshold and (problem.a == 1).all() and abs(total) <= SUM_ROUNDING * size:
        rows = plain.shifted(plain.mean())
    infinite = np.isinf(problem.hi - problem.lo)
    if infinite.all() and (problem.ridge > 0).all():
        return _by_newton(problem, samples(problem, whole(problem, rows)), tol, stopped)
    if problem.ridge.any():
        return None
    found = None
    if not infinite.any():
        chosen = samples(problem, whole(problem, rows))
        found = solve_by_screening(problem, chosen, tol, exact, stopped)
    if found is None and (infinite.all() or not problem.relative):
        found = solve_in_working_sets(problem, plain, tol, exact, stopped)
    return found


def _by_newton(
    problem: Problem, chosen: list[Sample], tol: float, stopped: Callable[[], object]
) -> Solution | None:
    found = newton(chosen, stopped)
    if found is None:
        return None
    beta, n_steps = found
    beta, rows = with_kept_sums(problem, beta), chosen[-1].rows.unshifted()
    return judged(problem, rows, beta, n_steps, tol)


def judged(problem: Problem, rows: Rows, beta: np.ndarray, n_steps: int, tol: float) -> Solution:
    """A point with its gradient and what is left of the violation."""
    grad = problem.p + problem.ridge * beta + rows.times(rows.turned(beta))
    optimality = Optimality.of(problem, beta, grad, len(problem))
    return Solution(beta, grad, optimality.violation, n_steps, optimality.meets(tol))


def _enlarged(
    problem: Problem, rows: Rows, which: np.ndarray, found: Solution, tol: float
) -> Solution:
    beta = np.zeros(len(problem))
    beta[which] = found.beta
    return judged(problem, rows, beta, found.n_steps, tol)


def _is_solved(problem: Problem, X: Matrix, tol: float, team: Workers) -> bool:
    return judged(problem, Rows(X, team), problem.start, 0, tol).converged
