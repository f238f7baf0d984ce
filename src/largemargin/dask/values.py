"""Kernel values of rows on a cluster: what `kernels.fused` has of a matrix.

Sums over many columns come from the workers. Sums over a pool, and the values among the members of
a working set, are computed here, from rows that were fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from largemargin.dask import shards
from largemargin.dask.gradients import ShardedGradient
from largemargin.dask.shards import Way
from largemargin.kernels.basis import Basis
from largemargin.kernels.engine import fill
from largemargin.kernels.functions import Kernel, squared_norms
from largemargin.kernels.fused import (
    MOST_COLUMNS,
    Columns,
    FusedRows,
    StoredRows,
    entries_per_row,
    form_of,
    has_zeros,
)
from largemargin.runtime.arrays import Matrix, some_rows
from largemargin.runtime.threads import Workers

if TYPE_CHECKING:
    from largemargin.dask.rows import ShardedRows, Shared

# Entries of a row from which on a worker keeps values: all problems use them, and it has the memory
DEAR_ENTRIES = 128
MOST_LOCAL = 1 << 15  # columns of a pool that the coordinator has by itself


class RowSet:
    """Some of the rows; `key` tells sets apart, and `counts` is how many of them each shard has."""

    def __init__(self, shared: Shared, rows: np.ndarray) -> None:
        self.members = np.zeros(shared.n, bool)
        self.members[rows] = True
        self.key = blake2b(np.packbits(self.members).tobytes(), digest_size=16).digest()
        self.counts = [int(self.members[slice(*range_)].sum()) for range_ in shared.ranges]

    def part(self, first: int, end: int) -> np.ndarray:
        """Which rows of a range are members, a bit each."""
        return np.packbits(self.members[first:end])


@dataclass(frozen=True)
class Sums:
    """coefs @ K between vectors, by their slots, and the rows of some sets; of each shard its rows
    come set by set, in ascending order.
    """

    way: Way
    sets: tuple[RowSet, ...]
    slots: np.ndarray
    coefs: np.ndarray


class ShardedKernel:
    """What `FusedRows` is of a matrix: sums over all rows come from the workers, those over a pool
    and the corner among a few examples are computed here.
    """

    def __init__(
        self, rows: ShardedRows, kernel: Kernel, dtype: np.dtype, team: Workers,
        segments: Sequence[np.ndarray] = (),
    ) -> None:  # fmt: skip
        self.rows, self.kernel, self.team = rows, kernel, team
        shared = rows._shared
        self._cuts = list(segments)
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
        """Whether a value is dearer to compute than to keep, and will be used again."""
        dear = not self._is_fused or entries_per_row(self.rows) > DEAR_ENTRIES
        return dear and bool(self._cuts)

    @cached_property
    def _segments(self) -> list[RowSet]:
        shared, numbers = self.rows._shared, self.rows.numbers
        return [RowSet(shared, numbers(rows)) for rows in self._cuts]

    @cached_property
    def _segment_of(self) -> np.ndarray:
        found = np.empty(self.rows.shape[0], np.int64)
        for k, rows in enumerate(self._cuts):
            found[rows] = k
        return found

    def sets(self, rows: np.ndarray) -> tuple[list[RowSet], bool]:
        """The sets that some rows are made of, and whether their values are kept: those of whole
        segments are.
        """
        if self.is_kept:
            used = np.unique(self._segment_of[rows])
            if sum(len(self._cuts[k]) for k in used) == len(rows):
                return [self._segments[k] for k in used], True
        return [RowSet(self.rows._shared, self.rows.numbers(rows))], False

    @property
    def has_pools(self) -> bool:
        """Whether a part of the columns is better solved here: what workers keep is not here."""
        return not self.is_kept

    @property
    def keeps_gradients(self) -> bool:
        """Whether the gradient of a problem is on the workers."""
        return self._is_fused and not self.is_kept

    def gradient(self, rows: np.ndarray, grad: np.ndarray) -> ShardedGradient:
        return ShardedGradient(self, rows, grad)

    @cached_property
    def zeros(self) -> bool:
        return self._is_fused and has_zeros(self.kernel, self.rows)

    def way(self, vectors: str, kept: bool) -> Way:
        rows = self.rows.dtype.name
        return Way(self.kernel, self.dtype.name, rows, vectors, self._is_fused, self.zeros, kept)

    def vectors(self, rows: np.ndarray) -> ShardedVectors:
        return ShardedVectors(self, rows)

    def columns(self, rows: np.ndarray) -> ShardedColumns:
        return ShardedColumns(self, rows)

    def pool(self, rows: np.ndarray) -> LocalColumns | ShardedColumns:
        if self.is_kept or len(rows) > MOST_LOCAL:
            return ShardedColumns(self, rows)
        return LocalColumns(self, rows)

    def near(self, rows: np.ndarray) -> tuple[FusedRows, np.ndarray]:
        """Rows in this process for the compiled loops, and which of them some rows are."""
        slots, basis = self._stored(rows)
        if StoredRows.can_read(basis, self.dtype):
            return StoredRows(self.kernel, basis, self.team, self.dtype, self.zeros), slots
        matrix = basis.take(slots)[0]
        found = FusedRows(self.kernel, matrix, self.team, self.dtype, zeros=self.zeros)
        return found, np.arange(len(rows))

    def matrix(self, rows: np.ndarray) -> Matrix:
        """Some rows in this process."""
        slots, basis = self._stored(rows)
        return basis.take(slots)[0]

    def _stored(self, rows: np.ndarray) -> tuple[np.ndarray, Basis]:
        shared, name = self.rows._shared, self.rows.dtype.name
        slots = shared.vectors(name, self.rows.numbers(rows))
        return slots, shared.store(name).basis

    def nearby(self) -> NearbyRows:
        return NearbyRows(self)

    def corners(self) -> ShardedKernel | LastCorner:
        return LastCorner(self) if self.is_kept else self

    def values(self, vectors: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The values of some rows (down) against others (across)."""
        if not len(vectors) or not len(columns):
            return np.empty((len(vectors), len(columns)), self.dtype)
        if not self._is_fused:
            return _values(self, self.matrix(vectors), self.matrix(columns))
        (of, these), (on, those) = self.near(vectors), self.near(columns)
        return np.asarray(on.columns(those).values(of.vectors(these, sort=not self.is_kept)))

    def corner(self, rows: np.ndarray, room: np.ndarray | None = None) -> np.ndarray:
        if self._is_fused:
            of, these = self.near(rows)
            return np.asarray(of.corner(these, room))
        matrix = self.matrix(rows)
        return _values(self, matrix, matrix)

    def square(self, rows: np.ndarray) -> np.ndarray:
        """The same in the order in which `values` has them; half of it is computed."""
        if not self._is_fused or not self.is_kept or not len(rows):
            return self.values(rows, rows)
        of, these = self.near(rows)
        return np.asarray(of.columns(these).square(of.vectors(these, sort=False)))

    def sums_among(self, rows: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        """sum_i coefs[p, i] k(x_i, x_j) among some rows, computed here unless workers keep them or
        they are many.
        """
        if self.is_kept or not self._is_fused or len(rows) > MOST_LOCAL:
            return self.columns(rows).sums(self.vectors(rows), coefs)
        of, these = self.near(rows)
        return np.asarray(of.sums_among(these, coefs))


class LastCorner:
    """Corners of a problem, of which each has many rows of the one before: their values are known.

    A value of `FusedRows` is the same bits in any corner, and k(a, b) = k(b, a). A corner is there
    until the next but one is asked for: two take turns in the same memory, since fresh memory is
    slow.
    """

    def __init__(self, of: ShardedKernel) -> None:
        self._of = of
        self._rows, self._values = np.empty(0, np.int64), np.empty((0, 0), of.dtype)
        self._rooms = [np.empty(0, of.dtype), np.empty(0, of.dtype)]

    def corner(self, rows: np.ndarray, room: np.ndarray | None = None) -> np.ndarray:
        from largemargin.kernels.loops import renew

        _, known, at = np.intersect1d(rows, self._rows, assume_unique=True, return_indices=True)
        is_new = np.ones(len(rows), bool)
        is_new[known] = False
        new = np.flatnonzero(is_new)
        across = self._of.values(rows[new], rows[known])
        out = self._taken(len(rows))
        renew(self._values, at, known, across, self._of.square(rows[new]), new, out)
        self._rows, self._values = rows, out
        return out

    def _taken(self, n: int) -> np.ndarray:
        """Memory that is not that of the last corner."""
        self._rooms.reverse()
        if len(self._rooms[0]) < n * n:
            self._rooms[0] = np.empty(n * n, self._of.dtype)
        return self._rooms[0][: n * n].reshape(n, n)


class NearbyRows:
    """Rows for corners of all of them, one after the other: here if they are few, and else fetched
    for each corner.
    """

    def __init__(self, of: ShardedKernel) -> None:
        self._of = of
        self._rows = some_rows(of.rows, np.arange(of.rows.shape[0]))

    def corner(self, rows: np.ndarray, room: np.ndarray | None = None) -> np.ndarray:
        of, X = self._of, self._rows[rows]
        if not of._is_fused:
            return _values(of, X, X)
        near = FusedRows(of.kernel, X, of.team, of.dtype, zeros=of.zeros)
        return near.corner(np.arange(len(rows)), room)


class ShardedVectors:
    """Some rows as vectors of sums.

    Their slots and values are kept without a lock: an answer comes once all problems ask for
    something, and one that holds a lock while it asks may wait for one that waits for the lock.
    (`cached_property` has such a lock before Python 3.12, and all objects share it.)
    """

    def __init__(self, of: ShardedKernel, rows: np.ndarray) -> None:
        self.of, self._rows = of, rows
        self._slots: np.ndarray | None = None
        self._here: Any = None

    @property
    def slots(self) -> np.ndarray:
        if self._slots is None:
            rows = self.of.rows
            self._slots = rows._shared.vectors(rows.dtype.name, rows.numbers(self._rows))
        return self._slots

    @property
    def here(self) -> Any:
        """The vectors in the memory of this process."""
        if self._here is None:
            if self.of._is_fused:
                of, these = self.of.near(self._rows)
                self._here = of.vectors(these)
            else:
                self._here = self.of.matrix(self._rows)
        return self._here


class ShardedColumns:
    """Columns of kernel values on the workers."""

    def __init__(self, of: ShardedKernel, rows: np.ndarray) -> None:
        self._of, shared = of, of.rows._shared
        sets, self._kept = of.sets(rows)
        self.sets = tuple(sets)
        place = np.empty(shared.n, np.int64)
        place[of.rows.numbers(rows)] = np.arange(len(rows))
        # in the order of the answer: by shards, and then by sets
        found = [
            first + np.flatnonzero(one.members[first:end])
            for first, end in shared.ranges
            for one in sets
        ]
        self.order = place[np.concatenate(found)]

    def sums(self, vectors: ShardedVectors, coefs: np.ndarray) -> np.ndarray:
        way = self._of.way(vectors.of.rows.dtype.name, self._kept)
        found = self._of.rows._shared.ask(
            Sums(way, self.sets, vectors.slots, np.ascontiguousarray(coefs))
        )
        out = np.empty((len(coefs), len(self.order)))
        out[:, self.order] = found
        return out


class LocalColumns:
    """Columns of kernel values in this process: those of a pool, which are used often."""

    def __init__(self, of: ShardedKernel, rows: np.ndarray) -> None:
        self._of = of
        self._columns: Columns | Matrix
        if of._is_fused:
            on, these = of.near(rows)
            self._columns = on.columns(these)
        else:
            self._columns = of.matrix(rows)

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
