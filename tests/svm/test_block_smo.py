"""SMO on one matrix against a loop that tries every pair, and against a general solver."""

import numpy as np
import pytest
from hypothesis import given as draw
from hypothesis import settings
from hypothesis import strategies as st

from largemargin.svm import block_smo, shrinking
from largemargin.svm.problem import Optimality, Problem
from tests.svm.test_smo import sides, state
from tests.svm.twin import box, solve_qp

SEEDS = st.integers(0, 10**6)


def violation(grad, beta, lo, hi, a, group):
    """The largest m - M of a group."""
    value, rises, falls = sides(grad, beta, lo, hi, a)
    worst = 0.0
    for g in np.unique(group):
        top = value[(group == g) & rises].max(initial=-np.inf)
        worst = max(worst, top - value[(group == g) & falls].min(initial=np.inf))
    return worst


def violation_from_zero(grad, beta, lo, hi):
    value, rises, falls = sides(grad, beta, lo, hi, np.ones(len(beta)))
    return value[rises].max(initial=0.0) - value[falls].min(initial=0.0)


def try_every_pair(Q, grad, beta, lo, hi, a, group, tol):
    """SMO that steps along the pair which lowers the objective most, of all pairs of a group."""
    grad, beta = grad.copy(), beta.copy()
    curve = np.diag(Q)[:, None] + np.diag(Q) - 2 * np.outer(a, a) * Q + 1e-12
    together = (group[:, None] == group) & ~np.eye(len(a), dtype=bool)
    while violation(grad, beta, lo, hi, a, group) > tol:
        rise = np.where(a > 0, hi - beta, beta - lo)  # the room of a beta, up and down
        fall = np.where(a > 0, beta - lo, hi - beta)
        slope = (a * grad)[:, None] - a * grad  # of a beta_i rising, a beta_j falling
        step = np.minimum(np.minimum(rise[:, None], fall), np.maximum(-slope / curve, 0.0))
        value = np.where(together, step * slope + step**2 * curve / 2, np.inf)
        i, j = np.unravel_index(value.argmin(), value.shape)
        move = np.zeros(len(a))
        move[i], move[j] = a[i] * step[i, j], -a[j] * step[i, j]
        beta = np.clip(beta + move, lo, hi)
        grad = grad + Q @ move
    return beta


def problem(seed, n, n_groups, single, rank=None):
    """A matrix, ridges and a point of a box of which some sides have no width."""
    grad, beta, lo, hi, a, group = state(seed, n, n_groups)
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, rank or n))
    K = (B @ B.T).astype(np.float32 if single else np.float64)
    ridge = rng.random(n) * rng.choice([0.0, 0.1, 10.0])
    narrow = rng.random(n) < 0.1
    lo[narrow] = hi[narrow] = beta[narrow]
    return K, ridge, grad, beta, lo, hi, a, group


@settings(max_examples=25, deadline=None)
@draw(SEEDS, st.integers(1, 2), st.booleans())
def test_solution_is_that_of_trying_every_pair(seed, n_groups, single):
    K, ridge, grad, beta, lo, hi, a, group = problem(seed, 9, n_groups, single)
    ridge += 0.5  # with which there is one solution, soon found
    Q = K.astype(float) + np.diag(ridge)
    slow = try_every_pair(Q, grad, beta, lo, hi, a, group, 1e-6)
    _, met = shrinking.smo_solve(
        K, ridge, grad, beta, lo, hi, a, group, n_groups, 1e-6, 1e-6, 10**6
    )
    assert met
    assert np.allclose(beta, slow, atol=1e-5)


@settings(max_examples=25, deadline=None)
@draw(SEEDS, st.integers(1, 2), st.booleans(), st.booleans())
def test_a_gap_bounds_what_is_left_and_ends_at_the_solution(seed, n_groups, endless, sums):
    K, ridge, grad, beta, lo, hi, a, group = problem(seed, 9, n_groups, single=False)
    ridge += 0.5
    if endless:
        hi[:] = np.where(hi > lo, np.inf, hi)
    Q, p = K + np.diag(ridge), grad - (K + np.diag(ridge)) @ beta
    stated = Problem(p, lo, hi, ridge, a, group, n_groups, sums, beta)

    def objective(beta):
        return beta @ Q @ beta / 2 + p @ beta

    def gap(beta):
        grad = Q @ beta + p
        return Optimality.of(stated, beta, grad, 9).gap_left(stated, beta, grad)

    best, slope = beta.copy(), grad.copy()
    if sums:
        shrinking.smo_solve(K, ridge, slope, best, lo, hi, a, group, n_groups, 1e-9, 1e-9, 10**6)
    else:
        block_smo.smo_without_sums(K, ridge, slope, best, lo, hi, 1e-9, 1e-9, 10**6)
    for share in (0.0, 0.5, 0.99):  # on the way from a point of the box to the solution
        at = beta + share * (best - beta)
        left = objective(at) - objective(best)
        assert -1e-9 <= left <= gap(at) * abs(objective(at)) + 1e-9
    assert gap(best) * abs(objective(best)) < 1e-6


@settings(max_examples=25, deadline=None)
@draw(SEEDS, st.booleans(), st.sampled_from([1, 2, 5, 20]))
def test_without_sums(seed, single, n):
    """No gradient points into the box, and the point is that of a general solver."""
    K, ridge, grad, beta, lo, hi, _, _ = problem(seed, n, 1, single)
    Q = K.astype(float) + np.diag(ridge + 0.1)
    p = grad - Q @ beta
    start = beta @ Q @ beta / 2 + p @ beta
    _, met = block_smo.smo_without_sums(K, ridge + 0.1, grad, beta, lo, hi, 1e-7, 1e-7, 10**6)
    assert met
    assert (lo <= beta).all()
    assert (beta <= hi).all()
    assert np.allclose(grad, Q @ beta + p, atol=1e-8)
    assert beta @ Q @ beta / 2 + p @ beta <= start + 1e-12
    assert violation_from_zero(grad, beta, lo, hi) <= 1e-7 + 1e-9
    G, h = box(n, hi - lo)
    x, _, _ = solve_qp(Q, p + Q @ lo, G, h)
    assert np.allclose(beta, x + lo, atol=1e-5)
    rest = (lo, hi, 2e-7, 2e-7, 10**6)
    assert block_smo.smo_without_sums(K, ridge + 0.1, grad, beta, *rest) == (0, True)


@settings(max_examples=25, deadline=None)
@draw(SEEDS)
def test_two_variables_without_sums_take_few_steps(seed):
    """The best places of two variables are found together, wherever they are in the box."""
    K, ridge, grad, beta, lo, hi, _, _ = problem(seed, 2, 1, False)
    steps, met = block_smo.smo_without_sums(K, ridge, grad, beta, lo, hi, 1e-9, 1e-9, 10)
    assert met
    assert steps <= 2  # two where one of them must reach its bound before the other moves


@pytest.mark.parametrize("kind", ["one sum", "two sums", "signs", "none"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_block(kind, dtype):
    """More variables than the size from which on those at bounds are left out for a while."""
    rng = np.random.default_rng(7)
    n = shrinking.SHRINK_FROM + 100
    X = rng.normal(size=(n, 5))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    K = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2)).astype(dtype)
    lo, hi = np.minimum(10 * y, 0), np.maximum(10 * y, 0)
    a = y.copy() if kind == "signs" else np.ones(n)
    group = (rng.random(n) < 0.3).astype(np.uint8) if kind == "two sums" else np.zeros(n, np.uint8)
    n_groups, ridge = int(group.max()) + 1, np.full(n, 0.01)
    beta = rng.random(n) * 10 * y
    Q = K.astype(float) + np.diag(ridge)
    grad = Q @ beta - y
    sums = [(a * beta)[group == g].sum() for g in range(n_groups)]
    if kind == "none":
        loop, rest = block_smo.smo_without_sums, (lo, hi)
    else:
        loop, rest = shrinking.smo_solve, (lo, hi, a, group, n_groups)
    steps, met = loop(K, ridge, grad, beta, *rest, 1e-3, 1e-6, 10**6)
    assert met
    assert steps > n // 2
    assert (lo <= beta).all()
    assert (beta <= hi).all()
    assert np.allclose(grad, Q @ beta - y, atol=1e-7)
    if kind == "none":
        assert violation_from_zero(grad, beta, lo, hi) <= 1e-6 + 1e-9
    else:
        assert violation(grad, beta, lo, hi, a, group) <= 1e-6 + 1e-9
        assert np.allclose([(a * beta)[group == g].sum() for g in range(n_groups)], sums)
    assert np.isin(beta[(beta < 1e-9) & (y > 0)], [0.0]).all()  # at bounds exactly


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-8, 1e10, 1e25])
def test_kernel_values_of_any_size(dtype, size):
    """The choice of variables, which is made in float32, works in the scale of the problem."""
    rng = np.random.default_rng(2)
    n = 40
    B = rng.normal(size=(n, 80))
    K = (B @ B.T * size).astype(dtype)
    y = rng.choice([-1.0, 1.0], n)
    box = (np.where(y < 0, -np.inf, 0.0), np.where(y > 0, np.inf, 0.0))
    for with_sum in (True, False):
        beta, grad = np.zeros(n), -y
        if with_sum:
            rest = (*box, np.ones(n), np.zeros(n, np.uint8), 1)
            _, met = shrinking.smo_solve(K, np.zeros(n), grad, beta, *rest, 1e-3, 1e-3, 10**5)
        else:
            _, met = block_smo.smo_without_sums(K, np.zeros(n), grad, beta, *box, 1e-3, 1e-3, 10**5)
        assert met
        assert np.allclose(grad, K.astype(float) @ beta - y, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ridge", [1e6, 1e300])
def test_a_ridge_of_any_size(dtype, ridge):
    """A variable with a large ridge hardly moves; the others are chosen as if it were not there."""
    rng = np.random.default_rng(3)
    n = 60
    B = rng.normal(size=(n, 10))
    K, y = (B @ B.T).astype(dtype), rng.choice([-1.0, 1.0], n)
    ridges = np.full(n, 0.1)
    ends = (np.where(y < 0, -np.inf, 0.0), np.where(y > 0, np.inf, 0.0))
    for solve, rest in (
        (shrinking.smo_solve, (*ends, np.ones(n), np.zeros(n, np.uint8), 1)),
        (block_smo.smo_without_sums, ends),
    ):
        usual, met = solve(K, ridges, -y, np.zeros(n), *rest, 1e-3, 1e-3, 10**5)
        assert met
        beta = np.zeros(n)
        unusual = np.where(np.arange(n) == 7, ridge, ridges)
        steps, met = solve(K, unusual, -y, beta, *rest, 1e-3, 1e-3, 10**5)
        assert met
        assert abs(beta[7]) * ridge < 10
        assert steps < 4 * usual


def test_a_kernel_that_is_no_kernel():
    """Zero on the diagonal and negative elsewhere: steps end at the bounds, and the loop ends."""
    n = 20
    K = np.full((n, n), -1.0)
    np.fill_diagonal(K, 0.0)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    lo, hi = np.minimum(y, 0), np.maximum(y, 0)
    rest = (lo, hi, np.ones(n), np.zeros(n, np.uint8), 1)
    for dtype in (np.float32, np.float64):
        beta = np.zeros(n)
        steps, _ = shrinking.smo_solve(
            K.astype(dtype), np.zeros(n), -y, beta, *rest, 1e-3, 1e-3, 10**4
        )
        assert steps <= 10**4
        assert (lo <= beta).all()
        assert (beta <= hi).all()
        beta = np.zeros(n)
        block_smo.smo_without_sums(
            K.astype(dtype), np.zeros(n), -y, beta, lo, hi, 1e-3, 1e-3, 10**4
        )
        assert (lo <= beta).all()
        assert (beta <= hi).all()


def test_nothing_to_solve_for():
    none = np.empty(0)
    rest = (none, none, none, np.empty(0, np.uint8), 1)
    assert shrinking.smo_solve(
        np.empty((0, 0)), none, none, none, *rest, 1e-3, 1e-3, 5
    ) == (0, True)  # fmt: skip
    assert block_smo.smo_without_sums(
        np.empty((0, 0)), none, none, none, none, none, 1e-3, 1e-3, 5
    ) == (0, True)  # fmt: skip


def test_a_group_that_cannot_move():
    """All of its variables are at the same end; the other group is solved."""
    n = 30
    grad, beta, lo, hi, _, group = state(5, n, 2)
    B = np.random.default_rng(5).normal(size=(n, n))
    beta[group == 1] = hi[group == 1]
    before, rest = beta.copy(), (lo, hi, np.ones(n), group)
    _, met = shrinking.smo_solve(
        B @ B.T, np.zeros(n), grad, beta, *rest, 2, 1e-6, 1e-6, 10**5
    )  # fmt: skip
    assert met
    assert np.array_equal(beta[group == 1], before[group == 1])
    assert not np.array_equal(beta, before)
    assert violation(grad, beta, *rest) <= 1e-6 + 1e-9


def test_makes_no_more_steps_than_allowed():
    grad, beta, lo, hi, _, _ = state(3, 30, 1)
    K = np.eye(30) * 0.01
    assert block_smo.smo_without_sums(
        K, np.zeros(30), grad, beta, lo, hi, 1e-9, 1e-9, 5
    ) == (5, False)  # fmt: skip
