"""A problem whose kernel values are in one matrix: all of a small problem, or a working set.

Three methods, each for what the one before it is slow at: SMO takes steps of two variables; a block
that it has not solved after many goes to the interior-point method; and the active set method takes
a solution that is good to the tolerance to the exact one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from largemargin.runtime.progress import Watch
from largemargin.runtime.threads import Workers
from largemargin.svm.active_set import exact_violation, is_exact, refine, with_kept_sums
from largemargin.svm.interior_point import solve_interior
from largemargin.svm.low_rank import system_of
from largemargin.svm.problem import Optimality, Problem, Solution, block_loops
from largemargin.svm.shrinking import smo_solve

# SMO steps after which a block goes to the interior-point method: so many, and some per variable
SMO_STEPS = 20_000
SMO_STEPS_PER_VARIABLE = 200
UNBOUNDED = 1e100  # a variable of this size shows that the dual has no bounded solution
SMO_EXTRA = 1e-8  # SMO goes on to this fraction of the tolerance, as long as that is cheap
NEARLY = 0.1  # the same for a start in float32, from where the active set method goes on
PART = 512  # columns that are summed together
ROUNDING = 4e-14  # the least violation that rounding lets SMO reach, if all goes well
# Rounds in a row that do not halve the violation and are tolerated: one more ends the solver.
STALLED_ROUNDS = 4


def solve_dense(
    problem: Problem, K: np.ndarray, tol: float, max_steps: float, watch: Watch, team: Workers
) -> Solution:
    """SMO until the tolerance is met, then the active set method for the exact solution."""
    at, optimality = _descend(problem, K, tol, _exact_enough(problem, tol), max_steps, watch, team)
    return _finished(problem, K, at, optimality, watch, team)


def solve_on(
    problem: Problem, K: np.ndarray, tol: float, max_steps: float, watch: Watch, team: Workers
) -> Solution:
    """The exact solution from a start that is good to the tolerance: SMO for a while, since the
    active set method needs to know nearly all free variables.
    """
    at, optimality = _descend(problem, K, tol, NEARLY * tol, max_steps, watch, team)
    return _finished(problem, K, at, optimality, watch, team)


def _finished(
    problem: Problem, K: np.ndarray, at: Solution, optimality: Optimality, watch: Watch,
    team: Workers,
) -> Solution:  # fmt: skip
    """The exact solution from one that meets the tolerance."""
    inexact = not (optimality.infeasible_margin or is_exact(problem, optimality.violation))
    if at.converged and inexact and not watch.stopped:
        at = _exact(problem, K, at, watch, team)
    return at


def solve_nearly(
    problem: Problem, K: np.ndarray, tol: float, closer: float, max_steps: float, watch: Watch,
    team: Workers,
) -> Solution:  # fmt: skip
    """SMO until the tolerance is met, and then on to a violation of `closer`, if that is cheap."""
    return _descend(problem, K, tol, closer, max_steps, watch, team)[0]


def _descend(
    problem: Problem, K: np.ndarray, tol: float, closer: float, max_steps: float, watch: Watch,
    team: Workers,
) -> tuple[Solution, Optimality]:  # fmt: skip
    """SMO until the tolerance is met, and beyond it to a violation of `closer`, if that is cheap;
    where it does not get there, the methods for what it is slow at.
    """
    beta = problem.start.copy()
    at = Solution(beta, _gradient(problem, K, beta, team), np.inf, 0, False)
    optimality = Optimality.of(problem, at.beta, at.grad, len(problem))
    least, stuck, enough = np.inf, 0, closer
    while not optimality.meets(enough) and at.n_steps < max_steps and not watch.stopped:
        # steps beyond the tolerance, as far as they are cheap, often make the solution exact
        found, steps = solve_block(
            problem, slice(None), K, at.grad, at.beta, tol * optimality.unit,
            max_steps - at.n_steps, closer * optimality.unit, watch.look,
        )  # fmt: skip
        enough = tol
        # summed afresh: many steps add up rounding errors too
        grad = _gradient(problem, K, found, team)
        at = Solution(found, grad, np.inf, at.n_steps + steps, False)
        # SMO used up its steps; the right set of free variables may be a guess away all the same
        if steps >= SMO_STEPS_PER_VARIABLE * len(problem) + SMO_STEPS:
            at = _exact(problem, K, at, watch, team)
        optimality = Optimality.of(problem, at.beta, at.grad, len(problem))
        watch.advance(0)
        stuck = 0 if optimality.violation < least / 2 else stuck + 1
        least = min(least, optimality.violation)
        if stuck > STALLED_ROUNDS:
            break  # only rounding still moves it
    at = Solution(at.beta, at.grad, optimality.violation, at.n_steps, optimality.meets(tol))
    return at, optimality


def _exact_enough(problem: Problem, tol: float) -> float:
    """The violation at which SMO has made the solution exact, if rounding lets it."""
    least = exact_violation(problem) / 2
    return min(SMO_EXTRA * tol, least) if least > ROUNDING else SMO_EXTRA * tol


def _gradient(problem: Problem, K: np.ndarray, beta: np.ndarray, team: Workers) -> np.ndarray:
    """(K + ridge) beta + p, from the rows of the variables that are not zero."""
    grad: np.ndarray = problem.p + problem.ridge * beta
    used = np.flatnonzero(beta)
    if len(used) and len(beta) <= PART and K.dtype == grad.dtype:  # as cheap as to look at some
        grad += K @ beta
    else:
        add_columns(grad, K, used, beta[used], team)
    return grad


def add_columns(
    sums: np.ndarray, K: np.ndarray, rows: np.ndarray, coefs: np.ndarray, team: Workers
) -> None:
    """sums += coefs @ K[rows], the columns shared out among the threads."""
    from largemargin.kernels.loops import add_part

    def add(part: tuple[int, int]) -> None:
        add_part(sums, K, part[0], part[1], rows, coefs)

    if len(rows):
        team.map(add, column_parts(len(sums)))


def column_parts(n: int) -> list[tuple[int, int]]:
    """Columns that are summed together, the first of each part and the end of it."""
    return [(k, min(k + PART, n)) for k in range(0, n, PART)]


def _exact(problem: Problem, K: np.ndarray, at: Solution, watch: Watch, team: Workers) -> Solution:
    def products(variables: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        sums = np.zeros(len(problem))
        add_columns(sums, K, variables, coefs, team)  # K is symmetric
        return sums

    def gram(variables: np.ndarray, dtype: np.dtype = K.dtype) -> np.ndarray:
        from largemargin.kernels.loops import take

        part = np.empty((len(variables), len(variables)), dtype)
        take(K, variables, variables, part)
        return part

    single = partial(gram, dtype=np.dtype(np.float32))
    return refine(problem, at, gram, products, stopped=watch.look, single=single)


def solve_block(
    problem: Problem,
    working: np.ndarray | slice,
    local: np.ndarray,
    grad: np.ndarray,
    beta: np.ndarray,
    tol: float,
    max_steps: float,
    closer: float | None = None,
    stopped: Callable[[], object] = lambda: "",
) -> tuple[np.ndarray, int]:
    """Solve for the variables `working`, whose kernel values are `local`, the others kept; returns
    them and the number of steps made.
    """
    found, slope = beta[working].copy(), grad[working].astype(float)
    ridge, lo, hi = problem.ridge[working], problem.lo[working], problem.hi[working]
    patience = SMO_STEPS + SMO_STEPS_PER_VARIABLE * len(found)
    ends = tol, tol if closer is None else closer, int(min(max_steps, patience))
    if problem.threshold:
        steps, met = smo_solve(
            local, ridge, slope, found, lo, hi, problem.a[working], problem.group[working],
            problem.n_groups, *ends,
        )  # fmt: skip
    else:
        steps, met = block_loops().smo_without_sums(local, ridge, slope, found, lo, hi, *ends)
    if not np.abs(found).max(initial=0.0) < UNBOUNDED:
        raise ValueError(
            "the dual problem has no bounded solution, which happens when the kernel is not "
            "positive semi-definite: use another kernel, or slack='linear' with a moderate C"
        )
    if not met and patience < max_steps and not stopped():
        inner = solve_interior(problem, working, local, grad, beta, system_of, stopped)
        if inner is not None:  # which leaves the sums off by more than rounding
            part = replace(problem.taken(working), start=beta[working])
            found = with_kept_sums(part, inner)
    return found, steps
