"""What every machine of this family solves, stated once.

    minimise    1/2 b'(K + diag(ridge))b + p'b
    subject to  lo_i <= b_i <= hi_i   and   sum of a_i b_i over each group = its value at the start

The variables are signed, b_i = y_i alpha_i, so K is the Gram matrix itself and a machine is
f(x) = sum_i b_i k(x_i, x) + threshold. A group's multiplier is what the threshold is read from. A
machine without a threshold has a variable more, `free`, with kernel values of zero and no bounds:
it takes up whatever the sum would have to be, and its multiplier is zero.

Optimality (Karush-Kuhn-Tucker): with value_i = -a_i grad_i, no variable of a group that may rise
has a larger value than one that may fall. The largest such difference is the **violation**.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Problem:
    """One dual problem; arrays have an entry a variable.

    Attributes
    ----------
    p, lo, hi, ridge : arrays
        The linear term, the box and what is added to the diagonal.
    a : array of +1 and -1
        Coefficients of the sums that are kept.
    group : array of uint8
        The sum that each variable belongs to.
    n_groups : int
    threshold : bool
        Whether the sums hold; without, the variables are bounded by the box alone.
    start : array
        A feasible point.
    relative : bool
        Whether the tolerance is relative to the margin of f, for machines without a scale of
        their own.
    least_norm : float
        The solution is not looked for once |w| is shown to be smaller.
    """

    p: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    ridge: np.ndarray
    a: np.ndarray
    group: np.ndarray
    n_groups: int
    threshold: bool
    start: np.ndarray
    relative: bool = False
    least_norm: float = 0.0

    def __len__(self) -> int:
        return len(self.p)


@dataclass(frozen=True)
class Solution:
    """Where a solver got: variables, gradient, the violation left and the steps made; how far
    rounding may have taken the gradient from that of its kernel values; and whose gradient is up to
    date, if not everybody's.
    """

    beta: np.ndarray
    grad: np.ndarray
    violation: float
    n_steps: int
    converged: bool
    drift: float = np.inf
    seen: np.ndarray | None = None
