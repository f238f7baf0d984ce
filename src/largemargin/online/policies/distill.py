"""The variable-size cache of Crammer, Kandola & Singer (2003).

After an insertion, while some stored example i would still be classified with the margin if it were
not there, y_i (w - alpha_i y_i x_i).x_i >= margin, take it out of w and drop it. The paper leaves
the order open; here the largest such margin goes first, the oldest of equals. Vectors are separable
with margin gamma and of norm at most R: then no more than (R^2 + 2 margin) / gamma^2 examples are
stored.
"""

from __future__ import annotations

from largemargin.online.arrays import TOP
from largemargin.online.cache import largest, remove
from largemargin.online.compiled import once
from largemargin.online.slack import fill_slack, is_redundant


@once()
def distill(learner, cache, rows, slack, room):
    while True:
        top = learner.tally[TOP]
        fill_slack(learner.rule, learner.settings, cache, rows, top, slack)
        slot = largest(slack, cache, top)
        if slot < 0 or not is_redundant(
            learner.rule, learner.settings, len(rows.scale), slack[slot]
        ):
            return
        remove(learner, cache, rows, slot, slack, room)
