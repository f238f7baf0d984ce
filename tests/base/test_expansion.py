"""Kernel expansions evaluated in tiles, against the sums written out."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.base import expansion as evaluated
from largemargin.base.expansion import FEW_ROWS, PANEL, STRIP, Expansion
from largemargin.kernels.basis import Basis
from largemargin.kernels.engine import prepare
from largemargin.kernels.functions import Gaussian, Laplacian, Linear, Polynomial

KERNELS = [Linear(), Polynomial(degree=2, gamma=0.2), Gaussian(gamma=0.1), Laplacian(gamma=0.1)]


def make(kernel, n_vectors, n_problems=3, dtype=np.float64, sparse=False, n_features=6):
    rng = np.random.default_rng(n_vectors)
    V = rng.normal(size=(n_vectors, n_features)) * (rng.random((n_vectors, n_features)) < 0.7)
    coefs = rng.normal(size=(n_problems, n_vectors))
    coefs[0, : n_vectors // 2] = 0
    basis = Basis(kernel, np.dtype(dtype))
    data = sp.csr_array(V) if sparse else V
    basis.add(prepare(data, kernel, np.dtype(dtype)), np.arange(n_vectors))
    return V, Expansion(basis, coefs, rng.normal(size=n_problems))


@pytest.fixture(params=["in tiles", "in registers"])
def either_way(request, monkeypatch):
    """Tiles, or values that never leave the registers, of rows that are packed in several parts."""
    fused = request.param == "in registers"
    monkeypatch.setattr(evaluated, "is_used_once", lambda kernel, n_columns: fused)
    monkeypatch.setattr(evaluated, "rows_at_once", lambda X: PANEL + 1)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_vectors", [1, 40, STRIP + 7, 2 * STRIP + 3])
@pytest.mark.parametrize("n", [1, FEW_ROWS, 2 * PANEL + 5])
def test_sums(kernel, sparse, dtype, n_vectors, n):
    V, expansion = make(kernel, n_vectors, dtype=dtype, sparse=sparse)
    X = np.random.default_rng(1).normal(size=(n, 6))
    data = prepare(sp.csr_array(X) if sparse else X, kernel, np.dtype(dtype))
    found = expansion(data)
    truth = expansion.coefs @ kernel(V, X) + expansion.intercepts[:, None]
    assert found.dtype == np.float64
    close = 1e-11 if dtype == np.float64 else 1e-4
    assert np.allclose(found, truth, rtol=0, atol=close * abs(truth).max() * 10)


@pytest.mark.bits
@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_change_a_bit(kernel, dtype):
    _, expansion = make(kernel, 2 * STRIP + 3, dtype=dtype)
    X = prepare(np.random.default_rng(1).normal(size=(5 * PANEL + 9, 6)), kernel, np.dtype(dtype))
    first = expansion(X, 1)
    for n_jobs in (2, 3, None):
        assert np.array_equal(expansion(X, n_jobs), first)


def test_no_vectors_at_all():
    expansion = Expansion(Basis(Linear(), np.dtype(float)), np.zeros((2, 0)), np.array([1.0, -2.0]))
    assert np.array_equal(expansion(np.ones((3, 4))), [[1.0] * 3, [-2.0] * 3])


@pytest.mark.parametrize("sparse", [False, True])
def test_weights_of_the_linear_kernel(sparse):
    V, expansion = make(Linear(), 30, sparse=sparse)
    found = expansion.weights(6)
    assert isinstance(found, np.ndarray)
    assert np.allclose(found, expansion.coefs @ V)
    empty = Expansion(Basis(Linear(), np.dtype(float)), np.zeros((2, 0)), np.zeros(2))
    assert np.array_equal(empty.weights(6), np.zeros((2, 6)))


def test_rows_that_the_kernel_cannot_be_computed_on():
    _, expansion = make(Polynomial(degree=4, gamma=1.0), 30)
    with pytest.raises(ValueError, match="scale the data"):
        expansion(np.full((2, 6), 1e80))


def test_dense_rows_with_sparse_vectors_and_the_other_way_round():
    for sparse in (False, True):
        V, expansion = make(Gaussian(0.1), 40, sparse=sparse)
        X = np.random.default_rng(1).normal(size=(70, 6))
        truth = expansion.coefs @ Gaussian(0.1)(V, X) + expansion.intercepts[:, None]
        assert np.allclose(expansion(X), truth)
        assert np.allclose(expansion(sp.csr_array(X)), truth)


def test_vectors_are_packed_once_and_a_pickle_does_without(monkeypatch):
    counts = []
    original = evaluated.packed_vectors
    monkeypatch.setattr(
        evaluated, "packed_vectors", lambda *args: counts.append(1) or original(*args)
    )
    _, expansion = make(KERNELS[0], 2 * STRIP)
    X = np.random.default_rng(1).normal(size=(2 * PANEL, 6))
    first = expansion(X)
    assert np.array_equal(expansion(X), first)
    assert counts == [1]
    other = pickle.loads(pickle.dumps(expansion))
    assert not other._packed
    assert np.array_equal(other(X), first)
    monkeypatch.setattr(evaluated, "FEW_NUMBERS", 0)  # a large model
    expansion._packed.clear()
    assert np.array_equal(expansion(X), first)
    assert not expansion._packed
