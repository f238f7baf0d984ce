"""From a block of a user's rows to numbers that can be believed.

This runs on the workers. Blocks are arrays, sparse matrices, or frames of pandas or Polars, none of
which this file imports. What is wrong is said with the row's number in all of X and the name of the
column, both as the user counts them, from 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.data.features import checked_sparse, first_not_finite
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.showing import shown


def is_frame(block: Any) -> bool:
    return hasattr(block, "columns") and hasattr(block, "to_numpy")


def as_rows(block: Any) -> Any:
    """A block that has a shape."""
    return block if is_frame(block) or sp.issparse(block) else np.asarray(block)


def by_rows(block: Any) -> Any:
    """A sparse block as one whose rows lie one after the other; any other block as it is."""
    if sp.issparse(block) and block.format != "csr":
        return sp.csr_array(checked_sparse(block))
    return block


def between(block: Any, start: int, stop: int) -> Any:
    """The rows from `start` to `stop`."""
    if stop - start == block.shape[0]:
        return block
    block = by_rows(block)
    return block.iloc[start:stop] if hasattr(block, "iloc") else block[start:stop]


def joined(blocks: list[Matrix]) -> Matrix:
    """Checked blocks as one, the rows of each after those of the one before."""
    if not sp.issparse(blocks[0]):
        return np.concatenate(blocks)
    return _with_short_indices(sp.vstack(blocks, format="csr"))


def checked(
    block: Any,
    width: int,
    first_row: int,
    sparse: bool = False,
    dtype: type[np.floating] = np.float64,
) -> Matrix:
    """A block's finite numbers, C-contiguous or in canonical CSR form.

    The block itself is never changed, and is what comes back if nothing had to be done.

    Examples
    --------
    >>> checked([[1, 2], [3, float("nan")]], 2, 4096)
    Traceback (most recent call last):
    ...
    ValueError: row 4097 of X has NaN in column 1: impute or drop it
    """
    block = as_rows(block)
    if len(block.shape) != 2 or block.shape[1] != width:
        raise ValueError(
            f"rows of X from row {first_row} on have shape {tuple(block.shape)}, where {width} "
            "columns are expected: give every part the same columns"
        )
    if sp.issparse(block) and not sparse:
        raise ValueError(
            f"rows of X from row {first_row} on are sparse, and the collection says that its "
            "blocks are dense: make it with meta=scipy.sparse.csr_array((0, 0))"
        )
    names = [str(name) for name in block.columns] if is_frame(block) else None
    if sp.issparse(block):
        values = _canonical(block, dtype)
    elif names is not None:
        values = _from_frame(block, first_row, names, dtype)
    else:
        values = _floats(block, first_row, 0, None, dtype)
    found = np.ascontiguousarray(values) if not sp.issparse(values) else values
    _check_finite(found, first_row, names)
    return _with_short_indices(sp.csr_array(found)) if sparse else found


def _canonical(block: Any, dtype: type[np.floating]) -> sp.csr_array:
    _refuse_complex(block.dtype)
    found = sp.csr_array(checked_sparse(block))
    if found.dtype != dtype:
        found = found.astype(dtype)
    if not found.has_canonical_format:
        found = found.copy()
        found.sum_duplicates()
    return found


def _with_short_indices(X: sp.csr_array) -> sp.csr_array:
    """Indices of one type, whatever blocks the rows came from."""
    if max(X.nnz, X.shape[1]) > np.iinfo(np.int32).max:
        return X
    indices, ends = (a.astype(np.int32, copy=False) for a in (X.indices, X.indptr))
    short = sp.csr_array((X.data, indices, ends), shape=X.shape)
    short.has_canonical_format = True
    return short


def _from_frame(
    frame: Any, first_row: int, names: list[str], dtype: type[np.floating]
) -> np.ndarray:
    if all(isinstance(t, np.dtype) and t.kind in "fiub" for t in frame.dtypes):
        return np.asarray(frame.to_numpy(dtype=dtype))
    values = np.empty(frame.shape, dtype)
    for j in range(frame.shape[1]):
        column = _column_of(frame, j)
        values[:, j] = _floats(column[:, None], first_row, j, names, dtype)[:, 0]
    return values


def _column_of(frame: Any, j: int) -> np.ndarray:
    """Column j: numbers, with NaN for what is missing, or objects if it has none."""
    if hasattr(frame, "iloc"):
        column = frame.iloc[:, j]
        if column.dtype.kind in "fiub":
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(column.to_numpy(dtype=object))
    column = frame.to_series(j)
    if column.dtype.is_numeric() or str(column.dtype) in ("Boolean", "Null"):
        return np.asarray(column.cast(float).to_numpy())
    return np.array([*column.to_list(), None], dtype=object)[:-1]


def _floats(
    values: np.ndarray,
    first_row: int,
    first_column: int,
    names: list[str] | None,
    dtype: type[np.floating],
) -> np.ndarray:
    """Values of any type as numbers. A text is none, even if it can be read as one."""
    _refuse_complex(values.dtype)
    if values.dtype.kind in "fiub":
        return values.astype(dtype, copy=False)
    found = np.empty(values.shape, dtype)
    for (row, column), value in np.ndenumerate(values):
        try:
            if isinstance(value, str | bytes | np.datetime64 | np.timedelta64):
                raise ValueError(f"its type is {type(value).__name__}")
            found[row, column] = value
        except (TypeError, ValueError) as failure:
            at = _named(first_column + column, names)
            raise type(failure)(
                f"column {at} of X holds {shown(value)} in row {first_row + row}, which is not a "
                f"number ({failure}): encode the column as numbers, or drop it"
            ) from None
    return found


def _refuse_complex(dtype: np.dtype) -> None:
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is of type {dtype}, give real numbers")


def _check_finite(X: Any, first_row: int, names: list[str] | None) -> None:
    found = first_not_finite(X)
    if found is None:
        return
    row, column, value = found
    what, remedy = ("NaN", "impute") if np.isnan(value) else (str(value), "replace")
    raise ValueError(
        f"row {first_row + row} of X has {what} in column {_named(column, names)}: "
        f"{remedy} or drop it"
    )


def _named(column: int, names: list[str] | None) -> str:
    return f"{column} ({shown(names[column])})" if names else str(column)
