"""Compiled loops: SMO (sequential minimal optimisation) in one matrix of kernel values.

    minimise 1/2 b'(K + diag(ridge))b + p'b,   lo <= b <= hi,   the sums of a b over each group kept

`smo_pairs` changes two variables of one group at a time, so that the group's sum is kept. The sets
are those of LIBSVM: I_up holds the variables for which a_v b_v may rise, which are not at that
bound, and I_low those for which it may fall. A pair (i in I_up, j in I_low) violates the KKT
conditions if a_i grad_i < a_j grad_j, and a step along it then lowers the objective. The pair is
LIBSVM's second-order working set selection (Fan, Chen & Lin 2005): i has the least a grad in I_up,
j the largest decrease that a step with i can bring.

`smo_without_sums` changes two variables at a time as well, each by its own step: i violates
optimality most, j brings the largest decrease in addition (Steinwart, Hush & Scovel 2011). Steps of
one variable would be cheaper, and five times as many of them needed: where kernel values are
positive, variables take from each other.

A step is two passes over all variables, one that finds j and one that changes the gradient and
finds the next i. They are in `smo_passes`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from largemargin.svm.smo_passes import (
    LEAST_CURVE,
    estimate,
    move_both,
    move_pair,
    partner,
    place_bits,
    second_of_pair,
)

TAU = 1e-12  # the least curvature of a step, for kernels that are not positive definite
SINGULAR = 1e-14  # a determinant below this fraction of the diagonal's product is zero


@njit(cache=True, nogil=True, error_model="numpy")
def _look(grad, up_fixed, down_fixed, first, last, worst):
    """Per group the variable of I_up with the least gradient, that of I_low with the largest, and
    the difference of their gradients; -1 and minus infinity where there is none.
    """
    for g in range(len(worst)):
        low, top = np.inf, -np.inf
        first[g] = last[g] = -1
        for k in range(len(grad)):
            if up_fixed[g, k] == 0 and grad[k] < low:
                low, first[g] = grad[k], k
            if down_fixed[g, k] == 0 and grad[k] > top:
                top, last[g] = grad[k], k
        worst[g] = top - low


@njit(cache=True, nogil=True, error_model="numpy")
def _largest(values):
    """The place of the largest value."""
    best = 0
    for g in range(1, len(values)):
        if values[g] > values[best]:
            best = g
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _sets(beta, lo, hi, group, up_fixed, down_fixed):
    """Put zero where a variable of a group is in I_up, or in I_low, and infinity elsewhere."""
    for k in range(len(beta)):
        for g in range(len(up_fixed)):
            up_fixed[g, k] = 0 if group[k] == g and beta[k] < hi[k] else np.inf
            down_fixed[g, k] = 0 if group[k] == g and beta[k] > lo[k] else np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def _scale(K, ridge, curves):
    """Put the diagonal there, in units of the largest kernel value on it, so that float32 numbers
    stay in range; returns one over that unit. Both are in the type of K, in which the passes
    compute curvatures.
    """
    unit = LEAST_CURVE
    for k in range(len(ridge)):
        unit = max(unit, abs(np.float64(K[k, k])))
    for k in range(len(ridge)):
        curves[k] = min((K[k, k] + ridge[k]) / unit, 1 / LEAST_CURVE)
    curves[len(ridge)] = 1 / unit
    return curves[len(ridge)]


@njit(cache=True, nogil=True, error_model="numpy")
def smo_pairs(K, ridge, grad, beta, lo, hi, group, n_groups, tol, closer, max_steps):
    """SMO with sums, for a = 1. Goes on to a violation of `closer` as long as that is cheap, after
    one of `tol` is met. Changes beta and grad in place; returns the number of steps and whether
    `tol` was met.
    """
    n = len(beta)
    up_fixed, down_fixed = np.empty((n_groups, n), np.float32), np.empty((n_groups, n), np.float32)
    _sets(beta, lo, hi, group, up_fixed, down_fixed)
    curves, places = np.empty(n + 1, K.dtype), place_bits(n)
    scale = _scale(K, ridge, curves)
    rounding = 2.0**-22 if K.itemsize == 4 else 2.0**-50  # a smaller part of a curvature is none
    first, last = np.empty(n_groups, np.int64), np.empty(n_groups, np.int64)
    worst, top = np.empty(n_groups), np.empty(n_groups)
    goal, steps, met, i, g = tol, 0, False, np.int64(-1), 0
    while True:
        exact = i < 0  # at the start, and where a pass saw no pair
        if exact:
            _look(grad, up_fixed, down_fixed, first, last, worst)
            g = _largest(worst)
            i = first[g]
            if not worst[g] > goal and not met:
                met, goal, max_steps = True, closer, min(max_steps, 4 * steps + 10 * n)
            if not worst[g] > goal:
                return steps, True
            for one in range(n_groups):
                top[one] = grad[last[one]]
        if steps >= max_steps:
            return steps, met
        row, own = K[i], curves[i]
        least = np.float32(max(rounding * abs(own), LEAST_CURVE))
        j, size = second_of_pair(
            row,
            curves,
            down_fixed[g],
            grad,
            own,
            least,
            scale + scale,
            grad[i],
            1 / worst[g],
            places,
        )
        if exact and j < 0:  # numbers that are out of the range of float32
            j = last[g]
        elif j < 0 or not size * worst[g] > goal:
            i = np.int64(-1)
            continue
        else:
            worst[g] *= size
        top[g] = grad[i] + worst[g]
        curve = K[i, i] + ridge[i] + (K[j, j] + ridge[j]) - 2.0 * row[j]
        step = (grad[j] - grad[i]) / max(curve, TAU)
        room_i, room_j = hi[i] - beta[i], beta[j] - lo[j]
        step = min(step, room_i, room_j)
        # exactly at the bound, which the sum may miss by rounding
        beta[i] = hi[i] if step == room_i else beta[i] + step
        beta[j] = lo[j] if step == room_j else beta[j] - step
        for k in (i, j):
            up_fixed[g, k] = 0 if beta[k] < hi[k] else np.inf
            down_fixed[g, k] = 0 if beta[k] > lo[k] else np.inf
        grad[i] += step * ridge[i]
        grad[j] -= step * ridge[j]
        steps += 1
        i = move_pair(row, K[j], step, grad, up_fixed[g], top[g], 1 / worst[g], places)
        if n_groups > 1:
            for one in range(n_groups):
                if worst[one] > -np.inf:  # otherwise it never has a pair
                    first[one], top[one], worst[one] = estimate(
                        grad, up_fixed[one], down_fixed[one], top[one], worst[one], places
                    )
            g = _largest(worst)
            i = first[g]


@njit(cache=True, nogil=True, error_model="numpy")
def smo_without_sums(K, ridge, grad, beta, lo, hi, tol, closer, max_steps):
    """The same where no sum is kept. The violation counts from zero: it is the largest gradient in
    I_low less the least in I_up, neither being on the wrong side of zero.
    """
    n = len(beta)
    up_sets, down_sets = np.empty((1, n), np.float32), np.empty((1, n), np.float32)
    up_fixed, down_fixed = up_sets[0], down_sets[0]
    for k in range(n):
        up_fixed[k] = 0 if beta[k] < hi[k] else np.inf
        down_fixed[k] = 0 if beta[k] > lo[k] else np.inf
    curves, places = np.empty(n + 1, K.dtype), place_bits(n)
    scale = _scale(K, ridge, curves)
    rounding = 2.0**-22 if K.itemsize == 4 else 2.0**-50
    first, last, worst = np.empty(1, np.int64), np.empty(1, np.int64), np.empty(1)
    goal, steps, met, i, left = tol, 0, False, np.int64(-1), 0.0
    while True:
        if i < 0 or not left > goal:
            _look(grad, up_sets, down_sets, first, last, worst)
            left = max(0.0, grad[last[0]]) if last[0] >= 0 else 0.0
            left -= min(0.0, grad[first[0]]) if first[0] >= 0 else 0.0
            if not left > goal and not met:
                met, goal = True, closer
                max_steps = min(max_steps, 4 * steps + 10 * n)
            if not left > goal:
                return steps, True
            i, _ = move_both(K[0], K[0], 0.0, 0.0, grad, up_fixed, down_fixed, 1 / left, places)
        if steps >= max_steps or i < 0:  # there is none in numbers beyond the range of float64
            return steps, met
        row, curve, at = K[i], max(K[i, i] + ridge[i], TAU), beta[i]
        shrink = scale / row.dtype.type(curve)
        up_fixed[i] = down_fixed[i] = np.inf  # no partner of its own
        j = partner(
            row, curves, up_fixed, down_fixed, grad, grad[i] / curve, shrink,
            np.float32(max(rounding * curves[i], LEAST_CURVE)), 1 / left, places,
        )  # fmt: skip
        second = 0.0
        if j < 0:
            j = i
            beta[i] = _best_place(at, grad[i], curve, lo[i], hi[i])
        else:
            before, other = beta[j], max(K[j, j] + ridge[j], TAU)
            beta[i], beta[j] = _best_places(
                at, before, grad[i], grad[j], curve, other, row[j], lo[i], hi[i], lo[j], hi[j]
            )
            second = beta[j] - before
        step = beta[i] - at
        for v in (i, j):
            up_fixed[v] = 0 if beta[v] < hi[v] else np.inf
            down_fixed[v] = 0 if beta[v] > lo[v] else np.inf
        grad[i] += step * ridge[i]
        grad[j] += second * ridge[j]
        steps += 1
        i, size = move_both(row, K[j], step, second, grad, up_fixed, down_fixed, 1 / left, places)
        left *= size


@njit(cache=True, nogil=True, error_model="numpy")
def _best_place(at, slope, curve, lo, hi):
    """The best place of a variable, as far as the box allows."""
    return min(max(at - slope / curve, lo), hi)


@njit(cache=True, nogil=True, error_model="numpy")
def _best_places(x, y, slope, other_slope, curve, other_curve, common, lo, hi, other_lo, other_hi):
    """The best places of two variables: inside their box, or else one of them at an end and the
    other as good as it can be with that.
    """
    det = curve * other_curve - common * common
    if det > SINGULAR * curve * other_curve:
        u = x - (other_curve * slope - common * other_slope) / det
        v = y - (curve * other_slope - common * slope) / det
        if lo <= u <= hi and other_lo <= v <= other_hi:
            return u, v
    u, v = _best_place(x, slope, curve, lo, hi), y
    best, best_u, best_v = (slope + curve * (u - x) / 2) * (u - x), u, v
    for side in range(4):
        if side < 2:
            u = lo if side == 0 else hi
            v = _best_place(y, other_slope + common * (u - x), other_curve, other_lo, other_hi)
        else:
            v = other_lo if side == 2 else other_hi
            u = _best_place(x, slope + common * (v - y), curve, lo, hi)
        s, t = u - x, v - y
        value = (slope + curve * s / 2) * s + (other_slope + other_curve * t / 2 + common * s) * t
        if value < best:  # which it never is at an infinite end
            best, best_u, best_v = value, u, v
    return best_u, best_v
