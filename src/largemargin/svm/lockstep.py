"""The block solver: many problems at a time over shared kernel rows.

Each problem holds its variables b and the gradient Kb + ridge b + p. A round is

    choose    the working set: the variables that violate optimality most, and of the last working
    set
              those that are free
    fetch     the kernel rows that all problems want, in large products
    advance   solve the working set to optimality in its own small matrix, then bring the gradient
    of
              everybody else up to date with one pass over the rows that changed

The columns come in portions. A problem is first solved on its first portion, a small part of the
examples, where few rows tell which matter; then the next portion's gradient is made up, and so on,
as in the chunking of Cortes & Vapnik. Variables of portions to come are settled at their start, at
no cost. Problems do not touch one another, so neither their company nor the memory changes an
answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from largemargin.kernel_rows import KernelRows
from largemargin.svm.exact import polish
from largemargin.svm.interior_point import solve_interior
from largemargin.svm.problem import Problem, Solution
from largemargin.watch import Watch
from largemargin.workers import Workers

WORKING_SET = 512
EARLY = 0.3  # the violation at which a portion is good enough to go on to the next
ROUNDING = 1e-9  # below this, relative to the gradients, a margin is none
BURST = 20_000  # steps, and PATIENCE a variable, after which a block is solved another way
PATIENCE = 50
UNBOUNDED = 1e100
LOCAL = 0.1  # how far a working set is solved, relative to the violation it was chosen for


@dataclass(frozen=True)
class State:
    """How a point stands: the largest value that may rise and the smallest that may fall, a group;
    the violation, in units of what the tolerance is relative to; whether the solution is known to
    be none.
    """

    best: np.ndarray
    worst: np.ndarray
    violation: float
    unit: float
    hopeless: bool

    def meets(self, tol: float) -> bool:
        """Whether there is nothing left to do."""
        return self.hopeless or self.violation <= tol

    @classmethod
    def of(cls, problem: Problem, beta: np.ndarray, grad: np.ndarray, n: int) -> State:
        """The state of the first n variables."""
        from largemargin.svm._loops import extremes

        best, worst = np.empty(problem.n_groups), np.empty(problem.n_groups)
        extremes(grad, beta, problem.lo, problem.hi, problem.a, problem.group, n, best, worst)
        if not problem.threshold:
            np.maximum(best, 0.0, out=best)
            np.minimum(worst, 0.0, out=worst)
        violation = max(0.0, float(np.max(best - worst)))
        if not problem.relative:
            return cls(best, worst, violation, 1.0, False)
        ends = np.array([best, worst])  # a group all at its bounds has one end, or none
        known = np.isfinite(ends)
        middle = np.where(known, ends, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        rho = -middle[0] if len(middle) == 1 else (middle[1] - middle[0]) / 2
        square = float(beta @ (grad - problem.p))
        unit = max(
            float(rho), ROUNDING * float(np.abs(grad).max(initial=0.0)), np.finfo(float).tiny
        )
        hopeless = square < problem.least_norm**2
        return cls(best, worst, violation / unit, unit, hopeless)


class Progress:
    """How far one problem has got.

    `portions` lists the segments of its columns, portion by portion; its variables are their
    columns in that order, and `examples` says which example each one is.
    """

    def __init__(
        self,
        problem: Problem,
        portions: Sequence[Sequence[int]],
        rows: KernelRows,
        tol: float,
        max_steps: float,
    ) -> None:
        self.problem, self.rows, self.tol, self.max_steps = problem, rows, tol, max_steps
        self.portions = portions
        self.beta = problem.start.copy()
        self.grad = problem.p + problem.ridge * self.beta
        self.examples = np.concatenate([rows.segments[s].columns for p in portions for s in p])
        self.ends = np.cumsum([sum(rows.segments[s].width for s in part) for part in portions])
        self._lay_out()
        self.stage = -1  # the last portion whose gradient is up to date
        self.working = np.empty(0, np.int64)
        self.violation = np.inf
        self.n_steps = 0
        self.finished = self.converged = False

    def _lay_out(self) -> None:
        self._start_of: dict[int, int] = {}
        self._segment_of = np.empty(len(self.beta), np.int32)
        self._column_of = np.empty(len(self.beta), np.int64)
        at = 0
        for s in [s for part in self.portions for s in part]:
            width = self.rows.segments[s].width
            self._start_of[s] = at
            self._segment_of[at : at + width] = s
            self._column_of[at : at + width] = np.arange(width)
            at += width

    @property
    def segments(self) -> list[int]:
        """What is up to date."""
        return [s for part in self.portions[: self.stage + 1] for s in part]

    def choose(self) -> None:
        """Find what to do next: `finished`, or rows to fetch (`wanted`) and a step to make with
        them.
        """
        settled = self.stage >= 0 and self._is_settled()
        last = self.stage == len(self.portions) - 1
        if settled and last:
            self.finished = True
        elif settled or self.stage < 0:
            self._extend = True
            self.working = np.flatnonzero(self.beta)
            coming = self.portions[self.stage + 1 :]
            if self.stage >= 0 or not len(self.working):
                coming = coming[:1]  # else it starts from a solution: no need to begin with a part
            self.wanted = [s for part in coming for s in part]
            self._next = self.stage + len(coming)
        else:
            self._extend = False
            self.working = self._working_set()
            self.wanted = self.segments

    def _is_settled(self) -> bool:
        self.state = State.of(self.problem, self.beta, self.grad, self.ends[self.stage])
        self.violation = self.state.violation
        last = self.stage == len(self.portions) - 1
        if self.state.hopeless:
            self.finished = self.converged = True
            return True
        self.converged = last and self.violation <= self.tol
        if self.n_steps >= self.max_steps:
            return True
        return self.violation <= (self.tol if last else max(self.tol, EARLY))

    def _working_set(self) -> np.ndarray:
        """New violators, at most half the set if the last one can fill the rest; free variables
        stay first.
        """
        from largemargin.svm._loops import violators

        problem = self.problem
        half = WORKING_SET // 2
        up, down = np.empty(half, np.int64), np.empty(half, np.int64)
        ups, downs = violators(
            self.grad, self.beta, problem.lo, problem.hi, problem.a, problem.group,
            self.ends[self.stage], self.state.best, self.state.worst, up, down,
        )  # fmt: skip
        old = self.working
        free = (self.beta[old] > problem.lo[old]) & (self.beta[old] < problem.hi[old])
        old = np.concatenate([old[free], old[~free]])
        if len(old) >= half:  # the worst half of each side
            ups, downs = min(ups, half // 2), min(downs, half // 2)
        new = np.union1d(up[:ups], down[:downs])
        old = old[~np.isin(old, new)]
        return np.sort(np.concatenate([new, old[: WORKING_SET - len(new)]]))

    def requests(self) -> np.ndarray:
        """The examples whose rows are wanted."""
        return self.examples[self.working]

    def advance(self) -> None:
        """Make the step that was chosen, all its rows being at hand."""
        if self._extend:
            self.stage = self._next
            self.add(self.working, self.beta[self.working])
        else:
            local = np.empty((len(self.working),) * 2, self.rows.dtype)
            self.gather(local, 0, len(self.working))
            self.add(*self.solve(local))

    def advance_in_parts(self, limit: int) -> None:
        """The same with at most `limit` rows at hand at a time."""
        parts = [slice(k, k + limit) for k in range(0, len(self.working), limit)]
        working, wanted = self.working, self.wanted
        delta = self.beta[working]
        if self._extend:
            self.stage = self._next
        else:
            local = np.empty((len(working),) * 2, self.rows.dtype)
            for part in parts:
                self._fetch(working[part], wanted)
                self.gather(local, part.start, min(part.stop, len(working)))
            working, delta = self.solve(local)
        for part in parts:
            self._fetch(working[part], wanted)
            self.add(working[part], delta[part])

    def _fetch(self, variables: np.ndarray, segments: list[int]) -> None:
        if len(variables):
            self.rows.fetch({s: [self.examples[variables]] for s in segments})

    def gather(self, local: np.ndarray, first: int, stop: int) -> None:
        """Rows first..stop of the matrix of the working set."""
        from largemargin.svm._loops import gather

        examples = self.examples[self.working[first:stop]]
        segment_of = self._segment_of[self.working]
        for s in self.segments:
            here = np.flatnonzero(segment_of == s)
            if len(here):
                segment = self.rows.segments[s]
                columns = self._column_of[self.working[here]]
                gather(local, first, segment.values, segment.slot_of[examples], columns, here)

    def solve(self, local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve the working set; returns the variables that changed and by how much."""
        working = self.working
        beta, steps = solve_block(
            self.problem, working, local, self.grad, self.beta,
            max(self.tol / 2, LOCAL * self.violation) * self.state.unit,
            self.max_steps - self.n_steps,
        )  # fmt: skip
        self.n_steps += steps
        delta = beta - self.beta[working]
        changed = np.flatnonzero(delta)
        working, delta = working[changed], delta[changed]
        self.beta[working] = beta[changed]
        self.grad[working] += self.problem.ridge[working] * delta
        return working, delta

    def add(self, variables: np.ndarray, delta: np.ndarray) -> None:
        """Add delta times the kernel rows of the variables to the gradient of what is wanted."""
        from largemargin.svm._loops import add_rows

        examples = self.examples[variables]
        for s in self.wanted:
            segment = self.rows.segments[s]
            add_rows(self.grad, self._start_of[s], segment.values, segment.slot_of[examples], delta)

    def go_on(self, factor: float) -> None:
        """Aim for a smaller tolerance, with no more steps than were made so far."""
        self.finished = self.state.hopeless
        self.tol *= factor
        self.max_steps = min(self.max_steps, 2 * self.n_steps)

    def polish(self) -> None:
        """Go on to the exact solution, if few enough variables are free."""
        exact = polish(self.problem, self.solution(), self._gram, self._products)
        self.beta, self.grad, self.violation = exact.beta, exact.grad, exact.violation

    def _gram(self, variables: np.ndarray) -> np.ndarray:
        X = self.rows.columns(self.examples[variables])
        return self.rows.kernel(*X)

    def _products(self, variables: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        """The kernel values of all variables against some, times coefficients."""
        before, self.grad = self.grad, np.zeros(len(self.grad))
        step = self.rows.capacity // 4 * 4
        self.wanted = self.segments
        for k in range(0, len(variables), step):
            self._fetch(variables[k : k + step], self.wanted)
            self.add(variables[k : k + step], coefs[k : k + step])
        found, self.grad = self.grad, before
        return found

    def solution(self) -> Solution:
        return Solution(self.beta, self.grad, self.violation, self.n_steps, self.converged)


def solve_block(
    problem: Problem,
    working: np.ndarray,
    local: np.ndarray,
    grad: np.ndarray,
    beta: np.ndarray,
    tol: float,
    max_steps: float,
    closer: float | None = None,
) -> tuple[np.ndarray, int]:
    """Solve for the variables `working`, whose kernel values are `local`, the others kept; returns
    them and the number of steps made.
    """
    from largemargin.svm._loops import solve_local

    parts: tuple[np.ndarray, ...] = (
        problem.ridge, grad, problem.lo, problem.hi, problem.a, problem.group
    )  # fmt: skip
    if len(working) < len(problem):
        parts = tuple(part[working] for part in parts)
    K, found = local, beta[working]
    if not problem.threshold:  # the variable that takes up the sum
        K = np.pad(local, (0, 1))
        found = np.append(found, 0.0)
        ends = (0.0, 0.0, -np.inf, np.inf, 1.0, 0)
        parts = tuple(
            np.append(part, np.array(end, part.dtype))
            for part, end in zip(parts, ends, strict=True)
        )
    ridge, slope, lo, hi, a, group = parts
    patience = BURST + PATIENCE * len(found)
    steps, met = solve_local(
        K, ridge, slope.copy(), found, lo, hi, a, group, problem.n_groups, tol,
        tol if closer is None else closer, int(min(max_steps, patience)),
    )  # fmt: skip
    found = found[: len(working)]
    if not np.abs(found).max(initial=0.0) < UNBOUNDED:
        raise ValueError(
            "the dual problem has no bounded solution, which happens when the kernel is not "
            "positive semi-definite: use another kernel, or slack='linear' with a moderate C"
        )
    if not met and patience < max_steps:
        inner = solve_interior(problem, working, local, grad, beta)
        if inner is not None:
            found = inner
    return found, steps


def solve(progress: Sequence[Progress], rows: KernelRows, team: Workers, watch: Watch) -> None:
    """Run all problems until each is finished or the watch says stop; then bring gradients up to
    date.
    """
    live = list(progress)
    while live and not watch.stopped:
        team.map(Progress.choose, live)
        done = [one for one in live if one.finished]
        live = [one for one in live if not one.finished]
        _round(live, rows, team)
        left = max((one.violation for one in live), default=0.0)
        watch.advance(len(done), f"{len(live)} to go, violation {left:.2g}")
    for one in live:  # stopped early: the gap needs the gradient of all
        one.max_steps = 0
    while live:
        team.map(Progress.choose, live)
        live = [one for one in live if not one.finished]
        _round(live, rows, team)


def _round(live: Sequence[Progress], rows: KernelRows, team: Workers) -> None:
    for party in _parties(live, rows.capacity):
        wanted: dict[int, list[np.ndarray]] = {}
        for one in party:
            for s in one.wanted:
                if len(one.working):
                    wanted.setdefault(s, []).append(one.requests())
        if len(party) == 1 and len(party[0].working) > rows.capacity:
            party[0].advance_in_parts(rows.capacity // 4 * 4)
        else:
            rows.fetch(wanted)
            team.map(Progress.advance, party)


def _parties(live: Sequence[Progress], capacity: int) -> Iterator[list[Progress]]:
    """Problems together as long as their rows fit into the memory together."""
    party: list[Progress] = []
    counts: dict[int, int] = {}
    for one in live:
        want = len(one.working)
        full = any(counts.get(s, 0) + want > capacity for s in one.wanted)
        if party and (full or want > capacity or len(party[0].working) > capacity):
            yield party
            party, counts = [], {}
        party.append(one)
        for s in one.wanted:
            counts[s] = counts.get(s, 0) + want
    if party:
        yield party
