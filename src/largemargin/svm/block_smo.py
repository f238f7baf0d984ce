"""Compiled loops: SMO (sequential minimal optimisation) in one matrix of kernel values.

    minimise 1/2 b'(K + diag(ridge))b + p'b,   lo <= b <= hi,   the sums of a b over each group kept

`smo_solve` changes two variables of one group at a time, so that the group's sum is kept. The sets
are those of LIBSVM: I_up holds the variables for which a_v b_v may rise, which are not at that
bound, and I_low those for which it may fall. A pair (i in I_up, j in I_low) violates the KKT
conditions if a_i grad_i < a_j grad_j, and a step along it then lowers the objective. The pair is
LIBSVM's second-order working set selection (Fan, Chen & Lin 2005): i has the least a grad in I_up,
j the largest decrease that a step with i can bring.

`smo_without_sums` changes two variables at a time as well, each by its own step: i brings the
largest decrease alone, j the largest in addition (Steinwart, Hush & Scovel 2011). Steps of one
variable would be cheaper, and five times as many of them needed: where kernel values are positive,
variables take from each other.

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
SHRINK_FROM = 512  # variables from which on those that will not move are left out for a while
SHRUNK = 0.7  # the largest fraction of the variables that is worth a matrix of its own
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
def _sets(beta, lo, hi, group, n_groups):
    """For each group zero where a variable is in I_up, or in I_low, and infinite elsewhere."""
    up_fixed = np.full((n_groups, len(beta)), np.inf, np.float32)
    down_fixed = np.full((n_groups, len(beta)), np.inf, np.float32)
    for k in range(len(beta)):
        _place_in_sets(k, beta, lo, hi, up_fixed[group[k]], down_fixed[group[k]])
    return up_fixed, down_fixed


@njit(cache=True, nogil=True, error_model="numpy")
def _place_in_sets(k, beta, lo, hi, up_fixed, down_fixed):
    up_fixed[k] = 0 if beta[k] < hi[k] else np.inf
    down_fixed[k] = 0 if beta[k] > lo[k] else np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def _scaled_diagonal(K, ridge):
    """The diagonal in a unit that keeps float32 numbers in range, and one over that unit; both in
    the type of K, in which the passes compute curvatures.
    """
    unit = LEAST_CURVE
    for k in range(len(ridge)):
        unit = max(unit, abs(K[k, k] + ridge[k]))
    curves = np.empty(len(ridge) + 1, K.dtype)
    for k in range(len(ridge)):
        curves[k] = (K[k, k] + ridge[k]) / unit
    curves[-1] = 1 / unit
    return curves[:-1], curves[-1]


@njit(cache=True, nogil=True, error_model="numpy")
def _least_curve(K, own):
    """The least curvature of a pair, in the unit of the diagonal: a smaller one is rounding."""
    rounding = 2.0**-22 if K.itemsize == 4 else 2.0**-50
    return np.float32(max(rounding * abs(own), LEAST_CURVE))


@njit(cache=True, nogil=True, error_model="numpy")
def _pairs(K, ridge, grad, beta, lo, hi, group, n_groups, tol, max_steps):
    """SMO for a = 1. Changes beta and grad in place; returns the number of steps and whether the
    violation is no more than tol.
    """
    up_fixed, down_fixed = _sets(beta, lo, hi, group, n_groups)
    curves, scale = _scaled_diagonal(K, ridge)
    two, places = scale + scale, place_bits(len(beta))
    first, last = np.empty(n_groups, np.int64), np.empty(n_groups, np.int64)
    worst, top = np.empty(n_groups), np.empty(n_groups)
    steps, i, g = 0, np.int64(-1), 0
    while True:
        exact = i < 0  # at the start, and where a pass saw no pair
        if exact:
            _look(grad, up_fixed, down_fixed, first, last, worst)
            g = int(np.argmax(worst))
            i = first[g]
            if not worst[g] > tol:
                return steps, True
            for one in range(n_groups):
                top[one] = grad[last[one]]
        if steps >= max_steps:
            return steps, False
        row, least = K[i], _least_curve(K, curves[i])
        j, size = second_of_pair(
            row, curves, down_fixed[g], grad, curves[i], least, two, grad[i], 1 / worst[g], places
        )
        if exact and j < 0:  # numbers that are out of the range of float32
            j = last[g]
        elif j < 0 or not size * worst[g] > tol:
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
        _place_in_sets(i, beta, lo, hi, up_fixed[g], down_fixed[g])
        _place_in_sets(j, beta, lo, hi, up_fixed[g], down_fixed[g])
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
            g = int(np.argmax(worst))
            i = first[g]


@njit(cache=True, nogil=True, error_model="numpy")
def _with_sums(K, ridge, grad, beta, lo, hi, group, n_groups, tol, closer, max_steps):
    """`smo_solve` for a = 1. Every so often, and once `tol` is met, it looks whether most variables
    are where they will stay; if so it goes on with the others, and looks at all again after that.
    """
    n, steps, met, goal = len(beta), 0, False, tol
    piece = max_steps if n < SHRINK_FROM else n // 2
    while True:
        made, reached = _pairs(
            K, ridge, grad, beta, lo, hi, group, n_groups, goal, min(piece, max_steps - steps)
        )
        steps += made
        if reached:
            if met:
                return steps, True
            met, goal, max_steps = True, closer, min(max_steps, 4 * steps + 10 * n)
        if steps >= max_steps:
            return steps, met
        if n >= SHRINK_FROM:
            kept = _moving(grad, beta, lo, hi, group, n_groups)
            if len(kept) < SHRUNK * n:
                steps += _solve_part(
                    K, ridge, grad, beta, lo, hi, group, n_groups, goal, max_steps - steps, kept
                )


@njit(cache=True, nogil=True, error_model="numpy")
def _moving(grad, beta, lo, hi, group, n_groups):
    """The variables that may still move: not those at a bound whose gradient keeps them there, by
    more than the violation.
    """
    up_fixed, down_fixed = _sets(beta, lo, hi, group, n_groups)
    first, last = np.empty(n_groups, np.int64), np.empty(n_groups, np.int64)
    worst = np.empty(n_groups)
    _look(grad, up_fixed, down_fixed, first, last, worst)
    kept, count = np.empty(len(beta), np.int64), 0
    for k in range(len(beta)):
        g = group[k]
        if first[g] >= 0 and last[g] >= 0:
            rises = up_fixed[g, k] == 0 and grad[k] < grad[last[g]] + abs(worst[g])
            falls = down_fixed[g, k] == 0 and grad[k] > grad[first[g]] - abs(worst[g])
            if rises or falls:
                kept[count] = k
                count += 1
    return kept[:count]


@njit(cache=True, nogil=True, error_model="numpy")
def _solve_part(K, ridge, grad, beta, lo, hi, group, n_groups, tol, max_steps, kept):
    """Solve for some variables in their own matrix, then change the gradient of all; returns the
    number of steps.
    """
    part = np.empty((len(kept), len(kept)), K.dtype)
    for r in range(len(kept)):
        row = K[kept[r]]
        for c in range(len(kept)):
            part[r, c] = row[kept[c]]
    found = beta[kept]
    steps, _ = _pairs(
        part, ridge[kept], grad[kept], found, lo[kept], hi[kept], group[kept], n_groups, tol,
        max_steps,
    )  # fmt: skip
    for r in range(len(kept)):
        k = kept[r]
        step = found[r] - beta[k]
        if step != 0.0:
            beta[k] = found[r]
            grad[k] += step * ridge[k]
            row = K[k]
            for c in range(len(grad)):
                grad[c] += step * np.float64(row[c])
    return steps


@njit(cache=True, nogil=True, error_model="numpy")
def smo_solve(K, ridge, grad, beta, lo, hi, a, group, n_groups, tol, closer, max_steps):
    """SMO: minimise 1/2 b'(K + diag(ridge))b + p'b over the box, with the sums of a b kept.

    Goes on to a violation of `closer` as long as that is cheap, after one of `tol` is met. Changes
    beta and grad in place; returns the number of steps and whether `tol` was met.
    """
    if (a > 0).all():
        return _with_sums(K, ridge, grad, beta, lo, hi, group, n_groups, tol, closer, max_steps)
    signs = a.astype(K.dtype)  # with a b as the variables, all coefficients of the sums are 1
    signed = K.copy()
    for k in range(len(a)):
        signed[k] *= signs[k] * signs
    low, high = np.where(a > 0, lo, -hi), np.where(a > 0, hi, -lo)
    grad *= a
    beta *= a
    found = _with_sums(
        signed, ridge, grad, beta, low, high, group, n_groups, tol, closer, max_steps
    )
    grad *= a
    beta *= a
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def smo_without_sums(K, ridge, grad, beta, lo, hi, tol, closer, max_steps):
    """The same where no sum is kept. The violation counts from zero: it is the largest gradient in
    I_low less the least in I_up, neither being on the wrong side of zero.
    """
    n = len(beta)
    group = np.zeros(n, np.uint8)
    up_sets, down_sets = _sets(beta, lo, hi, group, 1)
    up_fixed, down_fixed = up_sets[0], down_sets[0]
    curves, scale = _scaled_diagonal(K, ridge)
    ease, places = np.empty(n, np.float32), place_bits(n)
    for k in range(n):
        ease[k] = 1 / max(curves[k], LEAST_CURVE)
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
            i, _ = move_both(
                K[0], K[0], 0.0, 0.0, grad, up_fixed, down_fixed, ease, 1 / left, places
            )
        if steps >= max_steps or i < 0:  # there is none in numbers beyond the range of float64
            return steps, met
        row, curve, at = K[i], max(K[i, i] + ridge[i], TAU), beta[i]
        shrink = scale / row.dtype.type(curve)
        up_fixed[i] = down_fixed[i] = np.inf  # no partner of its own
        j = partner(
            row, curves, up_fixed, down_fixed, grad, grad[i] / curve, shrink,
            _least_curve(K, curves[i]), 1 / left, places,
        )  # fmt: skip
        second = 0.0
        if j < 0:
            j = i
            beta[i] = _best_place(at, grad[i], curve, lo[i], hi[i])
        else:
            before, other = beta[j], max(K[j, j] + ridge[j], TAU)
            beta[i], beta[j] = _bestplaces(
                at, before, grad[i], grad[j], curve, other, row[j], lo[i], hi[i], lo[j], hi[j]
            )
            second = beta[j] - before
        step = beta[i] - at
        _place_in_sets(i, beta, lo, hi, up_fixed, down_fixed)
        _place_in_sets(j, beta, lo, hi, up_fixed, down_fixed)
        grad[i] += step * ridge[i]
        grad[j] += second * ridge[j]
        steps += 1
        i, size = move_both(
            row, K[j], step, second, grad, up_fixed, down_fixed, ease, 1 / left, places
        )
        left *= size


@njit(cache=True, nogil=True, error_model="numpy")
def _best_place(at, slope, curve, lo, hi):
    """The best place of a variable, as far as the box allows."""
    return min(max(at - slope / curve, lo), hi)


@njit(cache=True, nogil=True, error_model="numpy")
def _bestplaces(x, y, slope, other_slope, curve, other_curve, common, lo, hi, other_lo, other_hi):
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
