"""Fat-shattering dimensions, covering numbers and the bounds that follow from them."""

import itertools
from math import e, log, log2, sqrt

import numpy as np
import pytest

import largemargin as lm
from largemargin.certificates import (
    covering_hard_margin_bound,
    covering_margin_bound,
    covering_number_bound,
    covering_number_least,
    explicit_hard_margin_bound,
    explicit_margin_bound,
    fat_dimension_bound,
    regression_bound,
    sum_norm_fat_dimension_bound,
    sum_norm_margin_bound,
)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_orthogonal_points_are_shattered_as_theorem_1_7_says(n):
    """R e_i are shattered by unit vectors at rho = R / sqrt(n), and so attain the bound."""
    R = 3.0
    least = min(
        (np.array(y) * (R * np.eye(n) @ (np.array(y) / sqrt(n)))).min()
        for y in itertools.product([-1, 1], repeat=n)
    )
    assert fat_dimension_bound(R, least * (1 - 1e-15)) == n
    assert fat_dimension_bound(R, least * 1.001) == n - 1


def test_signs_are_shattered_within_theorem_1_9():
    """2^n corners of a cube: one coordinate for each choice of signs shatters n points at 1."""
    for n in range(1, 6):
        assert n <= sum_norm_fat_dimension_bound(1.0, 2**n, 1.0, constant=2.0)


def test_by_hand():
    assert covering_number_bound(4, 0.5, 2.0, 1000) == pytest.approx(12 * log2(16000 * e) ** 2)
    assert covering_number_bound(0, 0.5, 2.0, 10) == 0
    assert covering_number_bound(11, 0.5, 2.0, 10) == np.inf
    assert covering_number_least(8) == pytest.approx(log2(e))
    assert sum_norm_fat_dimension_bound(2.0, 4, 0.5) == pytest.approx(16 * log(10))
    m, rho = 1000, 0.5
    N = 3 * 256 * log2(32 * e * m / rho) ** 2
    margins = np.where(np.arange(m) < 100, 0.4, 0.6)
    assert explicit_margin_bound(margins, 1.0, rho=rho, delta=0.1) == pytest.approx(
        0.1 + sqrt(8 / m * (log(2 / 0.1) + N * log(2)))
    )
    assert explicit_hard_margin_bound(m, 1.0, rho, delta=0.1) == pytest.approx(
        2 / m * (log2(2 / 0.1) + N)
    )
    # 0.6 becomes 1/2, the second of the sequence, with delta/6
    assert explicit_hard_margin_bound(m, 1.0, 0.6, delta=0.1, chosen_before=False) == pytest.approx(
        2 / m * (log2(2 * 6 / 0.1) + N)
    )
    found = regression_bound(0.25, lambda eps: 1 / eps, 10_000_000, delta=0.1)
    eps = found - 0.25
    left = 4 * 2 ** (16 / eps) * np.exp(-(eps**2) * 10_000_000 / 32)
    assert left == pytest.approx(0.1, rel=1e-3)


def test_more_examples_margins_and_room_make_them_smaller():
    def falls(values):
        assert (np.diff(np.asarray(values, float)) < 0).all()

    falls([covering_margin_bound(0.1, 50, m) for m in (100, 1000, 10_000)])
    falls([covering_margin_bound(0.1, 50, 100, delta=d) for d in (0.001, 0.01, 0.1)])
    falls([covering_hard_margin_bound(n, 100) for n in (100, 10, 1)])
    falls([explicit_hard_margin_bound(10**6, 1.0, rho) for rho in (0.1, 0.2, 0.4)])
    falls([explicit_hard_margin_bound(m, 1.0, 0.2) for m in (10**5, 10**6, 10**7)])
    falls([sum_norm_margin_bound(np.full(10**5, 0.5), n, rho=0.5) for n in (1000, 100, 10)])
    falls([regression_bound(0.0, lambda eps: 5.0, m) for m in (10_000, 100_000, 1_000_000)])


def test_the_unit_of_length_does_not_matter():
    margins = np.random.default_rng(0).uniform(0.2, 1.0, 500)
    for scale in (1e-5, 0.5, 300.0):
        one = explicit_margin_bound(scale * margins, scale)
        assert one == pytest.approx(explicit_margin_bound(margins, 1.0))


def test_the_best_rho_is_one_of_the_sequence():
    margins = np.random.default_rng(1).uniform(0.0, 1.0, 5000)
    by_hand = [
        explicit_margin_bound(margins, 1.0, rho=0.5**k, delta=0.05 / ((k + 1) * (k + 2)))
        for k in range(8)
    ]
    assert explicit_margin_bound(margins, 1.0) == pytest.approx(min(by_hand))


@pytest.mark.parametrize("wrong", [{"delta": 0.0}, {"rho": -1.0}, {"rho": np.inf}])
def test_wrong_numbers(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must"):
        explicit_margin_bound([0.5], 1.0, **wrong)
    with pytest.raises(ValueError, match="radius must"):
        fat_dimension_bound(0.0, 1.0)
    with pytest.raises(ValueError, match="dimension must"):
        covering_number_bound(-1, 0.5, 1.0, 10)


def test_theorem_1_5_on_a_class_that_is_finite():
    """A finite class covers itself. Of many training sets, no larger share than delta has a
    function that is worse than the bound.
    """
    rng = np.random.default_rng(0)
    m, points, rho, delta, n_functions = 300, 40, 0.5, 0.2, 30
    F = rng.choice([-1.0, -0.3, 0.3, 1.0], size=(n_functions, points))
    y = np.sign(F[0])
    y[:4] *= -1  # a function that is right but for a tenth of the points
    errors = (np.sign(F) != y).mean(axis=1)
    F[1] = y  # and one that is right with a margin
    errors[1] = 0.0
    failed = np.zeros(2)
    for _ in range(400):
        drawn = rng.integers(0, points, m)
        at_rho = (y[drawn] * F[:, drawn] < rho).mean(axis=1)
        room = covering_margin_bound(0.0, log2(n_functions), m, delta=delta)
        failed[0] += (errors >= at_rho + room).any()
        hard = covering_hard_margin_bound(log2(n_functions), m, delta=delta)
        failed[1] += ((at_rho == 0) & (errors >= hard)).any()
    assert (failed / 400 <= delta).all()


def test_theorem_1_6_on_a_class_that_is_finite():
    rng = np.random.default_rng(0)
    m, points, delta = 4000, 30, 0.2
    F, y = rng.random((10, points)), rng.random(points)
    squares = (F - y) ** 2
    failed = 0
    for _ in range(200):
        drawn = rng.integers(0, points, m)
        seen = squares[:, drawn].mean(axis=1)
        room = regression_bound(0.0, lambda eps: log2(10), m, delta=delta)
        failed += (np.abs(squares.mean(axis=1) - seen) >= room).any()
    assert failed / 200 <= delta


def test_in_a_certificate():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = (2 * y - 1)[:, None] * (1 + 0.1 * rng.random((400, 1)))
    found = lm.SVC(kernel="linear", C=np.inf).fit(X, y).certificate(X, y, leave_one_out=False)
    hard = found["explicit margin bound, no margin error"]
    # the threshold is a coordinate: margins of 1/sqrt(2) and less, so rho = 1/2
    N = 3 * 256 * log2(64 * e * 400) ** 2
    assert hard.value == pytest.approx(2 / 400 * (log2(2 * 6 / 0.05) + N))
    assert hard.vacuous
    assert hard.kind == "probability"
    assert any(a.holds is None and "longer" in a.text for a in hard.assumptions)
    assert found["explicit margin bound"].value > 1
    plane = lm.MaxMarginHyperplane(norm=1).fit(X, y).certificate(X, y, leave_one_out=False)
    assert plane["sum-norm margin bound"].applies
    few = lm.SVC(kernel="linear").fit(X[:20], y[:20]).certificate(X[:20], y[:20])
    assert "too few examples for every rho" in few["explicit margin bound"].sentence
