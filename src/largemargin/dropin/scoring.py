"""Scores of a fitted machine, read off its attributes by this package's engine.

What scikit-learn's attributes say counts: whoever replaces them gets the answers of the new ones,
as with LIBSVM. The vectors in the form that the engine reads are kept until then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.base.expansion import Expansion, linear_scores
from largemargin.base.first_look import Told
from largemargin.kernels.basis import Basis
from largemargin.kernels.engine import prepare
from largemargin.kernels.functions import Kernel, Linear
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.threads import single_thread

DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True)
class Scorer:
    """The functions sum_i c_pi k(v_i, x), without their thresholds."""

    vectors: Any  # as they are in the estimator
    table: np.ndarray  # the coefficients there
    kernel: Kernel
    expansion: Expansion

    @classmethod
    def of(cls, vectors: Matrix, table: np.ndarray, coefs: np.ndarray, kernel: Kernel) -> Scorer:
        """The scorer of vectors with one row of coefficients per function."""
        basis = Basis(kernel, DOUBLE)
        if vectors.shape[0]:
            basis.add(prepare(vectors, kernel, DOUBLE), np.arange(vectors.shape[0]))
        return cls(vectors, table.copy(), kernel, Expansion(basis, coefs, np.zeros(len(coefs))))

    def is_of(self, vectors: Matrix, table: np.ndarray, kernel: Kernel) -> bool:
        """Whether this is what the attributes of the estimator still say."""
        return (
            vectors is self.vectors and kernel == self.kernel and np.array_equal(table, self.table)
        )

    def __call__(self, X: Matrix, intercepts: np.ndarray, told: Told | None = None) -> np.ndarray:
        """One row per function, one column per row of X; for `told` see `Expansion`."""
        coefs, basis = self.expansion.coefs, self.expansion.basis
        with single_thread():
            if isinstance(self.kernel, Linear):
                scores = linear_scores(X, self.expansion.weights(X.shape[1])).T
                return np.asarray(scores + intercepts[:, None])
            return Expansion(basis, coefs, intercepts)(X, told=told)


def signs_are_told(scores: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Of which rows all signs are certain."""
    return np.asarray((np.abs(scores) > errors).all(axis=0))


def as_table(coefs: Any) -> np.ndarray:
    """Coefficients, sparse or not, as an array."""
    return np.asarray(coefs.toarray() if sp.issparse(coefs) else coefs, np.float64)
