"""The soft margin of the paper's experiments: the price is the square of the sum of the slacks.

    minimise  1/2 w.w + C (sum s_i xi_i)^2
    dual:     maximise sum alpha_i - 1/2 alpha'D alpha - delta^2/(4 C),   0 <= alpha_i <= s_i delta

The box is a variable shared by all examples. For a given delta it is the machine with linear slack
and price delta, and the best delta is the one with

    delta = 2 C sum s_i xi_i(delta)

whose right side falls as delta grows: one root, found between ever closer bounds. The slacks are
piecewise linear in delta, so a chord between two values on the same piece gives the root itself.

With a large C that is a great multiple of small slacks, which are known to rounding only: near the
root `shared_box_exact` takes over, with delta among the unknowns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from largemargin.runtime.progress import Watch
from largemargin.svm.formulations import HINGE, SharedBox, SoftMargin, relative_gap, slacks, squared
from largemargin.svm.problem import Solution
from largemargin.svm.session import Job, Session, Trained
from largemargin.svm.squared_sum_active_set import Point, solve_exactly

ROUNDS = 60
EXACT = 1e-10  # the relative difference of the two sides at which delta is the root
PATIENCE = 2  # rounds that do not halve the gap, or whose machine is beyond reach
SMALL_GAP = 1e-6  # a solution with this gap has converged, whatever rounding makes of delta
SHRINKAGE = 2.0


@dataclass
class _Search:
    """The root of delta - 2 C S(delta) between two bounds, S being the sum of the slacks."""

    C: float
    delta: float
    low: tuple[float, float] | None = None  # (delta, S), the difference negative
    high: tuple[float, float] | None = None
    fall: float = 1.0  # p, where S is about delta^-p
    same_side: int = 0
    found: tuple[float, float] | None = None
    least_gap: float = np.inf
    stalled: int = 0  # rounds that did not halve the gap
    failed: int = 0  # rounds whose machine did not converge

    def note_gap(self, gap: float, converged: bool) -> None:
        self.stalled = 0 if gap < self.least_gap / 2 else self.stalled + 1
        self.least_gap = min(gap, self.least_gap)
        self.failed += not converged

    def note(self, delta: float, slack: float) -> None:
        """What was found: the box that is used, of the one that was given, and the slacks."""
        self.found = at = (delta, slack)
        if self._difference(at) < 0:
            if self.low is not None and slack > 0 and delta > self.low[0]:
                self.fall = np.log(self.low[1] / slack) / np.log(delta / self.low[0])
            self.same_side = min(self.same_side, 0) - 1
            self.low = at
        else:
            self.same_side = max(self.same_side, 0) + 1
            self.high = at

    def is_root(self, limit: float) -> bool:
        return self.found is not None and abs(self._difference(self.found)) <= limit * self.found[0]

    def _difference(self, at: tuple[float, float]) -> float:
        return at[0] - 2 * self.C * at[1]

    def move(self) -> None:
        """To the next delta to try, if one was tried."""
        if self.found is not None:
            self.delta = self._next() or self.delta

    def _next(self) -> float:
        if self.high is None:
            delta, slack = self.found or (self.delta, 0.0)
            if delta == 0.0:  # no box at all leaves the slacks of w = 0
                return 2 * self.C * slack
            fall = min(max(self.fall, 0.0), 1.0) if self.same_side >= -2 else 0.0
            return delta * (2 * self.C * slack / delta) ** (1 / (1 + fall))
        high, above = self.high[0], self._difference(self.high)
        if self.low is None:  # S falls, so the root is beyond 2 C S(high)
            low = 2 * self.C * self.high[1]
            return low if low > 0 else high / SHRINKAGE
        low, below = self.low[0], self._difference(self.low)
        if abs(self.same_side) > 2:  # one bound does not move: between them instead
            self.same_side = 0
            return float(np.sqrt(low * high))
        return low - below * (high - low) / (above - below)


def train(
    session: Session,
    jobs: Sequence[Job],
    C: float,
    threshold: bool,
    *,
    tol: float,
    max_steps: float,
    watch: Watch,
) -> list[Trained]:
    """Train machines with the shared box, whatever the formulations of the jobs."""
    scale = abs(float(np.mean(session.kernel.diag(session.X)))) or 1.0
    searches = [_Search(C, _first(session, job, C, threshold, 1 / scale)) for job in jobs]
    found: list[Trained | None] = [None] * len(jobs)
    starts = [job.start for job in jobs]
    steps = np.zeros(len(jobs), np.int64)
    done = np.zeros(len(jobs), bool)
    limit = EXACT if session.exact else tol
    for _ in range(ROUNDS):
        tired = np.array([search.failed > PATIENCE for search in searches])
        left = np.flatnonzero(~done & ~tired & (steps < max_steps)).tolist()
        if not left or (watch.stopped and None not in found):
            break
        for k in left:
            searches[k].move()
        trained = session.train(
            [
                replace(
                    jobs[k],
                    formulation=SoftMargin(searches[k].delta, HINGE, threshold),
                    start=starts[k],
                )
                for k in left
            ],
            tol=tol, max_steps=max_steps - int(steps[left].max()), watch=watch,
        )  # fmt: skip
        for k, one in zip(left, trained, strict=True):
            if one.machine.converged:
                starts[k] = one.coefs(session.n)
            steps[k] += max(1, one.machine.n_steps)
            used = _delta(one.machine.coefs, one.stated.weights)
            searches[k].note(used, _slack(one))
            one = _read(one, C)
            if session.exact and one.machine.converged and not watch.look():
                one, done[k] = _exact(session, one, C, threshold, watch)
            searches[k].note_gap(one.machine.gap, one.machine.converged)
            # with a great C rounding may be all that is left of the slacks
            done[k] |= searches[k].is_root(tol if searches[k].stalled > PATIENCE else limit)
            best = found[k]
            if best is None or done[k] or one.machine.objective > best.machine.objective:
                found[k] = one
    return [
        _judged(replace(one, judge=SharedBox(C, threshold)), int(n), bool(is_done))
        for one, n, is_done in zip(found, steps, done, strict=True)
        if one is not None
    ]


def _first(session: Session, job: Job, C: float, threshold: bool, usual: float) -> float:
    """The first delta to try: that of the start, if there is one; else no more than what the slacks
    of w = 0 make it, which is what it is for a small C.
    """
    if job.start is not None and job.start.any():
        return _delta(job.start, job.weights)
    examples = session.layout.examples(job.split)
    weights, signs = job.weights[examples], session.signs(job, examples)
    sides = float(weights[signs > 0].sum()), float(weights[signs < 0].sum())
    return min(usual, 2 * C * (2 * min(sides) if threshold else sum(sides))) or usual


def _delta(coefs: np.ndarray, weights: np.ndarray) -> float:
    """The smallest box that holds some coefficients."""
    used = weights > 0
    return float((np.abs(coefs[used]) / weights[used]).max(initial=0.0))


def _slack(one: Trained) -> float:
    outputs = one.outputs + one.machine.intercept
    return float(one.stated.weights @ slacks(1.0, one.stated.signs * outputs))


def _exact(
    session: Session, one: Trained, C: float, threshold: bool, watch: Watch
) -> tuple[Trained, bool]:
    """The solution with the best delta and whether it is known to be it, if not a better one."""
    place = session.place[one.examples]
    signs, weights = one.stated.signs, one.stated.weights

    def products(F: np.ndarray, d: np.ndarray) -> np.ndarray:
        return np.asarray(session.products(one.examples[F], d[None, :])[0][place], np.float64)

    point = Point(
        y=signs, s=weights, C=C, threshold=threshold, beta=one.machine.coefs,
        delta=_delta(one.machine.coefs, weights), outputs=one.outputs,
        gram=lambda F: session.gram_of(one.examples[F]), products=products,
    )  # fmt: skip
    point, is_exact = solve_exactly(point, watch.look)
    machine = SoftMargin(point.delta, HINGE, threshold)
    problem = machine.problem(signs, weights)
    solution = Solution(
        np.clip(point.beta, problem.lo, problem.hi), point.outputs - signs,
        one.machine.violation, one.machine.n_steps, converged=True,
    )  # fmt: skip
    exact = replace(
        one, outputs=point.outputs, machine=machine.read(problem, solution, signs, weights)
    )
    exact = _read(exact, C)
    # rounding may keep an exact solution from being better than one that is exact already
    if is_exact and exact.machine.gap <= max(one.machine.gap, SMALL_GAP):
        return exact, True
    return (exact if exact.machine.objective > one.machine.objective else one), False


def _read(one: Trained, C: float) -> Trained:
    """The same machine, its objective and gap those of the square of the sum."""
    machine = one.machine
    delta = _delta(machine.coefs, one.stated.weights)
    primal = machine.square / 2 + C * squared(_slack(one))
    dual = float(np.abs(machine.coefs).sum()) - machine.square / 2 - squared(delta) / (4 * C)
    gap = relative_gap(primal, dual) if np.isfinite(one.outputs).all() else np.inf
    return replace(one, machine=replace(machine, objective=dual, gap=gap))


def _judged(one: Trained, n_steps: int, done: bool) -> Trained:
    """With the steps of all rounds, and converged only if the root was found."""
    machine = one.machine
    found = machine.converged and (done or machine.gap <= SMALL_GAP)
    return replace(one, machine=replace(machine, n_steps=n_steps, converged=found))
