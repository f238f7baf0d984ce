"""What the solvers of hyperplanes are made of: conjugate norms, the barrier, its coordinates."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize, minimize_scalar

from largemargin.hyperplane.barrier import Barrier, cones, ratios, soft
from largemargin.hyperplane.preconditioner import Preconditioner
from largemargin.hyperplane.program import (
    Norm,
    Program,
    Proposal,
    best_threshold,
    conjugate,
    judge,
    length,
    objective,
)

from . import twin
from .test_estimator import overlapping


def distance(x, w, b, q):
    """From x to the nearest point of the hyperplane w.z + b = 0 in the q-norm, by search."""
    n = len(x)
    if q in (1, np.inf):  # z = x + up - down
        k = 2 * n + 1
        cost = np.r_[np.ones(2 * n), 0.0] if q == 1 else np.eye(k)[-1]
        A = np.c_[np.eye(n), np.eye(n), -np.ones((n, 1))] if q != 1 else np.zeros((1, k))
        found = linprog(cost, A, np.zeros(len(A)), [np.r_[w, -w, 0.0]], [-(w @ x + b)])
        return found.fun
    # on the hyperplane, as a point of it and a combination of directions within
    point = x - (w @ x + b) * w / (w @ w)
    within = np.linalg.svd(w[None])[2][1:].T
    found = minimize(
        lambda t: (np.abs(point + within @ t - x) ** q).sum(), np.zeros(n - 1), method="BFGS",
        options={"gtol": 1e-12},
    )  # fmt: skip
    return found.fun ** (1 / q)


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
def test_the_distance_to_a_hyperplane_is_in_the_conjugate_norm(p):
    rng = np.random.default_rng(0)
    for _ in range(5):
        w, x, b = rng.normal(size=4), rng.normal(size=4), rng.normal()
        expected = distance(x, w, b, twin.conjugate(p))
        assert abs(w @ x + b) / Norm(p).of(w) == pytest.approx(expected, rel=1e-5)


vectors = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6).map(np.array)
exponents = st.one_of(st.floats(1.0, 50.0), st.just(np.inf))


@given(vectors, st.integers(0, 99), exponents)
@settings(max_examples=60, deadline=None)
def test_hoelder_and_young(v, seed, p):
    """w.v <= |w|_p |v|_q, with equality for some w; and the conjugate of the price."""
    norm = Norm(p)
    w = np.random.default_rng(seed).normal(size=len(v))
    assert w @ v <= norm.of(w) * norm.dual_of(v) * (1 + 1e-9) + 1e-9
    assert conjugate(norm.q) == pytest.approx(p)
    assert norm.of(v) == pytest.approx(twin.length(v, p), rel=1e-9, abs=1e-250)
    if norm.power > 1.01:
        r = conjugate(norm.power)
        young = norm.price(norm.of(w)) + norm.dual_of(v) ** r / r
        assert w @ v <= young * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("p", [1, 1.2, 2, 5, np.inf])
def test_the_best_multiple_of_multipliers(p):
    norm = Norm(p)
    for total, size, most in ((1.0, 2.0, 1.0), (3.0, 0.2, 1.5), (1.0, 0.7, 100.0)):
        t = np.linspace(0, most, 400001)
        if norm.power == 1:
            values = np.where(t * size <= 1, t * total, -np.inf)
        else:
            r = conjugate(norm.power)
            values = t * total - (t * size) ** r / r
        assert norm.best_dual(total, size, most) == pytest.approx(values.max(), rel=1e-4)
    assert norm.best_dual(0.0, 0.0, np.inf) == 0.0
    assert norm.best_dual(2.0, 0.0, 3.0) == 6.0


@pytest.mark.parametrize("p", [1.05, 1.5, 2.0, 4.0, 60.0])
@pytest.mark.parametrize("mu", [1.0, 1e-3])
def test_omega_is_the_least_over_t(p, mu):
    k = (p - Norm(p).power) / p
    for w, tau in ((0.0, 1.0), (0.3, 0.8), (-2.0, 2.5), (1e-4, 1.0)):

        def of_t(log_t, w=w, tau=tau):
            t = np.exp(log_t)
            room = t ** (2 / p) * tau ** (2 * k) - w * w
            if room <= 0:
                return np.inf
            return t / p - mu * np.log(room) - mu * (1 - 1 / p) * log_t

        lowest = p * (np.log(max(abs(w), 1e-300)) - k * np.log(tau))  # where there is no room
        first = max(lowest, np.log(mu) - 10) + 1e-12
        found = minimize_scalar(of_t, bounds=(first, first + 25), options={"xatol": 1e-12})
        if not found.fun < np.inf:
            continue
        ours = cones(np.array([w]), tau, p, k, mu)
        assert ours.value <= found.fun + 1e-9 * max(1, abs(found.fun))
        assert ours.value == pytest.approx(found.fun, rel=1e-4, abs=1e-5)


def somewhere(shape, p, C, threshold=True, form=np.asarray):
    """A barrier and a point of its domain."""
    X, y = overlapping(1, *shape)
    barrier = Barrier(Program(form(X), y, np.ones(len(y)), Norm(p), C, threshold, 1e-6))
    x = barrier.start() + 0.1
    x[: barrier.n] = 0.2 * np.random.default_rng(2).normal(size=barrier.n)
    if np.isinf(C):
        x[barrier.e] = 9.0
    return barrier, x


def second_derivatives(barrier, at):
    return np.array([barrier.hessian_product(at, unit) for unit in np.eye(len(at.x))])


@pytest.mark.parametrize("p", [1.05, 1.5, 2.0, 4.0, 60.0])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_derivatives_of_the_barrier(p, C):
    """Gradient and second derivatives against differences."""
    barrier, x = somewhere((12, 3), p, C)
    mu = 0.05
    at = barrier.at(x, mu)
    H = second_derivatives(barrier, at)
    for k, unit in enumerate(np.eye(len(x)) * 1e-6):
        up, down = barrier.at(x + unit, mu), barrier.at(x - unit, mu)
        assert (up.value - down.value) / 2e-6 == pytest.approx(at.gradient[k], rel=1e-5, abs=1e-6)
        change = (up.gradient - down.gradient) / 2e-6
        np.testing.assert_allclose(change, H[k], rtol=1e-4, atol=1e-5)
    assert np.linalg.eigvalsh(H).min() > 0


@pytest.mark.parametrize("shape", [(12, 4), (5, 9)])
@pytest.mark.parametrize("p", [1.5, 4.0])
@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("threshold", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_second_derivatives_are_1_in_their_coordinates(shape, p, C, threshold, form):
    barrier, x = somewhere(shape, p, C, threshold, form)
    at = barrier.at(x, 0.05)
    coordinates = Preconditioner(barrier, at)
    units = np.eye(len(x))
    P = np.array([coordinates.apply(unit) for unit in units]).T
    back = np.array([coordinates.apply_transpose(unit) for unit in units]).T
    np.testing.assert_allclose(back, P.T, atol=1e-12)
    H = second_derivatives(barrier, at)
    np.testing.assert_allclose(P.T @ H @ P, units, atol=1e-12)
    # the multipliers are those of a Newton step
    outputs = barrier.A @ np.linalg.solve(H, at.gradient)
    multipliers = coordinates.multipliers(at)
    np.testing.assert_allclose(multipliers, at.alpha + at.weights * outputs, rtol=1e-9)
    if threshold:
        assert multipliers @ barrier.y == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("shape", [(20, 3), (8, 20)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_coordinates_where_curvatures_span_twenty_orders(shape, form):
    """A constant feature is told from the threshold by a curvature of 1e-10 against weights up to
    1e8 only.
    """
    X, y = overlapping(1, *shape)
    X[:, -1] = 1.0
    barrier = Barrier(Program(form(X), y, np.ones(len(y)), Norm(1.5), 1.0, True, 1e-6))
    at = barrier.at(barrier.start(), 1.0)
    at.weights = 10.0 ** np.random.default_rng(1).uniform(-8, 8, len(y))
    at.curvature[: barrier.n] = 1.0
    at.curvature[barrier.n - 1] = 1e-10
    coordinates = Preconditioner(barrier, at)
    z = np.random.default_rng(2).normal(size=len(at.x))
    product = coordinates.apply_transpose(barrier.hessian_product(at, coordinates.apply(z)))
    np.testing.assert_allclose(product, z, atol=1e-4)
    assert coordinates.multipliers(at) @ y == pytest.approx(0, abs=1e-6)


@given(
    st.floats(1.0001, 1e6), st.floats(-15, 2), st.floats(-3, 3), st.floats(-12, 1)
)  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_ratios_solve_their_equation(p, log_mu, shift, log_w):
    mu, w = 10.0**log_mu, 10.0**log_w
    (rho,) = ratios(np.array([w]), shift, p, mu)
    if 1e-250 < rho < 1e120:
        left = 2 / p * np.log(mu * (p + 1 + 2 * rho)) + shift - 2 * np.log(w)
        scale = 1 + abs(shift) + 2 * abs(np.log(w)) + abs(np.log(mu))
        assert left == pytest.approx(np.log1p(1 / rho), abs=1e-12 * scale)


def test_soft_slack_is_the_least():
    for d in (-3.0, -1e-3, 0.0, 0.2, 50.0):
        for c, mu in ((1.0, 0.1), (0.01, 1e-6), (100.0, 1e-3)):
            alpha, second, value = soft(np.array([d]), np.array([c]), mu)

            def of_room(log_room, d=d, c=c, mu=mu):  # how far xi is above max(0, -d)
                xi = max(0.0, -d) + np.exp(log_room)
                return c * xi - mu * np.log(xi) - mu * np.log(xi + d)

            found = minimize_scalar(of_room, bounds=(-40, 5), options={"xatol": 1e-10})
            assert value == pytest.approx(found.fun, rel=1e-6, abs=1e-9)
            assert 0 < alpha[0] < c
            h = 1e-4 * np.hypot(d, 2 * mu / c)
            up, down = (soft(np.array([d + s]), np.array([c]), mu)[0][0] for s in (h, -h))
            assert (down - up) / (2 * h) == pytest.approx(second[0], rel=1e-4, abs=1e-8)


@given(st.integers(0, 10**6), st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_the_best_threshold(seed, b):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(9, 2)).astype(float)
    y = np.where(rng.random(9) < 0.5, 1.0, -1.0)
    y[:2] = -1, 1
    s = rng.integers(1, 4, 9).astype(float)
    program = Program(X, y, s, Norm(2.0), 1.0, True, 1e-6)
    w = rng.integers(-1, 2, 2).astype(float)
    found = best_threshold(program, w, b)
    values = [objective(program, w, c) for c in np.append(y - X @ w, b)]
    assert objective(program, w, found) == pytest.approx(min(values), abs=1e-12)
    if objective(program, w, b) <= min(values) + 1e-12:
        assert found == pytest.approx(b, abs=1e-12)  # nothing is changed that need not be


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
def test_the_gap_is_never_below_the_truth(p):
    """For any (w, b) and any multipliers: the objective is no better than the least one, and the
    lower bound no better either.
    """
    X, y = overlapping(3, 15, 3)
    least = twin.solve(X, y, np.ones(15), p, 1.0)
    program = Program(X, y, np.ones(15), Norm(p), 1.0, True, 1e-6)
    rng = np.random.default_rng(4)
    for _ in range(50):
        proposal = Proposal(rng.normal(size=3), rng.normal(), rng.uniform(-0.5, 1.5, 15), 1)
        worth = judge(program, proposal)
        assert worth.objective >= least * (1 - 1e-6)
        assert worth.objective * (1 - worth.gap) <= least * (1 + 1e-6)


def test_length_neither_overflows_nor_vanishes():
    for p in (1.5, 7, 1e5):
        assert length(np.array([1e300, 1e300]), p) == pytest.approx(1e300 * 2 ** (1 / p))
        assert length(np.array([1e-300, 0.0]), p) == pytest.approx(1e-300)
    assert length(np.zeros(3), 3) == 0
