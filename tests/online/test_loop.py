"""The compiled loop against the one-example-at-a-time twin: every rule with every policy."""

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.kernels.choosing import make_kernel
from largemargin.online import ALMA, MIRA, ROMMA, AggressivePerceptron

from .streams import integers, look_ahead, reals
from .twin import Twin

POLICIES = [
    ("keep", None), ("distill", None), ("margin", 12), ("random", 12), ("forgetron", 12),
    ("projectron", 12), ("margin", 1), ("forgetron", 1), ("projectron", 3),
]  # fmt: skip
RULES = {
    "perceptron": (AggressivePerceptron, {"margin": 1.0}),
    "mira": (MIRA, {"margin": 0.5}),
    "romma": (ROMMA, {}),
    "romma on mistakes": (ROMMA, {"aggressive": False}),
    "alma": (ALMA, {"alpha": 0.7}),
}
KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.2},
}


def make(rule, policy, budget, kernel="poly", **more):
    cls, own = RULES[rule]
    settings = {"shuffle": False, "random_state": 3, **own, **KERNELS[kernel], **more}
    return cls(policy=policy, budget=budget, **settings)


def twin_of(model, X, n_classes):
    kernel = make_kernel(
        model.kernel, degree=model.degree, gamma=model.gamma, coef0=model.coef0, X=X
    )
    twin = Twin(model, kernel(X, X), n_classes)
    if model.policy == "random":
        twin.random = Draws(model.random_state)
    return twin


class Draws:
    """The draws of random removal: the twin's cache is a list, the learner's has slots."""

    def __init__(self, seed):
        from largemargin.online.policies import choose_at_random as choose

        state = np.random.RandomState(seed).randint(2**31 - 1)
        self.state, self.choose, self.slots = np.array([state], np.uint64), choose, []

    def __call__(self, stored):
        for e in stored:
            if not any(e is known for known in self.slots):
                empty = [i for i, known in enumerate(self.slots) if known not in stored]
                if empty:
                    self.slots[empty[0]] = e
                else:
                    self.slots.append(e)
        return self.slots[self.choose(self.state, len(stored))]


def assert_same(model, twin, exact):
    assert model.support_.tolist() == twin.support
    for name, count in twin.counts.items():
        assert getattr(model, name) == count, name
    for average in {False, bool(model.average)}:
        model.average = average
        expected = twin.dual_coef(average)
        if exact and not average:
            np.testing.assert_array_equal(model.dual_coef_, expected)
        else:
            np.testing.assert_allclose(model.dual_coef_, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.crossing
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(("policy", "budget"), POLICIES)
@pytest.mark.parametrize("rule", RULES)
def test_every_step_is_the_twins(rule, policy, budget, n_classes):
    X, y = (integers if rule == "perceptron" else reals)(5, n_classes=n_classes)
    model = make(rule, policy, budget)
    twin = twin_of(model, X, n_classes)
    exact = rule == "perceptron" and policy not in ("forgetron", "projectron")
    for t in range(len(y)):
        twin.learn(t, y[t])
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=np.arange(n_classes))
        assert_same(model, twin, exact)
    assert model.n_insertions_ > 10 or policy == "projectron"
    if budget is not None:  # a removal may be followed by a step of zero
        assert budget - 1 <= model.n_support_ <= budget


@pytest.mark.crossing
@pytest.mark.parametrize(("policy", "budget"), POLICIES[:6])
@pytest.mark.parametrize("rule", RULES)
def test_look_ahead_changes_nothing(rule, policy, budget):
    for kernel in KERNELS:
        X, y = reals(8, n=90, n_classes=3)
        model = make(rule, policy, budget, kernel, average=True)
        twin = twin_of(model, X, 3)
        for t in range(len(y)):
            twin.learn(t, y[t])
        for length in (1, 3, 16, 1000):
            with look_ahead(length):
                model.set_params(average=True).fit(X, y)
            assert_same(model, twin, exact=False)


@pytest.mark.parametrize("seed", range(12))
def test_random_streams(seed):
    """Many small streams, with ties, repeated examples and contradictions."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.choice([2, 3, 5]))
    X, y = integers(seed, n=60, n_features=2, n_classes=n_classes, noise=0.3)
    for policy, budget in POLICIES[:4]:
        model = make("perceptron", policy, budget, "linear", average=bool(seed % 2))
        model.set_params(margin=float(rng.integers(0, 8)))
        twin = twin_of(model, X, n_classes)
        for t in range(len(y)):
            twin.learn(t, y[t])
        with look_ahead(int(rng.integers(1, 40))):
            model.fit(X, y)
        assert_same(model, twin, exact=True)


@pytest.mark.crossing
@pytest.mark.parametrize(("policy", "budget"), POLICIES[:6])
@pytest.mark.parametrize("rule", RULES)
def test_sparse_is_dense(rule, policy, budget):
    X, y = integers(2, n=150)
    X[X < 0] = 0
    X[:, 0] += 1
    dense = make(rule, policy, budget)
    with look_ahead(16):
        dense.fit(X, y)
        for form in (sp.csr_array, sp.csr_matrix):
            sparse = make(rule, policy, budget).fit(form(X), y)
            assert sp.issparse(sparse.support_vectors_)
            np.testing.assert_array_equal(sparse.support_, dense.support_)
            np.testing.assert_array_equal(sparse.dual_coef_, dense.dual_coef_)
            np.testing.assert_array_equal(sparse.support_vectors_.toarray(), dense.support_vectors_)
            np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(X))


def test_precomputed_and_function_kernels_are_the_named_one():
    X, y = integers(3, n=150)

    def square(A, B):
        return (A @ B.T + 1) ** 2

    K = square(X, X)
    for policy, budget in POLICIES[:6]:
        named = make("mira", policy, budget).fit(X, y)
        given = make("mira", policy, budget).set_params(kernel="precomputed").fit(K, y)
        function = make("mira", policy, budget).set_params(kernel=square).fit(X, y)
        for other in (given, function):
            np.testing.assert_array_equal(other.support_, named.support_)
            np.testing.assert_array_equal(other.dual_coef_, named.dual_coef_)
        np.testing.assert_allclose(given.decision_function(K), named.decision_function(X))
