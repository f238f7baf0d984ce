"""The step rules: when an example is a margin error, and what is then done to the vectors.

    w_r <- shrinks_r w_r + steps_r x

A rule gets the scores of the example and fills in `steps` and `shrinks`; a step of zero everywhere
changes nothing. With two classes there is one vector, positive for the second class. With more
there is one a class. The aggressive perceptron and MIRA compare classes with each other: the margin
is that of the true class over the best other. ROMMA and ALMA are algorithms for two classes, and
here each vector is one of them, its class against the rest, all over one cache; an example is a
margin error if it is one of any vector.

To add a rule: a file here with its `step`, a number below, and a line in each function.
"""

from __future__ import annotations

import numpy as np

from largemargin.online.compiled import compiled, once
from largemargin.online.rules import alma, mira, perceptron, romma

PERCEPTRON, MIRA, ROMMA, ALMA = range(4)
RULES = {"AggressivePerceptron": PERCEPTRON, "MIRA": MIRA, "ROMMA": ROMMA, "ALMA": ALMA}


@compiled()
def sign_of(label, r, n_rows):
    """The label of an example in the problem of vector r."""
    return 1.0 if label == (1 if n_rows == 1 else r) else -1.0


@compiled()
def joint(rule, n_rows):
    """Whether the vectors are compared with each other."""
    return n_rows > 1 and rule in (PERCEPTRON, MIRA)


@compiled()
def keeps_norms(rule):
    return rule in (ROMMA, ALMA)


@compiled()
def threshold(rule, settings, n_rows, update):
    """What the score of an example must exceed, times its sign or over the best other."""
    if rule == MIRA and n_rows == 1:
        return 0.5 * settings[0]  # the margin between the two vectors w and -w is twice the score
    if rule == ALMA:
        return alma.threshold(settings, update)
    return settings[0]


@compiled()
def length(rule, square):
    """What scores are divided by before they are compared with the threshold."""
    return np.sqrt(max(square, 0.0)) if rule == ALMA else 1.0


@compiled()
def lead(scores, label):
    """The score of the true class over the best other; for one vector, the signed score."""
    if len(scores) == 1:
        return scores[0] if label == 1 else -scores[0]
    best = -np.inf
    for r in range(len(scores)):
        if r != label and scores[r] > best:
            best = scores[r]
    return scores[label] - best


@once()
def is_margin_error(rule, settings, updates, scores, label, square, ahead):
    """Whether an example is one, by its scores and the lead that they are."""
    n_rows = len(scores)
    if joint(rule, n_rows):
        return ahead <= settings[0]
    norm = length(rule, square)
    for r in range(n_rows):
        margin = sign_of(label, r, n_rows) * scores[r]
        bound = norm * threshold(rule, settings, n_rows, updates[r])
        # a step of aggressive ROMMA ends at the threshold
        strict = rule == ROMMA and bound > 0
        if margin < bound or (margin == bound and not strict):
            return True
    return False


@once()
def choose_step(rule, settings, norms, updates, scores, label, square, steps, shrinks):
    """Fill in steps and shrinks; whether anything is to be done."""
    n_rows = len(scores)
    for r in range(n_rows):
        steps[r], shrinks[r] = 0.0, 1.0
    if joint(rule, n_rows):
        if rule == PERCEPTRON:
            return perceptron.step(scores, label, steps)
        return mira.step(settings[0], scores, label, square, steps)
    moved = False
    for r in range(n_rows):
        sign = sign_of(label, r, n_rows)
        if rule == PERCEPTRON:
            steps[r] = sign
        elif rule == MIRA:
            steps[r] = mira.signed_step(settings[0], sign, scores[r], square)
        elif rule == ROMMA:
            steps[r], shrinks[r] = romma.step(settings, sign, scores[r], norms[r], square)
        else:
            steps[r], shrinks[r] = alma.step(
                settings, sign, scores[r], norms[r], updates[r], square
            )
        moved |= steps[r] != 0.0
    return moved
