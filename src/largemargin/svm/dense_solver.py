"""A problem whose kernel values are in one matrix: all of a small problem, or a working set.

Three methods, each for what the one before it is slow at: SMO takes steps of two variables; a block
that it has not solved after many goes to the interior-point method; and the active set method takes
a solution that is good to the tolerance to the exact one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from largemargin.runtime.progress import Watch
from largemargin.svm.active_set import is_exact, polish
from largemargin.svm.interior_point import solve_interior
from largemargin.svm.problem import Problem, Solution, State, loops

BURST = 20_000  # steps, and PATIENCE a variable, after which a block is solved another way
PATIENCE = 50
UNBOUNDED = 1e100
CLOSER = 1e-8  # of the tolerance, to which small problems are taken by steps
STUCK = 4  # rounds that do not halve the violation, after which it is left at that


def solve_dense(
    problem: Problem, K: np.ndarray, tol: float, max_steps: float, watch: Watch
) -> Solution:
    """Steps of two variables until the tolerance is met, then the exact solution."""
    beta = problem.start.copy()
    grad = problem.p + problem.ridge * beta
    if beta.any():
        grad = grad + K @ beta
    at = Solution(beta, grad, np.inf, 0, False)
    state = State.of(problem, at.beta, at.grad, len(problem))
    least, stuck = np.inf, 0
    while not state.meets(tol) and at.n_steps < max_steps and not watch.stopped:
        # beyond the tolerance, as far as it is cheap: it often makes the solution exact
        found, steps = solve_block(
            problem, slice(None), K, at.grad, at.beta, tol * state.unit,
            max_steps - at.n_steps, CLOSER * tol * state.unit, watch.look,
        )  # fmt: skip
        grad = problem.p + K @ found  # afresh: what many steps add up to is rounding too
        grad += problem.ridge * found
        at = Solution(found, grad, np.inf, at.n_steps + steps, False)
        if steps >= PATIENCE * len(problem) + BURST:  # hard going: it may be a guess away
            at = _exact(problem, K, at, watch)
        state = State.of(problem, at.beta, at.grad, len(problem))
        watch.advance(0)
        stuck = 0 if state.violation < least / 2 else stuck + 1
        least = min(least, state.violation)
        if stuck > STUCK:
            break  # rounding is all that moves it
    at = Solution(at.beta, at.grad, state.violation, at.n_steps, state.meets(tol))
    inexact = not (state.hopeless or is_exact(problem, state.violation))
    if at.converged and inexact and not watch.stopped:
        at = _exact(problem, K, at, watch)
    watch.advance(1)
    return at


def _exact(problem: Problem, K: np.ndarray, at: Solution, watch: Watch) -> Solution:
    return polish(
        problem, at, lambda F: K[np.ix_(F, F)], lambda F, d: K[:, F] @ d, stopped=watch.look
    )


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
    whole = (problem.ridge, grad, problem.lo, problem.hi, problem.a, problem.group)
    parts = tuple(part[working] for part in whole)
    K, found = local, beta[working].copy()
    if not problem.threshold:  # the variable that takes up the sum
        K = np.pad(local, (0, 1))
        found = np.append(found, 0.0)
        ends = (0.0, 0.0, -np.inf, np.inf, 1.0, 0)
        parts = tuple(
            np.append(part, np.array(end, part.dtype))
            for part, end in zip(parts, ends, strict=True)
        )
    ridge, slope, lo, hi, a, group = parts
    patience = BURST + PATIENCE * len(found)
    steps, met = loops().solve_local(
        K, ridge, slope.copy(), found, lo, hi, a, group, problem.n_groups, tol,
        tol if closer is None else closer, int(min(max_steps, patience)),
    )  # fmt: skip
    found = found[: len(local)]
    if not np.abs(found).max(initial=0.0) < UNBOUNDED:
        raise ValueError(
            "the dual problem has no bounded solution, which happens when the kernel is not "
            "positive semi-definite: use another kernel, or slack='linear' with a moderate C"
        )
    if not met and patience < max_steps and not stopped():
        inner = solve_interior(problem, working, local, grad, beta, stopped)
        if inner is not None:
            found = inner
    return found, steps
