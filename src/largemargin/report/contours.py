"""Regions and lines of functions on a grid, as paths of SVG.

Values are linear between the points of the grid: so lines are found in its cells (marching
squares), and regions row by row, each from crossing to crossing.
"""

from __future__ import annotations

import numpy as np


def region_path(values: np.ndarray, xs: np.ndarray, ys: np.ndarray) -> str:
    """Where values are positive: a strip for each run of such values in a row of the grid.

    >>> region_path(np.array([[-1.0, 1.0], [-1.0, 1.0]]), np.array([0.0, 2.0]), np.array([0.0, 4.0]))
    'M1.0 0.0H2.0V2.0H1.0ZM1.0 2.0H2.0V4.0H1.0Z'
    """
    middles = (ys[1:] + ys[:-1]) / 2
    edges = np.concatenate([ys[:1], middles, ys[-1:]])
    parts = []
    for r, row in enumerate(values):
        inside = np.concatenate([[False], row > 0, [False]])
        changes = np.flatnonzero(inside[1:] != inside[:-1]).tolist()
        for first, end in zip(changes[::2], changes[1::2], strict=True):
            left, right = _crossing(row, xs, first), _crossing(row, xs, end)
            parts.append(
                f"M{left:.1f} {edges[r]:.1f}H{right:.1f}V{edges[r + 1]:.1f}H{left:.1f}Z"
            )
    return "".join(parts)


def _crossing(row: np.ndarray, xs: np.ndarray, c: int) -> float:
    """Where a row of values changes its sign before position c; at the ends of the row, there."""
    if c in (0, len(row)):
        return float(xs[min(c, len(row) - 1)])
    return float(xs[c - 1] + (xs[c] - xs[c - 1]) * row[c - 1] / (row[c - 1] - row[c]))


def line_path(values: np.ndarray, xs: np.ndarray, ys: np.ndarray) -> str:
    """Where values are zero: a segment for each cell of the grid that the line passes.

    >>> line_path(np.array([[-1.0, 1.0], [-1.0, 3.0]]), np.array([0.0, 4.0]), np.array([0.0, 2.0]))
    'M2.0 0.0L1.0 2.0'
    """
    above = values > 0
    count = above[1:, 1:].astype(int) + above[1:, :-1] + above[:-1, 1:] + above[:-1, :-1]
    parts = []
    for r, c in np.argwhere((count > 0) & (count < 4)).tolist():
        found = _crossings(values, xs, ys, r, c)
        for (x0, y0), (x1, y1) in zip(found[::2], found[1::2], strict=True):
            parts.append(f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}")
    return "".join(parts)


def _crossings(
    values: np.ndarray, xs: np.ndarray, ys: np.ndarray, r: int, c: int
) -> list[tuple[float, float]]:
    """Where the edges of a cell are crossed: twice, or four times."""
    corners = [(r, c), (r, c + 1), (r + 1, c + 1), (r + 1, c)]
    found = []
    for (i, j), (k, m) in zip(corners, corners[1:] + corners[:1], strict=True):
        a, b = values[i, j], values[k, m]
        if (a > 0) != (b > 0):
            share = float(a / (a - b))
            found.append(
                (float(xs[j] + share * (xs[m] - xs[j])), float(ys[i] + share * (ys[k] - ys[i])))
            )
    return found
