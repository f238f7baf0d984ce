"""The linear machine of Crammer & Singer: one vector per class, as one problem.

    minimise   P = 1/2 sum_r |w_r|^2 + sum_i c_i max_r (1[r != y_i] + w_r.x_i - w_(y_i).x_i)
    dual       D = sum_i t_(i, y_i) - 1/2 sum_r |w_r|^2,    w_r = sum_i t_ir x_i,
               t_ir <= c_i if r = y_i, else t_ir <= 0,      sum_r t_ir = 0 for each row i

The threshold, if there is one, is a column of X like the others. The rows take turns: for each, its
variables are set to the best values while those of others are kept, which is a projection onto the
constraints of the row. The vectors w_r are kept up to date, so no kernel value is ever needed. The
method ends when the duality gap is at most tol P / 10. Most rows have no share in the solution:
after a pass over all rows there are many over those whose variables still move. (With two classes
it is the machine of hinge loss, at twice the price of slack, and is solved as that.)

Keerthi, S. S., Sundararajan, S., Chang, K.-W., Hsieh, C.-J. and Lin, C.-J. (2008). A sequential
dual method for large scale multi-class linear SVMs. KDD 2008, 408-416.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from largemargin.dropin.newton import Weights
from largemargin.runtime.arrays import Matrix

PASSES = 100  # over the rows that still move, after each pass over all
STILL = 1e-10  # beside its cost: a change of a row's variables that is none
CLOSE = 0.1  # the gap that is left, as a fraction of tol P


def solve_crammer_singer(
    X: Matrix, labels: np.ndarray, costs: np.ndarray, n_classes: int, tol: float, max_iter: int
) -> Weights:
    """Passes over the rows, in orders that follow from a fixed seed."""
    from largemargin.dropin.crammer_singer_loops import visit

    rows = sp.csr_array(X, dtype=np.float64)
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    W, T = np.zeros((rows.shape[1], n_classes)), np.zeros((rows.shape[0], n_classes))
    parts = rows.data, rows.indices, rows.indptr, squares, labels, costs
    everything, chance = np.flatnonzero(squares), np.random.default_rng(0)
    for n_iter in range(1, max_iter + 1):
        if is_optimal(rows, labels, costs, W, T, CLOSE * tol):
            return Weights(W.T, n_iter)
        moving = everything
        for _ in range(PASSES):
            moving = moving[visit(*parts, chance.permutation(moving), W, T, STILL)[moving]]
            if not len(moving):
                break
    return Weights(W.T, max_iter)


def is_optimal(
    X: sp.csr_array, labels: np.ndarray, costs: np.ndarray, W: np.ndarray, T: np.ndarray, tol: float
) -> bool:
    """Whether the duality gap is at most tol times the primal objective."""
    each = np.arange(len(labels))
    scores = np.asarray(X @ W)
    own = scores[each, labels].copy()
    scores += 1
    scores[each, labels] = own
    primal = float((W**2).sum() / 2 + costs @ (scores.max(axis=1) - own))
    dual = float(T[each, labels].sum() - (W**2).sum() / 2)
    return primal - dual <= tol * primal
