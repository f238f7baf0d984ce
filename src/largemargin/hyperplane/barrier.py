"""A smooth form of the program of a hyperplane, for 1 < p < inf.

    minimise  |w|_p^r / r + sum_i c_i xi_i,   z_i = y_i (w.x_i + b) >= 1 - xi_i,  xi_i >= 0

|w|_p^r is neither smooth at 0 for p < 2 nor anything like a quadratic for large p, so second
derivatives of it would say little at both ends. As a cone it is tame for all p alike. With
k = (p - r)/p, which is 0 for p <= 2,

    |w|_p^r / r  =  min  sum_j t_j / p + (1/r - 1/p) tau^r    subject to  |w_j| <= t_j^(1/p) tau^k

and each of these cones has the self-concordant barrier (Chares 2009, chapter 4)

    -log(t^(2/p) tau^(2k) - w^2) - (1 - 1/p) log t - (1 - k) log tau .

For given w, b and tau the best t and xi are known, one at a time, so what is left for each mu > 0
is a smooth convex function of x = (w, tau, b) everywhere,

    F(w, tau, b) = sum_j omega(w_j, tau) + sum_i phi(z_i) + (1/r - 1/p) tau^r - mu n (1 - k) log tau

whose minima for falling mu are the central path: they satisfy the KKT conditions with mu in place
of 0 in the products of multipliers and slacks, and tend to the solution as mu -> 0. The Lagrange
multipliers of the examples come with them: alpha_i = -phi'(z_i), within their bounds always.

C = inf has no xi_i but one e for all, z_i >= 1 - e, of a price that no separable data pays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from largemargin.hyperplane.program import Program, Proposal
from largemargin.runtime.arrays import Matrix

RATIO_STEPS = 40  # steps of Newton's method or bisection for rho, at most
SMALLEST_WEIGHT = 1e-150  # below it rho is 0: the square of w is about to leave the range
LOG_RATIOS = -700.0, 300.0  # log rho is looked for between these, whose exponentials are finite
RATIO_RESIDUAL = 1e-14  # relative residual of the equation for rho at which it counts as solved


@dataclass
class BarrierPoint:
    """F and its derivatives at a point x = (w, tau, e, b), without those of tau, e and b that a
    program does not need.

    The second derivatives are diag(curvature), `cross` between w and tau, and A'DA with D the
    diagonal matrix of `weights`.
    """

    x: np.ndarray
    value: float
    alpha: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray
    cross: np.ndarray
    weights: np.ndarray  # phi''


class Barrier:
    """F for one program, in units in which the largest feature is 1.

    z = A x. The threshold is the last coordinate of x, and the only one without curvature of its
    own in F.
    """

    def __init__(self, program: Program) -> None:
        self.p, self.r = program.norm.p, program.norm.power
        self.k = (self.p - self.r) / self.p
        self.unit = float(abs(program.X).max()) or 1.0
        self.y, self.hard, self.threshold = program.y, program.hard, program.threshold
        self.m, self.n = program.X.shape
        self.scale = self.unit**self.r  # factor on the objective and on alpha
        self.c = program.C * program.s * self.scale
        # the barrier's parameter: the duality gap of a point on the central path is mu times it
        self.order = 2 * self.m + 3 * self.n
        self.dear = 100.0  # the price of e
        self._build(program)

    def _build(self, program: Program) -> None:
        """A, and the places of tau and e in x."""
        signs = (program.y / self.unit)[:, None]
        columns = []
        self.tau = self.e = None
        if self.k > 0:
            self.tau = self.n
            columns.append(np.zeros(self.m))
        if self.hard:
            self.e = self.n + len(columns)
            columns.append(np.ones(self.m))
        self.n_curved = self.n + len(columns)
        if self.threshold:
            columns.append(self.y)
        others = np.array(columns).T.reshape(self.m, len(columns))
        self.A: Matrix
        if isinstance(program.X, np.ndarray):
            self.A = np.hstack([signs * program.X, others])
        else:
            self.A = sp.hstack([program.X.multiply(signs), others], format="csr")

    @property
    def first_mu(self) -> float:
        return float((self.dear if self.hard else float(self.c.sum())) / self.m)

    def raise_price(self, at: BarrierPoint, mu: float) -> None:
        """Make e dearer where it costs more than the gap: it would stay at this price."""
        if self.e is not None and self.dear * at.x[self.e] > mu * self.order:
            self.dear *= 100.0

    def proposal(self, at: BarrierPoint, alpha: np.ndarray, steps: int) -> Proposal:
        """A point in the program's own units."""
        b = float(at.x[-1]) if self.threshold else 0.0
        return Proposal(at.x[: self.n] / self.unit, b, alpha / self.scale, steps)

    def start(self) -> np.ndarray:
        x = np.zeros(self.A.shape[1])
        if self.tau is not None:
            x[self.tau] = 1.0
        if self.e is not None:
            x[self.e] = 2.0
        return x

    def at(self, x: np.ndarray, mu: float) -> BarrierPoint | None:
        """F and its derivatives at a point; None outside its domain."""
        if (x[self.n : self.n_curved] <= 0).any():
            return None
        d = np.asarray(self.A @ x) - 1
        if self.hard:
            if d.min() <= 0:
                return None
            alpha, weights, value = mu / d, mu / d**2, -mu * float(np.log(d).sum())
        else:
            alpha, weights, value = soft(d, self.c, mu)
        tau = 1.0 if self.tau is None else float(x[self.tau])
        omega = cones(x[: self.n], tau, self.p, self.k, mu)
        first, second = np.zeros_like(x), np.zeros_like(x)
        first[: self.n], second[: self.n] = omega.first, omega.second
        value += omega.value
        if self.tau is not None:
            i, r, logs = self.tau, self.r, mu * self.n * (1 - self.k)
            share = 1 - r / self.p
            value += share / r * tau**r - logs * np.log(tau)
            first[i] = omega.tau_first + share * tau ** (r - 1) - logs / tau
            second[i] = omega.tau_second + share * (r - 1) * tau ** (r - 2) + logs / tau**2
        if self.e is not None:
            e = x[self.e]
            value += self.dear * e - mu * np.log(e)
            first[self.e], second[self.e] = self.dear - mu / e, mu / e**2
        gradient = first - np.asarray(self.A.T @ alpha)
        return BarrierPoint(x, value, alpha, gradient, second, omega.cross, weights)

    def hessian_product(self, at: BarrierPoint, v: np.ndarray) -> np.ndarray:
        """The second derivatives at a point times v."""
        product = at.curvature * v + np.asarray(self.A.T @ (at.weights * (self.A @ v)))
        if self.tau is not None:
            product[: self.n] += at.cross * v[self.tau]
            product[self.tau] += at.cross @ v[: self.n]
        return np.asarray(product)


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
    """omega of each feature, summed, and its derivatives:

        omega(w_j, tau) = min over t of  t/p - mu log(G - w_j^2) - mu (1 - 1/p) log t,
        G = t^(2/p) tau^(2k)

    At the minimum t = mu (p + 1 + 2 rho) with rho = w_j^2 / (G - w_j^2), the number to look for. In
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

    The difference of the two sides rises with x = log rho, with a slope that goes from 1 to 2/p.
    It is solved by Newton's method in x, within brackets.
    """
    found = np.zeros_like(w)
    used = np.abs(w) > SMALLEST_WEIGHT
    logs = 2 * np.log(np.abs(w[used]))
    level = shift + 2 / p * np.log(mu) - logs

    def difference(x: np.ndarray) -> np.ndarray:
        return np.asarray(level + 2 / p * np.log(p + 1 + 2 * np.exp(x)) - np.logaddexp(0, -x))

    # the two ends of the curve, as lines, are both below it
    x = np.maximum(-(level + 2 / p * np.log(p + 1)), -(p / 2) * level - np.log(2))
    lo, hi = (np.full_like(x, end) for end in LOG_RATIOS)
    x = np.clip(x, lo, hi)
    for _ in range(RATIO_STEPS):
        f = difference(x)
        lo, hi = np.where(f < 0, x, lo), np.where(f > 0, x, hi)
        slope = 4 / p / (2 + (p + 1) * np.exp(-x)) + 1 / (1 + np.exp(x))
        new = x - f / slope
        settled = np.abs(f) <= RATIO_RESIDUAL * (1 + np.abs(level))
        x = np.where(settled | ((new >= lo) & (new <= hi)), new, (lo + hi) / 2)
        if settled.all():
            break
    found[used] = np.exp(x)
    return found


def soft(d: np.ndarray, c: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray, float]:
    """The multipliers alpha, phi'' and the sum of phi:

        phi = min over xi of  c xi - mu log xi - mu log(xi + d),   d = z - 1

    The minimum is at the slack xi = (2 mu - c d + R) / 2c with R^2 = c^2 d^2 + 4 mu^2.
    """
    cd = c * d
    R = np.hypot(cd, 2 * mu)
    larger = 2 * mu + np.abs(cd) + R
    smaller = 2 * mu + 4 * mu * mu / (np.abs(cd) + R)
    xi = np.where(d > 0, smaller, larger) / (2 * c)
    room = np.where(d > 0, larger, smaller) / (2 * c)
    value = float((c * xi - mu * np.log(xi) - mu * np.log(room)).sum())
    return mu / room, mu / (xi**2 + room**2), value
