"""Features as floating-point numbers, all of them finite."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.data.errors import broken


def float_type(dtype: Any) -> type[np.floating]:
    """float32 where it holds every value of a type exactly, else float64.

    Examples
    --------
    >>> float_type(np.uint8).__name__, float_type(np.int32).__name__
    ('float32', 'float64')
    """
    return np.float32 if np.can_cast(dtype, np.float32) else np.float64


def check_finite(
    path: str | PathLike[str],
    X: Any,
    first_row: int = 1,
    names: Sequence[str] | None = None,
) -> None:
    """Raise for the first value of a block that is NaN or infinite."""
    values = X.data if sp.issparse(X) else X
    # One pass without a temporary: a sum is finite unless a value is not, or it overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    bad = np.argwhere(~np.isfinite(values))
    if not bad.size:
        return
    if sp.issparse(X):
        at = int(bad[0, 0])
        row = int(np.searchsorted(X.indptr, at, side="right")) - 1
        column, value = int(X.indices[at]), values[at]
    else:
        row, column = map(int, bad[0])
        value = values[row, column]
    raise broken(
        path,
        f"expected a finite number, saw {value}; remove the row or fill in the value",
        row=first_row + row,
        column=names[column] if names else column + 1,
    )


def join_features(parts: list[Any]) -> Any:
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
