"""Compiled: the eviction policies, which say what is stored and what is evicted.

Without a budget: "keep" everything, or "distill" (the paper's variable cache). With one: "margin"
(the paper's fixed cache), "random", "forgetron", "projectron".

With "margin" and "random" a full cache evicts an example before the step is chosen, and the step is
then that of the weight vectors without it. The forgetron's proof needs the step to be that of the
weight vectors that erred, so there, as in its paper, the eviction comes after the step. The
projectron evicts nothing.

To add a policy: its functions here, a number and a name in `arrays`, and its place in the loop.
"""

from __future__ import annotations

import numpy as np

from largemargin.online.arrays import HARM, LONGEST_SQUARE, NEWEST, RIVALS, SIZE, STEPS, TOP
from largemargin.online.cache import (
    fill_surplus,
    is_redundant,
    largest_surplus,
    oldest,
    remove,
    scale_vector,
)
from largemargin.online.compiled import add, compiled, dot, once
from largemargin.online.rules import joint

SURPLUS_ROUNDING = 1e-14  # bound of a surplus's error, relative to the numbers it is made of
FORGETRON_SHARE = 15.0 / 32.0  # bound of the harm per step, of the paper's mistake bound

# Constants of SplitMix64
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@once()
def distill(learner, cache, weights, surplus, scratch):
    """The variable-size cache of Crammer, Kandola & Singer (2003).

    After an insertion, while some stored example i would still be classified with the margin if it
    were not there, y_i (w - alpha_i y_i x_i).x_i >= margin, evict it. The paper leaves the order
    open; here the largest such margin goes first, the oldest of equals. If a unit vector separates
    the data with margin gamma, and R is the largest norm, then no more than (R^2 + 2 margin) /
    gamma^2 examples are stored.

    `surplus` and `scratch` are scratch.
    """
    while True:
        top = learner.tally[TOP]
        fill_surplus(learner.rule, learner.settings, cache, weights, top, surplus)
        slot = largest_surplus(surplus, cache, top)
        if slot < 0 or not is_redundant(
            learner.rule, learner.settings, len(weights.scale), surplus[slot]
        ):
            return
        remove(learner, cache, weights, slot, surplus, scratch)


@once()
def choose_by_margin(learner, cache, weights, work):
    """The slot that a full cache of fixed size evicts (Crammer, Kandola & Singer 2003).

    The example goes that would be classified best without itself, argmax_i y_i (w - alpha_i y_i
    x_i).x_i, the oldest of equals.

    Where classes are compared, that is nearly always the one that came last. So the leave-one-out
    scores o_ri of the stored examples, without the newest too, seldom change, and what follows from
    them alone is kept in `work`. With c_r for the coefficients of the newest and v_i = k(x_newest,
    x_i), example i clears its margin by

        surplus_i = o_yi + c_y v_i - max_{r != y} (o_ri + c_r v_i) - margin .

    The factors `scale` of `fill_surplus` are not in it: weight vectors that are compared are never
    scaled under this policy, so all of them are 1.

    It is computed only where two bounds are not below the largest that was found: one by what the
    newest can change at all, one with two of the terms of the maximum, those of the best class by
    o, the rival of i, and of the class that the newest speaks for.
    """
    top, newest, margin = learner.tally[TOP], learner.tally[NEWEST], learner.settings[0]
    if newest < 0 or not joint(learner.rule, len(weights.scale)):
        fill_surplus(learner.rule, learner.settings, cache, weights, top, work.surplus)
        return largest_surplus(work.surplus, cache, top)
    if work.valid[RIVALS]:  # nothing but the newest has changed
        _find_rival(newest, cache.labels[newest], weights.loo_scores, work.own, work.best)
    else:
        _find_rivals(
            cache.labels[:top], weights.loo_scores, margin, work.own, work.best, work.rivals,
            work.without,
        )  # fmt: skip
        work.valid[RIVALS] = True
    coefs = work.steps
    for r in range(len(coefs)):
        coefs[r] = weights.coefs[r, newest]
    return _largest_by_bounds(
        newest, cache.labels[:top], cache.positions, weights.loo_scores, coefs, cache.gram[newest],
        margin, work.own, work.best, work.rivals, work.without,
    )  # fmt: skip


@once()
def _find_rival(j, label, loo_scores, own, best):
    """The same as `_find_rivals` for the newest alone, of which no more is needed."""
    own[j], best[j] = loo_scores[label, j], -np.inf
    for r in range(len(loo_scores)):
        if r != label:
            best[j] = max(best[j], loo_scores[r, j])


@compiled()
def _find_rivals(labels, loo_scores, margin, own, best, rivals, without):
    """Fill in what the leave-one-out scores without the newest say of the stored examples.

    That is the score of the true class, the best other one, which class that is, and an upper bound
    of the surplus.
    """
    n = len(labels)
    for j in range(n):
        own[j] = loo_scores[labels[j], j]
        best[j] = -np.inf
    for r in range(len(loo_scores)):
        row = loo_scores[r]
        for j in range(n):
            score = row[j] if labels[j] != r else -np.inf
            best[j] = score if score > best[j] else best[j]
    for r in range(len(loo_scores)):  # in a loop of its own, which can be vectorised
        row = loo_scores[r]
        for j in range(n):
            found = (row[j] == best[j]) & (labels[j] != r)
            rivals[j] = r if found else rivals[j]
    for j in range(n):
        without[j] = own[j] - best[j] - margin
        without[j] += SURPLUS_ROUNDING * (abs(own[j]) + abs(best[j]) + margin)


@compiled()
def _largest_by_bounds(
    newest, labels, positions, loo_scores, coefs, values, margin, own, best, rivals, without
):  # fmt: skip
    """The slot with the largest surplus; `values` and `coefs` are those of the newest."""
    chosen, most = newest, own[newest] - best[newest] - margin
    low, high = np.min(coefs), np.max(coefs)
    # with the newest a surplus changes by (c_y - c_r) v_i for some class r: by reach |v_i| at most
    reach = high - low + SURPLUS_ROUNDING * (abs(low) + abs(high))
    label = labels[newest]
    for j in range(len(labels)):
        if without[j] + reach * abs(values[j]) < most or j == newest:
            continue
        score = own[j] + coefs[labels[j]] * values[j]
        rival = best[j] + coefs[rivals[j]] * values[j]
        if labels[j] != label:  # the class of the newest, which its step has raised most
            rival = max(rival, loo_scores[label, j] + coefs[label] * values[j])
        if score - rival - margin < most:
            continue
        for r in range(len(coefs)):  # few come this far
            if r != labels[j]:
                rival = max(rival, loo_scores[r, j] + coefs[r] * values[j])
        surplus = score - rival - margin
        if surplus > most or (surplus == most and positions[j] < positions[chosen]):
            chosen, most = j, surplus
    return chosen


@compiled()
def choose_at_random(state, size):
    """A slot of a full cache, any with the same probability (Cesa-Bianchi & Gentile 2006).

    The generator is SplitMix64, whose state is one number, so that a saved model goes on drawing
    where it stopped. `state` goes on by one draw.
    """
    state[0] += _GOLDEN
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    bits = (bits ^ (bits >> np.uint64(31))) >> np.uint64(32)
    return np.int64((bits * np.uint64(size)) >> np.uint64(32))


@once()
def count_step(tuning, steps, square):
    """Note a step for the forgetron: its length, and the longest example."""
    tuning[LONGEST_SQUARE] = max(tuning[LONGEST_SQUARE], square)
    if tuning[LONGEST_SQUARE] > 0.0:
        total = 0.0
        for r in range(len(steps)):
            total += steps[r] * steps[r] * (square / tuning[LONGEST_SQUARE])
        tuning[STEPS] += np.sqrt(total)


@compiled()
def largest_factor(quadratic, linear, allowed):
    """The largest phi in (0, 1] with quadratic phi^2 + linear phi <= allowed; linear >= 0."""
    if quadratic + linear <= allowed:
        return 1.0
    root = np.sqrt(max(linear * linear + 4.0 * quadratic * allowed, 0.0))
    return 2.0 * allowed / (linear + root) if linear + root > 0.0 else 1.0


@once()
def forget(learner, cache, weights, residual, values):
    """Shrink all weight vectors and evict the oldest example: the self-tuned Forgetron.

    (Dekel, Shalev-Shwartz & Singer 2008.) When a step leaves one example too many, all of w is
    multiplied by phi <= 1 and then the oldest is evicted: by then it has been shrunk so often that
    this does little harm. The harm of evicting an example of coefficient sigma, w having the score
    mu on it in the direction of its label, is

        Psi(phi) = (phi sigma)^2 + 2 phi sigma - 2 phi^2 sigma mu

    and phi is the largest in (0, 1] that keeps the sum of all harm done within 15/32 of the number
    of steps made, which is what their mistake bound needs. The paper has two classes, steps of
    length 1 and k(x, x) <= 1. Here, for the weight vectors of all classes together, a step counts
    as its length, sigma is the length of what is evicted, sigma mu its inner product with w, and
    lengths are in units of the longest example so far; for two classes, the perceptron and examples
    of norm 1 it is theirs.

    `residual` and `values` are scratch.
    """
    tally, tuning = learner.tally, learner.tuning
    top = tally[TOP]
    slot = oldest(cache, top)
    unit = tuning[LONGEST_SQUARE] if tuning[LONGEST_SQUARE] > 0.0 else 1.0
    square, agreement = 0.0, 0.0
    for r in range(len(weights.scale)):
        raw = weights.coefs[r, slot]
        coef = raw * weights.scale[r]
        score = weights.scale[r] * (weights.loo_scores[r, slot] + raw * cache.squares[slot])
        square += coef * coef * (cache.squares[slot] / unit)
        agreement += coef * (score / unit)
    quadratic, linear = square - 2.0 * agreement, 2.0 * np.sqrt(max(square, 0.0))
    allowed = max(FORGETRON_SHARE * tuning[STEPS] - tuning[HARM], 0.0)
    phi = largest_factor(quadratic, linear, allowed)
    tuning[HARM] += phi * (phi * quadratic + linear)
    for r in range(len(weights.scale)):
        scale_vector(weights, r, phi, top)
        weights.norms[r] *= phi * phi
    remove(learner, cache, weights, slot, residual, values)


@compiled()
def project(inverse, values, size, square, d):
    """Fill in the coefficients d of the projection of x and return |x - P x|^2."""
    for j in range(size):
        d[j] = dot(inverse[j], values, size)
    return max(square - dot(d, values, size), 0.0)


@compiled()
def grow_inverse(inverse, d, size, residual):
    """The inverse with the next example, for which `project` gave d and the residual."""
    for i in range(size):
        row, own = inverse[i], d[i]
        for j in range(size):  # the same both ways to the last bit: products commute
            row[j] += own * d[j] / residual
        inverse[i, size] = inverse[size, i] = -d[i] / residual
    inverse[size, size] = 1.0 / residual


@once()
def add_projection(learner, cache, weights, steps, values, square, clearance, d):
    """w_r += steps_r P x, and True: the Projectron with a hard budget.

    (Orabona, Keshet & Caputo 2009.) A step w += tau x is made with x itself, which is stored, as
    long as the budget allows; and with the projection of x onto the span of the stored examples,
    P x = sum_j d_j x_j, once it does not (their algorithm with the threshold 0 until the cache is
    full and infinite from then on) or if x is in the span anyway, but for a small part of it. With
    K the Gram matrix of the cache and k the values of x against it,

        d = K^-1 k,    |x - P x|^2 = x.x - k.d

    K^-1 grows by a row and a column with each example that is stored; since only examples clear of
    the span are, its entries stay bounded.

    Returns False if x is to be stored, for which the inverse is then ready. `clearance` is the part
    of |x|^2 that must lie outside the span for that; `d` is scratch.
    """
    size = learner.tally[SIZE]
    residual = project(cache.inverse, values, size, square, d)
    if size < learner.budget and residual > clearance * abs(square):
        grow_inverse(cache.inverse, d, size, residual)
        return False
    for r in range(len(steps)):
        if steps[r] != 0.0:
            coef = steps[r] / weights.scale[r]
            add(weights.coefs[r], coef, d, size)
            add(weights.average_offset[r], coef * weights.scale_sum[r], d, size)
            add(weights.loo_scores[r], coef, values, size)  # K d = k
    return True
