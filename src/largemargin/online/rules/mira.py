"""MIRA, the margin infused relaxed algorithm (Crammer & Singer 2003), with margin beta.

If m_y.x - max_{r != y} m_r.x <= beta, the rows move by m_r += tau_r x, where tau solves

    minimise    1/2 sum_r |m_r + tau_r x|^2    up to a constant and with the margin beta asked for:
                1/2 A sum_r tau_r^2 + sum_r B_r tau_r,    A = x.x,   B_r = m_r.x + beta [r != y]
    subject to  tau_r <= [r = y],   sum_r tau_r = 0.

With p = e_y - tau this is the projection of B/A + e_y onto the simplex: p >= 0, sum p = 1, so
p_r = max(B_r/A + [r = y] - theta, 0) for the theta that makes the sum 1.
"""

from __future__ import annotations

import numpy as np

from largemargin.online.compiled import compiled


@compiled()
def step(beta, scores, label, square, steps):
    """The step for more than two classes; False if it is zero."""
    best = -np.inf
    for r in range(len(scores)):
        if r != label and scores[r] > best:
            best = scores[r]
    if square <= 0.0 or scores[label] - best >= beta:
        return False
    # Everything relative to the best other class, in units of A: p_r > 0 only if its value exceeds
    # theta, and theta < the largest value <= theta + 1. Averages over those that are left rise to
    # theta from below as the others are dropped (Michelot).
    for r in range(len(scores)):
        steps[r] = (scores[r] - best) / square
    steps[label] += 1.0 - beta / square
    theta = max(steps[label], 0.0) - 1.0
    while True:
        total, count = -1.0, 0
        for r in range(len(scores)):
            if steps[r] > theta:
                total += steps[r]
                count += 1
        mean = total / count
        if mean <= theta:
            break
        theta = mean
    moved = 0.0
    for r in range(len(scores)):
        if r != label:
            steps[r] = -max(steps[r] - theta, 0.0)
            moved -= steps[r]
    steps[label] = moved
    return moved > 0.0


@compiled()
def signed_step(beta, sign, score, square):
    """The same problem for the two rows -w and w: tau_y = clip((beta - 2 y w.x) / 2A, 0, 1)."""
    missing = beta - 2.0 * sign * score
    if square <= 0.0 or missing <= 0.0:
        return 0.0
    return sign * min(missing / (2.0 * square), 1.0)
