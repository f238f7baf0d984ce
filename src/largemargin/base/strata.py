"""Rows drawn by strata: of every class its share."""

from __future__ import annotations

import numpy as np


def held_out(y: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the rows to train on, and of those held out, each in their order.

    Of every class its share is held out, to the nearest row, at least one, and not all.

    >>> rows, others = held_out(np.array([0] * 8 + [1] * 4), 0.25, seed=0)
    >>> len(rows), len(others)
    (9, 3)
    """
    classes, numbers = np.unique(y, return_inverse=True)
    drawn, held = np.random.default_rng(seed), np.zeros(len(y), bool)
    for k in range(len(classes)):
        rows = drawn.permutation(np.flatnonzero(numbers == k))
        held[rows[: min(max(1, round(fraction * len(rows))), len(rows) - 1)]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)
