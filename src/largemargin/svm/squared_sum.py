"""The soft margin of the paper's experiments: the price is the square of the sum of the slacks.

    minimise  1/2 w.w + C (sum s_i xi_i)^2
    dual:     maximise sum alpha_i - 1/2 alpha'D alpha - delta^2/(4 C),   0 <= alpha_i <= s_i delta

The box is a variable shared by all examples. For a given delta it is the machine with linear slack
and price delta, and the best delta is the one with

    delta = 2 C sum s_i xi_i(delta)

whose right side falls as delta grows: one root, found between ever closer bounds. The slacks are
piecewise linear in delta, so a chord between two values on the same piece gives the root itself.

With a large C that is a great multiple of small slacks, which are known to rounding only: near the
root `squared_sum_active_set` takes over, with delta among the unknowns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from largemargin.runtime.progress import Watch
from largemargin.svm.formulations import (
    HINGE,
    SoftMargin,
    SquaredSum,
    relative_gap,
    slacks,
    square_of,
)
from largemargin.svm.jobs import Job, TrainedProblem
from largemargin.svm.problem import Solution
from largemargin.svm.session import Session
from largemargin.svm.squared_sum_active_set import Iterate, solve_exactly

ROUNDS = 60  # values of delta that are tried
ROOT_TOL = 1e-10  # the relative difference of the two sides at which delta is the root
STALLED_ROUNDS = 2  # rounds that do not halve the gap, or do not converge, and are tolerated
SMALL_GAP = 1e-6  # a solution with this gap has converged, whatever rounding makes of delta
SHRINKAGE = 2.0  # the factor by which delta falls where no slack is left


@dataclass
class _RootBracket:
    """A bracket of the root of delta - 2 C S(delta), S being the sum of the slacks."""

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
        """Take note of a trial: the box that its coefficients use, and the sum of the slacks."""
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
            return float(delta * (2 * self.C * slack / delta) ** (1 / (1 + fall)))
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
) -> list[TrainedProblem]:
    """Train machines with the square of the sum, whatever the formulations of the jobs."""
    scale = abs(float(np.mean(session.kernel.diag(session.X)))) or 1.0
    searches = [_RootBracket(C, _first(session, job, C, threshold, 1 / scale)) for job in jobs]
    found: list[TrainedProblem | None] = [None] * len(jobs)
    starts = [job.start for job in jobs]
    steps = np.zeros(len(jobs), np.int64)
    done = np.zeros(len(jobs), bool)
    limit = ROOT_TOL if session.exact else tol
    for _ in range(ROUNDS):
        tired = np.array([search.failed > STALLED_ROUNDS for search in searches])
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
            if one.result.converged:
                starts[k] = one.coefs(session.n)
            steps[k] += max(1, one.result.n_steps)
            used = _delta(one.result.coefs, one.stated.weights)
            searches[k].note(used, _slack(one))
            one = _read(one, C)
            if session.exact and one.result.converged and not watch.look():
                one, done[k] = _exact(session, one, C, threshold, watch)
            searches[k].note_gap(one.result.gap, one.result.converged)
            # with a large C the slacks may be rounding only
            done[k] |= searches[k].is_root(tol if searches[k].stalled > STALLED_ROUNDS else limit)
            best = found[k]
            if best is None or done[k] or one.result.objective > best.result.objective:
                found[k] = one
    return [
        _judged(replace(one, criterion=SquaredSum(C, threshold)), int(n), bool(is_done))
        for one, n, is_done in zip(found, steps, done, strict=True)
        if one is not None
    ]


def _first(session: Session, job: Job, C: float, threshold: bool, usual: float) -> float:
    """The first delta to try: that of the start, if there is one; else at most the delta of the
    slacks of w = 0, which is the solution for a small C.
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


def _slack(one: TrainedProblem) -> float:
    outputs = one.outputs + one.result.intercept
    return float(one.stated.weights @ slacks(1.0, one.stated.signs * outputs))


def _exact(
    session: Session, one: TrainedProblem, C: float, threshold: bool, watch: Watch
) -> tuple[TrainedProblem, bool]:
    """The solution with the best delta, if it is found, and whether it is."""
    place = session.place[one.examples]
    signs, weights = one.stated.signs, one.stated.weights

    def products(F: np.ndarray, d: np.ndarray) -> np.ndarray:
        return np.asarray(session.products(one.examples[F], d[None, :])[0][place], np.float64)

    point = Iterate(
        y=signs, s=weights, C=C, threshold=threshold, beta=one.result.coefs,
        delta=_delta(one.result.coefs, weights), outputs=one.outputs,
        gram=lambda F: session.gram_of(one.examples[F]), products=products,
    )  # fmt: skip
    point, is_exact = solve_exactly(point, watch.look)
    result = SoftMargin(point.delta, HINGE, threshold)
    problem = result.problem(signs, weights)
    solution = Solution(
        np.clip(point.beta, problem.lo, problem.hi), point.outputs - signs,
        one.result.violation, one.result.n_steps, converged=True,
    )  # fmt: skip
    exact = replace(  # what was known of the rounding was of other coefficients
        one, outputs=point.outputs, drift=np.inf, sizes=None,
        result=result.read(problem, solution, signs, weights),
    )  # fmt: skip
    exact = _read(exact, C)
    # rounding may keep an exact solution from being better than one that is exact already
    if is_exact and exact.result.gap <= max(one.result.gap, SMALL_GAP):
        return exact, True
    return (exact if exact.result.objective > one.result.objective else one), False


def _read(one: TrainedProblem, C: float) -> TrainedProblem:
    """The same machine with the objective and the duality gap of the square of the sum."""
    result = one.result
    delta = _delta(result.coefs, one.stated.weights)
    primal = result.square / 2 + C * square_of(_slack(one))
    dual = float(np.abs(result.coefs).sum()) - result.square / 2 - square_of(delta) / (4 * C)
    gap = relative_gap(primal, dual) if np.isfinite(one.outputs).all() else np.inf
    return replace(one, result=replace(result, objective=dual, gap=gap))


def _judged(one: TrainedProblem, n_steps: int, done: bool) -> TrainedProblem:
    """With the steps of all rounds, and converged only if the root was found."""
    result = one.result
    found = result.converged and (done or result.gap <= SMALL_GAP)
    return replace(one, result=replace(result, n_steps=n_steps, converged=found))
