"""Names of what data is, for signatures; rows that are elsewhere, and sums over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

FEW_NUMBERS = 1 << 22  # numbers of distant rows that are fetched together, 32 MB of them,
NUMBERS_PER_ROW = 4  # or as many for each row that there is: what else is held is as large


class DistantRows:
    """A matrix whose rows are in other processes.

    It stands where a matrix would: what is computed row by row is computed where the rows are
    (`by_rows`), sums over rows (`totals`) and of kernel values (`fused`) too, and only single rows
    are fetched, `X[rows]`. Numbers `beside` are arrays with an entry per row, whose parts are sent
    to where their rows are.
    """

    shape: tuple[int, int]
    dtype: np.dtype

    def by_rows(
        self, function: Callable[..., np.ndarray], *args: Any, beside: Sequence[np.ndarray] = ()
    ) -> np.ndarray:
        """function(rows, *beside, *args), which gives one entry per row, of all rows."""
        raise NotImplementedError

    def totals(
        self, function: Callable[..., np.ndarray], *args: Any, beside: Sequence[np.ndarray] = ()
    ) -> np.ndarray:
        """function(rows, *beside, *args), which gives an array, of each stretch of rows, added up
        as a `PairedSum`.
        """
        raise NotImplementedError

    def astype(self, dtype: Any) -> Any:
        """The same rows in another type."""
        raise NotImplementedError

    def taken(self, rows: np.ndarray) -> Any:
        """Some of the rows, which stay where they are."""
        raise NotImplementedError

    def fused(
        self, kernel: Any, dtype: np.dtype, team: Any, segments: Sequence[np.ndarray] = ()
    ) -> Any:
        """What `kernels.fused.FusedRows` is of a matrix. Where values are dear, those of whole
        segments of the rows are kept.
        """
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


def some_rows(X: Any, rows: np.ndarray) -> Any:
    """X[rows]; of distant rows many stay where they are."""
    if isinstance(X, DistantRows):
        if rows.dtype == bool:
            rows = rows.nonzero()[0]
        if len(rows) * X.shape[1] > max(FEW_NUMBERS, NUMBERS_PER_ROW * X.shape[0]):
            return X.taken(rows)
    return X[rows]


class PairedSum:
    """A sum of arrays in pairs, in pairs of pairs, and so on.

    Term k, and what it was added up to, is known by its level, at first 0, and its number there, at
    first k. Numbers 2 i and 2 i + 1 of a level make number i of the next one. So the bits depend
    neither on the order in which terms come nor on who adds which of them up, and any run of terms
    is few arrays, two for each level, however long it is.
    """

    def __init__(self) -> None:
        self.parts: dict[tuple[int, int], np.ndarray] = {}

    def add(self, level: int, number: int, value: np.ndarray) -> None:
        while (other := self.parts.pop((level, number ^ 1), None)) is not None:
            level, number, value = level + 1, number // 2, value + other
        self.parts[level, number] = value

    def total(self) -> np.ndarray:
        """The sum of all terms; parts that have no other half are added last, small ones first."""
        parts = [self.parts[key] for key in sorted(self.parts)]
        found = parts[0]
        for part in parts[1:]:
            found = found + part
        return found


def taken(X: Any, rows: np.ndarray) -> Any:
    """Some rows of X, where they are."""
    return X.taken(rows) if isinstance(X, DistantRows) else X[rows]
