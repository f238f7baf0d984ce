"""The Gaussian kernel from differences of vectors, as LIBSVM computes it.

The engine computes |a - b|^2 from inner products, which is faster and off by about the rounding of
|a|^2 and |b|^2. With a gamma as large as 1e6 that is seen, even in the value of a row with itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largemargin.kernels.functions import UNIT, Kernel, Rounding
from largemargin.runtime.arrays import Matrix

SEEN = 1e-10  # an error of the exponent that is worth slower values


@dataclass(frozen=True)
class GaussianOfDifferences(Kernel):
    """k(a, b) = exp(-gamma |a - b|^2), each value by itself.

    >>> GaussianOfDifferences(0.5)(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0], [1.0, 3.0]]))
    array([[1.        , 0.60653066]])
    """

    gamma: float
    on_products = False
    value_by_value = True
    stationary = True

    def __call__(self, A: Matrix, B: Matrix) -> np.ndarray:
        from scipy.spatial.distance import cdist

        return np.asarray(np.exp(-self.gamma * cdist(A, B, "sqeuclidean")))

    def rounding(self, squares: np.ndarray, terms: np.ndarray, unit: float) -> Rounding:
        # of t e^-t there is at most 1/e, and t is off by the rounding of so many terms
        return Rounding(value=6 * UNIT + unit, constant=(terms + 4) * UNIT, most=1.0)


def is_seen(gamma: float, square: float) -> bool:
    """Whether the rounding of inner products would be seen in values of a Gaussian kernel."""
    return gamma * square * 2 * UNIT > SEEN
