"""Linear machines of few columns on rows that are elsewhere: the answer of the plain machine from
passes over the rows, and the same bits however the rows are shared out.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from largemargin.runtime import arrays
from largemargin.runtime.arrays import PairedSum
from largemargin.runtime.threads import workers
from largemargin.svm import SVC, NuSVC, few_features
from largemargin.svm.formulations import HINGE, SQUARED_HINGE, Nu, SoftMargin
from largemargin.svm.linear import passes, rows, samples, solver, weights, working_sets

from .held_rows import HeldNuSVC, HeldRows, HeldSVC
from .problems import noisy, separable, several

N = 2500  # rows: more than those whose whole Gram matrix is computed


@pytest.fixture
def small(monkeypatch):
    """What is worth it for a million rows happens with thousands."""
    monkeypatch.setattr(samples, "SMALLEST_SAMPLE", 40)
    monkeypatch.setattr(samples, "ROWS_PER_FEATURE", 5)
    monkeypatch.setattr(working_sets, "FIRST", 40)
    monkeypatch.setattr(passes, "PIECE", 12)


@pytest.fixture
def all_stay(small, monkeypatch):
    """And next to nothing is fetched, not even bands."""
    monkeypatch.setattr(arrays, "FEW_NUMBERS", 300)
    monkeypatch.setattr(arrays, "NUMBERS_PER_ROW", 0)


MACHINES = {
    "linear": (HeldSVC, SVC, {}),
    "large C": (HeldSVC, SVC, {"C": 100.0}),
    "small C": (HeldSVC, SVC, {"C": 1e-3}),
    "no threshold": (HeldSVC, SVC, {"fit_intercept": False}),
    "squared": (HeldSVC, SVC, {"slack": "squared"}),
    "squared, no threshold": (HeldSVC, SVC, {"slack": "squared", "fit_intercept": False}),
    "nu": (HeldNuSVC, NuSVC, {"nu": 0.8}),
    "hard": (HeldSVC, SVC, {"C": np.inf}),
    "hard, no threshold": (HeldSVC, SVC, {"C": np.inf, "fit_intercept": False}),
}


def data_for(name, n=N):
    return (separable if "hard" in name else noisy)(3, n=n, n_features=4)


def assert_same_machine(held, plain, atol=1e-7):
    assert held.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert np.allclose(held.coef_, plain.coef_, rtol=0, atol=atol)
    assert np.allclose(held.intercept_, plain.intercept_, rtol=0, atol=atol)
    assert (held.dual_gap_ <= np.maximum(plain.dual_gap_, 1e-8)).all()


def is_never(*_, **__):
    raise AssertionError("kernel values were asked for")


@pytest.mark.crossing
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", MACHINES)
def test_the_plain_machine(name, precision, small, monkeypatch):
    held, plain, parameters = MACHINES[name]
    X, y = data_for(name)
    parameters = {"kernel": "linear", "precision": precision, **parameters}
    monkeypatch.setattr(HeldRows, "fused", is_never)
    assert_same_machine(held(**parameters).fit(X, y), plain(**parameters).fit(X, y))


@pytest.mark.parametrize("name", MACHINES)
def test_rows_that_stay(name, all_stay, monkeypatch):
    held, plain, parameters = MACHINES[name]
    X, y = data_for(name)
    weight = np.random.default_rng(0).uniform(0.2, 3, len(y))
    weight[:50] = 0
    parameters = {"kernel": "linear", "precision": "float64", **parameters}
    monkeypatch.setattr(HeldRows, "fused", is_never)
    monkeypatch.setattr("largemargin.svm.evaluation.CHEAP", 300)
    model = held(**parameters).fit(X, y, weight)
    assert_same_machine(model, plain(**parameters).fit(X, y, weight))
    *fetched, vectors = model.rows.fetched
    assert vectors == len(model.support_)
    assert max(fetched, default=0) <= 300


@pytest.mark.bits
@pytest.mark.parametrize("name", ["linear", "squared", "nu"])
def test_holders_do_not_change_a_bit(name, all_stay):
    held, _, parameters = MACHINES[name]
    X, y = data_for(name)
    first = held(kernel="linear", **parameters).fit(X, y)
    for n_holders in (2, 3, 7):
        other = held(kernel="linear", **parameters)
        other.n_holders = n_holders
        other.fit(X, y)
        assert np.array_equal(other.support_, first.support_)
        assert np.array_equal(other.dual_coef_, first.dual_coef_)
        assert np.array_equal(other.intercept_, first.intercept_)
        assert np.array_equal(other.dual_gap_, first.dual_gap_)


@pytest.mark.parametrize(
    "multiclass", ["ovo", "ovr", pytest.param("crammer-singer", marks=pytest.mark.full)]
)
def test_several_classes(multiclass, small):
    X, y = several(1, n=N)
    parameters = {"kernel": "linear", "multiclass": multiclass, "C": 0.1}
    held, plain = HeldSVC(**parameters).fit(X, y), SVC(**parameters).fit(X, y)
    assert held.objective_ == pytest.approx(plain.objective_, rel=1e-5)
    assert np.allclose(held.decision_function(X), plain.decision_function(X), atol=1e-3)


@pytest.mark.full
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_square_of_all_slack(precision, small):
    X, y = noisy(3, n=N, n_features=4)
    parameters = {"kernel": "linear", "slack": "squared-sum", "C": 0.01, "precision": precision}
    assert_same_machine(HeldSVC(**parameters).fit(X, y), SVC(**parameters).fit(X, y))


def test_a_path(small):
    X, y = noisy(5, n=N, n_features=4)
    Cs = [0.01, 1.0, 10.0]
    held = HeldSVC(kernel="linear").path(X, y, Cs)
    for ours, truth in zip(held, SVC(kernel="linear").path(X, y, Cs), strict=True):
        assert_same_machine(ours, truth)


@pytest.mark.parametrize("slack", ["linear", "squared"])
def test_sparse_rows(slack, all_stay):
    X, y = noisy(4, n=N, n_features=5)
    X[np.abs(X) < 0.7] = 0
    parameters = {"kernel": "linear", "slack": slack, "precision": "float64", "C": 0.01}
    held = HeldSVC(**parameters).fit(sp.csr_array(X), y)
    assert_same_machine(held, SVC(**parameters).fit(X, y))


def test_hulls_that_meet(small):
    X, y = noisy(2, n=N, noise=2.0)
    with pytest.warns(ConvergenceWarning, match="separated"):
        model = HeldSVC(kernel="linear", C=np.inf).fit(X, y)
    assert not model.converged_


@pytest.mark.parametrize("where", ["everywhere", "some"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_products(kind, dtype, where, monkeypatch):
    """Each against its definition."""
    monkeypatch.setattr(passes, "PIECE", 12)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4)).astype(dtype)
    held, extra, shift = HeldRows(kind(X), 3), rng.normal(size=(150, 2)), rng.normal(size=4)
    if where == "some":
        chosen = rng.permutation(150)[:90]
        held, X, extra = held.taken(chosen), X[chosen], extra[chosen]
    n, Z = len(X), np.column_stack([X - shift, extra])
    v, u, T = rng.normal(size=6), rng.normal(size=n), rng.normal(size=(6, 6))
    D, which = rng.uniform(1, 2, size=n), rng.permutation(n)[:70]
    with workers(1) as team:
        found = rows.Rows(held, team, shift)
        monkeypatch.setattr(arrays, "FEW_NUMBERS", 0)
        monkeypatch.setattr(arrays, "NUMBERS_PER_ROW", 0)
        band = found.band(which, extra[which])
        assert isinstance(band, rows.DistantBand)
        assert np.allclose(found.mean(), (X - shift).mean(axis=0))
        assert np.allclose(found.times(v[:4]), (X - shift) @ v[:4])
        assert np.allclose(found.turned(u), (X - shift).T @ u)
        assert np.allclose(
            found.lengths(T, extra), np.linalg.norm(Z @ T, axis=1), rtol=0, atol=1e-4
        )
        assert np.allclose(found.dense(which, extra[which]), Z[which])
        assert np.allclose(band.times(v), Z[which] @ v)
        assert np.allclose(band.turned(u[which]), Z[which].T @ u[which])
        expected = (Z[which].T * D[which]) @ Z[which]
        assert np.allclose(band.normal(D[which]), expected)
        assert np.allclose(found.normal(which, extra[which], D[which]), expected)
        coefs = rng.normal(size=(3, 70))
        assert np.allclose(
            rows.products_by_weights(held, team, which, coefs), coefs @ X[which] @ X.T, atol=1e-4
        )
        features = few_features.Features(held, team, shift)
        some = features.taken(which)
        assert np.allclose(features.times(T[:4]), (X - shift) @ T[:4])
        assert np.allclose(features.turned(extra), (X - shift).T @ extra)
        assert np.allclose(features.squares(), ((X - shift) ** 2).sum(axis=1))
        assert np.allclose(some.normal(D[which]), (Z[which, :4].T * D[which]) @ Z[which, :4])
        assert np.allclose(features.weighted(which, D[which]), (X - shift)[which].T @ D[which])
    w, error = weights.weighted_sums(held, which, coefs, 0)
    exact = coefs.astype(np.longdouble) @ X[which].astype(np.longdouble)
    most = np.abs(coefs) @ np.abs(X[which]).astype(float)
    # the error of w is beside its own rounding
    assert (np.abs(w - exact) <= error * most + 2.0**-53 * np.abs(w)).all()


def test_a_paired_sum_does_not_depend_on_who_adds():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 32, 45):
        terms, totals = rng.normal(size=(n, 3)) * 10.0 ** rng.integers(-8, 8, (n, 1)), []
        for n_parts in (1, 2, 3, 5):
            whole = PairedSum()
            for mine in np.array_split(rng.permutation(n), n_parts):
                own = PairedSum()
                for k in mine.tolist():
                    own.add(0, k, terms[k])
                for key, value in own.parts.items():
                    whole.add(*key, value)
            totals.append(whole.total())
        assert np.array_equal(totals, [totals[0]] * 4)
        assert np.allclose(totals[0], terms.sum(axis=0), rtol=1e-12, atol=1e-6)


def test_stopped_at_any_time_the_point_is_feasible(all_stay):
    X, y = noisy(7, n=N, n_features=4)
    machines = (
        SoftMargin(1.0, HINGE, True),
        SoftMargin(1.0, SQUARED_HINGE, True),
        Nu(0.8, 1e-6, True),
    )
    for formulation in machines:
        problem = formulation.problem(y, np.ones(N))
        for looks in (0, 5, 20):
            asked = iter(range(10**6))
            with workers(1) as team:
                found = solver.solve_few_columns(
                    problem, HeldRows(X), 1e-3, True, team,
                    lambda looks=looks, asked=asked: "late" if next(asked) >= looks else "",
                )  # fmt: skip
            assert (problem.lo <= found.beta).all()
            assert (found.beta <= problem.hi).all()
            grad = X @ (X.T @ found.beta) + problem.p + problem.ridge * found.beta
            assert np.allclose(found.grad, grad, atol=1e-8)
