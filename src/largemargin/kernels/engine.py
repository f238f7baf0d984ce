"""The place where kernel values are computed: the type that holds them, and a block of them.

Three others compute some, each for a reason of its own. `online.prefetch.fill_apart` computes value
by value, for `partial_fit`, where not one bit may depend on the chunks of a stream.
`lp.exact_values` computes them in float64 or beyond, for the proof of a solution. And where a user
gave kernel values as a matrix, `certificates.fitted` reads them off it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.functions import Kernel, squared_norms
from largemargin.runtime.arrays import DistantRows, Matrix

SMALL_PROBLEM = 8192  # rows up to which kernel values are float64 by default
DENSE_WIDTH = 1 << 15  # a sparse tile of basis vectors this wide is multiplied as a dense one
PACKED_SHARE = 0.9  # columns that are zero are dropped where at most this share of them is not
TRANSFORMED_VALUES = 1 << 16  # products turned into values at a time: they stay in cache
# Vectors that meet a panel of columns together in `fused`, and terms that are added up there before
# they are added to a sum.
GROUP = 6
# Kernel values and coefficients are below this number: products and sums of many are finite.
LARGEST_NUMBER = 1e290


def choose_dtype(precision: str, small: bool, kernel: Kernel, X: Matrix) -> np.dtype:
    """The type that kernel values are computed in, checked against overflow.

    `precision="auto"` is float64 for small problems and float32 for others, unless float32 cannot
    hold the values; a type asked for by name is either safe or refused.
    """
    if precision not in ("auto", "float32", "float64"):
        raise ValueError(f"precision must be 'auto', 'float32' or 'float64', got {precision!r}")
    square = largest_square(X) if kernel.on_products else 1.0
    if precision == "auto":
        single = not small and kernel.exact_in(np.float32, square)
        dtype = np.dtype(np.float32 if single else np.float64)
    else:
        dtype = np.dtype(precision)
    check_overflow(kernel, dtype, square)
    if not kernel.exact_in(dtype, square):
        warnings.warn(
            f"values of {kernel} lose digits in {dtype} for rows of norm {np.sqrt(square):.3g}: "
            "scale the data or lower gamma",
            stacklevel=2,
        )
    return dtype


def largest_square(X: Matrix) -> float:
    return float(squared_norms(X).max(initial=0.0))


def largest_value(dtype: np.dtype) -> float:
    """What kernel values may reach: in float64, sums of many of them must still be finite."""
    return LARGEST_NUMBER if dtype == np.float64 else float(np.finfo(np.float32).max)


def check_overflow(kernel: Kernel, dtype: np.dtype, square: float) -> None:
    """Refuse a kernel whose values, or sums of them, could leave the range of the type."""
    bound = kernel.bound(square)
    if not bound < largest_value(dtype):
        remedy = "scale the data (to 0..1, say) or lower gamma"
        if dtype != np.float64 and bound < largest_value(np.dtype(np.float64)):
            remedy += ", or ask for precision='float64'"
        raise ValueError(
            f"{kernel} takes numbers up to {bound:.3g} for rows of norm {np.sqrt(square):.3g}, "
            f"more than {dtype} can compute with: {remedy}"
        )


def prepare(X: Matrix, kernel: Kernel, dtype: np.dtype) -> Any:
    """X as the engine reads it: contiguous rows or canonical CSR, of `dtype` for inner products."""
    if not kernel.on_products:
        dtype = X.dtype
    if isinstance(X, DistantRows):
        return X.astype(dtype)
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=dtype)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X
    return np.ascontiguousarray(X, dtype=dtype)


def fill(
    kernel: Kernel,
    dtype: np.dtype,
    rows: tuple[Matrix, np.ndarray],
    vectors: tuple[Matrix, np.ndarray],
    out: np.ndarray,
    only: np.ndarray | None = None,
) -> np.ndarray:
    """Kernel values of vectors (down) against rows (across), each with their squared norms, into
    `out`; of `only` some vectors, in ascending order, into the first rows of it.
    """
    X, X_squares = rows
    V, V_squares = vectors
    if kernel.on_products:
        if sp.issparse(X):
            out[:] = _sparse_products(V, X)
        else:
            np.matmul(V, X.T, out=out)
        if only is not None and len(only) < len(out):
            from largemargin.kernels.loops import move_up

            move_up(out, only)
            out, V_squares = out[: len(only)], V_squares[only]
        step = max(1, TRANSFORMED_VALUES // out.shape[1])
        for lo in range(0, len(out), step):
            part = slice(lo, lo + step)
            kernel.from_products(out[part], V_squares[part], X_squares)
        return out
    with np.errstate(over="ignore"):
        out[:] = kernel(X, V).T
    if only is not None and len(only) < len(out):
        out[: len(only)] = out[only]
        out = out[: len(only)]
    check_values(kernel, dtype, out)
    return out


def check_values(kernel: Kernel, dtype: np.dtype, values: np.ndarray) -> None:
    """Refuse values that sums of a type cannot hold."""
    fine = np.abs(values) < largest_value(dtype)
    if not fine.all():
        raise ValueError(
            f"{kernel} returned {values[~fine][0]} for two of the rows given: scale the "
            "data, or mend the kernel so that all its values are finite and not that large"
        )


def _sparse_products(V: sp.csr_array, X: sp.csr_array) -> np.ndarray:
    """Inner products of the rows of two CSR matrices, each summed in the order of X's entries."""
    if V.shape[1] <= DENSE_WIDTH:
        return np.asarray((X @ np.ascontiguousarray(V.toarray().T)).T)
    return np.asarray((X @ V.T).toarray().T)
