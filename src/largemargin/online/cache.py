"""Compiled: what is done to the slots of the cache and the vectors over them.

Loops run over the slots up to the highest ever used. A free slot has coefficients of zero, and what
else is in it is not read.

What an example adds to the scores of the other stored ones may wait until the next one is stored:
with a fixed cache of compared classes it is nearly always gone by then, and nothing is to be done.
"""

from __future__ import annotations

import numpy as np

from largemargin.online.arrays import (
    FREE,
    INSERTIONS,
    KEEP,
    MARGIN,
    NEWEST,
    PROJECTRON,
    REMOVALS,
    SEEN,
    SIZE,
    TOP,
    removes,
)
from largemargin.online.compiled import add, compiled, once, part
from largemargin.online.rules import joint, keeps_norms, length, sign_of, threshold

# Of the factors; beyond, they are multiplied out. Closer bounds cost more, and wider ones digits of
# the average, which is a difference of sums of them.
SMALLEST, LARGEST = 1e-3, 1e3
MOST = 16  # stored examples that take a part
ENOUGH = 1e-4  # of |x|^2, below which a part is not worth it

_removes = compiled()(removes)


@part()
def stored_values(cache, slot, top, values):
    """Fill in those of one against all: of two, the later has them."""
    for j in range(top):
        values[j] = cache.gram[slot, j]
    for j in range(top):
        if cache.positions[j] > cache.positions[slot]:
            values[j] = cache.gram[j, slot]


@part()
def waits(learner, n_rows):
    """Whether what an example adds to the scores of the others waits for the next."""
    return learner.policy == MARGIN and joint(learner.rule, n_rows)


@once()
def insert(learner, cache, rows, source, label, square, values, raw, steps):
    """Store an example with the coefficients `steps` in the lowest free slot; its own kernel values
    are in that column of the block."""
    tally, policy = learner.tally, learner.policy
    slot = tally[FREE]
    tally[TOP] = max(tally[TOP], slot + 1)
    top = tally[TOP]
    cache.positions[slot] = tally[SEEN]
    cache.labels[slot] = label
    cache.squares[slot] = square
    cache.sources[slot] = source
    values[slot] = square
    if _removes(policy):
        add_newest(tally, cache, rows)
        for j in range(top):
            cache.gram[slot, j] = values[j]
    for r in range(len(steps)):
        coef = steps[r] / rows.scale[r]
        rows.coefs[r, slot] = coef
        if learner.averages:
            rows.debts[r, slot] = coef * rows.passed[r]
        if policy != KEEP:
            rows.others[r, slot] = raw[r]
            if policy == PROJECTRON and coef != 0.0:
                add(rows.others[r], coef, values, top)
    if _removes(policy):
        tally[NEWEST] = slot
        if not waits(learner, len(steps)):
            add_newest(tally, cache, rows)
    tally[INSERTIONS] += 1
    tally[SIZE] += 1
    free = top if tally[SIZE] == top else slot + 1
    while free < top and cache.positions[free] >= 0:
        free += 1
    tally[FREE] = free


@part()
def add_newest(tally, cache, rows):
    """Add to the scores of the other stored examples what the newest has left to add, if so."""
    slot = tally[NEWEST]
    if slot < 0:
        return
    for r in range(len(rows.scale)):
        coef, own = rows.coefs[r, slot], rows.others[r, slot]
        if coef != 0.0:
            add(rows.others[r], coef, cache.gram[slot], tally[TOP])
            rows.others[r, slot] = own
    tally[NEWEST] = -1


@part()
def remove(learner, cache, rows, slot, left, values):
    """Take a stored example out of the cache and out of every vector; `left` and `values` are
    room."""
    tally = learner.tally
    top = tally[TOP]
    if learner.averages:
        hand_over(cache, rows, slot, top, left, values)
    added = slot != tally[NEWEST]
    if added:
        stored_values(cache, slot, top, values)
    else:
        tally[NEWEST] = -1
    for r in range(len(rows.scale)):
        coef = rows.coefs[r, slot]
        rows.coefs[r, slot] = 0.0
        if learner.averages:
            rows.debts[r, slot] = 0.0
        if coef != 0.0 and added:
            add(rows.others[r], -coef, values, top)
            if keeps_norms(learner.rule):
                rows.norms[r] = squared_norm(learner.policy, cache, rows, r, top)
    cache.positions[slot] = -1
    tally[REMOVALS] += 1
    tally[SIZE] -= 1
    tally[FREE] = min(tally[FREE], slot)


@part()
def squared_norm(policy, cache, rows, r, top):
    """|w_r|^2 as the sum of coefficients times scores; summed anew it does not drift."""
    total = 0.0
    for j in range(top):
        coef = rows.coefs[r, j]
        if coef != 0.0:  # a free slot has none, and any score
            own = 0.0 if policy == PROJECTRON else coef * cache.squares[j]
            total += coef * (rows.others[r, j] + own)
    return max(rows.scale[r] * (rows.scale[r] * total), 0.0)


@part()
def scale_row(rows, r, factor, top):
    """w_r *= factor"""
    scale = rows.scale[r] * factor
    if SMALLEST < scale < LARGEST:
        rows.scale[r] = scale
        return
    coefs, debts, passed = rows.coefs[r], rows.debts[r], rows.passed[r]
    for j in range(top):
        debts[j] -= coefs[j] * passed
        coefs[j] *= scale
    for j in range(top):
        rows.others[r, j] *= scale
    rows.passed[r] = 0.0
    rows.scale[r] = 1.0


@part()
def oldest(cache, top):
    """The slot of the example that was stored first."""
    found = -1
    for j in range(top):
        if cache.positions[j] >= 0 and (found < 0 or cache.positions[j] < cache.positions[found]):
            found = j
    return found


@part(fastmath={"nnan", "nsz"})  # or the first loop is one comparison after the other
def largest(slack, cache, top):
    """The slot of the stored example with the largest slack; the oldest of equals."""
    positions = cache.positions
    best = -np.inf
    for j in range(top):
        best = max(best, slack[j] if positions[j] >= 0 else -np.inf)
    none = np.int64(2**62)
    first = none
    for j in range(top):
        first = min(first, positions[j] if positions[j] >= 0 and slack[j] == best else none)
    for j in range(top):
        if positions[j] == first:
            return j
    return -1


@part()
def hand_over(cache, rows, slot, top, left, values):
    """The average of the vectors over the stream, over no more examples than are stored.

    The sum over the stream of the coefficients of a stored example is coefs * passed - debts. When
    the example is removed, its part of the sum would be lost; instead it is handed over to the
    stored examples that are most like it, x ~ sum_j d_j x_j, by matching pursuit: again and again
    the projection of what is left onto the one stored example that takes most of it. One set of
    weights d serves all vectors. With no removals the average is exact.

    `left` and `values` are room.
    """
    stored_values(cache, slot, top, left)  # inner products of the stored with what is left of x
    for _ in range(MOST):
        best, gain = -1, ENOUGH * cache.squares[slot]
        for j in range(top):
            if cache.positions[j] < 0 or j == slot or cache.squares[j] <= 0.0:
                continue
            taken = left[j] * left[j] / cache.squares[j]
            older = best >= 0 and cache.positions[j] < cache.positions[best]
            if taken > gain or (taken == gain and older):
                best, gain = j, taken
        if best < 0:
            return
        weight = left[best] / cache.squares[best]
        stored_values(cache, best, top, values)
        for j in range(top):
            left[j] -= weight * values[j]
        for r in range(len(rows.scale)):
            total = rows.coefs[r, slot] * rows.passed[r] - rows.debts[r, slot]
            rows.debts[r, best] -= weight * total


@part()
def fill_slack(rule, settings, cache, rows, top, slack):
    """By how much each stored example would clear its margin without itself.

    With others_ri the score of example i by all stored examples but itself,

        vectors that are compared:   others_yi - max_{r != y} others_ri - margin
        one vector, or one against the rest:   min_r ( y_ri others_ri / |x_i| or 1 - threshold_r )

    An example is redundant if its slack is not negative: were it to come now, it would not be
    learned. (At a threshold of 0 the slack must be positive, since there the zero vector errs on
    everything.)
    """
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
