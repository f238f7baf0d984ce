"""Not one bit of a model depends on threads, memory or chunks, nor one of its scores on threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from largemargin import (
    ALMA,
    LPSVC,
    MIRA,
    ROMMA,
    SVC,
    AggressivePerceptron,
    KernelAdatron,
    MaxMarginHyperplane,
    NuSVC,
    RBFNetwork,
    VotedPerceptron,
)
from largemargin.kernels import rows as kernel_rows
from largemargin.kernels.exponential import exponentials, gaussians
from largemargin.kernels.functions import Gaussian, Linear
from largemargin.kernels.rows import HEIGHTS, PLACES, KernelRows
from largemargin.lp import kernel_values
from largemargin.online.loop import _two_by_four
from largemargin.runtime.threads import workers
from largemargin.svm import column_sets, session

pytestmark = pytest.mark.bits

TYPES = [np.float32, np.float64]


def bits_of(model):
    return [np.asarray(part).tobytes() for part in (model.dual_coef_, model.intercept_)]


def odd_problem(seed, least=150, most=420):
    """Any number of rows, columns and classes, some of them small; dense, sparse, either type."""
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(least, most), int(np.exp(rng.uniform(0, np.log(150)))), 2 + seed % 4
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    y = np.argmax(X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k)), axis=1)
    if seed % 3 == 0:
        y = np.where(rng.random(n) < 0.95, y % 2, y)
    y[:k] = np.arange(k)
    X = X.astype(TYPES[seed % 2])
    return sp.csr_array(X) if seed % 5 == 4 else X, y


# What a value may depend on


@pytest.mark.parametrize("dtype", TYPES)
def test_a_row_has_the_same_bits_at_the_same_place_of_a_product(dtype):
    rng = np.random.default_rng(0)
    with workers(1):
        for _ in range(60):
            K, N = int(np.exp(rng.uniform(0, 7))), int(rng.choice([rng.integers(1, 40), 333, 1024]))
            columns = rng.normal(size=(N, K)).astype(dtype)
            for height in HEIGHTS:
                rows = np.repeat(rng.normal(size=(1, K)).astype(dtype), height, axis=0)
                found = rows @ columns.T
                same = np.tile(found[:PLACES], (height // PLACES, 1))
                assert np.array_equal(found, same), (K, N, height)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_features", [2, 54, 116])
def test_a_value_does_not_depend_on_its_neighbours_in_small_products(dtype, n_features):
    """BLAS has a way of its own with small products, and what is small depends on the height."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, n_features)).astype(dtype)
    kernel, segments = Linear(), [np.arange(7), np.arange(7, 40), np.arange(40, 400)]
    order = rng.permutation(400)[:230]
    found = []
    with workers(1) as team:
        for size in (230, 24, 64, 1):
            rows = KernelRows(X, kernel, np.dtype(dtype), segments, 1, team)
            rows.announce({s: [order] for s in range(3)})
            values = []
            for k in range(0, len(order), min(size, rows.capacity)):
                part = order[k : k + min(size, rows.capacity)]
                rows.fetch({s: [part] for s in range(3)})
                values.append([one.values[one.slot_of[part]].copy() for one in rows.segments])
            found.append([np.concatenate(parts).tobytes() for parts in zip(*values, strict=True)])
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("dtype", TYPES)
def test_exponentials_do_not_depend_on_their_place_in_a_row(dtype):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-30, 0, 40), -np.exp(rng.uniform(-20, 6, 20))]).astype(dtype)
    by_place = np.repeat(x[:, None], 67, axis=1)
    alone = x[:, None].copy()
    exponentials(by_place)
    exponentials(alone)
    assert (by_place == alone).all()
    squares = rng.uniform(5, 9, len(x)).astype(dtype)
    for width in (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67):
        products = np.repeat(x[:, None] / 10, width, axis=1)
        gaussians(products, squares, np.full(width, dtype(6.3)), dtype(0.37))
        if width == 1:
            expected = products.copy()
        assert (products == expected).all()


def test_sums_computed_together_are_the_same_for_each():
    rng = np.random.default_rng(0)
    for size in [*range(1, 70), 127, 128, 129, 300]:
        a, u = rng.normal(size=(2, size))
        sums = np.zeros((2, 4))
        _two_by_four(a, a.copy(), np.array([u] * 4), size, sums[0], sums[1])
        assert (sums == sums[0, 0]).all()


# Models


@pytest.fixture
def by_rows(monkeypatch):
    """Rows on request for small data too, few of them held, and several stretches of columns."""
    monkeypatch.setattr(session, "WHOLE_GRAM_ROWS", 0)
    monkeypatch.setattr(kernel_values, "WHOLE", 0)
    monkeypatch.setattr(kernel_rows, "TILE_COLUMNS", 100)


@pytest.fixture(params=["kept", "computed"])
def either_way(request, by_rows, monkeypatch):
    """Rows that are kept, or values that are computed and forgotten, in sets and pools of a few."""
    computed = request.param == "computed"
    monkeypatch.setattr(session, "is_computed_again", lambda kernel, X, *rest: computed)
    monkeypatch.setattr(column_sets, "WORKING_SET", 32)
    monkeypatch.setattr(column_sets, "POOL", 60)


MACHINES = {
    "svc": lambda **other: SVC(C=3.0, **other),
    "pairs, squared": lambda **other: SVC(slack="squared", multiclass="ovo", **other),
    "float32": lambda **other: SVC(precision="float32", multiclass="ovo", **other),
    "crammer-singer": lambda **other: SVC(multiclass="crammer-singer", max_iter=2000, **other),
    "nu": lambda **other: NuSVC(nu=0.05, max_iter=2000, **other),
    "adatron": lambda **other: KernelAdatron(C=2.0, max_iter=10, **other),
}


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.filterwarnings("ignore")
def test_support_vector_machines(name, either_way):
    for seed, kernel in enumerate(("rbf", "poly", "laplacian")):
        X, y = odd_problem(seed, 120, 260)
        settings = {"kernel": kernel, "gamma": "auto"}
        first = MACHINES[name](memory="1GB", n_jobs=1, **settings).fit(X, y)
        for memory, n_jobs in ((1, 1), ("39MB", 2)):
            other = MACHINES[name](memory=memory, n_jobs=n_jobs, **settings).fit(X, y)
            assert bits_of(other) == bits_of(first), (seed, memory, n_jobs)


@pytest.mark.parametrize("n", [700, 2000])
def test_little_memory_is_no_reason_for_another_way(n):
    """Of up to 2,048 rows the whole matrix is computed, and of no others, whatever the memory."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.2 * rng.normal(size=n) > 0).astype(int)
    models = [SVC(memory=memory, n_jobs=1).fit(X, y) for memory in ("2GB", "20MB", 1)]
    assert all(bits_of(model) == bits_of(models[0]) for model in models)
    X, y = X[:300], y[:300]
    models = [LPSVC(memory=memory, n_jobs=1).fit(X, y) for memory in ("2GB", 1)]
    assert bits_of(models[0]) == bits_of(models[1])


@pytest.mark.parametrize("seed", range(4))
def test_linear_programs(seed, by_rows):
    X, y = odd_problem(seed, 60, 150)
    first = LPSVC(gamma="auto", memory="1GB", n_jobs=1).fit(X, y)
    assert bits_of(LPSVC(gamma="auto", memory=1, n_jobs=2).fit(X, y)) == bits_of(first)


@pytest.mark.parametrize("cls", [MIRA, ROMMA, ALMA, AggressivePerceptron])
def test_online_learners(cls):
    for seed in range(4):
        X, y = odd_problem(seed, 500, 900)
        settings = {"gamma": 0.1, "budget": [None, 30, 60, 33][seed], "random_state": 0}
        first = cls(n_jobs=1, **settings).fit(X, y)
        for memory, n_jobs in (("auto", 3), ("30MB", 2)):
            assert bits_of(cls(memory=memory, n_jobs=n_jobs, **settings).fit(X, y)) == bits_of(
                first
            )


# Scores


SCORED = {
    "svc": SVC(gamma=0.05),
    "pairs, float32": SVC(gamma=0.05, multiclass="ovo", precision="float32"),
    "linear": SVC(kernel="linear", max_iter=500),
    "mira": MIRA(gamma=0.05),
    "perceptron": VotedPerceptron(degree=2),
    "linear perceptron": VotedPerceptron(kernel="linear", method="average"),
}


@pytest.mark.parametrize("name", SCORED)
@pytest.mark.filterwarnings("ignore")
def test_scores_do_not_depend_on_threads(name, monkeypatch):
    monkeypatch.setattr("largemargin.base.expansion.TILE_WORK", 1 << 16)
    monkeypatch.setattr("largemargin.base.expansion.STRIP", 64)
    monkeypatch.setattr("largemargin.base.expansion.LINEAR_ROWS", 128)
    for seed in (0, 1, 4):
        X, y = odd_problem(seed)
        model = SCORED[name].fit(X, y)
        for n in (1, 2, 17, 64, 65, X.shape[0]):
            scores = [
                model.set_params(n_jobs=jobs).decision_function(X[:n]).tobytes()
                for jobs in (1, 2, 3, None)
            ]
            assert len(set(scores)) == 1, (seed, n)


@pytest.mark.parametrize("n", [1, 5, 32, 33, 300])
def test_scores_of_a_perceptron_do_not_depend_on_memory(n, monkeypatch):
    monkeypatch.setattr("largemargin.base.expansion.STRIP", 16)
    monkeypatch.setattr("largemargin.base.expansion.TILE_WORK", 1)
    X, y = odd_problem(3)
    model = VotedPerceptron(degree=3, precision="float32").fit(X, y)
    expected = model.decision_function(X[:n])
    for columns in (1, 2, 40):
        model.set_params(memory=4 * columns * model.n_support_)
        assert np.array_equal(model.decision_function(X[:n]), expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_a_row_alone_and_in_a_batch_differ_by_rounding_only(dtype):
    """Of the sum of the absolute terms, by no more than some units of the type."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 60)).astype(dtype)
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=600) > 0).astype(int)
    model = SVC(gamma=0.02, C=10.0, precision=np.dtype(dtype).name).fit(X, y)
    together = model.decision_function(X)
    alone = np.concatenate([model.decision_function(X[i : i + 1]) for i in range(600)])
    terms = np.abs(model.dual_coef_) @ Gaussian(0.02)(model.support_vectors_, X)
    assert (np.abs(alone - together) <= 8 * np.finfo(dtype).eps * terms[0]).all()


@pytest.mark.parametrize(
    "model", [RBFNetwork(8, random_state=0), MaxMarginHyperplane(norm=1.5)], ids=str
)
def test_machines_without_n_jobs(model):
    """BLAS has as many threads as somebody gave it, and they change nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    y = (X[:, 0] + 0.5 * rng.normal(size=400) > 0).astype(int)
    scores = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            scores.append(clone(model).fit(X, y).decision_function(X[:1]))
    assert scores[0].tobytes() == scores[1].tobytes()
