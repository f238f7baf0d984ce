"""Kernel values between the rows of X and a basis, a tile at a time, some of them kept.

Kernel values are taken between examples (the rows of X) and a **basis**, the examples that a
model is expanded in, numbered by **slot** in the order in which they came. They are computed in
tiles of SLOTS x ROWS values, a row of a tile holding one basis vector against ROWS consecutive
examples: one single-threaded matrix product and an in-place transform while the tile is in cache.

Why a tile that is kept has one shape: the last bit of a float32 product depends on the shape of the
product and on the place in it, since BLAS treats edges differently. The value of (example i, slot
s) that is kept always comes from place (s % SLOTS, i % ROWS) of tile (i // ROWS, s // SLOTS), so it
is the same bits however many threads there are and whether it was still in the cache or computed
again. Values that are used once and dropped may have any shape that follows from the data alone.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.basis import SLOTS, Basis
from largemargin.kernels.engine import PACKED_SHARE, check_overflow, fill
from largemargin.kernels.functions import squared_norms
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.memory import lazily_paged

# Rows of X per tile. Measured: tiles of SLOTS x ROWS run as fast as one large product, tiles of a
# quarter of the size a tenth slower.
ROWS = 1024
WIDTH_STEP = 16  # widths of products are multiples of it; narrower ones waste most of their time
# Bytes of tiles that are allocated together: in small pieces, page faults cost as much as products.
SLAB_BYTES = 1 << 28


class TileCache:
    """The kernel cache of the perceptron: tiles kept within a number of bytes.

    It is no LRU cache, what is in it stays: the solvers sweep over the data in cycles, where the
    least recently used tile is the one that is needed next.
    """

    def __init__(self, budget: int, shape: tuple[int, int], dtype: np.dtype) -> None:
        self._shape = shape
        self._dtype = dtype
        self._tile_bytes = shape[0] * shape[1] * dtype.itemsize
        self._unallocated = budget // self._tile_bytes
        self._free: list[np.ndarray] = []
        self._tiles: dict[tuple[int, int], np.ndarray] = {}
        self._lock = threading.Lock()

    def get(self, key: tuple[int, int]) -> np.ndarray | None:
        return self._tiles.get(key)

    def claim(self) -> np.ndarray | None:
        """Room for one more tile, or None when the budget is used up."""
        with self._lock:
            if not self._free and self._unallocated:
                count = min(max(1, SLAB_BYTES // self._tile_bytes), self._unallocated)
                self._unallocated -= count
                self._free = list(lazily_paged((count, *self._shape), self._dtype))[::-1]
            return self._free.pop() if self._free else None

    def put(self, key: tuple[int, int], tile: np.ndarray) -> None:
        self._tiles[key] = tile


def tile_width(n_rows: int) -> int:
    """How many of so many rows are in a tile."""
    return min(ROWS, -(-n_rows // WIDTH_STEP) * WIDTH_STEP)


class Gram:
    """Kernel values between the rows of X and a basis, a tile at a time.

    Parameters
    ----------
    cache_bytes : int
        What tiles may be kept within; with 0 none is.
    width : int, optional
        Of a tile; if not given, that of the tiles of so many rows.
    """

    def __init__(
        self, X: Matrix, basis: Basis, cache_bytes: int = 0, width: int | None = None
    ) -> None:
        self.X = X
        self.basis = basis
        self.kernel = basis.kernel
        self.dtype = basis.dtype
        self.n_rows = X.shape[0]
        self.width = tile_width(self.n_rows) if width is None else width
        self.n_tiles = -(-self.n_rows // self.width)
        by_norm = self.kernel.on_products
        with np.errstate(over="ignore"):  # too large for the type is infinite, and refused as such
            self._squares = (
                squared_norms(X).astype(self.dtype) if by_norm else np.zeros(self.n_rows)
            )
        self._columns: dict[int, np.ndarray] = {}
        self._cache = TileCache(cache_bytes, (SLOTS, self.width), self.dtype)
        self._scratch = threading.local()

    def check_overflow(self) -> None:
        """Refuse rows that the kernel cannot be computed on."""
        if self.kernel.on_products:
            check_overflow(self.kernel, self.dtype, float(self._squares.max(initial=0.0)))

    def rows(self, r: int) -> tuple[Matrix, np.ndarray]:
        """The examples of row tile r, padded with the last one, and their squared norms."""
        return self.examples(r * self.width, self.width)

    def packed(self, r: int, X: Matrix) -> tuple[Matrix, np.ndarray | None]:
        """The rows X of row tile r without columns that are zero in all, and the columns left.

        Such columns add nothing to an inner product; a thousand images, say, leave a quarter of
        their pixels blank. The columns are None, and X whole, where dropping them does not pay.
        """
        if sp.issparse(X) or not self.kernel.on_products:
            return X, None
        if r not in self._columns:
            self._columns[r] = np.flatnonzero(X.any(axis=0))
        columns = self._columns[r]
        if len(columns) > PACKED_SHARE * X.shape[1]:
            return X, None
        return np.take(X, columns, axis=1), columns

    def examples(self, first: int, width: int) -> tuple[Matrix, np.ndarray]:
        """`width` examples from `first` on, padded with the last one, and their squared norms."""
        rows: Any = slice(first, first + width)
        if first + width > self.n_rows:
            rows = np.minimum(np.arange(first, first + width), self.n_rows - 1)
        return self.X[rows], self._squares[rows]

    def vectors(self, rows: np.ndarray, positions: np.ndarray) -> tuple[Matrix, np.ndarray]:
        """Some examples as if they were of the basis: vectors and their squared norms."""
        return positions[rows, None] if self.kernel.by_column else self.X[rows], self._squares[rows]

    def fill(
        self, rows: tuple[Matrix, np.ndarray], vectors: tuple[Matrix, np.ndarray], out: np.ndarray
    ) -> np.ndarray:
        """Kernel values of vectors (down) against rows (across), into `out`."""
        return fill(self.kernel, self.dtype, rows, vectors, out)

    def tile(self, r: int, k: int) -> np.ndarray:
        """Kernel values of the full slot tile k against row tile r, kept if there is room."""
        tile = self._cache.get((r, k))
        if tile is None:
            tile = self._cache.claim()
            kept = tile is not None
            tile = self.spare(SLOTS) if tile is None else tile
            self.fill(self.rows(r), self.basis.tile(k), tile)
            if kept:
                self._cache.put((r, k), tile)
        return tile

    def spare(self, n_slots: int) -> np.ndarray:
        """Room of this thread's own for values of up to SLOTS slots that are not kept."""
        if not hasattr(self._scratch, "tile"):
            self._scratch.tile = np.empty((SLOTS, self.width), self.dtype)
        tile: np.ndarray = self._scratch.tile
        return tile[:n_slots]
