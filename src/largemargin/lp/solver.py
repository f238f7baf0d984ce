"""Solving a program (see `programs`) by growing the part of it that HiGHS holds (see `master`).

A few examples in a hundred have a coefficient, and few lie at the margin; the others are plain
errors or plainly right. So:

1. Solve the whole program of a sample of the examples. Its scores tell errors, examples near the
   margin and others apart in a sample four times as large, and so on until it is all of them.
2. Solve the part, from the last basis. Give a variable to each example that was left out on the
   wrong side of the margin, and a coefficient to those j for which sum_i u_i B_ij exceeds the cost
   by most, no two of them much alike. Forget coefficients that are far from being used.
3. End when there are none. The part's solution is then one of the whole.

The margins and sums of the whole are products with kernel rows; only those that changed are taken.
The solution is accepted when the primal objective, computed from the coefficients, meets the dual.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from largemargin.lp.exact_values import ExactValues
from largemargin.lp.highs import OPTIMAL
from largemargin.lp.kernel_values import KernelValues
from largemargin.lp.master import CLASSES, Master, Point
from largemargin.lp.programs import Program
from largemargin.lp.proof import prove
from largemargin.watch import Watch

SAMPLE = 400  # examples whose program is solved as a whole
GROWTH = 4  # from a sample to the next
NEAR = (0.0, 2.0)  # margins that may end at 1
NEW_COEFFICIENTS = 50
NEW_EXAMPLES = 200
CANDIDATES = 400  # those looked at to find some that differ
ALIKE = 0.9
MANY = 0.4  # of a sample, with coefficients
UNUSED = 0.02  # of a row's largest entry: slack of a coefficient that will hardly be used
FORGETTING = 30  # rounds of a sample, after which nothing is forgotten any more: so it ends
SMALL_MARGIN = 1e-6  # of the largest kernel value
NEGLIGIBLE = 1e-10  # of the objective
LOSSLESS = 1e-10  # of the objective of no coefficients
PRECISION = 1e-9  # of a scaled row or a margin
LITTLE = 10**9  # multiplications: what a fit that was stopped may still do for its bound


@dataclass(frozen=True)
class Solved:
    """How a program ended: coefficients, threshold and margin, the objective and its relative gap.

    `reason` is why it is not the solution, and empty if it is.
    """

    examples: np.ndarray
    coefs: np.ndarray
    b: float
    rho: float
    objective: float
    gap: float
    n_steps: int
    reason: str


class Search:
    """The rounds on one program; kept to go on from when the program changes a little."""

    def __init__(self, program: Program, values: KernelValues, watch: Watch) -> None:
        self.program, self.values, self.watch = program, values, watch
        self.master = Master(program, values)
        self.n_steps = self.n_rounds = 0
        self._best: Point | None = None
        self._objective = np.inf
        self._duals = np.zeros(len(program))
        self._sums = np.zeros(len(program))  # sum_i u_i B_ij of these duals
        self._order = shuffled(program.signs)
        self._inside = np.zeros(len(program), bool)  # the sample
        self._keep_best(self._anything)
        self._begin()

    def change(self, own: np.ndarray) -> None:
        """Go on with the program in which coefficients take so much from their own margins."""
        self._sums -= (own - self.program.own) * self._duals
        self.master.set_own(own)
        self.program = self.master.program
        self.n_steps = self.n_rounds = 0
        point = self._best
        assert point is not None
        self._best = None
        self._keep_best(point)

    def run(self, tol: float, exact: ExactValues) -> Solved:
        """Solve, and prove what the solution is worth by the values themselves."""
        point, reason = self._solve(tol)
        best = self._best
        assert best is not None
        if self.program.may_be_lossless and self._objective <= self._no_loss and not reason:
            best = self._least_sum(best)
        duals = None
        if point is not None and self.master.raised == 1:
            within = exact.work(np.count_nonzero(point.duals)) <= LITTLE
            duals = point.duals if within or not self.watch.stopped else None
        proof = prove(self.program, exact, best, duals, self._stopped)
        if not proof.coefs.any():
            windows = self._windows()
            proof = prove(self.program, exact, windows, duals, self._stopped, as_it_is=True)
        reason = reason or self.watch.stopped
        if not reason and not proof.gap <= tol:
            reason = f"rounding errors leave a gap of {proof.gap:.3g}"
        return Solved(
            proof.examples, proof.coefs, proof.b, proof.rho, proof.objective, proof.gap,
            self.n_steps, reason,
        )  # fmt: skip

    def _solve(self, tol: float) -> tuple[Point | None, str]:
        """The last solution, of the whole if there is no reason why it is not; from scratch where
        one is not as good as it should be.
        """
        least = self.program.least_objective
        for afresh in (False, True):
            point, reason = self._rounds(afresh)
            dual = max(least, self._bound(point)) if point is not None else least
            gap = relative_gap(self._objective, dual, self.program.trifle)
            if reason or gap <= tol:
                break
        return point, reason

    def _stopped(self) -> bool:
        self.watch.advance(0)
        return bool(self.watch.stopped)

    def _rounds(self, afresh: bool) -> tuple[Point | None, str]:
        """Solve and grow until nothing is missing; the last solution, and why it is not one of the
        whole.
        """
        point, growing = None, True
        while growing and not self.watch.stopped:
            outcome, found = self.master.solve(self.watch, afresh)
            self.n_steps += outcome.n_steps
            self.n_rounds += 1
            self.watch.advance(0, f"objective {self._objective:.6g}")
            margins = self._keep_best(found) if found is not None else np.empty(0)
            if found is None or outcome.status != OPTIMAL:
                return point, self.watch.stopped or f"HiGHS called a part of it {outcome.status}"
            point, afresh = found, False
            growing = self._grow(point, margins) or self._widen(point, margins)
        return point, self.watch.stopped

    def _begin(self) -> None:
        """The whole program of a sample."""
        n = len(self.program)
        sample = np.sort(self._order[: n if n <= 1.5 * SAMPLE else SAMPLE])
        self._inside[sample] = True
        self.master.set_sample(sample)
        self.master.add_examples(sample)
        self.master.add_coefficients(sample)

    def _widen(self, point: Point, margins: np.ndarray) -> bool:
        """Go from a sample that is solved to a larger one, unless it was all."""
        n, size, master = len(self.program), int(self._inside.sum()), self.master
        if size == n:
            return False
        new = self._order[size : n if n <= 1.5 * GROWTH * size else GROWTH * size]
        self._inside[new] = True
        self.n_rounds = 0
        master.set_sample(np.flatnonzero(self._inside))
        if np.count_nonzero(point.coefs) > MANY * size:
            # where most examples have a coefficient, a part is harder to solve than the whole
            master.add_examples(np.sort(new))
            master.add_coefficients(np.sort(new))
            return True
        relative = margins / point.rho if point.rho > 0 else np.ones(n)
        wrong, right = relative < NEAR[0], relative > NEAR[1]
        settled = np.flatnonzero((wrong | right)[master.examples] & self._at_bound(point))
        master.drop_examples(settled, wrong[master.examples[settled]])
        master.set_errors(new[wrong[new]], True)
        master.add_examples(np.sort(new[~(wrong | right)[new]]))
        return True

    def _at_bound(self, point: Point) -> np.ndarray:
        duals = point.duals[self.master.examples]
        top = self.program.prices[self.master.examples] * self.master.raised
        return (duals == 0) | (duals == top)

    @property
    def _anything(self) -> Point:
        """Something to begin with, and to end with if there is no time for more: no coefficients,
        or, if they must have a sum, Parzen windows.
        """
        prices = self.program.prices
        if self.program.nu is None:
            return Point(np.arange(0), np.empty(0), self._duals, 0.0)
        return Point(np.arange(len(prices)), prices / prices.sum(), self._duals, 0.0, 0.0, 0.0)

    def _windows(self) -> Point:
        """Parzen windows, of a size that does not count, in place of no coefficients at all.

        With lambda above sum_i y_i y_j k_ij / k_jj for all j (or with a C so low) the best
        coefficients are zero, which decides nothing. The limit that the chapter speaks of, all
        coefficients equal and small, costs as little as one likes.
        """
        everyone, prices = np.arange(len(self.program)), self.program.prices
        slopes = self.program.cost - self.master.reduced(everyone, prices)
        size = NEGLIGIBLE * self._objective / max(float(prices @ np.abs(slopes)), self._objective)
        return Point(everyone, size * prices, self._duals, 0.0)

    @property
    def _no_loss(self) -> float:
        """An objective that is rounding errors."""
        return LOSSLESS * float(self.program.prices.sum())

    def _least_sum(self, best: Point) -> Point:
        """Of the many solutions without any loss, the one of least sum of coefficients.

        It is the LP machine with a price that no slack is worth: u sums to the sum of coefficients,
        so no u_i is above that of a solution known already.
        """
        prices = np.full(len(self.program), 2 * float(best.coefs.sum()))
        search = Search(replace(self.program, prices=prices, cost=1.0), self.values, self.watch)
        search._solve(np.inf)
        self.n_steps += search.n_steps
        found = search._best
        assert found is not None
        loss = self.program.objective(found.coefs, self.master.margins(found), 1.0)
        return found if loss <= self._no_loss else best

    def _keep_best(self, point: Point) -> np.ndarray:
        """The margins of a point, which is kept if there is no better."""
        margins = self.master.margins(point)
        objective = self.program.objective(point.coefs, margins, point.rho)
        if self._best is None or objective < self._objective:
            self._best, self._objective = point, objective
        return margins

    def _excess(self, duals: np.ndarray, level: float) -> np.ndarray:
        """What sum_i u_i B_ij exceeds its largest allowed value by, in the scale of a row."""
        changed = np.flatnonzero(duals != self._duals)
        self._sums += self.master.reduced(changed, (duals - self._duals)[changed])
        self._duals = duals
        return self._scaled(self._sums, level)

    def _scaled(self, sums: np.ndarray, level: float) -> np.ndarray:
        scales = self._scales * self.master.unit
        return np.divide(sums - level, scales, out=np.full(len(sums), -np.inf), where=scales > 0)

    @property
    def _scales(self) -> np.ndarray:
        """The largest B_ij of each j, as far as they are known."""
        return np.maximum(self.values.largest, np.abs(self.values.diagonal - self.program.own))

    def _grow(self, point: Point, margins: np.ndarray) -> bool:
        """Add what is missing, if anything is."""
        master = self.master
        excess = self._excess(point.duals, point.level)
        excess[~self._inside] = -np.inf
        if self.n_rounds < FORGETTING:
            unused = point.coefs == 0
            unused &= excess[master.coefficients] < -UNUSED
            if unused.sum() > 0.2 * len(unused):
                master.drop_coefficients(np.flatnonzero(unused))
        lack = np.where(master.is_error, margins - point.rho, point.rho - margins)
        lack[master.in_examples | ~self._inside] = 0.0
        excess[master.in_coefficients] = -np.inf
        wrong = largest_of(
            lack, NEW_EXAMPLES, PRECISION * max(point.rho, SMALL_MARGIN * self.program.size)
        )
        new = self._differing(excess, int(np.count_nonzero(point.coefs)))
        master.add_examples(wrong)
        master.add_coefficients(new)
        return len(wrong) > 0 or len(new) > 0

    def _differing(self, excess: np.ndarray, count: int) -> np.ndarray:
        """The coefficients of largest excess, without those much like one that exceeds more."""
        count = max(count, NEW_COEFFICIENTS)
        first = largest_of(excess, max(count, CANDIDATES), PRECISION)
        if len(first) <= count:
            return first
        y, diagonal = self.program.signs[first], np.sqrt(np.abs(self.values.diagonal[first]))
        alike = self.values.among(first) * np.outer(y, y) > ALIKE * np.outer(diagonal, diagonal)
        chosen: list[int] = []
        left = np.ones(len(first), bool)
        for k in range(len(first)):
            if left[k] and len(chosen) < count:
                chosen.append(k)
                left &= ~alike[k]
        return first[chosen]

    def _bound(self, point: Point) -> float:
        """What the objective cannot be below, by the duals of a point.

        It is the dual objective, less what sums that are too large by rounding could gain: at the
        size of their coefficients, or at least of one that makes a margin of 1. If coefficients
        have a cost or a sum, duals can be made feasible instead.
        """
        if self.master.raised != 1:
            return self.program.least_objective  # those of a sample
        used = np.flatnonzero(point.duals)
        sums = self.master.reduced(used, point.duals[used])
        if self.program.nu is not None:
            return -float(sums.max())
        least, total = self.program.least_objective, float(point.duals.sum())
        if self.program.cost:
            least = total / max(1.0, float(sums.max()) / self.program.cost)
        over = np.maximum(self._scaled(sums, point.level), 0.0) * self.master.unit
        if over.max() > 10 * PRECISION * self.master.unit:
            return least
        sizes = np.ones(len(sums))
        sizes[point.examples] = np.maximum(1.0, point.coefs * self._scales[point.examples])
        return max(least, total - float(over @ sizes))


def largest_of(values: np.ndarray, count: int, least: float) -> np.ndarray:
    """The places of the largest values above `least`, at most `count`, from the largest down."""
    above = np.flatnonzero(values > least)
    return above[np.argsort(-values[above], kind="stable")[:count]]


def shuffled(signs: np.ndarray) -> np.ndarray:
    """All examples in an order, always the same, in which any first part has both classes as the
    whole has them.
    """
    rank = np.empty(len(signs))
    generator = np.random.default_rng(0)
    for side in CLASSES:
        members = np.flatnonzero(signs == side)
        rank[members] = (generator.permutation(len(members)) + 0.5) / len(members)
    return np.argsort(rank, kind="stable")


def relative_gap(primal: float, dual: float, trifle: float) -> float:
    if np.isinf(dual):
        return np.inf
    return max(0.0, primal - dual) / max(abs(primal), abs(dual), trifle)
