"""Problems that are solved in float32 first have the solution of those that are in float64 all the
time.
"""

import warnings
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from largemargin.kernels.fused import form_of
from largemargin.svm import SVC, OneClassSVM, session, single_first, solving, solving_in_chunks
from largemargin.svm.active_set import _regular_solve, _solve, group_sums
from largemargin.svm.problem import Problem

from .problems import noisy, several
from .test_chunking import KERNELS, MACHINES, alike, problem, stopped, told
from .test_decomposition import agree, same_bits

NAMES = [name for name in KERNELS if name not in ("laplacian", "sigmoid")]


@contextmanager
def single_precision_first(whole=True):
    """For data of any size; `whole` is what is done where it does not lead to the solution."""
    calls, original = [], single_first.solve_near

    def solve(*args):
        calls.append(original(*args))
        return calls[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_first, "ROWS", (0, 4000, 4000))
        patch.setattr(single_first, "MANY_ENTRIES", 0)
        patch.setattr(
            session, "is_computed_again", lambda kernel, X, *rest: form_of(kernel) is not None
        )
        patch.setattr(solving, "has_few_features", lambda X, kernel: False)
        patch.setattr(solving_in_chunks, "solve_near", solve)
        if not whole:
            patch.setattr(session, "WHOLE_GRAM_ROWS", 0)
        yield calls


@pytest.mark.crossing
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", NAMES)
def test_both_ways_give_the_same_answers(name, machine, whole):
    estimator, params = MACHINES[machine]
    params = {**params, **KERNELS[name]}
    X, y = problem(machine, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solving, "has_few_features", lambda X, kernel: False)
        double = estimator(**params).fit(X, y)
    with single_precision_first(whole) as calls:
        single = estimator(**params).fit(X, y)
    # half of the digits are lost where the kernel is infinitely steep
    alike(single, double, X, 1e-6 if name == "matern 0.5" else 1e-8)
    if machine in ("linear", "squared", "no threshold") and name == "rbf":
        assert [one is not None for one in calls] == [True]


@pytest.mark.parametrize("C", [0.1, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(3))
def test_the_gap_is_that_of_the_coefficients(C, seed):
    X, y = noisy(seed, n=300, n_features=4)
    weight = np.random.default_rng(seed).integers(1, 3, 300).astype(float)
    with single_precision_first() as calls:
        model = SVC(C=C, gamma=0.4).fit(X, y)
        assert calls[0] is not None
        assert told(model, X, y)
        assert model.dual_gap_[0] < 1e-8
        weighted = SVC(C=C, gamma=0.4).fit(X, y, weight)
        copies = SVC(C=C, gamma=0.4).fit(
            X.repeat(weight.astype(int), axis=0), y.repeat(weight.astype(int))
        )
    agree(weighted, copies, X)


def test_a_variable_that_is_not_far_after_all_joins_the_near_ones(monkeypatch):
    X, y = noisy(5, n=400, n_features=4)
    double = SVC(C=10.0, gamma=0.4).fit(X, y)
    original, sets = single_first._may_matter, []

    def hasty(problem, at, errors):
        found = original(problem, at, errors)
        sets.append(found)
        return at.beta != 0 if len(sets) == 1 else found

    monkeypatch.setattr(single_first, "_may_matter", hasty)
    nearly = solving_in_chunks.solve_nearly

    def roughly(problem, K, tol, closer, max_steps, *rest):
        return replace(nearly(problem, K, tol, closer, 100, *rest), converged=True)

    monkeypatch.setattr(solving_in_chunks, "solve_nearly", roughly)
    with single_precision_first() as calls:
        single = SVC(C=10.0, gamma=0.4).fit(X, y)
    assert len(sets) > 2  # the first set was not enough
    assert calls[0] is not None
    alike(single, double, X)


def test_where_float32_does_not_lead_there_it_goes_on_as_usual(monkeypatch):
    X, y = noisy(5, n=200)
    double = SVC(C=10.0, gamma=0.4).fit(X, y)
    monkeypatch.setattr(single_first, "ROUNDS", 0)
    for whole in (True, False):
        with single_precision_first(whole) as calls:
            alike(SVC(C=10.0, gamma=0.4).fit(X, y), double, X)
        assert calls[0] is None


def test_a_limit_of_steps_and_going_on():
    X, y = noisy(3, n=120)
    truth = SVC(C=10.0, gamma=0.4).fit(X, y)
    for whole in (True, False):
        with single_precision_first(whole):
            model = stopped(X, y, "float64", max_iter=30)
            assert not model.converged_
            assert model.n_iter_[0] == 30
            assert told(model, X, y)
            model.set_params(warm_start=True, max_iter=-1).fit(X, y)
        agree(model, truth, X)


@pytest.mark.parametrize("whole", [True, False])
def test_no_time(whole):
    X, y = noisy(3, n=300)
    with single_precision_first(whole):
        for limit in (1e-9, 1e-4, 1e-3):
            model = SVC(C=10.0, gamma=0.4, max_seconds=limit)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X, y)
            assert np.isfinite(model.decision_function(X)).all()
            told(model, X, y)


@pytest.mark.bits
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("machine", ["linear", "squared", "no threshold"])
def test_neither_threads_nor_memory_change_a_bit(machine, whole):
    estimator, params = MACHINES[machine]
    X, y = noisy(4, n=1300, n_features=5)
    with single_precision_first(whole) as calls:
        first = estimator(n_jobs=1, gamma=0.3, **params).fit(X, y)
        for n_jobs, memory in ((2, "150KB"), (3, 1)):
            same_bits(estimator(n_jobs=n_jobs, memory=memory, gamma=0.3, **params).fit(X, y), first)
    assert all(one is not None for one in calls)


def test_pairs_of_classes_have_a_matrix_each(monkeypatch):
    X, y = several(2, n=240, n_classes=4, noise=0.6)
    double = SVC(gamma=0.5, multiclass="ovo").fit(X, y)
    monkeypatch.setattr(solving, "CORNER_ROWS", 0)
    with single_precision_first(whole=False) as calls:
        single = SVC(gamma=0.5, multiclass="ovo").fit(X, y)
    assert [one is not None for one in calls] == [True] * 6
    alike(single, double, X)


def test_rows_of_many_entries_have_a_larger_matrix():
    X = np.ones((10, 400))
    few, many, most = single_first.ROWS
    assert single_first.may_pay(many, X[:, :20], whole=False)
    assert not single_first.may_pay(many + 1, X[:, :20], whole=False)
    assert single_first.may_pay(most, X[:, :200], whole=False)
    assert not single_first.may_pay(most + 1, X, whole=False)
    assert not single_first.may_pay(few, X, whole=False)
    assert not single_first.may_pay(few + 1, X, whole=True)


def test_too_many_near_variables_are_left_to_float64(monkeypatch):
    X, y = noisy(5, n=200)
    double = SVC(C=10.0, gamma=0.4).fit(X, y)
    monkeypatch.setattr(single_first, "MOST_NEAR", 5)
    with single_precision_first(whole=False) as calls:
        alike(SVC(C=10.0, gamma=0.4).fit(X, y), double, X)
    assert calls == [None, None]  # early, and at the tolerance


def test_several_problems_share_one_matrix_in_float64():
    X, y = several(2, n=150, n_classes=3, noise=0.6)
    with single_precision_first() as calls:
        SVC(gamma=0.5).fit(X, y)
        OneClassSVM(gamma=0.5, nu=0.2).fit(X)
    assert len(calls) <= 1


# The step of the free variables


@pytest.mark.parametrize("n_groups", [1, 2, 5])
@pytest.mark.parametrize("threshold", [True, False])
def test_a_step_solves_the_conditions_of_optimality(n_groups, threshold):
    rng = np.random.default_rng(n_groups)
    n = 40
    Z = rng.normal(size=(n, 60))
    a, group = np.sign(rng.normal(size=n)), (np.arange(n) % n_groups).astype(np.uint8)
    beta, ridge, grad = rng.normal(size=n), rng.uniform(0, 1, n), rng.normal(size=n)
    wide = np.full(n, 100.0)
    point = Problem(
        np.zeros(n), -wide, wide, ridge, a, group, n_groups, threshold, beta + rng.normal(size=n)
    )
    free = np.sort(rng.permutation(n)[:30])
    K, totals = (Z @ Z.T)[np.ix_(free, free)], group_sums(point, point.start)
    step, ray = _solve(point, free, beta, grad, K, totals)
    A = (group[free][:, None] == np.arange(n_groups)) * a[free][:, None] * threshold
    H = K + np.diag(ridge[free])
    system = np.block([[H, A], [A.T, np.zeros((n_groups, n_groups))]])
    missing = totals - group_sums(point, beta) if threshold else np.zeros(n_groups)
    expected = np.linalg.lstsq(system, np.concatenate([-grad[free], missing]))[0]
    assert np.allclose(step, expected[:30], rtol=1e-10, atol=1e-12)
    assert not ray.any()


def test_a_matrix_that_is_nearly_singular_is_left_to_the_pivots():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    right, a, group = rng.normal(size=20), np.ones(20), np.zeros(20, np.uint8)
    for H in (X @ X.T, -np.eye(20), np.zeros((20, 20)), np.full((20, 20), np.nan)):
        assert _regular_solve(H.copy(), right, a, group, np.zeros(1)) is None
        assert _regular_solve(H.copy(), right, a, group, None) is None


def test_variables_that_would_leave_the_box_are_held_at_its_ends():
    rng = np.random.default_rng(3)
    n = 64
    Z = rng.normal(size=(n, 80))
    H, right = Z @ Z.T, rng.normal(size=n)
    a, group, missing = np.ones(n), np.zeros(n, np.uint8), np.array([0.01])
    plain = _regular_solve(H.copy(), right, a, group, missing)
    # the two largest steps are too long
    ends = np.sort(np.abs(plain))[-3] * 1.001
    step = _regular_solve(H.copy(), right, a, group, missing, (np.full(n, -ends), np.full(n, ends)))
    held = np.abs(step) > ends * (1 - 1e-9)
    assert 1 <= held.sum() <= 4
    assert np.abs(step).max() <= ends * (1 + 1e-9)
    assert step.sum() == pytest.approx(0.01)
    # the others are where their gradients agree
    left = (H @ step - right)[~held]
    assert np.ptp(left) < 1e-9 * np.abs(right).max()


def test_a_group_is_not_held_as_a_whole():
    group = np.array([0] + [1] * 40, np.uint8)
    n = len(group)
    H, right = np.eye(n), np.where(group == 0, 10.0, 0.1)
    box = np.full(n, -1.0), np.full(n, 1.0)
    step = _regular_solve(H, right, np.ones(n), group, np.array([5.0, 0.0]), box)
    assert step is not None
    assert step[0] == pytest.approx(5.0)  # its sum asks for more than the box has
