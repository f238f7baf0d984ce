"""Regions and lines of functions on a grid, as paths of SVG.

Values are linear between the points of the grid: so lines are found in its cells (marching
squares), and regions row by row, each from crossing to crossing.
"""

from __future__ import annotations

import numpy as np

Edge = tuple[tuple[int, int], tuple[int, int]]  # two neighbours of the grid


def region_path(values: np.ndarray, xs: np.ndarray, ys: np.ndarray) -> str:
    """Where values are positive: a strip for each run of such values in a row of the grid.

    >>> values = np.array([[-1.0, 1.0], [-1.0, 1.0]])
    >>> region_path(values, np.array([0.0, 2.0]), np.array([0.0, 4.0]))
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
            parts.append(f"M{left:.1f} {edges[r]:.1f}H{right:.1f}V{edges[r + 1]:.1f}H{left:.1f}Z")
    return "".join(parts)


def _crossing(row: np.ndarray, xs: np.ndarray, c: int) -> float:
    """Where a row of values changes its sign before position c; at the ends of the row, there."""
    if c in (0, len(row)):
        return float(xs[min(c, len(row) - 1)])
    return float(xs[c - 1] + (xs[c] - xs[c - 1]) * row[c - 1] / (row[c - 1] - row[c]))


def line_path(values: np.ndarray, xs: np.ndarray, ys: np.ndarray) -> str:
    """Where values are zero: a segment for each cell of the grid that the line passes, joined from
    cell to cell.

    >>> line_path(np.array([[-1.0, 1.0], [-1.0, 3.0]]), np.array([0.0, 4.0]), np.array([0.0, 2.0]))
    'M2.0 0.0L1.0 2.0'
    """
    above = values > 0
    count = above[1:, 1:].astype(int) + above[1:, :-1] + above[:-1, 1:] + above[:-1, :-1]
    next_to: dict[Edge, list[Edge]] = {}
    for r, c in np.argwhere((count > 0) & (count < 4)).tolist():
        crossed = _crossed(above, r, c)
        for one, other in zip(crossed[::2], crossed[1::2], strict=True):
            next_to.setdefault(one, []).append(other)
            next_to.setdefault(other, []).append(one)
    lines = []
    while next_to:  # ends of lines before closed ones, which begin anywhere
        start = next((edge for edge, others in next_to.items() if len(others) == 1), None)
        lines.append(_followed(next_to, start or next(iter(next_to))))
    return "".join(
        "M" + "L".join("{:.1f} {:.1f}".format(*_point(values, xs, ys, edge)) for edge in line)
        for line in lines
    )


def _followed(next_to: dict[Edge, list[Edge]], edge: Edge) -> list[Edge]:
    """A line from an edge to its end, taken out of `next_to`."""
    line = [edge]
    while others := next_to.get(edge):
        following = others.pop()
        next_to[following].remove(edge)
        for done in (edge, following):
            if not next_to[done]:
                del next_to[done]
        edge = following
        line.append(edge)
    return line


def _crossed(above: np.ndarray, r: int, c: int) -> list[Edge]:
    """The edges of a cell that the line crosses: two, or four."""
    corners = [(r, c), (r, c + 1), (r + 1, c + 1), (r + 1, c)]
    pairs = zip(corners, corners[1:] + corners[:1], strict=True)
    return [(min(a, b), max(a, b)) for a, b in pairs if above[a] != above[b]]


def _point(values: np.ndarray, xs: np.ndarray, ys: np.ndarray, edge: Edge) -> tuple[float, float]:
    """Where the line crosses an edge."""
    (i, j), (k, m) = edge
    share = float(values[i, j] / (values[i, j] - values[k, m]))
    return float(xs[j] + share * (xs[m] - xs[j])), float(ys[i] + share * (ys[k] - ys[i]))
