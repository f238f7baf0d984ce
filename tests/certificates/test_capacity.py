"""Capacity bounds against their formulas, written out again."""

from itertools import product
from math import comb, e, floor, log, log2, sqrt

import numpy as np
import pytest

from largemargin import SVC, AdaptiveMarginSVC, LeaveOneOutSVC, VotedPerceptron
from largemargin.certificates import (
    adaptive_margin_bound,
    hard_margin_bound,
    margin_bound,
    vc_bound,
    vc_dimension,
)
from largemargin.kernels.choosing import WithConstant
from largemargin.kernels.functions import Gaussian, Linear, Polynomial
from tests.certificates.problems import blobs, says_why, separable, three


def test_theorem_1_2():
    X, y = blobs(0, n=50, width=3)
    model = SVC(kernel="linear").fit(X, y)
    found = model.certificate(X, y, delta=0.1, constant=0.5)["VC bound"]
    wrong = (model.predict(X) != y).mean()
    assert found.value == pytest.approx(wrong + sqrt(0.5 / 50 * (4 + log(10))))
    assert "taken to be 0.5" in found.sentence
    assert found.value == vc_bound(wrong, 50, 4, delta=0.1, constant=0.5)


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("coef0", [0.0, 1.0])
def test_the_dimension_counts_monomials(degree, coef0):
    n = 3
    powers = [p for p in product(range(degree + 1), repeat=n) if sum(p) <= degree]
    if not coef0:
        powers = [p for p in powers if sum(p) == degree]
    kernel = Polynomial(degree, 1.0, coef0)
    assert vc_dimension(kernel, n, threshold=False) == len(powers)
    with_one = len(powers) if coef0 else len(powers) + 1
    assert vc_dimension(kernel, n, threshold=True) == with_one
    assert vc_dimension(WithConstant(kernel), n, threshold=False) == with_one
    assert vc_dimension(Linear(), n, threshold=True) == n + 1
    assert vc_dimension(Gaussian(), n, threshold=True) is None


@pytest.mark.parametrize("seed", range(3))
def test_theorem_1_8_at_the_best_rho(seed):
    rng = np.random.default_rng(seed)
    values, m, R = rng.uniform(-0.2, 1.0, 400), 400, 1.0

    def formula(rho):
        capacity = R**2 / rho**2 * log(m / rho) ** 2 + log(1 / 0.05)
        return np.mean(values < rho) + sqrt(0.001 / m * capacity)

    for rho in (0.05, 0.3, 1.0):
        assert margin_bound(values, R, rho=rho, constant=0.001) == pytest.approx(formula(rho))
    grid = np.linspace(1e-3, 1.0, 5000)
    best = margin_bound(values, R, constant=0.001)
    assert best <= min(formula(rho) for rho in grid)
    assert best == pytest.approx(min(formula(rho) for rho in grid), rel=0.01)


def test_a_threshold_is_a_coordinate():
    X, y = separable(0)
    model = SVC(kernel="linear", C=np.inf).fit(X + 3.0, y)
    R = np.linalg.norm(X + 3.0, axis=1).max()
    rows = np.column_stack([X + 3.0, np.full(len(X), R)])
    w = np.append(model.coef_[0], model.intercept_[0] / R)
    by_hand = np.where(y == "yes", 1, -1) * (rows @ w) / np.linalg.norm(w)
    longest = np.linalg.norm(rows, axis=1).max()
    longest = sqrt(2) * R if longest < sqrt(2) * R else longest
    found = model.certificate(X + 3.0, y, constant=1e-4)
    assert found["margin bound"].value == pytest.approx(
        margin_bound(by_hand / longest, 1.0, constant=1e-4)
    )
    assert found["margin bound, no margin error"].value == pytest.approx(
        hard_margin_bound(len(y), 1.0, (by_hand / longest).min(), constant=1e-4)
    )


def test_the_unit_of_length_does_not_matter():
    X, y = separable(0)
    bounds = [
        SVC(kernel="linear", C=np.inf, fit_intercept=False, min_margin=1e-9)
        .fit(X * unit, y).certificate(X * unit, y)["margin bound"].value
        for unit in (1e-3, 1.0, 1e4)
    ]  # fmt: skip
    assert bounds == pytest.approx([bounds[0]] * 3)


def test_several_problems_share_delta_and_add_up():
    X, y = three(0)
    model = SVC(kernel="linear").fit(X, y)
    found = model.certificate(X, y)["VC bound"]
    scores = model.decision_function(X)
    each = [
        vc_bound(np.mean(np.where(y == c, f, -f) <= 0), 24, 4, delta=0.05 / 3)
        for c, f in enumerate(scores.T)
    ]
    assert found.by_problem == pytest.approx(each)
    assert found.value == pytest.approx(sum(each))
    assert found.vacuous


def twin_of_theorem_2_2(W, R, d, delta):
    m, D = len(d), sqrt(sum(max(0.0, x) ** 2 for x in d))
    kappa = floor(65 * (W * R + 3 * D) ** 2)
    first = kappa * log2(8 * e * m / kappa) * log2(32 * m) if kappa else 0.0
    return kappa, 2 / m * (first + log2(2 * m * (28 + log2(m)) / delta))


@pytest.mark.parametrize(("W", "scale"), [(0.05, 0.0), (1.0, 0.0), (0.5, 0.001)])
def test_theorem_2_2(W, scale):
    d = np.random.default_rng(0).normal(size=5000) * scale
    kappa, by_hand = twin_of_theorem_2_2(W, 1.0, d, 0.05)
    assert kappa <= e * 5000
    assert adaptive_margin_bound(W, 1.0, d) == pytest.approx(by_hand)
    assert adaptive_margin_bound(W, 1.0, d, delta=0.01) > by_hand
    assert adaptive_margin_bound(20 * sqrt(5000), 1.0, d) is None
    assert adaptive_margin_bound(0.0, 1.0, np.zeros(5)) is None  # fewer than six examples


def test_theorem_2_2_of_machines():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-4, 0.2, (300, 1)), rng.normal(4, 0.2, (300, 1))])
    y = np.repeat([0, 1], 300)
    for lam, model in (
        (1.0, LeaveOneOutSVC(gamma=0.01)),
        (1.0, AdaptiveMarginSVC(lam=1.0, gamma=0.01)),
        (3.0, AdaptiveMarginSVC(lam=3.0, gamma=0.01)),
    ):
        model.fit(X, y)
        found = model.certificate(X, y)["adaptive margin bound"]
        signs = 2 * y - 1
        c, V = model.dual_coef_[0], model.support_vectors_
        alpha = np.zeros(600)
        alpha[model.support_] = np.abs(c)
        W = sqrt(c @ np.exp(-0.01 * (V - V.T) ** 2) @ c)
        xi = np.maximum(0, 1 - signs * model.decision_function(X) + lam * alpha)
        kappa, by_hand = twin_of_theorem_2_2(W, 1.0, xi - lam * alpha, 0.05)
        if kappa > e * 600:
            says_why(found, "kappa")
        else:
            assert found.value == pytest.approx(by_hand)


def test_what_theorem_2_2_cannot_say():
    X, y = blobs(0, n=40, noise=2.0)
    model = LeaveOneOutSVC(gamma=1.0).fit(X, y)
    says_why(model.certificate(X, y)["adaptive margin bound"], "kappa")


def test_theorem_2_2_needs_an_example_that_reaches_the_margin():
    X, y = blobs(0, n=40, noise=2.0)
    model = LeaveOneOutSVC(gamma=1.0).fit(X, y)
    # a machine as of another training, which reaches no margin anywhere
    model._expansion.coefs *= 1e-3
    model.objective_ = np.full(1, np.maximum(0, 1 - (2 * y - 1) * model.decision_function(X)
                               + np.abs(_all_coefs(model, 40))).sum())  # fmt: skip
    found = model.certificate(X, y, leave_one_out=False)["adaptive margin bound"]
    says_why(found, "no training example has y f(x) >= 1")


def _all_coefs(model, n):
    full = np.zeros(n)
    full[model.support_] = model._expansion.coefs[0]
    return full


def test_vectors_that_were_trained_together_are_no_problems_of_two_sides():
    X, y = three(0)
    found = SVC(kernel="linear", multiclass="crammer-singer").fit(X, y).certificate(X, y)
    for name in ("VC bound", "margin bound", "margin bound, no margin error"):
        says_why(found[name], "the theorem is about two classes")


def test_infinite_dimension_and_many_vectors():
    X, y = blobs(0)
    says_why(SVC().fit(X, y).certificate(X, y)["VC bound"], "infinite")
    vote = VotedPerceptron(kernel="linear", epochs=1, shuffle=False).fit(X, y).certificate(X, y)
    for name in ("VC bound", "margin bound", "margin bound, no margin error"):
        says_why(vote[name], "many vectors")
    last = (
        VotedPerceptron(kernel="linear", method="last", epochs=1, shuffle=False)
        .fit(X, y)
        .certificate(X, y)
    )
    wrong = 1 - VotedPerceptron(kernel="linear", method="last", epochs=1, shuffle=False).fit(
        X, y
    ).score(X, y)
    assert last["VC bound"].value == pytest.approx(vc_bound(wrong, 16, 2))


def test_a_misclassified_example_leaves_no_hard_margin():
    X, y = blobs(0, noise=2.0)
    found = SVC(kernel="linear").fit(X, y).certificate(X, y)
    says_why(found["margin bound, no margin error"], "misclassified")


def test_nobody_knows_a_function():
    X, y = blobs(0)
    found = SVC(kernel=lambda A, B: A @ B.T).fit(X, y).certificate(X, y)["margin bound"]
    assert found.applies
    assert {a.text: a.holds for a in found.assumptions}[
        "the kernel is positive definite on all inputs"
    ] is None


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, "x", True])
def test_bad_delta(bad):
    with pytest.raises(ValueError, match="delta must lie between 0 and 1"):
        vc_bound(0.1, 10, 2, delta=bad)
    with pytest.raises(ValueError, match="delta must lie between 0 and 1"):
        adaptive_margin_bound(1.0, 1.0, [0.0], delta=bad)


def test_stated_examples_of_combinations():
    assert comb(256 + 2, 2) == vc_dimension(Polynomial(2), 256, threshold=True)
