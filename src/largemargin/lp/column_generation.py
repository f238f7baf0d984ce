"""Solving a program (see `programs`) by column generation: HiGHS holds a restricted master (see
`restricted_master`), which grows by the columns and rows that its own solution shows to be missing.

A few examples in a hundred have a coefficient, and few lie at the margin; the others are plain
errors or plainly right. So:

1. Solve the whole program of a sample of the examples. Its scores tell errors, examples near the
   margin and others apart in a sample four times as large, and so on until it is all of them.
2. Solve the restricted master, from the last basis. Give a variable to each example that was left
   out on the wrong side of the margin. By pricing, give a coefficient to those j for which
   sum_i u_i B_ij exceeds the cost by most, no two of them much alike. Drop coefficients that are
   far from being used.
3. End when nothing is missing. Then the KKT conditions hold for the whole program, and the solution
   of the restricted master is its solution.

The margins and sums of the whole are products with kernel rows; only those that changed are taken.
The solution is accepted when the objective, computed anew from the coefficients, meets that of the
dual program (see `proof`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from largemargin.lp.exact_values import ExactValues
from largemargin.lp.highs import OPTIMAL
from largemargin.lp.kernel_values import KernelValues, OutOfTime
from largemargin.lp.programs import Program
from largemargin.lp.proof import Solution, prove, unproven
from largemargin.lp.restricted_master import CLASSES, MasterSolution, RestrictedMaster
from largemargin.runtime.progress import Watch

SAMPLE = 400  # examples of the first sample, whose program is solved as a whole
GROWTH = 4  # factor from the size of one sample to that of the next
NEAR = (0.0, 2.0)  # relative margins between which an example may still end at the margin
NEW_COEFFICIENTS = 50  # coefficients added in a round, or as many as are in use if that is more
NEW_EXAMPLES = 200  # examples that are given a variable in a round, at most
CANDIDATES = 400  # coefficients compared with each other to find new ones that differ
ALIKE = 0.9  # cosine of two examples in feature space above which they are much alike
MANY = 0.4  # share of a sample with coefficients above which the next sample is solved as a whole
NEARLY_ALL = 1.5  # data of up to so many times the size of a sample are taken whole instead
UNUSED = 0.02  # slack in the dual, relative to a row's largest entry, of an unused coefficient
UNUSED_SHARE = 0.2  # share of the coefficients that is unused, above which these are dropped
FORGETTING = 30  # rounds of a sample after which no coefficient is dropped, so that it ends
SMALL_MARGIN = 1e-6  # least rho, relative to the largest kernel value, that PRECISION refers to
NEGLIGIBLE = 1e-10  # share of the objective that Parzen windows, where nothing is better, may cost
LOSSLESS = 1e-10  # share of the objective of no coefficients that is rounding errors
PRECISION = 1e-9  # violation, of a scaled row or relative to a margin, that is not mended any more
STRICT = 1e3  # factor on the entries of rows, and so on HiGHS's accuracy, in the second attempt
LITTLE = 10**9  # multiplications that a fit that was stopped may still do for its bound


class ColumnGeneration:
    """The rounds on one program; kept to go on from when the program changes a little."""

    def __init__(self, program: Program, values: KernelValues, watch: Watch) -> None:
        self.program, self.values, self.watch = program, values, watch
        self.master = RestrictedMaster(program, values, watch, program.unit)
        self.n_steps = self.n_rounds = 0
        self._duals = np.zeros(len(program))
        self._sums = np.zeros(len(program))  # sum_i u_i B_ij for these duals
        self._order = shuffled(program.signs)
        self._inside = np.zeros(len(program), bool)  # whether an example is in the sample
        self._best: MasterSolution | None = None
        self._objective = np.inf
        self._begun = False

    def change(self, own: np.ndarray) -> None:
        """Go on with the program in which coefficients take `own` from their own margins."""
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

    def _proof(self, point: MasterSolution | None, exact: ExactValues) -> Solution:
        """The best coefficients known, proven by the duals of a solution of the restricted master.

        If it was stopped, no more than a little is computed for the proof.
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

    def _affordable(self, point: MasterSolution | None, exact: ExactValues) -> bool:
        """Whether a finer proof, which takes a hundred times as long, is little work still."""
        count = int(np.count_nonzero(self._best.coefs)) if self._best is not None else 0
        count += int(np.count_nonzero(point.duals)) if point is not None else 0
        return 100 * exact.work(count) <= LITTLE

    def _too_much(self, exact: ExactValues, count: int) -> bool:
        """Whether sums over so many examples are more than a fit that was stopped may still do."""
        return bool(self.watch.look()) and exact.work(count) > LITTLE

    def _duals_of(self, point: MasterSolution | None, exact: ExactValues) -> np.ndarray | None:
        """The duals of a solution, if they are feasible for all examples and there is time."""
        if point is None or self.master.raised != 1:
            return None
        much = self._too_much(exact, int(np.count_nonzero(point.duals)))
        return None if much else point.duals

    def _given_way(self, point: MasterSolution) -> MasterSolution:
        """The same solution with the threshold moved to the larger side.

        At the largest feasible nu the smaller side is at its bounds, and rho may be as large as one
        likes at no cost, if b moves as much to the larger side. For a larger nu it would do so.
        """
        larger = 1.0 if self.program.prices @ self.program.signs > 0 else -1.0
        return replace(point, b=point.b + larger * point.rho, rho=2 * point.rho)

    def _rounds(
        self, unit: float | None = None, strict: float = 1.0
    ) -> tuple[MasterSolution | None, str]:
        """Solve and grow until nothing is missing. Returns the last solution, and why it is not one
        of the whole. With a unit, it begins anew in that unit.
        """
        point: MasterSolution | None = None
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
        """A restricted master that is the whole program of a sample."""
        self.master = RestrictedMaster(self.program, self.values, self.watch, unit, strict)
        n = len(self.program)
        sample = np.sort(self._order[: n if n <= NEARLY_ALL * SAMPLE else SAMPLE])
        self._inside[:] = False
        self._inside[sample] = True
        self.n_rounds = 0
        self.master.set_sample(sample)
        self.master.add_examples(sample)
        self.master.add_coefficients(sample)
        self._begun = True

    def _widen(self, point: MasterSolution, margins: np.ndarray) -> bool:
        """Go from a sample that is solved to a larger one, unless it was all."""
        n, size, master = len(self.program), int(self._inside.sum()), self.master
        if size == n:
            return False
        new = self._order[size : n if n <= NEARLY_ALL * GROWTH * size else GROWTH * size]
        self._inside[new] = True
        self.n_rounds = 0
        master.set_sample(np.flatnonzero(self._inside))
        if np.count_nonzero(point.coefs) > MANY * size:
            # where most examples have a coefficient, a part of them is harder to solve than all
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

    def _at_bound(self, point: MasterSolution) -> np.ndarray:
        duals = point.duals[self.master.examples]
        top = self.program.prices[self.master.examples] * self.master.raised
        return np.asarray((duals == 0) | (duals == top))

    def _anything(self, exact: ExactValues) -> MasterSolution:
        """What to answer with if nothing was solved: no coefficients, or, if they must have a sum,
        Parzen windows of a few examples.
        """
        if self.program.nu is None:
            return MasterSolution(np.arange(0), np.empty(0), self._duals, 0.0)
        few = self._few(exact)
        prices = self.program.prices[few]
        return MasterSolution(few, prices / prices.sum(), self._duals, 0.0, 0.0, 0.0)

    def _few(self, exact: ExactValues) -> np.ndarray:
        """As many examples as can be summed over with little work."""
        return np.sort(self._order[: min(SAMPLE, max(2, LITTLE // exact.work(1)))])

    def _windows(self, exact: ExactValues) -> MasterSolution:
        """Parzen windows of a negligible size in place of no coefficients at all; those of a few
        examples if it was stopped.

        With lambda above sum_i y_i y_j k_ij / k_jj for all j (or with a C so low) the best
        coefficients are zero, which decides nothing. The limit that the chapter speaks of, all
        coefficients equal and small, costs as little as one likes.
        """
        program = self.program
        some = self._few(exact) if self.watch.look() else np.arange(len(program))
        prices, objective = program.prices[some], float(program.prices.sum())
        most = program.cost + objective * program.size + program.own[some] * prices
        size = NEGLIGIBLE * objective / max(float(prices @ most), objective)
        return MasterSolution(some, size * prices, self._duals, 0.0)

    @property
    def _no_loss(self) -> float:
        """An objective that is made of rounding errors alone."""
        return LOSSLESS * float(self.program.prices.sum())

    def _of_least_sum(self, proof: Solution, exact: ExactValues) -> Solution:
        """Of the many solutions without any loss, the one of least sum of coefficients.

        It is the LP machine with a price of slack that is never paid: u sums to the sum of
        coefficients, so no u_i is above the sum of a solution that is known already.
        """
        prices = np.full(len(self.program), 2 * float(proof.coefs.sum()))
        program = replace(self.program, prices=prices, cost=1.0)
        least = ColumnGeneration(program, self.values, self.watch)
        least._rounds()
        self.n_steps += least.n_steps
        best = least._best
        if best is None or self._too_much(exact, int(np.count_nonzero(best.coefs))):
            return proof
        found = prove(self.program, exact, best, None)
        return found if found.objective <= self._no_loss else proof

    def _keep_best(self, point: MasterSolution) -> np.ndarray:
        """The margins of a solution, which is kept if none is better."""
        margins = self.master.margins(point)
        objective = self.program.objective(point.coefs, margins, point.rho)
        if self._best is None or objective < self._objective:
            self._best, self._objective = point, objective
        return margins

    def _reduced_costs(self, duals: np.ndarray, level: float) -> np.ndarray:
        """Pricing: what sum_i u_i B_ij exceeds its largest allowed value by, in the scale of a row,
        for all j. Where it is positive, a coefficient of j would lower the objective.
        """
        changed = np.flatnonzero(duals != self._duals)
        self._sums += self.master.dual_sums(changed, (duals - self._duals)[changed])
        self._duals = duals
        # the largest B_ij of each j, as far as it is known
        scales = np.maximum(self.values.largest, np.abs(self.values.diagonal - self.program.own))
        scales *= self.master.unit / self.master.strict
        over = self._sums - level
        nothing = np.full(len(over), -np.inf)
        return np.asarray(np.divide(over, scales, out=nothing, where=scales > 0))

    def _grow(self, point: MasterSolution, margins: np.ndarray) -> bool:
        """Add the columns and rows that are missing; False if none is."""
        master = self.master
        reduced = self._reduced_costs(point.duals, point.level)
        reduced[~self._inside] = -np.inf
        if self.n_rounds < FORGETTING:
            unused = point.coefs == 0
            unused &= reduced[master.coefficients] < -UNUSED * master.strict
            if unused.sum() > UNUSED_SHARE * len(unused):
                master.drop_coefficients(np.flatnonzero(unused))
        lack = np.where(master.is_error, margins - point.rho, point.rho - margins)
        lack[master.in_examples | ~self._inside] = 0.0
        reduced[master.in_coefficients] = -np.inf
        wrong = largest_of(
            lack, NEW_EXAMPLES, PRECISION * max(point.rho, SMALL_MARGIN * self.program.size)
        )
        new = self._differing(reduced, int(np.count_nonzero(point.coefs)))
        master.add_examples(wrong)
        master.add_coefficients(new)
        return len(wrong) > 0 or len(new) > 0

    def _differing(self, reduced: np.ndarray, count: int) -> np.ndarray:
        """The coefficients of largest reduced cost, without those much like one that has more."""
        count = max(count, NEW_COEFFICIENTS)
        first = largest_of(reduced, max(count, CANDIDATES), PRECISION)
        if len(first) <= count:
            return first
        y, diagonal = self.program.signs[first], np.sqrt(np.abs(self.values.diagonal[first]))
        alike = self.values.block(first) * np.outer(y, y) > ALIKE * np.outer(diagonal, diagonal)
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
    """All examples in an order, always the same, of which any first part has both classes in the
    proportion of the whole.
    """
    rank = np.empty(len(signs))
    generator = np.random.default_rng(0)
    for side in CLASSES:
        members = np.flatnonzero(signs == side)
        rank[members] = (generator.permutation(len(members)) + 0.5) / len(members)
    return np.argsort(rank, kind="stable")
