"""The dual problem that every machine of this family solves, stated once.

    minimise    1/2 b'(K + diag(ridge))b + p'b
    subject to  lo_i <= b_i <= hi_i   and   sum of a_i b_i over each group = its value at the start

The variables are signed, b_i = y_i alpha_i, so K is the Gram matrix itself and a machine is
f(x) = sum_i b_i k(x_i, x) + threshold. The threshold is read from the Lagrange multipliers of the
sums, one per group. A machine without a threshold keeps no sum, and its multiplier is zero.

Optimality (the Karush-Kuhn-Tucker, or KKT, conditions), with the sets of LIBSVM: I_up holds the
variables for which a_i b_i may rise, I_low those for which it may fall. With value_i = -a_i grad_i,

    m = max of value_i over I_up,   M = min of value_i over I_low,   m <= M in each group

The largest m - M is the **violation**. At the optimum any value from m to M is a multiplier; where
it must be zero, m counts as 0 if it is less, and M if it is more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

MARGIN_ROUNDING = 1e-9  # a margin below this fraction of the largest gradient is rounding


@dataclass(frozen=True)
class Problem:
    """One dual problem; arrays have one entry per variable.

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

    def taken(self, which: np.ndarray | slice) -> Problem:
        """The problem of some variables, the others being zero or kept."""
        names = ("p", "lo", "hi", "ridge", "a", "group", "start")
        return replace(self, **{name: getattr(self, name)[which] for name in names})


@dataclass(frozen=True)
class Solution:
    """The point a solver found: variables, gradient, the violation left and the steps made.

    `drift` bounds how far rounding may have taken the gradient from that of its kernel values, all
    of it or each number of it;
    `seen` marks the variables whose gradient is up to date, if that is not so of all of them;
    `sizes` are the sums of |beta_j k_ij| with the weights of `Evaluation`, if the solver has them.
    """

    beta: np.ndarray
    grad: np.ndarray
    violation: float
    n_steps: int
    converged: bool
    drift: float | np.ndarray = np.inf
    seen: np.ndarray | None = None
    sizes: np.ndarray | None = None


@dataclass(frozen=True)
class Optimality:
    """Optimality of a point: per group m = max over I_up, M = min over I_low of -a grad (as in
    LIBSVM); violation = m - M.

    Attributes
    ----------
    up_max, low_min : arrays
        m and M, one entry per group.
    violation : float
        The largest m - M, in units of `unit`.
    unit : float
        What the tolerance is relative to: 1, or the margin of f.
    infeasible_margin : bool
        Whether it is shown that no machine has the least margin that is asked for.
    """

    up_max: np.ndarray
    low_min: np.ndarray
    violation: float
    unit: float
    infeasible_margin: bool

    def meets(self, tol: float) -> bool:
        """Whether there is nothing left to do: the violation is no more than the tolerance, or it
        is shown that there is no solution.
        """
        return self.infeasible_margin or self.violation <= tol

    @classmethod
    def of(cls, problem: Problem, beta: np.ndarray, grad: np.ndarray, n: int) -> Optimality:
        """That of the first n variables."""
        up_max, low_min = np.empty(problem.n_groups), np.empty(problem.n_groups)
        smo_loops().extremes(
            grad, beta, problem.lo, problem.hi, problem.a, problem.group, n, up_max, low_min
        )
        if not problem.threshold:
            np.maximum(up_max, 0.0, out=up_max)
            np.minimum(low_min, 0.0, out=low_min)
        violation = max(0.0, *(up_max - low_min).tolist())
        if not problem.relative:
            return cls(up_max, low_min, violation, 1.0, False)
        middle = _middle(up_max, low_min)
        rho = -middle[0] if len(middle) == 1 else (middle[1] - middle[0]) / 2
        square = float(beta @ (grad - problem.p))
        unit = max(
            float(rho), MARGIN_ROUNDING * float(np.abs(grad).max(initial=0.0)), np.finfo(float).tiny
        )
        infeasible_margin = square < problem.least_norm**2
        return cls(up_max, low_min, violation / unit, unit, infeasible_margin)

    @property
    def middle(self) -> np.ndarray:
        """Half way between the ends of each group, or what there is of them."""
        return _middle(self.up_max, self.low_min)

    def gap_left(self, problem: Problem, beta: np.ndarray, grad: np.ndarray) -> float:
        """How far the objective is above its least value at most, relative to itself.

        With r = grad + a middle, which the sums let be in place of the gradient, no step from b to
        b' in the box lowers the objective by more than the sum of -r (b' - b) - ridge (b' - b)^2 /
        2, whose terms have their largest values apart from each other.
        """
        reduced = grad
        if problem.threshold:
            reduced = grad + problem.a * self.middle[problem.group]
        room = np.where(reduced > 0, beta - problem.lo, problem.hi - beta)
        pulled = np.flatnonzero((reduced != 0) & (room > 0))
        size, ridge = np.abs(reduced[pulled]), problem.ridge[pulled]
        with np.errstate(all="ignore"):  # what is out of range is no bound, and nobody is close
            step = np.minimum(room[pulled], size / ridge)
            most = size * step  # infinite where nothing ends the step
            most[ridge > 0] -= (ridge * step**2 / 2)[ridge > 0]
            objective = abs(float(beta @ (grad + problem.p))) / 2
            return float(most.sum()) / objective if objective else np.inf


def _middle(up_max: np.ndarray, low_min: np.ndarray) -> np.ndarray:
    ends = np.array([up_max, low_min])  # a group all at its bounds has one end, or none
    known = np.isfinite(ends)
    found: np.ndarray = np.where(known, ends, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return found


@dataclass(frozen=True)
class DualResult:
    """The machine that a dual solution is: f = coefs @ K + intercept, with its objective and gap.

    A solver's own numbers are estimates, an infinite gap being none; `bounds.with_bounds` gives
    those that hold for the coefficients.

    Attributes
    ----------
    objective : float
        The dual objective, which is at most the primal one.
    gap : float
        The duality gap: their difference, relative to the larger of the two in absolute value;
        with nu, where both are small and negative, relative to w.w.
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
def smo_loops() -> Any:
    """The compiled loops, imported at their first use and kept: the compiler takes longer to load
    than all the rest, and an import statement in a function longer than a loop on little data.
    """
    from largemargin.svm import smo

    return smo


@cache
def block_loops() -> Any:
    """The same of the loops that solve a block."""
    from largemargin.svm import block_smo

    return block_smo
