"""Steps over many working sets at once: better points of the same problem, with a true gradient,
and the answer that working sets alone come to.
"""

import numpy as np
import pytest

from largemargin.svm import SVC, NuSVC, OneClassSVM, chunking
from largemargin.svm.extrapolation import Extrapolation, Position
from largemargin.svm.problem import Problem

from .problems import noisy
from .test_chunking import in_chunks, told
from .test_decomposition import agree, same_bits

MACHINES = {
    "linear": lambda: SVC(C=50.0, gamma=0.4),
    "squared": lambda: SVC(C=50.0, gamma=0.4, slack="squared"),
    "no threshold": lambda: SVC(C=50.0, gamma=0.4, fit_intercept=False),
    "nu": lambda: NuSVC(nu=0.3, gamma=0.4),
    "float32": lambda: SVC(C=50.0, gamma=0.4, precision="float32"),
}


def steps_taken(patch):
    """Whether each step that was tried was taken."""
    taken, original = [], Extrapolation._minimum

    def minimum(self, at, free):
        found = original(self, at, free)
        taken.append(found is not None)
        return found

    patch.setattr(Extrapolation, "_minimum", minimum)
    return taken


@pytest.mark.parametrize("name", MACHINES)
def test_the_same_answer_in_fewer_rounds(name):
    X, y = noisy(7, n=500, n_features=6)
    models, rounds = [], []
    for wanted in (True, False):
        with in_chunks(16, 1 << 14), pytest.MonkeyPatch.context() as patch:
            taken = steps_taken(patch)
            if not wanted:
                patch.setattr(chunking.Chunking, "_goes_ahead", lambda *_: False)
            descend, counts = chunking.Chunking.run, []

            def run(self, descend=descend, counts=counts):
                descend(self)
                counts.append(self.effort.n_rounds)

            patch.setattr(chunking.Chunking, "run", run)
            models.append(MACHINES[name]().fit(X, y))
            assert any(taken) == wanted
            rounds.append(max(counts))
        assert models[-1].converged_
        if name in ("linear", "float32"):
            assert told(models[-1], X, y)
    if name == "float32":
        assert np.allclose(*(m.decision_function(X) for m in models), atol=5e-3)
    else:
        agree(*models, X)
    assert rounds[0] < rounds[1]


def test_one_class():
    X, _ = noisy(8, n=400, n_features=4)
    with in_chunks(16, 1 << 14):
        ours = OneClassSVM(nu=0.5, gamma=0.4).fit(X)
    truth = OneClassSVM(nu=0.5, gamma=0.4).fit(X)
    assert np.allclose(ours.decision_function(X), truth.decision_function(X), atol=1e-7)


@pytest.mark.bits
def test_threads_do_not_change_a_bit():
    X, y = noisy(9, n=400, n_features=5)
    with in_chunks(16, 1 << 14), pytest.MonkeyPatch.context() as patch:
        taken = steps_taken(patch)
        first = SVC(C=50.0, gamma=0.4, n_jobs=1).fit(X, y)
        assert any(taken)
        for n_jobs, memory in ((2, "150KB"), (3, 1)):
            same_bits(SVC(C=50.0, gamma=0.4, n_jobs=n_jobs, memory=memory).fit(X, y), first)


@pytest.mark.parametrize("threshold", [True, False])
@pytest.mark.parametrize("n_groups", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_a_step_is_feasible_better_and_knows_its_gradient(seed, n_groups, threshold):
    rng = np.random.default_rng(seed)
    n = 300
    Z = rng.normal(size=(n, 40))
    K, ridge, p = Z @ Z.T / 40, rng.uniform(0, 0.1, n), rng.normal(size=n)
    side = np.sign(rng.normal(size=n))
    lo, hi = np.minimum(side, 0.0), np.maximum(side, 0.0)
    group = (np.arange(n) % n_groups).astype(np.uint8)
    beta = 0.5 * side * rng.uniform(0.2, 1.8, n).clip(0, 2)
    problem = Problem(p, lo, hi, ridge, np.ones(n), group, n_groups, threshold, beta)

    def position(beta):
        return Position(beta, K @ beta + p + ridge * beta, np.abs(K) @ np.abs(beta), 0.0)

    def sums(variables, changes):
        own = np.where(hi[variables] <= 0, -1.0, 1.0) * changes
        return np.stack([changes @ K[variables], own @ np.abs(K)[variables]])

    ahead = Extrapolation(problem, sums)
    assert ahead.step(position(beta), 50) is None  # there is no sweep to go by
    taken = 0
    for _ in range(30):
        at = position(beta)
        # a sweep: each variable moves a little down its slope, and each group keeps its sum
        slope = at.grad.copy()
        if threshold:
            means = np.bincount(group, slope) / np.bincount(group)
            slope -= means[group]
        move = -0.02 * slope
        room = np.where(move > 0, hi - beta, beta - lo)
        move *= min(1.0, (room[move != 0] / np.abs(move[move != 0])).min())
        beta = np.clip(beta + move, lo, hi)
        for _ in range(n // 50):
            found = ahead.step(position(beta), 50)
        if found is None:
            continue
        taken += 1
        true = position(found.beta)
        assert np.allclose(found.grad, true.grad, rtol=0, atol=1e-10)
        assert np.allclose(found.sizes, true.sizes, rtol=0, atol=1e-9)
        assert np.abs(found.grad - true.grad).max() <= found.drift + 1e-12
        assert (lo <= found.beta).all()
        assert (found.beta <= hi).all()
        if threshold:
            kept = np.bincount(group, found.beta) - np.bincount(group, beta)
            assert np.abs(kept).max() < 1e-10
        before = beta @ (position(beta).grad + p)
        assert found.beta @ (true.grad + p) < before
        beta = found.beta
    assert taken


def test_no_step_where_a_variable_may_have_either_sign():
    problem = Problem(
        np.zeros(4), -np.ones(4), np.ones(4), np.ones(4), np.ones(4), np.zeros(4, np.uint8), 1,
        True, np.zeros(4),
    )  # fmt: skip
    ahead = Extrapolation(problem, lambda variables, changes: np.zeros((1, 4)))
    at = Position(np.full(4, 0.5), np.ones(4), np.ones(4), 0.0)
    for _ in range(10):
        assert ahead.step(at, 1) is None
