"""Kernel values of a whole block of the stream at once, computed ahead of the loop that needs them:
against the cache, against what has come into the cache since, and within the block.

While one block is learned from, the other threads compute the values of the next against the cache
as it is. When the block is done, those against the examples that it has left there are added: few,
since an example that is stored is often soon evicted. Values among the examples of a block need no
cache, so those of the block after the next are begun too: they are what the other threads do while
the cache is updated.

Threads run over panels of columns, whose shapes do not depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.choosing import FunctionKernel
from largemargin.kernels.engine import fill as fill_together
from largemargin.kernels.functions import Kernel, squared_norms
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.threads import Workers

LOOK_AHEAD = 320  # length of a block: longer ones spend more on values within than they gain
TASK = 6e7  # multiplications per task
TRANSFORM = 100  # cost of making an inner product a kernel value, in multiplications
# Number of blocks that hold values of each kind at a time. Buffers are used again in turn, since
# fresh memory would cost as much time as the values.
BUFFERS = (("within", 3), ("against", 2), ("since", 2))


def block_bytes(n: int, n_since: int, top: int, dtype: np.dtype) -> int:
    """Size of the kernel values of a block of n examples."""
    return n * (top + n_since + n) * dtype.itemsize


@dataclass
class PrefetchedBlock:
    """Rows start to stop of the stream, and their kernel values once the tasks are done.

    The values have one row per example.
    """

    start: int
    stop: int
    squares: np.ndarray  # squared norms
    own: np.ndarray  # k(x, x)
    within: np.ndarray  # one column per example of the block, of which those up to the row's count
    against: np.ndarray  # one column per slot, as the slots were when this was begun
    since: np.ndarray  # one column per example that has come into the cache since
    tasks: dict[Future[Any], Callable[[], None]] = field(default_factory=dict)
    # for the first slots, which column of `since` has come there, or -1
    arrivals: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def width(self) -> int:
        """Number of kernel values per example."""
        return int(self.against.shape[1] + self.since.shape[1] + self.within.shape[1])


class Prefetcher:
    """Goes along the rows of X, which have these `columns` in a precomputed kernel.

    If so asked, each kernel value is computed `apart`, see `fill_apart`.
    """

    def __init__(
        self, stored: StoredExamples, X: Matrix, columns: np.ndarray, team: Workers, apart: bool
    ) -> None:
        self.stored = stored
        self.X = X
        self.squares = stored.squares_of(X)
        self.columns = columns
        self._team = team
        self._values = fill_apart if apart else fill_together
        width = X.shape[1] if isinstance(X, np.ndarray) else X.nnz / max(X.shape[0], 1)
        self._area = int(TASK / (width + TRANSFORM))  # values per task
        self._next: PrefetchedBlock | None = None
        self._later: PrefetchedBlock | None = None
        self._buffers = {kind: [np.empty(0, stored.dtype)] * count for kind, count in BUFFERS}

    @property
    def waiting(self) -> int:
        """Number of examples whose values have been begun."""
        return 0 if self._next is None else len(self._next)

    def take(self, start: int, n: int, top: int) -> PrefetchedBlock:
        """The block of n rows from `start` on: that which was begun, or else a new one."""
        block, self._next = self._next, None
        if block is None:
            self.forget()
            block = self._open(start, n)
            self._begin(block, top)
            self.finish(block)
        return block

    def begin(self, after: PrefetchedBlock, n: int, top: int, n_later: int) -> None:
        """Begin with the values of the n rows after a block, against the cache as it is, and with
        those within the n_later rows that come next.
        """
        block = self._later or self._open(after.stop, n)
        self._begin(block, top)
        self._next = block
        self._later = self._open(block.stop, n_later) if n_later else None

    def finish(self, block: PrefetchedBlock | None = None) -> None:
        """Wait for the values of a block, by default of that which was begun."""
        block = self._next if block is None else block
        if block is not None:
            for task in block.tasks:
                self._team.wait(block.tasks, task)
            block.tasks.clear()  # they refer to the block, which would outlive its use

    def arrived(self, slots: np.ndarray, rows: Matrix, squares: np.ndarray) -> None:
        """Add the values of the next block against these rows, with their squared norms, which have
        come into these slots since it was begun.
        """
        block = self._next
        if block is None or not len(slots):
            return
        n, width = len(block), len(slots)
        block.since = self._buffer("since", n * width).reshape(n, width)
        block.arrivals = np.full(slots[-1] + 1, -1)
        block.arrivals[slots] = np.arange(width)

        def fill(block: PrefetchedBlock, part: slice) -> None:
            self._fill(block, (rows[part], squares[part]), block.since[:, part])

        self._submit(block, fill, width, self._area)
        self.finish()

    def forget(self) -> None:
        """Drop what was begun."""
        for block in (self._next, self._later):
            for task in block.tasks if block else ():
                if not task.cancel():  # it is running, and writes into a buffer that will be reused
                    task.result()
        self._next = self._later = None

    def rows_of(self, block: PrefetchedBlock, places: np.ndarray) -> tuple[Matrix, np.ndarray]:
        """Examples of the block as they are stored: rows, or with a precomputed kernel the numbers
        of their columns, and their squared norms.
        """
        rows, squares = self._as_stored(block.start, block.stop)
        return rows[places], squares[places]

    def _as_stored(self, start: int, stop: int) -> tuple[Matrix, np.ndarray]:
        part = slice(start, stop)
        rows = self.columns[part, None] if self.stored.kernel.by_column else self.X[part]
        return rows, self.squares[part]

    def _open(self, start: int, n: int) -> PrefetchedBlock:
        """Begin with the values within a block of n rows, which need no cache."""
        within = self._buffer("within", n * n).reshape(n, n)
        squares = self.squares[start : start + n]
        none = np.empty((n, 0), self.stored.dtype)
        block = PrefetchedBlock(start, start + n, squares, np.empty(n), within, none, none)
        self._submit(block, self._fill_within, n, min(self._area, n * n) // 2)
        return block

    def _begin(self, block: PrefetchedBlock, top: int) -> None:
        """Begin with the values of a block against the cache as it is."""
        n = len(block)
        block.against = self._buffer("against", n * top).reshape(n, top)
        self._submit(block, self._fill_against(top), top, self._area)

    def _buffer(self, kind: str, size: int) -> np.ndarray:
        """The least recently used (LRU) buffer of a kind, whose block is done."""
        buffers = self._buffers[kind]
        buffer = buffers.pop(0)
        buffers.append(buffer if len(buffer) >= size else np.empty(size, buffer.dtype))
        return buffers[-1][:size]

    def _submit(
        self,
        block: PrefetchedBlock,
        fill: Callable[[PrefetchedBlock, slice], None],
        width: int,
        area: int,
    ) -> None:
        for part in _parts(width, max(1, area // len(block))):
            work = partial(fill, block, part)
            block.tasks[self._team.submit(work)] = work

    def _fill_against(self, top: int) -> Callable[[PrefetchedBlock, slice], None]:
        cached, squares = self.stored.first(top)

        def fill(block: PrefetchedBlock, part: slice) -> None:
            self._fill(block, (cached[part], squares[part]), block.against[:, part])

        return fill

    def _fill_within(self, block: PrefetchedBlock, part: slice) -> None:
        """Values against the examples of this part, for the rows from its first on."""
        start, kernel = block.start, self.stored.kernel
        lo, hi = start + part.start, start + part.stop
        self._fill(block, self._as_stored(lo, hi), block.within[part.start :, part])
        if kernel.by_column or isinstance(kernel, FunctionKernel):
            block.own[part] = np.diagonal(block.within)[part]
        else:
            block.own[part] = kernel.diag(self.X[lo:hi])

    def _fill(
        self, block: PrefetchedBlock, stored: tuple[Matrix, np.ndarray], out: np.ndarray
    ) -> None:
        """The values of the last rows of the block, as many as `out` has, against examples that are
        stored or may come to be.
        """
        kernel, dtype = self.stored.kernel, self.stored.dtype
        n = len(out)
        rows = (self.X[block.stop - n : block.stop], block.squares[len(block) - n :])
        if kernel.by_column:  # the columns of these rows
            out[:] = self._values(kernel, dtype, rows, stored, np.empty(out.shape[::-1], dtype)).T
        else:
            self._values(kernel, dtype, stored, rows, out)


def _parts(width: int, longest: int) -> Iterator[slice]:
    """Cut `width` columns into as few parts as possible, of nearly equal lengths."""
    count = -(-width // longest)
    for i in range(count):
        yield slice(width * i // count, width * (i + 1) // count)


class StoredExamples:
    """The stored examples, one per slot: their rows, dense or sparse, their squared norms, and
    their numbers, which are positions in the training data or in the stream.

    With a precomputed kernel a row is the number of the example's column. Rows are replaced in
    place; a free slot keeps what was in it.
    """

    def __init__(self, kernel: Kernel, dtype: np.dtype) -> None:
        self.kernel = kernel
        self.dtype = dtype
        self.rows: Any = None
        self.squares = np.zeros(0, dtype)
        self.numbers = np.zeros(0, np.int64)

    def match(self, X: Matrix) -> Matrix:
        """X in the form of the stored rows: sparse or dense, and of their type."""
        if self.rows is None or self.kernel.by_column:
            return X
        if sp.issparse(X) != sp.issparse(self.rows):
            X = sp.csr_array(X) if isinstance(X, np.ndarray) else X.toarray()
        return X.astype(self.rows.dtype, copy=False)

    def squares_of(self, X: Matrix) -> np.ndarray:
        """Squared norms, for the kernels that want them."""
        if not self.kernel.on_products:
            return np.zeros(X.shape[0], self.dtype)
        return squared_norms(X).astype(self.dtype)

    def first(self, top: int) -> tuple[Any, np.ndarray]:
        """The rows in the first slots, and their squared norms."""
        return (None if self.rows is None else self.rows[:top]), self.squares[:top]

    def reserve(self, n_slots: int) -> None:
        """Make room for so many slots."""
        squares = np.zeros(n_slots, self.dtype)
        squares[: len(self.squares)] = self.squares[:n_slots]
        self.squares = squares
        numbers = np.zeros(n_slots, np.int64)
        numbers[: len(self.numbers)] = self.numbers[:n_slots]
        self.numbers = numbers
        if self.rows is not None and not sp.issparse(self.rows):
            rows = np.zeros((n_slots, self.rows.shape[1]), self.rows.dtype)
            rows[: len(self.rows)] = self.rows[:n_slots]
            self.rows = rows

    def replace(
        self, slots: np.ndarray, rows: Matrix, squares: np.ndarray, numbers: np.ndarray, top: int
    ) -> None:
        """Put rows with these squared norms and numbers into slots; the first `top` are in use."""
        if not len(slots):
            return
        self.squares[slots], self.numbers[slots] = squares, numbers
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
        self.squares, self.numbers = self.squares[slots], self.numbers[slots]
        self.rows = None if self.rows is None else self.rows[slots]

    def copy(self) -> StoredExamples:
        twin = StoredExamples(self.kernel, self.dtype)
        twin.rows = None if self.rows is None else self.rows.copy()
        twin.squares, twin.numbers = self.squares.copy(), self.numbers.copy()
        return twin


def fill_apart(
    kernel: Kernel,
    dtype: np.dtype,
    rows: tuple[Matrix, np.ndarray],
    vectors: tuple[Matrix, np.ndarray],
    out: np.ndarray,
) -> np.ndarray:
    """Kernel values each computed by itself, so that its bits depend on the two examples alone.

    A matrix product is faster, but the last bit of a value in it depends on the shape of the
    product. Where a stream comes in pieces of any size, and must end in the same model to the last
    bit, an inner product is a loop of its own: over the columns, or over the entries of the example
    that came first.

    The arguments are those of `engine.fill`; the example in `rows` came before that in `vectors`.
    """
    if not kernel.on_products:  # these compute every value by itself anyway
        return fill_together(kernel, dtype, rows, vectors, out)
    from largemargin.online.compiled import dense_products, sparse_products

    (X, X_squares), (V, V_squares) = rows, vectors
    if isinstance(V, np.ndarray) or isinstance(X, np.ndarray):
        dense_products(V, X, out)
    else:
        scratch = np.zeros(X.shape[1], out.dtype)
        sparse_products(V.data, V.indices, V.indptr, X.data, X.indices, X.indptr, scratch, out)
    return kernel.from_products(out, V_squares, X_squares)
