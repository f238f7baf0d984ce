"""Many columns: dual coordinate descent with shrinking (Hsieh et al. 2008), and a threshold.

    minimise 1/2 w.w + 1/2 b'diag(ridge)b + p.b,   w = X'b,   lo <= b <= hi,   sum of b = 0

Without the sum a variable is at its best for given others after one step that costs no more than
its row has entries. The sum is kept by an augmented Lagrangian: with a level t and a stiffness k

    ... + t sum b + k/2 (sum b)^2

is minimised over the box alone, to the accuracy that the sum has, and t rises by k sum b, until
both are met; k, of the size of the rows' squared norms, is as if each row had one entry more. The
sum is off by little after a few rounds, since a level that is wrong moves the ends of many
variables. What is left of it is put right in the end, shared by the variables that are free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.functions import squared_norms
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.threads import Workers
from largemargin.svm.active_set import group_sums, refine, with_kept_sums
from largemargin.svm.linear.rows import Rows, entries, loops
from largemargin.svm.problem import Optimality, Problem, Solution

PASSES = 1000  # passes at most, each as long as one over all entries
DENSE_PASSES = 300  # the same where there are other methods, which take as long as so many
SEED = 88172645463325252  # any number but zero
SHARE = 0.9  # gradients of one pass over some rows, relative to the tolerance of all
BALANCE = 0.1  # of the tolerance that a level may be off
SHRINK = 0.5  # rows beyond this fraction of the worst gradient are put aside
COMPACT = 0.5  # the share of rows that are left of those copied at which they are copied again
LEAST_DIAGONAL = 1e-300


def fits(problem: Problem) -> bool:
    """Whether the method knows the problem: one sum, with signs alike, or none."""
    return not problem.relative and problem.n_groups == 1 and bool((problem.a == 1).all())


def solve_by_coordinates(
    problem: Problem, X: Matrix, tol: float, exact: bool, team: Workers,
    stopped: Callable[[], object],
) -> Solution:  # fmt: skip
    """The solution to the tolerance, beyond it if `exact`; or the best point found until stopped,
    or after so many passes that another method is worth trying.
    """
    search = _Descent(problem, X, team)
    limit, at = tol, None
    while True:
        search.run(limit, stopped)
        at = search.read(tol, at)
        if at.converged or stopped() or search.passes >= search.most_passes:
            break
        limit /= 2
    if exact and at.converged and not stopped():
        at = search.refined(at, tol, stopped)
    return at


class _Part:
    """Some rows of a problem with all that a pass over them reads, one after the other."""

    def __init__(self, descent: _Descent, rows: np.ndarray) -> None:
        problem, everything = descent.problem, len(rows) == descent.n
        X: Any = descent.X if everything else descent.X[rows]
        self.rows, self.active = rows, np.arange(len(rows))
        self.matrix = entries(X) if sp.issparse(X) else (X,)
        fixed = problem.p, problem.lo, problem.hi, problem.ridge, descent.diagonal
        self.fixed = tuple(part if everything else part[rows] for part in fixed)
        self.beta = descent.beta[rows]
        self.left_out = np.zeros(len(rows), bool)


class _Descent:
    """The variables, w and the level."""

    def __init__(self, problem: Problem, X: Matrix, team: Workers) -> None:
        self.problem, self.X, self._rows = problem, X, Rows(X, team)
        self.n = len(problem)
        squares = squared_norms(X)
        self.stiffness = float(squares.mean()) if problem.threshold else 0.0
        self.diagonal = np.maximum(squares + problem.ridge + self.stiffness, LEAST_DIAGONAL)
        self.moving = np.flatnonzero(problem.hi > problem.lo)
        self.beta = problem.start.copy()
        self.target = float(group_sums(problem, problem.start)[0])
        self.level = 0.0
        self.state = SEED
        self.most_passes = PASSES if sp.issparse(X) else DENSE_PASSES
        self.passes = 0.0  # rows looked at, relative to all
        self.n_steps = 0

    def _weights(self, beta: np.ndarray) -> np.ndarray:
        if not beta.any():
            return np.zeros(self.X.shape[1])
        if sp.issparse(self.X):
            return np.asarray(self.X.T @ beta, np.float64)
        return self._rows.turned(beta)

    def _gradient(self, beta: np.ndarray, w: np.ndarray) -> np.ndarray:
        """That of all variables, without the level."""
        return np.asarray(self.problem.p + self.problem.ridge * beta + self._rows.times(w))

    def run(self, tol: float, stopped: Callable[[], object]) -> None:
        """Descend until no gradient that can be followed is beyond the tolerance, and the level is
        within a small part of it.

        All rows are looked at where those in use are settled; those at an end of their box whose
        gradients keep them there are then put aside until the next look.
        """
        self.w = self._weights(self.beta)  # afresh: rounding adds up in many steps
        base = self.level  # t; `level` is t + k (sum b - its target)
        whole: _Part | None = None
        while self.passes < self.most_passes and not stopped():
            off = abs(self.level - base)
            if off > BALANCE * tol:
                # solved as well as the sum is: the Lagrangian takes its next step
                base = self.level
                self.level += self.stiffness * (float(self.beta.sum()) - self.target)
            rows, most, least = self._look()
            if most - least <= tol and off <= BALANCE * tol:
                return
            if len(rows) < COMPACT * len(self.moving):
                part = _Part(self, self.moving[rows])
            else:
                part = whole = whole or _Part(self, self.moving)
                part.active, part.beta = rows, self.beta[self.moving]
            self._settle(part, base, tol, stopped)

    def _look(self) -> tuple[np.ndarray, float, float]:
        """Which of the moving rows can gain anything, or may soon; and the largest and the least
        gradient of variables that can move against it.
        """
        self.passes += 1
        beta, lo, hi = self.beta, self.problem.lo, self.problem.hi
        g = self._gradient(beta, self.w) + self.level
        falls, rises = beta > lo, beta < hi
        most = float(g[self.moving].max(initial=0.0, where=falls[self.moving]))
        least = float(g[self.moving].min(initial=0.0, where=rises[self.moving]))
        above, below = _far(most, least)
        near = (falls | ~(g > above)) & (rises | ~(g < below))
        return np.flatnonzero(near[self.moving]), most, least

    def _settle(self, part: _Part, base: float, tol: float, stopped: Callable[[], object]) -> None:
        """Descend over some rows, and fewer of them, until their gradients are as small as they
        are to be, or as what the sum is off by.
        """
        above, below = np.inf, -np.inf
        while self.passes < self.most_passes and not stopped():
            most, least = self._pass(part, above, below)
            if most - least <= max(SHARE * tol, abs(self.level - base)):
                break
            above, below = _far(most, least)
            part.active = part.active[~part.left_out[part.active]]
            if len(part.active) < COMPACT * len(part.rows):
                self.beta[part.rows] = part.beta
                part = _Part(self, part.rows[part.active])
        self.beta[part.rows] = part.beta

    def _pass(self, part: _Part, above: float, below: float) -> tuple[float, float]:
        self.passes += max(len(part.active), 1) / self.n
        self.n_steps += 1
        part.left_out[part.active] = False
        self.state = loops().shuffle(part.active, np.uint64(self.state))
        descend = loops().descend if sp.issparse(self.X) else loops().descend_dense
        most, least, self.level, _ = descend(
            *part.matrix, *part.fixed, part.beta, self.w, self.level, self.stiffness, part.active,
            part.left_out, above, below,
        )  # fmt: skip
        return most, least

    def read(self, tol: float, other: Solution | None) -> Solution:
        """The point with its sum put right, or another if that is better."""
        at = self._judged(with_kept_sums(self.problem, self.beta), tol)
        return at if other is None or at.violation < other.violation else other

    def _judged(self, beta: np.ndarray, tol: float) -> Solution:
        problem = self.problem
        grad = self._gradient(beta, self._weights(beta))
        optimality = Optimality.of(problem, beta, grad, self.n)
        return Solution(beta, grad, optimality.violation, self.n_steps, optimality.meets(tol))

    def refined(self, at: Solution, tol: float, stopped: Callable[[], object]) -> Solution:
        """The exact solution near by, if the active set method can have it."""

        def gram(F: np.ndarray) -> np.ndarray:
            rows: Any = self.X[F].astype(np.float64)
            return np.asarray((rows @ rows.T).toarray() if sp.issparse(rows) else rows @ rows.T)

        def products(F: np.ndarray, d: np.ndarray) -> np.ndarray:
            return self._rows.times(np.asarray(self.X[F].T @ d, np.float64))

        found = refine(self.problem, at, gram, products, stopped=stopped)
        return replace(self._judged(found.beta, tol), n_steps=at.n_steps)


def _far(most: float, least: float) -> tuple[float, float]:
    """Gradients beyond which a variable at an end of its box is put aside."""
    return SHRINK * most if most > 0 else np.inf, SHRINK * least if least < 0 else -np.inf
