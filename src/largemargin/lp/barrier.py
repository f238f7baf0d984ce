"""Hyperplanes for 1 < p < inf: Newton's method along a central path.

    minimise  |w|_p^r / r + sum_i c_i xi_i,   z_i = y_i (w.x_i + b) >= 1 - xi_i,  xi_i >= 0

|w|_p^r is neither smooth at 0 for p < 2 nor anything like a quadratic for large p, so Newton's
method on it would be slow at both ends. As a cone it is tame for all p alike. With
k = (p - r)/p, which is 0 for p <= 2,

    |w|_p^r / r  =  min  sum_j t_j / p + (1/r - 1/p) tau^r    subject to  |w_j| <= t_j^(1/p) tau^k

and each of these cones has the self-concordant barrier (Chares 2009, chapter 4)

    -log(t^(2/p) tau^(2k) - w^2) - (1 - 1/p) log t - (1 - k) log tau .

For given w, b and tau the best t and xi are known, one at a time, so what is left for each mu > 0
is a smooth convex function of (w, b, tau) everywhere,

    F(w, b, tau) = sum_j omega(w_j, tau) + sum_i phi(z_i) + (1/r - 1/p) tau^r - mu n (1 - k) log tau

whose minimum tends to the solution as mu -> 0. It is minimised by Newton's method for a falling
sequence of mu. Multipliers come with it: alpha_i = -phi'(z_i), within their bounds always.

C = inf has no xi_i but one e for all, z_i >= 1 - e, of a price that no separable data pays.

A Newton step costs one product X'DX and its factorisation, of the smaller of the two sides of X.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError

from largemargin.lp.hyperplane import Program, Proposal, judge
from largemargin.lp.newton_system import NewtonSystem
from largemargin.watch import Watch

FALL = 0.1  # of mu from one centre to the next
CENTRED = 1.0  # square of the Newton decrement of F / mu at which a centre is reached
ENDED = 1e-6  # the same for the last one: w is off by the root of what F is off by
CENTRES = 60
STEPS = 60  # Newton steps a centre at most
HALVINGS = 40
ROUNDING = 1e-13
EXACT = 1e-14
MISSES = 2  # centres that should have bettered the gap and did not, before it is left at that
BEYOND = 1e-3  # the gap is taken to this fraction of the tolerance, if it can be
LEAST = 1e-13  # no gap below is looked for


@dataclass
class Point:
    """A point and what is known there: F, the multipliers, gradient and second derivatives."""

    w: np.ndarray
    extra: np.ndarray  # b, tau, e: those that there are
    value: float
    alpha: np.ndarray
    gradient: np.ndarray  # of w
    extra_gradient: np.ndarray
    curvature: np.ndarray  # of omega, in w
    cross: np.ndarray  # of omega, in w and each extra
    corner: np.ndarray  # second derivatives in the extras, but for those through z
    weights: np.ndarray  # phi''


@dataclass(frozen=True)
class Direction:
    """A Newton step, the multipliers that it leads to, and the square of the Newton decrement, in
    units of F.
    """

    w: np.ndarray
    extra: np.ndarray
    alpha: np.ndarray
    decrement: float


class Barrier:
    """F for one program, in units in which the largest feature is 1."""

    def __init__(self, program: Program) -> None:
        self.norm = program.norm
        self.p, self.r = program.norm.p, program.norm.power
        self.k = (self.p - self.r) / self.p
        largest = abs(program.X).max()
        self.unit = float(largest) if largest > 0 else 1.0
        signs = program.y / self.unit
        self.B = sp.csr_array(sp.diags_array(signs) @ program.X) if sp.issparse(program.X) else (
            signs[:, None] * program.X
        )  # fmt: skip
        self.hard, self.threshold = program.hard, program.threshold
        self.scale = self.unit**self.r  # of the objective and of alpha
        self.c = program.C * program.s * self.scale
        self.m, self.n = self.B.shape
        self.order = 2 * self.m + 3 * self.n  # of the barrier: the gap of a centre is this times mu
        self.E = self._extras(program)

    def _extras(self, program: Program) -> np.ndarray:
        """What z gains by each extra variable."""
        columns = []
        self.tau = self.e = -1
        if program.threshold:
            columns.append(program.y)
        if self.k > 0:
            self.tau = len(columns)
            columns.append(np.zeros(self.m))
        if self.hard:
            self.e = len(columns)
            columns.append(np.ones(self.m))
            self.dear = 100.0
        return np.array(columns).T.reshape(self.m, len(columns))

    @property
    def first_mu(self) -> float:
        return (self.dear if self.hard else float(self.c.sum())) / self.m

    def raise_price(self, at: Point, mu: float) -> None:
        """Where e costs more than a centre is off by, it is there to stay at this price."""
        if self.hard and self.dear * at.extra[self.e] > mu * self.order:
            self.dear *= 100.0

    def proposal(self, at: Point, alpha: np.ndarray, steps: int) -> Proposal:
        """A point in the program's own units."""
        b = float(at.extra[0]) if self.threshold else 0.0
        return Proposal(at.w / self.unit, b, alpha / self.scale, steps)

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        extra = np.zeros(self.E.shape[1])
        if self.tau >= 0:
            extra[self.tau] = 1.0
        if self.e >= 0:
            extra[self.e] = 2.0
        return np.zeros(self.n), extra

    def at(self, w: np.ndarray, extra: np.ndarray, mu: float) -> Point | None:
        """What F is like at a point; None outside its domain."""
        positive = [extra[k] for k in (self.tau, self.e) if k >= 0]
        if any(value <= 0 for value in positive):
            return None
        d = np.asarray(self.B @ w) + self.E @ extra - 1
        if self.hard:
            if d.min() <= 0:
                return None
            alpha, weights, value = mu / d, mu / d**2, -mu * float(np.log(d).sum())
        else:
            alpha, weights, value = soft(d, self.c, mu)
        count = len(extra)
        tau = extra[self.tau] if self.tau >= 0 else 1.0
        with np.errstate(over="ignore", invalid="ignore"):  # far out, where F is no number
            omega = cones(w, tau, self.p, self.k, mu)
        gradient = omega.first - np.asarray(self.B.T @ alpha)
        extra_gradient = -self.E.T @ alpha
        cross, corner = np.zeros((self.n, count)), np.zeros((count, count))
        value += omega.value
        if self.tau >= 0:
            i, logs = self.tau, mu * self.n * (1 - self.k)
            share = 1 / self.r - 1 / self.p
            value += share * tau**self.r - logs * np.log(tau)
            extra_gradient[i] += omega.tau_first + share * self.r * tau ** (self.r - 1) - logs / tau
            cross[:, i] = omega.cross
            corner[i, i] = (
                omega.tau_second
                + share * self.r * (self.r - 1) * tau ** (self.r - 2)
                + logs / tau**2
            )
        if self.e >= 0:
            i, e = self.e, extra[self.e]
            value += self.dear * e - mu * np.log(e)
            extra_gradient[i] += self.dear - mu / e
            corner[i, i] = mu / e**2
        return Point(
            w, extra, value, alpha, gradient, extra_gradient, omega.second, cross, corner, weights
        )  # fmt: skip

    def direction(self, at: Point) -> Direction:
        inner = np.arange(len(at.extra)) == self.tau  # the others enter z
        system = NewtonSystem(
            self.B, at.curvature, at.weights, at.cross[:, inner], at.corner[np.ix_(inner, inner)],
            self.E[:, ~inner], at.corner[np.ix_(~inner, ~inner)],
        )  # fmt: skip
        right = -at.extra_gradient
        w, tau, others, pull = system.solve(-at.gradient, right[inner], right[~inner])
        extra = np.empty_like(at.extra)
        extra[inner], extra[~inner] = tau, others
        decrement = -float(at.gradient @ w) - float(at.extra_gradient @ extra)
        return Direction(w, extra, at.alpha - pull, decrement)


@dataclass
class Cones:
    """omega summed over features, and its derivatives."""

    value: float
    first: np.ndarray
    second: np.ndarray
    tau_first: float
    tau_second: float
    cross: np.ndarray


def cones(w: np.ndarray, tau: float, p: float, k: float, mu: float) -> Cones:
    """omega(w_j, tau) = min over t of  t/p - mu log(G - w^2) - mu (1 - 1/p) log t,
    G = t^(2/p) tau^(2k).

    At the minimum t = mu (p + 1 + 2 rho) with rho = w^2 / (G - w^2), the number to look for. In
    terms of it no difference of nearly equal numbers is left in the derivatives.
    """
    a = 1 / p
    rho = ratios(w, 2 * k * np.log(tau), p, mu)
    t = mu * (p + 1 + 2 * rho)
    u = 1 + rho
    room = np.exp(2 * a * np.log(t) + 2 * k * np.log(tau)) / u  # G - w^2
    side = 2 * a * u + 1 - a
    Q = 4 * a * a * u * rho + side
    value = float((t / p - mu * np.log(room) - mu * (1 - a) * np.log(t)).sum())
    first = 2 * mu * w / room
    second = 2 * mu / (room * Q) * (2 * a * u * (1 + 2 * rho * (1 - a)) + (1 - a) * (1 + 2 * rho))
    if k == 0:
        return Cones(value, first, second, 0.0, 0.0, np.zeros_like(w))
    tau_first = -2 * k * mu / tau * float(u.sum())
    tau_second = mu / tau**2 * float((2 * k * u + 4 * k * k * u * rho * side / Q).sum())
    cross = -4 * k * mu * w * u / (tau * room) * side / Q
    return Cones(value, first, second, tau_first, tau_second, cross)


def ratios(w: np.ndarray, shift: float, p: float, mu: float) -> np.ndarray:
    """rho > 0 with  (2/p) log(mu (p + 1 + 2 rho)) + shift - log w^2 = log(1 + 1/rho).

    The difference of the two sides rises with x = log rho, from a slope of 1 to one of 2/p: by
    Newton's method in x, within brackets.
    """
    found = np.zeros_like(w)
    used = np.abs(w) > 1e-150
    logs = 2 * np.log(np.abs(w[used]))
    level = shift + 2 / p * np.log(mu) - logs

    def difference(x: np.ndarray) -> np.ndarray:
        return level + 2 / p * np.log(p + 1 + 2 * np.exp(x)) - np.logaddexp(0, -x)

    # the two ends of the curve, as lines, are both below it
    x = np.maximum(-(level + 2 / p * np.log(p + 1)), -(p / 2) * level - np.log(2))
    lo, hi = np.full_like(x, -700.0), np.full_like(x, 300.0)
    x = np.clip(x, lo, hi)
    for _ in range(HALVINGS):
        f = difference(x)
        lo, hi = np.where(f < 0, x, lo), np.where(f > 0, x, hi)
        slope = 4 / p / (2 + (p + 1) * np.exp(-x)) + 1 / (1 + np.exp(x))
        new = x - f / slope
        settled = np.abs(f) <= EXACT * (1 + np.abs(level))
        x = np.where(settled | ((new >= lo) & (new <= hi)), new, (lo + hi) / 2)
        if settled.all():
            break
    found[used] = np.exp(x)
    return found


def soft(d: np.ndarray, c: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray, float]:
    """The multipliers alpha, phi'' and the sum of phi, for
    phi = min over xi of  c xi - mu log xi - mu log(xi + d),  d = z - 1.

    The minimum is at xi = (2 mu - c d + R) / 2c,  R^2 = c^2 d^2 + 4 mu^2.
    """
    cd = c * d
    R = np.hypot(cd, 2 * mu)
    larger = 2 * mu + np.abs(cd) + R
    smaller = 2 * mu + 4 * mu * mu / (np.abs(cd) + R)
    xi = np.where(d > 0, smaller, larger) / (2 * c)
    room = np.where(d > 0, larger, smaller) / (2 * c)
    value = float((c * xi - mu * np.log(xi) - mu * np.log(room)).sum())
    return mu / room, mu / (xi**2 + room**2), value


def solve_smooth(program: Program, tol: float, watch: Watch) -> Proposal:
    """Follow the path until the gap is far below the tolerance, or as small as it gets."""
    barrier = Barrier(program)
    mu = barrier.first_mu
    at = barrier.at(*barrier.start(), mu)
    target = max(BEYOND * tol, LEAST)
    steps, misses, least = 0, 0, np.inf
    best = Proposal(np.zeros(barrier.n), 0.0, np.zeros(barrier.m), 0)
    for _ in range(CENTRES):
        assert at is not None
        at, alpha, made = centre(barrier, at, mu, CENTRED, watch)
        steps += made
        found = barrier.proposal(at, alpha, steps)
        worth = judge(program, found)
        off = barrier.order * mu / (worth.objective * barrier.scale)  # what theory says of the gap
        if worth.gap < least or not best.n_steps:
            best, least, misses = found, worth.gap, 0
        elif 0 < off < least < np.inf:
            misses += 1
        if not worth.separable:
            return found
        if worth.gap <= target and off <= target:
            at, alpha, made = centre(barrier, at, mu, ENDED, watch)
            return barrier.proposal(at, alpha, steps + made)
        if misses > MISSES or watch.stopped:
            break
        barrier.raise_price(at, mu)
        mu *= FALL
        at = barrier.at(at.w, at.extra, mu)
    return replace(best, trouble=watch.stopped)


def centre(
    barrier: Barrier, at: Point, mu: float, close: float, watch: Watch
) -> tuple[Point, np.ndarray, int]:
    """The minimum of F for mu, its multipliers, and the steps to it.

    The multipliers are taken to first order from the point before the last step, where they
    satisfy the conditions on their sums exactly: at the last point they are quotients of small
    numbers.
    """
    alpha = at.alpha
    for step in range(STEPS):
        try:
            way = barrier.direction(at)
        except LinAlgError:
            return at, alpha, step
        alpha = way.alpha
        new = descend(barrier, at, way, mu)
        watch.advance(0)
        if new is None or watch.stopped:
            return at, alpha, step + 1
        at = new
        if way.decrement < close * mu:
            break
    return at, alpha, step + 1


def descend(barrier: Barrier, at: Point, way: Direction, mu: float) -> Point | None:
    """The first of the steps 1, 1/2, 1/4, ... that goes down as it should."""
    if not (np.isfinite(way.decrement) and way.decrement > 0):
        return None
    step = 1.0
    for _ in range(HALVINGS):
        new = barrier.at(at.w + step * way.w, at.extra + step * way.extra, mu)
        enough = 0.1 * step * way.decrement - ROUNDING * abs(at.value)
        if new is not None and new.value <= at.value - enough:
            return new
        step /= 2
    return None
