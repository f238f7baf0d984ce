"""The linear kernel of few features, solved in their space: the answer of kernel values, exactly,
in a few dozen systems whatever C and the scale, and the same bits whatever the threads.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning

from largemargin.runtime.threads import workers
from largemargin.svm import SVC, NuSVC, few_features, interior_point, solving

from . import twin
from .problems import noisy, separable

MOST = 2000  # systems, guesses and the few steps that are tried first

MACHINES = {
    "linear": SVC(kernel="linear", C=10.0),
    "large C": SVC(kernel="linear", C=1e6),
    "small C": SVC(kernel="linear", C=1e-4),
    "squared": SVC(kernel="linear", slack="squared", C=3.0),
    "squared-sum": SVC(kernel="linear", slack="squared-sum", C=0.01),
    "no threshold": SVC(kernel="linear", fit_intercept=False, C=10.0),
    "hard": SVC(kernel="linear", C=np.inf),
    "hard, no threshold": SVC(kernel="linear", C=np.inf, fit_intercept=False),
    "nu": NuSVC(kernel="linear", nu=0.6),
    "nu, no threshold": NuSVC(kernel="linear", nu=0.6, fit_intercept=False),
}


@pytest.fixture
def at_once(monkeypatch):
    """No steps are tried first."""
    monkeypatch.setattr(solving, "SMO_FIRST_ROWS", 0)


def again(name, **params):
    model = MACHINES[name]
    return type(model)(**{**model.get_params(), **params})


def by_kernel_values(model, X, y, weight=None):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few_features, "MOST_FEATURES", 0)
        return model.fit(X, y, weight)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_answer_of_kernel_values(name, scale, at_once):
    X, y = (separable if "hard" in name else noisy)(5, n=70, n_features=4)
    X, weight = X * scale, np.random.default_rng(0).uniform(0.2, 3, 70)
    ours = again(name).fit(X, y, weight)
    truth = by_kernel_values(again(name), X, y, weight)
    if name == "large C" and scale > 1:  # beyond what float64 can hold of its sums
        assert ours.objective_[0] == pytest.approx(truth.objective_[0], rel=1e-4)
        return
    assert ours.converged_
    assert abs(ours.dual_gap_[0]) < 1e-8
    assert ours.n_iter_[0] < MOST * (60 if name == "squared-sum" else 1)
    if abs(truth.dual_gap_[0]) < 1e-8:
        assert ours.objective_[0] == pytest.approx(truth.objective_[0], rel=2e-8)
        f = truth.decision_function(X)
        close = 1e-4 if name in ("large C", "squared-sum") else 1e-6
        assert np.allclose(ours.decision_function(X), f, rtol=0, atol=close * (1 + abs(f).max()))


@pytest.mark.parametrize("name", ["linear", "squared", "no threshold"])
def test_against_the_twin(name, at_once):
    for seed in range(3):
        X, y = noisy(seed, n=30, n_features=3)
        model = again(name).fit(X, y)
        truth = twin.soft_margin(X @ X.T, y, np.ones(30), model.C, model.slack, model.fit_intercept)
        assert model.objective_[0] == pytest.approx(truth.objective, rel=1e-9)


@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("slack", ["linear", "squared"])
def test_noise_beyond_what_steps_can_do(C, slack):
    """Two thousand rows of twenty features, a fifth of the labels at random."""
    X, y = make_classification(
        2000, 20, n_informative=10, flip_y=0.2, class_sep=0.5, random_state=0
    )
    model = SVC(kernel="linear", C=C, slack=slack).fit(X, y)
    assert model.converged_
    assert model.dual_gap_[0] < 1e-9 + 4e-12 * C  # most of it may be rounding
    assert model.n_iter_[0] < MOST
    inside = (abs(model.dual_coef_[0]) < C).sum()
    assert slack == "squared" or inside <= 21  # a vertex in as many dimensions as there are


def test_raw_features(at_once):
    """Columns of sizes from 1e-3 to 4e3: a few dozen systems, and what the told gap allows."""
    X, y = load_breast_cancer(return_X_y=True)
    for C, gap in ((1e-2, 1e-10), (1.0, 1e-8), (100.0, 1e-6)):
        model = SVC(kernel="linear", C=C).fit(X, y)
        assert model.converged_
        assert model.n_iter_[0] < MOST
        assert abs(model.dual_gap_[0]) < gap


@pytest.mark.parametrize("name", ["hard", "hard, no threshold", "nu"])
def test_no_margin(name, at_once):
    """Hulls that meet are known to after a few systems."""
    X, y = noisy(2, n=400, n_features=3, noise=2.0)
    model = again(name, **({"nu": 0.01} if name == "nu" else {}))
    with pytest.warns(ConvergenceWarning, match="separated|margin errors"):
        model.fit(X, y)
    assert not model.converged_
    assert model.n_iter_[0] < 50


def test_several_classes_and_folds(at_once):
    X, labels = noisy(1, n=150, n_features=4)
    labels = labels.astype(int) + (X[:, 1] > 0)
    for multiclass in ("ovr", "ovo"):
        params = {"kernel": "linear", "multiclass": multiclass, "C": 50.0}
        ours = SVC(**params).fit(X, labels)
        truth = by_kernel_values(SVC(**params), X, labels)
        assert ours.objective_ == pytest.approx(truth.objective_, rel=1e-9)
    path = SVC(kernel="linear").path(X, labels > 0, [0.1, 10.0, 1000.0])
    for model in path:
        alone = SVC(kernel="linear", C=model.C).fit(X, labels > 0)
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-9)


@pytest.mark.parametrize("sparse", [False, pytest.param(True, marks=pytest.mark.full)])
@pytest.mark.bits
def test_neither_threads_nor_memory_change_a_bit(sparse, monkeypatch):
    monkeypatch.setattr(few_features, "ROWS", 64)
    monkeypatch.setattr(few_features, "AT_ONCE", 3)
    monkeypatch.setattr(solving, "SMO_FIRST_ROWS", 0)
    X, y = noisy(4, n=400, n_features=6)
    X = sp.csr_array(X * (abs(X) > 0.5)) if sparse else X
    for precision in ("float32", "float64"):
        params = {"kernel": "linear", "C": 30.0, "precision": precision}
        first = SVC(n_jobs=1, **params).fit(X, y)
        assert first.converged_
        for n_jobs, memory in ((2, "auto"), (3, "50KB"), (1, 1)):
            other = SVC(n_jobs=n_jobs, memory=memory, **params).fit(X, y)
            assert np.array_equal(other.support_, first.support_)
            assert np.array_equal(other.dual_coef_, first.dual_coef_)
            assert np.array_equal(other.intercept_, first.intercept_)


@pytest.mark.parametrize("n_sums", [0, 1, 2])
@pytest.mark.parametrize("shifted", [False, True])
def test_the_system_against_the_whole_matrix(n_sums, shifted, monkeypatch):
    monkeypatch.setattr(few_features, "ROWS", 7)
    monkeypatch.setattr(few_features, "AT_ONCE", 2)
    rng = np.random.default_rng(0)
    X, ridge, theta = rng.normal(size=(40, 3)), rng.uniform(0, 1, 40), rng.uniform(0.1, 5, 40)
    A = interior_point.sum_rows(rng.choice([-1.0, 1.0], 40), np.arange(40) % n_sums)[:n_sums] if (
        n_sums
    ) else np.zeros((0, 40))  # fmt: skip
    with workers(2) as team:
        features = few_features.Features(X, team)
        if shifted:
            features = features.shifted(features.mean())
        L = X - X.mean(axis=0) if shifted else X
        system = few_features.Factored(features, ridge, A)
        dense = interior_point.Dense(L @ L.T + np.diag(ridge), A)
        x, short = rng.normal(size=40), rng.normal(size=n_sums)
        assert np.allclose(system.times(x), dense.times(x))
        assert np.allclose(system.diagonal, dense.diagonal)
        for found, truth in zip(
            system.factor(theta)(x, short), dense.factor(theta)(x, short), strict=True
        ):
            assert np.allclose(found, truth)


def test_a_limit_of_steps_is_kept():
    """Which is what the other way counts."""
    X, y = noisy(3, n=300)
    with pytest.warns(ConvergenceWarning, match="max_iter=7 was reached"):
        model = SVC(kernel="linear", C=1e4, max_iter=7).fit(X, y)
    assert model.n_iter_[0] <= 7


def test_going_on_from_the_solution_is_free(at_once):
    X, y = noisy(3, n=300)
    model = SVC(kernel="linear", C=1e3, warm_start=True).fit(X, y)
    before = model.decision_function(X)
    model.fit(X, y)
    assert model.n_iter_[0] == 1  # none, and one is said
    assert np.allclose(model.decision_function(X), before, rtol=0, atol=1e-9)


@pytest.mark.full
def test_any_scale_and_price():
    rng = np.random.default_rng(0)
    for _ in range(1500):
        n, d = int(rng.integers(8, 120)), int(rng.integers(1, 6))
        if 2 * d > n:
            continue
        seed, name = int(rng.integers(10**6)), rng.choice(["linear", "squared", "no threshold"])
        X, y = noisy(seed, n=n, n_features=d, noise=rng.uniform(0.1, 2))
        if rng.random() < 0.3:
            X = X.round()  # many alike
        X = X * 10.0 ** rng.uniform(-3, 3)
        C, weight = 10.0 ** rng.uniform(-3, 5), rng.uniform(0.2, 3, n)
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            patch.setattr(solving, "SMO_FIRST_ROWS", 0)
            model = again(str(name), C=C).fit(X, y, weight)
        coefs = np.zeros(n)
        coefs[model.support_] = model.dual_coef_[0]
        rounding = np.finfo(float).eps * abs(X @ X.T) @ abs(coefs)
        limit = 10 * C * float(weight @ rounding) / abs(model.objective_[0])
        case = (seed, name, n, d, C, np.abs(X).max())
        assert model.dual_gap_[0] <= 1e-8 + limit, case
