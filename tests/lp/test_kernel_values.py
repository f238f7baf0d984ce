"""Rows of kernel values for linear programs, against the whole Gram matrix."""

import numpy as np
import pytest

from largemargin.kernels.functions import Gaussian, Polynomial
from largemargin.lp.kernel_values import TRACE, GramRows, drop_traces
from largemargin.runtime.threads import Workers


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Polynomial(degree=2, gamma=1.0, coef0=0.0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_without_traces_and_the_largest_values_of_columns(kernel, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(dtype)
    X[:40] *= 1e-4  # near each other, and products that are next to nothing
    X[40] = 0
    values = GramRows(X, kernel, np.dtype(dtype), 10**6, Workers(1), lambda: None)
    examples, every = rng.permutation(300)[:90], np.arange(300)
    found = values.rows(examples, every)

    K = np.asarray(kernel(X.astype(float), X.astype(float)))
    diagonal = np.diagonal(K)
    expected = drop_traces(K[examples].copy(), diagonal[examples], diagonal)
    assert (expected == 0).any()
    # a value may be on either side of the border of what is a trace
    border = 1.5 * TRACE * np.sqrt(np.outer(diagonal[examples], diagonal))
    scale = np.sqrt(np.outer(diagonal[examples], diagonal))
    off = np.abs(found - expected)
    assert (off <= np.maximum(border, 1e4 * np.finfo(dtype).eps * scale)).all()
    size = np.abs(found)
    assert not ((size > 0) & (size < TRACE * scale * (1 - 1e-6))).any()
    assert np.array_equal(found[np.arange(90), examples], values.diagonal[examples].astype(dtype))
    size[np.arange(90), examples] = 0
    assert np.array_equal(values.largest, size.max(axis=0).astype(float))
