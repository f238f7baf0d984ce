"""The cache policies: what is stored, and what has to go.

Without a budget: "keep" everything, or "distill" (the paper's variable cache). With one: "margin"
(the paper's fixed cache), "random", "forgetron", "projectron".

With "margin" and "random" a full cache loses an example before the step is chosen, and the step is
then that of the vectors without it. The forgetron's proof needs the step to be that of the vectors
that erred, so there, as in its paper, the removal comes after; the projectron removes nothing.

To add a policy: its functions here, a number and a name in `arrays`, and its place in the walk.
"""

from __future__ import annotations

import numpy as np

from largemargin.online.arrays import HARM, LONGEST, NEWEST, RIVALS, SIZE, STEPS, TOP
from largemargin.online.cache import fill_slack, is_redundant, largest, oldest, remove, scale_row
from largemargin.online.compiled import add, compiled, dot, once
from largemargin.online.rules import joint

ROUNDING = 1e-14  # of the numbers that a slack is the difference of: more than it can be off by
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
SHARE = 15.0 / 32.0


@once()
def distill(learner, cache, rows, slack, room):
    """The variable-size cache of Crammer, Kandola & Singer (2003).

    After an insertion, while some stored example i would still be classified with the margin if it
    were not there, y_i (w - alpha_i y_i x_i).x_i >= margin, take it out of w and drop it. The paper
    leaves the order open; here the largest such margin goes first, the oldest of equals. Vectors
    are separable with margin gamma and of norm at most R: then no more than (R^2 + 2 margin) /
    gamma^2 examples are stored.
    """
    while True:
        top = learner.tally[TOP]
        fill_slack(learner.rule, learner.settings, cache, rows, top, slack)
        slot = largest(slack, cache, top)
        if slot < 0 or not is_redundant(
            learner.rule, learner.settings, len(rows.scale), slack[slot]
        ):
            return
        remove(learner, cache, rows, slot, slack, room)


@once()
def choose_by_margin(learner, cache, rows, work):
    """The fixed-size cache of Crammer, Kandola & Singer (2003).

    When it is full, the example goes that would be classified best without itself:
    argmax_i y_i (w - alpha_i y_i x_i).x_i, the oldest of equals.

    Where classes are compared, that is nearly always the one that came last, so the scores o_ri of
    a stored example i by all but itself and that one, the newest, seldom change. With c_r for the
    coefficients of the newest and v_i = k(x_newest, x_i), i clears its margin by

        slack_i = o_yi + c_y v_i - max_{r != y} (o_ri + c_r v_i) - margin .

    It is computed only where two bounds are not below the largest that was found: one by what the
    newest can change at all, one with two of the terms of the maximum, those of the best class by
    o, the rival of i, and of the class that the newest speaks for.

    The slot of the example that goes from a full cache.
    """
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


@compiled()
def choose_at_random(state, size):
    """Random removal (Cesa-Bianchi & Gentile 2006): when the cache is full, any example goes.

    The generator is SplitMix64, whose state is one number, so that a saved model goes on drawing
    where it stopped.

    A slot of a full cache; `state` goes on by one draw.
    """
    state[0] += _GOLDEN
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    bits = (bits ^ (bits >> np.uint64(31))) >> np.uint64(32)
    return np.int64((bits * np.uint64(size)) >> np.uint64(32))


@once()
def count_step(tuning, steps, square):
    """Note a step: its length, and the longest example."""
    tuning[LONGEST] = max(tuning[LONGEST], square)
    if tuning[LONGEST] > 0.0:
        total = 0.0
        for r in range(len(steps)):
            total += steps[r] * steps[r] * (square / tuning[LONGEST])
        tuning[STEPS] += np.sqrt(total)


@compiled()
def largest_factor(quadratic, linear, allowed):
    """The largest phi in (0, 1] with quadratic phi^2 + linear phi <= allowed; linear >= 0."""
    if quadratic + linear <= allowed:
        return 1.0
    root = np.sqrt(max(linear * linear + 4.0 * quadratic * allowed, 0.0))
    return 2.0 * allowed / (linear + root) if linear + root > 0.0 else 1.0


@once()
def forget(learner, cache, rows, left, values):
    """The self-tuned Forgetron (Dekel, Shalev-Shwartz & Singer 2008).

    When a step leaves one example too many, all of w is multiplied by phi <= 1 and then the oldest
    is dropped: by then it has been shrunk so often that dropping it does little harm. The harm of
    dropping an example of coefficient sigma, w having the score mu on it in the direction of its
    label, is

        Psi(phi) = (phi sigma)^2 + 2 phi sigma - 2 phi^2 sigma mu

    and phi is the largest in (0, 1] that keeps the sum of all harm done within 15/32 of the number
    of steps made, which is what their mistake bound needs. The paper has two classes, steps of
    length 1 and k(x, x) <= 1. Here, for the vectors of all classes together, a step counts as its
    length, sigma is the length of what is dropped, sigma mu its inner product with w, and lengths
    are in units of the longest example so far; for two classes, the perceptron and examples of norm
    1 it is theirs.

    Shrink all vectors and drop the oldest example; `left` and `values` are room.
    """
    tally, tuning = learner.tally, learner.tuning
    top = tally[TOP]
    slot = oldest(cache, top)
    unit = tuning[LONGEST] if tuning[LONGEST] > 0.0 else 1.0
    square, agreement = 0.0, 0.0
    for r in range(len(rows.scale)):
        raw = rows.coefs[r, slot]
        coef = raw * rows.scale[r]
        score = rows.scale[r] * (rows.others[r, slot] + raw * cache.squares[slot])
        square += coef * coef * (cache.squares[slot] / unit)
        agreement += coef * (score / unit)
    quadratic, linear = square - 2.0 * agreement, 2.0 * np.sqrt(max(square, 0.0))
    allowed = max(SHARE * tuning[STEPS] - tuning[HARM], 0.0)
    phi = largest_factor(quadratic, linear, allowed)
    tuning[HARM] += phi * (phi * quadratic + linear)
    for r in range(len(rows.scale)):
        scale_row(rows, r, phi, top)
        rows.norms[r] *= phi * phi
    remove(learner, cache, rows, slot, left, values)


@compiled()
def project(inverse, values, size, square, weights):
    """Fill in the weights d and return |x - P x|^2."""
    for j in range(size):
        weights[j] = dot(inverse[j], values, size)
    return max(square - dot(weights, values, size), 0.0)


@compiled()
def grow_inverse(inverse, weights, size, residual):
    """The inverse with the next example, whose weights and residual `project` gave."""
    for i in range(size):
        for j in range(i + 1):  # the same both ways to the last bit
            inverse[i, j] += weights[i] * weights[j] / residual
            inverse[j, i] = inverse[i, j]
        inverse[i, size] = inverse[size, i] = -weights[i] / residual
    inverse[size, size] = 1.0 / residual


@once()
def add_projection(learner, cache, rows, steps, values, square, accuracy, weights):
    """The Projectron (Orabona, Keshet & Caputo 2009), with a hard budget.

    A step w += tau x is made with x itself, which is stored, as long as there is room; and with the
    projection of x onto the span of the stored examples, P x = sum_j d_j x_j, once there is none
    (their algorithm with the threshold 0 until the cache is full and infinite from then on) or if x
    is in the span anyway, to the accuracy of the kernel values. With K the Gram matrix of the cache
    and k the values of x against it,

        d = K^-1 k,    |x - P x|^2 = x.x - k.d

    K^-1 grows by a row and a column with each example that is stored; since only examples clear of
    the span are, its entries stay bounded.

    w_r += steps_r P x, and True; or False if x is to be stored, for which the inverse is ready.

    `accuracy` is the square root of the rounding of kernel values; `weights` is room.
    """
    size = learner.tally[SIZE]
    residual = project(cache.inverse, values, size, square, weights)
    if size < learner.budget and residual > accuracy * abs(square):
        grow_inverse(cache.inverse, weights, size, residual)
        return False
    for r in range(len(steps)):
        if steps[r] != 0.0:
            coef = steps[r] / rows.scale[r]
            add(rows.coefs[r], coef, weights, size)
            add(rows.debts[r], coef * rows.passed[r], weights, size)
            add(rows.others[r], coef, values, size)  # K d = k
    return True
