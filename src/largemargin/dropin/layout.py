"""The layout of LIBSVM's coefficients, which scikit-learn shows, and that of this package.

With k classes there is one function for each pair (i, j), i < j, in lexicographic order. Here, each
has a row of coefficients over all support vectors, which is positive for j. LIBSVM's functions are
positive for i, and its table has k - 1 rows: a support vector of class i takes part in k - 1 pairs,
and what it has in the pair with class j is in row j - 1 if j > i, and in row j if j < i. Support
vectors are ordered by class, and by their position in the data within a class.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np


def packed(coefs: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """LIBSVM's table, from rows of coefficients that are positive for i, and the number of support
    vectors of each class.

    >>> packed(np.array([[1, -1, 0], [2, 0, -2], [0, 3, -3]]), np.array([1, 1, 1]))
    array([[ 1, -1, -2],
           [ 2,  3, -3]])
    """
    k, ends = len(counts), np.cumsum(counts)
    table = np.zeros((k - 1, coefs.shape[1]), coefs.dtype)
    for row, (i, j) in zip(coefs, combinations(range(k), 2), strict=True):
        of_i, of_j = (slice(ends[c] - counts[c], ends[c]) for c in (i, j))
        table[j - 1, of_i], table[i, of_j] = row[of_i], row[of_j]
    return table


def unpacked(table: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The rows of coefficients that `packed` has made a table of.

    >>> counts = np.array([1, 1, 1])
    >>> unpacked(np.array([[1, -1, -2], [2, 3, -3]]), counts)
    array([[ 1, -1,  0],
           [ 2,  0, -2],
           [ 0,  3, -3]])
    """
    k, ends = len(counts), np.cumsum(counts)
    coefs = np.zeros((k * (k - 1) // 2, table.shape[1]), table.dtype)
    for row, (i, j) in zip(coefs, combinations(range(k), 2), strict=True):
        of_i, of_j = (slice(ends[c] - counts[c], ends[c]) for c in (i, j))
        row[of_i], row[of_j] = table[j - 1, of_i], table[i, of_j]
    return coefs


def winners(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """The class that wins most pairs, the first of several, from one row of scores per pair, each
    positive for the first of its classes.

    >>> winners(np.array([[1.0, -1.0], [-1.0, -2.0], [-0.5, 0.5]]), 3)
    array([2, 1])
    """
    pairs = list(combinations(range(n_classes), 2))
    first, second = (np.eye(n_classes)[:, [pair[side] for pair in pairs]] for side in (0, 1))
    won = scores > 0
    return np.asarray((first @ won + second @ ~won).argmax(axis=0))
