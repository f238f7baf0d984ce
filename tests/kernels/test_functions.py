"""Kernels against scikit-learn's, and what they claim of themselves."""

import inspect
from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise
from sklearn.svm import SVC

import largemargin as lm
from largemargin.kernels.choosing import FunctionKernel, WithConstant, kernel_of, make_kernel
from largemargin.kernels.functions import (
    KERNELS,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    squared_norms,
)

PAIRS = [
    (Linear(), pairwise.linear_kernel, {}),
    *[
        (
            Polynomial(degree=d, gamma=0.3, coef0=c),
            pairwise.polynomial_kernel,
            {"degree": d, "gamma": 0.3, "coef0": c},
        )
        for d in range(1, 8)
        for c in (0.0, 1.5)
    ],
    (Gaussian(gamma=0.2), pairwise.rbf_kernel, {"gamma": 0.2}),
    (Laplacian(gamma=0.2), pairwise.laplacian_kernel, {"gamma": 0.2}),
    (Sigmoid(gamma=0.2, coef0=-0.5), pairwise.sigmoid_kernel, {"gamma": 0.2, "coef0": -0.5}),
]


def blocks(dtype=np.float64):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(13, 6)) * (rng.random((13, 6)) < 0.6)
    B = rng.normal(size=(7, 6)) * (rng.random((7, 6)) < 0.6)
    return A.astype(dtype), B.astype(dtype)


@pytest.mark.parametrize(("kernel", "peer", "params"), PAIRS)
@pytest.mark.parametrize("sparse", [None, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_are_scikit_learns(kernel, peer, params, sparse, dtype):
    A, B = blocks(dtype)
    truth = peer(A.astype(float), B.astype(float), **params)
    if sparse is not None:
        A, B = sparse(A), sparse(B)
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    found = kernel(A, B)
    assert isinstance(found, np.ndarray)
    assert np.allclose(found, truth, rtol=tolerance, atol=tolerance)
    assert np.allclose(kernel.diag(A), np.diagonal(kernel(A, A)), rtol=tolerance, atol=tolerance)
    assert kernel.diag(A).dtype == np.float64


@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(degree=3), Gaussian(1e-4), Laplacian(1e-3)]
)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64])
def test_integers_do_not_wrap_around(kernel, sparse, dtype):
    rng = np.random.default_rng(1)
    A, B = rng.integers(0, 127, (5, 9)).astype(dtype), rng.integers(0, 127, (4, 9)).astype(dtype)
    truth = kernel(A.astype(float), B.astype(float))
    found = kernel(sp.csr_array(A), sp.csr_array(B)) if sparse else kernel(A, B)
    assert np.allclose(found, truth)


@pytest.mark.parametrize(("kernel", "peer", "params"), PAIRS)
def test_the_arguments_are_left_alone(kernel, peer, params):
    A, B = blocks()
    kept = A.copy(), B.copy()
    kernel(A, B)
    kernel.diag(A)
    assert np.array_equal(A, kept[0])
    assert np.array_equal(B, kept[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.int16])
@pytest.mark.parametrize("sparse", [False, True])
def test_squared_norms_are_in_float64_whatever_the_type(dtype, sparse):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 200, (2500, 3)).astype(dtype)
    if dtype in (np.float32, np.float64):
        X = X + dtype(0.1)
    found = squared_norms(sp.csr_array(X) if sparse else X)
    assert found.dtype == np.float64
    assert np.allclose(found, (X.astype(float) ** 2).sum(axis=1), rtol=1e-14)


def test_squared_norms_of_large_float32_numbers():
    X = np.array([[1e20, 0.0], [3.0, 4.0]], np.float32)
    for data in (X, sp.csr_array(X)):
        assert np.allclose(squared_norms(data), [1e40, 25], rtol=1e-6)


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(degree=3),
        Polynomial(degree=4, gamma=0.1, coef0=0.0),
        Gaussian(gamma=0.5),
        Laplacian(gamma=0.5),
        WithConstant(Polynomial(degree=2)),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_kernels_that_say_so_are_positive_semi_definite(kernel, seed):
    X = np.random.default_rng(seed).normal(size=(30, 4)) * 3
    assert kernel.psd
    K = kernel(X, X)
    eigenvalues = np.linalg.eigvalsh((K + K.T) / 2)
    assert eigenvalues[0] > -1e-10 * eigenvalues[-1]


def test_kernels_that_need_not_be_say_so():
    X = np.random.default_rng(0).normal(size=(30, 4))
    for kernel in (Sigmoid(gamma=2.0, coef0=-1.0), Polynomial(degree=2, coef0=-3.0)):
        assert not kernel.psd
        assert np.linalg.eigvalsh(kernel(X, X))[0] < -0.01
    assert not Precomputed().psd
    assert not FunctionKernel(min).psd
    assert not WithConstant(Sigmoid()).psd


@pytest.mark.parametrize(("kernel", "peer", "params"), PAIRS)
def test_bounds_hold(kernel, peer, params):
    A, B = blocks()
    square = max(squared_norms(A).max(), squared_norms(B).max())
    assert abs(kernel(A, B)).max() <= kernel.bound(square)
    assert WithConstant(kernel).bound(square) == kernel.bound(square) + 1


def test_with_constant():
    A, B = blocks()
    for kernel in (Polynomial(degree=3, gamma=0.5), Laplacian(gamma=0.5)):
        lifted = WithConstant(kernel)
        assert np.allclose(lifted(A, B), kernel(A, B) + 1)
        assert np.allclose(lifted.diag(A), kernel.diag(A) + 1)
        assert lifted.on_products == kernel.on_products
    assert WithConstant(Precomputed()).by_column


def test_precomputed():
    K = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(Precomputed()(K, np.array([[3], [0]])), K[:, [3, 0]])
    assert Precomputed().diag(K[:, :3]).tolist() == [0, 5, 10]


def test_function():
    A, B = blocks()

    def product(A, B):
        return A @ B.T

    kernel = make_kernel(product)
    assert np.array_equal(kernel(A, B), A @ B.T)
    assert np.allclose(kernel.diag(A), squared_norms(A))
    assert kernel.name == "product"


def test_a_function_must_return_a_block():
    A, B = blocks()

    def wrong(A, B):
        return np.zeros(3)

    with pytest.raises(
        ValueError, match=r"wrong must return a block of shape \(13, 7\).*got \(3,\)"
    ):
        make_kernel(wrong)(A, B)


def test_degree_zero_is_one():
    A, B = blocks()
    assert (Polynomial(degree=0, gamma=0.3, coef0=0.0)(A, B) == 1).all()


def test_values_of_a_gaussian_never_exceed_one():
    X = np.random.default_rng(0).normal(size=(50, 5)).astype(np.float32) * 100
    assert Gaussian(gamma=10.0)(X, X).max() <= 1


@pytest.mark.parametrize("name", ["poly", "rbf", "laplacian", "sigmoid"])
@pytest.mark.parametrize("sparse", [False, True])
def test_gamma_from_the_data(name, sparse):
    A, _ = blocks()
    data = sp.csr_array(A) if sparse else A
    assert make_kernel(name, X=data).gamma == pytest.approx(1 / (6 * A.var()))
    assert make_kernel(name, gamma="auto", X=data).gamma == 1 / 6
    assert make_kernel(name, gamma=0.7, X=data).gamma == 0.7
    y = np.arange(13) % 2
    peer = SVC(gamma="scale").fit(data, y)
    assert make_kernel(name, X=data).gamma == pytest.approx(peer._gamma)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_weight_is_so_many_rows(sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 4)) + 3
    weight = rng.integers(0, 4, 2100)
    data = sp.csr_array(X) if sparse else X
    found = make_kernel("rbf", X=data, sample_weight=weight).gamma
    assert found == pytest.approx(make_kernel("rbf", X=X.repeat(weight, axis=0)).gamma)
    assert found == pytest.approx(make_kernel("rbf", X=data, sample_weight=weight / 3.0).gamma)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1 / 3, 1e8 / 7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_constant_data_has_no_scale(value, dtype, sparse):
    X = np.full((1777, 7), value, dtype)
    assert make_kernel("rbf", X=sp.csr_array(X) if sparse else X).gamma == 1.0


def test_make_kernel():
    assert make_kernel("linear") == Linear()
    assert make_kernel("poly", degree=2, gamma=0.5) == Polynomial(2, 0.5, 1.0)
    assert make_kernel("rbf", gamma=2) == Gaussian(2.0)
    assert make_kernel("laplacian", gamma=2) == Laplacian(2.0)
    assert make_kernel("sigmoid", gamma=2, coef0=-1) == Sigmoid(2.0, -1.0)
    assert make_kernel("precomputed") == Precomputed()
    own = Gaussian(3.0)
    assert make_kernel(own) is own
    assert isinstance(make_kernel("poly", gamma=np.float32(1)), Kernel)


@pytest.mark.parametrize("name", KERNELS)
def test_every_name_is_of_a_class_that_knows_its_parameters(name):
    cls = KERNELS[name]
    assert cls.name == name
    assert len(cls.parameters) == len(fields(cls))
    assert set(cls.parameters) < set(inspect.signature(make_kernel).parameters)
    made = make_kernel(name, gamma=0.5)
    assert type(made) is cls
    assert getattr(made, "gamma", 0.5) == 0.5
    if cls.stationary:
        A, B = blocks()
        assert (cls()(A, B) >= 0).all()
        assert (cls()(A, B) <= 1).all()
        assert np.allclose(cls()(A, B + 1), cls()(A - 1, B))


def test_the_kernel_of_an_estimator():
    A, _ = blocks()
    for model in (
        lm.SVC(kernel="poly", degree=2, coef0=0.5),
        lm.MIRA(kernel="poly", degree=2, gamma="auto"),
    ):
        wanted = make_kernel("poly", degree=2, gamma=model.gamma, coef0=model.coef0, X=A)
        assert kernel_of(model, A) == wanted
    assert kernel_of(lm.SVC(gamma=0.3), A) == Gaussian(0.3)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kernel": "cosine"}, "kernel must be one of linear, poly.*got 'cosine'"),
        ({"kernel": None}, "kernel must be one of .*got None"),
        ({"kernel": 3}, "kernel must be one of .*got 3"),
        ({"degree": -1}, "degree must be a non-negative integer, got -1"),
        ({"degree": 2.5}, "degree must be a non-negative integer, got 2.5"),
        ({"degree": "3"}, "degree must be a non-negative integer, got '3'"),
        ({"gamma": 0}, "gamma must be .*got 0"),
        ({"gamma": -1.0}, "gamma must be .*got -1.0"),
        ({"gamma": np.inf}, "gamma must be .*got inf"),
        ({"gamma": np.nan}, "gamma must be .*got nan"),
        ({"gamma": "wide"}, "gamma must be .*got 'wide'"),
        ({"gamma": True}, "gamma must be .*got True"),
        ({"gamma": None}, "gamma must be .*got None"),
        ({"gamma": "scale"}, "gamma='scale' needs data"),
        ({"gamma": "auto"}, "gamma='auto' needs data"),
        ({"coef0": np.nan}, "coef0 must be a finite number, got nan"),
        ({"coef0": np.inf}, "coef0 must be a finite number, got inf"),
        ({"coef0": "1"}, "coef0 must be a finite number, got '1'"),
    ],
)
def test_make_kernel_refuses(params, message):
    with pytest.raises(ValueError, match=message):
        make_kernel(**{"kernel": "poly", "gamma": 1.0, **params})
