"""The dual objective of a trained machine, from its coefficients alone.

Plain float64 arithmetic over the support vectors, in blocks, that no machine's own bookkeeping
takes part in: W = sum |c| - 1/2 sum c_s c_t K(s, t) for each problem of two classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

BLOCK = 2048
SLACK = 1e-3  # relative; single-precision solvers keep their constraints to about 1e-5


def kernel_values(A: np.ndarray, B: np.ndarray, kernel: dict[str, Any]) -> np.ndarray:
    """K(a, b), by definition."""
    products = A @ B.T
    if kernel["kernel"] == "poly":
        return (kernel["gamma"] * products + kernel["coef0"]) ** kernel["degree"]
    squares = (A**2).sum(1)[:, None] + (B**2).sum(1) - 2 * products
    return np.exp(-kernel["gamma"] * np.maximum(squares, 0))


def pairs_from_rows(labels: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """LIBSVM's layout, (classes - 1, vectors), as one row of coefficients a pair of classes.

    A vector of the a-th class has its coefficient against the b-th in row b - 1 if a < b, else in
    row b; classes count in the order in which they come among the vectors.
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))[inverse]
    pairs = list(combinations(range(len(first)), 2))
    coefs = np.zeros((len(pairs), len(labels)))
    for coef, (a, b) in zip(coefs, pairs, strict=True):
        coef[rank == a] = rows[b - 1, rank == a]
        coef[rank == b] = rows[a, rank == b]
    return coefs


def blocks(labels: np.ndarray) -> Iterator[np.ndarray]:
    """Positions of one class at a time, few enough for a block of kernel values."""
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        yield from np.array_split(members, -(-len(members) // BLOCK))


def dual_objectives(
    vectors: np.ndarray, labels: np.ndarray, coefs: np.ndarray, kernel: dict[str, Any]
) -> np.ndarray:
    """W of each row of `coefs`, (problems, vectors).

    A block of kernel values is made once, and only for problems that use both of its sides.
    """
    squares = np.zeros(len(coefs))
    parts = list(blocks(labels))
    used = np.array([(coefs[:, part] != 0).any(axis=1) for part in parts]).reshape(len(parts), -1)
    for i, left in enumerate(parts):
        A = vectors[left].astype(np.float64)
        for j in range(i, len(parts)):
            problems = np.flatnonzero(used[i] & used[j])
            if len(problems):
                K = kernel_values(A, vectors[parts[j]].astype(np.float64), kernel)
                sums = coefs[np.ix_(problems, left)] @ K
                both = (sums * coefs[np.ix_(problems, parts[j])]).sum(axis=1)
                squares[problems] += both if i == j else 2 * both
    return np.abs(coefs).sum(axis=1) - squares / 2


def infeasible(labels: np.ndarray, coefs: np.ndarray, C: float) -> str:
    """Why coefficients are no point of the dual at all; "" if they are one."""
    if not np.isfinite(coefs).all():
        return "coefficients are not finite"
    total = np.abs(coefs).sum(axis=1)
    if (total == 0).any():
        return "a problem without support vectors"
    if np.abs(coefs).max() > C * (1 + SLACK):
        return "a coefficient exceeds C"
    if (np.abs(coefs.sum(axis=1)) > SLACK * total).any():
        return "coefficients do not sum to 0"
    for label in np.unique(labels):
        mine = coefs[:, labels == label]
        if (np.minimum(mine.max(axis=1), -mine.min(axis=1)) > SLACK * C).any():
            return "coefficients of one class have both signs"
    return ""
