"""The active set method for the square of the sum of slacks, with the box delta as a variable.

With signed variables b_i = y_i alpha_i, F free, B at the bound s_i delta and the others zero, b is
b_F + u delta, where u_i = y_i s_i on B, and the dual is a quadratic of (b_F, delta):

    minimise  1/2 b'Kb - y'b + delta^2/(4 C),   sum b = 0 with a threshold t

    K_FF b_F +  K_Fu delta             = y_F - t
    K_uF b_F + (u'Ku + 1/(2C)) delta   = u'y - t sum u

The slacks of F are not in it, where they would be nothing but rounding. As in `active_set`,
variables that leave the box by the solution are put at their bounds and those at a wrong bound are
set free, until there are none; where that turns in circles, steps go as far as the box allows, with
one change at a time, and the dual objective only rises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from largemargin.svm.active_set import MOST_FREE, STEP_OVERHEAD, positive_solve

GUESSES = 25  # sets of free variables that are tried
STEADY = 2  # solutions for the same sets: the second takes off what rounding left of the first
WRONG = 1e-11  # the violation, relative to the outputs, that sets a variable at a bound free
AGREED = 1e-9  # the distance of a free variable's output from the margin, relative to the outputs
# The ridge, relative to the diagonal, that picks one solution where there are many and gives a
# direction out of the box where there is none
NEARNESS = 1e-11
STEP_WORK = 4e7  # multiplications that steps may cost: another delta is found for less
BOUND_ROUNDING = 1e-12  # a variable within this fraction of the box is at its bound
BOX_EXCESS = 1e-9  # how far a feasible variable may be beyond a bound, relative to the box
SUM_EXCESS = 1e-10  # how far the sum may be from zero, relative to the sum of all sizes
LEAST_UNIT = 1e-4  # the least unit of WRONG, which makes it 1e-15: the rounding of labels


@dataclass(frozen=True)
class Iterate:
    """Variables, the delta of their box and their outputs without the threshold.

    `gram(F)` gives the kernel values among the variables F, `products(F, d)` those of all variables
    against F, multiplied by d.
    """

    y: np.ndarray
    s: np.ndarray
    C: float
    threshold: bool
    beta: np.ndarray
    delta: float
    outputs: np.ndarray
    gram: Callable[[np.ndarray], np.ndarray]
    products: Callable[[np.ndarray, np.ndarray], np.ndarray]

    @property
    def alpha(self) -> np.ndarray:
        return np.asarray(self.y * self.beta)

    def with_alpha(self, alpha: np.ndarray) -> Iterate:
        """Outputs are made afresh, so that steps that went far leave no rounding in them."""
        beta = self.y * alpha
        used = np.flatnonzero(beta)
        return replace(self, beta=beta, outputs=self.products(used, beta[used]))


@dataclass(frozen=True)
class _Sets:
    """For each variable whether it is free and whether it is at the shared bound."""

    free: np.ndarray
    bound: np.ndarray

    def same_as(self, other: _Sets) -> bool:
        return np.array_equal(self.free, other.free) and np.array_equal(self.bound, other.bound)

    def solvable(self) -> bool:
        return bool(self.bound.any()) and self.free.sum() <= MOST_FREE


def solve_exactly(
    point: Iterate, stopped: Callable[[], object] = lambda: ""
) -> tuple[Iterate, bool]:
    """The optimum, and whether it is one; if not, or if it is stopped on the way, a point that is
    no worse than the given one.
    """
    if not point.delta > 0:
        return point, False
    found = _guess(point, stopped)
    if found is not None and _is_feasible(found):
        return found, True
    walked, done = _active_set_steps(point, stopped)
    return (walked, done) if _is_feasible(walked) else (point, False)


def _is_feasible(point: Iterate) -> bool:
    """Whether all variables are in the box and the sum is kept."""
    near = BOX_EXCESS * point.delta * point.s
    if (point.alpha < -near).any() or (point.alpha > point.delta * point.s + near).any():
        return False
    off = abs(point.beta.sum())
    return not point.threshold or bool(off <= SUM_EXCESS * np.abs(point.beta).sum())


def _guess(point: Iterate, stopped: Callable[[], object]) -> Iterate | None:
    """The primal-dual active set method; None if it does not end."""
    sets, steady = _sets_of(point), 0
    for _ in range(GUESSES):
        if not sets.solvable() or stopped():
            return None
        point = point.with_alpha(_at_ends(point, sets))
        step, rise, along = _direction(point, sets)
        point = _moved(point, sets, step, rise, along, 1.0)
        if not (np.isfinite(point.delta) and point.delta > 0):
            return None
        before, sets = sets, _corrected(point, sets)
        steady = steady + 1 if sets.same_as(before) else 0
        if steady >= STEADY and _agree(point, sets):
            return point
    return None


def _active_set_steps(point: Iterate, stopped: Callable[[], object]) -> tuple[Iterate, bool]:
    """The classical active set method: one variable changes its set at a time."""
    sets, spent = _sets_of(point), 0.0
    if not sets.solvable() or stopped():
        return point, False
    point = point.with_alpha(_at_ends(point, sets))
    while spent < STEP_WORK and sets.solvable() and not stopped():
        spent += float(sets.free.sum()) ** 3 + STEP_OVERHEAD
        step, rise, along = _direction(point, sets)
        part, first = _reach(point, sets, step, rise)
        moved = _moved(point, sets, step, rise, along, part)
        if not (np.isfinite(moved.delta) and moved.delta > 0):
            return point, False
        point = moved
        if first is None:
            wrong = _wrong(point, sets)
            worst = int(np.argmax(wrong))
            if wrong[worst] <= 0:
                if _agree(point, sets):
                    return point, True
                continue
            sets = _completed(point, _changed(sets, worst, free=True, bound=False))
        else:
            up = step[first] * point.y[first] > 0
            sets = _completed(point, _changed(sets, first, free=False, bound=bool(up)))
            point = point.with_alpha(_at_ends(point, sets))
    return point, False


def _changed(sets: _Sets, variable: int, *, free: bool, bound: bool) -> _Sets:
    sets = _Sets(sets.free.copy(), sets.bound.copy())
    sets.free[variable], sets.bound[variable] = free, bound
    return sets


def _sets_of(point: Iterate) -> _Sets:
    box = point.s * point.delta
    bound = (point.s > 0) & (point.alpha >= (1 - BOUND_ROUNDING) * box)
    free = (point.alpha > BOUND_ROUNDING * box) & ~bound
    return _completed(point, _Sets(free, bound))


def _completed(point: Iterate, sets: _Sets) -> _Sets:
    """The sets with at least one variable at the bound, and free ones to make up for the sum."""
    free, bound = sets.free.copy(), sets.bound.copy()
    if not bound.any() and free.any():
        share = np.where(free, point.alpha / np.where(free, point.s, 1.0), -np.inf)
        first = int(np.argmax(share))
        free[first], bound[first] = False, True
    u = point.y * point.s * bound
    if point.threshold and not free.any() and abs(u.sum()) > BOUND_ROUNDING * np.abs(u).sum():
        value, rises, falls = _sides(point, sets)
        for who in (np.where(rises, value, -np.inf), np.where(falls, -value, -np.inf)):
            joins = int(np.argmax(who))
            if np.isfinite(who[joins]) and (bound.sum() > 1 or not bound[joins]):
                free[joins], bound[joins] = True, False
    return _Sets(free, bound)


def _at_ends(point: Iterate, sets: _Sets) -> np.ndarray:
    alpha = np.where(sets.bound, point.s * point.delta, point.alpha)
    return np.where(sets.free | sets.bound, alpha, 0.0)


def _direction(point: Iterate, sets: _Sets) -> tuple[np.ndarray, float, np.ndarray]:
    """The steps of b and of delta to the optimum of the sets, and K u."""
    F, B = np.flatnonzero(sets.free), np.flatnonzero(sets.bound)
    n, u = len(F), point.y[B] * point.s[B]
    along = point.products(B, u)
    H = np.empty((n + 1, n + 1))
    H[:n, :n] = point.gram(F) if n else 0.0
    H[n, n] = u @ along[B] + 1 / (2 * point.C)
    # delta is scaled so that its diagonal entry is like the others'
    largest = float(np.diagonal(H)[:n].max(initial=0.0))
    unit = np.sqrt(largest / H[n, n]) if largest > 0 and H[n, n] > 0 else 1.0
    H[n, :n] = H[:n, n] = unit * along[F]
    H[n, n] *= unit**2
    H[np.diag_indices(n + 1)] += NEARNESS * float(np.diagonal(H).max())
    lack = point.outputs - point.y
    right = -np.append(lack[F], unit * (u @ lack[B] + point.delta / (2 * point.C)))
    x = np.zeros(n + 1)
    if point.threshold and n:
        # the first free variable makes up for the others
        e = np.append(np.ones(n), unit * u.sum())
        x[0] = -point.beta.sum()
        right -= x[0] * H[:, 0]
        right = (right - right[0] * e)[1:]
        R = np.outer(e, H[0])
        rest = positive_solve((H - R - R.T + H[0, 0] * np.outer(e, e))[1:, 1:], right)[0]
        x[1:] += rest
        x[0] -= e[1:] @ rest
    else:
        x = positive_solve(H, right)[0]
    rise = float(unit * x[n])
    step = np.zeros(len(point.y))
    step[F] = x[:n]
    step[B] = u * rise
    return step, rise, along


def _moved(
    point: Iterate,
    sets: _Sets,
    step: np.ndarray,
    rise: float,
    along: np.ndarray,
    part: float,
) -> Iterate:
    F = np.flatnonzero(sets.free)
    outputs = point.outputs + part * rise * along
    if len(F):
        outputs = outputs + point.products(F, part * step[F])
    delta = point.delta + part * rise
    beta = np.where(sets.bound, point.y * point.s * delta, point.beta + part * step)
    return replace(point, beta=beta, delta=delta, outputs=outputs)


def _reach(
    point: Iterate, sets: _Sets, step: np.ndarray, rise: float
) -> tuple[float, int | None]:  # fmt: skip
    """The part of a step that stays in the box, and the variable that reaches a bound then."""
    F = np.flatnonzero(sets.free)
    if not len(F):
        return 1.0, None
    alpha, change = point.alpha[F], (point.y * step)[F]
    room = np.maximum(point.s[F] * point.delta - alpha, 0.0)
    closing = change - point.s[F] * rise
    with np.errstate(divide="ignore", invalid="ignore"):
        down = np.where(change < 0, np.maximum(alpha, 0.0) / -change, np.inf)
        up = np.where(closing > 0, room / closing, np.inf)
    first = int(np.argmin(np.minimum(down, up)))
    part = min(float(down[first]), float(up[first]))
    return (1.0, None) if part >= 1 else (part, int(F[first]))


def _sides(point: Iterate, sets: _Sets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values of all variables, and the sets I_up and I_low."""
    used, positive = point.s > 0, point.y > 0
    rises = used & np.where(positive, ~sets.bound, sets.free | sets.bound)
    falls = used & np.where(positive, sets.free | sets.bound, ~sets.bound)
    return point.y - point.outputs, rises, falls


def _level(point: Iterate, sets: _Sets) -> float:
    """The threshold."""
    if not point.threshold:
        return 0.0
    value, rises, falls = _sides(point, sets)
    if sets.free.any():
        return float(value[sets.free].mean())
    ends = [value[rises].max(initial=-np.inf), value[falls].min(initial=np.inf)]
    known = [end for end in ends if np.isfinite(end)]
    return float(np.mean(known)) if known else 0.0


def _rounding(point: Iterate) -> float:
    """The unit of rounding errors in outputs, which are added to labels of size 1."""
    return float(np.abs(point.outputs).max()) + LEAST_UNIT


def _agree(point: Iterate, sets: _Sets) -> bool:
    """Whether the free variables are at the margin and the sum is kept."""
    off = np.abs(point.y - point.outputs - _level(point, sets))[sets.free]
    drift = abs(float(point.beta.sum())) if point.threshold else 0.0
    return bool(
        off.max(initial=0.0) <= AGREED * _rounding(point)
        and drift <= AGREED * float(np.abs(point.beta).max())
    )


def _wrong(point: Iterate, sets: _Sets) -> np.ndarray:
    """The violation of each variable at a bound; not positive where the bound is right."""
    excess = point.y * (point.outputs + _level(point, sets)) - 1
    wrong = np.where(sets.bound, excess, -excess)
    wrong[sets.free | (point.s == 0)] = -np.inf
    if sets.bound.sum() == 1:
        wrong[sets.bound] = -np.inf  # the only one at the bound, which defines delta
    return wrong - WRONG * _rounding(point)


def _corrected(point: Iterate, sets: _Sets) -> _Sets:
    wrong = _wrong(point, sets) > 0
    alpha, box = point.alpha, point.s * point.delta
    over, under = sets.free & (alpha > box), sets.free & (alpha < 0)
    free = (sets.free & ~over & ~under) | wrong
    return _completed(point, _Sets(free, (sets.bound & ~wrong) | over))
