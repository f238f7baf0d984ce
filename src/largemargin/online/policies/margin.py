"""The fixed-size cache of Crammer, Kandola & Singer (2003).

When it is full, the example goes that would be classified best without itself:
argmax_i y_i (w - alpha_i y_i x_i).x_i, the oldest of equals.
"""

from __future__ import annotations

from largemargin.online.arrays import TOP
from largemargin.online.compiled import once
from largemargin.online.slack import fill_slack
from largemargin.online.slots import largest


@once()
def choose(learner, cache, rows, slack):
    top = learner.tally[TOP]
    fill_slack(learner.rule, learner.settings, cache, rows, top, slack)
    return largest(slack, cache, top)
