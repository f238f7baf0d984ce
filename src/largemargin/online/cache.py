"""Compiled: insertion into the cache, eviction from it, and the weight vectors over its slots.

Loops run over the slots up to the highest ever used. A free slot has coefficients of zero, and what
else is in it is not read.

Leave-one-out scores say how a stored example would be classified without itself. What an example
adds to those of the others may be deferred until the next one is stored: with policy "margin" and
classes that are compared, it has nearly always been evicted by then, and nothing is to be done.
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
from largemargin.online.rules import joint, keeps_norms, score_unit, sign_of, threshold

# Bounds of the factors `scale`; beyond them a factor is multiplied out into the coefficients.
# Closer bounds cost more time, and wider ones digits of the average, a difference of sums of them.
SCALE_MIN, SCALE_MAX = 1e-3, 1e3
PURSUIT_STEPS = 16  # largest number of stored examples that an evicted one is handed over to
PURSUIT_GAIN = 1e-4  # least part of |x|^2 that a step of the matching pursuit must take

_removes = compiled()(removes)


@part()
def stored_values(cache, slot, top, values):
    """Kernel values of one entry against all; `gram` is lower triangular in order of arrival."""
    for j in range(top):
        values[j] = cache.gram[slot, j]
    for j in range(top):
        if cache.positions[j] > cache.positions[slot]:
            values[j] = cache.gram[j, slot]


@part()
def defers(learner, n_vectors):
    """Whether the newest entry's part of the leave-one-out scores of the others is deferred."""
    return learner.policy == MARGIN and joint(learner.rule, n_vectors)


@once()
def insert(learner, cache, weights, source, label, square, values, raw, steps):
    """Store an example with the coefficients `steps` in the lowest free slot.

    Column `source` of the block has the kernel values of later examples against it.
    """
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
        flush_newest(tally, cache, weights)
        for j in range(top):  # a row of the triangle: values against all that came before
            cache.gram[slot, j] = values[j]
    for r in range(len(steps)):
        coef = steps[r] / weights.scale[r]
        weights.coefs[r, slot] = coef
        if learner.averages:
            weights.average_offset[r, slot] = coef * weights.scale_sum[r]
        if policy != KEEP:
            weights.loo_scores[r, slot] = raw[r]
            if policy == PROJECTRON and coef != 0.0:
                add(weights.loo_scores[r], coef, values, top)
    if _removes(policy):
        tally[NEWEST] = slot
        if not defers(learner, len(steps)):
            flush_newest(tally, cache, weights)
    tally[INSERTIONS] += 1
    tally[SIZE] += 1
    free = top if tally[SIZE] == top else slot + 1
    while free < top and cache.positions[free] >= 0:
        free += 1
    tally[FREE] = free


@part()
def flush_newest(tally, cache, weights):
    """Flush the newest entry's deferred contribution to the leave-one-out scores of the others."""
    slot = tally[NEWEST]
    if slot < 0:
        return
    for r in range(len(weights.scale)):
        coef, own = weights.coefs[r, slot], weights.loo_scores[r, slot]
        if coef != 0.0:
            # nothing is newer, so that this row of the triangle has the values against all
            add(weights.loo_scores[r], coef, cache.gram[slot], tally[TOP])
            weights.loo_scores[r, slot] = own  # it leaves itself out
    tally[NEWEST] = -1


@part()
def remove(learner, cache, weights, slot, residual, values):
    """Evict a stored example: take it out of the cache and out of every weight vector.

    `residual` and `values` are scratch.
    """
    tally = learner.tally
    top = tally[TOP]
    if learner.averages:
        hand_over(cache, weights, slot, top, residual, values)
    added = slot != tally[NEWEST]
    if added:
        stored_values(cache, slot, top, values)
    else:  # its deferred part was never added: there is nothing to subtract
        tally[NEWEST] = -1
    for r in range(len(weights.scale)):
        coef = weights.coefs[r, slot]
        weights.coefs[r, slot] = 0.0
        if learner.averages:
            weights.average_offset[r, slot] = 0.0
        if coef != 0.0 and added:
            add(weights.loo_scores[r], -coef, values, top)
            if keeps_norms(learner.rule):
                weights.norms[r] = squared_norm(learner.policy, cache, weights, r, top)
    cache.positions[slot] = -1
    tally[REMOVALS] += 1
    tally[SIZE] -= 1
    tally[FREE] = min(tally[FREE], slot)


@part()
def squared_norm(policy, cache, weights, r, top):
    """|w_r|^2 as the sum of coefficients times scores; summed anew it does not drift."""
    total = 0.0
    for j in range(top):
        coef = weights.coefs[r, j]
        if coef != 0.0:  # a free slot has none, and any score
            own = 0.0 if policy == PROJECTRON else coef * cache.squares[j]
            total += coef * (weights.loo_scores[r, j] + own)
    return max(weights.scale[r] * (weights.scale[r] * total), 0.0)


@part()
def scale_vector(weights, r, factor, top):
    """w_r *= factor"""
    scale = weights.scale[r] * factor
    if SCALE_MIN < scale < SCALE_MAX:
        weights.scale[r] = scale
        return
    coefs, average_offset, scale_sum = (
        weights.coefs[r],
        weights.average_offset[r],
        weights.scale_sum[r],
    )
    for j in range(top):  # with scale_sum = 0, coefs * scale_sum - average_offset is as before
        average_offset[j] -= coefs[j] * scale_sum
        coefs[j] *= scale
    for j in range(top):
        weights.loo_scores[r, j] *= scale
    weights.scale_sum[r] = 0.0
    weights.scale[r] = 1.0


@part()
def oldest(cache, top):
    """The slot of the example that was stored first, for eviction first in, first out (FIFO)."""
    found = -1
    for j in range(top):
        if cache.positions[j] >= 0 and (found < 0 or cache.positions[j] < cache.positions[found]):
            found = j
    return found


@part(fastmath={"nnan", "nsz"})  # without these the first loop is not vectorised
def largest_surplus(surplus, cache, top):
    """The slot of the stored example with the largest surplus; the oldest of equals."""
    positions = cache.positions
    best = -np.inf
    for j in range(top):
        best = max(best, surplus[j] if positions[j] >= 0 else -np.inf)
    none = np.int64(2**62)
    first = none
    for j in range(top):  # two loops instead of one with branches: each is vectorised
        first = min(first, positions[j] if positions[j] >= 0 and surplus[j] == best else none)
    for j in range(top):
        if positions[j] == first:
            return j
    return -1


@part()
def hand_over(cache, weights, slot, top, residual, values):
    """Hand the part that an example has in the average over to the others, before it is evicted.

    The sum over the stream of the coefficients of a stored example is coefs * scale_sum -
    average_offset. When the example is evicted, its part of the sum would be lost; instead it goes
    to the stored examples that are most like it, x ~ sum_j d_j x_j, by matching pursuit: again and
    again the projection of what is left of x onto the one stored example that takes most of it.
    One set of coefficients d serves all weight vectors. The average needs no more examples than
    are stored, and with no evictions it is exact.

    `residual` and `values` are scratch.
    """
    # inner products of the stored examples with what is left of x, at first all of it
    stored_values(cache, slot, top, residual)
    for _ in range(PURSUIT_STEPS):
        best, gain = -1, PURSUIT_GAIN * cache.squares[slot]
        for j in range(top):
            if cache.positions[j] < 0 or j == slot or cache.squares[j] <= 0.0:
                continue
            taken = residual[j] * residual[j] / cache.squares[j]
            older = best >= 0 and cache.positions[j] < cache.positions[best]
            if taken > gain or (taken == gain and older):
                best, gain = j, taken
        if best < 0:
            return
        d = residual[best] / cache.squares[best]
        stored_values(cache, best, top, values)
        for j in range(top):
            residual[j] -= d * values[j]
        for r in range(len(weights.scale)):
            total = weights.coefs[r, slot] * weights.scale_sum[r] - weights.average_offset[r, slot]
            weights.average_offset[r, best] -= d * total


@part()
def fill_surplus(rule, settings, cache, weights, top, surplus):
    """Fill in by how much each stored example would clear its margin without itself.

    With o_ri the leave-one-out score of example i by weight vector r,

        weight vectors that are compared:   o_yi - max_{r != y} o_ri - margin
        two classes, or one against the rest:   min_r ( y_ri o_ri / (|x_i| or 1) - threshold_r )

    A surplus is what an example has over its margin; the slack xi of a support vector machine is
    what it lacks.
    """
    n_vectors = len(weights.scale)
    if joint(rule, n_vectors):
        _fill_joint(settings[0], cache.labels, weights.loo_scores, weights.scale, top, surplus)
        return
    for j in range(top):
        surplus[j] = np.inf
    for r in range(n_vectors):
        bound = threshold(rule, settings, n_vectors, weights.updates[r])
        for j in range(top):
            score = weights.scale[r] * weights.loo_scores[r, j]
            norm = score_unit(rule, cache.squares[j])
            clear = sign_of(cache.labels[j], r, n_vectors) * score
            clear = (clear / norm if norm > 0.0 else 0.0) - bound
            surplus[j] = min(surplus[j], clear)


@compiled()
def _fill_joint(margin, labels, loo_scores, scale, top, surplus):
    # first the best other class, in loops over slots, which are vectorised; then what is over it
    for j in range(top):
        surplus[j] = -np.inf
    for r in range(len(scale)):
        row, factor = loo_scores[r], scale[r]
        for j in range(top):
            score = factor * row[j] if labels[j] != r else -np.inf
            surplus[j] = score if score > surplus[j] else surplus[j]
    for j in range(top):
        own = labels[j]
        surplus[j] = scale[own] * loo_scores[own, j] - surplus[j] - margin


@compiled()
def is_redundant(rule, settings, n_vectors, surplus):
    """Whether a stored example with this surplus would not be learned if it came now.

    At a threshold of 0 the surplus must be positive, since there the zero vector errs on
    everything.
    """
    return surplus > 0.0 or (surplus == 0.0 and settings[0] > 0.0)
