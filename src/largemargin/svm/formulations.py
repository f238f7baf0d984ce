"""The formulations of the family: each states its dual problem and reads its solution.

With signs y, weights s (an example of weight s counts as s examples) and slacks
xi_i = max(0, 1 - y_i (w.x_i + b)), or max(0, rho - y_i (w.x_i + b)) with nu:

    formulation      primal, to minimise                            dual, in alpha >= 0
    SoftMargin       1/2 w.w + C sum s_i loss(xi_i)
      hinge loss       loss(xi) = xi                                alpha_i <= C s_i
      squared hinge    loss(xi) = xi^2                              ridge 1/(2 C s_i)
    SquaredSum       1/2 w.w + C (sum s_i xi_i)^2                   alpha_i <= s_i delta
    HardMargin       1/2 w.w, all xi_i = 0                          nearest points of two hulls
    Nu               1/2 w.w - nu rho + sum (s_i / sum s) xi_i      alpha_i <= s_i / sum s,
                                                                    sum alpha_i = nu

In the dual the threshold b is the condition sum y_i alpha_i = 0. How the square of the sum is
solved is in `squared_sum`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from largemargin.kernels.functions import UNIT
from largemargin.svm.bounds import (
    FEW,
    Criterion,
    Interval,
    ObjectiveBounds,
    dual_bounds,
    half_square,
    lengthened,
    loss_bounds,
    margins_of,
    multiple_bounds,
    near_hard_margin,
    near_soft_margin,
    slackness_bounds,
)
from largemargin.svm.evaluation import Outputs, summed
from largemargin.svm.problem import DualResult, Problem, Solution, smo_loops

SLACK_ROUNDING = 1e-13  # a slack below this fraction of margin and output is rounding
LARGEST_RIDGE = 1e300  # a ridge of this size keeps a coefficient at zero
TINY = float(np.finfo(float).tiny)
FILL_ROUNDING = 1e-9  # of a box: what is missing of a sum of so many that is less is rounding
LARGEST_CORRECTION = 1e-4  # the largest fraction of the margin that is made up for rounding


class Formulation(Criterion, Protocol):
    """A machine as this file states it: a dual problem, and what its solution means."""

    def problem(self, y: np.ndarray, s: np.ndarray, start: np.ndarray | None = None) -> Problem: ...

    def read(
        self, problem: Problem, solution: Solution, y: np.ndarray, s: np.ndarray
    ) -> DualResult: ...


def group_multipliers(problem: Problem, solution: Solution) -> np.ndarray:
    """The Lagrange multiplier of each group: the value of its free variables, or the middle of
    the interval that the others allow.
    """
    found = np.empty(problem.n_groups)
    smo_loops().multipliers(
        solution.grad, solution.beta, problem.lo, problem.hi, problem.a, problem.group, found
    )
    return found


def slacks(margin: float, outputs: np.ndarray) -> np.ndarray:
    """What outputs lack of the margin; 0 for rounding, which a large price would magnify."""
    lack = margin - outputs
    return np.where(lack > SLACK_ROUNDING * (margin + np.abs(outputs)), lack, 0.0)


def square_of(number: float) -> float:
    """Its square; infinite beyond the range of floats, where `**` raises OverflowError."""
    return number * number


def relative_gap(primal: float, dual: float) -> float:
    return (primal - dual) / max(abs(primal), abs(dual), TINY)


@dataclass(frozen=True)
class Loss:
    """How slack is paid for: C sum s_i value(xi_i), where the slack is xi = max(0, 1 - y f).

    It is stated by its convex conjugate, a quadratic on an interval, which is what the dual has of
    it: 0 <= alpha_i <= C s_i box, and ridge / (C s_i) on the diagonal of the kernel matrix. So

        value(xi) = max of a xi - ridge a^2 / 2 over 0 <= a <= box

    which is xi^2 / (2 ridge) up to xi = ridge box and a line from there on. A new object here, with
    a finite box or a positive ridge, is all that another loss takes, in the certificates too.

    Attributes
    ----------
    name : str
        What the parameter `slack` calls it.
    box : float
        The largest slope; inf is no bound.
    ridge : float
        The slack at which the slope is 1; 0 is a line from the start.
    """

    name: str
    box: float
    ridge: float

    def value(self, xi: np.ndarray) -> np.ndarray:
        """The loss of slacks, which are 0 or more."""
        if not self.ridge:
            return self.box * xi
        square = xi**2 / (2 * self.ridge)
        if np.isinf(self.box):
            return square
        line = self.box * xi - self.ridge * self.box**2 / 2
        return np.where(xi <= self.ridge * self.box, square, line)

    def upper_bounds(self, C: float, s: np.ndarray) -> np.ndarray:
        """The largest alpha of each example; 0 for one of weight 0, which is not there."""
        if np.isinf(self.box):
            return np.where(s > 0, np.inf, 0.0)
        return self.box * C * s

    def ridges(self, C: float, s: np.ndarray) -> np.ndarray:
        """What is added to the diagonal of the kernel matrix."""
        ridges = np.zeros(len(s))
        if self.ridge:
            used = s > 0
            ridges[used] = np.minimum(1 / (C / self.ridge * s[used]), LARGEST_RIDGE)
        return ridges

    def conjugate(self, alpha: np.ndarray, C: float, s: np.ndarray) -> float:
        """What the ridge takes from the dual objective, 1/2 sum of ridge alpha^2."""
        if not self.ridge:
            return 0.0
        used = s > 0
        return summed(alpha[used] ** 2 / s[used]) / (2 * (C / self.ridge))


HINGE = Loss("linear", box=1.0, ridge=0.0)
SQUARED_HINGE = Loss("squared", box=np.inf, ridge=0.5)
LOSSES = {loss.name: loss for loss in (HINGE, SQUARED_HINGE)}


@dataclass(frozen=True)
class SoftMargin:
    """C sum s_i loss(xi_i): the hinge loss ("linear"), the squared hinge loss ("squared")."""

    C: float
    loss: Loss
    threshold: bool

    def problem(self, y: np.ndarray, s: np.ndarray, start: np.ndarray | None = None) -> Problem:
        n, box = len(y), self.loss.upper_bounds(self.C, s)
        return Problem(
            p=-y, lo=np.minimum(y * box, 0.0), hi=np.maximum(y * box, 0.0),
            ridge=self.loss.ridges(self.C, s), a=np.ones(n), group=np.zeros(n, np.uint8),
            n_groups=1, threshold=self.threshold,
            start=feasible_start(start, y, box, self.threshold),
        )  # fmt: skip

    def read(
        self, problem: Problem, solution: Solution, y: np.ndarray, s: np.ndarray
    ) -> DualResult:
        beta = solution.beta
        f = solution.grad - problem.p - problem.ridge * beta
        square = float(beta @ f)
        b = float(group_multipliers(problem, solution)[0]) if self.threshold else 0.0
        dual = float(y @ beta) - square / 2 - float(problem.ridge @ beta**2) / 2
        return DualResult(
            beta, b, dual, np.inf, square, solution.violation, solution.n_steps, solution.converged
        )

    near_margin = staticmethod(near_soft_margin)

    def bounds(
        self, y: np.ndarray, s: np.ndarray, coefs: np.ndarray, b: float, outputs: Outputs,
        reach: float,
    ) -> ObjectiveBounds:  # fmt: skip
        """What coefficients achieve, wherever they come from."""
        loss = loss_bounds(y, s, b, outputs, self.loss)
        half, alpha = half_square(outputs), y * coefs
        other = self.loss.conjugate(alpha, self.C, s)
        missing = abs(summed(coefs)) if self.threshold else 0.0
        return ObjectiveBounds(
            Interval(half.low + self.C * loss.low, half.high + self.C * loss.high),
            dual_bounds(alpha, outputs, missing, reach, other), outputs.square,
            difference=slackness_bounds(
                y, s, coefs, b, outputs, missing, reach, self.C, self.loss
            ),
        )  # fmt: skip

    def enlargement(
        self, y: np.ndarray, s: np.ndarray, result: DualResult, outputs: Outputs, norms: np.ndarray
    ) -> float | None:
        """Which multiple of a machine without slack has no slack under rounding errors either.

        A large price makes much of what rounding takes from the margin. A slightly longer w makes
        up for it and costs next to nothing, unless a coefficient is at its bound.
        """
        sizes = np.abs(result.coefs)
        box, used = self.loss.upper_bounds(self.C, s), result.coefs != 0
        if self.loss.ridge or (sizes >= box)[used].any():
            return None
        margins, errors = margins_of(y, result.intercept, outputs)
        lack = float((1 - margins + errors)[s > 0].max())
        lack += 4 * UNIT * summed(sizes * norms) * float(norms.max())
        if not 0 < lack < LARGEST_CORRECTION or not (sizes * norms).any():
            return None
        if (sizes * (1 + 2 * lack) >= box)[used].any():
            return None
        return 1 + 1.5 * lack


def feasible_start(
    start: np.ndarray | None, y: np.ndarray, box: np.ndarray, threshold: bool
) -> np.ndarray:
    """A feasible point near a warm start: scaled down as a whole until it is in the box; then, if
    sums are to be zero, the heavier side scaled down to the other. Without a start it is zero.
    """
    if start is None:
        return np.zeros(len(box))
    alpha = np.where(box > 0, np.maximum(y * start, 0.0), 0.0)
    used = alpha > 0
    if not used.any():
        return np.zeros(len(box))
    alpha = np.minimum(min(1.0, float((box[used] / alpha[used]).min())) * alpha, box)
    if threshold:
        sums = {side: float(alpha[y == side].sum()) for side in (1.0, -1.0)}
        for side in sums:
            if sums[side] > sums[-side]:
                alpha[y == side] *= sums[-side] / sums[side]
    return np.asarray(y * alpha)


@dataclass(frozen=True)
class HardMargin:
    """The optimal hyperplane, as the nearest points of the two classes' convex hulls.

        minimise 1/2 |sum_i b_i x_i|^2,   sum of b_i = 1 over the positive class,
                                          sum of b_i = -1 over the other

    At the optimum the distance of the points is twice the margin 1/|w|, and a distance below
    2 min_margin shows that no hyperplane has that margin: the answer is found whether or not the
    data can be separated, in a bounded set, where the dual of the usual problem runs off to
    infinity. Without a threshold it is the point of the hull of y_i x_i nearest to the origin, at
    the distance of the margin.
    """

    min_margin: float
    threshold: bool

    def problem(self, y: np.ndarray, s: np.ndarray, start: np.ndarray | None = None) -> Problem:
        box = np.where(s > 0, np.inf, 0.0)
        least = 2 * self.min_margin if self.threshold else self.min_margin
        return hull_problem(y, box, self.threshold, start, least)

    def read(
        self, problem: Problem, solution: Solution, y: np.ndarray, s: np.ndarray
    ) -> DualResult:
        middle, rho = threshold_and_margin(problem, solution, self.threshold)
        f, beta = solution.grad, solution.beta
        distance = float(np.sqrt(max(beta @ f, 0.0)))
        # the dual objective in the usual scale, sum alpha - 1/2 w.w of the best multiple
        total = float(np.abs(beta).sum())
        dual = square_of(total / distance) / 2 if distance > 0 else np.inf
        if distance <= problem.least_norm or rho <= 0:
            return no_margin_result(problem, solution, y, s, dual)
        # the margin of this direction on the data, against the distance of the nearest points
        margin = float((y * (f + middle))[s > 0].min())
        primal = square_of(distance / margin) / 2 if margin > 0 else np.inf
        gap = relative_gap(primal, dual) if np.isfinite(primal) else np.inf
        return DualResult(
            beta / rho, middle / rho, dual, gap, square_of(distance / rho), solution.violation,
            solution.n_steps, solution.converged,
        )  # fmt: skip

    near_margin = staticmethod(near_hard_margin)

    def bounds(
        self, y: np.ndarray, s: np.ndarray, coefs: np.ndarray, b: float, outputs: Outputs,
        reach: float,
    ) -> ObjectiveBounds:  # fmt: skip
        """The best multiple of w against the best multiple of alpha."""
        margins, errors = margins_of(y, b, outputs)
        least = Interval((margins - errors)[s > 0].min(), (margins + errors)[s > 0].min())
        half = half_square(outputs)
        missing = abs(summed(coefs)) if self.threshold else 0.0
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            primal = Interval(
                float(np.divide(max(half.low, 0.0), least.high**2)) if least.high > 0 else 0.0,
                float(np.divide(half.high, least.low**2)) * (1 + FEW) if least.low > 0 else np.inf,
            )
        return ObjectiveBounds(
            primal, multiple_bounds(coefs, outputs, missing, reach), outputs.square
        )


def no_margin_result(
    problem: Problem, solution: Solution, y: np.ndarray, s: np.ndarray, dual: float
) -> DualResult:
    """Where there is no margin there is no direction: f answers with the larger side, always."""
    shown = beta_square(solution) <= problem.least_norm**2
    return DualResult(
        np.zeros(len(y)), larger_side(y, s), dual, np.inf, 0.0, solution.violation,
        solution.n_steps, converged=False, separable=not shown, witness=solution.beta,
    )  # fmt: skip


def larger_side(y: np.ndarray, s: np.ndarray) -> float:
    return 1.0 if s @ y > 0 else -1.0


def threshold_and_margin(
    problem: Problem, solution: Solution, threshold: bool
) -> tuple[float, float]:
    """b and rho: y f + b is rho at the free examples of either class."""
    found = group_multipliers(problem, solution)
    if not threshold:
        return 0.0, -float(found[0])
    return float(found.mean()), float(found[1] - found[0]) / 2


@dataclass(frozen=True)
class SquaredSum:
    """C (sum s_i xi_i)^2 as a criterion; `squared_sum` solves it by way of soft margins."""

    C: float
    threshold: bool
    near_margin = staticmethod(near_soft_margin)

    def bounds(
        self, y: np.ndarray, s: np.ndarray, coefs: np.ndarray, b: float, outputs: Outputs,
        reach: float,
    ) -> ObjectiveBounds:  # fmt: skip
        half, alpha = half_square(outputs), y * coefs
        loss = loss_bounds(y, s, b, outputs, HINGE)
        used = s > 0
        delta = float((alpha[used] / s[used]).max(initial=0.0))
        missing = abs(summed(coefs)) if self.threshold else 0.0
        return ObjectiveBounds(
            Interval(
                half.low + self.C * square_of(loss.low) * (1 - FEW),
                half.high + self.C * square_of(loss.high) * (1 + FEW),
            ),
            dual_bounds(alpha, outputs, missing, reach, square_of(delta) / (4 * self.C)),
            outputs.square,
        )  # fmt: skip


@dataclass(frozen=True)
class Nu:
    """nu bounds the fraction of margin errors from above and that of support vectors from below.

    The classes have half of nu each (with a threshold), so nu is at most twice the smaller class's
    share. At that value the whole smaller side is at its bounds and rho may be as large as one
    likes, with b = rho - const towards the larger side: in the scale where the margin is 1, all of
    w from some w_0 down to 0 are optimal. Smaller values of nu lead to w_0; for larger ones the
    primal has no bound and goes to 0, the larger side always. Where nu `is_lowered` from there, the
    middle is taken.
    """

    nu: float
    min_margin: float
    threshold: bool
    is_lowered: bool = False

    def problem(self, y: np.ndarray, s: np.ndarray, start: np.ndarray | None = None) -> Problem:
        least = 2 * self.min_margin if self.threshold else self.min_margin
        return hull_problem(y, s / (s.sum() * self._unit), self.threshold, start, least)

    @property
    def _unit(self) -> float:
        """What a class has of nu; the solver's variables are in units of it and sum to 1."""
        return self.nu / 2 if self.threshold else self.nu

    def read(
        self, problem: Problem, solution: Solution, y: np.ndarray, s: np.ndarray
    ) -> DualResult:
        b, rho = threshold_and_margin(problem, solution, self.threshold)
        if rho <= 0 or beta_square(solution) <= problem.least_norm**2:
            return no_margin_result(problem, solution, y, s, 0.0)
        if self.is_lowered:
            b, rho = b + rho * larger_side(y, s), 2 * rho
        b, rho = b * self._unit, rho * self._unit
        f, beta = solution.grad * self._unit, solution.beta * self._unit
        square = float(beta @ f)
        slack = slacks(rho, y * (f + b))
        primal = square / 2 - self.nu * rho + float(s @ slack) / s.sum()
        dual = -square / 2
        # primal and dual are both small and negative: their difference is relative to w.w
        gap = (primal - dual) / max(square, np.finfo(float).tiny)
        return DualResult(
            beta / rho, b / rho, dual, gap, square / rho / rho, solution.violation,
            solution.n_steps, solution.converged,
        )  # fmt: skip

    near_margin = staticmethod(near_soft_margin)

    def bounds(
        self, y: np.ndarray, s: np.ndarray, coefs: np.ndarray, b: float, outputs: Outputs,
        reach: float,
    ) -> ObjectiveBounds:  # fmt: skip
        """With the rho at which the coefficients sum to nu, what is stored having a margin of 1."""
        alpha, share = np.abs(coefs), s / s.sum()
        rho = self.nu / summed(alpha)
        loss, half = loss_bounds(y, share, b, outputs, HINGE), half_square(outputs)
        half = Interval(rho * half.low * rho * (1 - FEW), rho * half.high * rho * (1 + FEW))
        # feasible coefficients are no further away than this
        missing = 2 * summed(np.maximum(0.0, rho * alpha - share)) + FEW * self.nu
        if self.threshold:
            missing += rho * abs(summed(coefs))
        longest = lengthened(half, missing * reach)
        off = FEW * (self.nu * rho + abs(longest))
        primal = Interval(
            half.low - self.nu * rho + rho * loss.low - off,
            half.high - self.nu * rho + rho * loss.high + off,
        )
        dual = Interval(-longest - off, -half.low + off)
        return ObjectiveBounds(primal, dual, outputs.square, Interval(2 * half.low, 2 * half.high))


def beta_square(solution: Solution) -> float:
    """w.w of a machine without a linear term."""
    return float(solution.beta @ solution.grad)


def _filled(share: np.ndarray, box: np.ndarray) -> np.ndarray:
    """A share in a box, with what it lacks of a sum of 1 in the first places that have room: each
    of them full but for one, and that one too where only rounding keeps it from there.
    """
    room = box - share
    lack = 1.0 - float(share.sum())
    count = int(np.searchsorted(np.cumsum(room), lack))
    full = np.where(np.arange(len(box)) < count, box, share)
    if count < len(box):
        # summed in pairs, which rounds less than the sum that said how many
        rest = 1.0 - float(full.sum())
        near = FILL_ROUNDING * box[count]
        full[count] = np.clip(full[count] + (rest if rest > near else 0.0), 0.0, box[count])
        if full[count] > box[count] - near:
            full[count] = box[count]
    return full


def hull_problem(
    y: np.ndarray, box: np.ndarray, threshold: bool, start: np.ndarray | None, least: float = 0.0
) -> Problem:
    """Nearest points of two hulls, no example having more than its box: one sum per class, of 1
    and -1, or, without a threshold, one sum of 1 over all. What a warm start leaves open of a sum
    goes to the first examples with room.
    """
    n = len(y)
    group = (y < 0).astype(np.uint8) if threshold else np.zeros(n, np.uint8)
    beta = np.zeros(n)
    for g in np.unique(group):
        mine = np.flatnonzero((group == g) & (box > 0))
        if len(mine):
            share = np.zeros(len(mine))
            if start is not None:
                share = np.maximum(y[mine] * start[mine], 0.0)
            share = np.minimum(share / (share.sum() or 1.0), box[mine])
            beta[mine] = y[mine] * _filled(share, np.minimum(box[mine], 1.0))
    return Problem(
        p=np.zeros(n), lo=np.where(y > 0, 0.0, -box), hi=np.where(y > 0, box, 0.0),
        ridge=np.zeros(n), a=np.ones(n) if threshold else y.copy(), group=group,
        n_groups=2 if threshold else 1, threshold=True, start=beta, relative=True,
        least_norm=least,
    )  # fmt: skip
