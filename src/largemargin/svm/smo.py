"""Compiled loops of the block solver: arithmetic on plain arrays.

Everywhere a variable beta_v may rise (in the sense a_v beta_v) if it is not at its upper end and
fall if it is not at its lower one; its value is v = -a_v grad_v, and a pair (i rising, j falling)
of one group is improved by a step if value_i > value_j.
"""

from __future__ import annotations

import numpy as np
from numba import njit

EPS = 2.0**-52
TAU = 1e-12  # the curvature taken where there is none, or where the kernel is not positive
SMALLEST = 1e-280  # what may still be divided by


@njit(cache=True, nogil=True)
def gather(local, first, values, slots, columns, places):
    """local[first + r, places[c]] = values[slots[r], columns[c]] on and above the diagonal; the
    places ascend.
    """
    for r in range(len(slots)):
        row = values[slots[r]]
        out = local[first + r]
        for c in range(np.searchsorted(places, first + r), len(columns)):
            out[places[c]] = row[columns[c]]


@njit(cache=True, nogil=True)
def mirror(local):
    """Copy what is above the diagonal to below it, by way of a square that stays in cache."""
    n, side = len(local), 64
    turned = np.empty((side, side), local.dtype)
    for top in range(0, n, side):
        height = min(side, n - top)
        for left in range(top, n, side):
            width = min(side, n - left)
            for i in range(height):
                for j in range(width):
                    turned[j, i] = local[top + i, left + j]
            for j in range(width):
                for i in range(min(height, left + j - top)):
                    local[left + j, top + i] = turned[j, i]


@njit(cache=True, nogil=True)
def extremes(grad, beta, lo, hi, a, group, n, best, worst):
    """The largest value among those that may rise and the smallest among those that may fall, a
    group.
    """
    for g in range(len(best)):
        best[g] = -np.inf
        worst[g] = np.inf
    for i in range(n):
        g = group[i]
        value = -a[i] * grad[i]
        rises = beta[i] < hi[i] if a[i] > 0 else beta[i] > lo[i]
        falls = beta[i] > lo[i] if a[i] > 0 else beta[i] < hi[i]
        if rises and value > best[g]:
            best[g] = value
        if falls and value < worst[g]:
            worst[g] = value


@njit(cache=True, nogil=True)
def levels(grad, beta, lo, hi, a, group, out):
    """The mean value of a group's free variables, or the middle of what the others allow."""
    best, worst = np.empty(len(out)), np.empty(len(out))
    extremes(grad, beta, lo, hi, a, group, len(beta), best, worst)
    count = np.zeros(len(out))
    out[:] = 0.0
    for i in range(len(beta)):
        if lo[i] < beta[i] < hi[i]:
            out[group[i]] -= a[i] * grad[i]
            count[group[i]] += 1
    for g in range(len(out)):
        if count[g] > 0:
            out[g] /= count[g]
        elif np.isfinite(best[g]) and np.isfinite(worst[g]):
            out[g] = (best[g] + worst[g]) / 2
        elif np.isfinite(best[g]):
            out[g] = best[g]
        elif np.isfinite(worst[g]):
            out[g] = worst[g]


@njit(cache=True, nogil=True)
def snap(beta, lo, hi, sizes, rounding):
    """Put variables within rounding of an end there: in many steps it is rarely hit. At the end
    that is zero, that is what adds next to nothing, neither to the sum of all nor to w, `sizes`
    being the norms of the examples; at the other, what is next to nothing of that end.
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
        elif abs(end) < np.inf and abs(end - beta[i]) <= 4 * EPS * abs(end):
            beta[i] = end


@njit(cache=True, nogil=True)
def _offer(heap_score, heap_index, size, limit, score, index):
    """Keep (score, index) if it is among the `limit` largest scores: a heap with the smallest
    first.
    """
    if size < limit:
        k = size
        size += 1
        while k > 0:
            parent = (k - 1) // 2
            if heap_score[parent] <= score:
                break
            heap_score[k] = heap_score[parent]
            heap_index[k] = heap_index[parent]
            k = parent
    else:
        if limit == 0 or score <= heap_score[0]:
            return size
        k = 0
        while True:
            child = 2 * k + 1
            if child >= size:
                break
            if child + 1 < size and heap_score[child + 1] < heap_score[child]:
                child += 1
            if heap_score[child] >= score:
                break
            heap_score[k] = heap_score[child]
            heap_index[k] = heap_index[child]
            k = child
    heap_score[k] = score
    heap_index[k] = index
    return size


@njit(cache=True, nogil=True)
def violators(grad, beta, lo, hi, a, group, n, best, worst, known, up, down, fresh_up, fresh_down):
    """The variables that violate optimality most: that should rise and that should fall, of those
    with a row and of those without, as many as there is room for. Returns how many of each.
    """
    scores_up, scores_down = np.empty(len(up)), np.empty(len(down))
    scores_fresh_up, scores_fresh_down = np.empty(len(fresh_up)), np.empty(len(fresh_down))
    ups = downs = fresh_ups = fresh_downs = 0
    for i in range(n):
        g = group[i]
        value = -a[i] * grad[i]
        if value > worst[g] and (beta[i] < hi[i] if a[i] > 0 else beta[i] > lo[i]):
            lack = value - worst[g]
            if known[i]:
                ups = _offer(scores_up, up, ups, len(up), lack, i)
            else:
                fresh_ups = _offer(scores_fresh_up, fresh_up, fresh_ups, len(fresh_up), lack, i)
        if value < best[g] and (beta[i] > lo[i] if a[i] > 0 else beta[i] < hi[i]):
            lack = best[g] - value
            if known[i]:
                downs = _offer(scores_down, down, downs, len(down), lack, i)
            else:
                fresh_downs = _offer(
                    scores_fresh_down, fresh_down, fresh_downs, len(fresh_down), lack, i
                )
    return fresh_ups, fresh_downs, ups, downs


@njit(cache=True, nogil=True)
def solve_local(K, ridge, grad, beta, lo, hi, a, group, n_groups, tol, closer, max_steps):
    """Sequential minimal optimisation: minimise 1/2 b'(K + diag(ridge))b + p'b over the box, with
    the sums of a b kept. Changes beta and grad in place; returns the number of steps.

    The most violating variable that may rise is paired with the one that gives the largest second-
    order decrease (Fan, Chen & Lin 2005). `up` and `down` hold the values of those that may rise
    and fall.
    """
    n = len(beta)
    up, down, diag = np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        value = -a[k] * grad[k]
        diag[k] = K[k, k] + ridge[k]
        up[k] = value if (beta[k] < hi[k] if a[k] > 0 else beta[k] > lo[k]) else -np.inf
        down[k] = value if (beta[k] > lo[k] if a[k] > 0 else beta[k] < hi[k]) else np.inf
    steps = 0
    met = False
    while steps < max_steps:
        i = -1
        worst = 0.0
        for g in range(n_groups):
            top, low, which = -np.inf, np.inf, -1
            for k in range(n):
                if group[k] == g:
                    if up[k] > top:
                        top, which = up[k], k
                    low = min(low, down[k])
            if top - low > worst:
                worst, i = top - low, which
        if i < 0 or worst <= closer:
            return steps, True
        if worst <= tol and not met:
            met = True
            max_steps = min(max_steps, 4 * steps + 10 * n)
            if steps >= max_steps:
                break
        steps += 1
        top, row, mine, twice = up[i], K[i], group[i], 2.0 * a[i]
        best, j = -1.0, -1
        for k in range(n):
            gain = top - down[k]
            if gain > 0 and group[k] == mine:
                curve = diag[i] + diag[k] - twice * a[k] * row[k]
                score = gain * gain / max(curve, TAU)
                if score > best:
                    best, j = score, k
        curve = max(diag[i] + diag[j] - twice * a[j] * row[j], TAU)
        step = (top - down[j]) / curve
        room_i = hi[i] - beta[i] if a[i] > 0 else beta[i] - lo[i]
        room_j = beta[j] - lo[j] if a[j] > 0 else hi[j] - beta[j]
        step = min(step, room_i, room_j)
        beta[i] += a[i] * step
        beta[j] -= a[j] * step
        if step == room_i:
            beta[i] = hi[i] if a[i] > 0 else lo[i]
        if step == room_j:
            beta[j] = lo[j] if a[j] > 0 else hi[j]
        other, ci, cj = K[j], a[i] * step, a[j] * step
        for k in range(n):
            grad[k] += ci * row[k] - cj * other[k]
        grad[i] += ci * ridge[i]
        grad[j] -= cj * ridge[j]
        for k in range(n):
            value = -a[k] * grad[k]
            up[k] = value if up[k] > -np.inf else -np.inf
            down[k] = value if down[k] < np.inf else np.inf
        for k in (i, j):
            value = -a[k] * grad[k]
            up[k] = value if (beta[k] < hi[k] if a[k] > 0 else beta[k] > lo[k]) else -np.inf
            down[k] = value if (beta[k] > lo[k] if a[k] > 0 else beta[k] < hi[k]) else np.inf
    return steps, met


@njit(cache=True, nogil=True)
def nearest_of_example(v, own, box, out):
    """The point nearest to v with x_own <= box, all others <= 0 and a sum of 0.

    It is x_r = min(0, v_r - level), x_own = min(box, v_own - level). The level is found from
    differences to v_own, or, where x_own is at its end, to the smallest of the others, so that a
    point which is small beside the box keeps its digits, and so does a small box.
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
    """Sweep over the examples of a block, solving for the k variables of each that violates
    optimality by more than tol, until none does. Changes scores and tau (a row an example); returns
    the steps made and whether none is left.
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
            curve = max(K[i, i], SMALLEST)  # of any scale: the box bounds what it leads to
            for r in range(k):
                target[r] = tau[i, r] - (scores[i, r] - (1.0 if r == labels[i] else 0.0)) / curve
            nearest_of_example(target, labels[i], box[i], found)
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
