"""The interior-point method for a block on which SMO would take too many steps.

    minimise 1/2 x'Qx + c'x,   lo <= x <= hi,   sums Ax kept

SMO and other steps of a few variables slow down with the condition of Q: unscaled features or a
large C can mean millions of them. Here a few dozen linear systems always suffice (Mehrotra's
predictor-corrector method). Only a `System` knows the form of Q, and solves

    (Q + diag(theta)) dx - A'dy = right,   A dx = short

at the price of one factorisation of the whole block (`Dense`), of one the size of the features
(`few_features.Factored`) or of the rank of K (`low_rank`), or of one per class
(`crammer_singer.Simplices`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from largemargin.svm.problem import Problem

ITERATIONS = 60  # systems solved at most, from one start
CLOSE = 1e-12  # a relative distance from optimality at which the method ends
GOOD = 1e-8  # one that needs no other start
ACCEPTED = 1e-3  # one beyond which a point is no solution
TINY = 1e-300  # the least distance from a bound
INSIDE = 0.995  # the fraction of the way to the nearest bound that a step takes
RIDGE = 1e-14  # what is added to the diagonal of Q, relative to its largest value
STALLED_SYSTEMS = 3  # systems solved that lead no closer and are tolerated
# The sum of the products of slacks and multipliers, relative to the objective, that is rounding
LEAST_COMPLEMENTARITY = 1e-22

Solver = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class System(Protocol):
    """The matrix Q, its diagonal and the largest value of that, and the sums A that are kept."""

    diagonal: np.ndarray
    largest: float

    def times(self, x: np.ndarray) -> np.ndarray:
        """Q x"""

    def sums(self, x: np.ndarray) -> np.ndarray:
        """A x"""

    def spread(self, y: np.ndarray) -> np.ndarray:
        """A'y"""

    def factor(self, theta: np.ndarray) -> Solver:
        """What gives dx and dy for (right, short); raises LinAlgError for a singular system."""


class Dense:
    """Q as a matrix, and few sums, one row of A each."""

    def __init__(self, Q: np.ndarray, A: np.ndarray) -> None:
        self.Q, self.A = Q, A
        self.diagonal = np.diagonal(Q)
        self.largest = float(self.diagonal.max(initial=0.0)) or 1.0

    def times(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.Q @ x)

    def sums(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.A @ x)

    def spread(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(self.A.T @ y)

    def factor(self, theta: np.ndarray) -> Solver:
        factor = cho_factor(
            self.Q + np.diag(theta + RIDGE * self.largest), lower=True, check_finite=False
        )
        return with_sums(lambda right: cho_solve(factor, right, check_finite=False), self.A)


def with_sums(solve: Callable[[np.ndarray], np.ndarray], A: np.ndarray) -> Solver:
    """The solver of a system with few sums, from one for H dx = right that takes columns."""
    weighed = solve(A.T) if len(A) else np.zeros(A.T.shape)
    if not np.isfinite(weighed).all():
        raise LinAlgError("the system is singular")
    inverse = np.linalg.pinv(A @ weighed)

    def direction(right: np.ndarray, short: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dx = solve(right)
        if not len(A):
            return dx, np.zeros(0)
        dy = inverse @ (short - A @ dx)
        return dx + weighed @ dy, dy

    return direction


def solve_interior(
    problem: Problem,
    working: np.ndarray | slice,
    K: np.ndarray,
    grad: np.ndarray,
    beta: np.ndarray,
    system_of: Callable[[np.ndarray, np.ndarray, np.ndarray], System],
    stopped: Callable[[], object] = lambda: "",
) -> np.ndarray | None:
    """The optimal values of the variables `working`, the others kept; None where it fails, as it
    may with a kernel that is not positive semi-definite, or where it is stopped. `system_of` makes
    a system of kernel values, what is added to their diagonal, and A.
    """
    lo, hi = problem.lo[working], problem.hi[working]
    at = beta[working].astype(float)
    moving = hi > lo
    ridge, A = problem.ridge[working][moving], np.zeros((0, np.count_nonzero(moving)))
    if problem.threshold:
        A = sum_rows(problem.a[working][moving], problem.group[working][moving])
    system = system_of(K if moving.all() else K[np.ix_(moving, moving)], ridge, A)
    x0 = at[moving]
    c = grad[working][moving] - system.times(x0)
    inner = minimise(system, c, x0, lo[moving], hi[moving], stopped=stopped)
    if inner.x is None or inner.left >= ACCEPTED:
        return None
    at[moving] = inner.x
    return at


def sum_rows(a: np.ndarray, group: np.ndarray) -> np.ndarray:
    """A, one row per group that has a variable."""
    return np.array([a * (group == g) for g in np.unique(group)])


@dataclass(frozen=True)
class InteriorResult:
    """The point that the method found, its distance from optimality (relative to the objective, the
    gradients and the variables), and the number of systems solved.
    """

    x: np.ndarray | None
    left: float
    n_solved: int


def minimise(
    system: System,
    c: np.ndarray,
    x0: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    middle: np.ndarray | None = None,
    stopped: Callable[[], object] = lambda: "",
    nothing: float = 0.0,
) -> InteriorResult:
    """The optimum, with the sums of x0. `middle` is a point well within the bounds. The method ends
    where x'Qx is less than `nothing`, since that is all that is asked.

    Up to three starts are tried until one leads to the optimum: the middle, if that is given, which
    is best for variables that end far away; near zero, with products of a slack and its multiplier
    that are all alike; and the same with equal multipliers for near and far bounds, which is slower
    and safer where many variables end at them.
    """
    if not len(x0):
        return InteriorResult(x0, 0.0, 0)
    b = system.sums(x0)
    scale = max(float(np.abs(c).max()), float(np.abs(system.times(x0)).max()), TINY)
    best = InteriorResult(None, np.inf, 0)
    for start in _starts(system, c, lo, hi, scale, middle):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            found = _predictor_corrector(system, c, b, lo, hi, scale, start, stopped, nothing)
        best = replace(
            found if found.left < best.left else best, n_solved=best.n_solved + found.n_solved
        )
        if best.left < GOOD or stopped():
            break
    return best


Start = tuple[np.ndarray, np.ndarray, np.ndarray]


def _starts(
    system: System, c: np.ndarray, lo: np.ndarray, hi: np.ndarray, scale: float,
    middle: np.ndarray | None,
) -> Iterator[Start]:  # fmt: skip
    """Points within the bounds and Lagrange multipliers of the bounds."""
    below, above = np.isfinite(lo), np.isfinite(hi)
    if middle is not None:
        price = float(np.abs(system.times(middle) + c).max())
        yield middle, np.where(below, price, 0.0), np.where(above, price, 0.0)
    width = np.where(below & above, hi - lo, np.inf)
    reach = np.minimum(width / 2, scale / system.largest)
    x = np.clip(0.0, np.where(below, lo + reach, -np.inf), np.where(above, hi - reach, np.inf))
    balance = scale * float(reach.min())
    yield (
        x,
        np.where(below, balance / np.where(below, x - lo, 1.0), 0.0),
        np.where(above, balance / np.where(above, hi - x, 1.0), 0.0),
    )
    yield x, np.where(below, scale, 0.0), np.where(above, scale, 0.0)


def _predictor_corrector(
    system: System,
    c: np.ndarray,
    b: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    scale: float,
    start: Start,
    stopped: Callable[[], object],
    nothing: float,
) -> InteriorResult:
    """From one start, gradients being of the size `scale`."""
    below, above = np.isfinite(lo), np.isfinite(hi)
    x, zl, zu = start
    y = np.zeros(len(b))
    count = max(1, int(below.sum() + above.sum()))
    best, least, worse, n_solved = None, np.inf, 0, 0
    while n_solved < ITERATIONS:
        sl = np.where(below, np.maximum(x - lo, TINY), 1.0)
        su = np.where(above, np.maximum(hi - x, TINY), 1.0)
        slope = system.times(x)
        dual = slope + c - system.spread(y) - zl + zu
        primal = system.sums(x) - b
        mu = float(zl @ sl + zu @ su) / count
        size = abs(float(x @ slope)) + abs(float(c @ x)) + np.finfo(float).tiny
        left = mu * count / size + float(np.abs(dual).max()) / scale
        short = float(np.abs(primal).max(initial=0.0)) / (float(np.abs(x).max()) or 1.0)
        if 0 < nothing > float(x @ slope) and short < GOOD:
            return InteriorResult(x, 0.0, n_solved)
        left += short
        if left < least:
            best, least, worse = (x.copy(), zl.copy(), zu.copy(), sl.copy(), su.copy()), left, 0
        elif least < 1:
            worse += 1
        if left < CLOSE or worse > STALLED_SYSTEMS:
            break
        if mu * count < LEAST_COMPLEMENTARITY * size or stopped():
            break
        theta = zl / sl + zu / su
        if not np.isfinite(theta).all():
            break
        try:
            solve = system.factor(theta)
            n_solved += 1
        except (LinAlgError, ValueError):
            break

        def direction(rl: np.ndarray, ru: np.ndarray) -> tuple[np.ndarray, ...]:
            dx, dy = solve(-dual + rl / sl - ru / su, -primal)  # noqa: B023
            return dx, dy, (rl - zl * dx) / sl, (ru + zu * dx) / su  # noqa: B023

        dx, dy, dzl, dzu = direction(-zl * sl, -zu * su)
        step = _longest(sl, su, zl, zu, dx, dzl, dzu, below, above)
        after = (zl + step * dzl) @ (sl + step * dx * below) + (zu + step * dzu) @ (
            su - step * dx * above
        )
        # how far to centre, by Mehrotra's rule: the cube of what the first direction leaves of mu
        centre = mu * (max(float(after), 0.0) / count / mu) ** 3 if mu > 0 else 0.0
        dx, dy, dzl, dzu = direction(
            np.where(below, centre - zl * sl - dx * dzl, 0.0),
            np.where(above, centre - zu * su + dx * dzu, 0.0),
        )
        if not np.isfinite(dx).all():
            break
        step = min(1.0, INSIDE * _longest(sl, su, zl, zu, dx, dzl, dzu, below, above))
        x, y = x + step * dx, y + step * dy
        zl, zu = zl + step * dzl, zu + step * dzu
    if best is None:
        return InteriorResult(None, np.inf, n_solved)
    x, zl, zu, sl, su = best
    # a variable counts as at its bound if it is nearer to it than the bound's multiplier, in units
    # of the variables and of what they do to the gradient
    unit = np.abs(x).max() / scale or 1.0
    unit = np.minimum(unit, 1 / np.maximum(system.diagonal, RIDGE * system.largest))
    x = np.where(below & (sl < unit * zl), lo, x)
    return InteriorResult(np.where(above & (su < unit * zu), hi, x), least, n_solved)


def _longest(
    sl: np.ndarray, su: np.ndarray, zl: np.ndarray, zu: np.ndarray, dx: np.ndarray,
    dzl: np.ndarray, dzu: np.ndarray, below: np.ndarray, above: np.ndarray,
) -> float:  # fmt: skip
    """The longest step, up to 1 / INSIDE, before a slack or a multiplier is negative."""
    most = 1 / INSIDE
    for value, change, there in (
        (sl, dx, below),
        (su, -dx, above),
        (zl, dzl, below),
        (zu, dzu, above),
    ):
        falling = there & (change < 0)
        if falling.any():
            most = min(most, float((value[falling] / -change[falling]).min()))
    return most
