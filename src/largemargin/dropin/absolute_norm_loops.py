"""The compiled loop of coordinate descent for `penalty="l1"`."""

from __future__ import annotations

from numba import njit

SUFFICIENT = 0.01  # of the decrease that the quadratic model promises, a step must keep this share
HALVINGS = 30


@njit(cache=True, nogil=True)
def descend(values, rows, ends, signs, costs, w, slack):
    """One pass over the columns: each weight goes towards its best value, the others kept.

    `slack` is 1 - y_i w.x_i, which is kept up to date with w.
    """
    for j in range(len(w)):
        first, last = ends[j], ends[j + 1]
        slope, bend = 0.0, 1e-12
        for k in range(first, last):
            i = rows[k]
            if slack[i] > 0:
                pulled = costs[i] * values[k]
                slope -= 2 * pulled * signs[i] * slack[i]
                bend += 2 * pulled * values[k]
        step = best_step(w[j], slope, bend)
        if step == 0.0:
            continue
        promised = slope * step + abs(w[j] + step) - abs(w[j])
        for _ in range(HALVINGS):
            gain = abs(w[j] + step) - abs(w[j])
            for k in range(first, last):
                i = rows[k]
                old = max(0.0, slack[i])
                new = max(0.0, slack[i] - step * signs[i] * values[k])
                gain += costs[i] * (new - old) * (new + old)
            if gain <= SUFFICIENT * promised:
                break
            step /= 2
            promised /= 2
        else:
            continue
        w[j] += step
        for k in range(first, last):
            slack[rows[k]] -= step * signs[rows[k]] * values[k]


@njit(cache=True, nogil=True)
def best_step(weight, slope, bend):
    """The d that minimises slope d + bend/2 d^2 + |weight + d|."""
    if slope + 1 <= bend * weight:
        return -(slope + 1) / bend
    if slope - 1 >= bend * weight:
        return -(slope - 1) / bend
    return -weight
