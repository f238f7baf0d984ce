"""A problem of a few thousand variables, in float32 first and then, where it counts, in float64.

A matrix of all kernel values is had in half the time in float32, and half as long to read. What it
gives is good to the tolerance and shows which variables are far from mattering: they are zero, at a
bound, and their gradient keeps them there by more than all that float32 may have put it off. The
exact solution is that of the others, whose kernel values in float64 are a smaller matrix:

    minimise 1/2 b'(K + diag(ridge))b + p'b   over the near variables, the far ones being zero

In the end each far variable is looked at again, and one that is not surely far joins the near ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from largemargin.kernels.fused import entries_per_row
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.progress import Watch
from largemargin.runtime.threads import Workers
from largemargin.svm.active_set import extremes, sides
from largemargin.svm.dense_solver import (
    add_columns,
    column_parts,
    solve_dense,
    solve_nearly,
    take_steps,
)
from largemargin.svm.evaluation import Stored, of_sum, sum_loops
from largemargin.svm.problem import Optimality, Problem, Solution

if TYPE_CHECKING:
    from largemargin.svm.multiclass import Split
    from largemargin.svm.session import Session

# More rows than the first and no more than the second: fewer are read from cache in float64, and of
# more the matrix is longer to fill than the values that are needed
ROWS = 1536, 3072
# Entries of a row up to which kernel values may be computed twice, where all would be kept in
# float64; and from which on they are too dear to be computed in every round, where none would be
FEW_ENTRIES, MANY_ENTRIES = 48, 12
WIDTH = 0.02  # how far a gradient is beyond its errors, relative to a margin, that is far
ROUNDS = 3  # sets of near variables that are tried


def may_pay(X: Matrix, whole: bool) -> bool:
    """Whether this way is worth it for such rows; `whole` says that all kernel values in float64
    would be kept otherwise, and not computed in every round.
    """
    if not ROWS[0] < X.shape[0] <= ROWS[1]:
        return False
    cost = entries_per_row(X)
    return cost <= FEW_ENTRIES if whole else cost > MANY_ENTRIES


@dataclass(frozen=True)
class Values:
    """The kernel values of a problem's variables, and what is known of their sizes.

    Attributes
    ----------
    single : array
        All of them in float32.
    corner : function
        Those among some variables in float64.
    norms : array
        n with |k_ij| <= n_i n_j
    weights : array or None
        With these, sums of weight_j |b_j k_ij| are made for a bound of rounding errors.
    error : function
        How far sums with some coefficients are from those of kernel values in float64.
    """

    single: np.ndarray
    corner: Callable[[np.ndarray], np.ndarray]
    norms: np.ndarray
    weights: np.ndarray | None
    error: Callable[[np.ndarray], np.ndarray]

    @classmethod
    def of(cls, session: Session, split: Split, examples: np.ndarray) -> Values:
        """Those of the examples of a session's problem."""
        evaluation, weights = session.evaluation, session.evaluation.size_weights
        return cls(
            session.quick.corner(examples),
            lambda which: session.fused.corner(examples[which]),
            session.sizes[examples],
            None if weights is None else weights[examples],
            lambda beta: evaluation.errors_of_single(Stored(split, examples, beta[None]))[0],
        )


@dataclass(frozen=True)
class Found:
    """A solution, whether it is the exact one with a bound of its drift, and the number of kernel
    values that it took.
    """

    solution: Solution
    is_exact: bool
    n_values: int


def solve_single_first(
    problem: Problem, values: Values, tol: float, max_steps: float, watch: Watch, team: Workers
) -> Found:
    """The exact solution; or the point reached, if time is up or float32 does not lead there."""
    at = solve_nearly(problem, values.single, tol / 2, max_steps, watch, team)
    near, n_values = np.zeros(len(problem), bool), values.single.size
    for _ in range(ROUNDS):
        if not at.converged or watch.stopped:
            break
        near |= _may_matter(problem, at, values.error(at.beta) + WIDTH)
        which = np.flatnonzero(near)
        K = values.corner(which)
        n_values += K.size
        part = replace(taken(problem, which), start=at.beta[which])
        if max_steps == np.inf:
            closer = take_steps(part, K, tol, watch, team)
            part, at = (
                replace(part, start=closer.beta),
                replace(at, n_steps=at.n_steps + closer.n_steps),
            )
        found = solve_dense(part, K, tol, max_steps - at.n_steps, watch, team)
        at = _put(problem, values, at, which, found, K, team)
        errors = np.where(near, 0.0, values.error(at.beta))
        if at.converged and not (_may_matter(problem, at, errors) & ~near).any():
            return Found(replace(at, drift=at.drift + errors), True, n_values)
    return Found(at, False, n_values)


def taken(problem: Problem, which: np.ndarray) -> Problem:
    """The problem of some variables, where all others are zero."""
    names = ("p", "lo", "hi", "ridge", "a", "group", "start")
    return replace(problem, **{name: getattr(problem, name)[which] for name in names})


def _may_matter(problem: Problem, at: Solution, errors: np.ndarray) -> np.ndarray:
    """Marks the variables that are not zero, or could be better otherwise for gradients that are
    off by such errors.
    """
    value, rises, falls = sides(problem, at.beta, at.grad)
    known = at.beta != 0
    top, low = extremes(problem, value, rises & known, falls & known)
    level = np.maximum(top, low)[problem.group], np.minimum(top, low)[problem.group]
    up, down = value + errors >= level[1], value - errors <= level[0]
    return np.asarray(known | (rises & up) | (falls & down))


def _put(
    problem: Problem, values: Values, at: Solution, which: np.ndarray, found: Solution,
    K: np.ndarray, team: Workers,
) -> Solution:  # fmt: skip
    """The solution with the near variables as they were found, and sums made afresh: theirs in
    float64, and those of the others by what has changed.
    """
    beta, grad = at.beta.copy(), at.grad.copy()
    beta[which] = found.beta
    changed = np.flatnonzero(beta != at.beta)
    add_columns(grad, values.single, changed, (beta - at.beta)[changed], team)
    used = np.flatnonzero(found.beta)
    coefs, norms = found.beta[used], values.norms[which[used]]
    own = np.zeros(len(which))
    drift, sizes = of_sum(len(used)) * float(np.abs(coefs) @ norms) * values.norms, None
    if values.weights is None:
        add_columns(own, K, used, coefs, team)
    else:
        weights, sums = np.abs(coefs) * values.weights[which[used]], np.zeros(len(which))

        def add(part: tuple[int, int]) -> None:
            first, width = part[0], part[1] - part[0]
            sum_loops().add_rows_and_sizes(own, sums, first, K, first, width, used, coefs, weights)

        team.map(add, column_parts(len(which)))
        sizes = float(weights @ norms) * values.norms
        sizes[which] = sums
        drift[which] = of_sum(len(used)) * sums
    grad[which] = problem.p[which] + problem.ridge[which] * found.beta + own
    left = Optimality.of(taken(problem, which), beta[which], grad[which], len(which)).violation
    return Solution(
        beta, grad, left, at.n_steps + found.n_steps, found.converged, drift, None, sizes
    )
