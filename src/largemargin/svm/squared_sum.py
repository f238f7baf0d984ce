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
from math import inf, log, sqrt

import numpy as np

from largemargin.kernels.functions import Linear
from largemargin.runtime.progress import Watch
from largemargin.svm.active_set import with_kept_sums
from largemargin.svm.formulations import (
    HINGE,
    SoftMargin,
    SquaredSum,
    relative_gap,
    slacks,
    square_of,
)
from largemargin.svm.jobs import Job, TrainedProblem
from largemargin.svm.linear.weights import weighted_sums
from largemargin.svm.problem import Solution
from largemargin.svm.session import Session
from largemargin.svm.squared_sum_active_set import BOUND_ROUNDING, Iterate, solve_exactly

ROUNDS = 60  # values of delta that are tried
ROOT_TOL = 1e-10  # the relative difference of the two sides at which delta is the root
STALLED_ROUNDS = 2  # rounds that do not halve the gap, or do not converge, and are tolerated
SMALL_GAP = 1e-6  # a solution with this gap has converged, whatever rounding makes of delta
SHRINKAGE = 2.0  # the factor by which delta falls where no slack is left
# The tolerance of a round: a fraction of log(2 C S / delta), which it tells, and at most so much
TOL_SHARE, LOOSEST = 0.03, 0.1
FALL = 1.0  # p, where S is about delta^-p, as long as nothing is known of it
STEEPEST = 4.0  # the largest p that is believed
STRAIGHT = 2.0  # the ratio of slacks between which their sum is taken for a line
AHEAD = 0.05  # of the way to the middle of a bracket: the least that is worth a trial
NARROW = 1e-3  # the relative width of a bracket, in tolerances, below which one end is wrong
FEW_EXAMPLES = 1024  # up to which the exact solution is looked for from afar
LONG_PRODUCTS = 100_000  # entries of all rows up to which w is summed in extended precision
GROWN = 1.5  # the ratio of two boxes from which on coefficients grow as a whole


@dataclass(frozen=True)
class _Trial:
    """The box that some coefficients use, 2 C S for the sum S of their slacks, and the tolerance
    that they were found with.
    """

    delta: float
    right: float
    tol: float

    @property
    def excess(self) -> float:
        return self.delta - self.right

    @property
    def log(self) -> float:
        """log of the ratio of the two sides: 0 at the root, infinite where one is nothing."""
        if self.right <= 0 or self.delta <= 0:
            return -inf if self.right <= 0 else inf
        return log(self.right / self.delta)


@dataclass
class _RootBracket:
    """A bracket of the root of delta - 2 C S(delta), S being the sum of the slacks."""

    C: float
    delta: float
    low: _Trial | None = None  # with a negative excess
    high: _Trial | None = None
    lower: _Trial | None = None  # the low end before this one
    fall: float = FALL
    same_side: int = 0
    found: _Trial | None = None
    least_gap: float = np.inf
    stalled: int = 0  # rounds that did not halve the gap
    failed: int = 0  # rounds whose machine did not converge

    def note_gap(self, gap: float, converged: bool) -> None:
        self.stalled = 0 if gap < self.least_gap / 2 else self.stalled + 1
        self.least_gap = min(gap, self.least_gap)
        self.failed += not converged

    def note(self, delta: float, slack: float, tol: float) -> None:
        """Take note of a trial."""
        largest = float(np.finfo(float).max)  # beyond it there is nothing to compare
        self.found = at = _Trial(delta, min(2 * self.C * slack, largest), tol)
        if at.excess < 0:
            if self.low is not None and slack > 0 and delta > self.low.delta:
                self.fall = log(self.low.right / at.right) / log(delta / self.low.delta)
            self.same_side = min(self.same_side, 0) - 1
            self.lower, self.low = self.low, at
        else:
            self.same_side = max(self.same_side, 0) + 1
            self.high = at

    def is_root(self, limit: float) -> bool:
        return self.found is not None and abs(self.found.excess) <= limit * self.found.delta

    def tolerance(self, tol: float) -> float:
        """The violation that may be left in the next round: one that is far from the root only
        has to tell on which side it is, and about how far.
        """
        return max(tol, min(LOOSEST, TOL_SHARE * abs(self.found.log) if self.found else LOOSEST))

    def move(self) -> None:
        """To the next delta to try, if one was tried."""
        if self.found is not None:
            self.delta = self._next(self.found) or self.delta

    def _next(self, found: _Trial) -> float:
        low, high = self.low, self.high
        if low and high and high.delta - low.delta <= NARROW * found.tol * high.delta:
            # the root is not between ends that are this close: one of them is off by its tolerance
            low, high = (low, None) if found is low else (None, high)
            self.low, self.high = low, high
        if high is None:
            if found.delta == 0.0:  # no box at all leaves the slacks of w = 0
                return found.right
            fall = min(max(self.fall, 0.0), STEEPEST) if self.same_side >= -2 else 0.0
            return float(found.delta * (found.right / found.delta) ** (1 / (1 + fall)))
        if low is None:  # S falls, so the root is beyond 2 C S(high)
            fall = min(max(self.fall, 0.0), STEEPEST)
            if high.right > 0:
                return float(high.delta * (high.right / high.delta) ** (1 / (1 + fall)))
            return high.delta / SHRINKAGE
        if high.right <= 0 and low.right > STRAIGHT * low.delta:
            return self._short_of(low, high)
        # an end that does not move counts for less each time (the Illinois method)
        stale = 0.5 ** max(0, abs(self.same_side) - 1)
        shares = (1.0, stale) if self.same_side < 0 else (stale, 1.0)
        if low.right > STRAIGHT * high.right > 0:
            # slacks fall as a power of delta at first and like an exponential in the end: the
            # logarithm of their sum is about a line in the square root of delta
            roots = sqrt(low.delta), sqrt(high.delta)
            return _root(roots, (shares[0] * low.log, shares[1] * high.log)) ** 2
        return _root((low.delta, high.delta), (shares[0] * low.excess, shares[1] * high.excess))

    def _short_of(self, low: _Trial, high: _Trial) -> float:
        """Short of an end without slacks, which does not tell where they begin: the last two trials
        on the other side may, and else it is the middle.
        """
        middle, last = sqrt(low.delta * high.delta), self.lower
        if last is not None and last.delta < low.delta and last.excess < low.excess:
            ahead = _root((last.delta, low.delta), (last.excess, low.excess))
            if AHEAD * (middle - low.delta) < ahead - low.delta < high.delta - low.delta:
                return ahead
        return middle


def _root(at: tuple[float, float], values: tuple[float, float]) -> float:
    """Where a line has its root."""
    return at[0] - values[0] * (at[1] - at[0]) / (values[1] - values[0])


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
    last: list[TrainedProblem | None] = [None] * len(jobs)  # the last that converged
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
        near = min(searches[k].tolerance(tol) for k in left)
        tried = [
            replace(
                jobs[k],
                formulation=SoftMargin(searches[k].delta, HINGE, threshold),
                start=_start(session, jobs[k], last[k], searches[k].delta),
            )
            for k in left
        ]
        with session.roughly(near > tol):
            trained = session.train(
                tried, tol=near, max_steps=max_steps - int(steps[left].max()), watch=watch
            )
        for k, one in zip(left, trained, strict=True):
            if one.result.converged:
                last[k] = one
            steps[k] += max(1, one.result.n_steps)
            searches[k].note(*_box_and_slack(one), near)
            one = _read(one, C)
            close = near <= tol or len(one.examples) <= FEW_EXAMPLES
            if session.exact and one.result.converged and close and not watch.look():
                one, done[k] = _exact(session, one, C, threshold, watch)
            searches[k].note_gap(one.result.gap, one.result.converged)
            # with a large C the slacks may be rounding only
            wanted = tol if searches[k].stalled > STALLED_ROUNDS else limit
            done[k] |= near <= tol and searches[k].is_root(wanted)
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


def _slacks(one: TrainedProblem) -> np.ndarray:
    outputs = one.outputs + one.result.intercept
    return np.asarray(one.stated.weights * slacks(1.0, one.stated.signs * outputs))


def _box_and_slack(one: TrainedProblem) -> tuple[float, float]:
    """The delta that a machine uses, and the sum of the slacks of the examples at that bound, which
    are all that an exact solution has: those of many others, within the tolerance, are noise.
    """
    delta, weights = _delta(one.result.coefs, one.stated.weights), one.stated.weights
    if not delta:
        return 0.0, float(_slacks(one).sum())
    at_bound = _at_bound(one.result.coefs, weights, delta)
    return delta, float(_slacks(one)[at_bound].sum())


def _at_bound(coefs: np.ndarray, weights: np.ndarray, delta: float) -> np.ndarray:
    return np.asarray((weights > 0) & (np.abs(coefs) >= (1 - BOUND_ROUNDING) * weights * delta))


def _start(
    session: Session, job: Job, last: TrainedProblem | None, delta: float
) -> np.ndarray | None:
    """Coefficients to start from in another box: what was at the bound is there again. In a box
    that is much larger it is the best multiple of all.
    """
    if last is None:
        return job.start
    coefs, weights, signs = last.result.coefs, last.stated.weights, last.stated.signs
    box, start = _delta(coefs, weights), np.zeros(session.n)
    if delta > GROWN * box > 0 and last.result.square > 0:
        best = float(np.abs(coefs).sum()) / last.result.square
        start[last.examples] = coefs * min(max(best, 1.0), delta / box)
        return start
    problem = SoftMargin(delta, HINGE, last.stated.problem.threshold).problem(signs, weights)
    ends = signs * weights * delta
    moved = np.where(_at_bound(coefs, weights, box), ends, coefs)
    start[last.examples] = with_kept_sums(problem, np.clip(moved, problem.lo, problem.hi))
    return start


def _exact(
    session: Session, one: TrainedProblem, C: float, threshold: bool, watch: Watch
) -> tuple[TrainedProblem, bool]:
    """The solution with the best delta, if it is found, and whether it is."""
    place = session.place[one.examples]
    signs, weights = one.stated.signs, one.stated.weights

    few = isinstance(session.kernel, Linear) and len(signs) * session.X.shape[1] <= LONG_PRODUCTS
    rows = session.X[one.examples] if few else None

    def products(F: np.ndarray, d: np.ndarray) -> np.ndarray:
        if rows is not None:
            # large coefficients of either sign leave a small w: nothing is lost in its own sum
            w, _ = weighted_sums(rows, F, d[None, :], LONG_PRODUCTS)
            return np.asarray(rows @ w[0], np.float64)
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
    primal = result.square / 2 + C * square_of(float(_slacks(one).sum()))
    dual = float(np.abs(result.coefs).sum()) - result.square / 2 - square_of(delta) / (4 * C)
    gap = relative_gap(primal, dual) if np.isfinite(one.outputs).all() else np.inf
    return replace(one, result=replace(result, objective=dual, gap=gap))


def _judged(one: TrainedProblem, n_steps: int, done: bool) -> TrainedProblem:
    """With the steps of all rounds, and converged only if the root was found."""
    result = one.result
    found = result.converged and (done or result.gap <= SMALL_GAP)
    return replace(one, result=replace(result, n_steps=n_steps, converged=found))
