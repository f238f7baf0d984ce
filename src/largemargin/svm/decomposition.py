"""Decomposition: many dual problems at a time over shared kernel rows.

Each problem holds its variables b and the gradient Kb + ridge b + p. A round is

    select   the working set: the variables that violate the KKT conditions most, and the free ones
             of the last working set
    solve    it in its own small matrix: rows that are at hand, and, for members that are new, the
             corner of the matrix among themselves
    fetch    the kernel rows of all variables that changed, of all problems, in large products
    add      what they do to the gradient of all other variables, in one pass over these rows

A row is paid for when its variable changes, not when it is looked at. The columns come in portions.
A problem is first solved on its first portion, a small part of the examples, where few rows tell
which matter; then the gradient of the rest is computed, as in the chunking of Cortes & Vapnik.
Until then the rest stays at its start, at no cost. There is no other shrinking: before a problem is
done, all of its variables are looked at. A round that the watch ends is taken back, and where it
would take too long to look at the rest, that is left out: the machine is then that of a part of the
examples, and its duality gap is not known.

Problems share rows and nothing else, and the memory does not change an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from largemargin.kernels.engine import fill
from largemargin.kernels.functions import UNIT
from largemargin.kernels.rows import KernelRows
from largemargin.runtime.progress import Watch
from largemargin.runtime.threads import Workers
from largemargin.svm.active_set import refine
from largemargin.svm.dense_solver import solve_block
from largemargin.svm.problem import Optimality, Problem, Solution

# Variables of a working set; up to twice as many if many are free, or if the problem is large
WORKING_SET = 1024
NEW = 4  # one member in so many is new and has a row, and one in so many is new and has none yet
EARLY = 0.3  # a violation at which a portion is solved well enough to go on to the next
PIECE = 1024  # rows that are fetched at a time, in between which the clock is looked at
IDLE_ROUNDS = 3  # rounds in a row that may change nothing: rounding leaves no better point then
SPARE = 0.1  # the fraction of the time taken that may be spent on looking at the rest
SPARE_SECONDS = 0.5  # seconds that may be spent on it in any case
USUAL_SPEED = 1e8  # kernel values per second, before the speed is known
LOCAL = 0.1  # the violation left in a working set, relative to the one it was selected for


class Subproblem:
    """One problem of a decomposition: its variables, its gradient and its working set.

    `portions` lists the segments of its columns, portion by portion; its variables are their
    columns in that order, and `examples` says which example each one is. `asked_for` says of every
    example whether its row was asked for; problems on the same columns share it, so that a row that
    one of them has paid for costs the others nothing. `sizes` are the norms of all examples in
    feature space, if these bound kernel values. `given` says that the user gave the start.
    """

    def __init__(
        self,
        problem: Problem,
        portions: Sequence[Sequence[int]],
        rows: KernelRows,
        asked_for: np.ndarray,
        tol: float,
        max_steps: float,
        sizes: np.ndarray | None = None,
        stopped: Callable[[], object] = lambda: "",
        given: bool = False,
    ) -> None:
        self.asked_for, self.stopped, self.given = asked_for, stopped, given
        self.problem, self.rows, self.tol, self.max_steps = problem, rows, tol, max_steps
        self.portions = portions
        self.beta = problem.start.copy()
        self.grad = problem.p + problem.ridge * self.beta
        self.examples = np.concatenate([rows.segments[s].columns for p in portions for s in p])
        self.ends = np.cumsum([sum(rows.segments[s].width for s in part) for part in portions])
        self._lay_out()
        self.stage = -1  # number of the last portion whose gradient is up to date
        self._local: np.ndarray | None = None
        self.changed, self.delta = np.empty(0, np.int64), np.empty(0)
        self.working = np.empty(0, np.int64)
        self._entered = np.zeros(len(self.beta), np.int32)  # the round that selected each last
        self._n_rounds = self._n_idle = 0
        self.violation = np.inf
        self.n_steps = 0
        self.finished = self.converged = False
        self._sizes = None if sizes is None else sizes[self.examples]
        self.drift = np.inf if sizes is None else 0.0

    def note_drift(self) -> None:
        """Add to `drift` what rounding may do to the gradient in the sum that comes next."""
        if self._sizes is not None and len(self.changed):
            largest = float(self._sizes.max())
            summed = float(np.abs(self.delta) @ self._sizes[self.changed])
            size = 2 + (float(np.abs(self.beta) @ self._sizes) + summed) * largest
            self.drift += UNIT * (len(self.changed) + 4) * summed * largest
            self.drift += UNIT * (len(self.changed) // 4 + 8) * size

    def save(self) -> None:
        """Keep what a round changes, for `restore`."""
        self._kept = self.beta.copy(), self.grad.copy(), self.stage, self.n_steps, self.working

    def restore(self) -> None:
        self.beta, self.grad, self.stage, self.n_steps, self.working = self._kept
        self._local = None
        if self.stage >= 0:
            return
        if self.given or np.count_nonzero(self.beta) ** 2 <= SPARE_SECONDS * USUAL_SPEED:
            self._look_at_own()
        else:
            self.beta[:] = 0.0  # the start was any feasible point, and not worth the time
            self.grad = self.problem.p.copy()

    def _look_at_own(self) -> None:
        """Compute the gradient of the variables that the start has, and of no others: enough to
        read a machine from them.
        """
        rows, own = self.rows, np.flatnonzero(self.beta)
        examples = self.examples[own]
        columns = rows.X[examples], rows.squares[examples]
        for k in range(0, len(own), PIECE):
            part = examples[k : k + PIECE]
            vectors = part[:, None] if rows.kernel.by_column else rows.X[part]
            values = np.empty((len(part), len(own)), rows.dtype)
            fill(rows.kernel, rows.dtype, columns, (vectors, rows.squares[part]), values)
            self.grad[own[k : k + PIECE]] += values @ self.beta[own]

    @property
    def is_complete(self) -> bool:
        """Whether the gradient of all is up to date."""
        return self.stage == len(self.portions) - 1

    @property
    def values_left(self) -> int:
        """The kernel values that it takes to look at the rest."""
        seen = self.ends[self.stage] if self.stage >= 0 else 0
        return int(np.count_nonzero(self.beta)) * int(len(self.beta) - seen)

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
        """The segments of columns whose gradient is up to date."""
        return [s for part in self.portions[: self.stage + 1] for s in part]

    def select_working_set(self) -> None:
        """Decide what to do next: nothing (`finished`), go on to the next portion, or solve for a
        working set; `wanted` are the segments whose rows that takes.
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
                coming = coming[:1]  # a start that is a solution needs no portion of its own
            self.wanted = [s for part in coming for s in part]
            self._next = self.stage + len(coming)
        else:
            self._extend = False
            self.working = self._working_set()
            self.wanted = self.segments

    def _is_settled(self) -> bool:
        """Whether there is nothing left to do in the portions looked at so far. Before the last
        portion a larger violation than the tolerance will do.
        """
        self.optimality = Optimality.of(self.problem, self.beta, self.grad, self.ends[self.stage])
        self.violation = self.optimality.violation
        last = self.stage == len(self.portions) - 1
        if self.optimality.infeasible_margin:
            self.finished = self.converged = True
            return True
        self.converged = last and self.optimality.meets(self.tol)
        if self.n_steps >= self.max_steps or self._n_idle > IDLE_ROUNDS:
            return True
        return self.optimality.meets(self.tol if last else max(self.tol, EARLY))

    def _working_set(self) -> np.ndarray:
        """The variables that violate optimality most, and half of the set from the last one: the
        free ones first, then those that entered it last.

        With violators alone, two working sets would take turns to undo each other. Of either kind
        only some have no row yet, since a row costs most, and the solution for the others changes
        which are needed. Members with a row come first.
        """
        from largemargin.svm.smo import violators

        problem = self.problem
        at_hand = self.asked_for[self.examples]
        free = (problem.lo < self.beta) & (self.beta < problem.hi)
        most = max(WORKING_SET, len(self.beta) // 16, int(np.count_nonzero(free)))
        size = min(2 * WORKING_SET, most)
        up, down, fresh_up, fresh_down = np.empty((4, size // NEW // 2), np.int64)
        counts = violators(
            self.grad, self.beta, problem.lo, problem.hi, problem.a, problem.group,
            self.ends[self.stage], self.optimality.up_max, self.optimality.low_min, at_hand,
            up, down, fresh_up, fresh_down,
        )  # fmt: skip
        chosen = np.zeros(len(self.beta), bool)
        for part, count in zip((fresh_up, fresh_down, up, down), counts, strict=True):
            chosen[part[:count]] = True
        new = np.flatnonzero(chosen)
        old = self.working[~chosen[self.working]]
        old = old[np.lexsort((-self._entered[old], ~free[old]))]
        unmoved = ~at_hand[old]
        old = old[~unmoved | (np.cumsum(unmoved) <= size // NEW // 2)]
        self._n_rounds += 1
        self._entered[new] = self._n_rounds
        working = np.sort(np.concatenate([new, old[: max(0, size - len(new))]]))
        self._n_known = int(at_hand[working].sum())
        return working[np.argsort(~at_hand[working], kind="stable")]

    @property
    def known(self) -> np.ndarray:
        """The members of the working set whose rows were asked for before; none where the next
        portion is due instead.
        """
        return self.working[: 0 if self._extend else self._n_known]

    def gather(self, first: int, count: int) -> None:
        """Copy the rows of some members into the upper triangle of the working set's matrix."""
        from largemargin.svm.smo import gather

        if self._local is None:
            self._local = np.empty((len(self.working),) * 2, self.rows.dtype)
        examples = self.examples[self.working[first : first + count]]
        segment_of = self._segment_of[self.working]
        for s in self.segments:
            here = np.flatnonzero(segment_of == s)
            if len(here):
                segment = self.rows.segments[s]
                columns = self._column_of[self.working[here]]
                gather(self._local, first, segment.values, segment.slot_of[examples], columns, here)

    def step(self) -> None:
        """Find the variables that change, and by how much; their rows are fetched next."""
        from largemargin.svm.smo import mirror

        if self._extend:
            self.stage, self._n_idle = self._next, 0
            self.changed, self.delta = self.working, self.beta[self.working]
            return
        local = self._local
        if local is None:
            local = np.empty((len(self.working),) * 2, self.rows.dtype)
        self._local = None
        new = self.working[len(self.known) :]
        if len(new):  # members without rows: only the corner among them is computed
            local[-len(new) :, -len(new) :] = self._gram(new)
        mirror(local)
        self.changed, self.delta = self._solve(local)

    def _solve(self, local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve the working set; returns the variables that changed and by how much."""
        working = self.working
        beta, steps = solve_block(
            self.problem, working, local, self.grad, self.beta,
            max(self.tol / 2, LOCAL * self.violation) * self.optimality.unit,
            self.max_steps - self.n_steps, stopped=self.stopped,
        )  # fmt: skip
        self.n_steps += steps
        delta = beta - self.beta[working]
        changed = np.flatnonzero(delta)
        self._n_idle = 0 if len(changed) else self._n_idle + 1
        changed = changed[np.argsort(working[changed])]
        working, delta = working[changed], delta[changed]
        self.beta[working] = beta[changed]
        self.grad[working] += self.problem.ridge[working] * delta
        return working, delta

    def add(self, segment: int, variables: np.ndarray, delta: np.ndarray) -> None:
        """Add delta times the kernel rows of the variables to the gradient of a segment."""
        from largemargin.kernels.loops import add_rows

        rows = self.rows.segments[segment]
        slots = rows.slot_of[self.examples[variables]]
        add_rows(self.grad, self._start_of[segment], rows.values, slots, delta)

    def continue_to(self, tol: float) -> None:
        """Aim for a smaller tolerance, with no more steps than were made so far."""
        self.finished = self.optimality.infeasible_margin
        self.tol = tol
        self.max_steps = min(self.max_steps, 2 * self.n_steps)

    def refine(self) -> None:
        """Go on to the exact solution, if the active set method can have it."""
        exact = refine(
            self.problem, self.solution(), self._gram, self._products, stopped=self.stopped
        )
        self.beta, self.grad, self.violation = exact.beta, exact.grad, exact.violation
        self.drift = np.inf

    def _gram(self, variables: np.ndarray) -> np.ndarray:
        return self.rows.block(self.examples[variables])

    def _products(self, variables: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        """The kernel values of all variables against some, times coefficients."""
        found = np.zeros(len(self.grad))
        before, self.grad = self.grad, found
        self.rows.announce({s: [self.examples[variables]] for s in self.segments})
        step = max(1, self.rows.capacity // 4 * 4)
        for k in range(0, len(variables), step):
            part = slice(k, k + step)
            self.rows.fetch({s: [self.examples[variables[part]]] for s in self.segments})
            for s in self.segments:
                self.add(s, variables[part], coefs[part])
        self.grad = before
        return found

    def solution(self) -> Solution:
        seen = None
        if not self.is_complete:
            seen = self.beta != 0
            seen[: self.ends[self.stage] if self.stage >= 0 else 0] = True
        return Solution(
            self.beta, self.grad, self.violation, self.n_steps, self.converged, self.drift, seen
        )


def solve(progress: Sequence[Subproblem], rows: KernelRows, team: Workers, watch: Watch) -> None:
    """Run all problems until each is finished or the watch says stop; then bring the gradients up
    to date, if there is time for it.
    """
    live = list(progress)
    while live and not watch.stopped:
        team.map(Subproblem.select_working_set, live)
        done = [one for one in live if one.finished]
        live = [one for one in live if not one.finished]
        # a round can be taken back only if there is a solution from before it
        whole = _round(live, rows, team, watch if any(one.beta.any() for one in live) else None)
        worst = max((one.violation for one in live), default=0.0)
        watch.advance(len(done), f"values kept, {len(live)} to go, violation {worst:.2g}")
        if not whole:
            break
    for one in live:  # stopped early: the duality gap needs the gradient of all
        one.max_steps = 0
    if watch.stopped:
        left, speed = sum(one.values_left for one in live), rows.n_computed / watch.elapsed
        if left > (speed or USUAL_SPEED) * (SPARE * watch.elapsed + SPARE_SECONDS):
            live = []  # the duality gap will not be known
    while live:
        team.map(Subproblem.select_working_set, live)
        live = [one for one in live if not one.finished]
        _round(live, rows, team, None)


def _round(
    live: Sequence[Subproblem], rows: KernelRows, team: Workers, watch: Watch | None
) -> bool:
    """Solve the working sets, then bring the gradients up to date, each with the rows it takes.
    Returns whether that was done: where the watch says stop in between, all is as it was.
    """
    for one in live:
        one.save()
    known = [(one, one.known) for one in live]
    rows.announce(_wanted(known))
    for batch in _batches(known, rows.capacity):
        for first, piece in _fetched(batch, rows):
            team.map(partial(_gather_and_step, first), piece)
            if watch is not None and watch.look():
                return _restored(live)
    team.map(Subproblem.step, [one for one, variables in known if not len(variables)])
    # in reverse order: the rows fetched last are still in memory, however little there is
    changed = [(one, one.changed) for one in reversed(live)]
    for one in live:
        one.note_drift()
    rows.announce(_wanted(changed))
    for batch in _batches(changed, rows.capacity):
        for first, piece in _fetched(batch, rows):
            if watch is not None and watch.look():
                return _restored(live)
            work = [
                (one, s, variables, one.delta[first : first + len(variables)])
                for one, variables in piece
                for s in one.wanted
            ]
            team.map(lambda task: task[0].add(*task[1:]), work)
    for one in live:
        one.asked_for[one.examples[one.changed]] = True
    return True


def _restored(live: Sequence[Subproblem]) -> bool:
    for one in live:
        one.restore()
    return False


def _gather_and_step(first: int, pair: tuple[Subproblem, np.ndarray]) -> None:
    one, variables = pair
    one.gather(first, len(variables))
    if first + len(variables) == len(one.known):
        one.step()


Batch = list[tuple[Subproblem, np.ndarray]]


def _batches(wants: Batch, capacity: int) -> Iterator[Batch]:
    """Batches of problems with the variables whose rows they want, such that the rows of a batch
    fit into memory together.
    """
    batch: Batch = []
    counts: dict[int, int] = {}
    for one, variables in wants:
        want = len(variables)
        if not want:
            continue
        full = any(counts.get(s, 0) + want > capacity for s in one.wanted)
        if batch and (full or want > capacity or len(batch[0][1]) > capacity):
            yield batch
            batch, counts = [], {}
        batch.append((one, variables))
        for s in one.wanted:
            counts[s] = counts.get(s, 0) + want
    if batch:
        yield batch


def _fetched(batch: Batch, rows: KernelRows) -> Iterator[tuple[int, Batch]]:
    """Bring the rows that a batch wants into memory, and give the batch back, cut into pieces if a
    problem wants more rows than fit or than are fetched at a time. With each piece comes the place
    of its first variable among those that its problem wants.
    """
    most = max(len(variables) for _, variables in batch)
    step = min(most, PIECE) if most <= rows.capacity else min(PIECE, rows.capacity // 4 * 4)
    for first in range(0, most, step):
        piece = [(one, variables[first : first + step]) for one, variables in batch]
        piece = [(one, variables) for one, variables in piece if len(variables)]
        rows.fetch(_wanted(piece))
        yield first, piece


def _wanted(batch: Batch) -> dict[int, list[np.ndarray]]:
    """The examples whose rows are wanted, by segment."""
    wanted: dict[int, list[np.ndarray]] = {}
    for one, variables in batch:
        if len(variables):
            for s in one.wanted:
                wanted.setdefault(s, []).append(one.examples[variables])
    return wanted
