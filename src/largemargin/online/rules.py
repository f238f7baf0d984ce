"""Compiled: the step rules, which say when an example is a margin error and what is then done to
the weight vectors.

    w_r <- shrinks_r w_r + steps_r x

A rule gets the scores of the example and fills in `steps` and `shrinks`; a step of zero everywhere
changes nothing. With two classes there is one weight vector, positive for the second class. With
more there is one per class. The aggressive perceptron and MIRA compare classes with each other: the
margin is that of the true class over the best other. ROMMA and ALMA are algorithms for two classes,
and here each weight vector is one of them, its class against the rest, all over one cache; an
example is a margin error if it is one of any weight vector.

To add a rule: its step here, a line in each of the functions below the steps, and a number and a
name in `arrays`.
"""

from __future__ import annotations

import numpy as np

from largemargin.online.arrays import ALMA, MIRA, PERCEPTRON, ROMMA
from largemargin.online.compiled import compiled, once

ROMMA_PARALLEL = 1e-8  # ratio of q to |x|^2 |w|^2 below which a and b would be mostly rounding
ROMMA_LONGEST = 1e100  # value of |x|^2 |w|^2 past which a weight vector starts anew
MIRA_SMALL = 1e-10  # ratio of the margin to |x|^2 up to which the steps of MIRA may be as small
ROMMA_SHORTEST = 1e-300  # value of |x|^2 up to which x counts as zero: 1 / |x|^2 could overflow


@compiled()
def perceptron_step(scores, label, steps):
    """Fill in the step of the aggressive perceptron for more than two classes.

    (Krauth & Mezard 1987; Crammer, Kandola & Singer 2003.) An example that does not clear the
    margin moves the weight vectors by its whole length:

        two classes:   if y (w.x) <= margin:                      w += y x
        more:          if m_y.x - max_{r != y} m_r.x <= margin:   m_y += x,  m_s -= x

    with s the best other class, of equal ones the first.
    """
    best = 0 if label else 1
    for r in range(len(scores)):
        if r != label and scores[r] > scores[best]:
            best = r
    steps[label], steps[best] = 1.0, -1.0
    return True


@compiled()
def mira_step(beta, scores, label, square, steps):
    """Fill in the step of MIRA for more than two classes; False if it is zero.

    The margin infused relaxed algorithm (Crammer & Singer 2003), with margin beta. If
    m_y.x - max_{r != y} m_r.x <= beta, the weight vectors move by m_r += tau_r x, where tau solves

        minimise    1/2 A sum_r tau_r^2 + sum_r B_r tau_r,   A = x.x,  B_r = m_r.x + beta [r != y]
        subject to  tau_r <= [r = y],   sum_r tau_r = 0,

    which up to a constant is 1/2 sum_r |m_r + tau_r x|^2 with the margin beta asked for.

    With p = e_y - tau this is the projection of B/A + e_y onto the simplex: p >= 0, sum p = 1, so
    p_r = max(B_r/A + [r = y] - theta, 0) for the theta that makes the sum 1.
    """
    best = -np.inf
    for r in range(len(scores)):
        if r != label and scores[r] > best:
            best = scores[r]
    if square <= 0.0 or scores[label] - best >= beta:
        return False
    if beta <= MIRA_SMALL * square:
        return _small_mira_step(beta, scores, label, square, steps)
    # The values B_r/A + [r = y] are taken relative to the best other class. p_r > 0 only where the
    # value exceeds theta, and theta < the largest value <= theta + 1. Solving sum p = 1 over the
    # values that are left raises theta from below as the others are dropped (Michelot 1986).
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
def _small_mira_step(beta, scores, label, square, steps):
    """The same step where it may be so small that nothing of it would be left beside 1.

    With g_r = (m_r.x + beta - m_y.x) / A for the other classes, the step is tau_r = -max(g_r - phi,
    0) and tau_y what they give up. As long as tau_y <= 1, it is phi itself, phi = sum g_r / (n + 1)
    over the n classes with g_r > phi; else tau_y = 1 and phi = (sum g_r - 1) / n. Dropping classes
    from the sums raises phi from below, as above.
    """
    for r in range(len(scores)):
        steps[r] = (scores[r] + beta - scores[label]) / square
    steps[label] = -np.inf
    phi = 0.0
    while True:
        total, count = 0.0, 0
        for r in range(len(scores)):
            if steps[r] > phi:
                total += steps[r]
                count += 1
        raised = total / (count + 1)
        if raised > 1.0:
            raised = (total - 1.0) / count
        if not raised > phi:
            break
        phi = raised
    moved = 0.0
    for r in range(len(scores)):
        if r != label:
            steps[r] = -max(steps[r] - phi, 0.0)
            moved -= steps[r]
    steps[label] = moved
    return moved > 0.0


@compiled()
def mira_signed_step(beta, sign, score, square):
    """The step of MIRA for two classes, whose weight vectors are -w and w.

        tau_y = clip((beta - 2 y w.x) / 2A, 0, 1)

    That is the passive-aggressive step PA-I (Crammer et al. 2006) with C = 1 for the hinge loss
    max(0, beta/2 - y w.x).
    """
    missing = beta - 2.0 * sign * score
    if square <= 0.0 or missing <= 0.0:
        return 0.0
    return sign * min(missing / (2.0 * square), 1.0)


@compiled()
def romma_step(settings, sign, score, norm, square):
    """The step b and the factor a of ROMMA; settings[0] is 1 if it is aggressive and else 0.

    The relaxed online maximum margin algorithm (Li & Long 2002) takes the shortest w' with
    y w'.x >= 1 and w'.w >= |w|^2, on a mistake, y(w.x) <= 0; the aggressive one on a margin error,
    y(w.x) < 1. Both constraints are met with equality by

        w' = a w + b x,   a = (|x|^2 |w|^2 - y w.x) / q,   b = |w|^2 (y - w.x) / q,
        q = |x|^2 |w|^2 - (w.x)^2,

    unless y(w.x) >= |x|^2 |w|^2, when the second does not bind and w' = y x / |x|^2, as from w = 0.
    Where x and w point in the same or opposite directions, or contradictions in the data have made
    w longer than numbers can be, no w' meets both: it starts anew from y x / |x|^2.
    """
    aggressive = settings[0] > 0.0
    margin = sign * score
    if square <= ROMMA_SHORTEST or (margin >= 1.0 if aggressive else margin > 0.0):
        return 0.0, 1.0
    product = square * norm
    q = product - score * score
    if norm <= 0.0 or (aggressive and margin >= product) or q <= ROMMA_PARALLEL * product:
        return sign / square, 0.0
    a, b = (product - margin) / q, norm * (sign - score) / q
    if not square * (a * (a * norm + 2.0 * b * score) + b * (b * square)) < ROMMA_LONGEST:
        return sign / square, 0.0
    return b, a


@compiled()
def alma_threshold(settings, k):
    """What y w.x / |x| must exceed in step k; settings are (1 - alpha) B and C."""
    return settings[0] / np.sqrt(k)


@compiled()
def alma_step(settings, sign, score, norm, k, square):
    """The step and the factor of ALMA_2(alpha; B, C).

    The approximate large margin algorithm (Gentile 2001), with xh = x/|x| and k = 1 at first:

        if y w.xh <= (1 - alpha) B / sqrt(k):
            w' = w + C / sqrt(k) y xh,   w = w' / max(1, |w'|),   k += 1
    """
    length = np.sqrt(max(square, 0.0))
    if length == 0.0 or sign * score > length * alma_threshold(settings, k):
        return 0.0, 1.0
    eta = settings[1] / np.sqrt(k)
    longer = norm + eta * (2.0 * sign * score / length + eta)
    shrink = 1.0 / np.sqrt(longer) if longer > 1.0 else 1.0
    return shrink * eta * sign / length, shrink


@compiled()
def sign_of(label, r, n_vectors):
    """The label, +1 or -1, of an example in the problem of weight vector r."""
    return 1.0 if label == (1 if n_vectors == 1 else r) else -1.0


@compiled()
def joint(rule, n_vectors):
    """Whether the weight vectors are compared with each other."""
    return n_vectors > 1 and rule in (PERCEPTRON, MIRA)


@compiled()
def keeps_norms(rule):
    """Whether the steps need |w|^2."""
    return rule in (ROMMA, ALMA)


@compiled()
def threshold(rule, settings, n_vectors, update):
    """What the score of an example must exceed, times its sign or over the best other."""
    if rule == MIRA and n_vectors == 1:
        return (
            0.5 * settings[0]
        )  # the margin between the two weight vectors w and -w is twice the score
    if rule == ALMA:
        return alma_threshold(settings, update)
    return settings[0]


@compiled()
def score_unit(rule, square):
    """What scores are divided by before they are compared with the threshold."""
    return np.sqrt(max(square, 0.0)) if rule == ALMA else 1.0


@compiled()
def lead(scores, label):
    """The score of the true class over the best other; the signed score for two classes."""
    if len(scores) == 1:
        return scores[0] if label == 1 else -scores[0]
    best = -np.inf
    for r in range(len(scores)):
        if r != label and scores[r] > best:
            best = scores[r]
    return scores[label] - best


@once()
def is_margin_error(rule, settings, updates, scores, label, square, ahead):
    """Whether an example is a margin error, by its scores and their `lead`, here `ahead`."""
    n_vectors = len(scores)
    if joint(rule, n_vectors):
        return ahead <= settings[0]
    norm = score_unit(rule, square)
    for r in range(n_vectors):
        margin = sign_of(label, r, n_vectors) * scores[r]
        bound = norm * threshold(rule, settings, n_vectors, updates[r])
        # a step of aggressive ROMMA ends at the threshold
        strict = rule == ROMMA and bound > 0
        if margin < bound or (margin == bound and not strict):
            return True
    return False


@once()
def choose_step(rule, settings, norms, updates, scores, label, square, steps, shrinks):
    """Fill in steps and shrinks; returns whether any step is not zero."""
    n_vectors = len(scores)
    for r in range(n_vectors):
        steps[r], shrinks[r] = 0.0, 1.0
    if joint(rule, n_vectors):
        if rule == PERCEPTRON:
            return perceptron_step(scores, label, steps)
        return mira_step(settings[0], scores, label, square, steps)
    moved = False
    for r in range(n_vectors):
        sign = sign_of(label, r, n_vectors)
        if rule == PERCEPTRON:
            steps[r] = sign
        elif rule == MIRA:
            steps[r] = mira_signed_step(settings[0], sign, scores[r], square)
        elif rule == ROMMA:
            steps[r], shrinks[r] = romma_step(settings, sign, scores[r], norms[r], square)
        else:
            steps[r], shrinks[r] = alma_step(
                settings, sign, scores[r], norms[r], updates[r], square
            )
        moved |= steps[r] != 0.0
    return moved
