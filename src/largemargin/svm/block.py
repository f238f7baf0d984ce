"""A point of a problem, how far it is from optimal, and solving a block of its variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from largemargin.svm.compiled import loops
from largemargin.svm.interior_point import solve_interior
from largemargin.svm.problem import Problem

ROUNDING = 1e-9  # below this, relative to the gradients, a margin is none
BURST = 20_000  # steps, and PATIENCE a variable, after which a block is solved another way
PATIENCE = 50
UNBOUNDED = 1e100


@dataclass(frozen=True)
class State:
    """How a point stands: the largest value that may rise and the smallest that may fall, a group;
    the violation, in units of what the tolerance is relative to; whether the solution is known to
    be none.
    """

    best: np.ndarray
    worst: np.ndarray
    violation: float
    unit: float
    hopeless: bool

    def meets(self, tol: float) -> bool:
        """Whether there is nothing left to do."""
        return self.hopeless or self.violation <= tol

    @classmethod
    def of(cls, problem: Problem, beta: np.ndarray, grad: np.ndarray, n: int) -> State:
        """The state of the first n variables."""
        best, worst = np.empty(problem.n_groups), np.empty(problem.n_groups)
        loops().extremes(
            grad, beta, problem.lo, problem.hi, problem.a, problem.group, n, best, worst
        )
        if not problem.threshold:
            np.maximum(best, 0.0, out=best)
            np.minimum(worst, 0.0, out=worst)
        violation = max(0.0, *(best - worst).tolist())
        if not problem.relative:
            return cls(best, worst, violation, 1.0, False)
        ends = np.array([best, worst])  # a group all at its bounds has one end, or none
        known = np.isfinite(ends)
        middle = np.where(known, ends, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        rho = -middle[0] if len(middle) == 1 else (middle[1] - middle[0]) / 2
        square = float(beta @ (grad - problem.p))
        unit = max(
            float(rho), ROUNDING * float(np.abs(grad).max(initial=0.0)), np.finfo(float).tiny
        )
        hopeless = square < problem.least_norm**2
        return cls(best, worst, violation / unit, unit, hopeless)


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
