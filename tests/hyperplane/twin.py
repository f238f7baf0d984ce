"""Hyperplanes of largest margin by general solvers, slowly. Nothing here is shared with the
package.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import LinearConstraint, linprog, minimize


def length(v, p):
    largest = np.abs(v).max()
    if np.isinf(p) or largest == 0:
        return largest
    return largest * (np.abs(v / largest) ** p).sum() ** (1 / p)


def conjugate(p):
    return np.inf if p == 1 else 1.0 if np.isinf(p) else p / (p - 1)


def power(p):
    return min(p, conjugate(p))


def objective(w, b, X, y, s, p, C):
    """|w|^r / r + C sum s xi, straight from the definition."""
    lack = np.maximum(0, 1 - y * (X @ w + b))
    return length(w, p) ** power(p) / power(p) + C * (s @ lack)


def solve(X, y, s, p, C, threshold=True):
    """The least objective."""
    if p in (1, np.inf):
        return linear(X, y, s, p, C, threshold)
    return smooth(X, y, s, p, C, threshold)


def linear(X, y, s, p, C, threshold):
    """The variables are w, b, xi, and above |w| a size: one per feature (p = 1) or for all."""
    m, n = X.shape
    k = n if p == 1 else 1
    sizes = np.eye(n) if p == 1 else np.ones((n, 1))
    hard = np.isinf(C)
    cost = np.r_[np.zeros(n + 1), np.zeros(m) if hard else C * s, np.ones(k)]
    A = np.vstack(
        [
            np.c_[-y[:, None] * X, -y, -np.eye(m), np.zeros((m, k))],
            np.c_[np.eye(n), np.zeros((n, 1 + m)), -sizes],
            np.c_[-np.eye(n), np.zeros((n, 1 + m)), -sizes],
        ]
    )
    free, slack = (None, None), (0, 0 if hard else None)
    bounds = [free] * n + [free if threshold else (0, 0)] + [slack] * m + [(0, None)] * k
    result = linprog(cost, A, np.r_[-np.ones(m), np.zeros(2 * n)], bounds=bounds)
    assert result.status == 0, result.message
    return result.fun


def smooth(X, y, s, p, C, threshold):
    """The variables are w, b and xi; sequential quadratic programs."""
    m, n = X.shape
    hard, r = np.isinf(C), power(p)
    prices = np.zeros(m) if hard else C * s

    def value(v):
        return length(v[:n], p) ** r / r + prices @ v[n + 1 :]

    def slope(v):
        w, size = v[:n], length(v[:n], p)
        g = np.zeros(n) if size == 0 else size ** (r - 1) * np.sign(w) * np.abs(w / size) ** (p - 1)
        return np.r_[g, 0.0, prices]

    A = np.c_[y[:, None] * X, y if threshold else 0 * y, np.eye(m)]
    start = np.r_[np.full(n, 0.1), 0.0, np.zeros(m)]
    if hard:  # any hyperplane that separates
        w = linprog(np.zeros(n + 1), -A[:, : n + 1], -np.ones(m), bounds=[(None, None)] * (n + 1)).x
        start[: n + 1] = w
    else:
        start[n + 1 :] = np.maximum(0, 1 - A[:, : n + 1] @ start[: n + 1])
    bounds = [(None, None)] * (n + 1) + [(0, 0 if hard else None)] * m
    result = minimize(
        value, start, jac=slope, bounds=bounds, method="SLSQP",
        constraints=LinearConstraint(A, 1.0, np.inf), options={"ftol": 1e-15, "maxiter": 300},
    )  # fmt: skip
    # infeasible by rounding only: scale the answer up instead of trusting it
    w, b = result.x[:n], result.x[n] if threshold else 0.0
    if hard:
        least = (y * (X @ w + b)).min()
        return (length(w, p) / least) ** r / r
    return objective(w, b, X, y, s, p, C)
