"""The one place where kernel values are computed: tiles, threads, a cache, one memory budget.

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
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.growing import Growing
from largemargin.kernels import Kernel, squared_norms
from largemargin.memory import untouched

# measured: tiles of this shape run as fast as one large product, a quarter of it a tenth slower
ROWS = 1024
SLOTS = 512
SMALL_PROBLEM = 8192  # rows up to which kernel values are float64 by default
UNIT = 16  # widths of products are multiples of it; narrower ones waste most of their time
DENSE_WIDTH = 1 << 15  # a sparse tile of basis vectors this wide is multiplied as a dense one
PACKED = 0.9  # the share of non-zero columns up to which dropping the others pays
IN_CACHE = 1 << 16  # values transformed at a time
# allocated at a time: in small pieces, page faults cost as much as the products
SLAB_BYTES = 1 << 28


def choose_dtype(precision: str, small: bool, kernel: Kernel, X: Any) -> np.dtype:
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


def largest_square(X: Any) -> float:
    return float(squared_norms(X).max(initial=0.0))


def largest_value(dtype: np.dtype) -> float:
    """What kernel values may reach: in float64, sums of many of them must still be finite."""
    return 1e290 if dtype == np.float64 else float(np.finfo(np.float32).max)


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


def prepare(X: Any, kernel: Kernel, dtype: np.dtype) -> Any:
    """X as the engine reads it: contiguous rows or canonical CSR, of `dtype` if BLAS is to multiply
    them.
    """
    if not kernel.on_products:
        dtype = X.dtype
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=dtype)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X
    return np.ascontiguousarray(X, dtype=dtype)


class Basis:
    """The vectors that a model is expanded in, in the order in which they came, padded to whole
    tiles.

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
        """One row a slot; None as long as there is none."""
        return self._rows(0, len(self)) if len(self) else None

    def _rows(self, lo: int, hi: int) -> Any:
        if self._dense is not None:
            return self._dense.padded[lo:hi]
        assert self._csr is not None
        data, indices, ends = self._csr
        start = ends.values[lo - 1] if lo else 0
        stop = ends.values[hi - 1]
        indptr = np.concatenate([[0], ends.values[lo:hi] - start])
        part = (data.values[start:stop], indices.values[start:stop], indptr)
        return sp.csr_array(part, shape=(hi - lo, self._width))

    def add(self, vectors: Any, examples: np.ndarray) -> None:
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

    def _add_sparse(self, vectors: Any) -> None:
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

    def tile(self, k: int) -> tuple[Any, np.ndarray]:
        """The SLOTS vectors of a full tile and their squared norms."""
        lo, hi = k * SLOTS, (k + 1) * SLOTS
        return self._rows(lo, hi), self._squares.values[lo:hi]

    def take(self, slots: np.ndarray) -> tuple[Any, np.ndarray]:
        """The vectors in some slots, and their squared norms."""
        return self._rows(0, len(self))[slots], self._squares.values[slots]


class TileCache:
    """Tiles kept within a number of bytes. What is in it stays: the solvers sweep over the data in
    cycles, where dropping the least recently used tile drops the one that is needed next."""

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
                self._free = list(untouched((count, *self._shape), self._dtype))[::-1]
            return self._free.pop() if self._free else None

    def put(self, key: tuple[int, int], tile: np.ndarray) -> None:
        self._tiles[key] = tile


def tile_width(n_rows: int) -> int:
    """How many of so many rows are in a tile."""
    return min(ROWS, -(-n_rows // UNIT) * UNIT)


def fill(
    kernel: Kernel,
    dtype: np.dtype,
    rows: tuple[Any, np.ndarray],
    vectors: tuple[Any, np.ndarray],
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
            from largemargin._loops import move_up

            move_up(out, only)
            out, V_squares = out[: len(only)], V_squares[only]
        step = max(1, IN_CACHE // out.shape[1])
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


class Gram:
    """Kernel values between the rows of X and a basis, a tile at a time.

    Parameters
    ----------
    cache_bytes : int
        What tiles may be kept within; with 0 none is.
    """

    def __init__(self, X: Any, basis: Basis, cache_bytes: int = 0) -> None:
        self.X = X
        self.basis = basis
        self.kernel = basis.kernel
        self.dtype = basis.dtype
        self.n_rows = X.shape[0]
        self.width = tile_width(self.n_rows)
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

    def rows(self, r: int) -> tuple[Any, np.ndarray]:
        """The examples of row tile r, padded with the last one, and their squared norms."""
        return self.examples(r * self.width, self.width)

    def packed(self, r: int, X: Any) -> tuple[Any, np.ndarray | None]:
        """The rows X of row tile r without the columns that are zero in all of them, and the
        columns left.

        Such columns add nothing to an inner product; a thousand images, say, leave a quarter of
        their pixels blank. The columns are None, and X whole, where dropping them does not pay.
        """
        if sp.issparse(X) or not self.kernel.on_products:
            return X, None
        if r not in self._columns:
            self._columns[r] = np.flatnonzero(X.any(axis=0))
        columns = self._columns[r]
        if len(columns) > PACKED * X.shape[1]:
            return X, None
        return np.take(X, columns, axis=1), columns

    def examples(self, first: int, width: int) -> tuple[Any, np.ndarray]:
        """`width` examples from `first` on, padded with the last one, and their squared norms."""
        rows: Any = slice(first, first + width)
        if first + width > self.n_rows:
            rows = np.minimum(np.arange(first, first + width), self.n_rows - 1)
        return self.X[rows], self._squares[rows]

    def vectors(self, rows: np.ndarray, positions: np.ndarray) -> tuple[Any, np.ndarray]:
        """Some examples as if they were of the basis: vectors and their squared norms."""
        return positions[rows, None] if self.kernel.by_column else self.X[rows], self._squares[rows]

    def fill(
        self, rows: tuple[Any, np.ndarray], vectors: tuple[Any, np.ndarray], out: np.ndarray
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
        """Room of this thread's own, for values of up to SLOTS slots that are used at once and not
        kept.
        """
        if not hasattr(self._scratch, "tile"):
            self._scratch.tile = np.empty((SLOTS, self.width), self.dtype)
        return self._scratch.tile[:n_slots]


def _sparse_products(V: Any, X: Any) -> np.ndarray:
    """Inner products of the rows of two CSR matrices. Each is summed in the order of X's own
    entries.
    """
    if V.shape[1] <= DENSE_WIDTH:
        return (X @ np.ascontiguousarray(V.toarray().T)).T
    return (X @ V.T).toarray().T
