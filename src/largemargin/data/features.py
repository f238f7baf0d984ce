"""Features: floating-point numbers, all of them finite, in matrices whose indices can be believed.

SciPy does not look at the indices of a sparse matrix that is made from its parts, and compiled
code, its own included, reads and writes where they point.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from largemargin.data.errors import broken
from largemargin.runtime.arrays import Matrix

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

# Sparse formats that have their entries line by line: what a line is, and what an index counts.
_BY_LINES = {"csr": ("row", "column"), "csc": ("column", "row"), "bsr": ("row", "column")}


def float_type(dtype: DTypeLike) -> type[np.floating]:
    """float32 where it holds every value of a type exactly, else float64.

    Examples
    --------
    >>> float_type(np.uint8).__name__, float_type(np.int32).__name__
    ('float32', 'float64')
    """
    return np.float32 if np.can_cast(dtype, np.float32) else np.float64


def first_not_finite(X: Matrix) -> tuple[int, int, float] | None:
    """Row, column and value of the first entry that is NaN or infinite."""
    values = X if isinstance(X, np.ndarray) else X.data
    # One pass without a temporary: a sum is finite unless a value is not, or it overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return None
    bad = np.argwhere(~np.isfinite(values))
    if not bad.size:
        return None
    if isinstance(X, np.ndarray):
        row, column = map(int, bad[0])
        return row, column, values[row, column]
    at = int(bad[0, 0])
    row = int(np.searchsorted(X.indptr, at, side="right")) - 1
    return row, int(X.indices[at]), values[at]


def check_finite(
    path: str | PathLike[str],
    X: Matrix,
    first_row: int = 1,
    names: Sequence[str] | None = None,
) -> None:
    """Raise for the first value of a block that is NaN or infinite."""
    found = first_not_finite(X)
    if found is None:
        return
    row, column, value = found
    raise broken(
        path,
        f"expected a finite number, saw {value}; remove the row or fill in the value",
        row=first_row + row,
        column=names[column] if names else column + 1,
    )


def check_numbers(path: str | PathLike[str], name: str, numbers: np.ndarray) -> np.ndarray:
    """A column of numbers, of which some may be missing, but none infinite."""
    check_finite(path, np.where(np.isnan(numbers), 0.0, numbers)[:, None], 1, [name])
    return numbers


def join_features(parts: list[Matrix]) -> Matrix:
    """Consecutive blocks as one array or CSR matrix, giving each block's memory back as it goes."""
    if sp.issparse(parts[0]):
        width = max(part.shape[1] for part in parts)
        for part in parts:
            part.resize((part.shape[0], width))
        return sp.vstack(parts, format="csr") if len(parts) > 1 else parts[0]
    if len(parts) == 1:
        return parts[0]
    X = np.empty((sum(map(len, parts)), parts[0].shape[1]), dtype=parts[0].dtype)
    stop = len(X)
    while parts:
        part = parts.pop()
        X[stop - len(part) : stop] = part
        stop -= len(part)
    return X


def checked_sparse(X: Any) -> Any:
    """A sparse matrix after one look at its indices, which must lie within its shape.

    Formats that are neither lines nor coordinates come back as coordinates, and entries beyond
    those that belong to a line are left out.

    >>> import scipy.sparse as sp
    >>> X = sp.csr_array(([1.0], [2], [0, 1]), shape=(1, 3))
    >>> X.indices[0] = 7
    >>> checked_sparse(X)
    Traceback (most recent call last):
    ...
    ValueError: the sparse matrix X has the column index 7, but 3 columns, counted from 0: make it anew
    """  # noqa: E501
    if len(X.shape) != 2:
        return X  # which is refused for that
    if X.format in _BY_LINES:
        return _checked_lines(X)
    if X.format != "coo":
        X = X.tocoo()
    rows, columns = X.row, X.col
    if not (_is_line(rows) and _is_line(columns) and _is_line(X.data, "") and
            len(rows) == len(columns) == len(X.data)):  # fmt: skip
        raise _broken("does not have one row, one column and one value for each of its entries")
    _check_within(rows, "row", X.shape[0])
    _check_within(columns, "column", X.shape[1])
    return X


def _checked_lines(X: Any) -> Any:
    """The same for a matrix that has its entries row by row or column by column."""
    major, minor = _BY_LINES[X.format]
    height, width = X.shape if major == "row" else X.shape[::-1]
    values = X.data
    if X.format == "bsr":
        if np.ndim(values) != 3 or 0 in values.shape[1:]:
            raise _broken("has blocks that are malformed")
        down, across = values.shape[1:]
        if height % down or width % across:
            raise _broken(f"is not made of whole blocks of {down} x {across}")
        height, width = height // down, width // across
    indices, ends = X.indices, X.indptr
    if not (_is_line(indices) and _is_line(ends) and np.ndim(values) in (1, 3)):
        raise _broken("has indices that are not a one-dimensional array of integers")
    if len(ends) != height + 1 or ends[0] != 0 or (ends[1:] < ends[:-1]).any():
        raise _broken(f"has an indptr that does not part its entries into {height} {major}s")
    used = int(ends[-1])
    if used > len(indices) or len(indices) != len(values):
        raise _broken(f"has {len(indices)} indices and {len(values)} values, where {used} belong")
    if used < len(indices):  # room for more, which SciPy allows
        X = type(X)((values[:used], indices[:used], ends), shape=X.shape)
        indices = indices[:used]
    _check_within(indices, minor, width)
    return X


def _is_line(values: Any, kinds: str = "iu") -> bool:
    return type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in (
        kinds or values.dtype.kind
    )  # fmt: skip


def _check_within(indices: np.ndarray, name: str, size: int) -> None:
    if not len(indices):
        return
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= size:
        raise _broken(
            f"has the {name} index {low if low < 0 else high}, but {size} {name}s, counted from 0"
        )


def _broken(problem: str) -> ValueError:
    return ValueError(f"the sparse matrix X {problem}: make it anew")
