"""Compiled loops of boosting: arithmetic on plain arrays.

A scan is `rows` from starts[s] to starts[s + 1], in the order of a feature; row i is written ~i,
which is negative, if there is a threshold after it. What a decision stump gets right there is the
weight of the heaviest class on the near side of the threshold and of the heaviest beyond.
"""

from __future__ import annotations

import math

from numba import njit


@njit(cache=True, nogil=True)
def most_right(rows, starts, labels, weights, totals, near, best):
    """best[s]: the largest weight that a threshold of scan s gets right; 0 without thresholds."""
    for s in range(len(starts) - 1):
        near[:] = 0.0
        most = 0.0
        for e in range(starts[s], starts[s + 1]):
            i = rows[e]
            if i >= 0:
                near[labels[i]] += weights[i]
            else:  # the last row of its value: only here can a threshold be
                near[labels[~i]] += weights[~i]
                right = _right(near, totals)
                if right > most:
                    most = right
        best[s] = most


@njit(cache=True, nogil=True)
def most_right_of_two(rows, starts, signed, totals, best):
    """`most_right` for two classes, from weights that are negative for class 0.

    With P the sum of such weights on the near side, class 1 there and 0 beyond gets totals[0] + P
    right, the opposite totals[1] - P, and one class on both sides its total.
    """
    least = max(totals[0], totals[1])
    for s in range(len(starts) - 1):
        near, low, high = 0.0, 0.0, 0.0
        any_threshold = False
        for e in range(starts[s], starts[s + 1]):
            i = rows[e]
            if i >= 0:
                near += signed[i]
            else:
                near += signed[~i]
                any_threshold = True
                # both answers are linear in P, so its extremes are all that is needed: no classes,
                # no comparison with the best stump inside the loop
                if near < low:
                    low = near
                if near > high:
                    high = near
        best[s] = max(least, totals[0] + high, totals[1] - low) if any_threshold else 0.0


@njit(cache=True, nogil=True)
def entry_reaching(rows, start, end, labels, weights, totals, near, wanted, last):
    """The first entry of a scan, or its last, whose threshold gets `wanted` right; -1 if none."""
    found = -1
    near[:] = 0.0
    for e in range(start, end):
        i = rows[e]
        if i >= 0:
            near[labels[i]] += weights[i]
        else:
            near[labels[~i]] += weights[~i]
            if _right(near, totals) >= wanted:
                found = e
                if not last:
                    break
    return found


@njit(cache=True, nogil=True)
def sums_above(values, threshold, labels, weights, sums):
    """sums[k]: the weight of class k among the rows whose value is above the threshold."""
    sums[:] = 0.0
    for i in range(len(values)):
        if values[i] > threshold:
            sums[labels[i]] += weights[i]


@njit(cache=True, nogil=True)
def _right(near, totals):
    """The weight that the best pair of classes gets right, from the weights on the near side."""
    inside, outside = near[0], totals[0] - near[0]
    for k in range(1, len(totals)):
        if near[k] > inside:
            inside = near[k]
        if totals[k] - near[k] > outside:
            outside = totals[k] - near[k]
    return inside + outside


@njit(cache=True, nogil=True)
def regularized_loss(alpha, z, w, weights, scores, influence, norm, C):
    """log J of AdaBoost_Reg, its regularized exponential loss, with the step alpha; and the
    derivative of log J.

    d/dalpha of |alpha| mu = (A + alpha w)^2 / (B + alpha) is u (2 w - u) with
    u = (A + alpha w) / (B + alpha), which is w where A = B = 0.
    """
    norm += alpha
    top, total, slope = -math.inf, 0.0, 0.0
    for i in range(len(z)):
        u = (influence[i] + alpha * w[i]) / norm if norm > 0 else w[i]
        exponent = -scores[i] - alpha * z[i] - C * norm * u * u
        # terms are relative to the largest exponent so far, so that none overflows: one pass
        if exponent > top:
            shrink = math.exp(top - exponent)
            total *= shrink
            slope *= shrink
            top = exponent
        term = weights[i] * math.exp(exponent - top)
        total += term
        slope -= term * (z[i] + C * u * (2 * w[i] - u))
    return top + math.log(total), slope / total
