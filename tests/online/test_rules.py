"""The steps, each against the optimisation problem that it solves."""

import numpy as np
import pytest
from scipy.optimize import minimize

from largemargin.online.rules import alma_step, mira_signed_step, mira_step, romma_step

from .twin import project_onto_simplex


def mira_program(scores, label, margin, square):
    """The step of MIRA by a general solver."""
    own = np.eye(len(scores))[label]
    B = scores + margin * (1 - own)
    found = minimize(
        lambda tau: (0.5 * square * tau @ tau + B @ tau) / square,
        np.zeros(len(scores)),
        jac=lambda tau: tau + B / square,
        bounds=[(None, bound) for bound in own],
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.x


@pytest.mark.parametrize("seed", range(60))
def test_mira_solves_its_program(seed):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(3, 9))
    scores = rng.normal(size=n_classes) * rng.choice([0.1, 1.0, 10.0])
    label, margin = int(rng.integers(n_classes)), float(rng.choice([0.0, 0.01, 1.0]))
    square = float(rng.choice([0.1, 1.0, 20.0]))
    steps = np.zeros(n_classes)
    moved = mira_step(margin, scores, label, square, steps)
    lead = scores[label] - np.delete(scores, label).max()
    assert moved == (lead < margin)
    np.testing.assert_allclose(
        steps, mira_program(scores, label, margin, square) if moved else 0, atol=2e-5
    )
    own = np.eye(n_classes)[label]
    exact = own - project_onto_simplex((scores + margin * (1 - own)) / square + own)
    np.testing.assert_allclose(steps, exact if moved else 0, atol=1e-12)
    assert abs(steps.sum()) < 1e-12
    assert (steps <= own).all()


@pytest.mark.parametrize("square", [1e9, 1e12, 1e40])
def test_steps_of_mira_do_not_vanish_beside_large_kernel_values(square):
    """In units of the length of x the program is that of an example of length 1."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores, label = rng.normal(size=5) * rng.choice([0.0, 0.1, 1.0]), int(rng.integers(5))
        small, plain = np.zeros(5), np.zeros(5)
        # so short a margin that no step is cut off at 1
        moved = mira_step(0.01, scores * 1e-3, label, square, small)
        assert moved == mira_step(0.01, scores * 1e-3, label, 1.0, plain)
        if moved:
            np.testing.assert_allclose(small * square, plain, rtol=1e-9, atol=1e-12)


def test_a_step_of_mira_beside_large_kernel_values_ends_at_one():
    steps = np.zeros(3)
    scores = np.array([0.0, 3e12, 2.5e12])
    assert mira_step(0.01, scores, 0, 1e12, steps)
    own = np.eye(3)[0]
    exact = own - project_onto_simplex((scores + 0.01 * (1 - own)) / 1e12 + own)
    np.testing.assert_allclose(steps, exact, atol=1e-12)
    assert steps[0] == 1.0


@pytest.mark.parametrize("seed", range(30))
def test_mira_with_two_classes_is_the_program_of_its_two_rows(seed):
    rng = np.random.default_rng(seed)
    score, square = rng.normal(), float(rng.choice([0.1, 1.0, 20.0]))
    margin, label = float(rng.choice([0.0, 0.5])), int(rng.integers(2))
    step = mira_signed_step(margin, 2.0 * label - 1, score, square)
    both = mira_program(np.array([-score, score]), label, margin, square)
    wanted = both[1] if (2 * label - 1) * 2 * score <= margin else 0.0
    np.testing.assert_allclose(step, wanted, atol=2e-5)


@pytest.mark.parametrize("square", [0.0, -1.0])
def test_an_example_of_no_length_moves_nothing(square):
    assert not mira_step(1.0, np.array([0.0, 2.0, 1.0]), 0, square, np.zeros(3))
    assert mira_signed_step(1.0, 1.0, -1.0, square) == 0
    assert romma_step(np.array([1.0, 0.0]), 1.0, 0.0, 0.0, square) == (0, 1)
    assert alma_step(np.array([1.0, 1.0]), 1.0, 0.0, 0.0, 1, square) == (0, 1)


@pytest.mark.parametrize("aggressive", [True, False])
def test_romma_is_the_shortest_vector_within_its_constraints(aggressive):
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(200):
        w, x, y = rng.normal(size=3), rng.normal(size=3), float(rng.choice([-1, 1]))
        w *= rng.choice([0.3, 1.0, 3.0])
        margin = y * (w @ x)
        settings = np.array([float(aggressive), 0.0])
        b, a = romma_step(settings, y, w @ x, w @ w, x @ x)
        if margin >= 1 if aggressive else margin > 0:
            assert (b, a) == (0, 1)
            continue
        found = minimize(
            lambda v: v @ v / 2, w + y * x, jac=lambda v: v, method="SLSQP",
            constraints=[
                {"type": "ineq", "fun": lambda v, x=x, y=y: y * (v @ x) - 1},
                {"type": "ineq", "fun": lambda v, w=w: v @ w - w @ w},
            ],
            options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        v = a * w + b * x
        # what the general solver is off by grows with the vector, and differs between processors
        np.testing.assert_allclose(v, found.x, atol=1e-4 * max(1.0, np.linalg.norm(v)))
        assert v @ v <= (found.x @ found.x) * (1 + 1e-6)
        assert min(y * (v @ x) - 1, v @ w - w @ w) >= -1e-9 * max(1.0, w @ w)
        seen.add(a == 0)
    assert seen == ({True, False} if aggressive else {False})


def test_romma_starts_anew_where_no_vector_meets_its_constraints():
    aggressive = np.array([1.0, 0.0])
    x = np.array([1.0, 2.0])
    for w in (np.zeros(2), -0.5 * x):  # the second contradicts x outright
        assert romma_step(aggressive, 1.0, w @ x, w @ w, x @ x) == (1 / 5, 0)
    longest = 1e60 * np.array([2.0, -1.0]) - 1e55 * x
    assert romma_step(aggressive, 1.0, longest @ x, longest @ longest, x @ x) == (1 / 5, 0)


def test_alma_steps_within_the_unit_ball():
    rng = np.random.default_rng(5)
    for _ in range(100):
        w, x, y = rng.normal(size=3), rng.normal(size=3), float(rng.choice([-1, 1]))
        w /= max(1, np.linalg.norm(w)) * rng.choice([1, 2])
        k, settings = int(rng.integers(1, 50)), np.array([0.5, np.sqrt(2)])
        xh = x / np.linalg.norm(x)
        b, a = alma_step(settings, y, w @ x, w @ w, k, x @ x)
        if y * (w @ xh) > 0.5 / np.sqrt(k):
            assert (b, a) == (0, 1)
            continue
        longer = w + np.sqrt(2 / k) * y * xh
        np.testing.assert_allclose(a * w + b * x, longer / max(1, np.linalg.norm(longer)))
