"""Compiled loops of the voted perceptron: arithmetic on plain arrays.

Scores are kept with one row per problem: so every inner loop runs over consecutive examples, and
the compiler vectorises it.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def add_updates(scores, first, tile, slots, problems, coefs):
    """scores[p, first + j] += coef * tile[slot, j] for each update (slot, p, coef)."""
    width = tile.shape[1]
    for u in range(len(slots)):
        values = tile[slots[u]]
        row = scores[problems[u], first : first + width]
        coef = coefs[u]
        for j in range(width):
            row[j] += coef * values[j]


@njit(cache=True, nogil=True)
def smallest_margins(scores, start, stop, labels, positive, out):
    """out[i - start] = the smallest y_p f_p(x_i) over problems p; a mistake if not positive."""
    for i in range(start, stop):
        out[i - start] = np.inf
    for p in range(len(positive)):
        for i in range(start, stop):
            margin = scores[p, i] if labels[i] == positive[p] else -scores[p, i]
            out[i - start] = min(out[i - start], margin)


@njit(cache=True, nogil=True)
def run_block(
    scores, base, start, stop, labels, positive, column, values, rows, problems, signs, wrong
):
    """Run the perceptron over examples start..stop of the block that begins at `base`.

    `values[column[i - base]]` holds the kernel values of example i against the block; column is -1
    where they were not computed yet, and a mistake there ends the run. Returns the example to go on
    from and the number of mistakes, of which rows, problems and signs are written down, and the
    scores in `wrong`.
    """
    made = 0
    width = values.shape[1]
    for i in range(start, stop):
        for p in range(len(positive)):
            sign = 1.0 if labels[i] == positive[p] else -1.0
            if sign * scores[p, i] > 0.0:
                continue
            c = column[i - base]
            if c < 0:
                # the row is the same for all problems, so none of this example's was updated yet:
                # the next run begins with it again
                return i, made
            rows[made], problems[made], signs[made], wrong[made] = i, p, sign, scores[p, i]
            made += 1
            # f_p += y_p k(x_i, .) on the whole block at once: scores are always up to date, so an
            # example costs one comparison per problem and a mistake one row of kernel values
            row = scores[p, base : base + width]
            new = values[c]
            for j in range(width):
                row[j] += sign * new[j]
    return stop, made


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def run_dense_block(
    X, start, stop, labels, positive, weights, first, bias, rows, problems, signs, wrong
):
    """Run the perceptron with explicit vectors over rows start..stop.

    The last column of `weights` is the threshold; `bias` is 1 if there is one, else 0. `positive`
    and `weights` are those of the problems first, first + 1, ... alone, which this thread runs.
    """
    made = 0
    width = X.shape[1]
    for i in range(start, stop):
        x = X[i]
        for p in range(len(positive)):
            w = weights[p]
            score = bias * w[width]
            for j in range(width):  # reassociation lets the compiler sum several terms at a time
                score += w[j] * x[j]
            sign = 1.0 if labels[i] == positive[p] else -1.0
            if sign * score > 0.0:
                continue
            rows[made], problems[made], signs[made], wrong[made] = i, first + p, sign, score
            made += 1
            for j in range(width):
                w[j] += sign * x[j]
            w[width] += sign * bias
    return made


@njit(cache=True, nogil=True)
def run_sparse_block(
    data, indices, indptr, start, stop, labels, positive, weights, first, bias, rows, problems,
    signs, wrong,
):  # fmt: skip
    """`run_dense_block` for CSR rows."""
    made = 0
    width = weights.shape[1] - 1
    for i in range(start, stop):
        lo, hi = indptr[i], indptr[i + 1]
        for p in range(len(positive)):
            w = weights[p]
            score = bias * w[width]
            for j in range(lo, hi):
                score += w[indices[j]] * data[j]
            sign = 1.0 if labels[i] == positive[p] else -1.0
            if sign * score > 0.0:
                continue
            rows[made], problems[made], signs[made], wrong[made] = i, first + p, sign, score
            made += 1
            for j in range(lo, hi):
                w[indices[j]] += sign * data[j]
            w[width] += sign * bias
    return made


@njit(cache=True, nogil=True)
def add_survival(current, p, duration, scale, want, vote, total, unit_total):
    """Add what problem p's vector, with scores `current`, earned by surviving `duration` steps."""
    width = vote.shape[1]
    if want[0]:
        for j in range(width):
            s = current[p, j]
            vote[p, j] += duration if s > 0.0 else (-duration if s < 0.0 else 0.0)
    if want[1]:
        for j in range(width):
            total[p, j] += duration * current[p, j]
    if want[2]:
        for j in range(width):
            unit_total[p, j] += duration * scale * current[p, j]


@njit(cache=True, nogil=True)
def replay(
    values, mistakes, inverse_norms, start, until, want, picks, draws, state, vote, total,
    unit_total, picked, drawn, unit_drawn,
):  # fmt: skip
    """Replay the trace for some examples, from mistake `start` to step `until`.

    values : kernel values, one row per slot and one column per example.
    mistakes : rows problem, slot, sign, step; one column per mistake.
    want : whether vote, total and unit_total (of scores over norms) are wanted.
    picks : rows (mistake, row of `picked`), by mistake: the scores of the vector it made.
    draws : rows (step r, example, stage), by r: the scores of the vectors alive after r steps.
    state : rows of scores, then a row each of birth steps and inverse norms of current vectors.

    Returns the mistake to go on from, and how many picks and draws were made.
    """
    n_problems, width = vote.shape
    since, scale = state[n_problems], state[n_problems + 1]
    e, pick, draw = start, 0, 0
    while True:
        more = e < mistakes.shape[1] and mistakes[3, e] < until
        step = mistakes[3, e] if more else until
        while draw < draws.shape[1] and draws[0, draw] <= step:
            i, stage = draws[1, draw], draws[2, draw]
            for p in range(n_problems):
                drawn[stage, p, i] = state[p, i]
                unit_drawn[stage, p, i] = scale[p] * state[p, i]
            draw += 1
        # A vector earns its votes in one go, when it dies: each mistake touches one problem only.
        # At the end of the stage, all vectors that are still alive earn theirs.
        first, last = (mistakes[0, e], mistakes[0, e] + 1) if more else (0, n_problems)
        for p in range(first, last):
            add_survival(state, p, step - since[p], scale[p], want, vote, total, unit_total)
            since[p] = step
        if not more:
            return e, pick, draw
        p, slot, sign = mistakes[0, e], mistakes[1, e], mistakes[2, e]
        scale[p] = inverse_norms[e]
        for j in range(width):
            state[p, j] += sign * values[slot, j]
        while pick < picks.shape[1] and picks[0, pick] == e:
            for j in range(width):
                picked[picks[1, pick], p, j] = state[p, j]
            pick += 1
        e += 1


@njit(cache=True, nogil=True)
def replay_few(
    values, mistakes, inverse_norms, start, until, want, picks, draws, state, vote, total,
    unit_total, picked, drawn, unit_drawn,
):  # fmt: skip
    """`replay` one example after the other: for a few of them, loops over examples do not pay."""
    n_problems, width = vote.shape
    birth, inverse = state[n_problems], state[n_problems + 1]
    since, scale = birth.copy(), inverse.copy()
    e, pick, draw = start, 0, 0
    for j in range(width):
        # every example begins with the vectors as they were, whose birth is the same for all
        since[:] = birth
        scale[:] = inverse
        e, pick, draw = start, 0, 0
        while True:
            more = e < mistakes.shape[1] and mistakes[3, e] < until
            step = mistakes[3, e] if more else until
            while draw < draws.shape[1] and draws[0, draw] <= step:
                if draws[1, draw] == j:
                    for p in range(n_problems):
                        drawn[draws[2, draw], p, j] = state[p, j]
                        unit_drawn[draws[2, draw], p, j] = scale[p] * state[p, j]
                draw += 1
            if not more:
                break
            p = mistakes[0, e]
            s, duration = state[p, j], step - since[p]
            if want[0]:
                vote[p, j] += duration * ((s > 0.0) - (s < 0.0))
            if want[1]:
                total[p, j] += duration * s
            if want[2]:
                unit_total[p, j] += duration * scale[p] * s
            since[p] = step
            scale[p] = inverse_norms[e]
            state[p, j] = s + mistakes[2, e] * values[mistakes[1, e], j]
            while pick < picks.shape[1] and picks[0, pick] == e:
                picked[picks[1, pick], p, j] = state[p, j]
                pick += 1
            e += 1
        for p in range(n_problems):
            s, duration = state[p, j], until - since[p]
            vote[p, j] += duration * ((s > 0.0) - (s < 0.0))
            total[p, j] += duration * s
            unit_total[p, j] += duration * scale[p] * s
            since[p] = until
    birth[:] = since
    inverse[:] = scale
    return e, pick, draw


@njit(cache=True, nogil=True)
def count_correct(values, mistakes, truth, counts):
    """counts[e] += how many of these examples the vector made by mistake e gets right.

    truth[p, j] is +1 or -1, and 0 for padding, which is never right.
    """
    n_problems, width = truth.shape
    current = np.zeros((n_problems, width))
    for e in range(mistakes.shape[1]):
        p, sign = mistakes[0, e], mistakes[2, e]
        row = current[p]
        new = values[mistakes[1, e]]
        right = 0
        for j in range(width):
            row[j] += sign * new[j]
            right += truth[p, j] * row[j] > 0.0
        counts[e] += right
