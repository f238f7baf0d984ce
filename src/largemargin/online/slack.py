"""Compiled: by how much each stored example would clear its margin without itself.

With others_ri the score of example i by all stored examples but itself,

    vectors that are compared:   others_yi - max_{r != y} others_ri - margin
    one vector, or one against the rest:   min_r ( y_ri others_ri / |x_i| or 1 - threshold_r )

An example is redundant if its slack is not negative: were it to come now, it would not be learned.
(At a threshold of 0 the slack must be positive, since there the zero vector errs on everything.)
"""

from __future__ import annotations

import numpy as np

from largemargin.online.compiled import compiled, part
from largemargin.online.rules import joint, length, sign_of, threshold


@part()
def fill_slack(rule, settings, cache, rows, top, slack):
    n_rows = len(rows.scale)
    if joint(rule, n_rows):
        _fill_joint(settings[0], cache.labels, rows.others, rows.scale, top, slack)
        return
    for j in range(top):
        slack[j] = np.inf
    for r in range(n_rows):
        bound = threshold(rule, settings, n_rows, rows.updates[r])
        for j in range(top):
            score = rows.scale[r] * rows.others[r, j]
            norm = length(rule, cache.squares[j])
            clear = sign_of(cache.labels[j], r, n_rows) * score
            clear = (clear / norm if norm > 0.0 else 0.0) - bound
            slack[j] = min(slack[j], clear)


@compiled()
def _fill_joint(margin, labels, others, scale, top, slack):
    for j in range(top):
        slack[j] = -np.inf
    for r in range(len(scale)):
        row, factor = others[r], scale[r]
        for j in range(top):
            score = factor * row[j] if labels[j] != r else -np.inf
            slack[j] = score if score > slack[j] else slack[j]
    for j in range(top):
        own = labels[j]
        slack[j] = scale[own] * others[own, j] - slack[j] - margin


@compiled()
def is_redundant(rule, settings, n_rows, slack):
    return slack > 0.0 or (slack == 0.0 and settings[0] > 0.0)
