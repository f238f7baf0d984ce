"""What the chapter says of the machines, and what follows from their definitions."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.metrics.pairwise import rbf_kernel

from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, NuLPSVC
from tests.svm.problems import noisy, separable, several

ALL = [LPSVC(C=2.0, gamma=0.6), NuLPSVC(nu=0.25, gamma=0.6), LeaveOneOutSVC(gamma=0.6)]
ALL += [AdaptiveMarginSVC(lam=0.4, gamma=0.6), AdaptiveMarginSVC(lam=4.0, gamma=0.6)]
machines = pytest.mark.parametrize("machine", ALL, ids=str)


@machines
@pytest.mark.parametrize("seed", range(3))
def test_a_weight_is_so_many_copies(machine, seed):
    X, y = noisy(seed, n=40)
    s = np.random.default_rng(seed).integers(0, 4, len(y))
    s[:2] = 1, 3
    copies = machine.fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    objective, scores = copies.objective_, copies.decision_function(X)
    weighted = machine.fit(X, y, s)
    assert weighted.objective_ == pytest.approx(objective, rel=1e-9)
    assert np.allclose(weighted.decision_function(X), scores, rtol=1e-7, atol=1e-9)


@machines
def test_class_weights_are_weights(machine):
    X, y = noisy(0, n=40)
    by_class = machine.set_params(class_weight={1.0: 3.0, -1.0: 2.0}).fit(X, y).decision_function(X)
    by_row = machine.set_params(class_weight=None).fit(X, y, np.where(y > 0, 3.0, 2.0))
    assert np.allclose(by_class, by_row.decision_function(X))


@machines
def test_several_classes_are_one_problem_each(machine):
    X, y = several(1, n=60)
    scores = machine.fit(X, y).decision_function(X)
    for c in range(3):
        alone = machine.fit(X, y == c)
        assert np.allclose(alone.decision_function(X), scores[:, c], rtol=1e-7, atol=1e-9)


def test_lambda_1_is_the_leave_one_out_machine():
    X, y = noisy(1, n=80)
    a, b = AdaptiveMarginSVC(lam=1.0).fit(X, y), LeaveOneOutSVC().fit(X, y)
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


@pytest.mark.parametrize("machine", [AdaptiveMarginSVC(lam=1e3), AdaptiveMarginSVC(lam=1e6)])
def test_a_large_lambda_is_the_parzen_rule(machine):
    X, y = noisy(2, n=60)
    s = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = machine.set_params(gamma=0.5).fit(X, y, s)
    new = np.random.default_rng(1).normal(size=(200, 3))
    windows = rbf_kernel(new, X, gamma=0.5) @ (s * y)
    scores = model.decision_function(new)
    assert np.corrcoef(scores, windows)[0, 1] > 1 - 1e-12
    np.testing.assert_array_equal(model.predict(new), np.where(windows > 0, 1.0, -1.0))
    assert model.objective_[0] == pytest.approx(s.sum(), rel=1e-9)


def test_from_where_on_lambda_is_large():
    """At max_j sum_i y_i y_j k_ij / k_jj the last coefficient goes."""
    X, y = noisy(2, n=60)
    limit = (y[:, None] * rbf_kernel(X, gamma=0.5) * y).sum(axis=0).max()
    below, above = (
        AdaptiveMarginSVC(lam=lam, gamma=0.5).fit(X, y) for lam in (0.99 * limit, 1.01 * limit)
    )
    assert 0 < below.n_support_ < 60
    assert np.abs(below.dual_coef_).max() > 1e-3
    assert above.n_support_ == 60
    assert np.abs(above.dual_coef_).max() < 1e-9


@pytest.mark.parametrize("nu", [0.05, 0.1, 0.2, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_nu_bounds_the_fraction_of_margin_errors(nu, seed):
    X, y = noisy(seed, n=120, noise=0.4)
    model = NuLPSVC(nu=nu, gamma=1.0).fit(X, y)
    margins = y * model.decision_function(X)
    assert model.margin_[0] > 0
    assert (margins < model.margin_[0] - 1e-9).mean() <= nu + 1e-12
    assert (margins < model.margin_[0] + 1e-9).mean() >= nu - 1e-12
    assert np.abs(model.dual_coef_).sum() == pytest.approx(1)


def test_nu_zero_is_the_limit_of_small_nu():
    X, y = separable(0, n=50)
    zero, small = (NuLPSVC(nu=nu, gamma=0.5).fit(X, y) for nu in (0.0, 1e-6))
    assert zero.margin_[0] == pytest.approx(small.margin_[0], rel=1e-6)
    assert np.allclose(zero.decision_function(X), small.decision_function(X), atol=1e-8)
    assert (y * zero.decision_function(X)).min() == pytest.approx(zero.margin_[0])


@pytest.mark.filterwarnings("ignore:nu=:UserWarning")
def test_nu_zero_without_a_margin_has_the_least_loss():
    X, y = noisy(0, n=60, noise=2.0)
    zero = NuLPSVC(nu=0.0, kernel="linear").fit(X, y)
    small = NuLPSVC(nu=1e-5, kernel="linear").fit(X, y)
    assert zero.margin_[0] == 0
    loss = [np.maximum(0, -y * model.decision_function(X)).mean() for model in (zero, small)]
    assert loss[0] == pytest.approx(loss[1], rel=1e-9)


def test_no_margin_is_said():
    X, y = noisy(0, n=60, noise=2.0)
    with pytest.warns(UserWarning, match="no margin is left. Give a larger nu"):
        NuLPSVC(nu=0.01, kernel="linear").fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_path_is_separate_fits(n_classes, monkeypatch):
    from largemargin.lp import column_generation as solver

    monkeypatch.setattr(solver, "SAMPLE", 30)
    X, y = several(0, n=90, n_classes=n_classes, noise=1.0)
    s = np.random.default_rng(0).uniform(0.5, 2.0, 90)
    lams = [5.0, 0.0, 1.0, 0.3, 2.0, 1e6]
    models = AdaptiveMarginSVC(gamma=0.4).path(X, y, lams, s)
    assert [model.lam for model in models] == lams
    for model in models:
        alone = AdaptiveMarginSVC(lam=model.lam, gamma=0.4).fit(X, y, s)
        gaps = model.dual_gap_ + alone.dual_gap_
        assert (abs(model.objective_ - alone.objective_) <= gaps * alone.objective_ + 1e-9).all()
        solved = gaps <= 1e-7  # some problems have coefficients of 1e9
        assert solved.sum() >= n_classes - 2
        scores = (np.atleast_2d(one.decision_function(X).T)[solved] for one in (model, alone))
        np.testing.assert_allclose(*scores, rtol=1e-6, atol=1e-8)
        assert vars(model).keys() == vars(alone).keys()


def test_removing_an_example_that_the_machine_gets_right():
    """y_i f(x_i) - alpha_i k_ii is the score without it, which the objective is made of."""
    X, y = noisy(3, n=40)
    model = LeaveOneOutSVC(gamma=0.5).fit(X, y)
    without = y * model.decision_function(X)
    without[model.support_] -= np.abs(model.dual_coef_[0])
    assert model.objective_[0] == pytest.approx(np.maximum(0, 1 - without).sum())


def test_without_loss_the_sum_of_coefficients_is_least():
    X, y = separable(0, n=40)
    model = AdaptiveMarginSVC(lam=0.2, gamma=0.3).fit(X, y)
    assert model.objective_[0] < 1e-8
    K = rbf_kernel(X, gamma=0.3)
    B = y[:, None] * K * y - 0.2 * np.eye(40)
    least = linprog(np.ones(40), -B, -np.ones(40))
    assert np.abs(model.dual_coef_).sum() == pytest.approx(least.fun)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_the_kernel_does_not_matter(unit):
    X, y = noisy(0, n=60)
    K = rbf_kernel(X, gamma=0.5)
    for machine, parameters, power in (
        (LPSVC(C=2.0), {"C": 2.0 / unit}, -1),
        (NuLPSVC(nu=0.3), {}, 1),
        (LeaveOneOutSVC(), {}, 0),
    ):
        machine.set_params(kernel="precomputed")
        expected = machine.fit(K, y).objective_
        found = machine.set_params(**parameters).fit(unit * K, y)
        assert found.converged_
        assert found.objective_ == pytest.approx(expected * unit**power, rel=1e-7)
