"""The fixed-size cache of Crammer, Kandola & Singer (2003).

When it is full, the example goes that would be classified best without itself:
argmax_i y_i (w - alpha_i y_i x_i).x_i, the oldest of equals.

Where classes are compared, that is nearly always the one that came last, so the scores o_ri of a
stored example i by all but itself and that one, the newest, seldom change. With c_r for the
coefficients of the newest and v_i = k(x_newest, x_i), i clears its margin by

    slack_i = o_yi + c_y v_i - max_{r != y} (o_ri + c_r v_i) - margin .

Two terms of the maximum bound it from above: that of the rival of i, the best class by o, and that
of the class of the newest, the one that the newest speaks for. Slack is computed only where the
bound is not below the largest that was found.
"""

from __future__ import annotations

import numpy as np

from largemargin.online.arrays import NEWEST, TOP
from largemargin.online.compiled import compiled, once
from largemargin.online.rules import joint
from largemargin.online.slack import fill_slack
from largemargin.online.slots import largest


@once()
def choose(learner, cache, rows, work):
    """The slot of the example that goes from a full cache."""
    top, newest, margin = learner.tally[TOP], learner.tally[NEWEST], learner.settings[0]
    if newest < 0 or not joint(learner.rule, len(rows.scale)):
        fill_slack(learner.rule, learner.settings, cache, rows, top, work.slack)
        return largest(work.slack, cache, top)
    first, stop = (newest, newest + 1) if work.fresh[0] else (0, top)
    _find_rivals(
        first, cache.labels[first:stop], rows.others, work.own[first:stop], work.best[first:stop],
        work.rivals[first:stop],
    )  # fmt: skip
    work.fresh[0] = True
    coefs, values = work.steps, cache.gram[newest]
    for r in range(len(coefs)):
        coefs[r] = rows.coefs[r, newest]
    _bound(
        cache.labels[:top], cache.labels[newest], rows.others, coefs, values, margin, work.own,
        work.best, work.rivals, work.slack,
    )  # fmt: skip
    chosen, most = newest, work.own[newest] - work.best[newest] - margin
    for j in range(top):
        if work.slack[j] >= most and j != newest:
            slack = _slack(cache.labels[j], rows.others[:, j], coefs, values[j], margin)
            older = cache.positions[j] < cache.positions[chosen]
            if slack > most or (slack == most and older):
                chosen, most = j, slack
    return chosen


@compiled()
def _find_rivals(first, labels, others, own, best, rivals):
    """The score of the true class of the stored examples from the first on, as many as there are
    labels; the best other, and which that is."""
    n = len(labels)
    for j in range(n):
        own[j] = others[labels[j], first + j]
        best[j] = -np.inf
    for r in range(len(others)):
        row = others[r][first : first + n]
        for j in range(n):
            score = row[j] if labels[j] != r else -np.inf
            best[j] = score if score > best[j] else best[j]
    for r in range(len(others)):  # in a loop of its own, which can be vectorised
        row = others[r][first : first + n]
        for j in range(n):
            found = (row[j] == best[j]) & (labels[j] != r)
            rivals[j] = r if found else rivals[j]


@compiled()
def _bound(labels, label, others, coefs, values, margin, own, best, rivals, slack):
    """Bounds of the slack of the stored examples from above, rounded as the slack is; that of the
    newest, which has the `label`, is not one."""
    row, up = others[label], coefs[label]
    for j in range(len(labels)):
        value = np.float64(values[j])
        rival = best[j] + coefs[np.uint64(rivals[j])] * value
        risen = row[j] + up * value
        rival = risen if (labels[j] != label) & (risen > rival) else rival
        slack[j] = own[j] + coefs[np.uint64(labels[j])] * value - rival - margin


@compiled()
def _slack(label, others, coefs, value, margin):
    rival = -np.inf
    for r in range(len(coefs)):
        if r != label:
            rival = max(rival, others[r] + coefs[r] * value)
    return others[label] + coefs[label] * value - rival - margin
