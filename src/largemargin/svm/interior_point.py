"""A block by the interior-point method, for when steps of two variables would never get there.

    minimise 1/2 x'Qx + c'x,   lo <= x <= hi,   sums of a x over each group kept

Steps of two variables slow down with the condition of Q: unscaled features or a large C can take
them millions. Here a few dozen linear systems always do (Mehrotra's predictor-corrector method),
each the price of a factorisation of the whole block.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from largemargin.svm.problem import Problem

ITERATIONS = 60
CLOSE = 1e-12  # of the complementarity products, relative to the objective
GOOD = 1e-8  # no need to try again
ACCEPTED = 1e-3  # what is further from optimal is no solution
TINY = 1e-300
INSIDE = 0.995  # of the way to the nearest bound


def solve_interior(
    problem: Problem,
    working: np.ndarray | slice,
    K: np.ndarray,
    grad: np.ndarray,
    beta: np.ndarray,
) -> np.ndarray | None:
    """The optimal values of the variables `working`, the others kept; None where it fails, as it
    may with a kernel that is not positive semi-definite.
    """
    lo, hi = problem.lo[working], problem.hi[working]
    at = beta[working].astype(float)
    moving = hi > lo
    Q = K[np.ix_(moving, moving)].astype(np.float64)
    Q[np.diag_indices(len(Q))] += problem.ridge[working][moving]
    x0 = at[moving]
    c = grad[working][moving] - Q @ x0
    lo, hi = lo[moving], hi[moving]
    A = np.zeros((0, len(x0)))
    if problem.threshold:
        group, a = problem.group[working][moving], problem.a[working][moving]
        A = np.array([a * (group == g) for g in np.unique(group)])
    scale = max(float(np.abs(c).max(initial=0.0)), float(np.abs(Q @ x0).max(initial=0.0)), TINY)
    best, least = None, ACCEPTED
    for far in (False, True):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found, left = _predictor_corrector(Q, c, A, A @ x0, lo, hi, scale, far)
        if found is not None and left < least:
            best, least = found, left
        if least < GOOD:
            break
    if best is None:
        return None
    at[moving] = best
    return at


def _predictor_corrector(
    Q: np.ndarray,
    c: np.ndarray,
    A: np.ndarray,
    b: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    scale: float,
    far: bool,
) -> tuple[np.ndarray | None, float]:
    """The solution and how far from optimal it is, gradients being of the size `scale`. `far`
    starts with bounds that are far off as dear as near ones: slower, and safer where many variables
    end at them.
    """
    below, above = np.isfinite(lo), np.isfinite(hi)
    n = len(c)
    if not n:
        return c, 0.0
    width = np.where(below & above, hi - lo, np.inf)
    largest = float(np.diagonal(Q).max(initial=0.0)) or 1.0
    reach = np.minimum(width / 2, scale / largest)
    x = np.clip(0.0, np.where(below, lo + reach, -np.inf), np.where(above, hi - reach, np.inf))
    y = np.zeros(len(A))
    zl, zu = np.where(below, scale, 0.0), np.where(above, scale, 0.0)
    if not far:  # all products of a slack and its price alike
        balance = scale * float(reach.min())
        zl = np.where(below, balance / np.where(below, x - lo, 1.0), 0.0)
        zu = np.where(above, balance / np.where(above, hi - x, 1.0), 0.0)
    count = max(1, int(below.sum() + above.sum()))
    best, least, worse = None, np.inf, 0
    for _ in range(ITERATIONS):
        sl = np.where(below, np.maximum(x - lo, TINY), 1.0)
        su = np.where(above, np.maximum(hi - x, TINY), 1.0)
        slope = Q @ x
        dual = slope + c - A.T @ y - zl + zu
        primal = A @ x - b
        mu = float(zl @ sl + zu @ su) / count
        size = abs(float(x @ slope)) + abs(float(c @ x)) + np.finfo(float).tiny
        left = mu * count / size + float(np.abs(dual).max()) / scale
        left += float(np.abs(primal).max(initial=0.0)) / (float(np.abs(x).max()) or 1.0)
        if left < least:
            best, least, worse = (x.copy(), zl.copy(), zu.copy(), sl.copy(), su.copy()), left, 0
        elif least < 1:
            worse += 1
        if left < CLOSE or worse > 3 or mu * count < 1e-22 * size:
            break
        theta = zl / sl + zu / su
        if not np.isfinite(theta).all():
            break
        try:
            factor = cho_factor(
                Q + np.diag(theta + 1e-14 * largest), lower=True, check_finite=False
            )
        except (LinAlgError, ValueError):
            break
        weighed = cho_solve(factor, A.T, check_finite=False) if len(A) else np.zeros((n, 0))

        def direction(rl: np.ndarray, ru: np.ndarray) -> tuple[np.ndarray, ...]:
            right = -dual + rl / sl - ru / su  # noqa: B023
            dx = cho_solve(factor, right, check_finite=False)  # noqa: B023
            dy = np.zeros(len(A))
            if len(A):
                dy = np.linalg.pinv(A @ weighed) @ (-primal - A @ dx)  # noqa: B023
                dx = dx + weighed @ dy  # noqa: B023
            return dx, dy, (rl - zl * dx) / sl, (ru + zu * dx) / su  # noqa: B023

        if not np.isfinite(weighed).all():
            break
        dx, dy, dzl, dzu = direction(-zl * sl, -zu * su)
        step = _longest(sl, su, zl, zu, dx, dzl, dzu, below, above)
        after = (zl + step * dzl) @ (sl + step * dx * below) + (zu + step * dzu) @ (
            su - step * dx * above
        )
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
        return None, np.inf
    x, zl, zu, sl, su = best
    unit = np.abs(x).max() / scale or 1.0  # a variable at its bound is nearer to it than its price
    x = np.where(below & (sl < unit * zl), lo, x)
    return np.where(above & (su < unit * zu), hi, x), least


def _longest(
    sl: np.ndarray, su: np.ndarray, zl: np.ndarray, zu: np.ndarray, dx: np.ndarray,
    dzl: np.ndarray, dzu: np.ndarray, below: np.ndarray, above: np.ndarray,
) -> float:  # fmt: skip
    """How far one can go, up to 1 / INSIDE, before a slack or a price is negative."""
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
