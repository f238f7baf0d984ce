"""The linear machine of squared hinge loss with the sum of absolute weights, `penalty="l1"`.

    minimise   P(w) = sum_j |w_j| + sum_i c_i xi_i^2,      xi_i = max(0, 1 - y_i w.x_i)
    dual       D(a) = sum_i a_i - sum_i a_i^2 / (4 c_i),   |sum_i a_i y_i x_ij| <= 1,   a >= 0

The threshold, if there is one, is a column of X like the others. A pass of coordinate descent finds
which weights are zero, and is slow to find the others exactly; Newton steps for these, among
vectors of the same signs, do that. One follows the other until the duality gap is at most tol P(w).
The multipliers of the gap are 2 c_i xi_i, made as small as the constraints of the dual ask for.

Yuan, G.-X., Chang, K.-W., Hsieh, C.-J. and Lin, C.-J. (2010). A comparison of optimization methods
and software for large-scale L1-regularized linear classification. JMLR 11, 3183-3234.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from largemargin.dropin.newton import LinearProblem, Weights, best_length
from largemargin.runtime.arrays import Matrix

FREE = 1024  # weights other than zero up to which a Newton step is tried
NEWTON_STEPS = 50  # between two passes at most
SMALL_GRADIENT = 1e-9  # beside 1, the slope of a weight's absolute value
RIDGE = 1e-12  # relative to the diagonal: columns may depend on each other
STALLED = 5  # passes without progress after which only rounding is left
ROUNDING = 1e-15  # progress of P, relative to it, that is none


def by_columns(X: Matrix) -> sp.csc_array:
    """The matrix as coordinate descent reads it."""
    return sp.csc_array(X, dtype=np.float64)


def solve_absolute_norm(
    problem: LinearProblem, columns: sp.csc_array, tol: float, max_iter: int
) -> Weights:
    """Coordinate descent and Newton steps until the relative duality gap is at most tol."""
    from largemargin.dropin.absolute_norm_loops import descend

    signs, costs = problem.signs, problem.costs
    parts = columns.data, columns.indices, columns.indptr
    w, slack, stalled = np.zeros(columns.shape[1]), np.ones(len(signs)), 0
    before = objective(w, slack, costs)
    for n_iter in range(1, max_iter + 1):
        if duality_gap(problem, w, slack) <= tol * before or stalled > STALLED:
            return Weights(w, n_iter)
        descend(*parts, signs, costs, w, slack)
        slack = 1 - problem.margins(w)  # afresh: many steps add up rounding errors
        w, slack = _newton(problem, w, slack)
        after = objective(w, slack, costs)
        stalled = 0 if after < before - ROUNDING * abs(before) else stalled + 1
        before = after
    return Weights(w, max_iter)


def objective(w: np.ndarray, slack: np.ndarray, costs: np.ndarray) -> float:
    """P, from slacks that may be negative."""
    return float(np.abs(w).sum() + costs @ np.maximum(0.0, slack) ** 2)


def duality_gap(problem: LinearProblem, w: np.ndarray, slack: np.ndarray) -> float:
    """P(w) less the best D of a multiple of the multipliers 2 c_i xi_i."""
    xi = np.maximum(0.0, slack)
    loss = float(problem.costs @ xi**2)
    multipliers = 2 * problem.costs * xi
    total, largest = float(multipliers.sum()), float(np.abs(problem.pull(multipliers)).max())
    if not loss:
        return float(np.abs(w).sum())
    factor = total / (2 * loss)  # of t total - t^2 loss, where it is largest
    if largest * factor > 1:
        factor = 1 / largest
    return float(np.abs(w).sum() + loss - factor * total + factor**2 * loss)


def _newton(
    problem: LinearProblem, w: np.ndarray, slack: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Newton steps towards the minimum of P among weights with the zeros and signs of w. A step is
    as long as P falls, and no longer than to the first weight that comes to zero, where it stays.
    """
    for _ in range(NEWTON_STEPS):
        free, active = np.flatnonzero(w), np.flatnonzero(slack > 0)
        if not 0 < len(free) <= FREE or not len(active):
            break
        rows: Any = problem.X[active][:, free]
        rows = np.asarray(rows.toarray() if sp.issparse(rows) else rows)
        doubled = 2 * problem.costs[active]
        signs = np.sign(w[free])
        gradient = signs - rows.T @ (problem.signs[active] * doubled * slack[active])
        if np.abs(gradient).max() <= SMALL_GRADIENT:
            break
        hessian = rows.T @ (rows * doubled[:, None])
        hessian[np.diag_indices(len(free))] += RIDGE * np.trace(hessian) / len(free)
        step = np.zeros_like(w)
        step[free] = -cho_solve(cho_factor(hessian), gradient)
        with np.errstate(divide="ignore"):
            limits = np.where(signs * step[free] < 0, -w[free] / step[free], np.inf)
        first = int(np.argmin(limits))
        slopes = problem.margins(step)
        length = best_length(float(signs @ step[free]), 0.0, 1 - slack, slopes, problem.costs)
        moved = w + min(length, float(limits[first])) * step
        if length >= limits[first]:
            moved[free[first]] = 0.0
        left = 1 - problem.margins(moved)
        if not objective(moved, left, problem.costs) < objective(w, slack, problem.costs):
            break
        w, slack = moved, left
    return w, slack
