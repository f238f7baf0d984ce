"""The central path of a dual problem with a box, followed with an explicit w.

    minimise 1/2 w.w + p.b,   w = X'b + w_0,   lo <= b <= hi,   sums A b = s - s_0

where w_0 and s_0 come from variables that are not moved. With the multipliers of the sums as
levels t, the reduced gradient r = X w + p + A't says at which end of its box a variable is: at lo
if r > 0, at hi if r < 0. The central path blurs that. At the **resolution** e the products of the
distances from the two ends and their multipliers zl, zu are e (hi - lo), which for a known r is
solved by

    b = lo + (hi - lo) g(r / e),   g(u) = 2 / (2 + u + sqrt(4 + u^2))

a step from 1 to 0 of the width of a few e. So any w and t, however they were found, give a point of
the path that violates nothing but w = X'b + w_0 and the sums, and a good w a good start for the
interior-point method. This is Mehrotra's predictor-corrector method; with Z = (X, A') and
D = zl/sl + zu/su its systems

    (Z' D^-1 Z + diag(1, 0)) (dw, dt) = ...

are as large as the features and the sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import cho_factor, cho_solve

from largemargin.svm.linear.rows import Band, DistantBand

INSIDE = 0.99  # the fraction of the way to the nearest bound that a step takes
RESIDUAL = 1e-3  # what may be left of w = X'b + w_0, relative to the largest entry of w
STEPS = 40  # systems solved at most
SMALLEST = 1e-300
LEAST_PIVOT = 1e-14  # of the system, relative to its diagonal


@dataclass(frozen=True)
class BoxProblem:
    """The variables that are moved: rows Z = (X, A'), the linear term and the box; and what the
    others add to w and to the sums, less what the sums have to be.
    """

    rows: Band | DistantBand
    p: np.ndarray
    lo: np.ndarray
    width: np.ndarray
    constant: np.ndarray
    d: int


@dataclass(frozen=True)
class CentralPoint:
    """A point of the path: (w, t), the resolution, the variables, and which are at an end."""

    v: np.ndarray
    resolution: float
    beta: np.ndarray
    at_lo: np.ndarray
    at_hi: np.ndarray
    n_steps: int
    system: np.ndarray  # the matrix of the last system solved


def central(r: np.ndarray, width: np.ndarray, blur: float) -> tuple[np.ndarray, np.ndarray]:
    """The distances of the variables from their two ends."""
    u = np.abs(r) / blur
    near = 2 * width / (u + 2 + np.sqrt(u * u + 4))
    far = width - near
    return np.where(r > 0, near, far), np.where(r > 0, far, near)


def follow(
    box: BoxProblem,
    v: np.ndarray,
    start: float,
    target: float,
    unit: float,
    stopped: Callable[[], object],
    exact: bool = False,
) -> CentralPoint:
    """The point of the path at the resolution `target`, or finer, from (w, t) at that of `start`.
    Resolutions are in units of `unit`. Raises LinAlgError where rounding does not let it get there.
    """
    h, d, rows = box.width, box.d, box.rows
    r = rows.times(v) + box.p
    sl, su = central(r, h, start * unit)
    zl, zu = start * unit * h / sl, start * unit * h / su
    total = 2 * unit * float(h.sum())
    residual = RESIDUAL * (1e-6 if exact else 1)
    n_steps, M = 0, np.eye(len(v))
    while True:
        left = rows.turned(box.lo + sl) + box.constant
        left[:d] -= v[:d]
        resolution = (float(zl @ sl) + float(zu @ su)) / total
        off = float(np.abs(left[:d]).max(initial=0.0)) / max(
            float(np.abs(v[:d]).max(initial=0.0)), SMALLEST
        )
        off = max(off, float(np.abs(left[d:]).max(initial=0.0)) / float(h.sum()))
        if not np.isfinite(resolution + off):
            raise LinAlgError("numbers left the range that can be computed with")
        if resolution <= target and off <= residual:
            break
        if n_steps == STEPS:
            if exact and resolution <= 1e3 * target:
                break
            raise LinAlgError("the central path is lost")
        if stopped():
            break
        n_steps += 1
        D = zl / sl + zu / su
        M = rows.normal(1 / D)
        diagonal = np.arange(len(M))
        M[diagonal[:d], diagonal[:d]] += 1.0
        M[diagonal, diagonal] *= 1 + LEAST_PIVOT
        factor = cho_factor(M, lower=True, check_finite=False)
        dual = r - zl + zu

        def direction(rl: np.ndarray, ru: np.ndarray) -> tuple[np.ndarray, ...]:
            right = rl / sl - ru / su - dual  # noqa: B023
            dv = cho_solve(factor, rows.turned(right / D) + left, check_finite=False)  # noqa: B023
            dr = rows.times(dv)
            db = (right - dr) / D  # noqa: B023
            return dv, dr, db, (rl - zl * db) / sl, (ru + zu * db) / su  # noqa: B023

        def longest(db: np.ndarray, dzl: np.ndarray, dzu: np.ndarray) -> float:
            falls = ((-db / sl).max(), (db / su).max(), (-dzl / zl).max(), (-dzu / zu).max())  # noqa: B023
            return 1 / max(float(max(falls)), INSIDE)

        _, _, db, dzl, dzu = direction(-zl * sl, -zu * su)
        step = min(1.0, longest(db, dzl, dzu))
        after = float((zl + step * dzl) @ (sl + step * db) + (zu + step * dzu) @ (su - step * db))
        # how far to centre, by Mehrotra's rule: the cube of what the first direction leaves
        centre = resolution * (max(after, 0.0) / total / resolution) ** 3
        if not exact:
            centre = max(centre, 0.3 * target)
        centre *= unit
        dv, dr, db, dzl, dzu = direction(
            centre * h - zl * sl - db * dzl, centre * h - zu * su + db * dzu
        )
        step = min(1.0, INSIDE * longest(db, dzl, dzu))
        v, r = v + step * dv, r + step * dr
        sl, su, zl, zu = sl + step * db, su - step * db, zl + step * dzl, zu + step * dzu
        sl, su = np.maximum(sl, SMALLEST), np.maximum(su, SMALLEST)
    at_lo, at_hi = sl / h < zl / unit, su / h < zu / unit
    return CentralPoint(v, resolution, box.lo + sl, at_lo & ~at_hi, at_hi & ~at_lo, n_steps, M)
