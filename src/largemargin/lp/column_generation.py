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
The solution is accepted when the objective, computed anew from the coefficients, meets the dual
(see `proof`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from largemargin.lp.exact_values import ExactValues
from largemargin.lp.highs import OPTIMAL
from largemargin.lp.kernel_values import KernelValues, OutOfTime
from largemargin.lp.programs import Program
from largemargin.lp.proof import Solution, prove, unproven
from largemargin.lp.restricted_master import CLASSES, Master, Point
from largemargin.runtime.progress import Watch

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
STRICT = 1e3  # times as exact as HiGHS's tolerances are
LITTLE = 10**9  # multiplications: what a fit that was stopped may still do for its bound


class Search:
    """The rounds on one program; kept to go on from when the program changes a little."""

    def __init__(self, program: Program, values: KernelValues, watch: Watch) -> None:
        self.program, self.values, self.watch = program, values, watch
        self.master = Master(program, values, watch, program.unit)
        self.n_steps = self.n_rounds = 0
        self._duals = np.zeros(len(program))
        self._sums = np.zeros(len(program))  # sum_i u_i B_ij of these duals
        self._order = shuffled(program.signs)
        self._inside = np.zeros(len(program), bool)  # the sample
        self._best: Point | None = None
        self._objective = np.inf
        self._begun = False

    def change(self, own: np.ndarray) -> None:
        """Go on with the program in which coefficients take so much from their own margins."""
        self._sums -= (own - self.program.own) * self._duals
        self.master.set_own(own)
        self.program = self.master.program
        self.n_steps = self.n_rounds = 0
        before, self._best = self._best, None
        if before is not None and not self.watch.look():
            self._keep_best(before)

    def run(self, tol: float, exact: ExactValues) -> Solution:
        """Solve, and prove what the solution is worth; if that is not enough, once more from
        scratch, in units that suit the solution found.
        """
        point, reason = self._rounds()
        proof = self._proof(point, exact)
        if not self.watch.look() and not proof.gap <= tol and self._affordable(point, exact):
            exact = exact.finer
            proof = self._proof(point, exact)
        if not self.watch.look() and not proof.gap <= tol:
            self._begun = False
            point, reason_again = self._rounds(self.program.unit_at(self._objective), STRICT)
            again = self._proof(point, exact)
            if again.gap < proof.gap:
                proof, reason = again, reason_again
        if proof.gap <= tol:
            reason = ""  # whatever HiGHS says
        reason = self.watch.stopped or reason
        if self.program.may_be_lossless and proof.objective <= self._no_loss and not reason:
            proof = self._of_least_sum(proof, exact)
            reason = self.watch.stopped
        if not reason and not proof.gap <= tol:
            reason = f"rounding errors leave a gap of {proof.gap:.3g}"
        return replace(proof, n_steps=self.n_steps, reason=reason)

    def _proof(self, point: Point | None, exact: ExactValues) -> Solution:
        """Of the best coefficients known, by the duals of a point of the whole program.

        If it was stopped, no more than a little is computed for it.
        """
        best, duals = self._best, self._duals_of(point, exact)
        if best is None:
            best = self._anything(exact)
        if self.program.gives_way:
            best = self._given_way(best)
        if best.coefs.any():
            if self._best is not None and self._too_much(exact, int(np.count_nonzero(best.coefs))):
                return unproven(self.program, best, self._objective)
            proof = prove(self.program, exact, best, duals, self.watch.look)
            if proof.coefs.any():
                return proof
        windows = self._windows(exact)
        return prove(self.program, exact, windows, duals, self.watch.look, as_it_is=True)

    def _affordable(self, point: Point | None, exact: ExactValues) -> bool:
        """Whether a finer proof, which takes a hundred times as long, is little work still."""
        count = int(np.count_nonzero(self._best.coefs)) if self._best is not None else 0
        count += int(np.count_nonzero(point.duals)) if point is not None else 0
        return 100 * exact.work(count) <= LITTLE

    def _too_much(self, exact: ExactValues, count: int) -> bool:
        """Whether sums over so many examples are more than a fit that was stopped may still do."""
        return bool(self.watch.look()) and exact.work(count) > LITTLE

    def _duals_of(self, point: Point | None, exact: ExactValues) -> np.ndarray | None:
        """Those that a bound can be made of, if there is time to."""
        if point is None or self.master.raised != 1:
            return None
        much = self._too_much(exact, int(np.count_nonzero(point.duals)))
        return None if much else point.duals

    def _given_way(self, point: Point) -> Point:
        """With the threshold moved to the larger side.

        At the largest feasible nu the smaller side is at its bounds, and rho may be as large as one
        likes, with b as much nearer to the larger side, at no cost; for larger values it would be.
        """
        larger = 1.0 if self.program.prices @ self.program.signs > 0 else -1.0
        return replace(point, b=point.b + larger * point.rho, rho=2 * point.rho)

    def _rounds(self, unit: float | None = None, strict: float = 1.0) -> tuple[Point | None, str]:
        """Solve and grow until nothing is missing; the last solution, and why it is not one of the
        whole. With a unit it is that of a new beginning.
        """
        point: Point | None = None
        growing, afresh = True, unit is not None
        try:
            while growing and not self.watch.look():
                if not self._begun:
                    self._begin(unit or self.program.unit, strict)
                outcome, found = self.master.solve(afresh)
                self.n_steps += outcome.n_steps
                self.n_rounds += 1
                self.watch.advance(0, f"objective {self._objective:.6g}")
                margins = self._keep_best(found) if found is not None else np.empty(0)
                if found is None or outcome.status != OPTIMAL:
                    failure = f"HiGHS called a part of it {outcome.status}"
                    return point, self.watch.stopped or failure
                point, afresh = found, False
                growing = self._grow(point, margins) or self._widen(point, margins)
        except OutOfTime:
            pass
        return point, self.watch.stopped

    def _begin(self, unit: float, strict: float = 1.0) -> None:
        """The whole program of a sample."""
        self.master = Master(self.program, self.values, self.watch, unit, strict)
        n = len(self.program)
        sample = np.sort(self._order[: n if n <= 1.5 * SAMPLE else SAMPLE])
        self._inside[:] = False
        self._inside[sample] = True
        self.n_rounds = 0
        self.master.set_sample(sample)
        self.master.add_examples(sample)
        self.master.add_coefficients(sample)
        self._begun = True

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

    def _anything(self, exact: ExactValues) -> Point:
        """What there is without any solution: no coefficients, or, if they must have a sum, Parzen
        windows of a few.
        """
        if self.program.nu is None:
            return Point(np.arange(0), np.empty(0), self._duals, 0.0)
        few = self._few(exact)
        prices = self.program.prices[few]
        return Point(few, prices / prices.sum(), self._duals, 0.0, 0.0, 0.0)

    def _few(self, exact: ExactValues) -> np.ndarray:
        """So many examples that sums over them are little work."""
        return np.sort(self._order[: min(SAMPLE, max(2, LITTLE // exact.work(1)))])

    def _windows(self, exact: ExactValues) -> Point:
        """Parzen windows, of a size that does not count, in place of no coefficients at all; of a
        few if it was stopped.

        With lambda above sum_i y_i y_j k_ij / k_jj for all j (or with a C so low) the best
        coefficients are zero, which decides nothing. The limit that the chapter speaks of, all
        coefficients equal and small, costs as little as one likes.
        """
        program = self.program
        some = self._few(exact) if self.watch.look() else np.arange(len(program))
        prices, objective = program.prices[some], float(program.prices.sum())
        most = program.cost + objective * program.size + program.own[some] * prices
        size = NEGLIGIBLE * objective / max(float(prices @ most), objective)
        return Point(some, size * prices, self._duals, 0.0)

    @property
    def _no_loss(self) -> float:
        """An objective that is rounding errors."""
        return LOSSLESS * float(self.program.prices.sum())

    def _of_least_sum(self, proof: Solution, exact: ExactValues) -> Solution:
        """Of the many solutions without any loss, the one of least sum of coefficients.

        It is the LP machine with a price that no slack is worth: u sums to the sum of coefficients,
        so no u_i is above that of a solution known already.
        """
        prices = np.full(len(self.program), 2 * float(proof.coefs.sum()))
        search = Search(replace(self.program, prices=prices, cost=1.0), self.values, self.watch)
        search._rounds()
        self.n_steps += search.n_steps
        best = search._best
        if best is None or self._too_much(exact, int(np.count_nonzero(best.coefs))):
            return proof
        found = prove(self.program, exact, best, None)
        return found if found.objective <= self._no_loss else proof

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
        # the largest B_ij of each j, as far as they are known
        scales = np.maximum(self.values.largest, np.abs(self.values.diagonal - self.program.own))
        scales *= self.master.unit / self.master.strict
        over = self._sums - level
        return np.divide(over, scales, out=np.full(len(over), -np.inf), where=scales > 0)

    def _grow(self, point: Point, margins: np.ndarray) -> bool:
        """Add what is missing, if anything is."""
        master = self.master
        excess = self._excess(point.duals, point.level)
        excess[~self._inside] = -np.inf
        if self.n_rounds < FORGETTING:
            unused = point.coefs == 0
            unused &= excess[master.coefficients] < -UNUSED * master.strict
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
