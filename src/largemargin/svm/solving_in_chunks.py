"""A problem over kernel values that are computed, used and forgotten: those of an exact solution in
float32 first, by `chunking` or, of few examples, in one matrix.

Float32 need not lead far. As soon as few variables can still matter, these are solved for in a
matrix of float64 (`single_first`), in which steps cost next to nothing. Where they are too many,
float32 goes on to the tolerance, and chunking in float64 from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from largemargin.kernels.fused import FusedRows
from largemargin.runtime.arrays import DistantRows
from largemargin.runtime.progress import Watch
from largemargin.svm.chunking import FINER, LOOK_ROWS, Chunking
from largemargin.svm.dense_solver import solve_nearly, solve_on
from largemargin.svm.evaluation import Outputs, Stored
from largemargin.svm.forecast import Forecast
from largemargin.svm.jobs import StatedProblem
from largemargin.svm.problem import Problem, Solution
from largemargin.svm.single_first import may_pay, solve_near

if TYPE_CHECKING:
    from largemargin.svm.session import Session

FIRST = 0.02  # a violation at which few variables can still matter


class InChunks:
    """Solves problems to a tolerance, over values that a session computes each time."""

    def __init__(self, session: Session, tol: float, watch: Watch) -> None:
        self.session, self.tol, self.watch = session, tol, watch

    def solve(self, one: StatedProblem, max_steps: float) -> tuple[Solution, int]:
        """The solution of a problem, and how many kernel values it took."""
        session = self.session
        solver = self._chunking(one, max_steps)
        at = self._solved_first(one, solver, self.has_matrix(one))
        if at is None:
            if session.finishes:
                solver = solver.continued(session.fused, session.evaluation.size_weights)
            at = solver.solution()
            if solver.kernel.dtype != session.fused.dtype:  # no time for float64, or no wish
                stored = Stored(one.job.split, one.examples, at.beta[None])
                at = replace(at, drift=at.drift + session.evaluation.error_of_single(stored))
        self.watch.advance(int(at.converged))
        return at, solver.effort.n_values

    def solve_first(
        self, one: StatedProblem, max_steps: float
    ) -> tuple[Solution | None, np.ndarray, int]:
        """The solution of a problem of few examples if float32 leads there; also how far it did,
        and in how many steps.
        """
        solver = self._chunking(one, max_steps)
        at = self._solved_first(one, solver, True)
        if at is None and not self.session.finishes:
            at = solver.solution()
        self.session.n_computed += solver.effort.n_values
        return at, solver.beta, solver.effort.n_steps

    def solve_in(self, kernel: FusedRows, one: StatedProblem, max_steps: float) -> Solution:
        """The solution of a problem in some kernel values."""
        solver = self._chunking(one, max_steps, kernel)
        solver.run()
        self.session.n_computed += solver.effort.n_values
        return solver.solution()

    def has_matrix(self, one: StatedProblem) -> bool:
        """Whether a problem is solved in a matrix of float32 first."""
        session = self.session
        return (
            not (isinstance(session.X, DistantRows) or one.problem.relative)
            and may_pay(len(one.examples), session.X, session.whole)
            and session.is_cheap
            and session.quick is not session.fused
            and session.quick.in_order
        )

    def _solved_first(
        self, one: StatedProblem, solver: Chunking, in_matrix: bool
    ) -> Solution | None:
        """The exact solution by way of float32, if that is wanted and leads there; the solver has
        come as far as float32 does in any case.
        """
        with self.session.matrix(one.examples) if in_matrix else nullcontext() as K:
            solver.effort.n_values += 0 if K is None else K.size
            for tol in self._stages(one):
                solver.tol = tol
                if K is None:
                    solver.run()
                else:
                    self._solve_in_matrix(one, solver, K)
                found = self._solve_near(one, solver)
                if found is not None:
                    return found
            if K is not None and self.session.finishes and not solver.is_close():
                # too many are free for the exact solution: steps in this matrix cost least
                self._solve_in_matrix(one, solver, K, FINER * solver.tol)
        return None

    def _stages(self, one: StatedProblem) -> Iterator[float]:
        """Violations to reach in float32, after each of which the exact solution is tried."""
        if self._may_be_near(one) and self.tol < FIRST:
            yield FIRST
        yield self.tol

    def _may_be_near(self, one: StatedProblem) -> bool:
        """Whether the exact solution is wanted, and may be had from one in float32."""
        session = self.session
        single = session.quick is not session.fused
        return session.finishes and single and not one.problem.relative

    def _solve_in_matrix(
        self, one: StatedProblem, solver: Chunking, K: np.ndarray, closer: float = np.inf
    ) -> None:
        """Solve a problem in the matrix of its values in float32, and let the solver know; beyond
        the tolerance to a violation of `closer`, if that is cheap.
        """
        session, effort = self.session, solver.effort
        tol = solver.tol / 2 if session.finishes else solver.tol
        start = replace(one.problem, start=solver.beta)
        at = solve_nearly(
            start, K, tol, min(tol, closer), effort.max_steps - effort.n_steps, self.watch,
            session.team,
        )  # fmt: skip
        solver.take(at)

    def _chunking(
        self, one: StatedProblem, max_steps: float, kernel: FusedRows | None = None
    ) -> Chunking:
        """The solver of a problem over values that are computed, used and forgotten; those of the
        exact solution in float32 first, without the sizes of sums, which are wanted in the end.
        """
        session, watch = self.session, self.watch
        distant = isinstance(session.X, DistantRows)  # sums come from afar: as few as can be
        return Chunking(
            one.problem, one.examples, session.layout.ends(one.job.split),
            kernel or session.quick, self.tol, max_steps,
            norms=session.sizes,
            weights=None if distant or session.finishes else session.evaluation.size_weights,
            stopped=watch.look,
            given=one.job.start is not None,
            report=Forecast(watch, self.tol, partial(self._gap_on_the_way, one)),
            look_rows=session.n if distant else LOOK_ROWS,
            is_first=session.finishes and session.quick is not session.fused,
        )  # fmt: skip

    def _solve_near(self, one: StatedProblem, solver: Chunking) -> Solution | None:
        """The exact solution from one in float32, if that leads there."""
        if not self._may_be_near(one):
            return None
        session, watch = self.session, self.watch

        def error(beta: np.ndarray) -> np.ndarray:
            stored = Stored(one.job.split, one.examples, beta[None])
            return np.asarray(session.evaluation.errors_of_single(stored)[0])

        def solve(problem: Problem, K: np.ndarray, max_steps: float) -> Solution:
            return solve_on(problem, K, self.tol, max_steps, watch, session.team)

        return solve_near(
            solver, session.fused, session.sizes, session.evaluation.size_weights, error, solve
        )

    def _gap_on_the_way(self, one: StatedProblem, solver: Chunking) -> float:
        """The relative duality gap of a solver's variables, rounding apart."""
        session, solution = self.session, solver.solution()
        trained = session.read(one, replace(solution, beta=solution.beta.copy()))
        y, s, result = one.signs, one.weights, trained.result
        f = trained.scale * trained.outputs[None]
        outputs = Outputs(f, np.zeros_like(f), float(result.coefs @ f[0]), 0.0)
        bounds = one.job.formulation.bounds(
            y, s, result.coefs, result.intercept, outputs, session.evaluation.reach
        )
        return bounds.gap
