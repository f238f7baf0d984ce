"""The soft margin of the paper's experiments: the price is the square of the sum of the slacks.

    minimise  1/2 w.w + C (sum s_i xi_i)^2
    dual:     maximise sum alpha_i - 1/2 alpha'D alpha - delta^2/(4 C),   0 <= alpha_i <= s_i delta

The box is a variable shared by all examples. For a given delta it is the machine with linear slack
and price delta, and the best delta is the one with

    delta = 2 C sum s_i xi_i(delta)

whose right side falls as delta grows: one root, found between ever closer bounds. The slacks are
piecewise linear in delta, so a chord between two values on the same piece gives the root itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from largemargin.svm.machines import SoftMargin, relative_gap, slacks
from largemargin.svm.session import Job, Session, Trained
from largemargin.watch import Watch

ROUNDS = 60
EXACT = 1e-10  # the relative difference of the two sides at which delta is the root
GROWTH = 8.0


@dataclass
class _Search:
    """The root of delta - 2 C sum s xi(delta) between two bounds."""

    delta: float
    low: tuple[float, float] | None = None  # (delta, difference), the difference negative
    high: tuple[float, float] | None = None
    difference: float = np.inf
    same_side: int = 0

    def note(self, difference: float) -> None:
        self.difference = difference
        at = (self.delta, difference)
        if difference < 0:
            self.same_side = min(self.same_side, 0) - 1
            self.low = at
        else:
            self.same_side = max(self.same_side, 0) + 1
            self.high = at

    def is_root(self, limit: float) -> bool:
        return abs(self.difference) <= limit * self.delta

    def move(self) -> None:
        """To the next delta to try, if one was tried."""
        if np.isfinite(self.difference):
            self.delta = self._next()

    def _next(self) -> float:
        if self.high is None:
            return self.delta * GROWTH
        low, below = self.low or (0.0, -self.high[1] - self.high[0])
        high, above = self.high
        if abs(self.same_side) > 2:  # one bound does not move: halve instead
            self.same_side = 0
            return (low + high) / 2
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
    session.enough = 0.0  # delta is read off slacks, which are differences of almost equal numbers
    scale = float(np.mean(session.kernel.diag(session.X))) or 1.0
    searches = [_Search(_first(job, 1 / scale)) for job in jobs]
    found: list[Trained | None] = [None] * len(jobs)
    starts = [job.start for job in jobs]
    steps = np.zeros(len(jobs), np.int64)
    limit = EXACT if session.exact else tol
    for _ in range(ROUNDS):
        left = [
            k
            for k, search in enumerate(searches)
            if not search.is_root(limit) and steps[k] < max_steps
        ]
        if not left or (watch.stopped and None not in found):
            break
        for k in left:
            searches[k].move()
        trained = session.train(
            [
                replace(
                    jobs[k],
                    formulation=SoftMargin(searches[k].delta, False, threshold),
                    start=starts[k],
                )
                for k in left
            ],
            tol=tol, max_steps=max_steps - int(steps[left].max()), watch=watch,
        )  # fmt: skip
        for k, one in zip(left, trained, strict=True):
            found[k] = one
            starts[k] = one.coefs(session.n)
            steps[k] += max(1, one.machine.n_steps)
            searches[k].note(searches[k].delta - 2 * C * _slack(session, one))
    return [
        _read(session, one, C, int(n), search.is_root(max(limit, tol)))
        for one, n, search in zip(found, steps, searches, strict=True)
        if one is not None
    ]


def _first(job: Job, usual: float) -> float:
    """The first delta to try: the one of the start, if there is a start."""
    if job.start is None:
        return usual
    counted = job.weights > 0
    return float(np.max(np.abs(job.start[counted]) / job.weights[counted], initial=0.0)) or usual


def _slack(session: Session, one: Trained) -> float:
    signs = session.signs(one.job, one.examples)
    weights = one.job.weights[one.examples]
    return float(weights @ slacks(1.0, signs * (one.outputs + one.machine.intercept)))


def _read(session: Session, one: Trained, C: float, n_steps: int, found: bool) -> Trained:
    """The same machine, its objective and gap those of the square of the sum."""
    machine = one.machine
    weights = one.job.weights[one.examples]
    alpha = np.abs(machine.coefs)
    delta = float((alpha[weights > 0] / weights[weights > 0]).max(initial=0.0))
    primal = machine.square / 2 + C * _slack(session, one) ** 2
    dual = float(alpha.sum()) - machine.square / 2 - delta**2 / (4 * C)
    read = replace(
        machine, objective=dual, gap=relative_gap(primal, dual), n_steps=n_steps,
        converged=machine.converged and found,
    )  # fmt: skip
    return replace(one, machine=read)
