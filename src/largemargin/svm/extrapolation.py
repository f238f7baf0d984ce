"""Steps over many working sets at once.

Where more variables are free than a working set has, each set undoes a little of what the others
did, and all of them creep along the same valley. What a sweep of working sets has changed is known,
s of the variables and d = (K + diag(ridge)) s of the gradient, and it shows where the valley goes:

    minimise the objective over b + c_1 s_1 + c_2 s_2   (s_1, s_2 those of the last two sweeps)

which takes no kernel value, as conjugate gradients over sweeps. Variables that would leave the box
are put at its end, and a few with room make up for what the sums then lack: the kernel values of
these few against all columns are all that it costs. The step is taken if the objective falls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from largemargin.kernels.functions import UNIT
from largemargin.svm.active_set import group_sums
from largemargin.svm.problem import Problem

SWEEPS = 2  # whose directions are kept
CLIPPED = 0.02  # the share of the free variables that may leave the box, for which it is shortened
HELPERS = 64  # variables per group that make up for what the sums lack
LEAST = 1e-12  # a change, relative to the largest variable, that is more than rounding
ROUNDINGS = 4  # of a number of the gradient, for each direction
ALIKE = 1e-8  # directions whose cosine differs by less from 1 or -1 are one


@dataclass
class Position:
    """The variables of a set of columns with their gradient and the sums of their sizes, and a
    bound of what rounding has done to the gradient.
    """

    beta: np.ndarray
    grad: np.ndarray
    sizes: np.ndarray
    drift: float

    def copy(self) -> Position:
        return Position(self.beta.copy(), self.grad.copy(), self.sizes.copy(), self.drift)

    def since(self, before: Position) -> Position:
        """What has changed."""
        return Position(
            self.beta - before.beta,
            self.grad - before.grad,
            self.sizes - before.sizes,
            self.drift - before.drift,
        )


class Extrapolation:
    """The last sweeps over a set of columns.

    `sums(variables, changes)` adds up kernel values: a row for the gradient, and one for the sizes
    if these are kept.
    """

    def __init__(
        self, problem: Problem, sums: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> None:
        self._problem, self._sums = problem, sums
        self._last: Position | None = None
        self._sweeps: list[Position] = []
        self._rounds = 0
        # the size of a variable is linear in it where the box has it on one side of zero
        self._fits = bool(((problem.lo >= 0) | (problem.hi <= 0)).all())

    def step(self, at: Position, working_set: int) -> Position | None:
        """A better point, after a sweep of working sets; None if it is none yet, or none is found.

        The position is that before a round.
        """
        problem = self._problem
        free = (problem.lo < at.beta) & (at.beta < problem.hi)
        n_free = int(np.count_nonzero(free))
        if not self._fits or n_free <= working_set:
            self._last, self._sweeps, self._rounds = None, [], 0
            return None
        if self._last is None:
            self._last, self._rounds = at.copy(), 0
            return None
        self._rounds += 1
        if self._rounds * working_set < n_free:
            return None
        sweep = at.since(self._last)
        if float(np.abs(sweep.beta).max()) > LEAST * float(np.abs(at.beta).max()):
            self._sweeps = [*self._sweeps, sweep][-SWEEPS:]
        found = self._minimum(at, free) if self._sweeps else None
        self._last, self._rounds = (at if found is None else found).copy(), 0
        return found

    def _minimum(self, at: Position, free: np.ndarray) -> Position | None:
        """Where the objective is least along the last sweeps, within the box."""
        problem = self._problem
        shares = self._shares(at.grad)
        step = sum(c * one.beta for c, one in zip(shares, self._sweeps, strict=True))
        shares = shares * self._reach(at.beta, step, int(CLIPPED * np.count_nonzero(free)))
        to = at.copy()
        size = float(np.abs(at.grad).max())
        for c, one in zip(shares, self._sweeps, strict=True):
            to.beta += c * one.beta
            to.grad += c * one.grad
            to.sizes += c * one.sizes
            rounding = ROUNDINGS * UNIT * (size + float(np.abs(one.grad).max()))
            to.drift += abs(c) * (one.drift + rounding) + rounding
        beta = self._mended(np.clip(to.beta, problem.lo, problem.hi), at.beta, free)
        if beta is None:
            return None
        changed = np.flatnonzero(beta != to.beta)
        if len(changed):
            more = (beta - to.beta)[changed]
            sums = self._sums(changed, more)
            to.grad += sums[0]
            to.grad[changed] += problem.ridge[changed] * more
            if len(sums) > 1:
                to.sizes += sums[1]
        to.beta = beta
        return to if self._objective(to) < self._objective(at) else None

    def _shares(self, grad: np.ndarray) -> np.ndarray:
        """The c that minimise the objective, box apart."""
        S = np.array([one.beta for one in self._sweeps])
        D = np.array([one.grad for one in self._sweeps])
        H, right = S @ D.T, -(S @ grad)
        curved = np.diagonal(H) > UNIT * np.linalg.norm(S, axis=1) * np.linalg.norm(D, axis=1)
        lengths = np.sqrt(np.where(curved, np.diagonal(H), np.inf))  # those without do not count
        scaled = (H + H.T) / (2 * np.outer(lengths, lengths))
        return np.asarray(
            np.linalg.pinv(scaled, rtol=ALIKE, hermitian=True) @ (right / lengths) / lengths
        )

    def _reach(self, beta: np.ndarray, step: np.ndarray, clipped: int) -> float:
        """How much of a step, 1 at most, keeps all but so many variables in the box."""
        problem = self._problem
        moving = np.flatnonzero(step)
        room = np.where(step > 0, problem.hi - beta, beta - problem.lo)[moving]
        if len(moving) <= clipped:
            return 1.0
        return min(1.0, float(np.partition(room / np.abs(step[moving]), clipped)[clipped]))

    def _mended(self, beta: np.ndarray, before: np.ndarray, free: np.ndarray) -> np.ndarray | None:
        """A point with the sums of another, a few free variables making up for what is missing;
        None if these have no room for it.
        """
        problem = self._problem
        if not problem.threshold:
            return beta
        missing = group_sums(problem, before) - group_sums(problem, beta)
        room = np.where(free, np.minimum(beta - problem.lo, problem.hi - beta), 0.0)
        for group in np.flatnonzero(missing):
            members = np.flatnonzero(free & (problem.group == group))
            helpers = members[np.argsort(-room[members], kind="stable")[:HELPERS]]
            if not len(helpers):
                return None
            share = missing[group] / len(helpers)
            if not (np.abs(share) <= room[helpers]).all():
                return None
            beta[helpers] += problem.a[helpers] * share
        return beta

    def _objective(self, at: Position) -> float:
        return float(at.beta @ (at.grad + self._problem.p)) / 2
