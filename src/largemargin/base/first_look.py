"""A first look at the rows of a prediction, in float32.

A class takes fewer digits than a score. Where values in float64 are computed in registers, those in
float32 take half the time, and a bound of their errors says of which rows the class is certain. The
others are left to be computed in float64, and the classes are those of the scores in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.basis import Basis
from largemargin.kernels.fused import FusedRows, Vectors, single_enough
from largemargin.kernels.rounding import SingleErrors
from largemargin.runtime.threads import Workers

FUSED_NUMBERS = 1 << 22  # numbers of X that are packed together
LEAST_ROWS = 1024  # rows that are packed together at least
TRIAL_ROWS = 64  # rows of X that show whether float32 tells enough
FEW_ROWS = 4096  # rows of X that are looked at without a trial
OPEN_SHARE = 1 / 3  # it does if no more rows are left open
PLAIN_SHARE = 1 / 32  # of rows left open, for which sizes cost more than they save

# Of which rows enough is told by scores, one row per problem, that are off by `errors`, one per
# row, at most
Told = Callable[[np.ndarray, np.ndarray], np.ndarray]


def signs_told(scores: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Of which rows the sign is certain, with scores of one problem."""
    return np.asarray(np.abs(scores[0]) > errors)


def rows_at_once(X: Any) -> int:
    """How many rows of X are packed together."""
    return max(LEAST_ROWS, FUSED_NUMBERS // max(1, int(X.shape[1])))


class InSingle:
    """An expansion in float32, for first looks at any rows."""

    def __init__(self, basis: Basis, coefs: np.ndarray, intercepts: np.ndarray) -> None:
        self.kernel = kernel = basis.kernel
        self.n_problems, n_features = len(coefs), basis.vectors.shape[1]
        self.is_enough = single_enough(kernel, float(basis.squares.max()))
        if self.is_enough:
            self.errors = SingleErrors(kernel, coefs, intercepts, basis.squares, n_features)
            self.vectors = packed_vectors(basis, np.dtype(np.float32))


def packed_vectors(basis: Basis, dtype: np.dtype) -> Vectors:
    """All vectors of a basis, for the compiled loops."""
    rows = FusedRows(basis.kernel, basis.vectors, Workers(1), dtype)
    return rows.vectors(np.arange(len(basis)))


def look(of: InSingle, X: Any, scores: np.ndarray, team: Workers, told: Told) -> np.ndarray:
    """Add sum_i c_pi k(v_i, x), in float32, to the scores of rows; return the rows left open."""
    single, n_problems = np.dtype(np.float32), of.n_problems
    known = np.zeros(X.shape[0], bool)
    if not of.is_enough:
        return np.flatnonzero(~known)
    errors, factors, last = of.errors, of.errors.coefs, 0
    few = len(known) <= FEW_ROWS
    while last < len(known):
        part = slice(last, last + (rows_at_once(X) if last or few else TRIAL_ROWS))
        rows = X[part]
        columns = FusedRows(of.kernel, rows, team, single).measured_columns()
        squares = columns.squares
        if not errors.known_up_to(float(squares.max())):
            break
        sums = columns.sums(of.vectors, factors)
        found = scores[:, part]
        found += sums[:n_problems]
        terms = np.diff(rows.indptr) if sp.issparse(rows) else np.float64(X.shape[1])
        known[part] = told(found, errors(squares, terms, sums[n_problems:]))
        if np.mean(~known[part]) > OPEN_SHARE:
            break
        if not (last or few) and np.mean(~told(found, errors(squares, terms))) <= PLAIN_SHARE:
            factors = factors[:n_problems]
        last = part.stop
    return np.flatnonzero(~known)
