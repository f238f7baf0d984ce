"""Support vector machines as they are written down, solved by a general quadratic program.

`solve_qp` knows nothing of support vectors: it minimises 1/2 x'Px + q'x over Gx <= h, Ax = b by
Mehrotra's predictor-corrector method, in full matrices. The machines below only state their duals
for it, in the multipliers alpha >= 0 of the papers, and `primal` states what they minimise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import ThreadpoolController

BLAS = ThreadpoolController().select(user_api="blas")  # a thread is enough for matrices this small


@dataclass(frozen=True)
class Twin:
    """A machine: its dual objective, coefs with f = K @ coefs + intercept, and rho (nu only)."""

    objective: float
    coefs: np.ndarray
    intercept: float
    rho: float = 1.0


@BLAS.wrap(limits=1)
def solve_qp(P, q, G, h, A=None, b=None, iterations=60):
    """x, the multipliers of Gx <= h and those of Ax = b."""
    n, m = len(q), len(h)
    A = np.zeros((0, n)) if A is None else A
    b = np.zeros(0) if b is None else b
    k = len(b)
    x, s, z, y = np.zeros(n), np.maximum(h, 1.0), np.ones(m), np.zeros(k)
    best, least, before = (x, z, y), np.inf, np.inf
    for _ in range(iterations):
        dual = P @ x + q + G.T @ z + A.T @ y
        equal, inside, mu = A @ x - b, G @ x + s - h, s @ z / m
        off = max(abs(dual).max(), abs(inside).max(), abs(equal).max(initial=0))
        if max(off, mu) < least:
            best, least = (x, z, y), max(off, mu)
        if least < 1e-15 or mu < 1e-20:
            break
        system = np.diag(np.repeat([1e-13, -1e-13], [n, k + m]))  # never quite singular
        system[:n, :n] += P
        system[:n, n : n + k], system[:n, n + k :] = A.T, G.T
        system[n : n + k, :n], system[n + k :, :n] = A, G
        system[n + k :, n + k :] -= np.diag(s / z)

        def direction(target, system=system, dual=dual, equal=equal, inside=inside, s=s, z=z):
            right = -np.concatenate([dual, equal, inside - target / z])
            found = np.linalg.solve(system, right)
            dz = found[n + k :]
            return found[:n], -(target + s * dz) / z, dz, found[n : n + k]

        _, ds, dz, _ = direction(s * z)
        near = min(longest(s, ds), longest(z, dz))
        sigma = ((s + near * ds) @ (z + near * dz) / m / mu) ** 3
        centre = max(sigma * mu, 0.01 * off if off > 1e-10 else 0.0)  # feasible first
        corrected = near**2 * ds * dz - centre
        if off < 1e-8 and mu > 0.9 * before:  # which can go round in a circle
            corrected = -0.2 * mu
        before = mu
        dx, ds, dz, dy = direction(s * z + corrected)
        step = 0.995 * min(longest(s, ds), longest(z, dz))
        x, s, z, y = x + step * dx, s + step * ds, z + step * dz, y + step * dy
    return best


def longest(x, dx):
    """The longest step, up to 1, that leaves x + step dx positive."""
    return 1 / max(1.0, (-dx / x).max())


def box(n, upper):
    """G and h of 0 <= x <= upper, of which infinite ends are left out."""
    upper = np.broadcast_to(upper, n)
    kept = np.isfinite(upper)
    G = np.vstack([-np.eye(n), np.eye(n)[kept]])
    return G, np.concatenate([np.zeros(n), upper[kept]])


def soft_margin(K, y, s, C=1.0, slack="linear", threshold=True):
    """1/2 w.w + C sum s xi, C sum s xi^2 or C (sum s xi)^2; with C infinite, the hard margin."""
    n = len(y)
    D = np.outer(y, y) * K
    A, b = (y[None, :], np.zeros(1)) if threshold else (None, None)
    if np.isinf(C) or slack == "squared":
        ridge = np.zeros(n) if np.isinf(C) else 1 / (2 * C * s)
        G, h = box(n, np.inf)
        alpha, _, t = solve_qp(D + np.diag(ridge), -np.ones(n), G, h, A, b)
        objective = alpha.sum() - alpha @ D @ alpha / 2 - ridge @ alpha**2 / 2
    elif slack == "linear":
        alpha, _, t = solve_qp(D, -np.ones(n), *box(n, C * s), A, b)
        objective = alpha.sum() - alpha @ D @ alpha / 2
    else:  # the last variable is delta, the end of the box
        P = np.zeros((n + 1, n + 1))
        P[:n, :n], P[n, n] = D, 1 / (2 * C)
        G = np.block([[-np.eye(n), np.zeros((n, 1))], [np.eye(n), -s[:, None]]])
        A = None if A is None else np.append(A, [[0.0]], axis=1)
        x, _, t = solve_qp(P, np.append(-np.ones(n), 0), G, np.zeros(2 * n), A, b)
        alpha = x[:n]
        objective = alpha.sum() - alpha @ D @ alpha / 2 - x[n] ** 2 / (4 * C)
    return Twin(objective, y * alpha, float(t[0]) if threshold else 0.0)


def nu_margin(K, y, s, nu=0.5, threshold=True):
    """1/2 w.w - nu rho + sum (s_i/sum s) xi_i; coefs and intercept in the scale rho = 1."""
    n = len(y)
    D = np.outer(y, y) * K
    A = np.vstack([np.ones(n), y]) if threshold else np.ones((1, n))
    b = np.array([nu * s.sum(), 0.0])[: len(A)]
    alpha, _, t = solve_qp(D, np.zeros(n), *box(n, s), A, b)  # sum s times the alpha meant
    rho = -t[0]
    objective = -alpha @ D @ alpha / 2 / s.sum() ** 2
    return Twin(objective, y * alpha / rho, t[1] / rho if threshold else 0.0, rho / s.sum())


def crammer_singer(K, labels, s, C, n_classes):
    """1/2 sum_r |m_r|^2 + C sum s_i xi_i: the dual objective, one row of coefficients per class."""
    n, k = len(labels), n_classes
    own = np.zeros((n, k))
    own[np.arange(n), labels] = 1  # variables tau[i, r], flattened
    G, h = np.eye(n * k), (C * s[:, None] * own).ravel()
    A = np.kron(np.eye(n), np.ones((1, k)))
    tau, _, _ = solve_qp(np.kron(K, np.eye(k)), -own.ravel(), G, h, A, np.zeros(n))
    tau = tau.reshape(n, k)
    return float((own * tau).sum() - np.einsum("ij,ir,jr->", K, tau, tau) / 2), tau.T


def loss(slack, s, xi):
    """What C is the price of."""
    return {"linear": s @ xi, "squared": s @ xi**2, "squared-sum": (s @ xi) ** 2}[slack]


def primal(K, y, s, coefs, intercept, C=1.0, slack="linear"):
    """What a soft margin minimises, at a machine with these coefficients."""
    f = K @ coefs
    xi = np.maximum(0, 1 - y * (f + intercept))
    return coefs @ f / 2 + C * loss(slack, s, xi)


def dual(K, y, s, coefs, C=1.0, slack="linear"):
    """What its dual maximises, at a point y alpha = coefs."""
    value = y @ coefs - coefs @ K @ coefs / 2
    if slack == "squared" and np.isfinite(C):
        value -= (coefs**2 / (4 * C * s)).sum()
    if slack == "squared-sum" and np.isfinite(C):
        value -= (abs(coefs) / s).max() ** 2 / (4 * C)
    return value
