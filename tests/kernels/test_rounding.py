"""Bounds of what rounding does to kernel values, against values in extended precision."""

from __future__ import annotations

import numpy as np
import pytest

from largemargin.kernels.engine import fill, prepare
from largemargin.kernels.functions import (
    UNIT,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Sigmoid,
    squared_norms,
)

LONG = np.longdouble


def exact(kernel, A, B):
    A, B = A.astype(LONG), B.astype(LONG)
    if isinstance(kernel, Laplacian):
        return np.exp(-LONG(kernel.gamma) * np.abs(A[:, None] - B[None]).sum(axis=2))
    if isinstance(kernel, Gaussian | Matern):
        exponent = LONG(kernel.gamma) * ((A[:, None] - B[None]) ** 2).sum(axis=2)
        if isinstance(kernel, Gaussian):
            return np.exp(-exponent)
        s = 2 * np.sqrt(LONG(kernel.nu) * exponent)
        polynomial = {0.5: 1, 1.5: 1 + s, 2.5: 1 + s + s * s / 3}[kernel.nu]
        return polynomial * np.exp(-s)
    products = (A[:, None] * B[None]).sum(axis=2)
    if isinstance(kernel, Linear):
        return products
    inner = LONG(kernel.gamma) * products + LONG(kernel.coef0)
    return np.tanh(inner) if isinstance(kernel, Sigmoid) else inner**kernel.degree


def bound_of(kernel, squares, terms, unit, values):
    """The bound of each value k(a, b), a down and b across, from what the kernel says."""
    found = kernel.rounding(squares, terms, unit)
    column = lambda part: np.reshape(part, (-1, 1)) if np.ndim(part) else part  # noqa: E731
    size = np.abs(values.astype(float))
    bound = column(found.value) * size
    bound = bound + column(found.distance) * size * (squares[:, None] + squares[None, :])
    return bound + column(found.left) * found.right + column(found.constant)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "sigmoid", 0.5, 1.5, 2.5])
def test_no_value_is_further_off_than_its_bound(kernel, precision):
    """And the bound is of the size of the rounding, not of another."""
    dtype, unit = np.dtype(precision), UNIT if precision == "float64" else 2.0**-24
    tightest = 0.0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scale = 10 ** rng.uniform(-4, 4)
        gamma = 10 ** rng.uniform(-2, 1) / scale ** (1 if kernel == "laplacian" else 2)
        n, d = int(rng.integers(2, 40)), int(rng.integers(1, 60))
        X = rng.normal(size=(n, d)) * scale + rng.choice([0, 10]) * scale
        X[rng.random(X.shape) < 0.2] = 0.0
        made = {
            "linear": Linear(),
            "poly": Polynomial(int(rng.integers(1, 6)), gamma, float(rng.normal())),
            "rbf": Gaussian(gamma),
            "laplacian": Laplacian(gamma),
            "sigmoid": Sigmoid(gamma, float(rng.normal())),
            **{nu: Matern(nu, gamma) for nu in (0.5, 1.5, 2.5)},
        }[kernel]
        rows = prepare(X, made, dtype)
        norms = squared_norms(rows) if made.on_products else np.zeros(n)
        computed = np.empty((n, n), dtype)
        side = (rows, norms.astype(dtype))
        fill(made, dtype, side, side, computed)
        terms = np.count_nonzero(X, axis=1).astype(float)
        bound = bound_of(made, norms, terms, unit, computed.T)
        true = exact(made, X, X)
        off = np.abs(computed.T.astype(LONG) - true)
        assert (off <= 1.01 * bound).all()
        sizes = made.sizes(norms)
        assert (np.abs(true) <= np.outer(sizes, sizes) * (1 + 1e-5)).all()
        tightest = max(tightest, float((off / (bound + 1e-300)).max()))
    assert tightest > 1e-3
