"""The programs of the kernel machines in full, given to `scipy.optimize.linprog`, and what makes a
solution of one. Nothing here is shared with the package.
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


def solve(program):
    """The optimal value, the multipliers of the margins and of the equality, by the general solver.

    Each variable has its own unit, in which its largest coefficient is 1. The dual simplex can end
    beside a vertex, with a slack of 1 + 4e-6 where alpha needs 1: so the value is computed from
    alpha, and if it is another one the interior-point method is asked as well.
    """
    sizes = np.abs(program.A).max(axis=0)
    E = None if program.E is None else program.E / sizes
    found = []
    for method in ("highs-ds", "highs-ipm"):
        result = linprog(
            program.cost / sizes, -program.A / sizes, -program.b, E, program.e, program.bounds,
            method=method,
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )  # fmt: skip
        assert result.status == 0, result.message
        value = value_of(program, result.x / sizes)
        found.append((value, -result.ineqlin.marginals, result.eqlin.marginals))
        if abs(value - result.fun) <= 1e-9 * abs(value):
            break
    return min(found, key=lambda one: one[0])


def value_of(program, v):
    """The objective of alpha, b and rho, with the slacks that they need."""
    m = len(program.b)
    v = v.copy()
    v[:m] = np.maximum(v[:m], 0.0)
    v[m : 2 * m] = 0.0
    v[m : 2 * m] = np.maximum(program.b - program.A @ v, 0.0)
    return float(program.cost @ v)


def check_optimal(program, multipliers, alpha, b=0.0, rho=1.0, tol=1e-7):
    """That coefficients are optimal: feasible, with feasible multipliers complementary to them.

    The multipliers are another solver's: those of any solution go with all of them.
    """
    m, (u, w) = len(alpha), multipliers
    v = np.zeros(len(program.cost))
    v[:m] = alpha
    if program.E is not None:
        v[2 * m :] = b, rho
        assert np.allclose(program.E @ v, program.e)
    assert (alpha >= 0).all()
    v[m : 2 * m] = np.maximum(program.b - program.A @ v, 0.0)
    slack = program.A @ v - program.b
    unit = max(float(np.abs(program.cost).max()), 1e-300)  # of the multipliers
    size = max(1.0, float(np.abs(v[m:]).max()))  # of the margins
    assert slack.min() > -tol * size
    assert u.min() >= -tol * unit
    reduced = program.cost - program.A.T @ u
    if program.E is not None:
        reduced -= program.E.T @ w
    reduced /= np.abs(program.A).max(axis=0)
    free = np.array([low is None for low, _ in program.bounds])
    loose = 100 * tol * unit  # the other solver is not that exact
    assert reduced[~free].min() > -loose
    assert np.abs(reduced[free]).max(initial=0.0) < loose
    effect = np.abs(v) * np.abs(program.A).max(axis=0)
    assert (effect * np.abs(reduced)).max() < loose * max(size, effect.max())
    assert (slack * u).max() < loose * size
