"""What every machine of this family solves, stated once.

    minimise    1/2 b'(K + diag(ridge))b + p'b
    subject to  lo_i <= b_i <= hi_i   and   sum of a_i b_i over each group = its value at the start

The variables are signed, b_i = y_i alpha_i, so K is the Gram matrix itself and a machine is
f(x) = sum_i b_i k(x_i, x) + threshold. A group's multiplier is what the threshold is read from. A
machine without a threshold has a variable more, `free`, with kernel values of zero and no bounds:
it takes up whatever the sum would have to be, and its multiplier is zero.

Optimality (Karush-Kuhn-Tucker): with value_i = -a_i grad_i, no variable of a group that may rise
has a larger value than one that may fall. The largest such difference is the **violation**.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

ROUNDING = 1e-9  # below this, relative to the gradients, a margin is none


@dataclass(frozen=True)
class Problem:
    """One dual problem; arrays have an entry a variable.

    Attributes
    ----------
    p, lo, hi, ridge : arrays
        The linear term, the box and what is added to the diagonal.
    a : array of +1 and -1
        Coefficients of the sums that are kept.
    group : array of uint8
        The sum that each variable belongs to.
    n_groups : int
    threshold : bool
        Whether the sums hold; without, the variables are bounded by the box alone.
    start : array
        A feasible point.
    relative : bool
        Whether the tolerance is relative to the margin of f, for machines without a scale of
        their own.
    least_norm : float
        The solution is not looked for once |w| is shown to be smaller.
    """

    p: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    ridge: np.ndarray
    a: np.ndarray
    group: np.ndarray
    n_groups: int
    threshold: bool
    start: np.ndarray
    relative: bool = False
    least_norm: float = 0.0

    def __len__(self) -> int:
        return len(self.p)


@dataclass(frozen=True)
class Solution:
    """Where a solver got: variables, gradient, the violation left and the steps made; how far
    rounding may have taken the gradient from that of its kernel values; and whose gradient is up to
    date, if not everybody's.
    """

    beta: np.ndarray
    grad: np.ndarray
    violation: float
    n_steps: int
    converged: bool
    drift: float = np.inf
    seen: np.ndarray | None = None


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


@dataclass(frozen=True)
class Machine:
    """What a solution means: f = coefs @ K + intercept, with the objective reached and its gap.

    A solver's own numbers are estimates, an infinite gap being none; `told` gives those that hold
    for the coefficients.

    Attributes
    ----------
    objective : float
        The dual objective, which is at most the primal one.
    gap : float
        Their difference relative to the primal objective.
    square : float
        w.w
    rounding : float
        How much of the gap is not known to be one: rounding may have made it.
    witness : array or None
        Where there is no machine, the nearest points of the hulls that show it.
    """

    coefs: np.ndarray
    intercept: float
    objective: float
    gap: float
    square: float
    violation: float
    n_steps: int
    converged: bool
    separable: bool = True
    rounding: float = 0.0
    witness: np.ndarray | None = None


@cache
def loops() -> Any:
    """The compiled loops, from their first use on: the compiler takes longer to load than all the
    rest, and an import within a function longer than many a loop on little data.
    """
    from largemargin.svm import smo

    return smo
