"""Fitted estimators made of the arrays of others.

Of how others trained nothing is known: the duality gap is infinite, the objective the bound that
always holds, and `converged_` is False. `certificate` treats such a model as one without a record
of its training data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.base.expansion import Expansion
from largemargin.interchange.decision import KernelSum
from largemargin.kernels.basis import Basis
from largemargin.kernels.engine import check_overflow, largest_square
from largemargin.model_file.arrays import check_moderate, check_scores

SPARSE_SHARE = 0.25  # support vectors with fewer entries than this share are kept sparse


def fill_machine(
    model: Any,
    scores: KernelSum,
    n_features: int,
    n_given: int,
    classes: np.ndarray | None = None,
) -> Any:
    """Give a support vector machine an expansion; without classes it is an outlier detector."""
    basis = Basis(scores.kernel, np.dtype(np.float64))
    if not scores.kernel.by_column and len(scores.positions):
        if scores.kernel.on_products:
            check_overflow(scores.kernel, basis.dtype, largest_square(scores.vectors))
        basis.add(scores.vectors, scores.positions)
    elif len(scores.positions):
        basis.add(None, scores.positions)
    check_scores(basis, scores.coefs)
    check_moderate(scores.intercepts, "the thresholds")
    model.n_features_in_ = n_features
    expansion = Expansion(basis, scores.coefs, scores.intercepts)
    model.restore_expansion(expansion, scores.positions.astype(np.int64), n_given)
    n_problems = len(scores.coefs)
    _say_nothing_of_training(model, n_problems, -np.inf)
    if classes is not None:
        model.classes_ = classes
        model._by_pairs = len(classes) > 2
        model.margin_ = _margins(expansion)
    return model


def fill_hyperplane(
    model: Any, weights: np.ndarray, intercepts: np.ndarray, classes: np.ndarray
) -> Any:
    """Give a `MaxMarginHyperplane` its weights."""
    for values in (weights, intercepts):
        check_moderate(values, "the weights")
    model.classes_, model.n_features_in_ = classes, weights.shape[1]
    model.coef_, model.intercept_ = weights, intercepts
    _say_nothing_of_training(model, len(weights), np.inf)
    model.margin_ = np.full(len(weights), -np.inf)
    return model


def _say_nothing_of_training(model: Any, n_problems: int, objective: float) -> None:
    model.objective_ = np.full(n_problems, objective)
    model.dual_gap_ = np.full(n_problems, np.inf)
    model.n_iter_ = np.ones(n_problems, np.int64)
    model.converged_, model._separable = False, True


def _margins(expansion: Expansion) -> np.ndarray:
    """1 / |w| of each problem, |w|^2 = sum_i c_i (f(x_i) - b); of kernel values that only others
    have, infinity.
    """
    basis, margins = expansion.basis, np.full(len(expansion.coefs), np.inf)
    if basis.kernel.by_column or not len(basis):
        return margins
    outputs = expansion(basis.vectors) - expansion.intercepts[:, None]
    squares = (expansion.coefs * outputs).sum(axis=1)
    margins[squares > 0] = 1 / np.sqrt(squares[squares > 0])
    return margins


def rows_of(vectors: Any) -> Any:
    """Support vectors of others: sparse rows where most entries are zero, else an array."""
    if not sp.issparse(vectors):
        return np.ascontiguousarray(vectors, np.float64)
    rows = sp.csr_array(vectors, dtype=np.float64)
    rows.sum_duplicates()
    few = rows.nnz < SPARSE_SHARE * np.prod(rows.shape)
    return rows if few else rows.toarray()
