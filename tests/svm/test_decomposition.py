"""The block solver over shared kernel rows: the whole matrix's answer, whatever the memory and
the threads.
"""

from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm

from largemargin.kernels import rows as kernel_rows
from largemargin.svm import SVC, NuSVC, decomposition, session
from largemargin.svm import multiclass as reductions
from largemargin.svm.column_sets import ColumnSet

from .problems import KERNELS, given, noisy, separable, several

MACHINES = {
    "linear": (SVC, {"C": 2.0}),
    "squared": (SVC, {"C": 2.0, "slack": "squared"}),
    "squared-sum": (SVC, {"C": 0.01, "slack": "squared-sum"}),
    "hard": (SVC, {"C": np.inf}),
    "nu": (NuSVC, {"nu": 0.4}),
}


@contextmanager
def small_blocks(working_set=16, portions=False):
    """The block solver over kept rows for data of any size, in working sets of a few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "WHOLE_GRAM_ROWS", 0)
        patch.setattr(session, "is_computed_again", lambda kernel, X, *rest: False)
        patch.setattr(decomposition, "WORKING_SET", working_set)
        patch.setattr(decomposition, "NEW", 2)
        if portions:
            patch.setattr(session, "SMALL_PROBLEM", 0)
        yield


def agree(one, two, X, close=1e-8):
    f, g = one.decision_function(X), two.decision_function(X)
    assert np.allclose(f, g, rtol=0, atol=close * (1 + abs(g).max()))
    assert one.objective_ == pytest.approx(two.objective_, rel=close)
    assert one.converged_
    assert two.converged_


def same_bits(one, two):
    assert np.array_equal(one.support_, two.support_)
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
    assert np.array_equal(one.intercept_, two.intercept_)
    assert np.array_equal(one.n_iter_, two.n_iter_)


@pytest.mark.crossing
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", KERNELS)
def test_blocks_give_what_the_whole_matrix_gives(machine, name):
    estimator, params = MACHINES[machine]
    portions = name in ("rbf", "linear", "precomputed")
    X, y = (separable if machine == "hard" else noisy)(1, n=80)
    if machine == "nu":
        X[:, 0] += y
    kernel = KERNELS[name][1]
    K = kernel(X, X)
    params = {**params, **KERNELS[name][0]}
    whole = estimator(**params).fit(given(name, X, K), y)
    with small_blocks(portions=portions):
        blocks = estimator(**params).fit(given(name, X, K), y)
    agree(blocks, whole, given(name, X, K))


@pytest.mark.crossing
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("threshold", [True, False])
def test_several_classes_in_lockstep(machine, multiclass, threshold):
    estimator, params = MACHINES[machine]
    X, y = several(2, n=100, n_classes=4, noise=0.1 if machine == "hard" else 0.6)
    params = {**params, "multiclass": multiclass, "fit_intercept": threshold, "gamma": 0.5}
    if machine == "nu":
        params["nu"] = 0.3
    weight = np.random.default_rng(0).uniform(0.5, 2, 100)
    whole = estimator(**params).fit(X, y, weight)
    with small_blocks(portions=True):
        blocks = estimator(**params).fit(X, y, weight)
    agree(blocks, whole, X)


@pytest.mark.crossing
@pytest.mark.bits
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_neither_threads_nor_memory_change_a_bit(precision, machine, multiclass):
    estimator, params = MACHINES[machine]
    n, noise = (100 if machine == "squared-sum" else 200), (0.1 if machine == "hard" else 0.6)
    X, y = several(3, n=n, n_features=5, n_classes=4, noise=noise)
    params = {**params, "multiclass": multiclass, "precision": precision, "gamma": 0.3}
    if machine == "nu":
        params["nu"] = 0.3
    with small_blocks(working_set=96, portions=True):
        first = estimator(n_jobs=1, **params).fit(X, y)
        for n_jobs, memory in ((2, "150KB"), (1, 1)):
            same_bits(estimator(n_jobs=n_jobs, memory=memory, **params).fit(X, y), first)


@pytest.mark.bits
@pytest.mark.parametrize("data", ["sparse", "laplacian", "precomputed"])
def test_nor_with_other_data(data):
    X, y = several(3, n=200, n_features=5, n_classes=3, noise=0.6)
    params = {"gamma": 0.3, "kernel": "laplacian" if data == "laplacian" else "rbf"}
    if data == "precomputed":
        X, params = KERNELS["rbf"][1](X, X), {"kernel": "precomputed"}
    if data == "sparse":
        X = sp.csr_array(X * (abs(X) > 0.5))
    with small_blocks(working_set=96, portions=True):
        first = SVC(n_jobs=1, **params).fit(X, y)
        for n_jobs, memory in ((2, "150KB"), (1, 1)):
            same_bits(SVC(n_jobs=n_jobs, memory=memory, **params).fit(X, y), first)


@pytest.mark.bits
def test_little_memory_with_classes_of_many_sizes():
    """Problems that need more rows than fit, beside small ones on other classes."""
    sizes = [300, 5, 6, 300, 200]
    y = np.repeat(np.arange(5), sizes)
    X = np.random.default_rng(0).normal(size=(len(y), 4))
    with small_blocks(working_set=256):
        first = SVC(multiclass="ovo", gamma=0.5).fit(X, y)
        second = SVC(multiclass="ovo", gamma=0.5, memory=1).fit(X, y)
    same_bits(first, second)


@pytest.mark.bits
@pytest.mark.parametrize("company", [0, 2, 4])
def test_company_does_not_change_an_answer(company):
    """A pair of classes alone and among others is the same problem."""
    X, y = several(5, n=300, n_classes=5, noise=0.6)
    mine = (y == company) | (y == (company + 1) % 5)
    pair = sorted((company, (company + 1) % 5))
    at = [(i, j) for i in range(5) for j in range(i + 1, 5)].index(tuple(pair))
    with small_blocks():
        alone = SVC(gamma=0.5).fit(X[mine], y[mine])
        among = SVC(gamma=0.5, multiclass="ovo").fit(X, y)
    assert among.objective_[at] == pytest.approx(alone.objective_[0], rel=1e-9)
    assert among.intercept_[at] == pytest.approx(alone.intercept_[0], abs=1e-8)


@pytest.mark.parametrize("size", [8, 17, 1000])
def test_the_size_of_the_working_set_does_not_matter(size):
    X, y = noisy(6, n=200)
    whole = SVC(C=5.0).fit(X, y)
    with small_blocks(working_set=size):
        agree(SVC(C=5.0).fit(X, y), whole, X)


def test_many_segments():
    X, y = noisy(6, n=200)
    whole = SVC(C=5.0).fit(X, y)
    with small_blocks(portions=True), pytest.MonkeyPatch.context() as patch:
        patch.setattr(reductions, "SEGMENT", 23)
        patch.setattr(reductions, "PORTION", 3)
        agree(SVC(C=5.0).fit(X, y), whole, X)
        small = SVC(C=5.0, memory=1).fit(X, y)
        same_bits(small, SVC(C=5.0).fit(X, y))


def test_a_class_with_fewer_examples_than_portions():
    X, y = noisy(6, n=60)
    y[:] = -1
    y[[3, 30]] = 1
    whole = SVC(C=5.0).fit(X, y)
    with small_blocks(portions=True):
        agree(SVC(C=5.0).fit(X, y), whole, X)


@pytest.mark.parametrize("machine", MACHINES)
def test_weights_are_repetitions_here_too(machine):
    estimator, params = MACHINES[machine]
    X, y = (separable if machine == "hard" else noisy)(8, n=80)
    if machine == "nu":
        X[:, 0] += y
    weight = np.random.default_rng(1).integers(0, 4, 80)
    weight[:2] = 1
    with small_blocks(portions=True):
        once = estimator(**params).fit(X, y, weight)
        often = estimator(**params).fit(X.repeat(weight, axis=0), y.repeat(weight))
    agree(once, often, X)


@pytest.mark.parametrize("computed", [False, True])
def test_beyond_the_whole_matrix(computed, monkeypatch):
    """As it is used: 2,500 rows, more than the whole matrix is made for."""
    monkeypatch.setattr(session, "is_computed_again", lambda kernel, X, *rest: computed)
    X, y = several(9, n=2500, n_features=6, n_classes=3, noise=0.8)
    blocks = SVC(gamma=0.1).fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "WHOLE_GRAM_ROWS", 4000)
        whole = SVC(gamma=0.1).fit(X, y)
    agree(blocks, whole, X[:200], close=1e-5)
    assert blocks.dual_gap_.max() < 1e-4
    single = SVC(gamma=0.1, precision="float32").fit(X, y)
    assert abs(single.decision_function(X[:200]) - whole.decision_function(X[:200])).max() < 2e-2
    assert single.objective_ == pytest.approx(whole.objective_, rel=1e-4)


def test_the_fewest_rows_held_are_whole_blocks():
    assert kernel_rows.BLOCK % 4 == 0  # rows are added four at a time, in the same fours always


@pytest.mark.bits
@pytest.mark.full
def test_memory_changes_no_bit_of_wide_rows():
    """Products over many features depend on the place of a row: it must not follow the memory."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 2400)
    X = rng.normal(size=(len(y), 300)) + 0.2 * rng.normal(size=(4, 300))[y]
    params = {"precision": "float32", "multiclass": "ovo", "gamma": 1 / 300, "C": 10.0}
    ample = SVC(**params).fit(X, y)
    scarce = SVC(memory="4MB", **params).fit(X, y)
    assert np.array_equal(ample.support_, scarce.support_)
    assert np.array_equal(ample.dual_coef_, scarce.dual_coef_)
    assert np.array_equal(ample.intercept_, scarce.intercept_)


@pytest.mark.full
@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("C", [1.0, pytest.param(10.0, marks=pytest.mark.full)])
def test_most_examples_at_their_bounds(C, computed, monkeypatch):
    """Noise leaves thousands of violators for a working set of a thousand: a set of violators alone
    would undo the last one's work (134 and 95 rounds here over kept rows).
    """
    rounds = []
    owner, name = (ColumnSet, "select") if computed else (decomposition, "_round")
    once = getattr(owner, name)
    monkeypatch.setattr(session, "is_computed_again", lambda kernel, X, *rest: computed)
    monkeypatch.setattr(owner, name, lambda *args: (rounds.append(1), once(*args))[1])
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y = (X.sum(axis=1) + X[:, 0] * X[:, 1] > 0) ^ (rng.random(6000) < 0.3)
    model = SVC(C=C, precision="float32").fit(X, y)
    assert model.converged_
    assert len(model.support_) > 4000
    assert 10 < len(rounds) < 45
    peer = sklearn.svm.SVC(C=C).fit(X, y)
    far = np.abs(model.decision_function(X[:500]) - peer.decision_function(X[:500]))
    assert far.max() < 1e-2
