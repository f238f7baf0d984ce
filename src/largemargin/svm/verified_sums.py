"""Compiled sums behind the objective and the duality gap of a fit, each with a bound of its error
or with twice the digits: without contraction or reordering, which would undo them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

COLUMNS = 2048  # columns at a time, as in `kernels.loops`: their sums stay in cache


@njit(cache=True, nogil=True)
def add_sizes(sums, start, values, slots, weights):
    """sums[start + j] += sum_r weights[r] |values[slots[r], j]|, four rows at a time."""
    n = len(slots)
    whole = n // 4 * 4
    for left in range(0, values.shape[1], COLUMNS):
        size = min(COLUMNS, values.shape[1] - left)
        out = sums[start + left : start + left + size]
        for r in range(0, whole, 4):
            k0 = values[slots[r], left : left + size]
            k1 = values[slots[r + 1], left : left + size]
            k2 = values[slots[r + 2], left : left + size]
            k3 = values[slots[r + 3], left : left + size]
            w0, w1, w2, w3 = weights[r], weights[r + 1], weights[r + 2], weights[r + 3]
            for j in range(size):
                out[j] += (w0 * abs(k0[j]) + w1 * abs(k1[j])) + (w2 * abs(k2[j]) + w3 * abs(k3[j]))
        for r in range(whole, n):
            k0 = values[slots[r], left : left + size]
            w0 = weights[r]
            for j in range(size):
                out[j] += w0 * abs(k0[j])


@njit(cache=True, nogil=True)
def add_rows_and_sizes(grad, sums, start, values, first, width, slots, coefs, weights):
    """What `add_rows` and `add_sizes` do, in one pass over the rows, for the `width` columns that
    begin at `first`.
    """
    n = len(slots)
    whole = n // 4 * 4
    for left in range(0, width, COLUMNS):
        size = min(COLUMNS, width - left)
        out = grad[start + left : start + left + size]
        total = sums[start + left : start + left + size]
        at = first + left
        for r in range(0, whole, 4):
            k0 = values[slots[r], at : at + size]
            k1 = values[slots[r + 1], at : at + size]
            k2 = values[slots[r + 2], at : at + size]
            k3 = values[slots[r + 3], at : at + size]
            c0, c1, c2, c3 = coefs[r], coefs[r + 1], coefs[r + 2], coefs[r + 3]
            w0, w1, w2, w3 = weights[r], weights[r + 1], weights[r + 2], weights[r + 3]
            for j in range(size):
                out[j] += (c0 * k0[j] + c1 * k1[j]) + (c2 * k2[j] + c3 * k3[j])
                total[j] += (w0 * abs(k0[j]) + w1 * abs(k1[j])) + (
                    w2 * abs(k2[j]) + w3 * abs(k3[j])
                )
        for r in range(whole, n):
            k0 = values[slots[r], at : at + size]
            c0, w0 = coefs[r], weights[r]
            for j in range(size):
                out[j] += c0 * k0[j]
                total[j] += w0 * abs(k0[j])


@njit(cache=True, nogil=True)
def add_few(grad, sums, start, values, first, width, slots, coefs, weights):
    """What `add_rows_and_sizes` does to a gradient of zero, which is then as if computed with twice
    the digits (Ogita, Rump & Oishi 2005, "Dot2").
    """
    out = grad[start : start + width]
    total = sums[start : start + width]
    rest = np.zeros(width)
    for r in range(len(slots)):
        row = values[slots[r], first : first + width]
        c, w = coefs[r], weights[r]
        c_high = _upper(c)
        c_low = c - c_high
        for j in range(width):
            k = np.float64(row[j])
            k_high = _upper(k)
            k_low = k - k_high
            product = c * k
            new = out[j] + product
            kept = new - out[j]
            # the exact rounding errors of the addition (TwoSum) and of the product (TwoProduct)
            lost = (out[j] - (new - kept)) + (product - kept)
            off = ((c_high * k_high - product) + c_high * k_low + c_low * k_high) + c_low * k_low
            rest[j] += lost + off
            out[j] = new
            total[j] += w * abs(k)
    for j in range(width):
        if np.isfinite(rest[j]):
            out[j] += rest[j]


@njit(cache=True, nogil=True, inline="always")
def _upper(x):
    """The upper half of the digits (Dekker 1971)."""
    far = 134217729.0 * x
    return far - (far - x)


@njit(cache=True, nogil=True)
def compensated_sum(values):
    """The sum, computed as if with twice the digits (Neumaier 1974)."""
    total, rest = 0.0, 0.0
    for value in values:
        total, rest = _add(total, rest, value)
    return total + rest if np.isfinite(rest) else total


@njit(cache=True, nogil=True, inline="always")
def _add(total, rest, value):
    """Add a value to a sum whose rounding errors are summed up in `rest` (Knuth's TwoSum)."""
    new = total + value
    kept = new - total
    return new, rest + ((total - (new - kept)) + (value - kept))


@njit(cache=True, nogil=True)
def sums_of_groups(group, values, n_groups):
    """The sum of the values of each group, as `compensated_sum`."""
    total, rest = np.zeros(n_groups), np.zeros(n_groups)
    for i in range(len(values)):
        g = group[i]
        total[g], rest[g] = _add(total[g], rest[g], values[i])
    for g in range(n_groups):
        if np.isfinite(rest[g]):
            total[g] += rest[g]
    return total


@njit(cache=True, nogil=True)
def weigh_rows(data, indices, indptr, rows, coefs, total):
    """total += coefs @ X[rows] for a CSR matrix X, each column as `compensated_sum`."""
    rest = np.zeros(len(total))
    for k in range(len(rows)):
        c = coefs[k]
        if c != 0.0:
            for e in range(indptr[rows[k]], indptr[rows[k] + 1]):
                j = indices[e]
                total[j], rest[j] = _add(total[j], rest[j], c * np.float64(data[e]))
    for j in range(len(total)):
        if np.isfinite(rest[j]):
            total[j] += rest[j]


@njit(cache=True, nogil=True)
def balance(beta, lo, hi):
    """Make a sum zero that rounding has left near zero, by changing one free variable with room
    for it: the smallest, which can take the change most exactly.
    """
    off = compensated_sum(beta)
    chosen = -1
    for i in range(len(beta)):
        room = min(hi[i] - beta[i], beta[i] - lo[i])
        if room > 4 * abs(off) and (chosen < 0 or abs(beta[i]) < abs(beta[chosen])):
            chosen = i
    if chosen >= 0:
        beta[chosen] -= off


@njit(cache=True, nogil=True)
def sum_errors(coefs, vectors, value, left, right, constant, most_of_one, rows, sizes, of_sum):
    """What the errors of kernel values, given by `Rounding` per example, and of the sums add up to:
    one row per function and one column for each of `rows`.
    """
    errors = np.empty_like(sizes)
    for k in range(len(coefs)):
        total, weighted = 0.0, 0.0
        for r in range(len(vectors)):
            total += abs(coefs[k, r])
            weighted += abs(coefs[k, r]) * right[vectors[r]]
        for j in range(len(rows)):
            i, size = rows[j], sizes[k, j]
            error = 1.01 * (value[i] * size + weighted * left[i] + total * constant[i])
            if error > most_of_one * total:
                error = most_of_one * total
            errors[k, j] = error + of_sum * size
    return errors


@njit(cache=True, nogil=True)
def square_and_error(coefs, values, errors, unit):
    """The sum of all coefficients times values, and a bound of its error."""
    square, rest, off = 0.0, 0.0, 0.0
    for k in range(coefs.shape[0]):
        for j in range(coefs.shape[1]):
            c = coefs[k, j]
            if c != 0:
                part = c * values[k, j]
                square, rest = _add(square, rest, part)
                off += abs(c) * errors[k, j] + 2 * unit * abs(part)
    return square + rest if np.isfinite(rest) else square, off * (1 + coefs.size * unit)


@njit(cache=True, nogil=True, inline="always")
def _loss(xi, box, ridge):
    """`Loss.value` of a positive slack: a parabola up to ridge * box, then its tangent."""
    if ridge > 0 and xi <= ridge * box:
        return xi * xi / (2 * ridge)
    return box * xi - ridge * box * box / 2


@njit(cache=True, nogil=True)
def slackness_sums(f, errors, y, s, alpha, b, unit, C, box, ridge):
    """The sum of what each example lacks of complementary slackness,

        C s loss(xi) + ridge alpha^2 / (2 C s) - alpha (1 - y (f + b)),   xi = max(0, 1 - y (f + b))

    and the largest that it can be for outputs with errors, and what a few operations of a relative
    error of `unit` add; `box` and `ridge` are those of a `Loss`. Each part is convex in f, so that
    it is largest at an end, and no error counts where alpha is at a bound and xi on its side.
    """
    total, rest, high, high_rest = 0.0, 0.0, 0.0, 0.0
    for i in range(len(f)):
        if s[i] > 0:
            a, price = alpha[i], C * s[i]
            kept = ridge * a * a / (2 * price)
            lack = 1 - y[i] * (f[i] + b)
            error = errors[i] + unit * (1 + abs(f[i]) + abs(b))
            if not error < np.inf:  # nothing is known of such an output
                return np.inf, np.inf
            largest = 0.0
            for side in (-1, 0, 1):
                at = lack + side * error
                loss = price * _loss(at, box, ridge) if at > 0 else 0.0
                part = loss + kept - a * at
                largest = max(largest, part + unit * (loss + kept + abs(a * at)))
                if side == 0:
                    total, rest = _add(total, rest, part)
            high, high_rest = _add(high, high_rest, largest)
    total = total + rest if np.isfinite(rest) else total
    return total, high + high_rest if np.isfinite(high_rest) else high


@njit(cache=True, nogil=True)
def loss_sums(f, errors, y, s, b, unit, box, ridge):
    """The least and the largest that sum s loss(xi) can be, for outputs with errors and what a few
    operations of a relative error of `unit` add to them; `box` and `ridge` are those of a `Loss`.
    """
    low, low_rest, high, high_rest = 0.0, 0.0, 0.0, 0.0
    for i in range(len(f)):
        if s[i] > 0:
            lack = 1 - y[i] * (f[i] + b)
            error = errors[i] + unit * (1 + abs(f[i]) + abs(b))
            least, most = lack - error, lack + error
            if least > 0:
                part = s[i] * _loss(least, box, ridge)
                low, low_rest = _add(low, low_rest, part)
            if not most <= 0:
                part = s[i] * _loss(most, box, ridge)
                high, high_rest = _add(high, high_rest, part)
    low = low + low_rest if np.isfinite(low_rest) else low
    return low, high + high_rest if np.isfinite(high_rest) else high
