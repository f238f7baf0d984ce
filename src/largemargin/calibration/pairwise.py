"""Probabilities of many classes from those of pairs of them.

r_ij is an estimate of P(i | i or j). The second method of Wu, Lin and Weng (2004) asks for

    minimise  sum_i sum_{j != i} (r_ji p_i - r_ij p_j)^2    subject to   sum_i p_i = 1

With Q_ii = sum_{s != i} r_si^2 and Q_ij = -r_ji r_ij this is p'Qp, whose minimum is the solution of
one linear system a row, Q p + b e = 0 and e'p = 1. It is never negative where all r_ij are
positive, so they are kept a little away from 0 and 1.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from largemargin.base.classifier import checked_weights
from largemargin.base.labels import plain_labels
from largemargin.calibration.platt import fit_sigmoid, logistic
from largemargin.runtime.arrays import VectorLike
from largemargin.runtime.threads import single_thread

LEAST = 1e-7  # a pairwise probability is at least this
BLOCK = 1 << 22  # numbers in the systems that are solved at a time


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """The pairs (i, j), i < j, in lexicographic order."""
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def pairwise_of(scores: np.ndarray, slopes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """What `couple` takes, from a score and a sigmoid for each pair, the probability of its second
    class.
    """
    k = round((1 + np.sqrt(1 + 8 * len(slopes))) / 2)
    first, second = np.transpose(pairs_of(k))
    seconds = logistic(-(scores * slopes + offsets))
    pairwise = np.zeros((len(scores), k, k))
    pairwise[:, second, first] = seconds
    pairwise[:, first, second] = 1.0 - seconds
    return pairwise


def couple(pairwise: np.ndarray) -> np.ndarray:
    """Probabilities of the classes.

    Parameters
    ----------
    pairwise : array of shape (n_samples, n_classes, n_classes)
        pairwise[., i, j] is the probability of i where it is i or j; the diagonal is not read.

    Returns
    -------
    array of shape (n_samples, n_classes)

    Examples
    --------
    >>> p = np.array([0.2, 0.3, 0.5])
    >>> couple((p[:, None] / (p[:, None] + p))[None]).round(12).tolist()
    [[0.2, 0.3, 0.5]]
    """
    n, k = pairwise.shape[:2]
    found = np.empty((n, k))
    step = max(1, BLOCK // (k + 1) ** 2)
    with single_thread():
        for first in range(0, n, step):
            found[first : first + step] = _couple_block(pairwise[first : first + step])
    return found


def _couple_block(pairwise: np.ndarray) -> np.ndarray:
    n, k = pairwise.shape[:2]
    r = np.clip(pairwise, LEAST, 1 - LEAST)
    diagonal = np.arange(k)
    r[:, diagonal, diagonal] = 0.0
    system = np.zeros((n, k + 1, k + 1))
    system[:, :k, :k] = -r * r.transpose(0, 2, 1)
    system[:, diagonal, diagonal] = (r**2).sum(axis=1)
    system[:, k, :k] = system[:, :k, k] = 1.0
    right = np.zeros((n, k + 1, 1))
    right[:, k] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :k, 0], 0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


class PairwiseCoupling(BaseEstimator):
    """Probabilities of many classes from one score per pair of them: a sigmoid for each pair, and
    their coupling.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    a_, b_ : arrays of shape (n_pairs,)
        A and B of the sigmoids 1 / (1 + exp(A f + B)), which are the probabilities of `classes_[j]`
        in the pairs (i, j), i < j, in lexicographic order.

    References
    ----------
    Wu, T.-F., Lin, C.-J. and Weng, R. C. (2004). Probability estimates for multi-class
    classification by pairwise coupling. JMLR 5, 975-1005.
    """

    def fit(
        self, decision: VectorLike, y: VectorLike, sample_weight: VectorLike = None
    ) -> PairwiseCoupling:
        """Fit a sigmoid to the rows of each pair of classes.

        Parameters
        ----------
        decision : array of shape (n_samples, n_pairs)
            Scores of the pairs (i, j), i < j, in lexicographic order, positive for j.
        y : array of shape (n_samples,)
            Labels.
        sample_weight : array of shape (n_samples,), optional
            A row of weight s counts as s rows.
        """
        labels = plain_labels(y)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        values = self._checked(decision)
        check_consistent_length(values, labels)
        weights = checked_weights(values, labels, sample_weight)
        sigmoids = []
        for column, (i, j) in enumerate(pairs_of(len(self.classes_))):
            rows = np.flatnonzero((numbers == i) | (numbers == j))
            sigmoids.append(fit_sigmoid(values[rows, column], numbers[rows] == j, weights[rows]))
        self.a_ = np.array([sigmoid.slope for sigmoid in sigmoids])
        self.b_ = np.array([sigmoid.offset for sigmoid in sigmoids])
        return self

    def predict_proba(self, decision: VectorLike) -> np.ndarray:
        """The probabilities of `classes_`, one row per row of scores."""
        check_is_fitted(self)
        values = self._checked(decision)
        return couple(pairwise_of(values, self.a_, self.b_))

    def _checked(self, decision: VectorLike) -> np.ndarray:
        values = np.asarray(decision, np.float64)
        n_pairs = len(pairs_of(len(self.classes_)))
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or values.shape[1] != n_pairs:
            raise ValueError(
                f"decision must have one column for each of the {n_pairs} pairs of "
                f"{len(self.classes_)} classes, got shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise ValueError("decision values must be finite, got NaN or inf")
        return values
