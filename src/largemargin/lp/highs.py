"""One linear program inside HiGHS: built in parts, solved again from where it was.

    minimise (or maximise)  c.x   subject to   row_lower <= A x <= row_upper,  lower <= x <= upper

A is dense, as kernel values are. The status of a solve is read after each one, and a simplex that
does not end in a solution is followed by other ways to one: from scratch with presolve, then the
interior point. Whether a solution is good enough is for the caller to see, who has the exact
numbers.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

OPTIMAL, INFEASIBLE, UNBOUNDED, STOPPED, FAILED = (
    "optimal", "infeasible", "unbounded", "stopped", "failed",
)  # fmt: skip
# each a way to solve, the first from the last basis: (solver, presolve, whether to start afresh)
WAYS = (("simplex", "off", False), ("simplex", "on", True), ("ipm", "on", True))
PATIENCE = 20.0  # a warm simplex may take so many times ...
SHORTEST = 2.0  # ... the longest so far, or so many seconds, before it counts as stalled


@dataclass(frozen=True)
class Outcome:
    """How a solve ended, with the solution if it is "optimal".

    `duals` are the multipliers of the rows: what the objective gains by a unit of their bounds.
    """

    status: str
    x: np.ndarray
    duals: np.ndarray
    objective: float
    n_steps: int


class LinearProgram:
    """A program that columns and rows are added to; their numbers count from 0 in order."""

    def __init__(self, *, maximize: bool = False) -> None:
        import highspy

        self._highspy = highspy
        self._highs = highspy.Highs()
        for option, value in (
            ("output_flag", False), ("threads", 1), ("presolve", "off"), ("solver", "simplex"),
            ("primal_feasibility_tolerance", 1e-9), ("dual_feasibility_tolerance", 1e-9),
        ):  # fmt: skip
            self._highs.setOptionValue(option, value)
        if maximize:
            self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        self._n_rows = self._n_columns = 0
        self._longest = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        return self._n_rows, self._n_columns

    def add_columns(
        self, costs: Any, lower: Any, upper: Any, matrix: np.ndarray | None = None
    ) -> None:
        """More variables; `matrix` has their coefficients, a row a row of the program."""
        count = len(np.atleast_1d(costs))
        entries = () if matrix is None else _entries(np.ascontiguousarray(matrix.T))
        arrays = [np.broadcast_to(np.asarray(part, float), count) for part in (costs, lower, upper)]
        self._checked(
            self._highs.addCols(count, *arrays, *(entries or _entries(np.empty((count, 0)))))
        )
        self._n_columns += count

    def add_rows(self, matrix: np.ndarray, lower: Any, upper: Any) -> None:
        """More constraints; `matrix` has a column a variable of the program."""
        count = len(matrix)
        arrays = [np.broadcast_to(np.asarray(part, float), count) for part in (lower, upper)]
        self._checked(self._highs.addRows(count, *arrays, *_entries(matrix)))
        self._n_rows += count

    def set_costs(self, columns: np.ndarray, costs: np.ndarray) -> None:
        columns = np.asarray(columns, np.int32)
        self._checked(self._highs.changeColsCost(len(columns), columns, np.asarray(costs, float)))

    def set_bounds(self, columns: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
        columns = np.asarray(columns, np.int32)
        arrays = [np.asarray(part, float) for part in (lower, upper)]
        self._checked(self._highs.changeColsBounds(len(columns), columns, *arrays))

    def set_row_bounds(self, rows: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
        rows = np.asarray(rows, np.int32)
        arrays = [np.asarray(part, float) for part in (lower, upper)]
        self._checked(self._highs.changeRowsBounds(len(rows), rows, *arrays))

    def set_coefficient(self, row: int, column: int, value: float) -> None:
        self._checked(self._highs.changeCoeff(row, column, float(value)))

    def solve(self, seconds: float | None = None) -> Outcome:
        """Solve from the last basis; if that comes to nothing, in other ways."""
        until = np.inf if seconds is None else time.monotonic() + seconds
        outcome = None
        for solver, presolve, afresh in WAYS:
            left = until - time.monotonic()
            if outcome is not None and left <= 0:
                break
            last = solver == WAYS[-1][0]
            allowed = left if last else min(left, max(SHORTEST, PATIENCE * self._longest))
            outcome = self._run(solver, presolve, afresh, max(allowed, 1e-3))
            if outcome.status in (OPTIMAL, INFEASIBLE, UNBOUNDED):
                break
        assert outcome is not None
        return outcome

    def _run(self, solver: str, presolve: str, afresh: bool, seconds: float) -> Outcome:
        highs = self._highs
        if afresh:
            highs.clearSolver()
        highs.setOptionValue("solver", solver)
        highs.setOptionValue("presolve", presolve)
        limit = min(seconds, 1e9)
        began = time.monotonic()
        highs.setOptionValue("time_limit", highs.getRunTime() + limit)
        highs.run()
        self._longest = max(self._longest, time.monotonic() - began)
        return self._outcome()

    def _outcome(self) -> Outcome:
        status, of = self._highs.getModelStatus(), self._highspy.HighsModelStatus
        word = {
            of.kOptimal: OPTIMAL, of.kModelEmpty: OPTIMAL, of.kInfeasible: INFEASIBLE,
            of.kUnbounded: UNBOUNDED, of.kUnboundedOrInfeasible: FAILED, of.kTimeLimit: STOPPED,
            of.kIterationLimit: STOPPED,
        }.get(status, FAILED)  # fmt: skip
        solution, info = self._highs.getSolution(), self._highs.getInfo()
        steps = info.simplex_iteration_count + max(info.ipm_iteration_count, 0)
        return Outcome(
            word, np.array(solution.col_value), np.array(solution.row_dual),
            float(info.objective_function_value), int(steps),
        )  # fmt: skip

    def _checked(self, status: Any) -> None:
        if status == self._highspy.HighsStatus.kError:
            raise RuntimeError("HiGHS refused a change of a linear program")


def _entries(matrix: np.ndarray) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """The non-zero entries of some rows, as HiGHS takes them."""
    rows, columns = np.nonzero(matrix)
    starts = np.searchsorted(rows, np.arange(len(matrix)))
    return len(rows), starts.astype(np.int32), columns.astype(np.int32), matrix[rows, columns]
