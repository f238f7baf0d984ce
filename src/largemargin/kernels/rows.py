"""The kernel cache of solvers that come back to rows of the Gram matrix: cut into segments, shared.

The columns (the examples) are cut into **segments**, and a row is asked for a segment at a time, so
that a problem on two classes of ten need not pay for the other eight. What many problems ask for in
one go is computed in products of hundreds of rows. What was computed is kept within the memory
given, in an LRU cache: the least recently used row gives way, and is computed again when it is
asked for again.

The last bit of a value depends on the shape of the product that it comes from, since BLAS has
special ways with small ones, and on the place of a row in it, with a period that divides PLACES for
the libraries at hand. So a row is given both at its first use, the height of its product and its
place there, and is computed in no other way again, whoever are its neighbours: a value is the same
bits whatever the memory and the number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.engine import PACKED_SHARE, fill
from largemargin.kernels.functions import Kernel, squared_norms
from largemargin.kernels.fused import FusedRows, is_computed_again
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.memory import lazily_paged
from largemargin.runtime.threads import Workers

PLACES = 12  # a multiple of the period with which BLAS treats the rows of a product alike
# Rows per product: more are hardly faster, and the smaller number is for what is left over.
HEIGHTS = (16 * PLACES, 4 * PLACES)
TILE_COLUMNS = 1024  # columns per product: values stay in cache, and more features are all zero
BLOCK = 64  # rows that are always summed together; also the fewest that are held
STRIP_ROWS = 256  # rows per product in a whole Gram matrix
SMALL_STRIP_ROWS = 64  # rows per product in one that has no more than STRIP_ROWS rows


@dataclass(frozen=True)
class ColumnTile:
    """Columns of a segment that are multiplied together, from number `first` on: their examples,
    and the features that are not zero in all of them, or None if nearly all features are.
    """

    first: int
    X: Matrix
    squares: np.ndarray
    features: np.ndarray | None = None

    @property
    def copied_bytes(self) -> int:
        X: Any = self.X
        parts = (X.data, X.indices) if sp.issparse(X) else (X,)
        return sum(part.nbytes for part in parts)


class Segment:
    """An LRU cache of kernel values: some examples, one per slot, against a run of columns."""

    def __init__(self, columns: np.ndarray, n: int) -> None:
        self.width = len(columns)
        self.columns = columns
        self.slot_of = np.full(n, -1, np.int32)
        # number of the height times PLACES, plus the place; -1 for none yet
        self.place_of = np.full(n, -1, np.int8)

    def copy(self, X: Matrix, squares: np.ndarray, packed: bool) -> None:
        """Copy the examples of the columns, all at once, or, `packed`, in tiles without the
        features that are zero in all of one: they add nothing to an inner product.
        """
        self.tiles = []
        step = TILE_COLUMNS if packed else self.width
        for first in range(0, self.width, step):
            columns = self.columns[first : first + step]
            tile = ColumnTile(first, X[columns], squares[columns])
            if packed:
                features = np.flatnonzero(tile.X.any(axis=0))
                if len(features) <= PACKED_SHARE * X.shape[1]:
                    tile = replace(tile, X=np.take(tile.X, features, axis=1), features=features)
            self.tiles.append(tile)

    def allocate(self, capacity: int, dtype: np.dtype) -> None:
        self.values = lazily_paged((capacity, self.width), dtype)
        self.holder = np.full(capacity, -1, np.int64)
        self.last_use = np.full(capacity, -1, np.int64)
        self.n_filled = 0

    def give_places(self, rows: np.ndarray) -> None:
        """A height and a place for each of some rows, in order, that has none yet."""
        new = rows[self.place_of[rows] < 0]
        high = len(new) // HEIGHTS[0] * HEIGHTS[0]
        self.place_of[new] = np.arange(len(new)) % PLACES
        self.place_of[new[high:]] += PLACES

    def make_room(self, count: int, now: int) -> np.ndarray:
        """Slots for `count` new rows: unused ones first, then the least recently used (LRU)."""
        capacity = len(self.holder)
        fresh = np.arange(self.n_filled, min(capacity, self.n_filled + count))
        self.n_filled += len(fresh)
        short = count - len(fresh)
        if not short:
            return fresh
        # what this call of `fetch` uses, and the slots just given, must stay
        last_use = np.where(self.last_use < now, self.last_use, np.iinfo(np.int64).max)
        last_use[fresh] = np.iinfo(np.int64).max
        oldest = np.argsort(last_use, kind="stable")[:short]
        self.slot_of[self.holder[oldest]] = -1
        return np.concatenate([fresh, oldest])


@dataclass(frozen=True)
class Task:
    """Rows to compute over a tile of columns: those of each product by place, -1 for none."""

    segment: Segment
    part: ColumnTile
    products: Sequence[np.ndarray]

    @property
    def rows(self) -> np.ndarray:
        rows = np.concatenate(self.products)
        return rows[rows >= 0]


class KernelRows:
    """Kernel values K[examples, segment], computed on request and kept while there is memory.

    Parameters
    ----------
    X : array or CSR matrix
        As `engine.prepare` gives it.
    segments : sequence of arrays
        The columns of each segment.
    memory : int
        Bytes for the values and for the segments' copies of their columns.
    """

    def __init__(
        self,
        X: Matrix,
        kernel: Kernel,
        dtype: np.dtype,
        segments: Sequence[np.ndarray],
        memory: int,
        team: Workers,
    ) -> None:
        self.X, self.kernel, self.dtype, self.team = X, kernel, dtype, team
        self.n = X.shape[0]
        by_norm = kernel.on_products
        self.squares = squared_norms(X).astype(dtype) if by_norm else np.zeros(self.n)
        self.segments = [Segment(columns, self.n) for columns in segments]
        packed = by_norm and not sp.issparse(X)
        team.map(lambda segment: segment.copy(X, self.squares, packed), self.segments)
        total = sum(segment.width for segment in self.segments)
        memory -= sum(tile.copied_bytes for segment in self.segments for tile in segment.tiles)
        self.capacity = int(min(self.n, max(BLOCK, memory // (total * dtype.itemsize))))
        for segment in self.segments:
            segment.allocate(self.capacity, dtype)
        self._now = 0
        self._scratch = threading.local()
        self.n_computed = 0

    def close(self) -> None:
        """Give up all rows, and their memory."""
        self.segments = []

    def announce(self, wanted: dict[int, list[np.ndarray]]) -> None:
        """Say all that will be fetched before it is fetched in parts, which depend on the memory:
        places must not.
        """
        for s, rows in self._distinct(wanted):
            self.segments[s].give_places(rows)

    def fetch(self, wanted: dict[int, list[np.ndarray]]) -> None:
        """Have the rows of `wanted[segment]` at hand, until the next call at least.

        No more than `capacity` distinct rows of a segment may be asked for at a time.
        """
        self._now += 1
        work = []
        for s, rows in self._distinct(wanted):
            segment = self.segments[s]
            slots = segment.slot_of[rows]
            segment.last_use[slots[slots >= 0]] = self._now
            missing = rows[slots < 0]
            if len(missing):
                work += self._plan(segment, missing)
        self.team.map(self._compute, work)

    def _distinct(self, wanted: dict[int, list[np.ndarray]]) -> Iterator[tuple[int, np.ndarray]]:
        """The segments with the rows wanted of them, sorted."""
        seen = np.zeros(self.n, bool)
        for s, lists in wanted.items():
            for rows in lists:
                seen[rows] = True
            yield s, np.flatnonzero(seen)
            for rows in lists:
                seen[rows] = False

    def products(self, examples: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        """coefs @ K[examples, :], one row per problem, the columns segment by segment."""
        from largemargin.kernels.loops import add_rows

        found = np.zeros((len(coefs), sum(segment.width for segment in self.segments)))
        step = max(BLOCK, self.capacity // BLOCK * BLOCK)
        if len(examples) > step:
            self.announce({s: [examples] for s in range(len(self.segments))})
        for first in range(0, len(examples), step):
            part = examples[first : first + step]
            self.fetch({s: [part] for s in range(len(self.segments))})

            def add(problem: int, part: np.ndarray = part, first: int = first) -> None:
                for k in range(0, len(part), BLOCK):  # the same blocks whatever the memory
                    coef = coefs[problem, first + k : first + min(k + BLOCK, len(part))]
                    used = np.flatnonzero(coef)
                    at = 0
                    for segment in self.segments:
                        slots = segment.slot_of[part[k + used]]
                        add_rows(found[problem], at, segment.values, slots, coef[used])
                        at += segment.width

            self.team.map(add, range(len(coefs)))
        return found

    def block(self, examples: np.ndarray) -> np.ndarray:
        """The values among some examples, computed and not kept."""
        X, squares = self.X[examples], self.squares[examples]
        vectors = examples[:, None] if self.kernel.by_column else X
        out = np.empty((len(examples), len(examples)), self.dtype)
        return fill(self.kernel, self.dtype, (X, squares), (vectors, squares), out)

    def _plan(self, segment: Segment, rows: np.ndarray) -> list[Task]:
        """What there is to compute: per tile of columns, products of each height."""
        slots = segment.make_room(len(rows), self._now)
        segment.slot_of[rows] = slots
        segment.holder[slots] = rows
        segment.last_use[slots] = self._now
        segment.give_places(rows)
        self.n_computed += len(rows) * segment.width
        if self.kernel.value_by_value:
            products = [rows[k : k + HEIGHTS[0]] for k in range(0, len(rows), HEIGHTS[0])]
        else:
            of_height, place = np.divmod(segment.place_of[rows], PLACES)
            products = []
            for h, height in enumerate(HEIGHTS):
                mine = of_height == h
                products += _lay_out(rows[mine], place[mine], height)
        return [Task(segment, tile, products) for tile in segment.tiles]

    def _compute(self, task: Task) -> None:
        from largemargin.kernels.loops import copy_rows

        segment, tile = task.segment, task.part
        for product in task.products:
            there = np.flatnonzero(product >= 0)
            rows = np.maximum(product, 0)
            vectors = self._vectors(rows, tile.features)
            out = self._room(len(rows), len(tile.squares))
            columns = (tile.X, tile.squares)
            fill(self.kernel, self.dtype, columns, (vectors, self.squares[rows]), out, there)
            copy_rows(out, segment.slot_of[product[there]], segment.values, tile.first)

    def _vectors(self, rows: np.ndarray, features: np.ndarray | None) -> Any:
        """Some examples, with some of their features."""
        from largemargin.kernels.loops import take

        if self.kernel.by_column:
            return rows[:, None]
        if features is None:
            return self.X[rows]
        vectors = np.empty((len(rows), len(features)), self.X.dtype)
        take(self.X, rows, features, vectors)
        return vectors

    def _room(self, n_rows: int, width: int) -> np.ndarray:
        """Room of this thread's own to compute in."""
        if getattr(self._scratch, "size", 0) < n_rows * width:
            self._scratch.size = n_rows * width
            self._scratch.flat = np.empty(n_rows * width, self.dtype)
        flat: np.ndarray = self._scratch.flat
        return flat[: n_rows * width].reshape(n_rows, width)


def _lay_out(rows: np.ndarray, place: np.ndarray, height: int) -> list[np.ndarray]:
    """Rows by place in as few products of a height as there can be; -1 where there is none."""
    if not len(rows):
        return []
    order = np.argsort(place, kind="stable")
    counts = np.bincount(place, minlength=PLACES)
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    times = height // PLACES
    layout = np.full((-(-counts.max() // times) * times, PLACES), -1, np.int64)
    layout[rank, place[order]] = rows[order]
    return list(layout.reshape(-1, height))


def whole_gram(
    X: Matrix, positions: np.ndarray, kernel: Kernel, dtype: np.dtype, team: Workers
) -> np.ndarray:
    """All kernel values among the rows of X, a strip of rows at a time, or, where that is cheaper,
    as they are computed elsewhere to be forgotten.
    """
    n = X.shape[0]
    if n > STRIP_ROWS and kernel.on_products and is_computed_again(kernel, X):
        return FusedRows(kernel, X, team, dtype).corner(np.arange(n))
    squares = squared_norms(X).astype(dtype) if kernel.on_products else np.zeros(n)
    vectors = positions[:, None] if kernel.by_column else X
    gram = np.empty((n, n), dtype)
    # a kernel of inner products is symmetric, to the last bit: half of it will do
    half = kernel.on_products

    def strip(first: int, height: int) -> None:
        part = slice(first, min(first + height, n))
        rest = slice(first if half else 0, n)
        # in room of its own: kernels take arrays whose rows are side by side
        values = np.empty((part.stop - first, n - rest.start), dtype)
        fill(kernel, dtype, (X[rest], squares[rest]), (vectors[part], squares[part]), values)
        gram[part, rest] = values
        if half:
            gram[part.stop :, part] = values[:, part.stop - first :].T

    if n <= STRIP_ROWS:  # not worth a second thread
        for first in range(0, n, SMALL_STRIP_ROWS):
            strip(first, SMALL_STRIP_ROWS)
    else:
        team.map(partial(strip, height=STRIP_ROWS), range(0, n, STRIP_ROWS))
    return gram
