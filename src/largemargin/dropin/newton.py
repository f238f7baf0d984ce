"""The linear machine of squared hinge loss with a squared norm, by Newton's method.

    minimise   P(w) = 1/2 w.w + sum_i c_i xi_i^2,      xi_i = max(0, 1 - y_i w.x_i)
    dual       D(a) = sum_i a_i - 1/2 |v|^2 - sum_i a_i^2 / (4 c_i),  v = sum_i a_i y_i x_i,  a >= 0

The threshold, if there is one, is a column of X like the others. P is a quadratic function as long
as the same rows have slack: these are the active rows. A Newton step goes to the minimum of that
function, or as far towards it as P falls, which is found exactly since P is a quadratic spline
along a line. With the right active rows a step ends in the solution, so that a few steps are
enough.

Of w, with g the gradient, the multipliers a_i = 2 c_i xi_i make v = w - g and
P(w) - D(a) = |g|^2 / 2. P is at least as curved as 1/2 w.w, so |w - w*| <= |g|: to stop at
|g| <= tol |w| means that w is right to the fraction tol of its length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from largemargin.runtime.arrays import Matrix

DIRECT = 1024  # unknowns up to which a system is factorised
SEARCH_STEPS = 60  # of the line search, each of which halves an interval at least
ROUNDING = 1e-14  # a fall of P by a smaller fraction is rounding
FORCING = 0.1  # the gradient left by conjugate gradients, relative to the one before, at most


@dataclass(frozen=True)
class LinearProblem:
    """Rows with a column for the threshold, their signs 1 and -1, and the price of their slack."""

    X: Matrix
    signs: np.ndarray
    costs: np.ndarray

    def margins(self, w: np.ndarray) -> np.ndarray:
        return np.asarray(self.signs * (self.X @ w))

    def pull(self, multipliers: np.ndarray) -> np.ndarray:
        """sum_i a_i y_i x_i"""
        return np.asarray(self.X.T @ (self.signs * multipliers))


@dataclass(frozen=True)
class Weights:
    """A solution, and the iterations that it took: as many as were allowed if it is none."""

    w: np.ndarray
    n_iter: int


def solve_squared_hinge(problem: LinearProblem, tol: float, max_iter: int) -> Weights:
    """Newton's method until |g| <= tol |w|, or as far as rounding lets it go."""
    w = np.zeros(problem.X.shape[1])
    margins = np.zeros(len(problem.signs))
    for n_iter in range(1, max_iter + 1):
        slack = np.maximum(0.0, 1 - margins)
        gradient = w - problem.pull(2 * problem.costs * slack)
        size = float(np.linalg.norm(gradient))
        if size <= tol * float(np.linalg.norm(w)):
            return Weights(w, n_iter)
        step = newton_point(problem, np.flatnonzero(slack), w, gradient) - w
        slopes = problem.margins(step)
        t = best_length(float(w @ step), float(step @ step), margins, slopes, problem.costs)
        moved, at = w + t * step, margins + t * slopes
        before, after = value(w, slack, problem.costs), value(moved, 1 - at, problem.costs)
        if not after < before - ROUNDING * before:
            return Weights(moved if after < before else w, n_iter)
        w, margins = moved, problem.margins(moved)
    return Weights(w, max_iter)


def value(w: np.ndarray, slack: np.ndarray, costs: np.ndarray) -> float:
    """P, from slacks that may be negative."""
    return float(w @ w / 2 + costs @ np.maximum(0.0, slack) ** 2)


def newton_point(
    problem: LinearProblem, active: np.ndarray, w: np.ndarray, gradient: np.ndarray
) -> np.ndarray:
    """The minimum of 1/2 w.w + sum over active rows of c_i (1 - y_i w.x_i)^2."""
    n_active, width = len(active), problem.X.shape[1]
    if not n_active:
        return np.zeros(width)
    rows: Any = problem.X[active]
    costs = problem.costs[active]
    if min(n_active, width) > DIRECT:
        return np.asarray(w - _by_conjugate_gradients(rows, costs, gradient))
    signs = problem.signs[active]
    if n_active < width:  # w = X'b with (X X' + 1 / 2c) b = y
        kernel = _dense(rows @ rows.T)
        kernel[np.diag_indices(n_active)] += 0.5 / costs
        return np.asarray(rows.T @ _solve(kernel, signs))
    weighted = (
        rows.multiply(2 * costs[:, None]).tocsr()
        if sp.issparse(rows)
        else (rows * (2 * costs)[:, None])
    )
    hessian = _dense(rows.T @ weighted)
    hessian[np.diag_indices(width)] += 1.0
    return _solve(hessian, np.asarray(weighted.T @ signs))


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.asarray(cho_solve(cho_factor(matrix, overwrite_a=True), right))


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix)


def _by_conjugate_gradients(rows: Any, costs: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The Newton step of many unknowns, without their matrix; the closer to the solution, the more
    exact.
    """
    doubled, width = 2 * costs, len(gradient)

    def times(v: np.ndarray) -> np.ndarray:
        return np.asarray(v + rows.T @ (doubled * (rows @ v)))

    squares = rows.multiply(rows).T if sp.issparse(rows) else (rows * rows).T
    diagonal = 1 + np.asarray(squares @ doubled).ravel()
    left = min(FORCING, float(np.linalg.norm(gradient)) ** 0.5)
    found, _ = cg(
        _operator(times, width), gradient, rtol=left, maxiter=width,
        M=_operator(lambda v: v / diagonal, width),
    )  # fmt: skip
    return np.asarray(found)


def _operator(times: Callable[[np.ndarray], np.ndarray], width: int) -> LinearOperator:
    return LinearOperator((width, width), matvec=times, dtype=np.float64)


def best_length(
    linear: float, curved: float, margins: np.ndarray, slopes: np.ndarray, costs: np.ndarray
) -> float:
    """The t at which linear t + curved t^2 / 2 + sum_i c_i max(0, 1 - m_i - t s_i)^2 is least; it
    falls at t = 0, and its derivative is a line of pieces that rises.

    >>> one = np.ones(1)
    >>> round(best_length(0.0, 1.0, 0 * one, one, one), 12)  # t^2 / 2 + (1 - t)^2
    0.666666666667
    """
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(SEARCH_STEPS):
        slack = 1 - margins - t * slopes
        used = slack > 0
        pull = costs[used] * slopes[used]
        slope = linear + t * curved - 2 * float(pull @ slack[used])
        low, high = (t, high) if slope < 0 else (low, t)
        bend = curved + 2 * float(pull @ slopes[used])
        found = t - slope / bend if bend > 0 else np.nan
        if found == t or not low < found < high:
            found = 2 * t if high == np.inf else (low + high) / 2
            if found in (low, high):
                break
        if abs(found - t) <= 4 * np.finfo(float).eps * t:
            break
        t = found
    return float(t)
