"""The compiled loop of the machine of Crammer & Singer."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def visit(values, columns, ends, squares, labels, costs, order, W, T, still):
    """Set the variables of each row, in this order, to their best values, the others kept; return
    which rows moved by more than the fraction `still` of their cost.
    """
    n_classes = W.shape[1]
    moved = np.zeros(len(labels), np.bool_)
    reach = np.empty(n_classes)
    scores = np.empty(n_classes)
    for i in order:
        square, label, cost = squares[i], labels[i], costs[i]
        scores[:] = 0.0
        for k in range(ends[i], ends[i + 1]):
            value = values[k]
            row = W[columns[k]]
            for r in range(n_classes):
                scores[r] += value * row[r]
        # t_r = min(bound_r, (level - scores_r) / square), and they sum to 0
        for r in range(n_classes):
            scores[r] -= square * T[i, r]
        scores[label] -= 1.0
        for r in range(n_classes):
            reach[r] = scores[r]
        reach[label] += square * cost
        level = level_of(reach, square * cost)
        for r in range(n_classes):
            bound = cost if r == label else 0.0
            new = min(bound, (level - scores[r]) / square)
            reach[r] = new - T[i, r]
            if abs(reach[r]) > still * cost:
                moved[i] = True
        if not moved[i]:
            continue
        for r in range(n_classes):
            T[i, r] += reach[r]
        for k in range(ends[i], ends[i + 1]):
            value = values[k]
            row = W[columns[k]]
            for r in range(n_classes):
                row[r] += value * reach[r]
    return moved


@njit(cache=True, nogil=True)
def level_of(reach, total):
    """The number b with sum_r max(0, reach_r - b) = total; `reach` is sorted, the largest first."""
    for r in range(1, len(reach)):
        value, place = reach[r], r
        while place > 0 and reach[place - 1] < value:
            reach[place] = reach[place - 1]
            place -= 1
        reach[place] = value
    summed = -total
    for r in range(len(reach)):
        summed += reach[r]
        if r + 1 == len(reach) or summed >= (r + 1) * reach[r + 1]:
            break
    return summed / (r + 1)
