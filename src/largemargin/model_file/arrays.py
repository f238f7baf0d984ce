"""Checks of arrays that came from a file, and sparse rows as three of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

LARGEST_NUMBER = 1e290  # coefficients, like kernel values, are below it: their products are finite
LARGEST = 2**53  # counts, steps and positions are below it: a float64 counts so far exactly


def check_array(array: np.ndarray, name: str, dtype: Any, shape: tuple[int, ...]) -> None:
    """Refuse an array of another type or shape."""
    if array.shape != shape or array.dtype != dtype:
        raise ValueError(
            f"{name} has type {array.dtype} and shape {array.shape}, where {np.dtype(dtype)} and "
            f"{shape} belong"
        )


def check_range(array: np.ndarray, name: str, low: int, end: int) -> None:
    """Refuse integers below `low` or not below `end`."""
    if len(array) and not (array.min() >= low and array.max() < end):
        raise ValueError(f"{name} goes beyond the range from {low} to {end}")


def check_finite(array: np.ndarray, name: str) -> None:
    """Refuse infinities and NaN."""
    if not np.isfinite(array).all():
        raise ValueError(f"{name} is not all finite numbers")


def check_moderate(array: np.ndarray, name: str) -> None:
    """Refuse infinities, NaN, and numbers so large that scores made of them could be."""
    if not (np.abs(array) < LARGEST_NUMBER).all():
        raise ValueError(f"{name} is not all finite numbers below {LARGEST_NUMBER:g}")


def check_count(value: Any, name: str) -> None:
    """Refuse what is not an integer that counts something."""
    if type(value) is not int or not 0 <= value < LARGEST:
        raise ValueError(f"{name} is not a count")


def pack_rows(rows: Any, name: str) -> dict[str, np.ndarray]:
    """Sparse rows as their entries, the columns of these, and where each row begins."""
    return {
        f"{name}.data": rows.data,
        f"{name}.indices": rows.indices.astype(np.int64),
        f"{name}.indptr": rows.indptr.astype(np.int64),
    }


def unpack_rows(arrays: dict[str, np.ndarray], name: str, n_rows: int, width: int) -> sp.csr_array:
    """Take sparse rows out of the arrays, their entries in the order of columns."""
    data, indices, indptr = (arrays.pop(f"{name}.{part}") for part in ("data", "indices", "indptr"))
    check_array(data, f"{name}.data", data.dtype, (len(indices),))
    check_array(indices, f"{name}.indices", np.int64, (len(data),))
    check_array(indptr, f"{name}.indptr", np.int64, (n_rows + 1,))
    check_range(indices, f"{name}.indices", 0, width)
    if indptr[0] != 0 or indptr[-1] != len(data) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"{name}.indptr does not part the entries into rows")
    within = np.ones(len(indices), bool)  # the first entry of a row has none before it
    within[indptr[:-1][indptr[:-1] < len(indices)]] = False
    if len(indices) and (np.diff(indices, prepend=0)[within] <= 0).any():
        raise ValueError(f"{name}.indices are not in order within a row")
    return sp.csr_array((data, indices, indptr), shape=(n_rows, width))
