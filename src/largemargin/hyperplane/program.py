"""The hyperplane of largest margin in a norm: the program, its dual, and proof of a solution.

With signs y, weights s (an example of weight s counts as s examples), q conjugate to p, that is
1/p + 1/q = 1, and r = min(p, q):

    minimise  |w|_p^r / r + C sum_i s_i xi_i    subject to  y_i (w.x_i + b) >= 1 - xi_i,  xi_i >= 0
    maximise  sum_i alpha_i - |v|_q^r' / r'     where  v = sum_i alpha_i y_i x_i,  1/r + 1/r' = 1,
                                                0 <= alpha_i <= C s_i,  sum_i y_i alpha_i = 0

What a soft margin pays for w, |w|_p^r / r, is continuous in p; another power would give the same
hyperplanes, each at another price of slack:

    p = 1         |w|_1                the power that makes it a linear program
    1 < p <= 2    sum_j |w_j|^p / p    a sum over features
    p = 2         |w|_2^2 / 2          the support vector machine's
    2 <= p        |w|_p^q / q
    p = inf       |w|_inf              again a linear program

For r = 1 the dual's second term is the condition |v|_q <= 1. Without a threshold b there is no
condition on the sum. C = inf is the program of the chapter, (1.18)-(1.22), in the form of (1.19):
the smallest |w|_p among those that separate with y (w.x + b) >= 1 has the margin 1/|w|_p, which is
the distance to the nearest example in the q-norm. There, any alpha bounds the margin that any
hyperplane can have, by |v|_q / sum alpha: it is half of the distance of two points, one of each
class's convex hull.

Solvers propose (w, b) and alpha; what they are worth is computed here, from these and the data
alone: the primal objective of (w, b), the dual objective of the best multiple of alpha, which is a
lower bound of every primal objective, and the gap between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from largemargin.lp.exact_values import UNIT
from largemargin.lp.proof import LARGER
from largemargin.runtime.arrays import Matrix
from largemargin.svm.formulations import SLACK_ROUNDING, larger_side, relative_gap, slacks

NEAR = 4.0  # errors of an output by rounding within which it should be 1, if it is on the margin


@dataclass(frozen=True)
class Norm:
    """The p-norm, 1 <= p <= inf, and what goes with it."""

    p: float

    @property
    def q(self) -> float:
        """The conjugate exponent."""
        return conjugate(self.p)

    @property
    def power(self) -> float:
        """r, the power that its price has."""
        return min(self.p, self.q)

    def of(self, w: np.ndarray) -> float:
        return length(w, self.p)

    def dual_of(self, v: np.ndarray) -> float:
        """The conjugate norm, in which distances are measured where |w|_p is minimised."""
        return length(v, self.q)

    def price(self, size: float) -> float:
        """size^r / r for a norm of that size."""
        return power(size, self.power) / self.power

    def best_dual(self, total: float, size: float, most: float) -> float:
        """The largest value of  t total - |t v|^r' / r',  for 0 <= t <= most and |v|_q = size.

        It is the convex conjugate of the price along a ray; with r = 1 the second term is 0 up to
        |t v| = 1 and infinite beyond. The peak is at t = (total / size^r')^(r - 1).
        """
        r = self.power
        if total == 0 or size == 0:
            return total * most if total else 0.0
        # in terms of s = t size, so that powers of small numbers do not vanish
        slope = total / size
        s = min(1.0 if r == 1 else power(slope, r - 1), most * size)
        if r == 1:
            return slope * s
        r_dual = conjugate(r)
        return slope * s - power(s, r_dual) / r_dual


def power(base: float, exponent: float) -> float:
    """A power that may be infinite."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float64(base) ** exponent)


def conjugate(p: float) -> float:
    """q with 1/p + 1/q = 1.

    >>> conjugate(1.5), conjugate(1.0), conjugate(float("inf"))
    (3.0, inf, 1.0)
    """
    if p == 1:
        return np.inf
    return 1.0 if np.isinf(p) else p / (p - 1)


def length(v: np.ndarray, p: float) -> float:
    """The p-norm, without overflow or underflow of the powers.

    >>> length(np.array([3e-200, 4e-200]), 2)
    5e-200
    """
    largest = float(np.abs(v).max(initial=0.0))
    if largest == 0 or np.isinf(p):
        return largest
    return float(largest * (np.abs(v / largest) ** p).sum() ** (1 / p))


@dataclass(frozen=True)
class Program:
    """One problem of two sides: examples, their weights, the norm and the price of slack.

    Attributes
    ----------
    X : array or CSR matrix of shape (m, n)
    y : array of +1 and -1
    s : array of positive weights
    C : float
        May be inf.
    threshold : bool
        Whether there is a b.
    min_margin : float
        With C = inf, the margin below which data counts as not separable.
    """

    X: Matrix
    y: np.ndarray
    s: np.ndarray
    norm: Norm
    C: float
    threshold: bool
    min_margin: float

    @property
    def hard(self) -> bool:
        return bool(np.isinf(self.C))

    def outputs(self, w: np.ndarray, b: float) -> np.ndarray:
        """y (w.x + b) of every example."""
        return self.y * (np.asarray(self.X @ w) + b)

    def pull(self, alpha: np.ndarray) -> np.ndarray:
        """v, the sum of alpha_i y_i x_i."""
        return np.asarray(self.X.T @ (self.y * alpha))

    @cached_property
    def sizes(self) -> Any:
        """|x_ij|, which bounds of rounding errors are made of."""
        return abs(self.X)

    def output_errors(self, w: np.ndarray, b: float) -> np.ndarray:
        """What rounding can have changed the outputs by, at most."""
        terms = self.X.shape[1] + 4
        return np.asarray(terms * UNIT * (self.sizes @ np.abs(w) + abs(b)))

    def pull_errors(self, alpha: np.ndarray) -> np.ndarray:
        """What rounding can have changed v by, at most."""
        return np.asarray((len(self.y) + 4) * UNIT * (self.sizes.T @ alpha))


@dataclass(frozen=True)
class Proposal:
    """What a solver found: a hyperplane, Lagrange multipliers of the examples, the steps that it
    made, and what kept it from the solution, in words, if anything did. A solver that has shown in
    its own way that there is no margin says so in `separable`.
    """

    w: np.ndarray
    b: float
    alpha: np.ndarray
    n_steps: int
    trouble: str = ""
    separable: bool = True


@dataclass(frozen=True)
class Hyperplane:
    """A proposal and what it is worth.

    Attributes
    ----------
    objective : float
        The primal objective of (w, b).
    gap : float
        Its difference to the dual objective, relative to the larger of the two.
    margin : float
        The smallest y (w.x + b) / |w|_p.
    separable : bool
        False if alpha shows that no hyperplane has the least margin wanted.
    """

    w: np.ndarray
    b: float
    objective: float
    gap: float
    margin: float
    n_steps: int
    separable: bool
    trouble: str


def judge(program: Program, found: Proposal) -> Hyperplane:
    """What a proposal is worth, by the data alone."""
    alpha = feasible(program, found.alpha)
    total, size = float(alpha.sum()), program.norm.dual_of(program.pull(alpha))
    shown = total > 0 and size <= total * program.min_margin
    if program.hard and (shown or not found.separable):
        return _none(program, found)
    w, b = found.w, best_threshold(program, found.w, found.b)
    if program.hard:
        w, b = scaled(program, w, b)
        room = np.inf
    else:
        w, b = clear_of_rounding(program, w, b)
        used = alpha > 0
        room = (
            (program.C * program.s[used] / alpha[used]).min(initial=np.inf) if used.any() else 1.0
        )
    primal, upper = objective(program, w, b), upper_objective(program, w, b)
    dual = lower_bound(program, alpha, float(room), abs(b) + float(np.abs(program.X @ w).max()))
    gap = max(relative_gap(upper, dual), relative_gap(upper, primal)) if upper < np.inf else np.inf
    if primal == dual == 0:
        gap = 0.0
    return Hyperplane(
        w, b, primal, gap, margin(program, w, b), found.n_steps, True, found.trouble
    )  # fmt: skip


def upper_objective(program: Program, w: np.ndarray, b: float) -> float:
    """What the objective is at most, whatever rounding did."""
    outputs, error = program.outputs(w, b), program.output_errors(w, b)
    price = program.norm.price(program.norm.of(w)) * (1 + (len(w) + 8) * UNIT * program.norm.power)
    if program.hard:
        # the hyperplane that separates is this one, made as much larger as margins may be short
        short = float((1 - outputs + error).max())
        if not short < 0.5:
            return np.inf
        return price / power(1 - max(0.0, short), program.norm.power)
    loss = program.C * float(program.s @ np.maximum(1 - outputs + error, 0.0))
    return price + loss * (1 + (len(error) + 4) * UNIT)


def lower_bound(program: Program, alpha: np.ndarray, room: float, reach: float) -> float:
    """What no objective is below, by feasible multipliers. The sum of y alpha should be zero; what
    it is off by rounding counts times a threshold LARGER times as large as outputs are.
    """
    total = float(alpha.sum()) * (1 - len(alpha) * UNIT)
    if program.threshold:
        total -= (
            LARGER
            * (1 + reach)
            * (abs(float(program.y @ alpha)) + len(alpha) * UNIT * float(alpha.sum()))
        )
    v = np.abs(program.pull(alpha)) + program.pull_errors(alpha)
    size = program.norm.dual_of(v) * (1 + (len(v) + 8) * UNIT)
    return program.norm.best_dual(max(total, 0.0), size, room) * (1 - 16 * UNIT)


def clear_of_rounding(program: Program, w: np.ndarray, b: float) -> tuple[np.ndarray, float]:
    """The hyperplane, or a little more of it, where margins that should be 1 are short of it by
    rounding and their slack costs more than that.
    """
    outputs, error = program.outputs(w, b), program.output_errors(w, b)
    near = np.abs(1 - outputs) <= NEAR * error
    more = 1 + (NEAR + 1) * float(error[near].max(initial=0.0))
    better = upper_objective(program, more * w, more * b) < upper_objective(program, w, b)
    return (more * w, more * b) if better else (w, b)


def _none(program: Program, found: Proposal) -> Hyperplane:
    """Where there is no margin there is no direction: the larger side, always."""
    b = larger_side(program.y, program.s) if program.threshold else 0.0
    w = np.zeros(program.X.shape[1])
    return Hyperplane(w, b, np.inf, np.inf, -np.inf, found.n_steps, False, found.trouble)


def feasible(program: Program, alpha: np.ndarray) -> np.ndarray:
    """Multipliers within the bounds, the heavier side scaled down to the other."""
    alpha = np.clip(alpha, 0.0, program.C * program.s)
    if program.threshold:
        sums = {side: float(alpha[program.y == side].sum()) for side in (1.0, -1.0)}
        for side in sums:
            if sums[side] > sums[-side]:
                alpha[program.y == side] *= sums[-side] / sums[side]
    return alpha


def best_threshold(program: Program, w: np.ndarray, b: float) -> float:
    """The b that suits w best; of several, the one nearest to the b given.

    The sum of slacks in b is convex and made of lines, with a bend of s_i at y_i - w.x_i: its slope
    is minus the weight of the positive side to the left of all bends. The hard margin has the
    middle between the classes.
    """
    if not program.threshold:
        return 0.0
    f, positive = np.asarray(program.X @ w), program.y > 0
    if program.hard:
        return -float(f[positive].min() + f[~positive].max()) / 2
    bends = program.y - f
    order = np.argsort(bends, kind="stable")
    slopes = np.cumsum(program.s[order]) - program.s[positive].sum()
    rounding = SLACK_ROUNDING * program.s.sum()
    first = int(np.argmax(slopes >= -rounding))
    last = int(np.argmax(slopes > rounding))
    return float(np.clip(b, bends[order[first]], bends[order[last]]))


def scaled(program: Program, w: np.ndarray, b: float) -> tuple[np.ndarray, float]:
    """The same hyperplane with y (w.x + b) >= 1, if it separates."""
    least = float(program.outputs(w, b).min())
    return (w / least, b / least) if least > 0 else (w, b)


def objective(program: Program, w: np.ndarray, b: float) -> float:
    outputs = program.outputs(w, b)
    price = program.norm.price(program.norm.of(w))
    if program.hard:
        return np.inf if slacks(1.0, outputs).any() else price
    return price + program.C * float(program.s @ np.maximum(1.0 - outputs, 0.0))


def margin(program: Program, w: np.ndarray, b: float) -> float:
    """The smallest distance to the hyperplane in the conjugate norm, negative on the wrong side."""
    size = program.norm.of(w)
    return float(program.outputs(w, b).min()) / size if size > 0 else -np.inf
