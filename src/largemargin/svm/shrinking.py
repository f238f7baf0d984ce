"""SMO on a matrix of kernel values, on those of its variables that still move.

Near the solution most variables are at a bound, and their gradients keep them there. Every so often
it is looked whether that holds of so many that the others deserve a matrix of their own, which is
read faster; once these are solved, the gradient of all is computed and all are looked at again, so
that nothing is decided by what was left out. In small matrices all take part all the time.
"""

from __future__ import annotations

import numpy as np

from largemargin.svm.problem import block_loops

SHRINK_FROM = 512  # variables from which on those that will not move are left out for a while
SHRUNK = 0.7  # the largest fraction of the variables that is worth a matrix of its own


def smo_solve(
    K: np.ndarray, ridge: np.ndarray, grad: np.ndarray, beta: np.ndarray, lo: np.ndarray,
    hi: np.ndarray, a: np.ndarray, group: np.ndarray, n_groups: int, tol: float, closer: float,
    max_steps: int,
) -> tuple[int, bool]:  # fmt: skip
    """Minimise 1/2 b'(K + diag(ridge))b + p'b over the box, with the sums of a b kept.

    Goes on to a violation of `closer` as long as that is cheap, after one of `tol` is met. Changes
    beta and grad in place; returns the number of steps and whether `tol` was met.
    """
    signed = bool((a < 0).any())
    if signed:  # with a b as the variables, all coefficients of the sums are 1
        K = K * a.astype(K.dtype)
        K *= a.astype(K.dtype)[:, None]
        lo, hi = np.where(a > 0, lo, -hi), np.where(a > 0, hi, -lo)
        grad *= a
        beta *= a
    parts = K, ridge, grad, beta, lo, hi, group
    if len(beta) < SHRINK_FROM:
        steps, met = block_loops().smo_pairs(*parts, n_groups, tol, closer, max_steps)
    else:
        steps, met = _solve_shrinking(*parts, n_groups, tol, closer, max_steps)
    if signed:
        grad *= a
        beta *= a
    return steps, met


def _solve_shrinking(
    K: np.ndarray, ridge: np.ndarray, grad: np.ndarray, beta: np.ndarray, lo: np.ndarray,
    hi: np.ndarray, group: np.ndarray, n_groups: int, tol: float, closer: float, max_steps: int,
) -> tuple[int, bool]:  # fmt: skip
    from largemargin.kernels.loops import add_rows, take

    smo_pairs, n = block_loops().smo_pairs, len(beta)
    steps, met, goal, piece = 0, False, tol, n // 2
    while True:
        made, reached = smo_pairs(
            K, ridge, grad, beta, lo, hi, group, n_groups, goal, goal,
            min(piece, max_steps - steps),
        )  # fmt: skip
        steps += made
        if reached and (met or closer >= tol):
            return steps, True
        if reached:
            met, goal, max_steps = True, closer, min(max_steps, 4 * steps + 10 * n)
        if steps >= max_steps:
            return steps, met
        kept = _moving(grad, beta, lo, hi, group, n_groups)
        piece *= 2  # looking costs something too
        if len(kept) < SHRUNK * n:
            part, found = np.empty((len(kept), len(kept)), K.dtype), beta[kept]
            take(K, kept, kept, part)
            made, _ = smo_pairs(
                part, ridge[kept], grad[kept], found, lo[kept], hi[kept], group[kept], n_groups,
                goal, goal, max_steps - steps,
            )  # fmt: skip
            steps += made
            delta = found - beta[kept]
            beta[kept] = found
            grad[kept] += ridge[kept] * delta
            changed = delta != 0
            add_rows(grad, 0, K, kept[changed], delta[changed])


def _moving(
    grad: np.ndarray, beta: np.ndarray, lo: np.ndarray, hi: np.ndarray, group: np.ndarray,
    n_groups: int,
) -> np.ndarray:  # fmt: skip
    """The variables that may still move: not those at a bound whose gradient keeps them there by
    more than the violation.
    """
    rises, falls = beta < hi, beta > lo
    moving = np.zeros(len(beta), bool)
    for g in range(n_groups):
        mine = group == g
        least = grad[mine & rises].min(initial=np.inf)
        most = grad[mine & falls].max(initial=-np.inf)
        if np.isfinite(most - least):
            width = abs(most - least)
            moving |= mine & rises & (grad < most + width)
            moving |= mine & falls & (grad > least - width)
    return np.flatnonzero(moving)
