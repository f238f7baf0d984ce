"""Hyperplanes for 1 < p < inf: the minima of a barrier F for a falling sequence of mu.

Each minimum is found by SciPy's trust-region method, `trust-ncg`, in coordinates in which the
second derivatives of F / mu at the minimum before are 1 (`barrier`, `coordinates`). There, the
length of the gradient is the Newton decrement, 1 is the radius within which F / mu is much like its
second-order model, and conjugate gradients need few products. Where second derivatives change too
much on the way, the coordinates are made anew.

How far to go is told by the duality gap, computed from the data.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import minimize

from largemargin.hyperplane.barrier import Barrier, Point
from largemargin.hyperplane.preconditioner import Coordinates
from largemargin.hyperplane.program import Program, Proposal, judge
from largemargin.runtime.progress import Watch

FALL = 0.1  # of mu from one centre to the next
CENTRED = 1.0  # the Newton decrement of F / mu at which a centre is reached
ENDED = 1e-3  # the same for the last one: w is off by the root of what F is off by
CENTRES = 60
STEPS = 15  # in the same coordinates
ROUNDS = 10  # a centre at most
PRODUCTS = 300  # with second derivatives, in the same coordinates
MISSES = 2  # centres that should have bettered the gap and did not, before it is left at that
BEYOND = 1e-3  # the gap is taken to this fraction of the tolerance, if it can be
LEAST = 1e-13  # no gap below is looked for


@np.errstate(all="ignore")  # far out, where F is no number, a step is not taken
def solve_smooth(program: Program, tol: float, watch: Watch) -> Proposal:
    """Follow the path until the gap is far below the tolerance, or as small as it gets."""
    barrier = Barrier(program)
    target = max(BEYOND * tol, LEAST)
    misses, least = 0, np.inf
    best = Proposal(np.zeros(barrier.n), 0.0, np.zeros(barrier.m), 0)
    try:
        path = Path(barrier, watch)
        for _ in range(CENTRES):
            found = path.centre(CENTRED)
            worth = judge(program, found)
            off = barrier.order * path.mu / (worth.objective * barrier.scale)  # in theory
            if worth.gap < least or not best.n_steps:
                best, least, misses = found, worth.gap, 0
            elif 0 < off < least < np.inf:
                misses += 1
            if not worth.separable:
                return found
            if worth.gap <= target and off <= target:
                return path.centre(ENDED)
            if misses > MISSES or watch.stopped:
                break
            path.descend()
    except (LinAlgError, ValueError):  # ValueError is SciPy's word for numbers that overflow
        pass  # what is left is rounding
    return replace(best, trouble=watch.stopped)


class Path:
    """A point, mu, and the coordinates made at the last centre."""

    def __init__(self, barrier: Barrier, watch: Watch) -> None:
        self.barrier, self.watch = barrier, watch
        self.mu = barrier.first_mu
        self.at = self._at(barrier.start())
        self.coordinates = Coordinates(barrier, self.at)
        self.n_steps = 0

    def _at(self, x: np.ndarray) -> Point:
        at = self.barrier.at(x, self.mu)
        assert at is not None
        return at

    def descend(self) -> None:
        self.barrier.raise_price(self.at, self.mu)
        self.mu *= FALL
        self.at = self._at(self.at.x)

    def centre(self, close: float) -> Proposal:
        """Go to the minimum of F for mu, in new coordinates as long as there is far to go."""
        for _ in range(ROUNDS):
            local = Local(self.barrier, self.at, self.mu, self.coordinates)
            found = minimize(
                local.value, np.zeros_like(self.at.x), method="trust-ncg", jac=local.gradient,
                hessp=local.turned, callback=self._stop,
                options={"gtol": close, "maxiter": STEPS, "max_trust_radius": 1e6},
            )  # fmt: skip
            self.n_steps += max(1, found.nit)
            self.at = self._at(local.place(found.x))
            self.coordinates = Coordinates(self.barrier, self.at)
            if found.success or found.fun > -CENTRED:
                break
        return self.barrier.proposal(self.at, self.coordinates.multipliers(self.at), self.n_steps)

    def _stop(self, z: np.ndarray) -> None:
        self.watch.advance(0)
        if self.watch.stopped:
            raise StopIteration


class Local:
    """F / mu, as what it is above its value at a point, in coordinates around it."""

    def __init__(self, barrier: Barrier, start: Point, mu: float, coordinates: Coordinates) -> None:
        self.barrier, self.start, self.mu, self.coordinates = barrier, start, mu, coordinates
        self.root = np.sqrt(mu)  # F / mu has the second derivatives H / mu
        self.last: tuple[np.ndarray, Point | None] = (np.zeros_like(start.x), start)
        self.n_products = 0

    def place(self, z: np.ndarray) -> np.ndarray:
        return self.start.x + self.root * self.coordinates.out(z)

    def at(self, z: np.ndarray) -> Point | None:
        if not np.array_equal(z, self.last[0]):
            self.last = z.copy(), self.barrier.at(self.place(z), self.mu)
        return self.last[1]

    def value(self, z: np.ndarray) -> float:
        at = self.at(z)
        value = np.inf if at is None else (at.value - self.start.value) / self.mu
        return value if np.isfinite(value) else np.inf

    def gradient(self, z: np.ndarray) -> np.ndarray:
        at = self.at(z)
        assert at is not None
        return _finite(self.coordinates.back(at.gradient) / self.root)

    def turned(self, z: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The second derivatives times v."""
        at = self.at(z)
        assert at is not None
        self.n_products += 1
        if self.n_products > PRODUCTS:
            raise LinAlgError("no direction is found")
        return _finite(self.coordinates.back(self.barrier.turned(at, self.coordinates.out(v))))


def _finite(v: np.ndarray) -> np.ndarray:
    if not np.isfinite(v).all():
        raise LinAlgError("the derivatives are no numbers")
    return v
