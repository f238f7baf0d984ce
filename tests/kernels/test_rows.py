"""Kernel rows that are kept, given up and computed again: the right values, the same bits."""

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.kernels import rows as kernel_rows
from largemargin.kernels.choosing import make_kernel
from largemargin.kernels.engine import prepare
from largemargin.kernels.functions import Gaussian, Laplacian, Linear, Polynomial
from largemargin.kernels.rows import BLOCK, PLACES, KernelRows
from largemargin.runtime.threads import workers

KERNELS = {
    "linear": Linear(),
    "poly": Polynomial(degree=3, gamma=0.3),
    "rbf": Gaussian(gamma=0.2),
    "laplacian": Laplacian(gamma=0.2),
    "callable": make_kernel(lambda A, B: np.tanh(A @ B.T)),
}


def examples(n=300, n_features=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    X[:, 2] *= rng.random(n) < 0.1  # mostly zero
    return X


def cut(n, sizes, seed=0):
    order = np.random.default_rng(seed).permutation(n)
    return np.split(order, np.cumsum(sizes)[:-1])


def rows_of(X, kernel, segments, memory=10**9, dtype=np.float64, n_jobs=1):
    with workers(n_jobs) as team:
        dtype = np.dtype(dtype)
        yield KernelRows(prepare(X, kernel, dtype), kernel, dtype, segments, memory, team)


def value(rows, s, example):
    segment = rows.segments[s]
    assert segment.slot_of[example] >= 0
    return segment.values[segment.slot_of[example]]


@pytest.mark.crossing
@pytest.mark.parametrize("name", [*KERNELS, "precomputed"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("memory", [10**9, 1])
def test_values(name, dtype, sparse, memory):
    X = examples()
    if name == "precomputed":
        kernel, truth = make_kernel("precomputed"), Gaussian(0.2)(X, X)
        X = truth
    else:
        kernel = KERNELS[name]
        truth = kernel(X, X)
    if sparse and name in ("callable", "precomputed"):
        data = X[:, ::-1][:, ::-1]  # no sparse form: another layout instead
    else:
        data = sp.csr_array(X) if sparse else X
    segments = cut(300, [100, 150, 50])
    rng = np.random.default_rng(1)
    close = 1e-12 if dtype == np.float64 else 2e-5
    for rows in rows_of(data, kernel, segments, memory, dtype):
        for _ in range(12):
            wanted = {s: [rng.permutation(300)[: rng.integers(1, BLOCK + 1)]] for s in (0, 2)}
            rows.fetch(wanted)
            for s, (asked,) in wanted.items():
                for i in asked:
                    expected = truth[i, segments[s]]
                    assert np.allclose(value(rows, s, i), expected, rtol=close, atol=close * 10)


@pytest.mark.parametrize("capacity", [BLOCK, BLOCK + 5, 100, 200, 299])
def test_no_two_rows_share_a_slot(capacity):
    """The call that fills the last free slots must take others from rows that it does not need."""
    X = examples()
    rng = np.random.default_rng(2)
    segments = cut(300, [200, 100])
    truth = X @ X.T
    for rows in rows_of(X, Linear(), segments, capacity * 300 * 8 + X.nbytes):
        assert rows.capacity == capacity
        for _ in range(30):
            first = rng.permutation(300)[: rng.integers(1, capacity + 1)]
            lists = [first[: len(first) // 2], first[len(first) // 3 :]]
            rows.fetch({0: lists, 1: [first]})
            for s in (0, 1):
                segment = rows.segments[s]
                held = np.flatnonzero(segment.slot_of >= 0)
                slots = segment.slot_of[held]
                assert len(np.unique(slots)) == len(slots) <= capacity
                assert np.array_equal(segment.holder[slots], held)
                assert np.isin(first, held).all()
                assert np.allclose(segment.values[slots], truth[np.ix_(held, segments[s])])


def test_the_least_recently_used_give_way():
    X = examples()
    for rows in rows_of(X, Linear(), cut(300, [300]), BLOCK * 300 * 8 + X.nbytes):
        rows.fetch({0: [np.arange(40)]})
        rows.fetch({0: [np.arange(40, BLOCK)]})
        rows.fetch({0: [np.arange(10)]})
        rows.fetch({0: [np.arange(100, 120)]})
        slot_of = rows.segments[0].slot_of
        assert (slot_of[:10] >= 0).all()
        assert (slot_of[10:40] >= 0).sum() == 10
        assert (slot_of[40:BLOCK] >= 0).all()
        assert (slot_of[100:120] >= 0).all()


def test_what_is_held_is_not_computed_again():
    X = examples()
    for rows in rows_of(X, Linear(), cut(300, [200, 100])):
        rows.fetch({0: [np.arange(50)], 1: [np.arange(30)]})
        assert rows.n_computed == 50 * 200 + 30 * 100
        rows.fetch({0: [np.arange(60), np.arange(20, 55)], 1: [np.arange(30)]})
        assert rows.n_computed == 60 * 200 + 30 * 100


@pytest.mark.crossing
@pytest.mark.bits
@pytest.mark.parametrize("stretch", [1024, 50])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "sparse"),
    [(name, sparse) for name in KERNELS for sparse in (False, True) if name != "callable"],
)
def test_the_same_bits_after_eviction_and_with_other_threads(
    name, dtype, sparse, stretch, monkeypatch
):
    """A value does not depend on what else was asked for with it."""
    monkeypatch.setattr(kernel_rows, "TILE_COLUMNS", stretch)
    X = examples(n_features=23)
    X = sp.csr_array(X) if sparse else X
    segments = cut(300, [170, 130])
    rng = np.random.default_rng(3)
    asked = [rng.permutation(300)[: rng.integers(1, BLOCK)] for _ in range(25)]
    seen = {}
    for memory, n_jobs in ((10**9, 1), (1, 1), (1, 2), (150 * 300 * 8, 2)):
        for rows in rows_of(X, KERNELS[name], segments, memory, dtype, n_jobs):
            for part in asked:
                rows.fetch({0: [part], 1: [part]})
                for s in (0, 1):
                    for i in part:
                        now = value(rows, s, i).tobytes()
                        assert seen.setdefault((s, i), now) == now


@pytest.mark.bits
def test_memory_is_kept():
    X = examples(2000)
    for rows in rows_of(X, Linear(), cut(2000, [1500, 500]), 2_000_000):
        held = sum(segment.values.nbytes for segment in rows.segments)
        assert held + X.nbytes <= 2_000_000 < held + X.nbytes + 2000 * 8
        rows.fetch({0: [np.arange(100)], 1: [np.arange(100)]})
        assert sum(segment.values.nbytes for segment in rows.segments) == held


@pytest.mark.bits
def test_products():
    X = examples()
    segments = cut(300, [120, 100, 80])
    rng = np.random.default_rng(4)
    asked, coefs = rng.permutation(300)[:170], rng.normal(size=(3, 170))
    coefs[rng.random((3, 170)) < 0.5] = 0
    truth = coefs @ Gaussian(0.2)(X[asked], X[np.concatenate(segments)])
    found = []
    for memory, n_jobs in ((10**9, 1), (1, 1), (1, 2), (100 * 300 * 8, 2)):
        for rows in rows_of(X, Gaussian(0.2), segments, memory, n_jobs=n_jobs):
            found.append(rows.products(asked, coefs))
            assert np.allclose(found[-1], truth, atol=1e-12)
            assert np.array_equal(found[-1], found[0])
            assert not rows.products(asked[:0], coefs[:, :0]).any()


def test_places_are_a_divisor_of_batches():
    assert BLOCK >= PLACES


def test_features_that_are_zero_in_a_stretch_are_dropped(monkeypatch):
    monkeypatch.setattr(kernel_rows, "TILE_COLUMNS", 64)
    X = examples()
    X[:, 2] += 1
    X[:90, :5] = 0
    segments = [np.arange(100), np.arange(100, 300)]
    for rows in rows_of(X, Gaussian(0.2), segments):
        found = [[part.features for part in segment.tiles] for segment in rows.segments]
        assert found[0][0].tolist() == [5, 6]
        assert all(features is None for features in [found[0][1], *found[1]])
        assert [part.first for part in rows.segments[1].tiles] == [0, 64, 128, 192]
        rows.fetch({s: [np.arange(90, 130)] for s in (0, 1)})
        truth = Gaussian(0.2)(X, X)
        for s in (0, 1):
            for i in range(90, 130):
                assert np.allclose(value(rows, s, i), truth[i, segments[s]], atol=1e-14)
