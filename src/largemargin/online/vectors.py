"""The vectors of the stored examples, one a slot, dense or sparse; with a precomputed kernel their
columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.functions import Kernel, squared_norms


class Vectors:
    """Rows that are replaced in place, and their squared norms. Free slots keep what was in
    them.
    """

    def __init__(self, kernel: Kernel, dtype: np.dtype) -> None:
        self.kernel = kernel
        self.dtype = dtype
        self.rows: Any = None
        self.squares = np.zeros(0, dtype)

    def match(self, X: Any) -> Any:
        """X stored as the vectors are: sparse or dense, and of their type."""
        if self.rows is None or self.kernel.by_column:
            return X
        if sp.issparse(X) != sp.issparse(self.rows):
            X = sp.csr_array(X) if sp.issparse(self.rows) else X.toarray()
        return X.astype(self.rows.dtype, copy=False)

    def squares_of(self, X: Any) -> np.ndarray:
        """Squared norms, for the kernels that want them."""
        if not self.kernel.on_products:
            return np.zeros(X.shape[0], self.dtype)
        return squared_norms(X).astype(self.dtype)

    def first(self, top: int) -> tuple[Any, np.ndarray]:
        """The vectors in the first slots, and their squared norms."""
        return (None if self.rows is None else self.rows[:top]), self.squares[:top]

    def reserve(self, room: int) -> None:
        """Make room for so many slots."""
        squares = np.zeros(room, self.dtype)
        squares[: len(self.squares)] = self.squares[:room]
        self.squares = squares
        if self.rows is not None and not sp.issparse(self.rows):
            rows = np.zeros((room, self.rows.shape[1]), self.rows.dtype)
            rows[: len(self.rows)] = self.rows[:room]
            self.rows = rows

    def replace(self, slots: np.ndarray, rows: Any, squares: np.ndarray, top: int) -> None:
        """Put rows with these squared norms into slots, of which the first `top` are in use."""
        if not len(slots):
            return
        self.squares[slots] = squares
        if sp.issparse(rows):
            kept = rows[:0] if self.rows is None else self.rows
            source = np.arange(top)
            source[slots] = kept.shape[0] + np.arange(len(slots))
            self.rows = sp.csr_array(sp.vstack([kept, rows], format="csr")[source])
            return
        if self.rows is None:
            self.rows = np.zeros((len(self.squares), rows.shape[1]), rows.dtype)
        self.rows[slots] = rows

    def take(self, slots: np.ndarray) -> None:
        """Keep these slots only, in this order."""
        self.squares = self.squares[slots]
        self.rows = None if self.rows is None else self.rows[slots]

    def copy(self) -> Vectors:
        twin = Vectors(self.kernel, self.dtype)
        twin.rows = None if self.rows is None else self.rows.copy()
        twin.squares = self.squares.copy()
        return twin
