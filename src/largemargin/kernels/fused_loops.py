"""Compiled loops that compute kernel values in registers, use them there and forget them.

Six vectors meet a **panel** of columns, two registers wide, whose numbers are stored feature by
feature: per feature there are two loads, six broadcasts and twelve multiplications, and the twelve
sums stay in registers. A value is summed over the features in their order, whatever its place: its
bits do not depend on what is computed beside it, and k(a, b) = k(b, a) to the last bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from largemargin.kernels.engine import GROUP
from largemargin.kernels.simd import (
    add,
    add_multiple,
    add_square,
    add_to,
    distance,
    exponential,
    fma,
    lanes,
    load,
    multiply,
    root,
    splat,
    store,
    tanh,
    transpose,
    wide_zeros,
    zeros,
)

VECTORS_IN_CACHE = 1 << 13  # numbers of vectors that pass over all panels together
PANELS_IN_CACHE = 1 << 15  # numbers of panels that all vectors pass over together
# Rows and panels of a tile, which is written to both sides of a diagonal while it is in cache
TILE_ROWS, TILE_PANELS = 64 * GROUP, 4
LINEAR, POLYNOMIAL, GAUSSIAN, MATERN, SIGMOID, LAPLACIAN = range(6)


@njit(cache=True, nogil=True, inline="always")
def _products(V, features, start, end, panel, at, width):
    """The inner products of six vectors with a panel of columns, in twelve registers. The vectors
    have the features from `start` to `end` of the list, and are zero in all others.
    """
    a0 = zeros(V)
    a1 = a0
    b0 = a0
    b1 = a0
    c0 = a0
    c1 = a0
    d0 = a0
    d1 = a0
    e0 = a0
    e1 = a0
    f0 = a0
    f1 = a0
    for t in range(start, end):
        here = at + features[t]
        x0 = load(panel, here)
        x1 = load(panel, here + width)
        k = t * GROUP
        v = splat(V, k)
        a0 = fma(v, x0, a0)
        a1 = fma(v, x1, a1)
        v = splat(V, k + 1)
        b0 = fma(v, x0, b0)
        b1 = fma(v, x1, b1)
        v = splat(V, k + 2)
        c0 = fma(v, x0, c0)
        c1 = fma(v, x1, c1)
        v = splat(V, k + 3)
        d0 = fma(v, x0, d0)
        d1 = fma(v, x1, d1)
        v = splat(V, k + 4)
        e0 = fma(v, x0, e0)
        e1 = fma(v, x1, e1)
        v = splat(V, k + 5)
        f0 = fma(v, x0, f0)
        f1 = fma(v, x1, f1)
    return a0, a1, b0, b1, c0, c1, d0, d1, e0, e1, f0, f1


@njit(cache=True, nogil=True, inline="always")
def _write(found, block, width):
    """Write the twelve registers to a block."""
    a0, a1, b0, b1, c0, c1, d0, d1, e0, e1, f0, f1 = found
    store(block, 0 * width, a0)
    store(block, 1 * width, a1)
    store(block, 2 * width, b0)
    store(block, 3 * width, b1)
    store(block, 4 * width, c0)
    store(block, 5 * width, c1)
    store(block, 6 * width, d0)
    store(block, 7 * width, d1)
    store(block, 8 * width, e0)
    store(block, 9 * width, e1)
    store(block, 10 * width, f0)
    store(block, 11 * width, f1)


@njit(cache=True, nogil=True, inline="always")
def _distances(V, features, start, end, panel, at, width, block):
    """The sums of |a_k - b_k| of six vectors with a panel of columns, into `block`; all features
    are in the list.
    """
    for r in range(GROUP):
        s0 = zeros(V)
        s1 = s0
        for t in range(start, end):
            here = at + features[t]
            v = splat(V, t * GROUP + r)
            s0 = add(s0, distance(v, load(panel, here)))
            s1 = add(s1, distance(v, load(panel, here + width)))
        store(block, 2 * r * width, s0)
        store(block, (2 * r + 1) * width, s1)


@njit(cache=True, nogil=True, inline="always")
def _transform(kind, numbers, degree, own, first, norms, column, width, block):
    """Turn the sums of a block into kernel values, in place. `own` and `norms` are squared norms,
    of the vectors from `first` on and of the columns from `column` on, as the kernel scales them.
    """
    if kind == LINEAR:
        return
    scale = splat(numbers, 1)
    for r in range(2 * GROUP):
        x = load(block, r * width)
        side = load(norms, column + (r % 2) * width)
        if kind == LAPLACIAN:
            x = exponential(multiply(scale, x))
        elif kind == MATERN:
            s = root(fma(scale, x, add(splat(own, first + r // 2), side)))
            power = exponential(multiply(splat(numbers, 4), s))
            slope = multiply(s, fma(splat(numbers, 3), s, splat(numbers, 2)))
            x = fma(slope, power, power)
        else:
            x = fma(scale, x, splat(numbers, 2))
            if kind == SIGMOID:
                x = tanh(x)
            else:
                inner = x
                x = splat(numbers, 3)
                for _ in range(degree):
                    x = multiply(x, inner)
        store(block, r * width, x)


@njit(cache=True, nogil=True, inline="always")
def _gaussian(products, own, i, side, scale):
    """e^(scale products + own_i + side)"""
    return exponential(fma(scale, products, add(splat(own, i), side)))


@njit(cache=True, nogil=True, inline="always")
def _gaussians(products, own, i, norms, column, width, numbers):
    """The twelve registers of inner products as gaussians: what `_transform` does, but for them
    nothing is written to a block.
    """
    a0, a1, b0, b1, c0, c1, d0, d1, e0, e1, f0, f1 = products
    scale = splat(numbers, 1)
    x0 = load(norms, column)
    x1 = load(norms, column + width)
    a0 = _gaussian(a0, own, i, x0, scale)
    a1 = _gaussian(a1, own, i, x1, scale)
    b0 = _gaussian(b0, own, i + 1, x0, scale)
    b1 = _gaussian(b1, own, i + 1, x1, scale)
    c0 = _gaussian(c0, own, i + 2, x0, scale)
    c1 = _gaussian(c1, own, i + 2, x1, scale)
    d0 = _gaussian(d0, own, i + 3, x0, scale)
    d1 = _gaussian(d1, own, i + 3, x1, scale)
    e0 = _gaussian(e0, own, i + 4, x0, scale)
    e1 = _gaussian(e1, own, i + 4, x1, scale)
    f0 = _gaussian(f0, own, i + 5, x0, scale)
    f1 = _gaussian(f1, own, i + 5, x1, scale)
    return a0, a1, b0, b1, c0, c1, d0, d1, e0, e1, f0, f1


@njit(cache=True, nogil=True, inline="always")
def _add(found, i, column, width, used, weights, stride, sums, V):
    """Add the twelve registers, times the coefficients of each problem that uses them."""
    a0, a1, b0, b1, c0, c1, d0, d1, e0, e1, f0, f1 = found
    n_problems = len(used)
    for p in range(n_problems):
        if used[p]:
            k = i * n_problems + p
            s0 = wide_zeros(V, weights)
            s1 = s0
            s0 = add_multiple(s0, weights, k, a0)
            s1 = add_multiple(s1, weights, k, a1)
            k += n_problems
            s0 = add_multiple(s0, weights, k, b0)
            s1 = add_multiple(s1, weights, k, b1)
            k += n_problems
            s0 = add_multiple(s0, weights, k, c0)
            s1 = add_multiple(s1, weights, k, c1)
            k += n_problems
            s0 = add_multiple(s0, weights, k, d0)
            s1 = add_multiple(s1, weights, k, d1)
            k += n_problems
            s0 = add_multiple(s0, weights, k, e0)
            s1 = add_multiple(s1, weights, k, e1)
            k += n_problems
            s0 = add_multiple(s0, weights, k, f0)
            s1 = add_multiple(s1, weights, k, f1)
            add_to(sums, p * stride + column, s0)
            add_to(sums, p * stride + column + width, s1)


@njit(cache=True, nogil=True)
def add_sums(
    V, own, features, starts, d, panels, norms, kind, numbers, degree, coefs, first, last, out
):
    """out[p, j] += sum_i coefs[i, p] k(v_i, x_j) for the columns of the panels `first` to `last`.

    Sums are float64, whatever the type of the values, but for those of six terms, which have the
    type of the coefficients.
    """
    width = lanes(V)
    n_problems, stride = coefs.shape[1], out.shape[1]
    weights, sums = coefs.reshape(-1), out.reshape(-1)
    n_groups = len(own) // GROUP
    used = np.zeros((n_groups, n_problems), np.bool_)
    for i in range(len(own)):
        for p in range(n_problems):
            if coefs[i, p] != 0:
                used[i // GROUP, p] = True
    block = np.empty(2 * GROUP * width, V.dtype)
    # a run of vectors that stays in cache while all panels pass
    run = max(1, VECTORS_IN_CACHE * n_groups // max(1, starts[n_groups] * GROUP))
    for begin in range(0, n_groups, run):
        end = min(begin + run, n_groups)
        for j in range(first, last):
            column = 2 * j * width
            for g in range(begin, end):
                i, at = g * GROUP, column * d
                if kind == GAUSSIAN:
                    found = _products(V, features, starts[g], starts[g + 1], panels, at, width)
                    found = _gaussians(found, own, i, norms, column, width, numbers)
                    _add(found, i, column, width, used[g], weights, stride, sums, V)
                    continue
                if kind == LAPLACIAN:
                    _distances(V, features, starts[g], starts[g + 1], panels, at, width, block)
                else:
                    found = _products(V, features, starts[g], starts[g + 1], panels, at, width)
                    _write(found, block, width)
                _transform(kind, numbers, degree, own, i, norms, column, width, block)
                for p in range(n_problems):
                    if used[g, p]:
                        s0 = wide_zeros(V, weights)
                        s1 = s0
                        for r in range(GROUP):
                            c = (i + r) * n_problems + p
                            s0 = add_multiple(s0, weights, c, load(block, 2 * r * width))
                            s1 = add_multiple(s1, weights, c, load(block, (2 * r + 1) * width))
                        add_to(sums, p * stride + column, s0)
                        add_to(sums, p * stride + column + width, s1)


@njit(cache=True, nogil=True)
def fill_values(
    V, own, features, starts, d, panels, norms, kind, numbers, degree, places, first, last, out
):
    """out[places[i], j] = k(v_i, x_j) for the columns of the panels `first` to `last`; a row of
    `out` has room for whole panels.
    """
    width = lanes(V)
    stride, flat = out.shape[1], out.reshape(-1)
    block = np.empty(2 * GROUP * width, V.dtype)
    # a run of panels that stays in cache while all vectors pass: rows are written side by side
    run = max(1, PANELS_IN_CACHE // (2 * d * width))
    for begin in range(first, last, run):
        end = min(begin + run, last)
        for g in range(len(own) // GROUP):
            i = g * GROUP
            for j in range(begin, end):
                column = 2 * j * width
                at = column * d
                if kind == GAUSSIAN:
                    found = _products(V, features, starts[g], starts[g + 1], panels, at, width)
                    _write(_gaussians(found, own, i, norms, column, width, numbers), block, width)
                elif kind == LAPLACIAN:
                    _distances(V, features, starts[g], starts[g + 1], panels, at, width, block)
                else:
                    found = _products(V, features, starts[g], starts[g + 1], panels, at, width)
                    _write(found, block, width)
                if kind != GAUSSIAN:
                    _transform(kind, numbers, degree, own, i, norms, column, width, block)
                for r in range(min(GROUP, len(places) - i)):
                    to = places[i + r] * stride + column
                    store(flat, to, load(block, 2 * r * width))
                    store(flat, to + width, load(block, (2 * r + 1) * width))


@njit(cache=True, nogil=True)
def fill_square(
    V, own, features, starts, d, panels, norms, kind, numbers, degree, first, last, out
):
    """out[i, j] = out[j, i] = k(x_i, x_j) for the columns j of the panels `first` to `last` and all
    i that are no further on than these; vectors and columns are the same, in the same order.
    """
    n, width = len(out), 2 * lanes(V)
    tile = np.empty((TILE_ROWS, TILE_PANELS * width), V.dtype)
    places = np.arange(TILE_ROWS)
    for begin in range(first, last, TILE_PANELS):
        count = min(TILE_PANELS, last - begin)
        left, right = begin * width, min((begin + count) * width, n)
        for top in range(0, right, TILE_ROWS):
            height = min(TILE_ROWS, right - top)
            group, groups = top // GROUP, -(-height // GROUP)
            fill_values(
                V, own[top : top + groups * GROUP], features, starts[group : group + groups + 1],
                d, panels[left * d :], norms[left:], kind, numbers, degree, places[:height], 0,
                count, tile,
            )  # fmt: skip
            for i in range(height):
                source, target = tile[i], out[top + i, left:right]
                for j in range(len(target)):
                    target[j] = source[j]
            _mirror(tile, height, right - left, out, left, top)


@njit(cache=True, nogil=True, inline="always")
def _add_across(found, i, column, width, weights, stride, across):
    """Add the twelve registers, times the coefficients of their columns, to the lanes of their six
    vectors: row i of `across` has as many for each problem.
    """
    a0, a1, b0, b1, c0, c1, d0, d1, e0, e1, f0, f1 = found
    n_problems = len(weights) // stride
    for p in range(n_problems):
        x0 = load(weights, p * stride + column)
        x1 = load(weights, p * stride + column + width)
        at = (i * n_problems + p) * width
        step = n_problems * width
        store(across, at, add(load(across, at), fma(a1, x1, multiply(a0, x0))))
        at += step
        store(across, at, add(load(across, at), fma(b1, x1, multiply(b0, x0))))
        at += step
        store(across, at, add(load(across, at), fma(c1, x1, multiply(c0, x0))))
        at += step
        store(across, at, add(load(across, at), fma(d1, x1, multiply(d0, x0))))
        at += step
        store(across, at, add(load(across, at), fma(e1, x1, multiply(e0, x0))))
        at += step
        store(across, at, add(load(across, at), fma(f1, x1, multiply(f0, x0))))


@njit(cache=True, nogil=True)
def add_square_sums(
    V, own, features, starts, d, panels, norms, kind, numbers, degree, coefs, n, first, last, out,
    above,
):  # fmt: skip
    """out[p, j] += sum_i coefs[p, i] k(x_i, x_j) for the columns j of the panels `first` to `last`
    and all i <= j, and above[p, i] += sum_j coefs[p, j] k(x_i, x_j) for the same j and all i < j:
    each value is computed once. Vectors and columns are the same n examples, in the same order, in
    float64; `coefs`, `out` and `above` have zeros behind them for whole panels and groups.
    """
    width = lanes(V)
    n_problems, stride = out.shape
    weights, by_vector = coefs.reshape(-1), coefs.T.copy().reshape(-1)
    sums, used = out.reshape(-1), np.ones(n_problems, np.bool_)
    block = np.empty(2 * GROUP * width, V.dtype)
    across = np.zeros(len(own) * n_problems * width)
    run = max(1, VECTORS_IN_CACHE // (d * GROUP))
    n_groups = -(-min(2 * last * width, n) // GROUP)
    for begin in range(0, n_groups, run):
        for j in range(first, last):
            column = 2 * j * width
            at, right = column * d, min(column + 2 * width, n)
            for g in range(begin, min(begin + run, -(-right // GROUP))):
                i = g * GROUP
                if kind == GAUSSIAN:
                    found = _products(V, features, starts[g], starts[g + 1], panels, at, width)
                    found = _gaussians(found, own, i, norms, column, width, numbers)
                else:
                    if kind == LAPLACIAN:
                        _distances(V, features, starts[g], starts[g + 1], panels, at, width, block)
                    else:
                        found = _products(V, features, starts[g], starts[g + 1], panels, at, width)
                        _write(found, block, width)
                    _transform(kind, numbers, degree, own, i, norms, column, width, block)
                    found = _read(block, width)
                if i + GROUP <= column:
                    _add(found, i, column, width, used, by_vector, stride, sums, V)
                    _add_across(found, i, column, width, weights, stride, across)
                    continue
                _write(found, block, width)  # on the diagonal
                for p in range(n_problems):
                    for r in range(min(GROUP, n - i)):
                        for c in range(max(column, i + r), right):
                            value = block[2 * r * width + c - column]
                            out[p, c] += coefs[p, i + r] * value
                            if c > i + r:
                                above[p, i + r] += coefs[p, c] * value
    for i in range(n_groups * GROUP):
        for p in range(n_problems):
            for lane in range(width):
                above[p, i] += across[(i * n_problems + p) * width + lane]


@njit(cache=True, nogil=True, inline="always")
def _read(block, width):
    """The twelve registers that are in a block."""
    return (
        load(block, 0 * width), load(block, 1 * width), load(block, 2 * width),
        load(block, 3 * width), load(block, 4 * width), load(block, 5 * width),
        load(block, 6 * width), load(block, 7 * width), load(block, 8 * width),
        load(block, 9 * width), load(block, 10 * width), load(block, 11 * width),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _mirror(tile, height, width, out, row, column):
    """out[row + j, column + i] = tile[i, j]"""
    source, target, steps = tile.reshape(-1), out.reshape(-1), (tile.shape[1], out.shape[1])
    side = lanes(source)
    whole_height, whole_width = height // side * side, width // side * side
    for j in range(0, whole_width, side):
        for i in range(0, whole_height, side):
            transpose(source, i * steps[0] + j, target, (row + j) * steps[1] + column + i, steps)
    for j in range(width):
        for i in range(whole_height if j < whole_width else 0, height):
            out[row + j, column + i] = tile[i, j]


@njit(cache=True, nogil=True)
def pack_columns(X, rows, first, last, width, panels):
    """Copy rows of X into the panels `first` to `last`, feature by feature; zeros at the end."""
    d = X.shape[1]
    for j in range(first, last):
        for r in range(width):
            at = j * width * d + r
            i = j * width + r
            if i < len(rows):
                row = X[rows[i]]
                for k in range(d):
                    panels[at + k * width] = row[k]
            else:
                for k in range(d):
                    panels[at + k * width] = 0


@njit(cache=True, nogil=True)
def add_squares(panels, d, first, last, squares):
    """Add the squared norms of the columns of the panels `first` to `last`, in float64."""
    width = lanes(panels)
    for j in range(first, last):
        column = 2 * j * width
        s0 = wide_zeros(panels, squares)
        s1 = s0
        for k in range(d):
            at = column * d + 2 * k * width
            s0 = add_square(s0, load(panels, at))
            s1 = add_square(s1, load(panels, at + width))
        add_to(squares, column, s0)
        add_to(squares, column + width, s1)


@njit(cache=True, nogil=True)
def pack_vectors(X, rows, every, width, V, features, starts):
    """Copy rows of X in groups of six, feature by feature: `every` feature, or those in which not
    all six are zero. `features` says where a panel has them, `starts` where a group begins.
    """
    at = 0
    for g in range(len(rows) // GROUP):
        starts[g] = at
        for k in range(X.shape[1]):
            found = every
            for r in range(GROUP):
                V[at * GROUP + r] = X[rows[g * GROUP + r], k]
                if V[at * GROUP + r] != 0:
                    found = True
            if found:
                features[at] = k * width
                at += 1
    starts[len(rows) // GROUP] = at
