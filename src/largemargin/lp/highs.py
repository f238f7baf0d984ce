"""One linear program inside HiGHS: built in parts, solved again from where it was.

    minimise (or maximise)  c.x   subject to   row_lower <= A x <= row_upper,  lower <= x <= upper

The status of a solve is read after each one, and a simplex that does not end in a solution is
followed by other ways to one: from scratch with presolve, then the interior point. Whether a
solution is good enough is for the caller to see, who has the exact numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.runtime import progress

OPTIMAL, INFEASIBLE, UNBOUNDED, STOPPED, FAILED = (
    "optimal", "infeasible", "unbounded", "stopped", "failed",
)  # fmt: skip
# Ways to solve: solver, presolve, whether to start afresh. The first starts from the last basis.
WAYS = (("simplex", "off", False), ("simplex", "on", True), ("ipm", "on", True))
# A simplex that takes more than BASE_STEPS steps, and STEPS_PER_LINE more for each row and column,
# counts as stalled. A limit of time would depend on the machine, and so would the solution where
# there are several.
BASE_STEPS, STEPS_PER_LINE = 1000, 5
SLICE = 0.5  # seconds that the simplex runs before it is asked whether to stop
NO_LIMIT = 1e9  # seconds that HiGHS takes for no limit of time
# Ways in which HiGHS scales a program before the simplex (its option simplex_scale_strategy)
UNSCALED, EQUILIBRATED = 0, 2
SMALLEST_ENTRY = 1e-12  # entries of the matrix below this are zero to HiGHS, which allows no less


@dataclass(frozen=True)
class Outcome:
    """How a solve ended, with the solution if it is "optimal".

    `duals` are the Lagrange multipliers of the rows: what the objective gains when their bounds
    grow by one unit.
    """

    status: str
    x: np.ndarray
    duals: np.ndarray
    objective: float
    n_steps: int


class LinearProgram:
    """A program that columns and rows are added to; their numbers count from 0 in order.

    Parameters
    ----------
    solvable : bool
        Whether it is known to have a solution, so that any other verdict is a failure of the solver
        and to be looked into by other ways.
    """

    def __init__(self, *, maximize: bool = False, solvable: bool = False) -> None:
        import highspy

        self._highspy = highspy
        make: Any = highspy.Highs
        self._highs = make()
        for option, value in (
            ("output_flag", False), ("threads", 1),
            ("primal_feasibility_tolerance", 1e-9), ("dual_feasibility_tolerance", 1e-9),
            ("small_matrix_value", SMALLEST_ENTRY),
        ):  # fmt: skip
            self._highs.setOptionValue(option, value)
        if maximize:
            self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        self._n_rows = self._n_columns = 0
        self._verdicts = (OPTIMAL,) if solvable else (OPTIMAL, INFEASIBLE, UNBOUNDED)

    @property
    def shape(self) -> tuple[int, int]:
        return self._n_rows, self._n_columns

    def add_columns(self, costs: Any, lower: Any, upper: Any, matrix: Any = None) -> None:
        """More variables; `matrix`, dense or sparse, has their coefficients in the rows of the
        program, one column per variable.
        """
        count = len(np.atleast_1d(costs))
        entries = np.empty((count, 0)) if matrix is None else matrix.T
        arrays = [np.broadcast_to(np.asarray(part, float), count) for part in (costs, lower, upper)]
        self._checked(self._highs.addCols(count, *arrays, *_entries(entries)))
        self._n_columns += count

    def add_rows(self, matrix: np.ndarray, lower: Any, upper: Any) -> None:
        """More constraints; `matrix` has one column per variable of the program."""
        count = len(matrix)
        arrays = [np.broadcast_to(np.asarray(part, float), count) for part in (lower, upper)]
        self._checked(self._highs.addRows(count, *arrays, *_entries(matrix)))
        self._n_rows += count

    def delete_rows(self, rows: np.ndarray) -> None:
        """The numbers of the rows after them move up."""
        self._checked(self._highs.deleteRows(len(rows), np.asarray(rows, np.int32)))
        self._n_rows -= len(rows)

    def delete_columns(self, columns: np.ndarray) -> None:
        """The numbers of the columns after them move up."""
        self._checked(self._highs.deleteCols(len(columns), np.asarray(columns, np.int32)))
        self._n_columns -= len(columns)

    def set_bounds(self, first: int, lower: Any, upper: np.ndarray) -> None:
        """Other bounds for variables from `first` on."""
        columns = np.arange(first, first + len(upper), dtype=np.int32)
        lower = np.broadcast_to(np.asarray(lower, float), len(upper))
        self._checked(self._highs.changeColsBounds(len(upper), columns, lower, upper))

    def set_row_bounds(self, row: int, lower: float, upper: float) -> None:
        self._checked(self._highs.changeRowBounds(row, lower, upper))

    def set_column(self, column: int, cost: float, values: np.ndarray) -> None:
        """Another cost and other coefficients, one number per row, for a variable."""
        self._checked(self._highs.changeColCost(column, cost))
        for row, value in enumerate(values.tolist()):
            self._highs.changeCoeff(row, column, value)

    def set_coefficient(self, row: int, column: int, value: float) -> None:
        self._checked(self._highs.changeCoeff(row, column, value))

    def solve(
        self,
        seconds: float | None = None,
        stopped: Callable[[], Any] = lambda: False,
        *,
        afresh: bool = False,
    ) -> Outcome:
        """Solve from the last basis, unless `afresh`; if that comes to nothing, in other ways.

        `stopped` is asked now and then whether to give up.
        """
        until = np.inf if seconds is None else progress.clock() + seconds
        for way in WAYS[1:] if afresh else WAYS:
            outcome = self._try(*way, until, stopped)
            if outcome.status in self._verdicts or stopped() or progress.clock() >= until:
                break
        return outcome

    def _try(
        self, solver: str, presolve: str, afresh: bool, until: float, stopped: Callable[[], Any]
    ) -> Outcome:
        highs = self._highs
        if afresh:
            highs.clearSolver()
        # as the caller has scaled it, and only if that came to nothing as HiGHS would scale it
        highs.setOptionValue("simplex_scale_strategy", EQUILIBRATED if afresh else UNSCALED)
        highs.setOptionValue("solver", solver)
        highs.setOptionValue("presolve", presolve)
        most = BASE_STEPS + STEPS_PER_LINE * sum(self.shape)
        n_steps = 0
        while True:
            highs.setOptionValue("simplex_iteration_limit", most - n_steps)
            left = max(until - progress.clock(), 1e-3)
            slice_ = min(left, SLICE if solver == "simplex" else NO_LIMIT)
            highs.setOptionValue("time_limit", highs.getRunTime() + slice_)
            highs.run()
            outcome = self._outcome(n_steps)
            n_steps = outcome.n_steps
            out_of_time = stopped() or progress.clock() >= until
            if outcome.status != STOPPED or n_steps >= most or out_of_time:
                return outcome
            highs.setOptionValue("presolve", "off")  # go on from the basis that was reached

    def _outcome(self, n_before: int) -> Outcome:
        status, of = self._highs.getModelStatus(), self._highspy.HighsModelStatus
        word = {
            of.kOptimal: OPTIMAL, of.kModelEmpty: OPTIMAL, of.kInfeasible: INFEASIBLE,
            of.kUnbounded: UNBOUNDED, of.kTimeLimit: STOPPED, of.kIterationLimit: STOPPED,
        }.get(status, FAILED)  # fmt: skip
        solution, info = self._highs.getSolution(), self._highs.getInfo()
        steps = sum(
            max(count, 0)
            for count in (
                info.simplex_iteration_count, info.ipm_iteration_count,
                info.crossover_iteration_count,
            )
        )  # fmt: skip
        return Outcome(
            word, np.array(solution.col_value), np.array(solution.row_dual),
            float(info.objective_function_value), n_before + steps,
        )  # fmt: skip

    def _checked(self, status: Any) -> None:
        if status == self._highspy.HighsStatus.kError:
            raise RuntimeError("HiGHS refused a change of a linear program")


def _entries(matrix: Any) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """The non-zero entries of some rows, as HiGHS takes them."""
    if sp.issparse(matrix):
        found = sp.csr_array(matrix)
        starts, columns, values = found.indptr[:-1], found.indices, found.data
    else:
        matrix = np.ascontiguousarray(matrix)
        rows, columns = np.nonzero(matrix)
        starts, values = np.searchsorted(rows, np.arange(len(matrix))), matrix[rows, columns]
    return len(values), starts.astype(np.int32), columns.astype(np.int32), values
