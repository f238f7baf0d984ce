"""The model does not depend on workers, threads or partitions, and is that of the plain class."""

from contextlib import contextmanager

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from dask import delayed

from largemargin import SVC, NuSVC
from largemargin.dask import (
    DaskNuSVC,
    DaskSVC,
    cluster,
    collections,
    connection,
    estimators,
    shards,
)
from largemargin.svm import column_sets, cross_validate, session, solving

from .conftest import cluster_of

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*stopped before")]

N, STRETCH = 300, 32
CHUNKS = {
    "dividing": (96, 96, 96, 12),
    "not dividing": (50, 50, 50, 50, 50, 50),
    "one giant": (N,),
    "empty ones": (0, 130, 0, 0, 170, 0),
    "lopsided": (1, 297, 2),
}


@pytest.fixture(scope="module")
def three_workers():
    with cluster_of(3, threads=2) as client:
        client.run(set_stretch, STRETCH)
        yield client


@pytest.fixture(scope="module")
def clusters(three_workers):
    """Of one, two and three workers, with two threads, one and two: parts of the same cluster."""
    return [Part(three_workers, *size) for size in ((1, 2), (2, 1), (3, 2))]


class Part:
    """Some workers of a cluster, with so many threads each."""

    def __init__(self, client, n_workers, threads):
        self.client, self.n_workers, self.threads = client, n_workers, threads

    @contextmanager
    def used(self, **sizes):
        async def some(client):
            there, running = await connection.alive(client)
            return there, set(sorted(running)[: self.n_workers])

        self.client.run(set_threads, self.threads)
        with few_rows_are_many(**sizes), pytest.MonkeyPatch.context() as patch:
            patch.setattr(estimators, "workers_of", lambda client: client.sync(some, client)[1])
            patch.setattr(cluster, "workers_of", lambda client: client.sync(some, client)[1])
            yield self.client


def set_threads(count, dask_worker):
    dask_worker.state.nthreads = count


def set_stretch(length):
    """Cut at every few rows, so that small data has many stretches."""
    for room in (collections, estimators, shards):
        room.STRETCH = length


@contextmanager
def few_rows_are_many(working_set=64, pool=128, corner=0):
    """Chunking, stretches and pools for data of any size; problems of more than `corner` rows are
    not solved in a matrix of their own.
    """
    with pytest.MonkeyPatch.context() as patch:
        for room in (collections, estimators, shards):
            patch.setattr(room, "STRETCH", STRETCH)
        patch.setattr(session, "WHOLE_GRAM_ROWS", 0)
        patch.setattr(session, "SMALL_PROBLEM", 0)
        patch.setattr(solving, "CORNER_ROWS", corner)
        patch.setattr(solving, "has_few_features", lambda X, kernel: False)
        patch.setattr(column_sets, "WORKING_SET", working_set)
        patch.setattr(column_sets, "POOL", pool)
        yield


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(3).normal(size=(N, 5))


@pytest.fixture(scope="module")
def two(X):
    noise = np.random.default_rng(4).random(N) < 0.1
    return np.where((X[:, 0] * X[:, 1] + X[:, 2] > 0) ^ noise, "yes", "no")


@pytest.fixture(scope="module")
def three(X):
    return np.digitize(X[:, 0] + 0.3 * np.random.default_rng(5).normal(size=N), [-0.5, 0.5])


def product(A, B):
    """A kernel that the compiled loops do not know."""
    values = A @ B.T
    return (np.asarray(values.toarray() if sp.issparse(values) else values) + 1.0) ** 2


def parts_of(X, lengths, make=np.array):
    ends = np.cumsum(lengths)
    return [delayed(make)(X[end - n : end]) for end, n in zip(ends, lengths, strict=True)]


MODEL = ("classes_", "support_", "dual_coef_", "intercept_")


def same(one, other, names=MODEL):
    for name in names:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def close(one, other, Z, tolerance):
    assert np.array_equal(one.classes_, other.classes_)
    assert np.allclose(one.objective_, other.objective_, rtol=tolerance, atol=tolerance)
    a, b = one.decision_function(Z), other.decision_function(Z)
    assert np.allclose(a, b, rtol=0, atol=tolerance * max(1.0, np.abs(a).max()))


def fitted_everywhere(clusters, machine, params, X, y, weight=None, **sizes):
    """The model of every cluster, over another partitioning each, after they were compared."""
    models = []
    for part, lengths in zip(clusters, ("not dividing", "empty ones", "lopsided"), strict=True):
        given = parts_of(X, CHUNKS[lengths], type(X) if sp.issparse(X) else np.array)
        with part.used(**sizes) as client:
            models.append(machine(client=client, **params).fit(given, y, weight))
        addresses = {one["worker"] for one in models[-1].cluster_stats_}
        assert len(addresses) == len(models[-1].cluster_stats_) == part.n_workers
    for other in models[1:]:
        same(models[0], other, (*MODEL, "objective_", "dual_gap_"))
    return models[0]


MACHINES = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.2},
    "poly 3": {"kernel": "poly", "degree": 3, "gamma": 0.2, "coef0": 1.0},
    "rbf": {},
    "laplacian": {"kernel": "laplacian"},
    "matern": {"kernel": "matern", "matern_nu": 1.5},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.05, "coef0": 0.1, "slack": "squared"},
    "callable": {"kernel": product},
    "squared": {"slack": "squared"},
    "squared-sum": {"slack": "squared-sum"},
    "hard": {"C": np.inf, "kernel": "laplacian"},
    "no threshold": {"fit_intercept": False},
    "class weights": {"class_weight": "balanced"},
    "float32": {"precision": "float32"},
    "float64": {"precision": "float64", "C": 0.3},
    "float64 poly": {"precision": "float64", "kernel": "poly", "gamma": 0.2},
}
# where neither the linear solvers nor rows that are kept are the plain class's way
IN_REGISTERS = set(MACHINES) - {"linear", "callable"}


@pytest.mark.parametrize("name", MACHINES)
def test_machines(clusters, X, two, name):
    params = MACHINES[name]
    model = fitted_everywhere(clusters, DaskSVC, params, X, two)
    with few_rows_are_many():
        plain = SVC(**params).fit(X, two)
    if name in IN_REGISTERS:
        same(model, plain)
        if name != "squared-sum":
            same(model, plain, ("objective_", "dual_gap_"))
    close(model, plain, X, 2e-3)


@pytest.mark.parametrize("name", ["rbf", "poly", "float32"])
def test_pairs_of_few_rows(clusters, X, three, name):
    """Each is solved in its own matrix, as by the plain class."""
    params = {"multiclass": "ovo", **MACHINES[name]}
    sizes = {"corner": N - 1}
    model = fitted_everywhere(clusters, DaskSVC, params, X, three, **sizes)
    with few_rows_are_many(**sizes):
        plain = SVC(**params).fit(X, three)
    same(model, plain, (*MODEL, "objective_", "dual_gap_"))


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_values_that_are_kept(clusters, three, multiclass):
    """Of rows that are wide, by segments of the columns."""
    wide = np.random.default_rng(10).normal(size=(N, 150)).astype(np.float32)
    wide[:, 0] += 2 * three
    params = {"multiclass": multiclass, "gamma": 0.005}
    model = fitted_everywhere(clusters, DaskSVC, params, wide, three)
    with few_rows_are_many():
        close(model, SVC(**params).fit(wide, three), wide, 2e-3)


@pytest.mark.parametrize("name", ["rbf", "linear", "callable", "squared-sum", "float64"])
@pytest.mark.parametrize("width", [8, 600])
def test_sparse_rows(clusters, two, name, width):
    """Rows of more columns than are packed go in tiles."""
    S = sp.random_array((N, width), density=20 / width * 0.2 + 0.05, rng=7, format="csr")
    S.data -= 0.5
    y = two.copy()
    y[S.sum(axis=1) > 0] = "yes"
    params = MACHINES[name]
    model = fitted_everywhere(clusters, DaskSVC, params, S, y)
    with few_rows_are_many():
        plain = SVC(**params).fit(S, y)
    close(model, plain, S, 2e-3)
    if name in IN_REGISTERS and width < 100:
        same(model, plain)


@pytest.mark.parametrize("slack", ["linear", "squared"])
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_reductions(clusters, X, three, multiclass, slack):
    params = {"multiclass": multiclass, "slack": slack}
    model = fitted_everywhere(clusters, DaskSVC, params, X, three)
    with few_rows_are_many():
        same(model, SVC(**params).fit(X, three))


@pytest.mark.parametrize("kernel", ["rbf", "linear", product])
def test_crammer_singer(clusters, X, three, kernel):
    params = {"multiclass": "crammer-singer", "kernel": kernel}
    model = fitted_everywhere(clusters, DaskSVC, params, X, three)
    with few_rows_are_many():
        close(model, SVC(**params).fit(X, three), X, 2e-3)


@pytest.mark.parametrize("multiclass", ["ovo", "crammer-singer"])
def test_values_that_are_computed_again(clusters, X, three, multiclass, monkeypatch):
    """By a function of Python, of whatever vectors are asked for after a shard forgot them."""
    wide = np.hstack([X, np.random.default_rng(11).normal(size=(N, 55))])
    params = {"multiclass": multiclass, "kernel": product}
    model = fitted_everywhere(clusters, DaskSVC, params, wide, three)
    submit, calls = cluster.Cluster._submit, []

    def forgetting(self, what, function, k, args):
        calls.append(what)
        forgets = what == "update" and calls.count(what) % 3 == 0
        return submit(self, what, forgetful if forgets else function, k, args)

    monkeypatch.setattr(cluster.Cluster, "_submit", forgetting)
    same(model, fitted_everywhere(clusters, DaskSVC, params, wide, three))
    assert calls.count("update") > 9


def forgetful(shard, *args):
    from largemargin.dask.cluster import Forgotten

    shard._vectors.clear()
    raise Forgotten


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_nu(clusters, X, three, multiclass):
    params = {"nu": 0.2, "multiclass": multiclass}
    model = fitted_everywhere(clusters, DaskNuSVC, params, X, three)
    with few_rows_are_many():
        same(model, NuSVC(**params).fit(X, three))


@pytest.mark.parametrize("name", ["rbf", "callable"])
def test_weights_are_copies_and_zeros_are_absent(clusters, X, three, name):
    weight = np.random.default_rng(6).integers(0, 3, N).astype(float)
    weight[:STRETCH] = 0  # a stretch of which nothing counts
    params = {**MACHINES[name], "multiclass": "ovo"}
    model = fitted_everywhere(clusters, DaskSVC, params, X, three, weight)
    assert not np.isin(model.support_, np.flatnonzero(weight == 0)).any()
    with few_rows_are_many():
        plain = SVC(**params).fit(X, three, weight)
    if name == "rbf":
        same(model, plain)
    close(model, plain, X, 2e-3)


@pytest.mark.parametrize("lengths", CHUNKS)
def test_partitions(three_workers, X, two, lengths):
    """Arrays, frames of both kinds and plain data: one model."""
    lengths = CHUNKS[lengths]

    def pandas(part):
        return pd.DataFrame(part, columns=list("abcde"))

    frames = parts_of(X, lengths, pandas)
    kinds = {
        "array": da.from_array(X, chunks=(lengths, 3)),
        "frame": dd.from_delayed(frames, meta=pandas(X[:0])),
        "polars": parts_of(X, lengths, lambda part: pl.DataFrame(part, schema=list("abcde"))),
        "csr": parts_of(X, lengths, sp.csr_array),
        "plain": X,
    }
    with few_rows_are_many():
        plain = SVC().fit(X, two)
        labels = da.from_array(two, chunks=(lengths,))
        for kind, given in kinds.items():
            model = DaskSVC(client=three_workers).fit(given, labels if kind == "array" else two)
            same(model, plain)
            named = kind in ("frame", "polars")
            assert list(getattr(model, "feature_names_in_", [])) == list("abcde") * named


def test_float32_parts(clusters, X, two):
    single = X.astype(np.float32)
    model = fitted_everywhere(clusters, DaskSVC, {}, single, two)
    with few_rows_are_many():
        same(model, SVC().fit(single, two))


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "crammer-singer"])
def test_path(clusters, X, three, multiclass):
    params, Cs = {"multiclass": multiclass}, [3.0, 0.1, 1.0]
    with few_rows_are_many():
        plain = SVC(**params).path(X, three, Cs)
    for part, lengths in zip(clusters, ("dividing", "one giant", "lopsided"), strict=True):
        with part.used() as client:
            machine = DaskSVC(client=client, **params)
            found = machine.path(parts_of(X, CHUNKS[lengths]), three, Cs)
        assert [model.C for model in found] == Cs
        for model, other in zip(found, plain, strict=True):
            same(model, other)


@pytest.mark.parametrize("name", ["rbf", "squared-sum", "callable"])
def test_cross_validation(clusters, X, three, name):
    params = {"multiclass": "ovo", **MACHINES[name]}
    weight = np.random.default_rng(8).integers(0, 3, N).astype(float)
    settings = {"Cs": [0.1, 1.0], "cv": 3, "sample_weight": weight}
    found = []
    for part in clusters:
        with part.used() as client:
            machine, given = DaskSVC(client=client, **params), parts_of(X, CHUNKS["lopsided"])
            found.append(cross_validate(machine, given, three, **settings))
    with few_rows_are_many():
        plain = cross_validate(SVC(**params), X, three, **settings)
    for other in found[1:]:
        assert np.array_equal(found[0].scores, other.scores)
        assert np.array_equal(found[0].dual_gaps, other.dual_gaps)
    assert np.allclose(found[0].scores, plain.scores, atol=0.02)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_sizes_as_they_are(three_workers, kernel):
    """Nothing made small: three stretches of the usual length, one for each of three workers."""
    client = three_workers
    rng = np.random.default_rng(9)
    X = rng.normal(size=(9000, 4)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int) ^ (rng.random(9000) < 0.1)
    client.run(set_stretch, collections.STRETCH)
    try:
        model = DaskSVC(client=client, kernel=kernel, C=0.1).fit(da.from_array(X, chunks=2500), y)
    finally:
        client.run(set_stretch, STRETCH)
    assert len(model.cluster_stats_) == 3
    plain = SVC(kernel=kernel, C=0.1).fit(X, y)
    if kernel == "rbf":
        same(model, plain)
    close(model, plain, X[:500], 5e-3)
