"""Compiled loops around the dual problem: optimality, working sets, and steps of other machines.

The sets are those of LIBSVM: I_up holds the variables for which a_v beta_v may rise, which are not
at that bound, and I_low those for which it may fall. The value of a variable is -a_v grad_v. A pair
(i in I_up, j in I_low) violates the KKT conditions if value_i > value_j.
"""

from __future__ import annotations

import numpy as np
from numba import njit

EPS = 2.0**-52
SMALLEST = 1e-280  # the least number to divide by
AT_ONCE = 8  # rows that are mirrored at a time


@njit(cache=True, nogil=True)
def gather(local, first, values, slots, columns, places):
    """local[first + r, places[c]] = values[slots[r], columns[c]] on and above the diagonal, for
    places in ascending order.
    """
    for r in range(len(slots)):
        row = values[slots[r]]
        out = local[first + r]
        for c in range(np.searchsorted(places, first + r), len(columns)):
            out[places[c]] = row[columns[c]]


@njit(cache=True, nogil=True)
def mirror(local):
    """Copy the upper triangle to the lower one, a few rows at a time, which are read side by side:
    reading down one column would touch a new cache line for each value.
    """
    n = len(local)
    for top in range(0, n, AT_ONCE):
        bottom = min(top + AT_ONCE, n)
        for j in range(top + 1, n):
            row = local[j]
            for i in range(top, min(bottom, j)):
                row[i] = local[i, j]


@njit(cache=True, nogil=True)
def extremes(grad, beta, lo, hi, a, group, n, up_max, low_min):
    """Per group m = max over I_up and M = min over I_low of -a grad, of the first n variables."""
    for g in range(len(up_max)):
        up_max[g] = -np.inf
        low_min[g] = np.inf
    for i in range(n):
        g = group[i]
        value = -a[i] * grad[i]
        rises = beta[i] < hi[i] if a[i] > 0 else beta[i] > lo[i]
        falls = beta[i] > lo[i] if a[i] > 0 else beta[i] < hi[i]
        if rises and value > up_max[g]:
            up_max[g] = value
        if falls and value < low_min[g]:
            low_min[g] = value


@njit(cache=True, nogil=True)
def multipliers(grad, beta, lo, hi, a, group, out):
    """The Lagrange multiplier of each group's sum: the mean value of its free variables, or the
    middle of the interval that the others allow.
    """
    up_max, low_min = np.empty(len(out)), np.empty(len(out))
    extremes(grad, beta, lo, hi, a, group, len(beta), up_max, low_min)
    count = np.zeros(len(out))
    out[:] = 0.0
    for i in range(len(beta)):
        if lo[i] < beta[i] < hi[i]:
            out[group[i]] -= a[i] * grad[i]
            count[group[i]] += 1
    for g in range(len(out)):
        if count[g] > 0:
            out[g] /= count[g]
        elif np.isfinite(up_max[g]) and np.isfinite(low_min[g]):
            out[g] = (up_max[g] + low_min[g]) / 2
        elif np.isfinite(up_max[g]):
            out[g] = up_max[g]
        elif np.isfinite(low_min[g]):
            out[g] = low_min[g]


@njit(cache=True, nogil=True)
def snap(beta, lo, hi, sizes, rounding):
    """Put variables within rounding of a bound at that bound, which many steps rarely hit exactly.

    A variable is put at zero if it adds next to nothing to the sum of all and to w, `sizes` being
    the norms of the examples; at its other bound if only the rounding of sums keeps it from there.
    """
    most, longest = 0.0, 0.0
    for i in range(len(beta)):
        most = max(most, abs(beta[i]))
        longest = max(longest, abs(beta[i]) * sizes[i])
    for i in range(len(beta)):
        size = abs(beta[i])
        end = hi[i] if beta[i] > 0 else lo[i]
        if size <= rounding * most and size * sizes[i] <= rounding * longest:
            beta[i] = 0.0
        elif abs(end) < np.inf and abs(end - beta[i]) <= 64 * EPS * abs(end):
            beta[i] = end


@njit(cache=True, nogil=True)
def _is_worse(score, index, other_score, other_index):
    """Whether a score is the smaller one, or that of the later variable where both are equal."""
    return score < other_score or (score == other_score and index > other_index)


@njit(cache=True, nogil=True)
def _offer(heap_score, heap_index, size, limit, score, index):
    """Keep (score, index) if it is among the `limit` best: in a binary heap with the worst first.
    Returns the new size.
    """
    if size < limit:
        k = size
        size += 1
        while k > 0:
            parent = (k - 1) // 2
            if _is_worse(heap_score[parent], heap_index[parent], score, index):
                break
            heap_score[k] = heap_score[parent]
            heap_index[k] = heap_index[parent]
            k = parent
    else:
        if limit == 0 or _is_worse(score, index, heap_score[0], heap_index[0]):
            return size
        k = 0
        while True:
            child = 2 * k + 1
            if child >= size:
                break
            if child + 1 < size and _is_worse(
                heap_score[child + 1], heap_index[child + 1], heap_score[child], heap_index[child]
            ):
                child += 1
            if _is_worse(score, index, heap_score[child], heap_index[child]):
                break
            heap_score[k] = heap_score[child]
            heap_index[k] = heap_index[child]
            k = child
    heap_score[k] = score
    heap_index[k] = index
    return size


@njit(cache=True, nogil=True)
def violators(
    grad, beta, lo, hi, a, group, n, up_max, low_min, known, up, down, fresh_up, fresh_down
):
    """The variables that violate optimality most: in I_up with a value above M, in I_low with one
    below m. Those whose row is `known` go to `up` and `down`, the others to `fresh_up` and
    `fresh_down`, as many as there is room for. Returns how many of each.

    Of equal ones the first are taken, so that the same are found among any variables that include
    them; within a single group values are compared as they are, without the rounding of m and M.
    """
    scores_up, scores_down = np.empty(len(up)), np.empty(len(down))
    scores_fresh_up, scores_fresh_down = np.empty(len(fresh_up)), np.empty(len(fresh_down))
    ups = downs = fresh_ups = fresh_downs = 0
    several = len(low_min) > 1
    for i in range(n):
        g = group[i]
        value = -a[i] * grad[i]
        if value > low_min[g] and (beta[i] < hi[i] if a[i] > 0 else beta[i] > lo[i]):
            lack = value - low_min[g] if several else value
            if known[i]:
                ups = _offer(scores_up, up, ups, len(up), lack, i)
            else:
                fresh_ups = _offer(scores_fresh_up, fresh_up, fresh_ups, len(fresh_up), lack, i)
        if value < up_max[g] and (beta[i] > lo[i] if a[i] > 0 else beta[i] < hi[i]):
            lack = up_max[g] - value if several else -value
            if known[i]:
                downs = _offer(scores_down, down, downs, len(down), lack, i)
            else:
                fresh_downs = _offer(
                    scores_fresh_down, fresh_down, fresh_downs, len(fresh_down), lack, i
                )
    return fresh_ups, fresh_downs, ups, downs


@njit(cache=True, nogil=True)
def project_example(v, own, box, out):
    """The projection of v onto x_own <= box, all others <= 0 and a sum of 0.

    It is x_r = min(0, v_r - level), x_own = min(box, v_own - level), where the level is the
    Lagrange multiplier of the sum. It is found from differences to v_own, or, where x_own is at its
    bound, to the smallest of the others, so that a point which is small beside the box keeps its
    digits, and so does a small box.
    """
    others = np.empty(len(v) - 1)
    k = 0
    for r in range(len(v)):
        if r != own:
            others[k] = v[r]
            k += 1
    others.sort()
    base, total, level, used = v[own], 0.0, 0.0, 0
    while used < k and others[used] - base < level:
        total += others[used] - base
        used += 1
        level = total / (used + 1)
    at_end = -level >= box
    if at_end:
        base, total, level, used = others[0], 0.0, np.inf, 0
        while used < k and others[used] - base < level:
            total += others[used] - base
            used += 1
            level = (box + total) / used
    total = 0.0
    for r in range(len(v)):
        if r != own:
            out[r] = min(0.0, v[r] - base - level)
            total += out[r]
    out[own] = box if at_end else min(box, -total)


@njit(cache=True, nogil=True)
def solve_simplices(K, scores, tau, labels, box, tol, max_steps):
    """Sweep over the examples of a block, solving for the k variables of each example that violates
    optimality by more than tol, until none does. Changes scores and tau, which have one row per
    example; returns the steps made and whether none is left.
    """
    n, k = scores.shape
    target, found = np.empty(k), np.empty(k)
    steps = 0
    while True:
        worst = 0.0
        for i in range(n):
            if box[i] == 0.0:
                continue
            top, low = -np.inf, np.inf
            for r in range(k):
                grad = scores[i, r] - (1.0 if r == labels[i] else 0.0)
                top = max(top, grad)
                if tau[i, r] < (box[i] if r == labels[i] else 0.0):
                    low = min(low, grad)
            if top - low <= tol:
                continue
            worst = max(worst, top - low)
            # the k variables of an example have the Hessian K_ii 1: a Newton step, then projected
            curve = max(K[i, i], SMALLEST)  # any scale will do: the box bounds the step
            for r in range(k):
                target[r] = tau[i, r] - (scores[i, r] - (1.0 if r == labels[i] else 0.0)) / curve
            project_example(target, labels[i], box[i], found)
            steps += 1
            for r in range(k):
                step = found[r] - tau[i, r]
                if step != 0.0:
                    tau[i, r] = found[r]
                    for j in range(n):
                        scores[j, r] += step * K[i, j]
        if worst <= tol or steps >= max_steps:
            return steps, worst <= tol


@njit(cache=True, nogil=True)
def adatron_pass(K, y, alpha, z, rates, C):
    """One step for each example of a block in order. Changes alpha and z; returns the largest
    change of an example's own margin.
    """
    most = 0.0
    for i in range(len(y)):
        step = rates[i] * (1.0 - y[i] * z[i])
        step = min(max(alpha[i] + step, 0.0), C) - alpha[i]
        if step != 0.0:
            alpha[i] += step
            most = max(most, abs(step) * K[i, i])
            for j in range(len(y)):
                z[j] += step * y[i] * K[i, j]
    return most
