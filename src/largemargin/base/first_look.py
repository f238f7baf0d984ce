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
from largemargin.kernels.fused import FusedRows, single_enough
from largemargin.kernels.rounding import SingleErrors
from largemargin.runtime.threads import Workers

FUSED_ROWS = 1 << 16  # rows of X that are packed together
TRIAL_ROWS = 64  # rows of X that show whether float32 tells enough
OPEN_SHARE = 1 / 3  # it does if no more rows are left open
PLAIN_SHARE = 1 / 32  # of rows left open, for which sizes cost more than they save

# Of which rows enough is told by scores, one row per problem, that are off by `errors`, one per
# row, at most
Told = Callable[[np.ndarray, np.ndarray], np.ndarray]


def signs_told(scores: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Of which rows the sign is certain, with scores of one problem."""
    return np.asarray(np.abs(scores[0]) > errors)


def look(
    basis: Basis, coefs: np.ndarray, X: Any, scores: np.ndarray, team: Workers, told: Told
) -> np.ndarray:
    """Add sum_i c_pi k(v_i, x), in float32, to the scores of rows; return the rows left open."""
    kernel, single = basis.kernel, np.dtype(np.float32)
    known = np.zeros(X.shape[0], bool)
    if not single_enough(kernel, float(basis.squares.max())):
        return np.flatnonzero(~known)
    errors = SingleErrors(kernel, coefs, scores[:, 0], basis.squares, X.shape[1])
    factors = errors.coefs
    vectors = FusedRows(kernel, basis.vectors, team, single).vectors(np.arange(len(basis)))
    last = 0
    while last < len(known):
        part = slice(last, last + (FUSED_ROWS if last else TRIAL_ROWS))
        rows = X[part]
        columns = FusedRows(kernel, rows, team, single).measured_columns()
        squares = columns.squares
        if not errors.known_up_to(float(squares.max())):
            break
        sums = columns.sums(vectors, factors)
        found = scores[:, part]
        found += sums[: len(coefs)]
        terms = np.diff(rows.indptr) if sp.issparse(rows) else np.float64(X.shape[1])
        known[part] = told(found, errors(squares, terms, sums[len(coefs) :]))
        if np.mean(~known[part]) > OPEN_SHARE:
            break
        if not last and np.mean(~told(found, errors(squares, terms))) <= PLAIN_SHARE:
            factors = factors[: len(coefs)]
        last = part.stop
    return np.flatnonzero(~known)
