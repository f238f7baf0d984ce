"""The fixed-size cache of Crammer, Kandola & Singer (2003).

When it is full, the example goes that would be classified best without itself:
argmax_i y_i (w - alpha_i y_i x_i).x_i, the oldest of equals.

Where classes are compared, that is nearly always the one that came last, so the scores o_ri of a
stored example i by all but itself and that one, the newest, seldom change. With c_r for the
coefficients of the newest and v_i = k(x_newest, x_i), i clears its margin by

    slack_i = o_yi + c_y v_i - max_{r != y} (o_ri + c_r v_i) - margin .

It is computed only where two bounds are not below the largest that was found: one by what the
newest can change at all, one with two of the terms of the maximum, those of the best class by o,
the rival of i, and of the class that the newest speaks for.
"""

from __future__ import annotations

import numpy as np

from largemargin.online.arrays import NEWEST, RIVALS, TOP
from largemargin.online.cache import largest
from largemargin.online.compiled import compiled, once
from largemargin.online.rules import joint
from largemargin.online.slack import fill_slack

ROUNDING = 1e-14  # of the numbers that a slack is the difference of: more than it can be off by


@once()
def choose(learner, cache, rows, work):
    """The slot of the example that goes from a full cache."""
    top, newest, margin = learner.tally[TOP], learner.tally[NEWEST], learner.settings[0]
    if newest < 0 or not joint(learner.rule, len(rows.scale)):
        fill_slack(learner.rule, learner.settings, cache, rows, top, work.slack)
        return largest(work.slack, cache, top)
    if work.stands[RIVALS]:
        _find_rival(newest, cache.labels[newest], rows.others, work.own, work.best)
    else:
        _find_rivals(
            cache.labels[:top], rows.others, margin, work.own, work.best, work.rivals, work.without
        )
        work.stands[RIVALS] = True
    coefs = work.steps
    for r in range(len(coefs)):
        coefs[r] = rows.coefs[r, newest]
    return _largest(
        newest, cache.labels[:top], cache.positions, rows.others, coefs, cache.gram[newest], margin,
        work.own, work.best, work.rivals, work.without,
    )  # fmt: skip


@once()
def _find_rival(j, label, others, own, best):
    """The same as below for the newest, of which no more is needed."""
    own[j], best[j] = others[label, j], -np.inf
    for r in range(len(others)):
        if r != label:
            best[j] = max(best[j], others[r, j])


@compiled()
def _find_rivals(labels, others, margin, own, best, rivals, without):
    """Of the stored examples the score of the true class, the best other, which that is, and the
    slack without the newest, or a little more."""
    n = len(labels)
    for j in range(n):
        own[j] = others[labels[j], j]
        best[j] = -np.inf
    for r in range(len(others)):
        row = others[r]
        for j in range(n):
            score = row[j] if labels[j] != r else -np.inf
            best[j] = score if score > best[j] else best[j]
    for r in range(len(others)):  # in a loop of its own, which can be vectorised
        row = others[r]
        for j in range(n):
            found = (row[j] == best[j]) & (labels[j] != r)
            rivals[j] = r if found else rivals[j]
    for j in range(n):
        without[j] = own[j] - best[j] - margin
        without[j] += ROUNDING * (abs(own[j]) + abs(best[j]) + margin)


@compiled()
def _largest(
    newest, labels, positions, others, coefs, values, margin, own, best, rivals, without
):  # fmt: skip
    chosen, most = newest, own[newest] - best[newest] - margin
    low, high = np.min(coefs), np.max(coefs)
    reach = high - low + ROUNDING * (abs(low) + abs(high))
    label = labels[newest]
    for j in range(len(labels)):
        if without[j] + reach * abs(values[j]) < most or j == newest:
            continue
        score = own[j] + coefs[labels[j]] * values[j]
        rival = best[j] + coefs[rivals[j]] * values[j]
        if labels[j] != label:
            rival = max(rival, others[label, j] + coefs[label] * values[j])
        if score - rival - margin < most:
            continue
        for r in range(len(coefs)):
            if r != labels[j]:
                rival = max(rival, others[r, j] + coefs[r] * values[j])
        slack = score - rival - margin
        if slack > most or (slack == most and positions[j] < positions[chosen]):
            chosen, most = j, slack
    return chosen
