"""One-vs-one as LIBSVM lays it out, and as this library does.

LIBSVM, and scikit-learn with it, keeps the support vectors class by class and has K - 1
coefficients for each: a vector of class i has its coefficient against class j in row j - 1 if
i < j, else in row j. The score of a pair i < j is positive for i. Here every pair has a row over
all support vectors, and its score is positive for the second class.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np


@dataclass(frozen=True)
class ByClass:
    """LIBSVM's layout: which support vectors in which order, how many of each class, and K - 1 rows
    of coefficients.
    """

    order: np.ndarray
    sizes: np.ndarray
    coefs: np.ndarray


def rows_of_pairs(coefs: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """LIBSVM's coefficients as one row per pair, positive for its first class.

    >>> rows_of_pairs(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([1, 1, 1]))
    array([[1., 2., 0.],
           [4., 0., 3.],
           [0., 5., 6.]])
    """
    ends = np.cumsum(sizes)
    parts = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    pairs = list(combinations(range(len(sizes)), 2))
    rows = np.zeros((len(pairs), coefs.shape[1]))
    for row, (i, j) in zip(rows, pairs, strict=True):
        row[parts[i]] = coefs[j - 1, parts[i]]
        row[parts[j]] = coefs[i, parts[j]]
    return rows


def by_class(rows: np.ndarray, n_classes: int) -> ByClass:
    """One row per pair, positive for its first class, in LIBSVM's layout.

    The sign of a coefficient is the side of its example. A vector that is on the side of several
    classes, as may be where labels contradict each other, is there once for each.

    >>> by_class(np.array([[1.0, -2.0, 0.0], [4.0, 0.0, -3.0], [0.0, 5.0, -6.0]]), 3).coefs
    array([[ 1., -2., -3.],
           [ 4.,  5., -6.]])
    """
    pairs = list(combinations(range(n_classes), 2))
    mine = np.zeros((n_classes, rows.shape[1]), bool)
    for row, (i, j) in zip(rows, pairs, strict=True):
        mine[i] |= row > 0
        mine[j] |= row < 0
    mine[0] |= ~mine.any(axis=0)  # a vector without a coefficient is nobody's
    sizes = mine.sum(axis=1)
    classes, order = np.nonzero(mine)
    coefs = np.zeros((n_classes - 1, len(order)))
    for row, (i, j) in zip(rows, pairs, strict=True):
        taken = row[order]
        first, second = (classes == i) & (taken > 0), (classes == j) & (taken < 0)
        coefs[j - 1, first] = taken[first]
        coefs[i, second] = taken[second]
    return ByClass(order, sizes, coefs)


def to_ours(
    rows: np.ndarray, thresholds: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows and thresholds of pairs of `labels` in any order, each positive for its first class, as
    classes in ascending order, and rows and thresholds that are positive for the second class.
    """
    order = np.argsort(labels, kind="stable")
    places = {pair: p for p, pair in enumerate(combinations(range(len(labels)), 2))}
    coefs, intercepts = np.empty_like(rows), np.empty(len(rows))
    for p, (a, b) in enumerate(combinations(order.tolist(), 2)):
        from_row, sign = places[min(a, b), max(a, b)], -1.0 if a < b else 1.0
        coefs[p] = sign * rows[from_row]
        intercepts[p] = sign * thresholds[from_row]
    return labels[order], coefs, intercepts
