"""The programs of the kernel machines in full, given to `scipy.optimize.linprog`, and what makes a
solution of one: nothing here is shared with the solver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog


@dataclass
class Dense:
    """min cost.v with A v >= b, E v = e and bounds; v is alpha, xi, and for nu-LP b and rho."""

    cost: np.ndarray
    A: np.ndarray
    b: np.ndarray
    E: np.ndarray | None
    e: np.ndarray | None
    bounds: list


def adaptive_margin(K, y, s, lam):
    m = len(y)
    B = y[:, None] * K * y - np.diag(lam * np.diagonal(K) / s)
    cost = np.r_[np.zeros(m), s]
    return Dense(cost, np.c_[B, np.eye(m)], np.ones(m), None, None, [(0, None)] * (2 * m))


def lp_machine(K, y, s, C):
    m = len(y)
    cost = np.r_[np.ones(m), C * s]
    A = np.c_[y[:, None] * K * y, np.eye(m)]
    return Dense(cost, A, np.ones(m), None, None, [(0, None)] * (2 * m))


def nu_machine(K, y, s, nu):
    m = len(y)
    cost = np.r_[np.zeros(m), s / s.sum(), 0, -nu]
    A = np.c_[y[:, None] * K * y, np.eye(m), y, -np.ones(m)]
    bounds = [(0, None)] * (2 * m) + [(None, None), (0, None)]
    total = np.r_[np.ones(m), np.zeros(m + 2)][None]
    return Dense(cost, A, np.zeros(m), total, np.ones(1), bounds)


def solve(program, method="highs"):
    """The general solver's answer."""
    sizes = np.abs(program.A).max(axis=0)  # of each variable's effect; its unit is ours to choose
    E = None if program.E is None else program.E / sizes
    result = linprog(
        program.cost / sizes, -program.A / sizes, -program.b, E, program.e, program.bounds,
        method=method,
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    assert result.status == 0, result.message
    return result


def check_optimal(program, alpha, b=0.0, rho=1.0, tol=1e-7):
    """That coefficients are optimal, by conditions that need no other solution of the same program.

    The slacks follow from alpha. If any multipliers are feasible and complementary to this point,
    it is optimal: they are sought by a small program of their own, whose optimum is the largest
    violation.
    """
    m = len(alpha)
    v = np.zeros(len(program.cost))
    v[:m] = alpha
    if program.E is not None:
        v[2 * m :] = b, rho
    assert (alpha >= 0).all()
    v[m : 2 * m] = np.maximum(program.b - program.A @ v, 0.0)
    slack = program.A @ v - program.b
    assert slack.min() > -tol
    if program.E is not None:
        assert np.allclose(program.E @ v, program.e)
    # u >= 0 of A, free w of E: cost - A'u - E'w >= 0, = 0 where v > 0; u = 0 where there is slack
    E = np.zeros((0, len(v))) if program.E is None else program.E
    M = np.r_[program.A, E].T
    sizes = np.maximum(np.abs(M).max(axis=1), np.abs(program.cost))  # whatever alpha's unit is
    M, cost = M / sizes[:, None], program.cost / sizes
    free = np.array([low is None for low, _ in program.bounds])
    size = max(1.0, np.abs(v).max())
    tight = (np.abs(v) > tol * size) | free
    n_u, n_w = len(program.A), len(E)
    bounds = [(0, 0 if gap > tol * size else None) for gap in slack] + [(None, None)] * n_w
    column = np.ones((len(v), 1))
    rows = np.r_[np.c_[M, -column], np.c_[-M, -column][tight]]
    limits = np.r_[cost, -cost[tight]]
    result = linprog(
        np.r_[np.zeros(n_u + n_w), 1.0], rows, limits, bounds=[*bounds, (0, None)], method="highs"
    )
    assert result.status == 0, result.message
    assert result.fun < tol
