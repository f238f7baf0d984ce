"""The linear programs of the kernel machines, each stated once.

With signs y, weights s (an example of weight s counts as s examples), kernel values k_ij and
f_i = sum_j alpha_j y_j k_ij, all alpha >= 0 and slacks xi >= 0:

    adaptive margin   min sum_i s_i xi_i                     y_i f_i - lambda (alpha_i/s_i) k_ii
                                                                             >= 1 - xi_i   (2.10-12)
    leave-one-out     the same with lambda = 1: an example has no part in its own score    (2.7-9)
    LP                min sum_j alpha_j + C sum_i s_i xi_i   y_i f_i >= 1 - xi_i           (2.18)
    nu-LP             min sum_i (s_i/sum s) xi_i - nu rho    y_i (f_i + b) >= rho - xi_i,
                                                             sum_j alpha_j = 1, rho >= 0

(numbers of Advances in Large Margin Classifiers, chapter 2). Why alpha_i/s_i: of s copies of an
example with alpha_i among them, each takes no part in its own score but votes for its twins.

All are one `Program`, with B_ij = y_i y_j k_ij - [i = j] own_i:

    min  cost sum_j alpha_j + sum_i prices_i xi_i - nu rho     B alpha + y b >= 1 (or rho) - xi

which is solved through its dual. Its variables u, the Lagrange multipliers of the margins, have
bounds and need no slacks:

    max  sum_i u_i (or -t)     0 <= u_i <= prices_i,  sum_i u_i B_ij <= cost (or t)  for all j
                               and for nu-LP  sum_i y_i u_i = 0,  sum_i u_i >= nu

Each has a solution: u = 0 is feasible for the first three, the sums of the third bound nu by twice
the smaller class's share, and the bounds keep the objective finite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# The nu that stands for 0, relative to the least price: below the least price a margin error costs
# more than any margin gains.
NU_OF_HARD_MARGIN = 0.5
# An objective that is as good as zero: relative to the objective of no coefficients at all, or with
# nu, to nu times the largest kernel value.
TRIFLING_LOSS = 1e-4
TRIFLING_MARGIN = 1e-2


@dataclass(frozen=True)
class Program:
    """A machine as a linear program over examples.

    Attributes
    ----------
    signs : array
        y, +1 and -1.
    prices : array
        The price of one unit of slack of each example.
    own : array
        What an example's coefficient takes from its own margin: lambda k_ii / s_i.
    cost : float
        The price of one unit of a coefficient.
    nu : float or None
        None where the margin is 1 and there is no threshold.
    size : float
        The largest k_ii, which is what coefficients of sum 1 can make of a margin.
    gives_way : bool
        Whether nu was lowered to the largest feasible value, and the threshold is to give way for
        it to the larger side.
    """

    signs: np.ndarray
    prices: np.ndarray
    own: np.ndarray
    size: float
    cost: float = 0.0
    nu: float | None = None
    gives_way: bool = False

    def __len__(self) -> int:
        return len(self.signs)

    @property
    def unit(self) -> float:
        """The unit in which the dual variables are near 1: the largest price, or their sum nu if it
        is less, or, between the price and the cost of a margin of 1, the geometric mean.
        """
        largest = float(self.prices.max())
        if self.nu is not None:
            return min(largest, self.nu)
        return min(largest, float(np.sqrt(largest * self.cost / self.size))) or largest

    def unit_at(self, objective: float) -> float:
        """The same unit, where an objective near the optimum is known: the duals sum to it or, with
        nu, to nu if there is a margin.
        """
        largest = float(self.prices.max())
        if self.nu is not None:
            return largest
        return min(largest, objective) or largest

    @property
    def may_be_lossless(self) -> bool:
        """Whether the objective is loss alone, so that at zero anything goes."""
        return not self.cost and self.nu is None

    @property
    def trifle(self) -> float:
        """An objective that is as good as zero, where it can be zero."""
        if self.cost:
            return float(np.finfo(float).tiny)
        if self.nu is None:
            return TRIFLING_LOSS * float(self.prices.sum())
        return TRIFLING_MARGIN * self.nu * self.size

    @property
    def least_objective(self) -> float:
        """What no objective is below, whatever the kernel values are."""
        return 0.0 if self.nu is None else -np.inf

    def nu_of(self, sample: np.ndarray) -> float:
        """As much of nu as some of the examples allow."""
        return min(self.nu or 0.0, largest_nu(self.signs[sample], self.prices[sample]))

    def objective(self, coefs: np.ndarray, margins: np.ndarray, rho: float) -> float:
        """The primal objective; `margins` are B alpha + y b."""
        least = 1.0 if self.nu is None else rho
        loss = float(self.prices @ np.maximum(least - margins, 0.0))
        return loss + self.cost * float(coefs.sum()) - (self.nu or 0.0) * rho


def adaptive_margin(y: np.ndarray, s: np.ndarray, diagonal: np.ndarray, lam: float) -> Program:
    return Program(y, s, lam * diagonal / s, largest_of(diagonal))


def lp_machine(y: np.ndarray, s: np.ndarray, diagonal: np.ndarray, C: float) -> Program:
    return Program(y, C * s, np.zeros(len(y)), largest_of(diagonal), cost=1.0)


def nu_machine(
    y: np.ndarray, s: np.ndarray, diagonal: np.ndarray, nu: float, gives_way: bool = False
) -> Program:
    """`nu` = 0 is the limit of small values, and reached where a margin error costs more than any
    margin can gain: each adds at least its price to the slope of the loss in rho.
    """
    prices = s / s.sum()
    least = NU_OF_HARD_MARGIN * float(prices.min())
    nothing = np.zeros(len(y))
    nu = nu if nu > 0 else least
    return Program(y, prices, nothing, largest_of(diagonal), nu=nu, gives_way=gives_way)


def largest_of(diagonal: np.ndarray) -> float:
    """The largest absolute value; 1 if there is none but 0."""
    return float(np.abs(diagonal).max()) or 1.0


def largest_nu(y: np.ndarray, prices: np.ndarray) -> float:
    """Twice the smaller class's share."""
    share = float(prices[y > 0].sum() / prices.sum())
    return 2 * min(share, 1 - share)
