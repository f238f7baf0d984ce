"""The norms of w: p and its conjugate q with 1/p + 1/q = 1, and the price of a norm.

What a soft margin pays for w is |w|_p^r / r, with the power r = min(p, q):

    p = 1         |w|_1                the power that makes it a linear program
    1 < p <= 2    sum_j |w_j|^p / p    a sum over features
    p = 2         |w|_2^2 / 2          the support vector machine's
    2 <= p        |w|_p^q / q
    p = inf       |w|_inf              again a linear program

It is continuous in p. Another power would give the same hyperplanes, each at another price of
slack.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Norm:
    """The p-norm, 1 <= p <= inf, and what goes with it."""

    p: float

    @property
    def q(self) -> float:
        """The conjugate exponent."""
        return conjugate(self.p)

    @property
    def power(self) -> float:
        """r, the power that its price has."""
        return min(self.p, self.q)

    def of(self, w: np.ndarray) -> float:
        return length(w, self.p)

    def dual_of(self, v: np.ndarray) -> float:
        """The conjugate norm, in which distances are measured where |w|_p is minimised."""
        return length(v, self.q)

    def price(self, size: float) -> float:
        """size^r / r for a norm of that size."""
        return power(size, self.power) / self.power

    def best_dual(self, total: float, size: float, most: float) -> float:
        """The largest value of  t total - |t v|^r' / r',  for 0 <= t <= most and |v|_q = size.

        It is the convex conjugate of the price along a ray; with r = 1 the second term is 0 up to
        |t v| = 1 and infinite beyond. The peak is at t = (total / size^r')^(r - 1).
        """
        r = self.power
        if total == 0 or size == 0:
            return total * most if total else 0.0
        # in terms of s = t size, so that powers of small numbers do not vanish
        slope = total / size
        s = min(1.0 if r == 1 else power(slope, r - 1), most * size)
        if r == 1:
            return slope * s
        r_dual = conjugate(r)
        return slope * s - power(s, r_dual) / r_dual


def power(base: float, exponent: float) -> float:
    """A power that may be infinite."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float64(base) ** exponent)


def conjugate(p: float) -> float:
    """q with 1/p + 1/q = 1.

    >>> conjugate(1.5), conjugate(1.0), conjugate(float("inf"))
    (3.0, inf, 1.0)
    """
    if p == 1:
        return np.inf
    return 1.0 if np.isinf(p) else p / (p - 1)


def length(v: np.ndarray, p: float) -> float:
    """The p-norm, without overflow or underflow of the powers.

    >>> length(np.array([3e-200, 4e-200]), 2)
    5e-200
    """
    largest = float(np.abs(v).max(initial=0.0))
    if largest == 0 or np.isinf(p):
        return largest
    return float(largest * (np.abs(v / largest) ** p).sum() ** (1 / p))
