"""The restricted master of column generation: the part of a program that HiGHS holds, which is some
examples, some coefficients, and the errors as two variables.

Of the dual (see `programs`), HiGHS has the rows of the coefficients in J and the variables of the
examples in W. An example left out has u = 0, or is among the **errors**: those of one class share
one variable, u_i = z prices_i with 0 <= z <= 1. In the primal their slacks are one slack, of the
sum of what they lack: a lower bound of the sum of their slacks, so whatever is left out, the
restricted master is feasible and bounded like the whole. With z fixed at 1 it would not be.

Rows are scaled to a largest entry of 1, and u is measured in a unit, for the tolerances of HiGHS
are absolute. Kernel values of 1e-9 then weigh as much as those of 1. A sum that exceeds its bound
by a tolerance matters to coefficients as large as its inverse: `strict` makes the entries of rows
so many times as large, and the tolerance as much smaller.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from largemargin.kernels.rows import BLOCK
from largemargin.lp.highs import LinearProgram, Outcome
from largemargin.lp.kernel_values import KernelValues, OutOfTime
from largemargin.lp.programs import Program
from largemargin.runtime.progress import Watch

CLASSES = (1.0, -1.0)  # the signs of the two classes, each of which has one variable for its errors
SOME = 1024  # variables that are added before anyone looks at the clock again


@dataclass(frozen=True)
class MasterSolution:
    """A solution of the restricted master, for the whole program.

    Attributes
    ----------
    examples, coefs : arrays
        J, and the coefficients of its examples.
    duals : array
        u of all examples.
    level : float
        The largest sum_i u_i B_ij that a coefficient j may have: the cost, or t.
    b, rho : float
        The threshold and the margin.
    """

    examples: np.ndarray
    coefs: np.ndarray
    duals: np.ndarray
    level: float
    b: float = 0.0
    rho: float = 1.0


class RestrictedMaster:
    """The part of a program that is solved, which grows. `coefficients` are J, `examples` are W;
    `is_error` says which examples are among the errors.

    Growing raises `OutOfTime` where no time is left; what it leaves is not to be used.
    """

    def __init__(
        self,
        program: Program,
        values: KernelValues,
        watch: Watch,
        unit: float,
        strict: float = 1.0,
    ) -> None:
        self.program, self.values, self.watch = program, values, watch
        self.unit, self.strict = unit, strict
        n = len(program)
        self.raised = 1.0
        self.examples = np.empty(0, np.int64)
        self.coefficients = np.empty(0, np.int64)
        self.scales = np.empty(0)
        self.in_examples, self.in_coefficients, self.is_error = np.zeros((3, n), bool)
        self.lp = LinearProgram(maximize=True, solvable=True)
        self._error_sums = np.zeros((len(CLASSES), n))  # sum of prices_i B_ij over the errors
        self._with_margin = program.nu is not None
        self.lp.add_columns(np.zeros(len(CLASSES)), 0.0, 1.0)
        if program.nu is not None:
            self.lp.add_columns(-1.0, -np.inf, np.inf)  # t, in units of size
            sums = np.zeros((2, self._first))
            self.lp.add_rows(sums, [0.0, program.nu / self.unit], [0.0, np.inf])

    @property
    def _first(self) -> int:
        """The number of the first variable that belongs to an example."""
        return len(CLASSES) + self._with_margin

    @property
    def _first_row(self) -> int:
        """The number of the first row that belongs to a coefficient."""
        return 2 * self._with_margin

    def entries(self, coefficients: np.ndarray, examples: np.ndarray) -> np.ndarray:
        """B_ij, in row j and column i."""
        y = self.program.signs
        block = self.values.rows(coefficients, examples) * np.outer(y[coefficients], y[examples])
        own = coefficients[:, None] == examples[None, :]
        block[own] -= np.broadcast_to(self.program.own[coefficients, None], own.shape)[own]
        return block

    def dual_sums(self, examples: np.ndarray, duals: np.ndarray) -> np.ndarray:
        """sum_i duals_i B_ij over some examples, for all j; pricing compares it with the cost."""
        y = self.program.signs
        found = y * self.values.transposed_scores(examples, duals * y[examples])
        found[examples] -= self.program.own[examples] * duals
        return np.asarray(found)

    def margins(self, point: MasterSolution) -> np.ndarray:
        """(B alpha)_i + y_i b for all i."""
        y, used = self.program.signs, point.coefs > 0
        examples, coefs = point.examples[used], point.coefs[used]
        found = y * (self.values.scores(examples, coefs * y[examples]) + point.b)
        found[examples] -= self.program.own[examples] * coefs
        return np.asarray(found)

    def set_sample(self, sample: np.ndarray) -> None:
        """Let some examples stand for all: their prices are raised to the sum of all prices."""
        prices = self.program.prices
        self.raised = float(prices.sum() / prices[sample].sum()) if self._samples_matter else 1.0
        self.lp.set_bounds(0, 0.0, np.full(len(CLASSES), self.raised))
        self.lp.set_bounds(self._first, 0.0, self._upper(self.examples))
        if self._with_margin:
            self.lp.set_row_bounds(1, self.program.nu_of(sample) / self.unit, np.inf)

    @property
    def _samples_matter(self) -> bool:
        """Whether the objective has other terms, to which the loss must be in proportion."""
        return self._with_margin or self.program.cost > 0

    def _upper(self, examples: np.ndarray) -> np.ndarray:
        return np.asarray(self.program.prices[examples] * (self.raised / self.unit))

    def add_examples(self, new: np.ndarray) -> None:
        """Row generation: give examples variables of their own, also those that were errors."""
        self.set_errors(new[self.is_error[new]], False)
        for first in range(0, len(new), SOME):
            part = new[first : first + SOME]
            block = self.entries(self.coefficients, part) / self.scales[:, None]
            if self._with_margin:
                block = np.vstack([self.program.signs[part], np.ones(len(part)), block])
            cost = 0.0 if self._with_margin else 1.0
            self.lp.add_columns(np.full(len(part), cost), 0.0, self._upper(part), block)
            self.examples = np.concatenate([self.examples, part])
            self.in_examples[part] = True
            self._look()

    def add_coefficients(self, new: np.ndarray) -> None:
        """Column generation: let examples have coefficients; one without any effect is left out."""
        everyone = np.arange(len(self.program))
        for first in range(0, len(new), BLOCK):  # a few at a time: a row has a value per example
            part = new[first : first + BLOCK]
            block = self.entries(part, everyone)
            scales = np.abs(block).max(axis=1) / self.strict
            some = scales > 0
            self._add_rows(part[some], block[some][:, self.examples], scales[some])
            self._look()

    def _add_rows(self, new: np.ndarray, block: np.ndarray, scales: np.ndarray) -> None:
        parts = [self._error_sums[:, new].T / self.unit, block]
        if self._with_margin:
            parts.insert(1, np.full((len(new), 1), -self.program.size))
        upper = self.program.cost / self.unit / scales
        self.lp.add_rows(np.hstack(parts) / scales[:, None], -np.inf, upper)
        self.coefficients = np.concatenate([self.coefficients, new])
        self.scales = np.concatenate([self.scales, scales])
        self.in_coefficients[new] = True

    def drop_coefficients(self, where: np.ndarray) -> None:
        """Drop the coefficients in some places of J."""
        self.lp.delete_rows(where + self._first_row)
        self.in_coefficients[self.coefficients[where]] = False
        self.coefficients = np.delete(self.coefficients, where)
        self.scales = np.delete(self.scales, where)

    def drop_examples(self, where: np.ndarray, are_errors: np.ndarray) -> None:
        """Take back the variables in some places of W; those that are errors join the errors."""
        examples = self.examples[where]
        self.lp.delete_columns(where + self._first)
        self.in_examples[examples] = False
        self.examples = np.delete(self.examples, where)
        self.set_errors(examples[are_errors], True)

    def set_errors(self, examples: np.ndarray, is_error: bool) -> None:
        """Count examples without a variable among the errors, or no longer among them."""
        if not len(examples):
            return
        self.is_error[examples] = is_error
        y, prices = self.program.signs, self.program.prices
        for k, side in enumerate(CLASSES):
            mine = examples[y[examples] == side]
            if not len(mine):
                continue
            self._error_sums[k] += self.dual_sums(mine, prices[mine] if is_error else -prices[mine])
            total = float(prices[self.is_error & (y == side)].sum()) / self.unit
            column = self._error_sums[k, self.coefficients] / self.unit / self.scales
            if self._with_margin:
                column = np.concatenate([[side * total, total], column])
            self.lp.set_column(k, 0.0 if self._with_margin else total, column)

    def _look(self) -> None:
        if self.watch.look():
            raise OutOfTime

    def set_own(self, own: np.ndarray) -> None:
        """Change what coefficients take from their examples' own margins."""
        change = own - self.program.own
        self.program = replace(self.program, own=own)
        y, prices = self.program.signs, self.program.prices
        column = np.full(len(own), -1)
        column[self.examples] = self._first + np.arange(len(self.examples))
        for k, side in enumerate(CLASSES):
            mine = self.is_error & (y == side)
            self._error_sums[k, mine] -= (prices * change)[mine]
            column[mine] = k
        diagonal = self.values.diagonal - own
        for row, (j, scale) in enumerate(zip(self.coefficients, self.scales, strict=True)):
            if column[j] < 0 or not change[j]:
                continue
            value = (
                diagonal[j] if self.in_examples[j] else self._error_sums[column[j], j] / self.unit
            )
            self.lp.set_coefficient(self._first_row + row, int(column[j]), float(value / scale))

    def solve(self, afresh: bool = False) -> tuple[Outcome, MasterSolution | None]:
        """Solve the restricted master; its solution, if there is one, for the whole program."""
        outcome = self.lp.solve(self.watch.seconds_left, self.watch.look, afresh=afresh)
        if not np.isfinite(outcome.x).all() or len(outcome.duals) != self.lp.shape[0]:
            return outcome, None
        return outcome, self._read(outcome)

    def _read(self, outcome: Outcome) -> MasterSolution | None:
        prices = self.program.prices
        z = np.clip(outcome.x[: len(CLASSES)], 0.0, self.raised)
        duals = np.where(self.program.signs > 0, z[0], z[1]) * prices * self.is_error
        own = outcome.x[self._first :] * self.unit
        duals[self.examples] = np.clip(own, 0.0, self.raised * prices[self.examples])
        coefs = np.maximum(outcome.duals[self._first_row :], 0.0) / self.scales
        if not self._with_margin:
            return MasterSolution(self.coefficients, coefs, duals, self.program.cost)
        t = outcome.x[self._first - 1] * self.unit * self.program.size
        b, rho, total = outcome.duals[0], max(0.0, -outcome.duals[1]), coefs.sum()
        if not total:
            return None
        return MasterSolution(self.coefficients, coefs / total, duals, t, b / total, rho / total)
