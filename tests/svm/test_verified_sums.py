"""The sums behind what is told of a machine, against exact fractions and a few lines of NumPy."""

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from largemargin.svm import verified_sums
from largemargin.svm.formulations import HINGE, SQUARED_HINGE

SEEDS = st.integers(0, 10**6)
UNIT = 2.0**-53


def cancelling(rng, shape):
    """Numbers of very different sizes, many of which cancel."""
    values = rng.normal(size=shape) * 10.0 ** rng.integers(-8, 9, shape)
    values.flat[::3] = -values.flat[::-1][::3]
    return values


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(0, 60))
def test_compensated_sum(seed, n):
    values = cancelling(np.random.default_rng(seed), n)
    exact = sum(map(Fraction, values.tolist()), Fraction(0))
    size = float(np.abs(values).sum())
    off = abs(Fraction(float(verified_sums.compensated_sum(values))) - exact)
    assert off <= UNIT * abs(exact) + Fraction(n**2 * UNIT**2 * size)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(0, 9), st.integers(1, 12))
def test_add_few_has_twice_the_digits(seed, n, width):
    rng = np.random.default_rng(seed)
    values, coefs = cancelling(rng, (n + 2, width + 3)), cancelling(rng, n)
    slots, weights = rng.permutation(n + 2)[:n], np.abs(coefs)
    found, sizes = np.zeros((2, width + 1))
    verified_sums.add_few(found, sizes, 1, values, 2, width, slots, coefs, weights)
    block = values[slots, 2 : 2 + width]
    for j in range(width):
        parts = [
            Fraction(c) * Fraction(k)
            for c, k in zip(coefs.tolist(), block[:, j].tolist(), strict=True)
        ]
        exact, size = sum(parts, Fraction(0)), sum(map(abs, parts), Fraction(0))
        off = abs(Fraction(float(found[1 + j])) - exact)
        assert off <= UNIT * abs(exact) + 2 * (n + 1) ** 2 * Fraction(UNIT) ** 2 * size
    assert np.allclose(sizes[1:], weights @ np.abs(block))
    assert found[0] == sizes[0] == 0
    plain, also = np.zeros((2, width + 1))
    verified_sums.add_rows_and_sizes(plain, also, 1, values, 2, width, slots, coefs, weights)
    assert np.allclose(
        plain[1:],
        coefs @ block,
        rtol=1e-9,
        atol=1e-12 * np.abs(block).max(initial=1) * np.abs(coefs).max(initial=1),
    )
    assert np.allclose(also[1:], sizes[1:])


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(1, 40), st.booleans())
def test_loss_sums_hold_the_true_ones(seed, n, squared):
    loss = SQUARED_HINGE if squared else HINGE
    rng = np.random.default_rng(seed)
    f, y, s = rng.normal(size=n), rng.choice([-1.0, 1.0], n), rng.integers(0, 3, n) / 2
    errors, b = rng.uniform(0, 1e-3, n), float(rng.normal())
    low, high = verified_sums.loss_sums(f, errors, y, s, b, 8 * UNIT, loss.box, loss.ridge)
    for sign in (-1, 0, 1):
        slack = np.maximum(0, 1 - y * (f + b) + sign * errors)
        true = float(s @ (slack**2 if squared else slack))
        assert low <= true * (1 + 1e-12)
        assert true <= high * (1 + 1e-12)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(1, 30))
def test_square_and_error(seed, n):
    rng = np.random.default_rng(seed)
    coefs, values, errors = (
        cancelling(rng, (2, n)),
        rng.normal(size=(2, n)),
        rng.uniform(0, 1, (2, n)),
    )
    found, off = verified_sums.square_and_error(coefs, values, errors, UNIT)
    exact = sum(
        Fraction(c) * Fraction(v)
        for c, v in zip(coefs.ravel().tolist(), values.ravel().tolist(), strict=True)
    )
    assert abs(Fraction(float(found)) - exact) <= Fraction(float(off))
    assert off >= float((np.abs(coefs) * errors).sum()) * (1 - 1e-12)


def test_balance_takes_what_a_sum_lacks_from_the_smallest_with_room():
    beta = np.array([1.0, -0.75, -0.125, 0.0])  # which sum up to 0.125
    lo, hi = np.full(4, -1.0), np.array([1.0, 1.0, 1.0, 0.0])
    verified_sums.balance(beta, lo, hi)
    assert beta.tolist() == [1.0, -0.75, -0.25, 0.0]
    beta, lo = np.array([1.0, -0.5, -0.375]), np.array([-1.0, -2.0, -0.75])
    verified_sums.balance(beta, lo, np.ones(3))  # the smallest has not four times the room
    assert beta.tolist() == [1.0, -0.625, -0.375]


def slackness(f, y, s, alpha, b, C, loss):
    """Primal less dual objective, example by example, but for b times the sum of the coefficients:
    w.w is the sum of coefficients times outputs.
    """
    lack = 1 - y * (f + b)
    primal = C * s * loss.value(np.maximum(lack, 0.0))
    return float((primal + loss.ridge * alpha**2 / (2 * C * s) - alpha * lack).sum())


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 12), st.booleans())
def test_what_is_lacking_of_complementary_slackness(seed, n, squared):
    rng = np.random.default_rng(seed)
    loss, C = (SQUARED_HINGE if squared else HINGE), 10.0 ** rng.integers(-2, 3)
    y, s = np.sign(rng.normal(size=n)), rng.integers(1, 3, n).astype(float)
    alpha = rng.choice([0.0, 0.3, 1.0], n) * C * s
    f, b, errors = rng.normal(size=n), rng.normal(), rng.uniform(0, 0.5, n)
    sum_, high = verified_sums.slackness_sums(
        f, errors, y, s, alpha, b, 8 * UNIT, C, loss.box, loss.ridge
    )
    assert np.isclose(sum_, slackness(f, y, s, alpha, b, C, loss))
    for _ in range(20):
        true = f + errors * rng.uniform(-1, 1, n)
        assert slackness(true, y, s, alpha, b, C, loss) <= high
    reached = max(
        slackness(f + errors * np.array(ends), y, s, alpha, b, C, loss)
        for ends in product((-1, 1), repeat=min(n, 5))
        for ends in [list(ends) + [0.0] * (n - len(ends))]
    )
    if n <= 5:
        assert high <= reached + 1e-9 * (1 + abs(reached))


def test_an_error_does_not_count_at_a_bound_on_its_side():
    y, s, f = np.array([1.0, -1.0]), np.ones(2), np.array([-1.0, -3.0])
    alpha = np.array([2.0, 0.0])  # inside the margin at the bound, and beyond it at zero
    args = f, np.full(2, 0.5), y, s, alpha, 0.0, 0.0, 2.0, HINGE.box, HINGE.ridge
    assert verified_sums.slackness_sums(*args) == (0.0, 0.0)
    unknown = f, np.array([0.5, np.inf]), *args[2:]
    assert verified_sums.slackness_sums(*unknown)[1] == np.inf
