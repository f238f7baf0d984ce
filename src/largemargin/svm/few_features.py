"""The linear kernel of few features: K = X X', and a problem solved in the space of the features.

SMO crawls where K has far more rows than rank. The interior-point method does not mind, and with
D = ridge + theta its systems are no larger than the number of features (Woodbury):

    (D + X X')^-1 r = D^-1 (r - X v),   (1 + X' D^-1 X) v = X' D^-1 r

at n d^2 multiplications each, a few dozen times. The exact solution, where few variables are free,
is then a guess or two away (`active_set`). With the ridge of a squared loss many are free, and each
guess is one such system, whatever their number.

Products run over blocks of rows, each on one thread, and are added up in the order of the blocks: a
solution depends neither on the threads nor on the memory. Of rows that are in other processes each
block is multiplied where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.linalg import LinAlgError
from scipy.linalg import cho_factor, cho_solve

from largemargin.kernels.functions import Kernel, Linear
from largemargin.runtime.arrays import DistantRows, Matrix, some_rows
from largemargin.runtime.threads import Workers
from largemargin.svm.active_set import SUM_ROUNDING, is_exact, refine, with_kept_sums
from largemargin.svm.interior_point import RIDGE, Solver, minimise, sum_rows, with_sums
from largemargin.svm.problem import Optimality, Problem, Solution

MOST_FEATURES = 256  # features up to which problems are solved in their space
TOO_MANY_FEATURES = 2048  # and up to which they may be, where coordinate descent does not end
ROWS = 2048  # rows of a block
AT_ONCE = 32  # blocks whose normal matrices are held at the same time


def has_few_features(X: Matrix, kernel: Kernel) -> bool:
    """Whether solving in the space of the features is less work than in that of the examples."""
    return isinstance(kernel, Linear) and 2 * X.shape[1] <= min(X.shape[0], 2 * MOST_FEATURES)


def may_be_solved_in_features(X: Matrix) -> bool:
    """Whether solving in the space of the features is possible, if nothing better ends."""
    return not sp.issparse(X) and 2 * X.shape[1] <= min(X.shape[0], 2 * TOO_MANY_FEATURES)


class Stopped(LinAlgError):
    """There is no time for the rest of a product."""


class Features:
    """Rows of few features, less a `shift`, with the products that solving takes, in float64."""

    def __init__(
        self,
        X: Matrix,
        team: Workers,
        shift: np.ndarray | float = 0.0,
        stopped: Callable[[], object] = lambda: "",
    ) -> None:
        self.X, self.team, self.shift, self.stopped = X, team, shift, stopped
        self.n, self.d = X.shape
        self._parts = [slice(k, k + ROWS) for k in range(0, self.n, ROWS)]

    def shifted(self, shift: np.ndarray) -> Features:
        return Features(self.X, self.team, shift, self.stopped)

    def taken(self, which: np.ndarray) -> Features:
        """Some of the rows."""
        return Features(some_rows(self.X, which), self.team, self.shift, self.stopped)

    def rows(self, which: np.ndarray) -> np.ndarray:
        return _shifted(self.X[which], self.shift)

    def mean(self) -> np.ndarray:
        return np.asarray(self.turned(np.ones(self.n)) / self.n)

    def times(self, v: np.ndarray) -> np.ndarray:
        """X v"""
        if isinstance(self.X, DistantRows):
            return self.X.by_rows(_times, self.shift, v)
        found = np.empty((self.n, *v.shape[1:]))

        def fill(part: slice) -> None:
            found[part] = _times(self.X[part], self.shift, v)

        self.team.map(fill, self._parts)
        return found

    def turned(self, u: np.ndarray) -> np.ndarray:
        """X'u"""
        return self._sum(_turned, u, (self.d, *u.shape[1:]))

    def normal(self, weights: np.ndarray) -> np.ndarray:
        """X' diag(weights) X; raises `Stopped` when there is no time for it."""
        return self._sum(_normal, weights, (self.d, self.d), self.stopped)

    def _sum(
        self, product: Callable[..., np.ndarray], u: np.ndarray, shape: tuple[int, ...],
        stopped: Callable[[], object] = lambda: "",
    ) -> np.ndarray:  # fmt: skip
        """The products of all blocks with their part of u, added up in their order."""
        if isinstance(self.X, DistantRows):
            if stopped():
                raise Stopped
            return self.X.totals(product, self.shift, beside=[u])
        total = np.zeros(shape)
        for first in range(0, len(self._parts), AT_ONCE):
            parts = self._parts[first : first + AT_ONCE]
            found: list[Any] = [None] * len(parts)

            def work(k: int, found: list[Any] = found, parts: list[slice] = parts) -> None:
                if stopped():
                    raise Stopped
                found[k] = product(self.X[parts[k]], u[parts[k]], self.shift)

            self.team.map(work, range(len(parts)))
            for one in found:
                total += one
        return total

    def squares(self) -> np.ndarray:
        if isinstance(self.X, DistantRows):
            return self.X.by_rows(_squares, self.shift)
        found = np.empty(self.n)
        for part in self._parts:
            found[part] = _squares(self.X[part], self.shift)
        return found

    def weighted(self, which: np.ndarray, u: np.ndarray) -> np.ndarray:
        """X'u of some of the rows."""
        if isinstance(self.X, DistantRows):
            return self.taken(which).turned(u)
        return np.asarray(self.rows(which).T @ u)


def _shifted(X: Any, shift: np.ndarray | float) -> np.ndarray:
    """The rows in float64, less a shift."""
    if sp.issparse(X):
        X = X.toarray()
    return np.asarray(X, np.float64) - shift


# of points that are not finite, which are not taken, numbers may be too large


def _times(X: Matrix, shift: np.ndarray | float, v: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(_shifted(X, shift) @ v)


def _turned(X: Matrix, u: np.ndarray, shift: np.ndarray | float) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(_shifted(X, shift).T @ u)


def _normal(X: Matrix, weights: np.ndarray, shift: np.ndarray | float) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        rows = _shifted(X, shift)
        return np.asarray((rows.T * weights) @ rows)


def _squares(X: Matrix, shift: np.ndarray | float) -> np.ndarray:
    return np.asarray((_shifted(X, shift) ** 2).sum(axis=1))


class Products(Protocol):
    """What a system takes of X: X v, X'u, X' diag(weights) X and the squared norms of rows."""

    @property
    def d(self) -> int: ...

    def times(self, v: np.ndarray) -> np.ndarray: ...

    def turned(self, u: np.ndarray) -> np.ndarray: ...

    def normal(self, weights: np.ndarray) -> np.ndarray: ...

    def squares(self) -> np.ndarray: ...


class Factored:
    """X X' + diag(ridge) for the interior-point method, and few sums, one row of A each."""

    def __init__(self, features: Products, ridge: np.ndarray, A: np.ndarray) -> None:
        self.features, self.ridge, self.A = features, ridge, A
        self.diagonal = features.squares() + ridge
        self.largest = float(self.diagonal.max(initial=0.0)) or 1.0

    def times(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.features.times(self.features.turned(x)) + self.ridge * x)

    def sums(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.A @ x)

    def spread(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(self.A.T @ y)

    def factor(self, theta: np.ndarray) -> Solver:
        features = self.features
        D = np.maximum(theta + self.ridge, RIDGE * self.largest)
        M = features.normal(1 / D)
        M[np.diag_indices(features.d)] += 1.0
        factor = cho_factor(M, lower=True, check_finite=False)

        def once(right: np.ndarray) -> np.ndarray:
            v = cho_solve(factor, features.turned((right.T / D).T), check_finite=False)
            return np.asarray(((right - features.times(v)).T / D).T)

        def solve(right: np.ndarray) -> np.ndarray:
            x = once(right)
            # one step of iterative refinement: D^-1 magnifies the rounding of r - X v
            left = right - features.times(features.turned(x)) - (x.T * D).T
            return np.asarray(x + once(left))

        return with_sums(solve, self.A)


def solve_in_features(
    problem: Problem, X: Matrix, tol: float, team: Workers, stopped: Callable[[], object]
) -> Solution:
    """The exact solution, or the best point found until it is stopped."""
    if isinstance(X, DistantRows):
        X = some_rows(X, np.arange(X.shape[0]))
    plain = Features(X, team, stopped=stopped)
    # coefficients that sum to zero do not depend on the origin: the mean rounds least
    total, size = float(problem.start.sum()), float(np.abs(problem.start).sum())
    balanced = problem.threshold and (problem.a == 1).all() and abs(total) <= SUM_ROUNDING * size
    features = plain.shifted(plain.mean()) if balanced else plain
    at = _point(problem, features, _at_ends(problem), 0)
    optimality = Optimality.of(problem, at.beta, at.grad, len(problem))
    if not optimality.meets(tol):
        inner = _interior(problem, features)
        if _dual(problem, inner) > _dual(problem, at):
            at = inner
        optimality = Optimality.of(problem, at.beta, at.grad, len(problem))
    if not (stopped() or optimality.infeasible_margin or is_exact(problem, optimality.violation)):
        at = _refined(problem, features, at)
    at = _point(problem, plain, at.beta, at.n_steps)
    optimality = Optimality.of(problem, at.beta, at.grad, len(problem))
    return replace(at, violation=optimality.violation, converged=optimality.meets(tol))


def _at_ends(problem: Problem) -> np.ndarray:
    """The start, with variables that only rounding keeps from their far bound put there."""
    lo, hi, beta = problem.lo, problem.hi, problem.start
    near = beta * (1 + SUM_ROUNDING)
    return np.where((near >= hi) & (hi > 0), hi, np.where((near <= lo) & (lo < 0), lo, beta))


def _point(problem: Problem, features: Features, beta: np.ndarray, n_steps: int) -> Solution:
    grad = problem.p + problem.ridge * beta
    if beta.any():
        grad = grad + features.times(features.turned(beta))
    return Solution(beta, grad, np.inf, n_steps, False)


def _dual(problem: Problem, at: Solution) -> float:
    return -float(at.beta @ (at.grad + problem.p)) / 2


def _interior(problem: Problem, features: Features) -> Solution:
    """By the interior-point method, within the bounds and with the sums that are to be kept."""
    moving = problem.hi > problem.lo
    beta = problem.start.copy()
    part = features if moving.all() else features.taken(moving)
    A = np.zeros((0, part.n))
    if problem.threshold:
        A = sum_rows(problem.a[moving], problem.group[moving])
    lo, hi = problem.lo[moving], problem.hi[moving]
    inner = minimise(
        Factored(part, problem.ridge[moving], A), problem.p[moving], beta[moving], lo, hi,
        (lo + hi) / 2 if np.isfinite(hi - lo).all() else None, features.stopped,
        problem.least_norm**2 / 4,
    )  # fmt: skip
    if inner.x is not None and np.isfinite(inner.x).all():
        beta[moving] = inner.x
        beta = with_kept_sums(problem, np.clip(beta, problem.lo, problem.hi))
    at = _point(problem, features, beta, inner.n_solved)
    return at if problem.relative else best_multiple(problem, at)


def best_multiple(problem: Problem, at: Solution) -> Solution:
    """The best of t b, 0 <= t <= 1, which matters where the method was stopped on the way."""
    slope = float(problem.p @ at.beta)
    curve = float(at.beta @ (at.grad - problem.p))
    if slope >= 0 or curve <= -slope:
        return at
    t = -slope / curve
    return replace(at, beta=t * at.beta, grad=problem.p + t * (at.grad - problem.p))


def _refined(problem: Problem, features: Features, at: Solution) -> Solution:
    def gram(F: np.ndarray) -> np.ndarray:
        rows = features.rows(F)
        return np.asarray(rows @ rows.T)

    def products(F: np.ndarray, d: np.ndarray) -> np.ndarray:
        return features.times(features.weighted(F, d))

    def solve(F: np.ndarray, right: np.ndarray, short: np.ndarray) -> np.ndarray:
        A = np.zeros((0, len(F)))
        if problem.threshold:
            A = sum_rows(problem.a[F], problem.group[F])
        return Factored(features.taken(F), problem.ridge[F], A).factor(np.zeros(len(F)))(
            right, short
        )[0]

    return refine(
        problem, at, gram, products, solve if problem.ridge.any() else None, features.stopped
    )
