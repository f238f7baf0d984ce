"""How far a sum of kernel values in float32 may be from the same sum in float64.

A sum f(x) = sum_j c_j k(v_j, x) of values in float32 is off by sum_j |c_j| E_j, with the bounds E_j
of `Kernel.rounding`. The largest parts of E_j are multiples of k(v_j, x) where the kernel is
stationary, and most values are small there. So the sum

    s(x) = sum_j w_j k(v_j, x),   w_j = |c_j| (1 + |v_j|^2 / m),   m the mean of |v_j|^2

is computed beside f: it is no less than sum_j |c_j| k(v_j, x), and max(|x|^2, m) times as much is
no less than sum_j |c_j| k(v_j, x) (|x|^2 + |v_j|^2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.kernels.engine import GROUP
from largemargin.kernels.functions import UNIT, Kernel
from largemargin.kernels.fused import single_enough

SINGLE = 2.0**-24  # the unit roundoff of float32
# Bounds are raised by so much: the values in float64, and what is computed of bounds, have errors
# of their own, which are smaller by a factor of sqrt(UNIT / SINGLE) at least.
RAISED = 1.01
OF_SCORES = 1024  # units of a score that sums and differences of scores may be off by


def raised_squares(squares: np.ndarray, terms: Any, unit: float) -> np.ndarray:
    """Squared norms, raised to where a product below the range of the type is rounding too."""
    tiny = float(np.finfo(np.float64 if unit == UNIT else np.float32).tiny)
    return np.asarray(squares * (1 + 4 * unit) + terms * tiny / unit)


class SingleErrors:
    """Bounds for an expansion in vectors with these squared norms, one row of coefficients per
    problem; each bound holds for all problems.

    Attributes
    ----------
    coefs : array
        Coefficients to compute sums with: those of the problems, in float32, and those of s(x) in
        one more row, if the kernel is stationary.
    """

    def __init__(
        self, kernel: Kernel, coefs: np.ndarray, intercepts: np.ndarray, squares: np.ndarray,
        n_features: int,
    ) -> None:  # fmt: skip
        squares = raised_squares(squares, n_features, SINGLE)
        self._kernel, self._n_features = kernel, n_features
        self._longest, self._mean = float(squares.max()), float(squares.mean())
        sizes, weights = kernel.sizes(squares), np.abs(coefs)
        assert sizes is not None
        terms = np.full(len(squares), float(n_features))
        right = kernel.rounding(squares, terms, SINGLE).right + np.zeros(len(squares))
        self._right, self._one = (weights @ right).max(), weights.sum(axis=1).max()
        # coefficients in float32, sums of GROUP terms in float32, and sums of these in float64
        self._of_sum = (GROUP + 2) * SINGLE + (len(squares) + 16) * UNIT
        self._size = len(squares) * sizes.max() * float(np.finfo(np.float32).tiny)
        self._intercept = OF_SCORES * UNIT * np.abs(intercepts).max()
        if kernel.stationary:
            coefs = np.vstack([coefs, weights.max(axis=0) * (1 + squares / self._mean)])
            self._most = coefs[-1].sum()
        else:
            self._size += self._of_sum * (weights @ sizes).max()
        with np.errstate(over="ignore"):
            self.coefs = coefs.astype(np.float32)
        self._largest = 2 * GROUP * float(np.abs(self.coefs).max())

    def known_up_to(self, square: float) -> bool:
        """Whether float32 is good enough for rows with squared norms up to `square`."""
        square = max(square, self._longest)
        fits = self._largest * self._kernel.bound(square) < float(np.finfo(np.float32).max)
        return fits and single_enough(self._kernel, square)

    def __call__(self, squares: np.ndarray, terms: Any, sizes: Any = ()) -> np.ndarray:
        """A bound for each of some rows, from their squared norms, their numbers of entries other
        than zero, or one for all, and s(x), if it was computed.
        """
        squares = np.append(raised_squares(squares, terms, SINGLE), self._longest)
        terms = np.append(terms, self._n_features) if np.ndim(terms) else terms
        found = self._kernel.rounding(squares, terms, SINGLE)
        bound = found.left * self._right + found.constant * self._one + self._intercept
        bound = (bound + self._kernel.sizes(squares) * self._size)[:-1]
        if self._kernel.stationary:
            relative = found.value + found.distance * np.maximum(squares, self._mean) + self._of_sum
            bound += (sizes[0] if len(sizes) else self._most) * relative[:-1]
        return np.asarray(RAISED * bound)
