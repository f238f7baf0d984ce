"""Compiled loops of the voted perceptron: arithmetic on plain arrays.

Scores are kept a row a problem, so that every inner loop runs over consecutive examples and
vectorises.
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
def walk(scores, base, start, stop, labels, positive, column, values, rows, problems, signs, wrong):
    """Run the perceptron over examples start..stop of the block that begins at `base`.

    `values[column[i - base]]` holds the kernel values of example i against the block; column is -1
    where they are not at hand, and a mistake there ends the walk. Returns the example to go on from
    and the number of mistakes, which are written to rows, problems, signs and wrong (the scores).
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
                return i, made
            rows[made], problems[made], signs[made], wrong[made] = i, p, sign, scores[p, i]
            made += 1
            row = scores[p, base : base + width]
            new = values[c]
            for j in range(width):
                row[j] += sign * new[j]
    return stop, made


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def walk_dense(
    X, start, stop, labels, positive, weights, first, bias, rows, problems, signs, wrong
):
    """The perceptron with explicit vectors over rows start..stop; `bias` is 1 with a threshold,
    else 0.

    The last column of `weights` is the threshold. Only problems first, first + 1, ... of
    `positive` are run.
    """
    made = 0
    width = X.shape[1]
    for i in range(start, stop):
        x = X[i]
        for p in range(len(positive)):
            w = weights[p]
            score = bias * w[width]
            for j in range(width):
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
def walk_sparse(
    data,
    indices,
    indptr,
    start,
    stop,
    labels,
    positive,
    weights,
    first,
    bias,
    rows,
    problems,
    signs,
    wrong,
):
    """`walk_dense` for CSR rows."""
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
def _settle(current, duration, scale, votes, sums, unit_sums, want):
    """Add what a vector with scores `current` earned by surviving `duration` steps more."""
    if duration == 0:
        return
    if want[0]:
        for j in range(len(current)):
            s = current[j]
            votes[j] += duration if s > 0.0 else (-duration if s < 0.0 else 0.0)
    if want[1]:
        for j in range(len(current)):
            sums[j] += duration * current[j]
    if want[2]:
        for j in range(len(current)):
            unit_sums[j] += duration * scale * current[j]


@njit(cache=True, nogil=True)
def read_trace(
    values,
    mistakes,
    inverse_norms,
    stages,
    want,
    picks,
    draws,
    votes,
    sums,
    unit_sums,
    picked,
    drawn,
    unit_drawn,
):
    """Follow the scores of some examples through the trace and write what each rule says at each
    stage.

    values : kernel values, a row a slot and a column an example.
    mistakes : rows problem, slot, sign, step, one column a mistake.
    stages : ascending steps; results are those of the run stopped there.
    want : whether votes, sums and unit_sums (of scores over norms) are wanted.
    picks : rows (mistake, row of `picked`), by mistake: the scores of the vector that the mistake
    made.
    draws : rows (step r, example, stage), by r: the scores of the vectors alive after r steps.
    """
    n_problems, width = votes.shape[1], values.shape[1]
    current = np.zeros((n_problems, width))
    vote = np.zeros((n_problems, width))
    total = np.zeros((n_problems, width))
    unit_total = np.zeros((n_problems, width))
    since = np.zeros(n_problems)
    scale = np.zeros(n_problems)
    e = 0
    pick = 0
    draw = 0
    for s in range(len(stages)):
        while True:
            more = e < mistakes.shape[1] and mistakes[3, e] < stages[s]
            before = mistakes[3, e] if more else stages[s]
            while draw < draws.shape[1] and draws[0, draw] <= before:
                i, stage = draws[1, draw], draws[2, draw]
                for p in range(n_problems):
                    drawn[stage, p, i] = current[p, i]
                    unit_drawn[stage, p, i] = scale[p] * current[p, i]
                draw += 1
            if not more:
                break
            p, sign, step = mistakes[0, e], mistakes[2, e], mistakes[3, e]
            _settle(current[p], step - since[p], scale[p], vote[p], total[p], unit_total[p], want)
            since[p] = step
            scale[p] = inverse_norms[e]
            row = current[p]
            new = values[mistakes[1, e]]
            for j in range(width):
                row[j] += sign * new[j]
            while pick < picks.shape[1] and picks[0, pick] == e:
                picked[picks[1, pick], p] = row
                pick += 1
            e += 1
        for p in range(n_problems):
            _settle(
                current[p], stages[s] - since[p], scale[p], vote[p], total[p], unit_total[p], want
            )
            since[p] = stages[s]
        if want[0]:
            votes[s] = vote
        if want[1]:
            sums[s] = total
        if want[2]:
            unit_sums[s] = unit_total


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
