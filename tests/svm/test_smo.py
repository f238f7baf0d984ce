"""Each compiled loop against a few lines of NumPy."""

import numpy as np
import pytest
from hypothesis import given as draw
from hypothesis import settings
from hypothesis import strategies as st

from largemargin.kernels import loops as row_loops
from largemargin.svm import shrinking, smo

SEEDS = st.integers(0, 10**6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_copy_rows(dtype):
    rng = np.random.default_rng(0)
    block = rng.normal(size=(6, 5)).astype(dtype)
    values = np.zeros((4, 8), dtype)
    row_loops.copy_rows(block, np.array([2, -1, 0, -1, -1, 3]), values, 2)
    assert np.array_equal(values[:, 2:7], [block[2], np.zeros(5), block[0], block[5]])
    assert not values[:, :2].any()
    assert not values[:, 7:].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_take(dtype):
    X = np.random.default_rng(0).normal(size=(6, 5)).astype(dtype)
    rows, columns = np.array([4, 0, 4]), np.array([1, 3])
    out = np.empty((3, 2), dtype)
    row_loops.take(X, rows, columns, out)
    assert np.array_equal(out, X[np.ix_(rows, columns)])


@settings(max_examples=30, deadline=None)
@draw(SEEDS, st.integers(0, 13), st.sampled_from([1, 7, 2048, 2051]))
def test_add_rows(seed, n, width):
    rng = np.random.default_rng(seed)
    for dtype in (np.float32, np.float64):
        values = rng.normal(size=(20, width)).astype(dtype)
        slots, coefs = rng.permutation(20)[:n], rng.normal(size=n)
        grad = rng.normal(size=width + 9)
        truth = grad.copy()
        truth[4 : 4 + width] += coefs @ values[slots].astype(float)
        row_loops.add_rows(grad, 4, values, slots, coefs)
        assert np.allclose(grad, truth, rtol=1e-12, atol=1e-12)


def test_add_part_leaves_other_columns_alone():
    rng = np.random.default_rng(0)
    values, coefs = rng.normal(size=(20, 50)), rng.normal(size=7)
    slots, sums = rng.permutation(20)[:7], rng.normal(size=50)
    expected = sums.copy()
    expected[13:40] += coefs @ values[slots, 13:40]
    row_loops.add_part(sums, values, 13, 40, slots, coefs)
    assert np.allclose(sums, expected, rtol=1e-13)
    assert np.array_equal(sums[:13], expected[:13])
    assert np.array_equal(sums[40:], expected[40:])


def test_gather_fills_the_upper_half():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(9, 12))
    slots, columns, places = np.array([3, 8]), np.array([5, 0, 11]), np.array([1, 2, 6])
    local = np.zeros((7, 7))
    truth = local.copy()
    truth[np.ix_([2, 3], places)] = values[np.ix_(slots, columns)]
    truth = np.triu(truth)
    smo.gather(local, 2, values, slots, columns, places)
    assert np.array_equal(local, truth)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 200])
def test_mirror(n):
    local = np.random.default_rng(n).normal(size=(n, n)).astype(np.float32)
    truth = np.triu(local) + np.triu(local, 1).T
    smo.mirror(local)
    assert np.array_equal(local, truth)


def state(seed, n=40, n_groups=2):
    """A point of a box with some variables at its ends."""
    rng = np.random.default_rng(seed)
    lo, hi = -rng.random(n), rng.random(n)
    lo[rng.random(n) < 0.2] = 0
    beta = np.clip(rng.normal(size=n), lo, hi)
    a = rng.choice([-1.0, 1.0], n)
    group = rng.integers(0, n_groups, n).astype(np.uint8)
    return rng.normal(size=n).round(1), beta, lo, hi, a, group


def sides(grad, beta, lo, hi, a):
    rises = np.where(a > 0, beta < hi, beta > lo)
    falls = np.where(a > 0, beta > lo, beta < hi)
    return -a * grad, rises, falls


@settings(max_examples=40, deadline=None)
@draw(SEEDS, st.integers(1, 3), st.integers(1, 40))
def test_extremes(seed, n_groups, n):
    grad, beta, lo, hi, a, group = state(seed, n_groups=n_groups)
    value, rises, falls = sides(grad, beta, lo, hi, a)
    best, worst = np.empty(n_groups), np.empty(n_groups)
    smo.extremes(grad, beta, lo, hi, a, group, n, best, worst)
    first = np.arange(40) < n
    for g in range(n_groups):
        mine = first & (group == g)
        assert best[g] == value[mine & rises].max(initial=-np.inf)
        assert worst[g] == value[mine & falls].min(initial=np.inf)


@settings(max_examples=40, deadline=None)
@draw(SEEDS, st.integers(1, 60), st.integers(0, 9), st.integers(1, 40))
def test_violators(seed, room, fresh_room, n):
    grad, beta, lo, hi, a, group = state(seed)
    value, rises, falls = sides(grad, beta, lo, hi, a)
    seen = np.random.default_rng(seed).random(40) < 0.5
    best, worst = np.empty(2), np.empty(2)
    smo.extremes(grad, beta, lo, hi, a, group, n, best, worst)
    rooms = [np.empty(size, np.int64) for size in (room, room, fresh_room, fresh_room)]
    box = (lo, hi, a, group)
    counts = smo.violators(grad, beta, *box, n, best, worst, seen, *rooms)
    up, down, fresh_up, fresh_down = rooms
    first = np.arange(40) < n
    above, below = value - worst[group], best[group] - value
    for found, count, score, allowed in zip(
        (fresh_up, fresh_down, up, down), counts, (above, below) * 2,
        (rises & ~seen, falls & ~seen, rises & seen, falls & seen), strict=True,
    ):  # fmt: skip
        wanted = np.flatnonzero(first & allowed & (score > 0))
        assert count == min(len(found), len(wanted))
        found = np.unique(found[:count])
        assert len(found) == count
        assert set(found) <= set(wanted)
        assert np.array_equal(np.sort(score[found])[::-1], np.sort(score[wanted])[::-1][:count])


@settings(max_examples=40, deadline=None)
@draw(SEEDS, st.integers(1, 2), st.booleans())
def test_solve_local(seed, n_groups, single):
    """At the end no pair of a group violates optimality, the sums are as before, and the gradient
    is that of the point.
    """
    n = 14
    grad, beta, lo, hi, a, group = state(seed, n, n_groups)
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, 6))
    K = (B @ B.T).astype(np.float32 if single else np.float64)
    ridge = rng.random(n) * 0.1
    Q = K.astype(float) + np.diag(ridge)
    p = grad - Q @ beta
    before = [(a * beta)[group == g].sum() for g in range(n_groups)]
    start = beta @ Q @ beta / 2 + p @ beta
    box = (lo, hi, a, group, n_groups)
    steps, met = shrinking.smo_solve(K, ridge, grad, beta, *box, 1e-6, 1e-6, 10**6)
    assert met
    assert (lo <= beta).all()
    assert (beta <= hi).all()
    assert np.allclose([(a * beta)[group == g].sum() for g in range(n_groups)], before)
    assert np.allclose(grad, Q @ beta + p, atol=1e-8)
    assert beta @ Q @ beta / 2 + p @ beta <= start + 1e-12
    value, rises, falls = sides(grad, beta, lo, hi, a)
    for g in range(n_groups):
        mine = group == g
        top = value[mine & rises].max(initial=-np.inf)
        assert top - value[mine & falls].min(initial=np.inf) <= 1e-6 + 1e-9
    again, met = shrinking.smo_solve(K, ridge, grad, beta, *box, 2e-6, 2e-6, 10**6)
    assert met
    assert again == 0 <= steps


def test_solve_local_makes_no_more_steps_than_allowed():
    grad, beta, lo, hi, a, group = state(3, 30, 1)
    problem = (np.eye(30) * 0.01, np.zeros(30), grad, beta, lo, hi, a, group, 1)
    assert shrinking.smo_solve(*problem, 1e-9, 1e-9, 5) == (5, False)


def test_solve_local_goes_closer_for_a_while():
    """Once within the tolerance it may go on to a finer one, for so many steps as it took."""
    grad, beta, lo, hi, a, group = state(4, 30, 1)
    rng = np.random.default_rng(4)
    B = rng.normal(size=(30, 40))
    rest = (lo, hi, a, group, 1)
    first, met = shrinking.smo_solve(
        B @ B.T, np.zeros(30), grad.copy(), beta.copy(), *rest, 0.1, 0.1, 10**6
    )
    assert met
    more, met = shrinking.smo_solve(
        B @ B.T, np.zeros(30), grad.copy(), beta.copy(), *rest, 0.1, 1e-300, 10**6
    )
    assert met
    assert first < more <= 4 * first + 10 * 30


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_solve_local_ends_where_nothing_moves(dtype):
    """All variables are at a bound, and nothing can be gained: none is left for a smaller matrix,
    though a finer tolerance is aimed at.
    """
    n = 2 * shrinking.SHRINK_FROM
    lo, hi, a, group = np.zeros(n), np.ones(n), np.ones(n), np.zeros(n, np.uint8)
    beta, grad = np.ones(n), np.full(n, -3.0)
    steps, met = shrinking.smo_solve(
        np.eye(n, dtype=dtype), np.zeros(n), grad, beta, lo, hi, a, group, 1, 1e-2, 1e-3, 10**6
    )
    assert (steps, met) == (0, True)
    assert (beta == 1).all()


@settings(max_examples=200, deadline=None)
@draw(SEEDS, st.integers(2, 8), st.integers(-20, 20), st.integers(-20, 20))
def test_nearest_of_example(seed, k, size, box):
    """Whatever the size of the point beside the box, its sum is zero to rounding."""
    rng = np.random.default_rng(seed)
    v, own, box = rng.normal(size=k).round(1) * 10.0**size, int(rng.integers(k)), 10.0**box
    out = np.empty(k)
    smo.project_example(v, own, box, out)
    hi = np.where(np.arange(k) == own, box, 0.0)
    assert (out <= hi).all()
    assert abs(out.sum()) <= 1e-14 * abs(out).max()
    level = (v - out)[out < hi]  # v - out is one level where out is inside and no less elsewhere
    close = 1e-14 * abs(v).max()
    assert np.allclose(level, level[:1], rtol=0, atol=close)
    assert (v[out == hi] - hi[out == hi] >= level.max(initial=-np.inf) - close).all()


@settings(max_examples=30, deadline=None)
@draw(SEEDS, st.integers(2, 5))
def test_solve_simplices(seed, k):
    rng = np.random.default_rng(seed)
    n = 8
    B = rng.normal(size=(n, 5))
    K, labels, box = B @ B.T, rng.integers(0, k, n), rng.uniform(0, 2, n)
    box[rng.random(n) < 0.2] = 0
    tau, scores = np.zeros((n, k)), np.zeros((n, k))
    _, met = smo.solve_simplices(K, scores, tau, labels, box, 1e-7, 10**6)
    assert met
    own = np.eye(k)[labels]
    assert np.allclose(scores, K @ tau)
    assert np.allclose(tau.sum(axis=1), 0, atol=1e-12)
    assert (tau <= own * box[:, None] + 1e-12).all()
    grad = scores - own
    low = np.where(tau < own * box[:, None], grad, np.inf).min(axis=1)
    assert (grad.max(axis=1) - low)[box > 0].max(initial=0) <= 1e-7 + 1e-9


@settings(max_examples=30, deadline=None)
@draw(SEEDS, st.sampled_from([0.7, np.inf]))
def test_adatron_pass(seed, C):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(9, 4))
    K, y = B @ B.T, rng.choice([-1.0, 1.0], 9)
    alpha = rng.uniform(0, 0.7, 9) * (rng.random(9) < 0.5)
    rates = 1.3 / np.diagonal(K)
    z = K @ (y * alpha)
    expected, most = alpha.copy(), 0.0
    for i in range(9):
        value = y[i] * (K[i] @ (y * expected))
        new = min(max(0, expected[i] + rates[i] * (1 - value)), C)
        most = max(most, abs(new - expected[i]) * K[i, i])
        expected[i] = new
    found = smo.adatron_pass(K, y, alpha, z, rates, C)
    assert np.allclose(alpha, expected)
    assert np.allclose(z, K @ (y * expected))
    assert found == pytest.approx(most)
