"""The square of the sum of slacks, where its box is hard to find."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from largemargin.svm import SVC, squared_sum
from largemargin.svm.session import Session
from largemargin.svm.squared_sum_active_set import Iterate, solve_exactly
from tests.svm import twin
from tests.svm.extended import true_gaps
from tests.svm.problems import noisy, separable


def point(K, y, s, C, threshold, beta, delta):
    return Iterate(
        y, s, C, threshold, beta, delta, K @ beta, lambda F: K[np.ix_(F, F)],
        lambda F, d: K[:, F] @ d,
    )  # fmt: skip


@pytest.mark.parametrize("threshold", [True, False])
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("data", [noisy, separable])
def test_the_exact_step(data, C, threshold):
    """From the machine with linear slack for a delta that is half of the right one."""
    X, y = data(1)
    K, s = rbf_kernel(X, gamma=0.4), np.random.default_rng(0).uniform(0.5, 2, len(y))
    best = twin.soft_margin(K, y, s, C, "squared-sum", threshold)
    delta = (abs(best.coefs) / s).max()
    near = twin.soft_margin(K, y, s, delta / 2, "linear", threshold)
    start = point(K, y, s, C, threshold, near.coefs, (abs(near.coefs) / s).max())
    found, is_exact = solve_exactly(start)
    assert is_exact
    assert found.delta == pytest.approx(delta, rel=1e-5)
    assert np.allclose(found.outputs, K @ found.beta, rtol=0, atol=1e-12 * (1 + delta))
    assert ((found.alpha >= 0) & (found.alpha <= s * found.delta * (1 + 1e-12))).all()
    objective = found.alpha.sum() - found.beta @ K @ found.beta / 2 - found.delta**2 / (4 * C)
    assert objective == pytest.approx(best.objective, rel=1e-7)


def test_from_nothing_there_is_no_step():
    X, y = noisy(1)
    K, zero = linear_kernel(X), np.zeros(len(y))
    start = point(K, y, np.ones(len(y)), 1.0, True, zero, 0.0)
    assert solve_exactly(start) == (start, False)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [1e-9, 1e-3, 1e3, 1e9])
def test_a_wide_range_of_prices(kernel, C):
    """delta is between 1e-8 and 1e10 here, and takes a few rounds whichever it is."""
    X, y = noisy(5, n=60)
    model = SVC(C=C, slack="squared-sum", kernel=kernel, gamma=0.4, max_iter=10**6).fit(X, y)
    assert model.converged_
    assert true_gaps(model, X, y)[0] <= model.dual_gap_[0] < 1e-4
    assert true_gaps(model, X, y)[0] < 1e-5


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(
    "slack",
    [
        lambda delta: 3000 * np.exp(-0.15 * delta),
        lambda delta: 50 / (1 + delta) ** 3,
        lambda delta: 800 + 1 / (1 + delta),
        lambda delta: max(0.0, 40 - 2 * delta),
    ],
    ids=["exponential", "power", "noise", "line"],
)
def test_the_root_is_found_in_few_rounds(slack, C):
    search = squared_sum._RootBracket(C, 1.0)
    for _ in range(16):
        search.move()
        search.note(search.delta, slack(search.delta), 1e-3)
        if search.is_root(1e-3):
            break
    assert search.is_root(1e-3)
    assert search.delta == pytest.approx(2 * C * slack(search.delta), rel=2e-3)


def test_a_round_far_from_the_root_is_a_rough_one():
    search = squared_sum._RootBracket(1.0, 1.0)
    assert search.tolerance(1e-3) == squared_sum.LOOSEST
    search.note(1.0, 500.0, 0.1)
    assert search.tolerance(1e-3) == squared_sum.LOOSEST
    search.note(1.0, 0.51, 0.1)
    assert search.tolerance(1e-4) < 1e-3
    search.note(1.0, 0.5, 0.1)
    assert search.tolerance(1e-3) == 1e-3


@pytest.mark.full
@pytest.mark.parametrize("n", [2500, 9000])
@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_many_noisy_rows(n, C, monkeypatch):
    """The machine with linear slack and the price delta is the same, and delta is 2 C sum xi."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 30))
    y = np.where((X[:, 0] + X[:, 1] * X[:, 2] > 0) ^ (rng.random(n) < 0.1), 1, -1)
    rounds, train = [], Session.train

    def counted(self, jobs, **options):
        rounds.append(options["tol"])
        return train(self, jobs, **options)

    monkeypatch.setattr(Session, "train", counted)
    model = SVC(C=C, slack="squared-sum").fit(X, y)
    assert model.converged_
    assert len(rounds) <= 16
    delta = abs(model.dual_coef_).max()
    other = SVC(C=delta).fit(X, y)
    f = model.decision_function(X)
    assert abs(f - other.decision_function(X)).max() < 0.02
    assert 2 * C * np.maximum(0, 1 - y * f).sum() == pytest.approx(delta, rel=0.1)
