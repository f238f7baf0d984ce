"""Compiled exponentials: within one unit in the last place of the exact ones, or hardly more."""

import numpy as np
import pytest
from hypothesis import given as draw
from hypothesis import settings
from hypothesis import strategies as st

from largemargin.kernels.exponential import exponentials, gaussians
from largemargin.kernels.functions import Gaussian, squared_norms

TYPES = [np.float32, np.float64]
LEAST = {np.float32: -87.0, np.float64: -708.0}


def units_off(found, x):
    """How far values are from e^x, in units of their last place."""
    truth = np.exp(x.astype(np.longdouble))
    return np.abs(found - truth) / np.spacing(truth.astype(found.dtype))


@pytest.mark.bits
@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="nothing to compare with")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("smallest", [1e-9, 0.1, 1.0, 20.0, None])
def test_within_one_unit_in_the_last_place(dtype, smallest):
    low = -(smallest or -LEAST[dtype])
    x = np.random.default_rng(0).uniform(low, 0, (100, 999)).astype(dtype)
    x[0, :3] = 0, -0.0, low
    found = x.copy()
    exponentials(found)
    assert units_off(found, x).max() < 1.25  # 1 with fused multiply-add
    assert found[0, 0] == found[0, 1] == 1


@pytest.mark.bits
@pytest.mark.parametrize("dtype", TYPES)
def test_where_the_exponent_is_rounded_the_other_way(dtype):
    """Halfway between two powers of two the remainder is largest."""
    x = (-(np.arange(100) + 0.5) * np.log(2)).astype(dtype)
    x = np.concatenate([x, np.nextafter(x, dtype(0)), np.nextafter(x, dtype(-np.inf))])[None]
    found = x.copy()
    exponentials(found)
    assert np.allclose(found, np.exp(x), rtol=2 * np.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("dtype", TYPES)
def test_ends_of_the_range(dtype):
    below = LEAST[dtype] * np.array([[1.0001, 1.1, 2, 1e3, 1e30, np.inf]])
    found = below.astype(dtype)
    exponentials(found)
    assert (found == 0).all()
    lost = np.array([[np.nan]], dtype)
    exponentials(lost)
    assert np.isnan(lost).all()


@pytest.mark.bits
@settings(max_examples=50, deadline=None)
@draw(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 40), st.floats(1e-3, 10))
def test_gaussians(seed, n_a, n_b, gamma):
    rng = np.random.default_rng(seed)
    for dtype in TYPES:
        A, B = rng.normal(size=(n_a, 5)).astype(dtype), rng.normal(size=(n_b, 5)).astype(dtype)
        values = A @ B.T
        gaussians(values, squared_norms(A).astype(dtype), squared_norms(B).astype(dtype),
                  dtype(gamma))  # fmt: skip
        distances = ((A[:, None].astype(float) - B[None]) ** 2).sum(axis=2)
        # the value itself is rounded, too, whatever gamma is
        off = np.finfo(dtype).eps * (4 + 100 * gamma * (1 + distances.max()))
        assert np.allclose(values, np.exp(-gamma * distances), rtol=off, atol=1e-30)
        assert (values <= 1).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_an_array_that_is_part_of_another_is_changed_in_place(dtype):
    A = np.random.default_rng(0).normal(size=(6, 3)).astype(dtype)
    squares = squared_norms(A).astype(dtype)
    whole = np.full((8, 9), 7, dtype)
    part = whole[1:7, 2:8]
    part[:] = A @ A.T
    assert Gaussian(0.3).from_products(part, squares, squares) is part
    assert np.array_equal(part, Gaussian(0.3)(A, A))
    part[:] = 7
    assert (whole == 7).all()
