"""Names of what data is, for signatures; and rows that are elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import scipy.sparse as sp

# Rows of numbers that were checked: a dense array, or a sparse matrix in CSR form.
Matrix: TypeAlias = "np.ndarray | sp.csr_array"
# Rows as a user gives them: an array, a sparse matrix, a data frame, or lists of numbers.
MatrixLike: TypeAlias = Any
# Labels, weights or other numbers as a user gives them, one per row.
VectorLike: TypeAlias = Any


class DistantRows:
    """A matrix whose rows are in other processes.

    It stands where a matrix would: what is computed row by row is computed where the rows are
    (`by_rows`), sums of kernel values too (`fused`), and only single rows are fetched, `X[rows]`.
    """

    shape: tuple[int, int]
    dtype: np.dtype

    def by_rows(self, function: Callable[..., np.ndarray], *args: Any) -> np.ndarray:
        """function(rows, *args), which gives one number per row, of all rows."""
        raise NotImplementedError

    def astype(self, dtype: Any) -> Any:
        """The same rows in another type."""
        raise NotImplementedError

    def taken(self, rows: np.ndarray) -> Any:
        """Some of the rows, which stay where they are."""
        raise NotImplementedError

    def fused(self, kernel: Any, dtype: np.dtype, team: Any) -> Any:
        """What `kernels.fused.FusedRows` is of a matrix."""
        raise NotImplementedError

    def together(self, work: Callable[[Any], Any], items: Any) -> None:
        """Call work(item) for each item, so that their sums are asked for together."""
        raise NotImplementedError

    def __getitem__(self, rows: np.ndarray) -> Any:
        raise NotImplementedError


def by_rows(function: Callable[..., np.ndarray], X: Any, *args: Any) -> np.ndarray:
    """function(X, *args), which gives one number per row of X, computed where the rows are."""
    if isinstance(X, DistantRows):
        return X.by_rows(function, *args)
    return function(X, *args)


def taken(X: Any, rows: np.ndarray) -> Any:
    """Some rows of X, where they are."""
    return X.taken(rows) if isinstance(X, DistantRows) else X[rows]
