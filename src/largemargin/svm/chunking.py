"""Chunking: a dual problem over kernel values that are computed, used and forgotten.

Kernel values of a few dozen columns cost less to compute than to keep, so nothing is kept but the
variables and their gradient. A problem is solved over a set of columns by the same step at every
size of it:

    select   the variables that violate the KKT conditions most, and the free ones of the last time
    solve    for them: a working set in its own small matrix; a **pool**, which has more, in the
             same way over its own columns alone, where a round costs a fraction
    add      what they changed to the gradient of all other columns of the set

So the many rounds run over a pool, and the columns of the whole problem are passed over once for
what a pool has changed in the end. At first there is only the first portion, a small part of the
examples, where few kernel values tell which matter.

A set of columns needs the vectors that changed and by how much, and gives back who violates most:
it could as well be in another process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from largemargin.kernels.functions import UNIT
from largemargin.kernels.fused import FusedRows, roundings
from largemargin.svm.active_set import MOST_FREE, refine
from largemargin.svm.column_sets import ColumnSet, DistantColumnSet, has_pools, pool_size
from largemargin.svm.dense_solver import solve_block
from largemargin.svm.extrapolation import Extrapolation, Position
from largemargin.svm.problem import Optimality, Problem, Solution

EARLY = 0.3  # a violation at which a portion is solved well enough to go on to the next
LOCAL = 0.1  # the violation left in a part of the columns, relative to the one it was selected for
# Where too many variables are free for the active set method: what to go on to instead, of the
# tolerance, unless the objective is known by now to such a part of itself
FINER, CLOSE = 1e-2, 1e-3
# Rounds in a row that are tolerated without a fall of the objective, or of the least violation, by
# such a share
STALLED_ROUNDS = 50
PROGRESS, PROGRESS_OF_VIOLATION = 1e-8, 0.05
POOL_ROUNDS = 100  # rounds after which a pool is left as it is: another one may be worth more
LOOK_ROWS = 1 << 14  # rows looked at between two looks at the time
AT_ONCE = 1 << 14  # rows up to which all are looked at together, and the values among some once
SPARE = 0.1  # the fraction of the time taken that may be spent on looking at the rest
SPARE_SECONDS = 0.5  # seconds that may be spent on it in any case
# What a problem is expected to take, for a warning of hours: support vectors grow with the power of
# the rows, and the values of each against all rows are computed so many times.
SUPPORT_GROWTH = 0.7
PASSES = 10
USUAL_SPEED = 5e8  # kernel values per second, before the speed is known


@dataclass
class Effort:
    """What was spent on a problem, and what may be."""

    max_steps: float
    stopped: Callable[[], object]
    n_steps: int = 0
    n_values: int = 0
    n_rounds: int = 0

    @property
    def is_over(self) -> bool:
        return bool(self.n_steps >= self.max_steps or self.stopped())


@dataclass
class Progress:
    """Whether rounds still lead anywhere: the least violation and objective so far."""

    violation: float = np.inf
    objective: float = np.inf
    n_rounds: int = 0  # since the last that was worth something

    def is_over(self, violation: float, objective: float) -> bool:
        """Take note of a round; returns whether many have led nowhere: what still moves is rounding
        then, and kernel values in a longer type may be worth a trial.
        """
        self.n_rounds += 1
        fallen = self.objective - objective > PROGRESS * abs(self.objective)
        if violation < self.violation * (1 - PROGRESS_OF_VIOLATION) or fallen:
            self.n_rounds = 0
            self.violation = min(self.violation, violation)
            self.objective = min(self.objective, objective)
        return self.n_rounds > STALLED_ROUNDS


def _is_within(aim: float, at: Optimality) -> bool:
    return at.violation * at.unit <= aim


class Chunking:
    """One problem: its variables in the order of their portions, which end at `ends`.

    `norms` are those of all examples in feature space, if these bound kernel values. With `weights`
    of all examples, the sums of weight_j |b_j| k_ij are kept too, which a bound of rounding errors
    is made of. `given` says that the user gave the start. The gradient of new variables is computed
    for `look_rows` of them at a time. `is_first` says that kernel values of a longer type come
    next, so that it ends where only rounding is left of the violation.
    """

    def __init__(
        self,
        problem: Problem,
        examples: np.ndarray,
        ends: np.ndarray,
        kernel: FusedRows,
        tol: float,
        max_steps: float,
        norms: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        stopped: Callable[[], object] = lambda: "",
        given: bool = False,
        report: Callable[[Chunking], object] = lambda chunking: None,
        look_rows: int = LOOK_ROWS,
        is_first: bool = False,
    ) -> None:
        self.problem, self.examples, self.ends, self.kernel = problem, examples, ends, kernel
        self.tol, self.given, self._report = tol, given, report
        self._corners, self._local = kernel.corners(), kernel
        self._look_rows, self._is_first = look_rows, is_first
        self.effort = Effort(max_steps, stopped)
        self.beta = problem.start.copy()
        self.grad = problem.p + problem.ridge * self.beta
        self.entered = np.zeros(len(self.beta), np.int32)
        self.seen = 0  # variables, from the first on, whose gradient is up to date
        self.violation = np.inf
        self.converged = False
        self._room: np.ndarray | None = None  # for the matrix of a working set
        self._columns: ColumnSet | None = None  # those that are solved over now
        self.sizes = np.zeros(len(self.beta))
        self._norms, self._weights = norms, weights
        self.drift = np.inf if norms is None else 0.0

    def run(self) -> None:
        """Solve the problem, or as much of it as there is time for."""
        ends = self.ends[-1:] if self.beta.any() else self.ends
        for end in ends:
            if not self._look_at(end):
                return
            self._solve(end)
            if self.effort.stopped():
                break
        left = int(np.count_nonzero(self.beta)) * (len(self.beta) - self.seen)
        if not self.is_complete and self._has_time_for(left):
            self._look_to_the_end()

    def _look_to_the_end(self) -> None:
        """Compute what is missing of the gradient, although the time is up."""
        self._look_at(len(self.beta), to_the_end=True)
        self._judge(self._whole(len(self.beta)))

    @property
    def values_expected(self) -> float:
        """About how many kernel values the whole problem takes, by what has been seen of it."""
        n, seen = len(self.beta), max(self.seen, 1)
        support = np.count_nonzero(self.beta) * (n / seen) ** SUPPORT_GROWTH
        return float(PASSES * support * n)

    @property
    def is_complete(self) -> bool:
        """Whether the gradient of all is up to date."""
        return self.seen == len(self.beta)

    def _has_time_for(self, n_values: int) -> bool:
        """Whether so many kernel values may be computed when the time is up already."""
        return n_values <= SPARE_SECONDS * USUAL_SPEED + SPARE * self.effort.n_values

    def _look_at(self, end: int, to_the_end: bool = False) -> bool:
        """Compute the gradient of the variables up to `end`; returns whether there was time."""
        used = np.flatnonzero(self.beta)
        if len(used) and end > self.seen:
            if not to_the_end and self.effort.stopped():
                return self._without_start()
            begin, sums = self.seen, self._sums_up_to(end, used, to_the_end)
            part = slice(begin, self.seen)
            self.effort.n_values += len(used) * (self.seen - begin)
            self._note_drift(self.examples[used], self.beta[used], sums, self.grad[part])
            return self.seen == end
        self.seen = end
        return True

    def _sums_up_to(self, end: int, used: np.ndarray, to_the_end: bool) -> np.ndarray:
        """Add what is missing of the gradient, some rows at a time, as long as there is time."""
        changes = self._changes(self.examples[used], np.zeros(len(used)), self.beta[used])
        at_once = self.seen == 0 and end == len(self.beta) <= AT_ONCE
        vectors = None if at_once else self.kernel.vectors(self.examples[used])
        found = []
        while self.seen < end:
            part = slice(self.seen, min(self.seen + self._look_rows, end))
            if vectors is None:
                part, sums = slice(0, end), self._all_sums(used, changes)
            else:
                sums = self.kernel.columns(self.examples[part]).sums(vectors, changes)
            self.grad[part] += sums[0]
            self.sizes[part] = sums[-1]
            found.append(sums)
            self.seen = part.stop
            if not to_the_end and self.effort.stopped():
                break
        return np.concatenate(found, axis=1)

    def _all_sums(self, used: np.ndarray, changes: np.ndarray) -> np.ndarray:
        """Changes of some variables times kernel values, over all: the values among those that
        changed are computed once.
        """
        sums = np.empty((len(changes), len(self.beta)))
        sums[:, used] = self.kernel.sums_among(self.examples[used], changes)
        others = np.setdiff1d(np.arange(len(self.beta)), used)
        if len(others):
            vectors = self.kernel.vectors(self.examples[used])
            sums[:, others] = self.kernel.columns(self.examples[others]).sums(vectors, changes)
        return sums

    def _without_start(self) -> bool:
        """There is no time to look at anything: a start that the user gave is read from its own
        variables alone, and any other is not worth it.
        """
        own = np.flatnonzero(self.beta)
        if self.seen == 0 and (self.given or len(own) ** 2 <= SPARE_SECONDS * USUAL_SPEED):
            rows = self.examples[own]
            sums = self.kernel.columns(rows).sums(self.kernel.vectors(rows), self.beta[own][None])
            self.grad[own] += sums[0]
            self._note_drift(rows, self.beta[own], sums, self.grad[own])
        elif self.seen == 0:
            self.beta[:] = 0.0
            self.grad = self.problem.p.copy()
        return False

    def _whole(self, end: int) -> ColumnSet:
        part = slice(0, end)
        problem = self.problem.taken(part)
        distant = end == len(self.beta) and DistantColumnSet.fits(self.kernel, problem)
        self._columns = (DistantColumnSet if distant else ColumnSet)(
            self.kernel, problem, self.examples[part], self.beta[part], self.grad[part],
            self.sizes[part], self.entered[part], is_whole=True, often=end < len(self.beta),
        )  # fmt: skip
        return self._columns

    def _solve(self, end: int) -> None:
        """Solve for the variables up to `end`. Before the last portion a larger violation than the
        tolerance will do.
        """
        columns = self._whole(end)
        last = end == len(self.beta)
        target = self.tol if last else max(self.tol, EARLY)
        self._descend(columns, lambda at: at.meets(target))
        columns.settle()
        self._judge(columns)

    def _judge(self, columns: ColumnSet) -> None:
        optimality = columns.optimality()
        self.violation = optimality.violation
        complete = len(columns) == len(self.beta)
        self.converged = complete and optimality.meets(self.tol)

    def _descend(
        self,
        columns: ColumnSet,
        enough: Callable[[Optimality], bool],
        max_rounds: float = np.inf,
    ) -> None:
        """Solve over a set of columns until it is good enough, or there is no time left."""
        last, end = np.empty(0, np.int64), self.effort.n_rounds + max_rounds
        pools = has_pools(self.kernel, len(columns))
        ahead = Extrapolation(columns.problem, partial(self._sums_of, columns))
        progress = Progress()
        while True:
            at = columns.optimality()
            if columns.is_whole:
                self.violation = at.violation
            if enough(at) or self.effort.is_over or self.effort.n_rounds >= end:
                return
            if columns.is_whole and (
                progress.is_over(at.violation, columns.objective())
                or (self._is_first and at.violation * at.unit <= self._noise())
            ):
                return
            if not pools and self._goes_ahead(columns, ahead):
                at = columns.optimality()
            self.effort.n_rounds += 1
            size = pool_size(len(columns)) if pools else columns.working_set
            which = columns.select(size, last, at, self.effort.n_rounds)
            aim = max(self.tol / 2, LOCAL * at.violation) * at.unit
            before = columns.beta[which].copy()
            if pools:
                part = columns.taken(which)
                _ = part.columns  # all of them, before those of its first working set
                self._descend(part, partial(_is_within, aim), POOL_ROUNDS)
                after, n_others = part.beta, len(columns) - len(which)
            else:
                after, n_others = self._solved(columns, which, aim), len(columns)
            changed = np.flatnonzero(after != before)
            if not len(changed) or (
                self.effort.stopped() and not self._has_time_for(len(changed) * n_others)
            ):
                return  # only rounding still moves it, or there is no time: as if not begun
            examples = columns.examples[which[changed]]
            changes = self._changes(examples, before[changed], after[changed])
            if pools:
                columns.take_over(which, part, examples, changes)
            else:
                columns.beta[which] = after
                columns.grad[which] += columns.problem.ridge[which] * (after - before)
                columns.add(examples, changes)
            self.effort.n_values += len(changed) * n_others
            self._note_drift(examples, changes[0], np.array([columns.largest()]))
            last = which
            self._report(self)

    def _noise(self) -> float:
        """A violation that may well be rounding, if the errors of kernel values are independent."""
        if self._norms is None:
            return 0.0
        norms = self._norms[self.examples]
        unit = float(np.finfo(self.kernel.dtype).eps) / 2
        return unit * float(np.linalg.norm(self.beta * norms)) * float(norms.max())

    def _goes_ahead(self, columns: ColumnSet, ahead: Extrapolation) -> bool:
        """Go where the last working sets lead, if that is known and better."""
        before = self.drift
        position = Position(columns.beta, columns.grad, columns.sizes, before)
        found = ahead.step(position, columns.working_set)
        if found is None:
            return False
        columns.beta[:], columns.grad[:], columns.sizes[:] = found.beta, found.grad, found.sizes
        if np.isfinite(before):
            self.drift += found.drift - before
        return True

    def _sums_of(
        self, columns: ColumnSet, variables: np.ndarray, changes: np.ndarray
    ) -> np.ndarray:
        """Changes of some variables, none of which crosses zero, times kernel values."""
        examples = columns.examples[variables]
        given = changes[None]
        if self._weights is not None:
            side = np.where(columns.problem.hi[variables] <= 0, -1.0, 1.0)
            given = np.stack([changes, side * changes * self._weights[examples]])
        self.effort.n_values += len(variables) * len(columns)
        sums = columns.sums(examples, given)
        self._note_drift(examples, changes, sums)
        return sums

    def _solved(self, columns: ColumnSet, which: np.ndarray, aim: float) -> np.ndarray:
        """Some variables after they were solved for in the matrix of the values among them."""
        effort = self.effort
        size = len(which) * (len(which) + self._local.width)
        if self._room is None or len(self._room) < size:
            self._room = np.empty(size, self._local.dtype)
        # rows that are a multiple of panels long are side by side already
        local = np.ascontiguousarray(self._corners.corner(columns.examples[which], self._room))
        effort.n_values += len(which) ** 2
        found, steps = solve_block(
            columns.problem, which, local, columns.grad, columns.beta, aim,
            effort.max_steps - effort.n_steps, stopped=effort.stopped,
        )  # fmt: skip
        effort.n_steps += steps
        return found

    def _changes(self, examples: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """What is to be added for variables that changed, as `ColumnSet.add` takes it."""
        if self._weights is None:
            return np.asarray((after - before)[None])
        return np.stack(
            [after - before, (np.abs(after) - np.abs(before)) * self._weights[examples]]
        )

    def _note_drift(self, examples: np.ndarray, delta: np.ndarray, *sums: np.ndarray) -> None:
        """Add to `drift` what rounding may have done in a sum, and in adding it to `sums`."""
        if self._norms is not None:
            summed = float(np.abs(delta) @ self._norms[examples]) * float(self._norms.max())
            self.drift += UNIT * roundings(len(delta)) * summed
            largest = max(float(np.abs(one).max(initial=0.0)) for one in sums)
            self.drift += 4 * UNIT * (2 + largest)

    def continued(self, kernel: FusedRows, weights: np.ndarray | None) -> Chunking:
        """Go on with other kernel values, those of a longer type: from where this one has come,
        and then to the exact solution.
        """
        effort = self.effort
        other = Chunking(
            replace(self.problem, start=self.beta), self.examples, self.ends[-1:], kernel, self.tol,
            effort.max_steps, self._norms, weights, effort.stopped, True, self._report,
            self._look_rows,
        )  # fmt: skip
        other.effort, other.entered = effort, self.entered
        # a working set is solved for in matrices of the shorter type: what it changed is added in
        # the longer one, and the next set makes up for what that differs in
        other._corners, other._local = self._corners, self._local
        other._room = self._room
        if effort.stopped():
            left = int(np.count_nonzero(self.beta)) * len(self.beta)
            if not (self.is_complete and self._has_time_for(left)):
                return self
            other._look_to_the_end()
            return other
        other.run()
        if not other.is_complete:  # the time was up before it knew as much as this one
            return self
        if other.converged and not effort.stopped():
            other.finish()
        return other

    def take(self, at: Solution) -> None:
        """Take over what was found by other means, in kernel values of the same type."""
        self.beta, self.grad, self.violation = at.beta, at.grad, at.violation
        self.converged, self.seen = at.converged, len(at.beta)
        self.effort.n_steps += at.n_steps
        used = np.flatnonzero(at.beta)
        self._note_drift(self.examples[used], at.beta[used], at.grad)

    def move(self, which: np.ndarray, to: np.ndarray, over: np.ndarray) -> None:
        """Give some variables other values; the gradient is that of this only in `over`."""
        changed = np.flatnonzero(to != self.beta[which])
        which, to = which[changed], to[changed]
        step = to - self.beta[which]
        self.beta[which] = to
        if len(changed) and len(over):
            vectors = self.kernel.vectors(self.examples[which])
            sums = self.kernel.columns(self.examples[over]).sums(vectors, step[None])
            self.grad[over] += sums[0]
            self.effort.n_values += len(changed) * len(over)
            self._note_drift(self.examples[which], step, self.grad)

    def finish(self) -> None:
        """Go on to the exact solution; where more variables are free than the active set method
        takes, as far beyond the tolerance as can be had for what was spent so far, until the
        objective is known well.
        """
        problem = self.problem
        free = np.count_nonzero((problem.lo < self.beta) & (self.beta < problem.hi))
        if free <= MOST_FREE:
            self.refine()
            return
        tol, most = self.tol, 2 * self.effort.n_values
        self.tol = FINER * tol
        columns = self._whole(len(self.beta))
        self._descend(
            columns,
            lambda at: at.meets(self.tol) or self.effort.n_values > most or self.is_close(at),
        )
        self.tol = tol
        columns.settle()
        self._judge(columns)

    def is_close(self, at: Optimality | None = None) -> bool:
        """Whether the objective is known well, with a gradient that is up to date."""
        at = at or Optimality.of(self.problem, self.beta, self.grad, len(self.beta))
        return at.gap_left(self.problem, self.beta, self.grad) <= CLOSE

    def refine(self) -> None:
        """Go on to the exact solution, if the active set method can have it."""
        columns, before = self._whole(len(self.beta)), self.beta.copy()

        def gram(variables: np.ndarray) -> np.ndarray:
            return self.kernel.corner(self.examples[variables])

        def products(variables: np.ndarray, coefs: np.ndarray) -> np.ndarray:
            sums = columns.sums(self.examples[variables], coefs[None])
            self._note_drift(self.examples[variables], coefs, self.grad, sums)
            return np.asarray(sums[0])

        exact = refine(self.problem, self.solution(), gram, products, stopped=self.effort.stopped)
        self.beta, self.grad, self.violation = exact.beta, exact.grad, exact.violation
        changed = np.flatnonzero(self.beta != before)
        if self._weights is not None and self._norms is not None:  # what they may have grown by
            examples = self.examples[changed]
            grown = np.abs(self.beta - before)[changed] * self._weights[examples]
            self.sizes += float(grown @ self._norms[examples]) * self._norms[self.examples]

    def solution(self) -> Solution:
        if self._columns is not None:
            self._columns.refresh()
        seen = None
        if not self.is_complete:
            seen = self.beta != 0
            seen[: self.seen] = True
        return Solution(
            self.beta, self.grad, self.violation, self.effort.n_steps, self.converged, self.drift,
            seen, None if self._weights is None else self.sizes,
        )  # fmt: skip
