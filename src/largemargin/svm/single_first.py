"""A problem of a few thousand variables, in float32 first and then, where it counts, in float64.

Kernel values in float32 are had in half the time. What they give is good to the tolerance and shows
which variables are far from mattering: they are zero, at a bound, and their gradient keeps them
there by more than all that float32 may have put it off. The exact solution is that of the others:

    minimise 1/2 b'(K + diag(ridge))b + p'b   over the near variables, the far ones being zero

In the end each far variable is looked at again, and one that is not surely far joins the near ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from largemargin.kernels.fused import FusedRows, entries_per_row
from largemargin.runtime.arrays import Matrix
from largemargin.svm.active_set import extremes, sides
from largemargin.svm.chunking import Chunking
from largemargin.svm.problem import Problem, Solution

# More rows than the first and no more than the second have all their values in float32 in a matrix:
# fewer are read from cache in float64, and of more the matrix is longer to fill than the values
# that are needed
ROWS = 1536, 3072
# Entries of a row up to which kernel values may be computed twice, where all would be kept in
# float64; and from which on they are too dear to be computed in every round, where none would be
FEW_ENTRIES, MANY_ENTRIES = 48, 12
WIDTH = 0.02  # how far a gradient is beyond its errors, relative to a margin, that is far
ROUNDS = 3  # sets of near variables that are tried


def may_pay(X: Matrix, whole: bool) -> bool:
    """Whether a matrix in float32 is worth it for such rows; `whole` says that all kernel values in
    float64 would be kept otherwise, and not computed in every round.
    """
    if not ROWS[0] < X.shape[0] <= ROWS[1]:
        return False
    cost = entries_per_row(X)
    return cost <= FEW_ENTRIES if whole else cost > MANY_ENTRIES


def solve_near(
    rough: Chunking,
    kernel: FusedRows,
    norms: np.ndarray,
    weights: np.ndarray | None,
    error: Callable[[np.ndarray], np.ndarray],
) -> Solution | None:
    """The exact solution from one that is good to the tolerance, with kernel values in float64;
    None if time is up or float32 does not lead there.

    `norms` bound kernel values, |k_ij| <= n_i n_j, `weights` are those of `Chunking`, and `error`
    says how far sums with some coefficients are from those of kernel values in float64.
    """
    problem, near = rough.problem, np.zeros(len(rough.beta), bool)
    for _ in range(ROUNDS):
        if not rough.converged or rough.effort.stopped():
            break
        near |= _may_matter(problem, rough, error(rough.beta) + rough.drift + WIDTH)
        which = np.flatnonzero(near)
        solver = rough.continued(kernel, weights, which)
        if solver is rough or not solver.converged or rough.effort.stopped():
            break
        rough.move(which, solver.beta)
        errors = error(rough.beta) + rough.drift
        if not (_may_matter(problem, rough, np.where(near, 0.0, errors)) & ~near).any():
            return _joined(rough, which, solver.solution(), errors, norms, weights)
    return None


def _may_matter(problem: Problem, at: Chunking, errors: np.ndarray) -> np.ndarray:
    """Marks the variables that are not zero, or could be better otherwise for gradients that are
    off by such errors.
    """
    value, rises, falls = sides(problem, at.beta, at.grad)
    known = at.beta != 0
    top, low = extremes(problem, value, rises & known, falls & known)
    level = np.maximum(top, low)[problem.group], np.minimum(top, low)[problem.group]
    up, down = value + errors >= level[1], value - errors <= level[0]
    return np.asarray(known | (rises & up) | (falls & down))


def _joined(
    rough: Chunking, which: np.ndarray, found: Solution, errors: np.ndarray, norms: np.ndarray,
    weights: np.ndarray | None,
) -> Solution:  # fmt: skip
    """The near variables as they were found, the others as they are known in float32."""
    grad, sizes, drift = rough.grad.copy(), None, errors.copy()
    grad[which], drift[which] = found.grad, found.drift
    if weights is not None:
        own = rough.examples[which]
        most = float((np.abs(found.beta) * weights[own]) @ norms[own])
        sizes = most * norms[rough.examples]
        sizes[which] = found.sizes
    return replace(found, beta=rough.beta, grad=grad, drift=drift, sizes=sizes)
