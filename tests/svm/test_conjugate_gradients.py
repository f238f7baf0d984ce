"""Steps of free variables by conjugate gradients, against the equations themselves."""

from __future__ import annotations

import numpy as np
import pytest

from largemargin import SVC
from largemargin.svm import conjugate_gradients
from largemargin.svm.conjugate_gradients import ConjugateSteps
from largemargin.svm.problem import Problem


def a_problem(n, n_groups, threshold=True, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    squares = (X**2).sum(axis=1)
    K = np.exp(-0.2 * (squares[:, None] + squares - 2 * X @ X.T))
    problem = Problem(
        p=rng.normal(size=n), lo=np.zeros(n), hi=np.full(n, 10.0), a=rng.choice([-1.0, 1.0], n),
        ridge=rng.uniform(0, 0.1, n), group=np.arange(n) % n_groups, n_groups=n_groups,
        threshold=threshold, start=np.zeros(n),
    )  # fmt: skip
    return problem, K, rng


def solved(problem, K, free, grad, missing, held, at):
    """The same step by a general solver: variables `held` are `at` given values."""
    n, moving = len(free), ~held
    H = K[np.ix_(free, free)] + np.diag(problem.ridge[free])
    d = np.where(held, at, 0.0)
    right = -(grad[free] + H @ d)[moving]
    A = np.zeros((n, problem.n_groups if problem.threshold else 0))
    if problem.threshold:
        A[np.arange(n), problem.group[free]] = problem.a[free]
        missing = missing - A.T @ d
    A = A[moving]
    kkt = np.block([[H[np.ix_(moving, moving)], A], [A.T, np.zeros((A.shape[1],) * 2)]])
    wanted = np.concatenate([right, missing[: A.shape[1]]])
    d[moving] = np.linalg.lstsq(kkt, wanted)[0][: moving.sum()]
    return d


@pytest.mark.parametrize(("n_groups", "threshold"), [(1, True), (2, True), (3, True), (1, False)])
def test_a_step_solves_the_equations(n_groups, threshold):
    problem, K, rng = a_problem(900, n_groups, threshold)
    free = np.sort(rng.choice(900, 700, replace=False))
    grad, missing = 1e-3 * rng.normal(size=900), 1e-4 * rng.normal(size=n_groups)
    steps = ConjugateSteps(problem, lambda F: K[np.ix_(F, F)].astype(np.float32))
    far = np.full(len(free), np.inf)
    d = steps.step(free, grad, missing, (-far, far))
    expected = solved(problem, K, free, grad, missing, np.zeros(700, bool), d)
    np.testing.assert_allclose(d, expected, atol=3e-3 * np.abs(expected).max())
    if threshold:
        sums = np.bincount(problem.group[free], problem.a[free] * d, n_groups)
        np.testing.assert_allclose(sums, missing, atol=1e-15)


def test_variables_are_held_at_the_ends_of_their_room():
    problem, K, rng = a_problem(600, 1)
    free, grad, missing = np.arange(600), 1e-3 * rng.normal(size=600), np.zeros(1)
    room = np.full(600, np.inf)
    room[::7] = 1e-4
    steps = ConjugateSteps(problem, lambda F: K[np.ix_(F, F)].astype(np.float32))
    d = steps.step(free, grad, missing, (-room, room))
    held = np.abs(d) == room
    assert 20 < held.sum() < 100
    assert (np.abs(d) <= room).all()
    expected = solved(problem, K, free, grad, missing, held, d)
    np.testing.assert_allclose(d, expected, atol=3e-3 * np.abs(expected).max())


def test_values_of_fewer_variables_are_not_asked_for_again():
    problem, K, rng = a_problem(900, 1)
    asked = []

    def gram(F):
        asked.append(len(F))
        return K[np.ix_(F, F)].astype(np.float32)

    steps, grad, far = ConjugateSteps(problem, gram), 1e-3 * rng.normal(size=900), np.inf
    first = np.sort(rng.choice(900, 800, replace=False))
    for free in (first, first[::2], np.arange(900)):
        d = steps.step(free, grad, np.zeros(1), (-far, far))
        expected = solved(problem, K, free, grad, np.zeros(1), np.zeros(len(free), bool), d)
        np.testing.assert_allclose(d, expected, atol=3e-3 * np.abs(expected).max())
    assert asked == [800, 900]


def test_a_factorisation_is_left_what_many_products_would_take():
    problem, _, rng = a_problem(600, 1)
    Q = np.linalg.qr(rng.normal(size=(600, 600)))[0]
    K = (Q * np.logspace(-6, 2, 600)) @ Q.T
    problem.ridge[:] = 0.0
    products = []
    original = conjugate_gradients._Equations.product
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            conjugate_gradients._Equations,
            "product",
            lambda self, d: products.append(1) or original(self, d),
        )
        steps = ConjugateSteps(problem, lambda F: K[np.ix_(F, F)].astype(np.float32))
        far, grad = np.full(600, np.inf), 1e-3 * rng.normal(size=600)
        for _ in range(3):
            assert steps.step(np.arange(600), grad, np.zeros(1), (-far, far)) is None
    assert 0 < len(products) <= 600 // conjugate_gradients.PER_PRODUCT


@pytest.mark.parametrize(("slack", "n_classes"), [("linear", 2), ("linear", 3), ("squared", 2)])
def test_machines_are_those_of_factorisations(slack, n_classes, monkeypatch):
    rng = np.random.default_rng(3)
    n = 900 * n_classes  # a pair of classes has so many that float32 comes first
    X = rng.normal(size=(n, 30))
    height = X[:, 0] + rng.normal(size=n) / 2
    y = np.digitize(height, np.quantile(height, np.arange(1, n_classes) / n_classes))
    model = SVC(C=10.0, gamma=0.2, slack=slack, multiclass="ovo")
    steps, step = [], ConjugateSteps.step

    def counted(self, *given):
        found = step(self, *given)
        steps.append(found is not None)
        return found

    monkeypatch.setattr(ConjugateSteps, "step", counted)
    found = model.fit(X, y).decision_function(X)
    assert any(steps)
    monkeypatch.setattr(ConjugateSteps, "step", lambda self, *given: None)
    expected = model.fit(X, y).decision_function(X)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert (model.dual_gap_ < 1e-8).all()
