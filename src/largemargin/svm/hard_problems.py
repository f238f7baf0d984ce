"""A problem that many steps do not end, solved in the few dimensions that its kernel has.

Steps slow down with the condition of K, which is worst where it has far more rows than dimensions:
polynomials of few features, wide gaussians. With K = L L' (`low_rank`) such a problem is that of a
linear machine with the rows of L, which is solved whatever its condition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from largemargin.kernels.engine import fill
from largemargin.kernels.functions import UNIT, squared_norms
from largemargin.runtime.arrays import DistantRows
from largemargin.runtime.progress import Watch
from largemargin.svm.jobs import StatedProblem
from largemargin.svm.linear.solver import solve_few_columns
from largemargin.svm.low_rank import factor_by_rows
from largemargin.svm.problem import Optimality, Solution

if TYPE_CHECKING:
    from largemargin.svm.session import Session

TRIALS = 3  # of the linear solver, each from where the one before has come
PIECE = 256  # rows of kernel values that are summed together


def solve_in_columns(
    session: Session, one: StatedProblem, at: Solution, tol: float, watch: Watch
) -> Solution:
    """The solution in the columns of L, if these are few; or a given one, if that is better."""
    if isinstance(session.X, DistantRows) or not session.kernel.psd or watch.look():
        return at
    problem, values = one.problem, _values(session, one.examples)
    L = factor_by_rows(session.norms[one.examples] ** 2, values, UNIT, watch.look)
    if L is None:
        return at
    beta, n_steps = at.beta, at.n_steps
    for _ in range(TRIALS):
        start = replace(problem, start=beta)
        inner = solve_few_columns(start, L, tol / 2, session.finishes, session.team, watch.look)
        beta, n_steps = inner.beta, n_steps + inner.n_steps
        if inner.converged or watch.look():
            break
    used, grad = np.flatnonzero(beta), problem.p + problem.ridge * beta
    for k in range(0, len(used), PIECE):
        part = used[k : k + PIECE]
        grad += beta[part] @ values(part)
    optimality = Optimality.of(problem, beta, grad, len(problem))
    found = Solution(beta, grad, optimality.violation, n_steps, optimality.meets(tol))
    watch.advance(int(found.converged))
    return found if found.converged or found.violation < at.violation else at


def _values(session: Session, examples: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """What gives the kernel values of some of these examples, against all of them, in float64."""
    if session.whole and session.exact:
        place = session.place[examples]
        return lambda some: session.gram[np.ix_(place[some], place)]
    kernel, X = session.kernel, session.X[examples]
    squares = np.zeros(len(examples))
    if kernel.on_products:
        X = X.astype(np.float64)
        squares = squared_norms(X)

    def values(some: np.ndarray) -> np.ndarray:
        vectors: Any = examples[some][:, None] if kernel.by_column else X[some]
        out = np.empty((len(some), len(examples)))
        return fill(kernel, out.dtype, (X, squares), (vectors, squares[some]), out)

    return values
