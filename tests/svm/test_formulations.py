"""Every machine against a general quadratic program on small problems."""

import numpy as np
import pytest
from hypothesis import given as draw
from hypothesis import settings
from hypothesis import strategies as st

from largemargin.svm import SVC, NuSVC, svc
from largemargin.svm.formulations import HINGE, LOSSES, SQUARED_HINGE, Loss
from largemargin.svm.verified_sums import loss_sums

from . import twin
from .problems import KERNELS, given, noisy, separable, several

CLOSE = 1e-7
SUPPORT = "support vectors, leave-one-out"


def full(model, n, problem=0):
    """The coefficients of all training examples."""
    coefs = np.zeros(n)
    coefs[model.support_] = model.dual_coef_[problem]
    return coefs


def agrees(model, expected, K, K_test, rows):
    """Objective and decision values, at new rows too."""
    assert model.objective_[0] == pytest.approx(expected.objective, rel=CLOSE, abs=1e-12)
    truth = K_test @ expected.coefs + expected.intercept
    scale = 1 + abs(truth).max()
    assert np.allclose(model.decision_function(rows), truth, rtol=0, atol=CLOSE * scale)
    f = K @ full(model, len(K))
    assert np.allclose(f, K @ expected.coefs, rtol=0, atol=CLOSE * scale)
    assert model.converged_
    assert abs(model.dual_gap_[0]) < 1e-6


def matrices(name, X, seed):
    kernel = KERNELS[name][1]
    X_test = np.random.default_rng(seed + 1000).normal(size=(9, X.shape[1]))
    return kernel(X, X), kernel(X_test, X), X_test


@pytest.mark.crossing
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("slack", ["linear", "squared", "squared-sum"])
@pytest.mark.parametrize("threshold", [True, False])
@pytest.mark.parametrize(("C", "weighted"), [(0.05, True), (1.0, False), (1.0, True), (20.0, True)])
def test_soft_margin(name, slack, threshold, C, weighted):
    seed = int(C * 100) + weighted
    X, y = noisy(seed)
    s = np.random.default_rng(seed).uniform(0.2, 3, len(y)) if weighted else np.ones(len(y))
    K, K_test, X_test = matrices(name, X, seed)
    expected = twin.soft_margin(K, y, s, C, slack, threshold)
    assert twin.primal(K, y, s, expected.coefs, expected.intercept, C, slack) == pytest.approx(
        expected.objective, rel=1e-8
    )
    model = SVC(C=C, slack=slack, fit_intercept=threshold, **KERNELS[name][0])
    model.fit(given(name, X, K), y, s if weighted else None)
    agrees(model, expected, K, K_test, given(name, X_test, K_test))
    assert model.margin_[0] == pytest.approx(
        (expected.coefs @ K @ expected.coefs) ** -0.5, rel=1e-6
    )


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("slack", ["linear", "squared", "squared-sum"])
@pytest.mark.parametrize("threshold", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_hard_margin(name, slack, threshold, seed):
    X, y = separable(seed)
    s = np.random.default_rng(seed).uniform(0.2, 3, len(y))
    K, K_test, X_test = matrices(name, X, seed)
    expected = twin.soft_margin(K, y, s, np.inf, slack, threshold)
    model = SVC(C=np.inf, slack=slack, fit_intercept=threshold, **KERNELS[name][0])
    model.fit(given(name, X, K), y, s)
    agrees(model, expected, K, K_test, given(name, X_test, K_test))
    f = model.decision_function(given(name, X, K))
    assert (y * f).min() == pytest.approx(1, abs=1e-7)
    assert model.objective_[0] == pytest.approx(1 / (2 * model.margin_[0] ** 2))  # W = 2/rho^2


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("threshold", [True, False])
@pytest.mark.parametrize(("nu", "weighted"), [(0.15, True), (0.3, False), (0.5, True)])
def test_nu(name, threshold, nu, weighted):
    seed = int(nu * 100)
    X, y = separable(seed, n=30)
    X[:, 0] += 0.3 * np.random.default_rng(seed).normal(size=30)
    s = np.random.default_rng(seed).uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    K, K_test, X_test = matrices(name, X, seed)
    expected = twin.nu_margin(K, y, s, nu, threshold)
    assert expected.rho > 0
    model = NuSVC(nu=nu, fit_intercept=threshold, **KERNELS[name][0])
    model.fit(given(name, X, K), y, s if weighted else None)
    agrees(model, expected, K, K_test, given(name, X_test, K_test))


def test_nu_means_what_it_says():
    """nu bounds the fraction of margin errors from above, that of support vectors from below."""
    X, y = noisy(3, n=200)
    for nu in (0.1, 0.3, 0.6):
        model = NuSVC(nu=nu).fit(X, y)
        margins = y * model.decision_function(X)
        assert (margins < 1 - 1e-6).mean() <= nu <= model.n_support_ / 200


def test_nu_of_zero_is_the_hard_margin():
    X, y = separable(1)
    model, hard = NuSVC(nu=0).fit(X, y), SVC(C=np.inf).fit(X, y)
    assert np.allclose(model.decision_function(X), hard.decision_function(X), atol=1e-9)
    small = NuSVC(nu=1e-3).fit(X, y)
    assert np.allclose(small.decision_function(X), hard.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("threshold", [True, False])
def test_a_tiny_nu_has_a_true_gap(threshold):
    X, y = separable(2, n=60)
    model = NuSVC(nu=1e-9, fit_intercept=threshold).fit(X, y)
    hard = SVC(C=np.inf, fit_intercept=threshold).fit(X, y)
    assert model.dual_gap_[0] < 5e-3
    assert np.allclose(model.decision_function(X), hard.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("name", ["rbf", "poly"])
def test_the_largest_nu(name):
    """All of the smaller class is at its bound: the dual is still to be solved for the other."""
    X, _ = noisy(7, n=40)
    y = np.repeat([1.0, -1.0], [10, 30])
    X[:10, 0] += 2
    K = KERNELS[name][1](X, X)
    expected = twin.nu_margin(K, y, np.ones(40), 0.5)
    model = NuSVC(nu=0.5, **KERNELS[name][0]).fit(X, y)
    assert model.objective_[0] == pytest.approx(expected.objective, rel=1e-7)
    assert abs(model.dual_gap_[0]) < 1e-6


def test_nu_svc_is_the_svc_of_some_c():
    """alpha/rho of the nu machine solves the soft margin with C = 1/(n rho)."""
    X, y = noisy(5, n=60)
    model = NuSVC(nu=0.4, gamma=0.5).fit(X, y)
    C = abs(model.dual_coef_).max()
    soft = SVC(C=C, gamma=0.5).fit(X, y)
    assert np.allclose(model.decision_function(X), soft.decision_function(X), atol=1e-7)


def test_class_weights_are_weights():
    X, y = noisy(2, n=40)
    s = np.random.default_rng(0).uniform(0.5, 2, 40)
    for slack in ("linear", "squared", "squared-sum"):
        by_class = SVC(slack=slack, class_weight={-1.0: 3.0}).fit(X, y, s)
        by_weight = SVC(slack=slack, gamma=by_class._expansion.basis.kernel.gamma)
        by_weight.fit(X, y, s * np.where(y < 0, 3.0, 1.0))
        assert np.allclose(by_class.decision_function(X), by_weight.decision_function(X), atol=1e-9)
    balanced = SVC(class_weight="balanced", gamma=0.5).fit(X, y, s)
    factors = {c: s.sum() / (2 * s[y == c].sum()) for c in (-1.0, 1.0)}
    expected = SVC(class_weight=factors, gamma=0.5).fit(X, y, s)
    assert np.allclose(balanced.decision_function(X), expected.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("estimator", ["linear", "squared", "squared-sum", "hard", "nu"])
def test_several_classes_are_so_many_problems_of_two(multiclass, estimator):
    X, labels = several(1, n_classes=4, n=40, noise=0.2 if estimator == "hard" else 0.5)
    s = np.random.default_rng(1).uniform(0.5, 2, 40)
    K = KERNELS["rbf"][1](X, X)
    if estimator == "nu":
        model = NuSVC(nu=0.2, multiclass=multiclass, gamma=0.4)
    elif estimator == "hard":
        model = SVC(C=np.inf, multiclass=multiclass, gamma=0.4)
    else:
        model = SVC(C=3.0, slack=estimator, multiclass=multiclass, gamma=0.4)
    model.fit(X, labels, s)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    problems = pairs if multiclass == "ovo" else [(None, c) for c in range(4)]
    assert model.dual_coef_.shape == (len(problems), model.n_support_)
    for p, (first, positive) in enumerate(problems):
        mine = np.ones(40, bool) if first is None else np.isin(labels, (first, positive))
        y = np.where(labels[mine] == positive, 1.0, -1.0)
        part = K[np.ix_(mine, mine)]
        if estimator == "nu":
            expected = twin.nu_margin(part, y, s[mine], 0.2)
        else:
            C = np.inf if estimator == "hard" else 3.0
            slack = "linear" if estimator == "hard" else estimator
            expected = twin.soft_margin(part, y, s[mine], C, slack)
        coefs = full(model, 40, p)
        assert not coefs[~mine].any()
        assert model.objective_[p] == pytest.approx(expected.objective, rel=CLOSE)
        found = K[:, mine] @ coefs[mine] + model.intercept_[p]
        truth = K[:, mine] @ expected.coefs + expected.intercept
        assert np.allclose(found, truth, rtol=0, atol=CLOSE * (1 + abs(truth).max()))


@pytest.mark.parametrize("estimator", [SVC, NuSVC])
def test_one_vs_one_answers_with_votes(estimator):
    X, labels = several(3, n=60, n_classes=4, noise=1.0)
    model = estimator(multiclass="ovo", **({"nu": 0.3} if estimator is NuSVC else {}))
    model.fit(X, labels)
    K = KERNELS["rbf"][1](X, X) ** (model._expansion.basis.kernel.gamma / 0.4)
    scores = model.dual_coef_ @ K[model.support_] + model.intercept_[:, None]
    won = np.zeros((60, 4))
    sums = np.zeros((60, 4))
    for (i, j), f in zip([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], scores, strict=True):
        won[np.arange(60), np.where(f > 0, j, i)] += 1
        sums[:, j] += f
        sums[:, i] -= f
    found = model.decision_function(X)
    assert found.shape == (60, 4)
    assert np.array_equal(np.round(found), won)
    tied = [
        (r, a, b) for r in range(60) for a in range(4) for b in range(4) if won[r, a] == won[r, b]
    ]
    assert all((found[r, a] > found[r, b]) == (sums[r, a] > sums[r, b]) for r, a, b in tied)
    assert np.array_equal(model.predict(X), found.argmax(axis=1))


def test_ovr_answers_with_the_largest_output():
    X, labels = several(3, n=60, n_classes=4, noise=1.0)
    model = SVC().fit(X, labels)
    assert model.decision_function(X).shape == (60, 4)
    assert np.array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


@settings(max_examples=60, deadline=None)
@draw(
    st.integers(0, 10**6), st.integers(2, 14), st.integers(1, 4),
    st.floats(-3, 4), st.sampled_from(["linear", "squared", "squared-sum"]), st.booleans(),
)  # fmt: skip
def test_no_point_is_better(seed, n, n_features, log_c, slack, threshold):
    """Coarse data with ties, duplicates and zeros: the primal is the twin's dual."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, n_features)).astype(float)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = -1, 1
    s = rng.integers(1, 4, n).astype(float)
    C = 10.0**log_c
    K = (X @ X.T + 1) ** 2
    params = {"kernel": "poly", "degree": 2, "gamma": 1.0, "max_iter": 10**6}
    model = SVC(C=C, slack=slack, fit_intercept=threshold, **params).fit(X, y, s)
    coefs = full(model, n)
    expected = twin.soft_margin(K, y, s, C, slack, threshold)
    assert (y * coefs >= 0).all()
    if threshold:
        assert abs(coefs.sum()) <= 1e-9 * (1 + abs(coefs).max())
    found = twin.primal(K, y, s, coefs, model.intercept_[0], C, slack)
    rounding = 1e-7 + 2e-11 * C * s.sum()  # of slacks, times their price
    assert found == pytest.approx(expected.objective, rel=1e-6, abs=rounding)
    assert model.objective_[0] == pytest.approx(expected.objective, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("heavy", [0, 1])
def test_class_weights_that_no_nu_allows(heavy):
    """The largest nu is taken, and of its thresholds the middle one: the example of the lighter
    class that is furthest on its side is just where the answer changes.
    """
    X, y = noisy(3, n=60)
    model = NuSVC(nu=0.3, gamma=0.4, class_weight={(-1, 1)[heavy]: 1000, (1, -1)[heavy]: 1e-4})
    with pytest.warns(UserWarning, match="infeasible"):
        model.fit(X, y)
    assert model.converged_
    assert model.dual_gap_[0] < 1e-3
    f = (-1, 1)[heavy] * model.decision_function(X)
    assert f[y != (-1, 1)[heavy]].min() == pytest.approx(0, abs=1e-9)
    assert f[y == (-1, 1)[heavy]].min() > 0.99


SMOOTH = Loss("smooth", box=1.0, ridge=0.4)  # the hinge loss with a parabola for a corner


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE, SMOOTH], ids=lambda loss: loss.name)
def test_a_loss_is_the_conjugate_of_its_box_and_ridge(loss):
    xi, a = np.linspace(0, 3, 61), np.linspace(0, min(loss.box, 6.0), 2001)
    best = (np.outer(xi, a) - loss.ridge * a**2 / 2).max(axis=1)
    assert np.allclose(loss.value(xi), best, rtol=0, atol=1e-5)
    C, s, zero, one = 3.0, np.array([0.5, 2.0, 0.0]), np.zeros(1), np.ones(1)
    assert loss.upper_bounds(C, s).tolist() == [1.5 * loss.box, 6.0 * loss.box, 0.0]
    assert loss.ridges(C, s) == pytest.approx([loss.ridge / 1.5, loss.ridge / 6.0, 0.0])
    alpha = np.array([0.1, 0.7, 0.0])
    assert loss.conjugate(alpha, C, s) == pytest.approx(loss.ridges(C, s) @ alpha**2 / 2)
    for slack in (0.1, 0.4, 0.9, 2.5):  # the compiled twin, of an output of 0 and this threshold
        sums = loss_sums(zero, zero, one, 2 * one, 1 - slack, 0.0, loss.box, loss.ridge)
        assert sums == pytest.approx([2 * float(loss.value(slack))] * 2)


@pytest.mark.parametrize("threshold", [True, False])
def test_a_loss_of_ones_own(threshold, monkeypatch):
    """One object is all that a loss of this kind takes, certificates included."""
    monkeypatch.setitem(LOSSES, SMOOTH.name, SMOOTH)
    monkeypatch.setattr(svc, "SLACKS", (*svc.SLACKS, SMOOTH.name))
    (X, y), C = noisy(3), 2.0
    K, n = KERNELS["rbf"][1](X, X), len(y)
    D = np.outer(y, y) * K + np.eye(n) * SMOOTH.ridge / C
    sums = (y[None, :], np.zeros(1)) if threshold else ()
    alpha = twin.solve_qp(D, -np.ones(n), *twin.box(n, C), *sums)[0]
    model = SVC(C=C, slack="smooth", fit_intercept=threshold, **KERNELS["rbf"][0]).fit(X, y)
    assert model.objective_[0] == pytest.approx(alpha.sum() - alpha @ D @ alpha / 2, rel=CLOSE)
    assert np.allclose(full(model, n), y * alpha, rtol=0, atol=1e-5)
    assert model.dual_gap_[0] < 1e-9
    slack = np.maximum(0.0, 1 - y * model.decision_function(X))
    primal = 1 / model.margin_[0] ** 2 / 2 + C * SMOOTH.value(slack).sum()
    assert primal == pytest.approx(model.objective_[0], rel=1e-9)
    said = {one.name: one for one in model.certificate(X, y, leave_one_out=True).statements}
    bound = said["xi-alpha" if threshold else "Jaakkola-Haussler"]
    assert bound.applies
    assert 0 < said["leave-one-out error"].value <= bound.value <= said[SUPPORT].value
