"""Compiled: the average of the vectors over the stream, over no more examples than are stored.

The sum over the stream of the coefficients of a stored example is coefs * passed - debts. When the
example is removed, its part of the sum would be lost; instead it is handed over to the stored
examples that are most like it, x ~ sum_j d_j x_j, by matching pursuit: again and again the
projection of what is left onto the one stored example that takes most of it. One set of weights d
serves all vectors. With no removals the average is exact.
"""

from __future__ import annotations

from largemargin.online.among import stored_values
from largemargin.online.compiled import part

MOST = 16  # stored examples that take a part
ENOUGH = 1e-4  # of |x|^2, below which a part is not worth it


@part()
def hand_over(cache, rows, slot, top, left, values):
    """Give the averaged part of one stored example to the others; `left` and `values` are room."""
    stored_values(cache, slot, top, left)  # inner products of the stored with what is left of x
    for _ in range(MOST):
        best, gain = -1, ENOUGH * cache.squares[slot]
        for j in range(top):
            if cache.positions[j] < 0 or j == slot or cache.squares[j] <= 0.0:
                continue
            taken = left[j] * left[j] / cache.squares[j]
            older = best >= 0 and cache.positions[j] < cache.positions[best]
            if taken > gain or (taken == gain and older):
                best, gain = j, taken
        if best < 0:
            return
        weight = left[best] / cache.squares[best]
        stored_values(cache, best, top, values)
        for j in range(top):
            left[j] -= weight * values[j]
        for r in range(len(rows.scale)):
            total = rows.coefs[r, slot] * rows.passed[r] - rows.debts[r, slot]
            rows.debts[r, best] -= weight * total
