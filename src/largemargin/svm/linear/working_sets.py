"""Machines with next to no slack: many rows of few features, by a working set of them.

Where the classes can be separated, no more examples than there are features, and a few, are support
vectors, and the solution of some rows is that of all as soon as no other row is within its margin.
Rows that are join the set, the worst first, and it is solved again: the chunking of Cortes &
Vapnik.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from largemargin.runtime.arrays import some_rows
from largemargin.svm.few_features import solve_in_features
from largemargin.svm.formulations import group_multipliers
from largemargin.svm.linear.rows import Rows
from largemargin.svm.linear.samples import SEED
from largemargin.svm.problem import Optimality, Problem, Solution

ROUNDS = 50  # sets that are solved
FIRST = 1000  # rows of the first set, and, if it is no larger, those that may join at a time
ROWS_PER_FEATURE = 4  # or as many for each feature
LARGEST = 4  # one row in so many may be in the set
ROUNDING = 1e-11  # a violation, relative to the largest gradient, that is rounding


def solve_in_working_sets(
    problem: Problem, rows: Rows, tol: float, exact: bool, stopped: Callable[[], object]
) -> Solution | None:
    """The solution; None where a set of a part of the rows does not have it."""
    size = max(FIRST, ROWS_PER_FEATURE * rows.d)
    chosen = _first(problem, size)
    beta, n_steps = problem.start, 0
    for _ in range(ROUNDS):
        part = replace(problem.taken(chosen), start=beta[chosen])
        at = solve_in_features(part, some_rows(rows.X, chosen), tol, rows.team, stopped)
        n_steps += at.n_steps
        beta = np.zeros(len(problem))
        beta[chosen] = at.beta
        grad = problem.p + problem.ridge * beta + rows.times(rows.turned(beta))
        optimality = Optimality.of(problem, beta, grad, len(problem))
        found = Solution(beta, grad, optimality.violation, n_steps, optimality.meets(tol))
        if optimality.infeasible_margin or stopped() or (found.converged and not exact):
            return found
        levels = group_multipliers(part, at) if problem.threshold else np.zeros(problem.n_groups)
        r = grad + problem.a * levels[problem.group]
        # outside of the set all variables are zero, and may move to one side
        lack = np.where(problem.hi > 0, -r, 0.0) + np.where(problem.lo < 0, r, 0.0)
        lack[chosen] = 0.0
        joining = np.flatnonzero(lack > ROUNDING * float(np.abs(grad).max()))
        if not len(joining):
            return found if at.converged else None
        most = max(size, len(chosen))  # so that a set that is far too small grows fast
        if len(joining) > most:
            joining = joining[np.argpartition(-lack[joining], most)[:most]]
        chosen = np.union1d(chosen, joining)
        if len(chosen) > len(problem) // LARGEST:
            return None
    return None


def _first(problem: Problem, size: int) -> np.ndarray:
    """Some rows of each side, and those of the start."""
    rng = np.random.default_rng(SEED)
    positive = problem.hi > -problem.lo
    sides = [rng.permutation(np.flatnonzero(side))[: size // 2] for side in (positive, ~positive)]
    return np.unique(np.concatenate([*sides, np.flatnonzero(problem.start)]))
