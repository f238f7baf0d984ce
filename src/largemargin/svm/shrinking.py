"""SMO on a matrix of kernel values, on those of its variables that still move.

Near the solution most variables are at a bound, and their gradients keep them there. Every so often
it is looked whether that holds of so many that the others deserve a matrix of their own, which is
read faster; once these are solved, the gradient of all is computed and all are looked at again, so
that nothing is decided by what was left out. In small matrices all take part all the time.

With kernel values in float32 the gradient is in float32 as well, as far as its rounding errors are
small beside the violation that is aimed at: that takes half of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largemargin.svm.problem import block_loops

SHRINK_FROM = 512  # variables from which on those that will not move are left out for a while
SHRUNK = 0.7  # the largest fraction of the variables that is worth a matrix of its own
# What rounding does to a gradient in float32, relative to its largest number, in so many steps per
# variable: more are made in float64
SINGLE_NOISE, SINGLE_STEPS = 64 * 2.0**-24, 32


def smo_solve(
    K: np.ndarray, ridge: np.ndarray, grad: np.ndarray, beta: np.ndarray, lo: np.ndarray,
    hi: np.ndarray, a: np.ndarray, group: np.ndarray, n_groups: int, tol: float, closer: float,
    max_steps: int,
) -> tuple[int, bool]:  # fmt: skip
    """Minimise 1/2 b'(K + diag(ridge))b + p'b over the box, with the sums of a b kept.

    Goes on to a violation of `closer` as long as that is cheap, after one of `tol` is met. Changes
    beta and grad in place, the latter to the rounding of many steps; returns the number of steps
    and whether `tol` was met.
    """
    signed = bool((a < 0).any())
    if signed:  # with a b as the variables, all coefficients of the sums are 1
        K = K * a.astype(K.dtype)
        K *= a.astype(K.dtype)[:, None]
        lo, hi = np.where(a > 0, lo, -hi), np.where(a > 0, hi, -lo)
        grad *= a
        beta *= a
    block = _Block(K, ridge, grad, beta, lo, hi, group, n_groups)
    if len(beta) < SHRINK_FROM:
        steps, met = block.smo(tol, closer, max_steps)
    else:
        steps, met = _solve_shrinking(block, tol, closer, max_steps)
    if signed:
        grad *= a
        beta *= a
    return steps, met


@dataclass
class _Block:
    """Variables and their gradient, in a matrix of kernel values; all coefficients of sums are 1.

    `exact` has the last variables and gradient that float32 had no part in, if these have it.
    """

    K: np.ndarray
    ridge: np.ndarray
    grad: np.ndarray
    beta: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    group: np.ndarray
    n_groups: int
    exact: tuple[np.ndarray, np.ndarray] | None = None

    def smo(self, tol: float, closer: float, max_steps: int) -> tuple[int, bool]:
        """`block_smo.smo_pairs`, with the gradient in float32 where that leads as far."""
        if not self._is_single(min(tol, closer)):
            return self._smo(self.grad, tol, closer, max_steps)
        self.exact = self.exact or (self.beta.copy(), self.grad.copy())
        slope = self.grad.astype(np.float32)
        most = SINGLE_STEPS * len(slope)
        steps, met = self._smo(slope, tol, closer, min(most, max_steps))
        self.grad[:] = slope
        if met or max_steps <= most:
            return steps, met
        self._sum_up()
        more, met = self._smo(self.grad, tol, closer, max_steps - steps)
        return steps + more, met

    def _smo(self, grad: np.ndarray, tol: float, closer: float, max_steps: int) -> tuple[int, bool]:
        found: tuple[int, bool] = block_loops().smo_pairs(
            self.K, self.ridge, grad, self.beta, self.lo, self.hi, self.group, self.n_groups,
            tol, closer, max_steps,
        )  # fmt: skip
        return found

    def _is_single(self, goal: float) -> bool:
        """Whether a gradient in float32 leads to such a violation; if not, it is in float64 now."""
        if self.K.dtype == np.float32 and SINGLE_NOISE * np.abs(self.grad).max() <= goal:
            return True
        self._sum_up()
        return False

    def _sum_up(self) -> None:
        """Have the gradient in float64, from where it was so."""
        if self.exact is not None:
            beta, self.grad[:] = self.exact
            changed = np.flatnonzero(self.beta != beta)
            self.add(changed, (self.beta - beta)[changed])
            self.exact = None

    def add(self, which: np.ndarray, delta: np.ndarray) -> None:
        """Add what changes of some variables do to the gradient of all."""
        from largemargin.kernels.loops import add_rows

        self.grad[which] += self.ridge[which] * delta
        add_rows(self.grad, 0, self.K, which, delta)

    def taken(self, kept: np.ndarray, goal: float) -> _Block:
        """Some of the variables, in a matrix of their own, on the way to such a violation."""
        from largemargin.kernels.loops import take

        self._is_single(goal)
        part = np.empty((len(kept), len(kept)), self.K.dtype)
        take(self.K, kept, kept, part)
        return _Block(
            part, self.ridge[kept], self.grad[kept], self.beta[kept], self.lo[kept],
            self.hi[kept], self.group[kept], self.n_groups,
        )  # fmt: skip

    def moving(self) -> np.ndarray:
        """The variables that may still move: not those at a bound whose gradient keeps them there
        by more than the violation.
        """
        grad, rises, falls = self.grad, self.beta < self.hi, self.beta > self.lo
        moving = np.zeros(len(grad), bool)
        for g in range(self.n_groups):
            mine = self.group == g
            least = grad[mine & rises].min(initial=np.inf)
            most = grad[mine & falls].max(initial=-np.inf)
            if np.isfinite(most - least):
                width = abs(most - least)
                moving |= mine & rises & (grad < most + width)
                moving |= mine & falls & (grad > least - width)
        return np.flatnonzero(moving)


def _solve_shrinking(block: _Block, tol: float, closer: float, max_steps: int) -> tuple[int, bool]:
    n = len(block.beta)
    steps, met, goal, piece = 0, False, tol, n // 2
    while True:
        made, reached = block.smo(goal, goal, min(piece, max_steps - steps))
        steps += made
        if reached and (met or closer >= tol):
            return steps, True
        if reached:
            met, goal, max_steps = True, closer, min(max_steps, 4 * steps + 10 * n)
        if steps >= max_steps:
            return steps, met
        kept = block.moving()
        piece *= 2  # looking costs something too
        if 0 < len(kept) < SHRUNK * n:
            part = block.taken(kept, goal)
            made, _ = part.smo(goal, goal, max_steps - steps)
            steps += made
            delta = part.beta - block.beta[kept]
            block.beta[kept] = part.beta
            changed = np.flatnonzero(delta)
            block.add(kept[changed], delta[changed])
