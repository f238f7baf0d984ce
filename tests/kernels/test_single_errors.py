"""Bounds of sums of kernel values in float32, against sums in extended precision."""

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.kernels.functions import UNIT, squared_norms
from largemargin.kernels.fused import FusedRows
from largemargin.kernels.rounding import SINGLE, SingleErrors, raised_squares
from largemargin.runtime.threads import workers

from .test_fused import KERNELS, random_case
from .test_rounding import LONG, exact

ON_PRODUCTS = [name for name in KERNELS if name not in ("linear", "laplacian")]


@pytest.mark.parametrize("name", ON_PRODUCTS)
def test_no_sum_is_further_off_than_its_bound(name):
    """With sizes computed beside it and without; and with them the bound is hardly ever larger."""
    tightest = 0.0
    for k in range(20):
        rng = np.random.default_rng(k)
        n, X, kernel = random_case(rng, k, name)
        V, Z = X[:n], X[n:]
        coefs = rng.normal(size=(1 + k % 3, n)) * 10.0 ** rng.integers(-6, 6)
        intercepts = rng.normal(size=len(coefs)) * 10.0 ** rng.integers(-6, 6)
        given = sp.csr_array(Z) if k % 2 else Z
        errors = SingleErrors(kernel, coefs, intercepts, squared_norms(V), X.shape[1])
        with workers(1) as team:
            single = np.dtype(np.float32)
            columns = FusedRows(kernel, given, team, single).measured_columns()
            vectors = FusedRows(kernel, V, team, single).vectors(np.arange(n))
            sums = columns.sums(vectors, errors.coefs)
        assert np.allclose(columns.squares, squared_norms(Z), rtol=1e-6)
        terms = np.diff(given.indptr) if k % 2 else np.float64(X.shape[1])
        found = sums[: len(coefs)] + intercepts[:, None]
        off = np.abs(found - (coefs.astype(LONG) @ exact(kernel, V, Z) + intercepts[:, None]))
        bound = errors(columns.squares, terms, sums[len(coefs) :])
        assert (off <= bound).all()
        assert (off <= errors(columns.squares, terms)).all()
        if kernel.stationary:
            assert (bound <= 1.01 * errors(columns.squares, terms)).all()
        tightest = max(tightest, float((off / bound).max()))
    assert tightest > (1e-5 if name == "matern 0.5" else 1e-3)  # which is steep at zero


def test_raised_squares():
    squares = np.array([0.0, 1.0, 4.0])
    for unit, tiny in ((UNIT, 2.0**-1022), (SINGLE, 2.0**-126)):
        assert np.array_equal(
            raised_squares(squares, 7.0, unit), squares * (1 + 4 * unit) + 7 * tiny / unit
        )
