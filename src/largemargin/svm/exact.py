"""The last step to the exact solution: guess which variables are free, solve for them, correct the
guess.

Where the free variables F and the ends of the others are known, the optimum is linear:

    (K + ridge)_FF d + grad_F + a_F t = 0,   sums kept

with a multiplier t a group. Variables that leave the box by it are put at its ends, those at an end
that violate optimality are let go, and again: a few solves from a solution that is good to the
usual tolerance (the primal-dual active set method). The result is taken only if it violates
optimality less than what it started from.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from largemargin.svm.problem import Problem, Solution

MOST_FREE = 2000
GUESSES = 25
EXACT = 1e-11  # the violation, relative to the gradients, at which there is nothing left to gain


def polish(
    problem: Problem,
    solution: Solution,
    gram: Callable[[np.ndarray], np.ndarray],
    products: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Solution:
    """`gram(F)` gives the kernel values among variables F, `products(F, d)` those of all against F,
    times d.
    """
    beta, grad = solution.beta.copy(), solution.grad.copy()
    totals = _sums(problem, problem.start)
    scale = 1.0 + float(np.abs(grad).max(initial=0.0)) if not problem.relative else 1.0
    best, least = solution, violation_of(problem, beta, grad)
    for _ in range(GUESSES):
        free = _guess(problem, beta, grad)
        if not 0 < len(free) <= MOST_FREE:
            break
        step = _solve(problem, free, beta, grad, gram(free), totals)
        found = np.clip(beta[free] + step, problem.lo[free], problem.hi[free])
        step = found - beta[free]
        beta[free] = found
        grad = grad + products(free, step)
        grad[free] += problem.ridge[free] * step
        kept = np.abs(_sums(problem, beta) - totals).max(initial=0.0) if problem.threshold else 0.0
        left = violation_of(problem, beta, grad)
        if left < least and kept <= 1e-12 * (1 + np.abs(beta).max()):
            best, least = (
                Solution(
                    beta.copy(),
                    grad.copy(),
                    solution.violation,
                    solution.n_steps,
                    solution.converged,
                ),
                left,
            )
            if left <= EXACT * scale:
                break
    if best is solution:
        return solution
    ratio = least / max(violation_of(problem, solution.beta, solution.grad), 1e-300)
    return Solution(
        best.beta, best.grad, solution.violation * ratio, solution.n_steps, solution.converged
    )


def violation_of(problem: Problem, beta: np.ndarray, grad: np.ndarray) -> float:
    """By how much the optimality conditions are violated at most."""
    value, rises, falls = _sides(problem, beta, grad)
    worst = 0.0
    for g in range(problem.n_groups):
        mine = problem.group == g
        top = value[mine & rises].max(initial=-np.inf if problem.threshold else 0.0)
        low = value[mine & falls].min(initial=np.inf if problem.threshold else 0.0)
        worst = max(worst, top - low)
    return float(worst)


def _sides(
    problem: Problem, beta: np.ndarray, grad: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    below, above = beta < problem.hi, beta > problem.lo
    positive = problem.a > 0
    return -problem.a * grad, np.where(positive, below, above), np.where(positive, above, below)


def _sums(problem: Problem, beta: np.ndarray) -> np.ndarray:
    return np.bincount(problem.group, problem.a * beta, problem.n_groups)


def _guess(problem: Problem, beta: np.ndarray, grad: np.ndarray) -> np.ndarray:
    """The variables inside the box, and those at an end that should leave it."""
    value, rises, falls = _sides(problem, beta, grad)
    free = rises & falls
    for g in range(problem.n_groups):
        mine = problem.group == g
        if not problem.threshold:
            level = 0.0
        elif (free & mine).any():
            level = float(np.median(value[free & mine]))
        else:
            top = value[mine & rises].max(initial=-np.inf)
            low = value[mine & falls].min(initial=np.inf)
            level = (top + low) / 2 if np.isfinite(top + low) else 0.0
        eps = 1e-13 * (1 + abs(level))
        free |= mine & ((rises & (value > level + eps)) | (falls & (value < level - eps)))
    return np.flatnonzero(free)


def _solve(
    problem: Problem,
    free: np.ndarray,
    beta: np.ndarray,
    grad: np.ndarray,
    K: np.ndarray,
    totals: np.ndarray,
) -> np.ndarray:
    """The step of the free variables to where their gradients agree and the sums are met."""
    n = len(free)
    H = np.array(K, np.float64)
    H[np.diag_indices(n)] += problem.ridge[free]
    a, group = problem.a[free], problem.group[free]
    step = np.zeros(n)
    rest = np.ones(n, bool)
    first = np.full(n, -1)  # the variable of the group that makes up for the others
    if problem.threshold:
        missing = totals - _sums(problem, beta)
        for g in np.unique(group):
            mine = np.flatnonzero(group == g)
            first[mine] = mine[0]
            rest[mine[0]] = False
            step[mine[0]] = a[mine[0]] * missing[g]
    right = -(grad[free] + H @ step)
    if problem.threshold:  # in the variables that are left, d_first = -a_first sum of a d
        swap = a * a[first]
        R = H[first]
        H = H - swap[:, None] * R - swap[None, :] * R.T + np.outer(swap, swap) * H[first][:, first]
        right = right - swap * right[first]
    u = np.zeros(n)
    u[rest] = _positive_solve(H[np.ix_(rest, rest)], right[rest])
    if problem.threshold:
        for r in np.unique(first):
            u[r] = -a[r] * (a * u)[(first == r) & rest].sum()
    return step + u


def _positive_solve(H: np.ndarray, right: np.ndarray) -> np.ndarray:
    """H x = right for a positive semi-definite H; directions that H does not see are left at zero."""
    x = np.zeros(len(right))
    if not len(right):
        return x
    largest = float(np.diagonal(H).max())
    if not largest > 0:
        return x
    factor, pivots, rank, _ = dpstrf(H, tol=1e-13 * len(right) * largest, lower=1)
    L = np.tril(factor[:rank, :rank])
    seen = pivots[:rank] - 1
    y = solve_triangular(L, right[seen], lower=True, check_finite=False)
    x[seen] = solve_triangular(L.T, y, check_finite=False)
    return x
