"""Copies of examples, merged for training: against the same fit of all of them."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from largemargin.base.fingerprint import row_hashes
from largemargin.base.training_set import TrainingSet
from largemargin.svm import SVC, NuSVC, copies
from largemargin.svm.copies import Distinct, sets_of_copies

from .extended import true_gaps

MACHINES = {
    "linear": SVC(C=0.8),
    "squared": SVC(C=0.8, slack="squared"),
    "squared-sum": SVC(C=0.3, slack="squared-sum"),
    "nu": NuSVC(nu=0.4),
    "pairs": SVC(C=3.0, multiclass="ovo"),
    "crammer-singer": SVC(multiclass="crammer-singer"),
    "linear kernel": SVC(kernel="linear", C=0.1),
}


def table(seed, n=400, d=4, values=3, classes=3):
    """A table of few values, with noisy labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, d)).astype(float)
    scores = X @ rng.normal(size=(d, classes))
    y = np.argmax(scores - scores.mean(axis=0) + rng.normal(size=(n, classes)), axis=1)
    return X, y, rng.integers(1, 4, n) / 2


def unmerged(monkeypatch, model, *of):
    with monkeypatch.context() as patch:
        patch.setattr(copies, "MOST_DISTINCT", 0.0)
        return model.fit(*of)


def sets_one_by_one(X, labels):
    """The same sets by a dictionary."""
    numbers = {}
    return [numbers.setdefault((tuple(row), c), len(numbers)) for row, c in
            zip((X + 0.0).tolist(), labels.tolist(), strict=True)]  # fmt: skip


@given(
    seed=st.integers(0, 2**32 - 1), n=st.integers(1, 60), d=st.integers(1, 3),
    values=st.integers(1, 4), sparse=st.booleans(), collide=st.booleans(),
)  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_sets_are_those_of_a_dictionary(seed, n, d, values, sparse, collide):
    rng = np.random.default_rng(seed)
    X, labels = rng.integers(0, values, (n, d)) * rng.choice([-0.5, 0.5]), rng.integers(0, 2, n)
    hashes = row_hashes(X)
    if collide:  # rows that differ may have equal hashes: these are told apart
        hashes[:] = 7
    found = sets_of_copies(sp.csr_array(X) if sparse else X, labels, hashes)
    truth = np.array(sets_one_by_one(X, labels))
    if collide and found is not None:  # equal rows that are not side by side may stay apart
        pairs = {(a, b) for a, b in zip(found.tolist(), truth.tolist(), strict=True)}
        assert len(pairs) == found.max() + 1
    elif not collide:
        if truth.max() + 1 > copies.MOST_DISTINCT * n:
            assert found is None
        else:
            assert found.tolist() == truth.tolist()


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_machine_is_that_of_all_copies(machine, weighted, sparse, monkeypatch):
    X, y, weights = table(1)
    of = sp.csr_array(X) if sparse else X, y, weights if weighted else None
    model = MACHINES[machine]
    truth = unmerged(monkeypatch, model, *of)
    scores, objective = truth.decision_function(of[0]), truth.objective_
    model.fit(*of)
    assert np.allclose(model.decision_function(of[0]), scores, rtol=0, atol=1e-7)
    assert model.objective_ == pytest.approx(objective, rel=1e-8)
    assert model.dual_gap_.max() < 1e-7
    assert model.n_trained == 400
    assert model.support_.max() < 400


@pytest.mark.parametrize("machine", ["linear", "pairs"])
@pytest.mark.parametrize("weighted", [False, True])
def test_coefficients_of_copies_are_within_their_bounds(machine, weighted):
    X, y, weights = table(2)
    weights = weights if weighted else np.ones(len(y))
    model = MACHINES[machine].fit(X, y, weights)
    coefs = np.zeros((len(model.dual_coef_), len(y)))
    coefs[:, model.support_] = model.dual_coef_
    assert (np.abs(coefs) <= model.C * weights).all()
    assert np.abs(coefs.sum(axis=1)).max() < 1e-11
    if not weighted:  # of the copies of one example, one at most is between the bounds
        inside = (coefs != 0) & (np.abs(coefs) != model.C)
        rows = {(*x, c) for x, c in zip(X.tolist(), y.tolist(), strict=True)}
        assert inside.sum(axis=1).max() <= len(rows)
        for k, row in enumerate(inside):
            free = np.flatnonzero(row)
            assert len({(*X[i], y[i]) for i in free}) == len(free), k


@pytest.mark.parametrize("machine", ["linear", "squared", "squared-sum", "nu", "pairs"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_told_gap_is_that_of_the_stored_coefficients(machine, precision, weighted):
    X, y, weights = table(3, n=120)
    model = MACHINES[machine].set_params(precision=precision)
    model.fit(X / 3, y, weights if weighted else None)
    true = true_gaps(model, X / 3, y, weights if weighted else None)
    assert (np.asarray(true, float) <= model.dual_gap_).all()
    model.set_params(precision="auto")


def test_a_table_of_few_rows_a_thousand_times():
    X, y, _ = table(4, n=30_000, d=5, classes=2)
    model = SVC(C=2.0).fit(X, y)
    assert model.converged_
    assert model.dual_gap_.max() < 1e-8
    distinct, which, counts = np.unique(
        np.column_stack([X, y]), axis=0, return_index=True, return_counts=True
    )
    once = SVC(C=2.0, gamma=model._expansion.basis.kernel.gamma)
    once.fit(distinct[:, :-1], y[which], counts)
    assert np.allclose(model.decision_function(X[:500]), once.decision_function(X[:500]), atol=1e-8)


def test_warm_starts_paths_and_zero_weights():
    X, y, weights = table(5)
    weights[::7] = 0
    model = SVC(C=1.0, warm_start=True).fit(X, y, weights)
    scores, first = model.decision_function(X), model.n_iter_.sum()
    model.fit(X, y, weights)
    assert model.n_iter_.sum() < first
    assert np.allclose(model.decision_function(X), scores, atol=1e-8)
    assert (weights[model.support_] > 0).all()
    for C, one in zip((0.1, 1.0), SVC().path(X, y, [0.1, 1.0], weights), strict=True):
        alone = SVC(C=C).fit(X, y, weights)
        assert np.allclose(one.decision_function(X), alone.decision_function(X), atol=1e-8)


def test_rows_without_copies_are_left_alone():
    X, y, _ = table(6)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    assert sets_of_copies(X, y, row_hashes(X)) is None


def test_the_weight_of_many_copies_is_their_sum_rounded_once():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (100_000, 2)).astype(float), np.arange(100_000) % 2
    weights = np.where(X[:, 0] > 0, 0.1, rng.random(len(y)))
    model = SVC()
    merged = Distinct(model, TrainingSet(model, X, y, weights), True).data
    assert len(merged) == 8
    for x, label, weight in zip(merged.given, merged.labels, merged.weights, strict=True):
        copies_of_it = (x == X).all(axis=1) & (y == label)
        assert weight == pytest.approx(math.fsum(weights[copies_of_it]), rel=2e-16, abs=0)


@pytest.mark.parametrize(
    ("machine", "scale"),
    [("linear", 1e-200), ("squared", 1e-200), ("squared-sum", 1e-120), ("crammer-singer", 1e-200)],
)
def test_tiny_weights_are_shared(machine, scale, monkeypatch):
    X, y, weights = table(7, n=200, d=3, classes=2)
    weights = scale * (weights + np.random.default_rng(0).random(len(y)))
    model = MACHINES[machine]
    truth = unmerged(monkeypatch, model, X, y, weights)
    sums = np.abs(truth.dual_coef_).sum(axis=1)
    model.fit(X, y, weights)
    assert (sums > 0).all()
    assert np.allclose(np.abs(model.dual_coef_).sum(axis=1), sums, rtol=1e-6, atol=0)


def test_linear_machines_are_solved_as_they_are_given(monkeypatch):
    X, y, _ = table(8, classes=2)
    model = SVC(kernel="linear", slack="squared-sum", C=1e4)
    truth = unmerged(monkeypatch, model, X, y)
    coefs, gap = truth.dual_coef_, truth.dual_gap_
    model.fit(X, y)
    assert np.array_equal(model.dual_coef_, coefs)
    assert np.array_equal(model.dual_gap_, gap)
