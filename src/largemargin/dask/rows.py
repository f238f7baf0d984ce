"""The rows of a collection on the workers of a cluster, standing where a matrix would.

The problem, as in `svm.chunking`: b and its gradient, whose changes are

    grad_j += sum over i that changed of (change of b_i) k(x_i, x_j)      for all columns j

The client is the coordinator. It has the coefficients, labels and gradients, which are O(n)
numbers, and the vectors that ever were in a working set or a pool. A worker has some of the rows,
which are its columns. In a round the coordinator selects and solves a working set, or a pool of
some ten thousand columns, by itself; what changed is sent to all workers:

    down   for each vector that changed: 4 bytes of its number, 8 bytes for each problem, and, once
           per worker that does not own it, the vector itself
    up     8 bytes for each column and problem: the sums above; and, once, the vectors that were
           selected

Each worker computes the values of these vectors against its columns, uses them and forgets them. So
workers hold no state that is not data: one that dies is replaced, and nothing is replayed. A sum
has one owner and a fixed order, and a kernel value the same bits wherever it is computed, so the
model does not depend on the number of workers, their threads, or how the rows were shared out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any
from weakref import WeakMethod

import numpy as np

from largemargin.dask import passes, shards
from largemargin.dask.cluster import Cluster
from largemargin.dask.shards import Ask, News, Way
from largemargin.kernels.basis import Basis
from largemargin.kernels.engine import fill
from largemargin.kernels.functions import Kernel, squared_norms
from largemargin.kernels.fused import (
    MOST_COLUMNS,
    USUAL_COST,
    Columns,
    FusedRows,
    entries_per_row,
    form_of,
    has_zeros,
)
from largemargin.runtime.arrays import DistantRows, Matrix
from largemargin.runtime.threads import Workers

MOST_LOCAL = 1 << 15  # columns of a pool that the coordinator has by itself


class Store:
    """Rows of a type that the coordinator has, and which of them each shard has."""

    def __init__(self, n: int, dtype: str, n_shards: int) -> None:
        self.dtype = dtype
        self.slot_of = np.full(n, -1, np.int32)
        self.basis = Basis(Kernel(), np.dtype(dtype))
        self.sent = [np.zeros(0, bool) for _ in range(n_shards)]
        self.lives = [0] * n_shards

    def add(self, rows: np.ndarray, vectors: Matrix) -> None:
        self.slot_of[rows] = np.arange(len(self.basis), len(self.basis) + len(rows))
        self.basis.add(vectors, rows)


@dataclass(frozen=True)
class Fetch:
    """Rows that the coordinator wants, in ascending order."""

    dtype: str
    rows: np.ndarray


@dataclass(frozen=True)
class Sums:
    """coefs @ K between vectors, by their slots, and the rows that are `members`, in ascending
    order; `key` tells sets of members apart.
    """

    way: Way
    key: bytes
    members: np.ndarray
    slots: np.ndarray
    coefs: np.ndarray


class Asking:
    """Sums that several threads ask for, in one round once all of them wait."""

    def __init__(self, answer: Callable[[list[Any]], list[Any]]) -> None:
        self._answer = WeakMethod(answer)  # its object has this one, and must go when its fit does
        self._there = threading.Condition()
        self._running = 1
        self._asked: list[tuple[Any, list[Any]]] = []

    def __call__(self, what: Any) -> Any:
        found: list[Any] = []
        with self._there:
            self._asked.append((what, found))
            self._go()
            while not found:
                self._there.wait()
        if isinstance(found[0], BaseException):
            raise found[0]
        return found[0]

    def join(self, count: int) -> None:
        with self._there:
            self._running += count
            self._go()

    def _go(self) -> None:
        """Ask, if there is nobody left who could join in."""
        if not self._asked or len(self._asked) < self._running:
            return
        asked, self._asked = self._asked, []
        try:
            answer = self._answer()
            assert answer is not None
            answers = answer([what for what, _ in asked])
        except BaseException as error:
            answers = [error] * len(asked)
        for (_, found), answer in zip(asked, answers, strict=True):
            found.append(answer)
        self._there.notify_all()


class Shared:
    """What all views of the same rows have in common."""

    def __init__(self, cluster: Cluster, n: int, width: int, sparse: bool) -> None:
        self.cluster, self.n, self.width, self.sparse = cluster, n, width, sparse
        self._ranges = [shard.rows for shard in cluster.shards]
        self.stores: dict[str, Store] = {}
        self.known: dict[tuple[str, str], np.ndarray] = {}  # what was computed by rows
        self.ask = Asking(self._answered)
        self._adding = threading.Lock()

    def store(self, dtype: str) -> Store:
        with self._adding:  # problems that run together ask for the same one
            if dtype not in self.stores:
                self.stores[dtype] = Store(self.n, dtype, len(self.cluster))
            return self.stores[dtype]

    def vectors(self, dtype: str, rows: np.ndarray) -> np.ndarray:
        """The slots of rows in the store, after those that are not there were fetched."""
        store = self.store(dtype)
        missing = np.unique(rows[store.slot_of[rows] < 0])
        if len(missing):
            found = self.ask(Fetch(dtype, missing))
            with self._adding:
                new = store.slot_of[missing] < 0  # another thread may have been faster
                store.add(missing[new], found[new])
        return np.asarray(store.slot_of[rows])

    def _answered(self, asked: list[Fetch | Sums]) -> list[Any]:
        """All that is asked for, in one round: one task per worker that has some of it."""
        sums = [one for one in asked if isinstance(one, Sums)]
        fetches = [one for one in asked if isinstance(one, Fetch)]
        parts = [
            [slice(*np.searchsorted(one.rows, (first, end))) for first, end in self._ranges]
            for one in fetches
        ]
        dtypes = sorted({one.way.of_vectors for one in sums})

        def arguments(k: int) -> tuple[list[News], list[Ask], list[tuple[str, np.ndarray]]]:
            first, end = self._ranges[k]
            asks = [
                Ask(one.way, one.key, np.packbits(one.members[first:end]), one.slots, one.coefs)
                for one in sums
            ]
            wanted = [
                (one.dtype, (one.rows[part[k]] - first).astype(np.int32))
                for one, part in zip(fetches, parts, strict=True)
            ]
            news = [
                self._news(k, dtype, [one.slots for one in sums if one.way.of_vectors == dtype])
                for dtype in dtypes
            ]
            return news, asks, wanted

        only = [
            k
            for k in range(len(self.cluster))
            if sums or any(part[k].stop > part[k].start for part in parts)
        ]
        what = "update" if sums else "candidates"
        found = self.cluster.ask(what, shards.answer, arguments, only)
        for k in only:
            first, end = self._ranges[k]
            self.cluster.shards[k].stats.values += sum(
                len(one.slots) * int(one.members[first:end].sum()) for one in sums
            )
        columns = [np.concatenate([one[p] for one in found], axis=1) for p in range(len(sums))]
        rows = [shards.stacked([one[len(sums) + p] for one in found]) for p in range(len(fetches))]
        return [(columns if isinstance(one, Sums) else rows).pop(0) for one in asked]

    def _news(self, k: int, dtype: str, slots: Sequence[np.ndarray]) -> News:
        """What shard k must be sent before it can be asked for sums with some vectors."""
        store, shard = self.stores[dtype], self.cluster.shards[k]
        if store.lives[k] != shard.life:
            store.sent[k], store.lives[k] = np.zeros(0, bool), shard.life
        sent = np.zeros(len(store.basis), bool)
        sent[: len(store.sent[k])] = store.sent[k]
        wanted = np.unique(np.concatenate(slots))
        wanted = wanted[~sent[wanted]]
        rows = store.basis.examples[wanted]
        first, end = shard.rows
        mine = (first <= rows) & (rows < end)
        known = int(sent.sum())
        sent[wanted] = True
        store.sent[k] = sent
        others = wanted[~mine]
        shard.stats.vectors_sent += len(others)
        matrix = store.basis.take(others)[0] if len(others) else np.empty((0, self.width))
        return News(
            dtype, known, np.concatenate([others, wanted[mine]]).astype(np.int32),
            (rows[mine] - first).astype(np.int32), matrix,
        )  # fmt: skip


class ShardedRows(DistantRows):
    """A matrix on a cluster; `rows` are those of its rows that it has, if not all of them."""

    def __init__(self, shared: Shared, dtype: Any, rows: np.ndarray | None = None) -> None:
        self._shared, self._rows = shared, rows
        self.dtype = np.dtype(dtype)
        self.shape = shared.n if rows is None else len(rows), shared.width

    @property
    def cluster(self) -> Cluster:
        return self._shared.cluster

    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """What rows are called on the cluster."""
        return rows if self._rows is None else self._rows[rows]

    def by_rows(
        self, function: Callable[..., np.ndarray], *args: Any, beside: Sequence[np.ndarray] = ()
    ) -> np.ndarray:
        shared = self._shared
        wanted = passes.Pass(self.dtype.name, function, tuple(beside), args)
        if beside or any(isinstance(arg, np.ndarray) for arg in args):
            return passes.by_rows(shared.cluster, wanted, self._rows)
        key = self.dtype.name, f"{function.__module__}.{function.__qualname__}{args!r}"
        if key not in shared.known:
            shared.known[key] = passes.by_rows(shared.cluster, wanted)
        found = shared.known[key]
        return found if self._rows is None else found[self._rows]

    def totals(
        self, function: Callable[..., np.ndarray], *args: Any, beside: Sequence[np.ndarray] = ()
    ) -> np.ndarray:
        wanted = passes.Pass(self.dtype.name, function, tuple(beside), args)
        return passes.totals(self._shared.cluster, wanted, self._rows)

    def astype(self, dtype: Any) -> ShardedRows:
        return ShardedRows(self._shared, dtype, self._rows)

    def taken(self, rows: np.ndarray) -> ShardedRows:
        return ShardedRows(self._shared, self.dtype, self.numbers(rows))

    def __getitem__(self, rows: Any) -> Any:
        at = self.numbers(np.arange(self.shape[0])[rows])
        store = self._shared.store(self.dtype.name)
        if (store.slot_of[at] >= 0).all():
            return store.basis.take(store.slot_of[at])[0]
        rows, place = np.unique(at, return_inverse=True)
        return self._shared.ask(Fetch(self.dtype.name, rows))[place]

    def fused(self, kernel: Kernel, dtype: np.dtype, team: Workers) -> ShardedKernel:
        return ShardedKernel(self, kernel, dtype, team)

    def together(self, work: Callable[[Any], Any], items: Iterable[Any]) -> None:
        items = list(items)
        ask, errors = self._shared.ask, []
        if len(items) == 1:
            work(items[0])
            return

        def run(item: Any) -> None:
            try:
                work(item)
            except BaseException as error:
                errors.append(error)
            finally:
                ask.join(-1)

        ask.join(len(items) - 1)  # this thread waits, and asks for nothing
        threads = [threading.Thread(target=run, args=(item,), daemon=True) for item in items]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ask.join(1)
        if errors:
            raise errors[0]


class ShardedKernel:
    """What `FusedRows` is of a matrix: sums over all rows come from the workers, those over a pool
    and the corner among a few examples are computed here.
    """

    def __init__(self, rows: ShardedRows, kernel: Kernel, dtype: np.dtype, team: Workers) -> None:
        self.rows, self.kernel, self.team = rows, kernel, team
        shared = rows._shared
        if not kernel.on_products:
            dtype = rows.dtype
        self.dtype = np.dtype(dtype)
        self._is_fused = form_of(kernel) is not None and (
            not shared.sparse or shared.width <= MOST_COLUMNS
        )
        if self._is_fused and not kernel.on_products:
            self.dtype = np.dtype(np.float64)
        self.width = 1
        if self._is_fused:
            from largemargin.kernels.simd import lanes_of

            self.width = 2 * lanes_of(self.dtype)

    @cached_property
    def is_kept(self) -> bool:
        """Whether a value is dearer to compute than to keep."""
        return not self._is_fused or entries_per_row(self.rows) > USUAL_COST

    @property
    def has_pools(self) -> bool:
        """Whether a part of the columns is better solved here: what workers keep is not here."""
        return not self.is_kept

    @cached_property
    def zeros(self) -> bool:
        return self._is_fused and has_zeros(self.kernel, self.rows)

    def way(self, vectors: str) -> Way:
        rows = self.rows.dtype.name
        return Way(
            self.kernel, self.dtype.name, rows, vectors, self._is_fused, self.zeros,
            kept=self.is_kept and rows == vectors == self.dtype.name,
        )  # fmt: skip

    def vectors(self, rows: np.ndarray) -> ShardedVectors:
        return ShardedVectors(self, rows)

    def columns(self, rows: np.ndarray) -> ShardedColumns:
        return ShardedColumns(self, rows)

    def pool(self, rows: np.ndarray) -> LocalColumns | ShardedColumns:
        if len(rows) > MOST_LOCAL:
            return ShardedColumns(self, rows)
        return LocalColumns(self, rows)

    def local(self, rows: np.ndarray) -> Any:
        """Some rows here, for the compiled loops or as a matrix."""
        shared, name = self.rows._shared, self.rows.dtype.name
        slots = shared.vectors(name, self.rows.numbers(rows))
        matrix = shared.store(name).basis.take(slots)[0]
        if not self._is_fused:
            return matrix
        return FusedRows(self.kernel, matrix, self.team, self.dtype, zeros=self.zeros)

    def corner(self, rows: np.ndarray, room: np.ndarray | None = None) -> np.ndarray:
        if self._is_fused:
            return np.asarray(self.local(rows).corner(np.arange(len(rows)), room))
        matrix = self.local(rows)
        return _values(self, matrix, matrix)


class ShardedVectors:
    """Some rows as vectors of sums."""

    def __init__(self, of: ShardedKernel, rows: np.ndarray) -> None:
        self.of, self._rows = of, rows

    @cached_property
    def slots(self) -> np.ndarray:
        rows = self.of.rows
        return rows._shared.vectors(rows.dtype.name, rows.numbers(self._rows))

    @cached_property
    def here(self) -> Any:
        """The vectors in the memory of this process."""
        local = self.of.local(self._rows)
        return local.vectors(np.arange(len(self._rows))) if self.of._is_fused else local


class ShardedColumns:
    """Columns of kernel values on the workers."""

    def __init__(self, of: ShardedKernel, rows: np.ndarray) -> None:
        self._of = of
        at = of.rows.numbers(rows)
        self._order = np.argsort(at, kind="stable")
        self._members = np.zeros(of.rows._shared.n, bool)
        self._members[at] = True
        self._key = blake2b(np.packbits(self._members).tobytes(), digest_size=16).digest()

    def sums(self, vectors: ShardedVectors, coefs: np.ndarray) -> np.ndarray:
        way = self._of.way(vectors.of.rows.dtype.name)
        slots = vectors.slots
        found = self._of.rows._shared.ask(
            Sums(way, self._key, self._members, slots, np.ascontiguousarray(coefs))
        )
        out = np.empty((len(coefs), len(self._order)))
        out[:, self._order] = found
        return out


class LocalColumns:
    """Columns of kernel values in this process: those of a pool, which are used often."""

    def __init__(self, of: ShardedKernel, rows: np.ndarray) -> None:
        self._of = of
        self._columns: Columns | Matrix = of.local(rows)
        if of._is_fused:
            self._columns = self._columns.columns(np.arange(len(rows)))

    def sums(self, vectors: ShardedVectors, coefs: np.ndarray) -> np.ndarray:
        if isinstance(self._columns, Columns):
            return self._columns.sums(vectors.here, coefs)
        V = vectors.here
        out = np.zeros((len(coefs), self._columns.shape[0]))
        for lo in range(0, V.shape[0], shards.PIECE):
            part = slice(lo, lo + shards.PIECE)
            out += coefs[:, part] @ _values(self._of, V[part], self._columns)
        return out


def _values(of: ShardedKernel, V: Matrix, X: Matrix) -> np.ndarray:
    """Kernel values of vectors (down) against rows (across), both here."""
    by_norm = of.kernel.on_products
    V, X = (part.astype(of.dtype, copy=False) if by_norm else part for part in (V, X))
    V_squares, X_squares = (
        squared_norms(part).astype(of.dtype) if by_norm else np.zeros(part.shape[0])
        for part in (V, X)
    )
    out = np.empty((V.shape[0], X.shape[0]), of.dtype)
    return fill(of.kernel, of.dtype, (X, X_squares), (V, V_squares), out)
