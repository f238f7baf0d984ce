"""Hyperplanes for 1 < p < inf: the central path, that is the minima of a barrier F for a falling
sequence of mu.

Each minimum, or centre, is found by SciPy's trust-region method with conjugate gradients,
`trust-ncg`. Its preconditioner makes the second derivatives of F / mu at the last centre 1 (see
`barrier` and `preconditioner`). In these coordinates the length of the gradient is the Newton
decrement, 1 is the radius within which F / mu is much like its second-order model, and conjugate
gradients need few products. Where second derivatives change too much on the way, the
preconditioner is made anew.

How far to go is told by the duality gap, computed from the data.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import minimize

from largemargin.hyperplane.barrier import Barrier, BarrierPoint
from largemargin.hyperplane.preconditioner import Preconditioner
from largemargin.hyperplane.program import Program, Proposal, judge
from largemargin.runtime.progress import Watch

FALL = 0.1  # factor on mu from one centre to the next
CENTRED = 1.0  # Newton decrement of F / mu at which a centre is reached
ENDED = 1e-3  # Newton decrement at the last centre: w is off by the root of what F is off by
CENTRES = 60  # centres at most
STEPS = 15  # steps with the same preconditioner, at most
ROUNDS = 10  # preconditioners for one centre, at most
LARGEST_RADIUS = 1e6  # of the trust region, where the model is good within 1: no limit in effect
PRODUCTS = 300  # products with second derivatives with the same preconditioner, at most
MISSES = 2  # centres that should have made the gap smaller and did not, before the path ends
BEYOND = 1e-3  # fraction of the tolerance that the gap is taken to, if it can be
LEAST_GAP = 1e-13  # gap below which nothing is looked for


@np.errstate(all="ignore")  # far out, where F is no number, a step is not taken
def solve_smooth(program: Program, tol: float, watch: Watch) -> Proposal:
    """Follow the path until the gap is far below the tolerance, or as small as it gets."""
    barrier = Barrier(program)
    target = max(BEYOND * tol, LEAST_GAP)
    misses, least = 0, np.inf
    best = Proposal(np.zeros(barrier.n), 0.0, np.zeros(barrier.m), 0)
    try:
        path = CentralPath(barrier, watch)
        for _ in range(CENTRES):
            found = path.centre(CENTRED)
            worth = judge(program, found)
            off = barrier.order * path.mu / (worth.objective * barrier.scale)  # the gap in theory
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


class CentralPath:
    """A point, mu, and the preconditioner made at the last centre."""

    def __init__(self, barrier: Barrier, watch: Watch) -> None:
        self.barrier, self.watch = barrier, watch
        self.mu = barrier.first_mu
        self.at = self._at(barrier.start())
        self.preconditioner = Preconditioner(barrier, self.at)
        self.n_steps = 0

    def _at(self, x: np.ndarray) -> BarrierPoint:
        at = self.barrier.at(x, self.mu)
        assert at is not None
        return at

    def descend(self) -> None:
        """Go to the next mu."""
        self.barrier.raise_price(self.at, self.mu)
        self.mu *= FALL
        self.at = self._at(self.at.x)

    def centre(self, close: float) -> Proposal:
        """Go to the minimum of F for mu, with new preconditioners as long as there is far to go."""
        for _ in range(ROUNDS):
            local = PreconditionedBarrier(self.barrier, self.at, self.mu, self.preconditioner)
            found = minimize(
                local.value, np.zeros_like(self.at.x), method="trust-ncg", jac=local.gradient,
                hessp=local.hessian_product, callback=self._stop,
                options={"gtol": close, "maxiter": STEPS, "max_trust_radius": LARGEST_RADIUS},
            )  # fmt: skip
            self.n_steps += max(1, found.nit)
            self.at = self._at(local.place(found.x))
            self.preconditioner = Preconditioner(self.barrier, self.at)
            # F / mu fell by so little that another preconditioner would not gain much either
            if found.success or found.fun > -CENTRED:
                break
        alpha = self.preconditioner.multipliers(self.at)
        return self.barrier.proposal(self.at, alpha, self.n_steps)

    def _stop(self, z: np.ndarray) -> None:
        self.watch.advance(0)
        if self.watch.stopped:
            raise StopIteration


class PreconditionedBarrier:
    """F / mu less its value at a point, as a function of the coordinates around it."""

    def __init__(
        self, barrier: Barrier, start: BarrierPoint, mu: float, preconditioner: Preconditioner
    ) -> None:
        self.barrier, self.start, self.mu = barrier, start, mu
        self.preconditioner = preconditioner
        self.root = np.sqrt(mu)  # F / mu has the second derivatives H / mu
        self.last: tuple[np.ndarray, BarrierPoint | None] = (np.zeros_like(start.x), start)
        self.n_products = 0

    def place(self, z: np.ndarray) -> np.ndarray:
        """x of the coordinates z."""
        return np.asarray(self.start.x + self.root * self.preconditioner.apply(z))

    def at(self, z: np.ndarray) -> BarrierPoint | None:
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
        return _finite(self.preconditioner.apply_transpose(at.gradient) / self.root)

    def hessian_product(self, z: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The second derivatives at z times v."""
        at = self.at(z)
        assert at is not None
        self.n_products += 1
        if self.n_products > PRODUCTS:
            raise LinAlgError("no direction is found")
        product = self.barrier.hessian_product(at, self.preconditioner.apply(v))
        return _finite(self.preconditioner.apply_transpose(product))


def _finite(v: np.ndarray) -> np.ndarray:
    if not np.isfinite(v).all():
        raise LinAlgError("the derivatives are not numbers")
    return v
