"""A problem of a few thousand variables, in float32 first and then, where it counts, in float64.

Kernel values in float32 are had in half the time. What they give is good to the tolerance and shows
which variables are far from mattering: they are at a bound, and their gradient keeps them there by
more than all that float32 may have put it off. The exact solution is that of the others, the
**near** ones N, in the matrix of the float64 values among them:

    minimise 1/2 b_N'(K + diag(ridge))_NN b_N + (p_N + K_NF b_F)'b_N,   the far ones F being fixed

The gradient in float64 is computed once, of all that are near or not zero; what the near ones
change is added to that of the others. In the end each far variable is looked at again, and one that
is not surely far joins the near ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from largemargin.kernels.functions import UNIT
from largemargin.kernels.fused import FusedRows, entries_per_row
from largemargin.runtime.arrays import Matrix
from largemargin.svm.active_set import extremes, sides
from largemargin.svm.chunking import Chunking
from largemargin.svm.problem import Optimality, Problem, Solution

# More rows than the first and no more than the second have all their values in float32 in a matrix:
# fewer are read from cache in float64, and of more the matrix is longer to fill than the values
# that are needed, unless these have many entries; it has no more rows than the third
ROWS = 1536, 3072, 4096
LARGEST_MATRIX = 4 * ROWS[2] ** 2  # bytes
USUAL_ENTRIES = 32  # entries of a row for which the second holds; it grows with the root of them
# Entries of a row up to which kernel values may be computed twice, where all would be kept in
# float64; and from which on they are too dear to be computed in every round, where none would be
FEW_ENTRIES, MANY_ENTRIES = 48, 12
# How far a gradient is beyond its errors and the violation, relative to a margin, that is far
WIDTH = 0.02
ROUNDS = 3  # sets of near variables that are tried
MOST_NEAR = 2048  # near variables that are solved for in one matrix

Solve = Callable[[Problem, np.ndarray, float], Solution]  # problem, kernel values, most steps


def may_pay(n: int, X: Matrix, whole: bool) -> bool:
    """Whether a matrix in float32 is worth it for n such rows; `whole` says that all kernel values
    in float64 would be kept otherwise, and not computed in every round.
    """
    if not ROWS[0] < n <= ROWS[2]:
        return False
    cost = entries_per_row(X)
    if n > ROWS[1] * max(1.0, cost / USUAL_ENTRIES) ** 0.5:
        return False
    return cost <= FEW_ENTRIES if whole else cost > MANY_ENTRIES


def solve_near(
    rough: Chunking,
    kernel: FusedRows,
    norms: np.ndarray,
    weights: np.ndarray | None,
    error: Callable[[np.ndarray], np.ndarray],
    solve: Solve,
) -> Solution | None:
    """The exact solution from one that is good to the tolerance, with kernel values in float64;
    None if time is up or float32 does not lead there.

    `norms` bound kernel values, |k_ij| <= n_i n_j, `weights` are those of `Chunking`, `error` says
    how far sums with some coefficients are from those of kernel values in float64, and `solve`
    solves a problem in a matrix.
    """
    problem, near = rough.problem, np.zeros(len(rough.beta), bool)
    for _ in range(ROUNDS):
        if not rough.converged or rough.effort.stopped():
            break
        width = WIDTH + rough.tol
        near |= _may_matter(problem, rough, error(rough.beta) + rough.drift + width)
        if not 0 < near.sum() <= MOST_NEAR:
            break
        at = _Double(rough, kernel, near, norms, weights)
        found = solve(at.problem, at.values, rough.effort.max_steps - rough.effort.n_steps)
        rough.effort.n_steps += found.n_steps
        if rough.effort.stopped():
            break
        rough.move(at.near, found.beta, at.zero)
        at.take(found)
        if not found.converged:
            break
        errors = error(rough.beta) + rough.drift
        errors[at.used] = at.drift
        if not (_may_matter(problem, rough, np.where(near, 0.0, errors)) & ~near).any():
            left = Optimality.of(problem, rough.beta, rough.grad, len(problem)).violation
            steps = rough.effort.n_steps
            return Solution(
                rough.beta, rough.grad, left, steps, True, errors, sizes=at.sizes_of_all()
            )
    return None


def _may_matter(problem: Problem, at: Chunking, errors: np.ndarray) -> np.ndarray:
    """Marks the variables that are inside the box, or could be better otherwise for gradients that
    are off by such errors.
    """
    value, rises, falls = sides(problem, at.beta, at.grad)
    known = at.beta != 0
    top, low = extremes(problem, value, rises & known, falls & known)
    level = np.maximum(top, low)[problem.group], np.minimum(top, low)[problem.group]
    up, down = value + errors >= level[1], value - errors <= level[0]
    return np.asarray((rises & falls) | (rises & up) | (falls & down))


class _Double:
    """The variables of a solver that are near or not zero, with their gradient in float64.

    Attributes
    ----------
    near, fixed, zero : arrays
        The variables that are near, far and not zero, and far and zero.
    used : array
        The first two.
    problem, values : Problem, array
        That of the near variables, and the kernel values among them.
    drift : array
        How far the gradient of those used may be off by rounding.
    """

    def __init__(
        self, of: Chunking, kernel: FusedRows, near: np.ndarray, norms: np.ndarray,
        weights: np.ndarray | None,
    ) -> None:  # fmt: skip
        self._of, self._kernel, self._norms, self._weights = of, kernel, norms, weights
        known = of.beta != 0
        self.near, self.fixed = np.flatnonzero(near), np.flatnonzero(known & ~near)
        self.zero = np.flatnonzero(~(known | near))
        self.used = np.concatenate([self.near, self.fixed])
        sums = self._sums(np.flatnonzero(known), np.flatnonzero(near & ~known))
        self._start = of.beta[self.near]
        self._put(self.used, sums[0][self.used])
        self._sizes = sums[-1]
        self.values = kernel.corner(of.examples[self.near])
        part = of.problem.taken(self.near)
        pull = of.grad[self.near] - self.values @ self._start - part.ridge * self._start
        self.problem = replace(part, p=pull, start=self._start, least_norm=0.0)
        of.effort.n_values += len(self.near) ** 2 + len(sums[0]) * len(self.used)

    def _sums(self, known: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The sums of beta_j k_ij, and with weights those of weight_j |beta_j k_ij|, of the
        variables that are not zero and of those others that are near.
        """
        examples, beta = self._of.examples, self._of.beta[known]
        coefs = beta[None]
        if self._weights is not None:
            coefs = np.stack([beta, np.abs(beta) * self._weights[examples[known]]])
        sums = np.zeros((len(coefs), len(examples)))
        sums[:, known] = self._kernel.sums_among(examples[known], coefs)
        if len(others):
            vectors = self._kernel.vectors(examples[known])
            sums[:, others] = self._kernel.columns(examples[others]).sums(vectors, coefs)
        return sums

    def _put(self, which: np.ndarray, sums: np.ndarray) -> None:
        problem, of = self._of.problem, self._of
        of.grad[which] = problem.p[which] + problem.ridge[which] * of.beta[which] + sums

    def take(self, found: Solution) -> None:
        """Take over the near variables, and add what they changed to the gradient of the fixed
        ones.
        """
        of, step = self._of, found.beta - self._start
        moved = np.flatnonzero(step)
        examples = of.examples[self.near[moved]]
        of.grad[self.near] = found.grad
        if len(moved) and len(self.fixed):
            columns = self._kernel.columns(of.examples[self.fixed])
            of.grad[self.fixed] += columns.sums(self._kernel.vectors(examples), step[None, moved])[
                0
            ]
            of.effort.n_values += len(moved) * len(self.fixed)
        own = self._norms[of.examples[self.used]]
        summed = float(np.abs(of.beta[self.used]) @ own)
        summed += float(np.abs(step[moved]) @ self._norms[examples])
        self.drift = UNIT * (len(self.used) + 40) * summed * own + 4 * UNIT * (2 + summed * own)
        if self._weights is not None:  # what they may have grown by
            grown = float((np.abs(step[moved]) * self._weights[examples]) @ self._norms[examples])
            self._sizes += grown * self._norms[of.examples]

    def sizes_of_all(self) -> np.ndarray | None:
        """The sums with weights; those of the variables that are far and zero by their norms."""
        if self._weights is None:
            return None
        of, own = self._of, self._of.examples[self.used]
        most = float((np.abs(of.beta[self.used]) * self._weights[own]) @ self._norms[own])
        self._sizes[self.zero] = most * self._norms[of.examples[self.zero]]
        return np.asarray(self._sizes)
