"""Steps of free variables by conjugate gradients, where these take far less than a factorisation.

The equations of `active_set`, with one multiplier t per group,

    (K + ridge)_FF d + a_F t = right,   sums of a d as wanted

are solved by conjugate gradients among the directions that keep the sums (Hestenes & Stiefel 1952),
with kernel values in float32. That is good to a few digits, and a step as good as that leaves a
small part of what was missing; the gradient after it is computed anew in float64, and the next step
leaves as small a part of that. Where kernel values of different examples are small, a dozen
products are a step, and a factorisation takes as long as hundreds. Where they are not, many more
would be needed, which soon shows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from largemargin.svm.problem import Problem

FEWEST = 384  # free variables from which on products take less than a factorisation
PER_PRODUCT = 24  # free variables for each product that a step may take
LEFT = 1e-4  # what a step leaves of its right side
STALLED = 8.0  # times the least of what was left: by rounding, it becomes no less
PROGRESS = 1e-2  # a step that leaves more than that was the last one
# Variables that a step would take out of the box are held at its ends: as often as this
HELD_ROUNDS = 5


class ConjugateSteps:
    """Steps to the optimum of free variables; `gram(F)` gives the values among some in float32."""

    def __init__(self, problem: Problem, gram: Callable[[np.ndarray], np.ndarray]) -> None:
        self._problem, self._gram = problem, gram
        self._free, self._values = np.empty(0, np.int64), np.empty((0, 0), np.float32)
        self._failed = False
        self._last = np.inf  # the size of the last right side, of the same variables

    def step(
        self, free: np.ndarray, grad: np.ndarray, missing: np.ndarray,
        within: tuple[np.ndarray, np.ndarray],
    ) -> np.ndarray | None:  # fmt: skip
        """d with sums of a d that are `missing`; none if another way is better. Variables that
        would leave the box `within` which d is to be are held at its ends.
        """
        if self._failed or len(free) < FEWEST:
            return None
        same = np.array_equal(free, self._free)
        self._take(free)
        found = self._solved(free, grad, missing, within, same)
        self._failed = found is None
        return found

    def _take(self, free: np.ndarray) -> None:
        """Have the values among the free variables."""
        if np.array_equal(free, self._free):
            return
        place = np.searchsorted(self._free, free)
        known = place < len(self._free)
        if known.all() and (self._free[place] == free).all():
            self._values = self._values[np.ix_(place, place)]
        else:
            self._values = self._gram(free)
        self._free = free

    def _solved(
        self, free: np.ndarray, grad: np.ndarray, missing: np.ndarray,
        within: tuple[np.ndarray, np.ndarray], same: bool,
    ) -> np.ndarray | None:  # fmt: skip
        equations = _Equations(self._problem, free, self._values)
        right, most = -grad[free], len(free) // PER_PRODUCT
        d, moving = np.zeros(len(free)), np.ones(len(free), bool)
        for _ in range(HELD_ROUNDS):
            if not equations.have_sums(d, moving, missing):
                return None
            rest = equations.kept(right - equations.product(d) if d.any() else right, moving)
            size = float(np.abs(rest).max())
            if moving.all():
                if same and size > PROGRESS * self._last:
                    return None
                self._last = goal = size
            change, spent = equations.descend(rest, moving, LEFT * goal, most)
            if change is None:
                return None
            most -= spent
            d += change
            out = moving & ((d < within[0]) | (d > within[1]))
            if not out.any():
                break
            d = np.clip(d, *within)
            moving &= ~out
        return d


class _Equations:
    """The matrix of the free variables, with the sums that are kept."""

    def __init__(self, problem: Problem, free: np.ndarray, K: np.ndarray) -> None:
        self._K, self._ridge, self._a = K, problem.ridge[free], problem.a[free]
        self._has_sums, self._n_groups = problem.threshold, problem.n_groups
        self._group = problem.group[free]

    def product(self, d: np.ndarray) -> np.ndarray:
        return np.asarray(self._K @ d.astype(np.float32) + self._ridge * d)

    def have_sums(self, d: np.ndarray, moving: np.ndarray, wanted: np.ndarray) -> bool:
        """Have the variables that may move make up for what the sums of a d are short of; whether
        there are any.
        """
        if not self._has_sums:
            return True
        short = wanted - np.bincount(self._group, self._a * d, self._n_groups)
        counts = np.bincount(self._group[moving], minlength=self._n_groups)
        if (np.bincount(self._group, minlength=self._n_groups) > 0)[counts == 0].any():
            return False
        d += np.where(moving, self._a * (short / np.maximum(counts, 1))[self._group], 0.0)
        return True

    def kept(self, v: np.ndarray, moving: np.ndarray) -> np.ndarray:
        """The part of a vector that keeps the sums and moves what may move."""
        v = np.where(moving, v, 0.0)
        if not self._has_sums:
            return v
        counts = np.bincount(self._group[moving], minlength=self._n_groups)
        means = np.bincount(self._group, self._a * v, self._n_groups) / np.maximum(counts, 1)
        return np.where(moving, v - self._a * means[self._group], 0.0)

    def descend(
        self, rest: np.ndarray, moving: np.ndarray, goal: float, most: int
    ) -> tuple[np.ndarray | None, int]:
        """What leaves no more than `goal` of a right side, and the products that it took; nothing
        if these would be more than so many.
        """
        x, p, square = np.zeros(len(rest)), rest, float(rest @ rest)
        first = least = float(np.abs(rest).max())
        best = x
        for count in range(most):
            left = float(np.abs(rest).max())
            if left < least:
                best, least = x, left
            # nothing is left, or rounding leaves no less
            if least <= goal or left > STALLED * least:
                return (best if least <= PROGRESS * first else None), count
            if 2 * count > most and left * left > goal * first:  # half of the digits are not there
                break
            product = self.kept(self.product(p), moving)
            curvature = float(p @ product)
            if not curvature > 0:
                break
            x = x + square / curvature * p
            rest = rest - square / curvature * product
            square, before = float(rest @ rest), square
            p = rest + square / before * p
        return None, most
