"""The engine: sizes, types, tiles and the budget they are kept within."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.kernels import basis as basis_module
from largemargin.kernels import tiles
from largemargin.kernels.basis import Basis
from largemargin.kernels.choosing import FunctionKernel
from largemargin.kernels.engine import check_overflow, choose_dtype, largest_square, prepare
from largemargin.kernels.functions import (
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from largemargin.kernels.tiles import Gram, TileCache

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def test_types():
    X = np.ones((3, 2))
    assert choose_dtype("auto", True, Linear(), X) == F64
    assert choose_dtype("auto", False, Linear(), X) == F32
    assert choose_dtype("float32", True, Linear(), X) == F32
    assert choose_dtype("float64", False, Linear(), X) == F64
    with pytest.raises(ValueError, match=r"precision must be .* got 'half'"):
        choose_dtype("half", True, Linear(), X)


def test_values_too_large_for_float32_are_float64():
    X = np.full((3, 784), 255.0)
    kernel = Polynomial(degree=6, gamma=1.0)
    assert choose_dtype("auto", False, kernel, X) == F64
    with pytest.raises(ValueError, match=r"scale the data.*precision='float64'"):
        choose_dtype("float32", False, kernel, X)
    with pytest.raises(ValueError, match="scale the data") as error:
        choose_dtype("auto", True, Polynomial(degree=60, gamma=1.0), X)
    assert "float64'" not in str(error.value)


def test_a_gaussian_that_float32_cannot_resolve_is_float64():
    X = np.full((3, 10), 1000.0)
    assert choose_dtype("auto", False, Gaussian(gamma=1.0), X) == F64
    assert choose_dtype("auto", False, Gaussian(gamma=1e-9), X) == F32
    with pytest.warns(UserWarning, match=r"lose digits in float64 for rows of norm 3.16e\+08"):
        choose_dtype("auto", True, Gaussian(gamma=1.0), 1e5 * X)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(), Gaussian(), Sigmoid()])
@pytest.mark.parametrize(("dtype", "size"), [(F32, 1e25), (F64, 1e200)])
def test_products_that_overflow_are_refused(kernel, dtype, size):
    """An inner product beyond the type makes inf - inf, whatever is done with it afterwards."""
    with pytest.raises(ValueError, match="scale the data"):
        check_overflow(kernel, dtype, largest_square(np.full((2, 3), size)))


def test_prepare():
    X = np.arange(6, dtype=np.float64).reshape(2, 3)[:, ::-1]
    ready = prepare(X, Linear(), F32)
    assert ready.flags.c_contiguous
    assert ready.dtype == F32
    assert prepare(X, Laplacian(), F32).dtype == F64
    rough = sp.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3, 3])), shape=(2, 3)
    )
    ready = prepare(rough, Linear(), F64)
    assert ready.has_canonical_format
    assert ready.toarray().tolist() == [[2, 0, 4], [0, 0, 0]]
    assert rough.nnz == 3


def rows_of(n, width=12, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) * (rng.random((n, width)) < share)


def basis_of(kernel, V, dtype=F64):
    basis = Basis(kernel, dtype)
    half = V.shape[0] // 2
    basis.add(V[:half], np.arange(half))
    basis.add(V[half:], np.arange(half, V.shape[0]))
    return basis


@pytest.mark.parametrize("sparse", [False, True])
def test_basis(sparse):
    V = rows_of(150)
    data = sp.csr_array(V) if sparse else V
    basis = basis_of(Linear(), data)
    dense = (lambda A: A.toarray()) if sparse else np.asarray
    assert len(basis) == 150
    assert basis.sparse == sparse
    assert np.array_equal(dense(basis.vectors), V)
    assert np.allclose(basis.squares, (V**2).sum(axis=1))
    vectors, squares = basis.take(np.array([140, 3, 3]))
    assert np.array_equal(dense(vectors), V[[140, 3, 3]])
    assert np.array_equal(squares, basis.squares[[140, 3, 3]])
    basis.truncate(40)
    assert np.array_equal(dense(basis.vectors), V[:40])
    basis.add(data[100:], np.arange(100, 150))
    assert np.array_equal(dense(basis.vectors), np.vstack([V[:40], V[100:]]))
    assert basis.examples.tolist() == [*range(40), *range(100, 150)]
    basis.truncate(0)
    assert basis.vectors is None
    basis.add(data[5:6], np.array([5]))
    assert np.array_equal(dense(basis.vectors), V[5:6])


def test_a_basis_of_columns():
    basis = Basis(Precomputed(), F64)
    basis.add(None, np.array([4, 2]))
    assert basis.vectors.tolist() == [[4], [2]]


def test_match():
    V = rows_of(10)
    basis = basis_of(Linear(), V)
    assert isinstance(basis.match(sp.csr_array(V)), np.ndarray)
    assert basis.match(V) is V
    basis = basis_of(Linear(), sp.csr_array(V))
    assert np.array_equal(basis.match(V).toarray(), V)
    assert Basis(Linear(), F64).match(V) is V


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(), Polynomial(degree=3, gamma=0.5), Gaussian(gamma=0.1), Laplacian(gamma=0.1),
        Sigmoid(gamma=0.1), FunctionKernel(lambda A, B: A @ B.T),
    ],
)  # fmt: skip
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [F32, F64])
def test_tiles(monkeypatch, kernel, sparse, dtype):
    if sparse and isinstance(kernel, FunctionKernel):
        kernel = FunctionKernel(lambda A, B: (A @ B.T).toarray())
    monkeypatch.setattr(tiles, "ROWS", 32)
    monkeypatch.setattr(tiles, "SLOTS", 16)
    monkeypatch.setattr(basis_module, "SLOTS", 16)
    X, V = rows_of(70, seed=1), rows_of(40, seed=2)
    if sparse:
        X, V = sp.csr_array(X), sp.csr_array(V)
    truth = kernel(V, X)
    X, V = prepare(X, kernel, dtype), prepare(V, kernel, dtype)
    gram = Gram(X, basis_of(kernel, V, dtype), 10**6)
    assert (gram.width, gram.n_tiles) == (32, 3)
    tolerance = 1e-12 if dtype == F64 else 1e-5
    for r in range(3):
        for k in range(2):
            tile = gram.tile(r, k)
            assert tile.shape == (16, 32)
            part = truth[16 * k : 16 * (k + 1), 32 * r : 32 * (r + 1)]
            assert np.allclose(tile[:, : part.shape[1]], part, rtol=tolerance, atol=tolerance)


@pytest.mark.bits
@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_tile_is_the_same_bits_kept_or_computed_again(dtype, sparse):
    kernel = Gaussian(gamma=0.01)
    X, V = rows_of(2500, 50, seed=1), rows_of(1100, 50, seed=2)
    if sparse:
        X, V = sp.csr_array(X), sp.csr_array(V)
    X, V = prepare(X, kernel, dtype), prepare(V, kernel, dtype)
    keeping = Gram(X, basis_of(kernel, V, dtype), 10**9)
    forgetting = Gram(X, basis_of(kernel, V, dtype), 0)
    for r in range(keeping.n_tiles):
        for k in range(2):
            kept = keeping.tile(r, k)
            assert keeping.tile(r, k) is kept
            assert np.array_equal(forgetting.tile(r, k), kept)


def test_zero_columns_add_nothing():
    X = rows_of(40, 10, share=1.0)
    X[:, [1, 4, 5, 8]] = 0
    gram = Gram(X, Basis(Linear(), F64))
    packed, columns = gram.packed(0, X)
    assert columns.tolist() == [0, 2, 3, 6, 7, 9]
    assert np.array_equal(packed, X[:, columns])
    full = rows_of(40, 10, share=1.0)
    packed, columns = Gram(full, Basis(Linear(), F64)).packed(0, full)
    assert packed is full
    assert columns is None
    # a laplacian kernel needs them: |a - b| is not zero where only a is
    assert Gram(X, Basis(Laplacian(), F64)).packed(0, X)[1] is None


def test_kernel_values_that_are_not_finite_are_refused():
    def broken(A, B):
        return np.full((A.shape[0], B.shape[0]), np.nan)

    kernel = FunctionKernel(broken)
    V = rows_of(20)
    basis = basis_of(kernel, V)
    gram = Gram(V, basis)
    with pytest.raises(ValueError, match="returned nan for two of the rows given"):
        gram.fill(gram.rows(0), (V[:4], np.zeros(4)), np.empty((4, gram.width)))


@pytest.mark.parametrize("budget", [0, 1, 4095, 4096, 10_000, 100_000])
def test_the_cache_keeps_to_its_budget(monkeypatch, budget):
    allocated = []
    empty = np.empty

    def counting(shape, dtype=float):
        array = empty(shape, dtype)
        allocated.append(array.nbytes)
        return array

    monkeypatch.setattr(tiles, "SLAB_BYTES", 3 * 4096)
    monkeypatch.setattr(tiles.np, "empty", counting)
    cache = TileCache(budget, (16, 32), F64)
    claimed = 0
    while cache.claim() is not None:
        claimed += 1
    monkeypatch.undo()
    assert claimed == budget // 4096
    assert sum(allocated) <= budget
    assert cache.claim() is None


@pytest.mark.bits
def test_the_cache_keeps_to_its_budget_on_many_threads(monkeypatch):
    monkeypatch.setattr(tiles, "SLAB_BYTES", 3 * 4096)
    cache, claimed = TileCache(50 * 4096, (16, 32), F64), []

    def claim():
        while (tile := cache.claim()) is not None:
            claimed.append(tile)

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == 50
    assert len({tile.ctypes.data for tile in claimed}) == 50


def test_what_is_in_the_cache_stays():
    cache = TileCache(2 * 4096, (16, 32), F64)
    for key in ((0, 0), (1, 0)):
        cache.put(key, cache.claim())
    assert cache.claim() is None
    assert cache.get((0, 0)) is not None
    assert cache.get((1, 0)) is not None
    assert cache.get((2, 0)) is None
