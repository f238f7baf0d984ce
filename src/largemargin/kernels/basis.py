"""The vectors that a model is expanded in, in arrays that grow at their end: models of a stream
append to them and never move the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.functions import Kernel, squared_norms
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.memory import lazily_paged

SLOTS = 512  # basis vectors per whole tile
CAPACITY_STEP = 64  # capacities of growing arrays are multiples of it


class Growing:
    """A one- or two-dimensional array with room to spare at its end; `values` is what was appended.

    >>> numbers = Growing(np.int64)
    >>> numbers.extend([1, 2, 3])
    >>> numbers.values
    array([1, 2, 3])
    """

    def __init__(self, dtype: Any, width: int | None = None) -> None:
        self._size = 0
        self._room = np.empty((0,) if width is None else (0, width), dtype)

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> np.ndarray:
        return self._room[: self._size]

    def extend(self, rows: Any) -> None:
        rows = np.asarray(rows, self._room.dtype)
        size = self._size + len(rows)
        if size > len(self._room):
            capacity = -(-max(size, 2 * self._size) // CAPACITY_STEP) * CAPACITY_STEP
            room = lazily_paged((capacity, *self._room.shape[1:]), self._room.dtype)
            room[: self._size] = self.values
            self._room = room
        self._room[self._size : size] = rows
        self._size = size

    def truncate(self, size: int) -> None:
        """Forget all but the first `size` rows."""
        self._size = size


class Basis:
    """The vectors that a model is expanded in, in order of arrival.

    For a precomputed kernel a vector is its column number.
    """

    def __init__(self, kernel: Kernel, dtype: np.dtype) -> None:
        self.kernel = kernel
        self.dtype = dtype
        self.sparse = False
        self._examples = Growing(np.int64)
        self._squares = Growing(dtype)
        self._dense: Growing | None = None
        self._csr: tuple[Growing, Growing, Growing] | None = None  # data, indices, ends of rows
        self._width = 0

    def __len__(self) -> int:
        return len(self._examples)

    @property
    def examples(self) -> np.ndarray:
        """The position of each slot's example in the data, or in the stream."""
        return self._examples.values

    @property
    def squares(self) -> np.ndarray:
        return self._squares.values

    @property
    def vectors(self) -> Any:
        """One row per slot; None as long as there is none."""
        return self._rows(0, len(self)) if len(self) else None

    def _rows(self, lo: int, hi: int) -> Any:
        if self._dense is not None:
            return self._dense.values[lo:hi]
        assert self._csr is not None
        data, indices, ends = self._csr
        start = ends.values[lo - 1] if lo else 0
        stop = ends.values[hi - 1]
        indptr = np.concatenate([[0], ends.values[lo:hi] - start])
        part = (data.values[start:stop], indices.values[start:stop], indptr)
        return sp.csr_array(part, shape=(hi - lo, self._width))

    def add(self, vectors: Matrix, examples: np.ndarray) -> None:
        """Give the next slots to these vectors."""
        if not len(examples):
            return
        if self.kernel.by_column:
            vectors = np.asarray(examples, np.int64)[:, None]
        if sp.issparse(vectors):
            self._add_sparse(vectors)
        else:
            if self._dense is None:
                self._dense = Growing(vectors.dtype, vectors.shape[1])
            self._dense.extend(vectors)
        by_norm = self.kernel.on_products
        self._squares.extend(squared_norms(vectors) if by_norm else np.zeros(len(examples)))
        self._examples.extend(examples)

    def _add_sparse(self, vectors: sp.csr_array) -> None:
        if self._csr is None:
            self.sparse = True
            self._width = vectors.shape[1]
            self._csr = Growing(vectors.dtype), Growing(np.int64), Growing(np.int64)
        data, indices, ends = self._csr
        ends.extend(vectors.indptr[1:] - vectors.indptr[0] + len(data))
        data.extend(vectors.data)
        indices.extend(vectors.indices)

    def match(self, X: Any) -> Any:
        """X stored as the vectors are: sparse or dense, and of their type."""
        if not len(self) or self.kernel.by_column:
            return X
        if sp.issparse(X) != self.sparse:
            X = sp.csr_array(X) if self.sparse else X.toarray()
        return X.astype(self.vectors.dtype, copy=False)

    def truncate(self, size: int) -> None:
        """Forget the vectors added since there were `size` of them."""
        if self._csr is not None:
            data, indices, ends = self._csr
            for part in (data, indices):
                part.truncate(int(ends.values[size - 1]) if size else 0)
            ends.truncate(size)
        for rows in (self._examples, self._squares, self._dense):
            if rows is not None:
                rows.truncate(size)

    def tile(self, k: int) -> tuple[Matrix, np.ndarray]:
        """The SLOTS vectors of a full tile and their squared norms."""
        lo, hi = k * SLOTS, (k + 1) * SLOTS
        return self._rows(lo, hi), self._squares.values[lo:hi]

    def take(self, slots: np.ndarray) -> tuple[Matrix, np.ndarray]:
        """The vectors in some slots, and their squared norms."""
        return self._rows(0, len(self))[slots], self._squares.values[slots]
