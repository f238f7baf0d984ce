"""Which way a problem is solved, by what the data and the kernel are like.

    few features             the linear kernel: systems of d equations (`linear.solver`)
    many features            the linear kernel: coordinate descent (`linear.coordinate_descent`)
    few examples             one matrix of all kernel values (`dense_solver`)
    pairs of small classes   a matrix each (`dense_solver`)
    cheap kernel values      computed, used and forgotten (`solving_in_chunks`)
    dear kernel values       kept in rows that all problems share (`decomposition`)

A problem that many steps do not end is solved in few dimensions, if its kernel has no more
(`hard_problems`). Coordinate descent goes from one row to the next: of rows in other processes each
would be waited for, and kernel values are used instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from largemargin.kernels.functions import Linear
from largemargin.kernels.fused import FusedRows
from largemargin.runtime.arrays import DistantRows
from largemargin.runtime.progress import Watch
from largemargin.svm.decomposition import Subproblem, solve
from largemargin.svm.dense_solver import (
    SMO_EXTRA,
    SMO_STEPS,
    SMO_STEPS_PER_VARIABLE,
    solve_dense,
)
from largemargin.svm.evaluation import of_sum, sum_loops
from largemargin.svm.few_features import has_few_features, may_be_solved_in_features
from largemargin.svm.hard_problems import solve_in_columns
from largemargin.svm.jobs import StatedProblem
from largemargin.svm.linear.coordinate_descent import fits, solve_by_coordinates
from largemargin.svm.linear.solver import in_order_of_data, solve_few_columns
from largemargin.svm.problem import Solution
from largemargin.svm.solving_in_chunks import InChunks

if TYPE_CHECKING:
    from largemargin.svm.session import Session

# A problem is hard after so many times the steps that a block may take, or where these take longer
# than to solve it in the few dimensions that a kernel is known to have: that is some dozens of
# products L'L, and so many multiplications of one take as long as a step
HARD = 2
MULTIPLICATIONS = 300
SMO_FIRST_ROWS = 512  # rows up to which SMO is tried before solving in few features
SMO_FIRST_VALUES = 3_000_000  # kernel values that it may look at: about the time of the other way
CORNER_ROWS = 1536  # examples of a problem up to which its own matrix is computed at once


class Solving:
    """Solves problems to a tolerance, over the kernel values of a session."""

    def __init__(self, session: Session, tol: float, watch: Watch) -> None:
        self.session, self.tol, self.watch = session, tol, watch
        self.in_chunks = InChunks(session, tol, watch)

    def solve(self, stated: Sequence[StatedProblem], max_steps: float) -> list[Solution]:
        """The solutions of all problems, found together."""
        session, watch = self.session, self.watch
        found: list[Solution | None] = [None] * len(stated)
        if (
            has_few_features(session.X, session.kernel)
            and max_steps > SMO_STEPS + SMO_STEPS_PER_VARIABLE * session.n
        ):
            found = [self._solve_in_features(one) for one in stated]
        elif self._has_rows_at_hand and max_steps == np.inf:
            found = self._solve_by_coordinates(stated)
            if may_be_solved_in_features(session.X):
                for k, at in enumerate(found):
                    if at and not (at.converged or watch.stopped):
                        found[k] = self._solve_in_features(stated[k])
        left = [k for k, at in enumerate(found) if not (at and (at.converged or watch.stopped))]
        others = self._solve_over_values([stated[k] for k in left], max_steps)
        for k, at in zip(left, others, strict=True):
            other = found[k]
            found[k] = at if other is None or at.violation < other.violation else other
        return [at for at in found if at]

    def _solve_over_values(
        self, stated: Sequence[StatedProblem], max_steps: float
    ) -> list[Solution]:
        """Solve all problems over kernel values; one that many steps do not end in few dimensions,
        if the kernel has no more.
        """
        if not stated:
            return []
        session, watch = self.session, self.watch
        patience = min(max_steps, self._patience(max(len(one.problem) for one in stated)))
        found = self._solve_by_steps(stated, patience)
        near = not isinstance(session.X, DistantRows)
        is_single = near and session.computed and not session.exact  # it may never end in float32
        for k, at in enumerate(found):
            if at.converged or at.n_steps >= max_steps:
                continue
            is_hard = at.n_steps >= patience
            if is_hard:
                found[k] = at = solve_in_columns(session, stated[k], at, self.tol, watch)
            if (is_hard or is_single) and not (at.converged or watch.look()):
                found[k] = self._continued(stated[k], at, max_steps)
        return found

    def _patience(self, n: int) -> float:
        """The steps after which a problem of n variables is a hard one."""
        kernel = self.session.kernel
        usual = SMO_STEPS + SMO_STEPS_PER_VARIABLE * n
        d = kernel.dimensions(int(self.session.X.shape[1])) if kernel.psd else np.inf
        return float(int(min(HARD * usual, SMO_STEPS + n * d * d / MULTIPLICATIONS)))

    def _continued(self, one: StatedProblem, at: Solution, max_steps: float) -> Solution:
        """Go on from a point, with values in float64 if those so far were not."""
        session = self.session
        again = replace(one, problem=replace(one.problem, start=at.beta))
        if session.computed and not session.exact and not isinstance(session.X, DistantRows):
            found = self.in_chunks.solve_in(session.long, again, max_steps - at.n_steps)
        else:
            (found,) = self._solve_by_steps([again], max_steps - at.n_steps)
        return replace(found, n_steps=found.n_steps + at.n_steps)

    def _solve_by_steps(self, stated: Sequence[StatedProblem], max_steps: float) -> list[Solution]:
        session = self.session
        if session.whole and len(stated) == 1 and self.in_chunks.has_matrix(stated[0]):
            return [self._solve_single_first(stated[0], max_steps)]
        if session.whole:
            return self._solve_in_gram(stated, max_steps)
        if session.computed:
            return self._solve_forgetting(stated, max_steps)
        return self._solve_over_rows(stated, max_steps)

    def _solve_single_first(self, one: StatedProblem, max_steps: float) -> Solution:
        """Solve a problem in float32, and in float64 from there as far as it counts; or go on from
        there in the whole Gram matrix.
        """
        found, start, spent = self.in_chunks.solve_first(one, max_steps)
        if found is not None:
            self.watch.advance(1)
            return found
        again = replace(one, problem=replace(one.problem, start=start))
        (found,) = self._solve_in_gram([again], max_steps - spent)
        return replace(found, n_steps=found.n_steps + spent)

    def _solve_in_gram(self, stated: Sequence[StatedProblem], max_steps: float) -> list[Solution]:
        """Solve all problems in the whole Gram matrix, each on one thread."""
        found: list[Any] = [None] * len(stated)

        def run(k: int) -> None:
            found[k] = self._solve_dense(stated[k], max_steps)

        _ = self.session.gram  # not by several threads at once
        self.session.team.map(run, range(len(stated)))
        return found

    def _solve_dense(self, one: StatedProblem, max_steps: float) -> Solution:
        """Solve a problem in the matrix of all its kernel values."""
        K = self.session.gram_of_split(one.job.split)
        at = solve_dense(one.problem, K, self.tol, max_steps, self.watch, self.session.team)
        self.watch.advance(1)
        return at

    def _solve_forgetting(
        self, stated: Sequence[StatedProblem], max_steps: float
    ) -> list[Solution]:
        """Solve all problems over kernel values that are computed, used and forgotten, small ones
        in a matrix each.
        """
        session = self.session
        found: list[Any] = [None] * len(stated)
        n_values = np.zeros(len(stated), np.int64)
        small = [self._is_small(one) for one in stated]
        near = session.fused.nearby() if any(small) else session.fused
        # not by several threads at once
        _ = session.sizes, session.evaluation.size_weights, all(small) or session.quick

        def run(k: int) -> None:
            if small[k]:
                found[k] = self._solve_in_corner(stated[k], near, max_steps)
                n_values[k] = len(stated[k].examples) ** 2
            else:
                found[k], n_values[k] = self.in_chunks.solve(stated[k], max_steps)

        if isinstance(session.X, DistantRows) and not all(small):
            session.X.together(run, range(len(stated)))
        else:
            session.team.map(run, range(len(stated)))
        session.n_computed += int(n_values.sum())
        return found

    def _is_small(self, one: StatedProblem) -> bool:
        """Whether a problem has few of the examples: a pair of many classes."""
        return len(one.examples) <= min(CORNER_ROWS, self.session.n - 1)

    def _solve_in_corner(self, one: StatedProblem, near: FusedRows, max_steps: float) -> Solution:
        """Solve a problem on one thread in the matrix of its kernel values."""
        session, examples = self.session, one.examples
        K = near.corner(examples, session.room(len(examples) ** 2))
        at = solve_dense(one.problem, K, self.tol, max_steps, self.watch, session.team)
        used = np.flatnonzero(at.beta)
        coefs, sizes = np.abs(at.beta[used]), session.sizes
        drift = of_sum(len(used)) * float(coefs @ sizes[examples[used]]) * sizes[examples]
        weights, weighted = session.evaluation.size_weights, None
        if weights is not None:
            weighted = np.zeros(len(examples))
            sum_loops().add_sizes(weighted, 0, K, used, coefs * weights[examples[used]])
        self.watch.advance(1)
        return replace(at, drift=drift, sizes=weighted)

    def _solve_over_rows(self, stated: Sequence[StatedProblem], max_steps: float) -> list[Solution]:
        """Solve all problems over kernel rows that are kept."""
        session, watch = self.session, self.watch
        runs = [
            Subproblem(
                one.problem,
                session.layout.portions(one.job.split),
                session.rows,
                session.asked_for(one.job.split),
                self.tol,
                max_steps,
                session.sizes,
                watch.look,
                one.job.start is not None,
            )
            for one in stated
        ]
        solve(runs, session.rows, session.team, watch)
        if session.finishes and not watch.stopped:
            self._finish([run for run in runs if run.converged])
        return [run.solution() for run in runs]

    def _finish(self, runs: Sequence[Subproblem]) -> None:
        """Go on beyond the tolerance as far as that is cheap, then to the exact solutions."""
        for run in runs:
            run.continue_to(SMO_EXTRA * run.tol)
        solve(runs, self.session.rows, self.session.team, self.watch)
        for run in runs:
            run.converged = True
            if not self.watch.look():
                run.refine()

    def _solve_in_features(self, one: StatedProblem) -> Solution:
        """Solve a problem in the space of its few features, unless a few steps are enough."""
        session, watch = self.session, self.watch
        if session.whole and session.n <= SMO_FIRST_ROWS:
            at = self._solve_dense(one, SMO_FIRST_VALUES // session.n)
            if at.converged or watch.stopped:
                return at
        at = in_order_of_data(
            one.problem, one.examples, session.X,
            lambda problem, X: solve_few_columns(
                problem, X, self.tol, session.finishes, session.team, watch.look
            ),
        )  # fmt: skip
        watch.advance(int(at.converged))
        return at

    @property
    def _has_rows_at_hand(self) -> bool:
        """Whether a row's product with w is cheaper than a kernel row, and does not come from
        afar.
        """
        session = self.session
        near = not isinstance(session.X, DistantRows)
        return isinstance(session.kernel, Linear) and near and not session.whole

    def _solve_by_coordinates(self, stated: Sequence[StatedProblem]) -> list[Solution | None]:
        """Solve the problems that coordinate descent knows, each on one thread."""
        session, watch = self.session, self.watch
        found: list[Solution | None] = [None] * len(stated)

        def work(k: int) -> None:
            at = found[k] = in_order_of_data(
                stated[k].problem, stated[k].examples, session.X,
                lambda problem, X: solve_by_coordinates(
                    problem, X, self.tol, session.finishes, session.team, watch.look
                ),
            )  # fmt: skip
            watch.advance(int(at.converged))

        session.team.map(work, [k for k, one in enumerate(stated) if fits(one.problem)])
        return found
