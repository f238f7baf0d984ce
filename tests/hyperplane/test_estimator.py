"""Hyperplanes of largest margin against general solvers, closed forms, limits and copies."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from largemargin import SVC, MaxMarginHyperplane

from . import twin

FULL = pytest.mark.full
NORMS = [1, 1.3, 2, np.inf, *(pytest.param(p, marks=FULL) for p in (1.01, 3, 30))]
FEWER = [1, 1.5, 2, np.inf, pytest.param(4, marks=FULL)]


def overlapping(seed, m=15, n=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=m) > 0, 1.0, -1.0)
    y[:2] = -1, 1
    return X, y


def separable(seed, m=15, n=3):
    X, y = overlapping(seed, m, n)
    X[:, 0] = y * (0.2 + np.abs(X[:, 0]))
    return X + 1.0, y


def degenerate():
    """Data that make programs with many solutions, or none but zero."""
    rng = np.random.default_rng(7)
    X = rng.integers(-1, 2, size=(14, 3)).astype(float)
    y = np.where(rng.random(14) < 0.5, 1.0, -1.0)
    line = np.c_[np.arange(8.0), 2 * np.arange(8.0), np.ones(8)]
    return {
        "grid with ties": (X, y),
        "one feature thrice": (X[:, [0, 0, 0]], y),
        "all zero": (np.zeros((6, 2)), np.array([1.0, -1, 1, -1, 1, 1])),
        "equal in both classes": (np.repeat(X[:6], 2, axis=0), np.tile([1.0, -1.0], 6)),
        "one of each": (np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([-1.0, 1.0])),
        "collinear": (line, np.where(np.arange(8) > 3, 1.0, -1.0)),
        "many and one": (X, np.where(np.arange(14) == 5, 1.0, -1.0)),
        "more features": (rng.normal(size=(6, 15)), np.array([1.0, -1, 1, -1, 1, 1])),
    }


def check(model, X, y, p, C, s=None, threshold=True):
    """What is reported is so, and the objective is the general solver's."""
    s = np.ones(len(y)) if s is None else s
    w, b = model.coef_[0], model.intercept_[0]
    size = twin.length(w, p)
    expected = twin.solve(X, y, s, p, C, threshold)
    if np.isinf(C):
        assert (y * (X @ w + b)).min() > 1 - 1e-9
        found = size ** twin.power(p) / twin.power(p)
    else:
        found = twin.objective(w, b, X, y, s, p, C)
    assert model.objective_[0] == pytest.approx(found, rel=1e-9)
    assert found <= expected * (1 + 1e-7) + 1e-12
    # SLSQP is not as exact as this for p near 1 or large
    exact = 1e-7 if p in (1, 2, np.inf) else 1e-4
    assert found >= expected * (1 - exact) - 1e-12
    assert model.converged_
    assert -1e-12 < model.dual_gap_[0] < 1e-9
    if size > 0:
        assert model.margin_[0] == pytest.approx((y * (X @ w + b)).min() / size, rel=1e-9)
    assert model.n_iter_[0] >= 1


@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("p", NORMS)
def test_soft_margin_is_the_general_solver_s(p, C):
    for seed in range(2):
        X, y = overlapping(seed)
        check(MaxMarginHyperplane(norm=p, C=C).fit(X, y), X, y, p, C)


@pytest.mark.crossing
@pytest.mark.parametrize("threshold", [True, False])
@pytest.mark.parametrize("p", NORMS)
def test_hard_margin_is_the_general_solver_s(p, threshold):
    for seed in range(2):
        X, y = separable(seed)
        X = X if threshold else X - 1.0
        model = MaxMarginHyperplane(norm=p, C=np.inf, fit_intercept=threshold).fit(X, y)
        check(model, X, y, p, np.inf, threshold=threshold)
        assert model.margin_[0] == pytest.approx(1 / twin.length(model.coef_[0], p), rel=1e-8)


@pytest.mark.parametrize("p", NORMS)
def test_without_threshold_and_with_weights(p):
    X, y = overlapping(5)
    s = np.random.default_rng(5).uniform(0.1, 3, len(y))
    model = MaxMarginHyperplane(norm=p, fit_intercept=False).fit(X, y, sample_weight=s)
    check(model, X, y, p, 1.0, s, threshold=False)
    assert model.intercept_[0] == 0
    check(MaxMarginHyperplane(norm=p).fit(X, y, sample_weight=s), X, y, p, 1.0, s)


@pytest.mark.crossing
@pytest.mark.parametrize("name", degenerate())
@pytest.mark.parametrize("p", NORMS)
def test_degenerate_data(p, name):
    X, y = degenerate()[name]
    for C in (0.1, 10.0):
        check(MaxMarginHyperplane(norm=p, C=C).fit(X, y), X, y, p, C)


@pytest.mark.crossing
@pytest.mark.parametrize("p", [1, 1.2, 2, 5, np.inf])
@pytest.mark.parametrize(("shape", "C"), [((12, 400), 1.0), ((12, 400), np.inf), ((500, 4), 1.0)])
def test_either_side_may_be_the_longer(p, shape, C):
    X, y = overlapping(0, *shape)
    model = MaxMarginHyperplane(norm=p, C=C).fit(X, y)
    assert model.converged_
    assert abs(model.dual_gap_[0]) < 1e-9
    if shape[1] > shape[0]:
        assert model.margin_[0] > 0


# Closed forms in the plane, q conjugate to p.


@pytest.mark.parametrize("p", FEWER)
@pytest.mark.parametrize("d", [(3.0, 1.0), (-1.0, 2.0), (0.5, -4.0)])
def test_two_points(p, d):
    """The margin is half their distance: max |d| / 2, |d|_2 / 2, (|d_1| + |d_2|) / 2."""
    origin = np.array([0.7, -0.3])
    X = np.array([origin, origin + d])
    model = MaxMarginHyperplane(norm=p, C=np.inf).fit(X, [0, 1])
    assert model.margin_[0] == pytest.approx(twin.length(np.array(d), twin.conjugate(p)) / 2)
    np.testing.assert_allclose(model.decision_function(X), [-1, 1], rtol=1e-8)
    if p == 1:  # the longer side alone
        longer = np.argmax(np.abs(d))
        expected = np.zeros(2)
        expected[longer] = 2 / d[longer]
    elif p == 2:
        expected = 2 * np.array(d) / np.dot(d, d)
    elif np.isinf(p):
        expected = 2 * np.sign(d) / np.abs(d).sum()
    else:
        return
    np.testing.assert_allclose(model.coef_[0], expected, atol=1e-9)


@pytest.mark.parametrize("p", FEWER)
def test_a_point_and_a_segment(p):
    """From the origin to the segment from (1, 3) to (3, 1): nearest in every norm is (2, 2), at
    2 in the maximum norm, 8^1/2, and 4 in the sum norm; w = (1/2, 1/2), b = -1.
    """
    X = np.array([[1.0, 3.0], [3.0, 1.0], [0.0, 0.0]])
    model = MaxMarginHyperplane(norm=p, C=np.inf).fit(X, [1, 1, 0])
    distance = {1: 2.0, 2: np.sqrt(8), np.inf: 4.0}.get(p, 2 * 2 ** (1 / twin.conjugate(p)))
    assert model.margin_[0] == pytest.approx(distance / 2)
    np.testing.assert_allclose(model.coef_[0], [0.5, 0.5], rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, -1, rtol=1e-6)


@pytest.mark.parametrize(("p", "w"), [(1, (1.0, 0.0)), (2, (1.0, 0.0)), (np.inf, (0.5, 0.5))])
def test_an_edge_decides(p, w):
    """(1, 3) and (1, -1) against (-1, 0): the edge x = 1 is 2 away in the maximum norm and the
    2-norm; in the sum norm (1, 0) is as near as any, w = (1, 0), too, unless the edge is tilted.
    """
    X = np.array([[1.0, 3.0], [1.0, -1.0], [-1.0, 0.0]])
    if np.isinf(p):  # against (-1, -1), the nearest of the edge is (1, -1): all of (1, t), t <= 1
        X = np.array([[1.0, 1.0], [-1.0, -1.0]])
    model = MaxMarginHyperplane(norm=p, C=np.inf).fit(X, [1] * (len(X) - 1) + [0])
    np.testing.assert_allclose(model.coef_[0], w, atol=1e-6)


@pytest.mark.parametrize("C", [0.1, 0.3, 0.5, 2.0])
@pytest.mark.parametrize("p", FEWER)
def test_soft_margin_of_two_numbers(p, C):
    """-1 and 1: least w^r / r + 2 C (1 - w)+ is at w = (2C)^(1/(r - 1)), but no more than 1."""
    r = twin.power(p)
    model = MaxMarginHyperplane(norm=p, C=C).fit([[-1.0], [1.0]], [0, 1])
    if r > 1:
        expected = min(1.0, (2 * C) ** (1 / (r - 1)))
    elif C == 0.5:
        return  # any w from 0 to 1
    else:
        expected = float(C > 0.5)
    exact = 1e-7 if C != 0.5 else 1e-4  # where no multiplier is strictly within its bounds
    assert model.coef_[0, 0] == pytest.approx(expected, abs=exact)


# Limits and relatives.


@pytest.mark.parametrize("C", [0.1, 10.0, np.inf])
@pytest.mark.parametrize(
    ("limit", "near"), [(1, 1 + 1e-7), (2, 2 - 1e-8), (2, 2 + 1e-8), (np.inf, 1e9)]
)
def test_norms_near_a_limit_have_its_objective(limit, near, C):
    X, y = separable(1) if np.isinf(C) else overlapping(1)
    at, by = (MaxMarginHyperplane(norm=p, C=C).fit(X, y) for p in (limit, near))
    assert by.objective_[0] == pytest.approx(at.objective_[0], rel=1e-6)
    if at.coef_.any():
        assert by.margin_[0] == pytest.approx(at.margin_[0], rel=1e-4)


@pytest.mark.parametrize("C", [0.1, 1.0, np.inf])
@pytest.mark.parametrize("threshold", [True, False])
def test_the_2_norm_is_the_support_vector_machine(C, threshold):
    X, y = separable(2) if np.isinf(C) else overlapping(2)
    X = X - 1.0 if np.isinf(C) else X
    model = MaxMarginHyperplane(C=C, fit_intercept=threshold).fit(X, y)
    machine = SVC(kernel="linear", C=C, fit_intercept=threshold).fit(X, y)
    np.testing.assert_allclose(model.coef_, machine.coef_, rtol=1e-7)
    np.testing.assert_allclose(model.intercept_, machine.intercept_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.objective_, machine.objective_, rtol=1e-9)
    if np.isinf(C):
        np.testing.assert_allclose(model.margin_, machine.margin_, rtol=1e-9)


@pytest.mark.parametrize("p", [1, 1.5, 3, np.inf])
def test_a_large_C_is_the_hard_margin(p):
    X, y = separable(3)
    hard, soft = (MaxMarginHyperplane(norm=p, C=C).fit(X, y) for C in (np.inf, 1e4))
    assert soft.objective_[0] == pytest.approx(hard.objective_[0], rel=1e-7)
    assert soft.margin_[0] == pytest.approx(hard.margin_[0], rel=1e-6)


# Weights and forms of the data.


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("C", [0.3, np.inf])
def test_weights_are_copies_to_the_last_bit(p, C):
    rng = np.random.default_rng(11)
    X, y = separable(4, m=30) if np.isinf(C) else overlapping(4, m=30)
    s = rng.integers(0, 4, len(y))
    s[:4] = 1
    weighted = MaxMarginHyperplane(norm=p, C=C).fit(X, y, sample_weight=s)
    order = rng.permutation(np.repeat(np.arange(len(y)), s))
    copied = MaxMarginHyperplane(norm=p, C=C).fit(X[order], y[order])
    for name in ("coef_", "intercept_", "objective_", "dual_gap_", "margin_", "n_iter_"):
        np.testing.assert_array_equal(getattr(weighted, name), getattr(copied, name))


def test_any_number_is_a_norm():
    X, y = overlapping(6)
    expected = MaxMarginHyperplane(norm=1.5).fit(X, y).coef_
    for norm in (Fraction(3, 2), np.float32(1.5)):
        np.testing.assert_array_equal(MaxMarginHyperplane(norm=norm).fit(X, y).coef_, expected)


@pytest.mark.parametrize("p", [1, 1.5, 2, np.inf])
def test_weights_and_C_are_one_price(p):
    X, y = overlapping(6)
    at = MaxMarginHyperplane(norm=p, C=2.0).fit(X, y)
    by = MaxMarginHyperplane(norm=p, C=1.0).fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(at.coef_, by.coef_, rtol=1e-7)
    weights = {-1.0: 3.0, 1.0: 0.5}
    at = MaxMarginHyperplane(norm=p, class_weight=weights).fit(X, y)
    by = MaxMarginHyperplane(norm=p).fit(X, y, sample_weight=np.where(y > 0, 0.5, 3.0))
    np.testing.assert_array_equal(at.coef_, by.coef_)
    balanced = MaxMarginHyperplane(norm=p, class_weight="balanced").fit(X, y)
    by = MaxMarginHyperplane(norm=p).fit(X, y, sample_weight=7.5 / np.where(y > 0, *counts(y)))
    np.testing.assert_allclose(balanced.coef_, by.coef_, rtol=1e-6)


def counts(y):
    return (y > 0).sum(), (y < 0).sum()


@pytest.mark.parametrize("p", FEWER)
@pytest.mark.parametrize("shape", [(40, 6), (10, 30)])
def test_sparse_and_dense_and_float32(p, shape):
    X, y = overlapping(8, *shape)
    X[np.abs(X) < 0.7] = 0
    X = X.astype(np.float32).astype(np.float64)
    dense = MaxMarginHyperplane(norm=p).fit(X, y)
    for form in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        sparse = MaxMarginHyperplane(norm=p).fit(form(X), y)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(sparse.objective_, dense.objective_, rtol=1e-9)
        np.testing.assert_allclose(
            sparse.decision_function(form(X)), sparse.decision_function(X), rtol=1e-9, atol=1e-12
        )
    single = MaxMarginHyperplane(norm=p).fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(single.coef_, dense.coef_)


@pytest.mark.parametrize("p", [1, 1.5, 2, np.inf])
def test_several_classes_are_one_against_the_rest(p):
    rng = np.random.default_rng(9)
    labels = np.array(["ant", "bee", "cat"])[np.arange(45) % 3]
    X = rng.normal(size=(45, 4)) + 2 * np.eye(4)[np.arange(45) % 3]
    model = MaxMarginHyperplane(norm=p, C=0.5).fit(X, labels)
    scores = model.decision_function(X)
    assert scores.shape == (45, 3)
    for k, label in enumerate(model.classes_):
        one = MaxMarginHyperplane(norm=p, C=0.5).fit(X, labels == label)
        np.testing.assert_allclose(one.objective_[0], model.objective_[k], rtol=1e-9)
        np.testing.assert_allclose(one.decision_function(X), scores[:, k], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
@pytest.mark.parametrize("unit", [1e-8, 1e6])
def test_units_of_the_features(p, unit):
    """Features in other units and C to match are the same hyperplane."""
    X, y = overlapping(10)
    at = MaxMarginHyperplane(norm=p, C=1.0).fit(X, y)
    by = MaxMarginHyperplane(norm=p, C=unit ** -twin.power(p)).fit(X * unit, y)
    assert by.dual_gap_[0] < 1e-7
    np.testing.assert_allclose(by.coef_ * unit, at.coef_, rtol=1e-4, atol=1e-6)


# Data that cannot be separated, limits of time, solvers that fail.


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("threshold", [True, False])
def test_data_that_cannot_be_separated_is_said_to_be_so(p, threshold):
    X, y = overlapping(0, m=40)
    model = MaxMarginHyperplane(norm=p, C=np.inf, fit_intercept=threshold)
    with pytest.warns(ConvergenceWarning, match="cannot be separated with a margin") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert not model.converged_
    assert not model.coef_.any()
    assert model.margin_[0] == -np.inf
    assert model.objective_[0] == np.inf
    larger = -1 if not threshold or (y < 0).sum() > (y > 0).sum() else 1
    assert (model.predict(X) == larger).all()


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
def test_min_margin_is_what_counts_as_separable(p):
    X, y = separable(0)
    margin = MaxMarginHyperplane(norm=p, C=np.inf).fit(X, y).margin_[0]
    model = MaxMarginHyperplane(norm=p, C=np.inf, min_margin=0.9 * margin).fit(X, y)
    assert model.converged_
    with pytest.warns(ConvergenceWarning, match="cannot be separated"):
        model.set_params(min_margin=1.1 * margin).fit(X, y)


@pytest.mark.parametrize("p", [1, 1.5, 2, np.inf])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_stopping_is_said_and_leaves_a_model(p, C):
    X, y = overlapping(0, 3000, 20)
    X[:, 0] += 4 * y
    model = MaxMarginHyperplane(norm=p, C=C, max_seconds=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"because max_seconds=1e-09 was reached"):
        model.fit(X, y)
    assert not model.converged_
    assert model.dual_gap_[0] > 1e-7
    assert np.isfinite(model.decision_function(X)).all()


def test_the_status_of_a_linear_program_is_said(monkeypatch):
    from largemargin.hyperplane import linear_norms
    from largemargin.lp import highs

    class Stubborn(highs.LinearProgram):
        def solve(self, *args, **options):
            return highs.Outcome("infeasible", np.zeros(0), np.zeros(0), 0.0, 0)

    monkeypatch.setattr(linear_norms, "LinearProgram", Stubborn)
    X, y = overlapping(0)
    for p in (1, np.inf):
        with pytest.warns(ConvergenceWarning, match="ended with the status infeasible"):
            MaxMarginHyperplane(norm=p).fit(X, y)


@pytest.mark.parametrize("p", [1, 1.5, np.inf])
def test_a_solver_is_not_believed(p, monkeypatch):
    """A solution that is a thousandth off is not accepted, whatever its solver says."""
    from dataclasses import replace

    from largemargin.hyperplane import estimator as home

    def off(solver):
        def solve(*args):
            found = solver(*args)
            return replace(found, w=1.001 * found.w)

        return solve

    for name in ("solve_linear", "solve_smooth"):
        monkeypatch.setattr(home, name, off(getattr(home, name)))
    X, y = overlapping(0)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        model = MaxMarginHyperplane(norm=p).fit(X, y)
    assert not model.converged_
    assert model.dual_gap_[0] > 1e-7


@pytest.mark.parametrize("p", [1.5, 4])
@pytest.mark.parametrize(("unit", "C"), [(1e-200, 1.0), (1e100, 1.0), (1.0, np.inf)])
def test_numbers_beyond_reach_are_an_honest_end(p, unit, C):
    X, y = overlapping(0, m=40)
    model = MaxMarginHyperplane(norm=p, C=C, min_margin=1e-300)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X * unit, y)
    caught = [warning for warning in caught if "standardise" not in str(warning.message)]
    assert np.isfinite(model.coef_).all()
    if model.converged_:  # the features are zero for all purposes
        assert not caught
        assert model.objective_[0] == pytest.approx(2 * C * min(counts(y)))
    else:
        assert [warning.category for warning in caught] == [ConvergenceWarning]
        assert model.dual_gap_[0] > 1e-7


# Bad input.


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"norm": 0.5}, "norm must be a number from 1 to inf, got 0.5"),
        ({"norm": np.nan}, "norm must be"),
        ({"norm": "l1"}, "norm must be"),
        ({"norm": True}, "norm must be"),
        ({"norm": -np.inf}, "norm must be"),
        ({"C": 0}, "C must be positive, got 0"),
        ({"C": -1.0}, "C must be positive"),
        ({"C": np.nan}, "C must be positive"),
        ({"C": 1e-200}, "C must be at least"),
        ({"tol": 0.0}, "tol must be positive"),
        ({"min_margin": -1}, "min_margin must be positive"),
        ({"max_seconds": 0}, "max_seconds must be"),
        ({"fit_intercept": "yes"}, "fit_intercept must be True or False"),
        ({"class_weight": "heavy"}, "class_weight must be"),
        ({"class_weight": {1.0: -1.0}}, "class_weight must hold positive"),
        ({"verbose": "no"}, "verbose must be"),
    ],
)
def test_wrong_parameters_leave_the_estimator_as_it_was(parameters, words):
    X, y = overlapping(0)
    model = MaxMarginHyperplane(norm=1).fit(X, y)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    with pytest.raises(ValueError, match=words):
        model.set_params(**parameters).fit(X + 1, y)
    after = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert before.keys() == after.keys()
    assert all(before[name] is after[name] for name in before)


def test_wrong_data():
    X, y = overlapping(0)
    fit = MaxMarginHyperplane(norm=1).fit
    missing, endless = X.copy(), X.copy()
    missing[3, 1], endless[3, 1] = np.nan, np.inf
    for bad, words in (
        ((X, np.ones(len(y))), "at least two classes"),
        ((missing, y), "NaN"),
        ((endless, y), "infinity"),
        ((X[:0], y[:0]), "minimum of 1"),
        ((X[:, 0], y), "2D array"),
        ((X, y[:5]), "inconsistent"),
        ((X, y, -np.ones(len(y))), "must not be negative"),
        ((X, y, np.zeros(len(y))), "zero"),
        ((X, y, (y > 0).astype(float)), "only one class with positive weight"),
    ):
        with pytest.raises(ValueError, match=words):
            fit(*bad)
    with pytest.raises(ValueError, match="features"):
        fit(X, y).predict(X[:, :2])
