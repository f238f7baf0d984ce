"""What runs on the workers: some of the rows, and sums of kernel values over them.

Everything here is computed stretch by stretch or value by value, so an answer does not depend on
how the rows were shared out, nor on the number of threads.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from distributed import get_worker

from largemargin.dask.cluster import Forgotten, n_bytes
from largemargin.dask.collections import STRETCH
from largemargin.dask.kept import KeptValues
from largemargin.dask.packing import Numbers, PackedRows, packed, unpacked, unpacked_numbers
from largemargin.kernels.basis import Basis
from largemargin.kernels.engine import fill
from largemargin.kernels.functions import Kernel, squared_norms
from largemargin.kernels.fused import FusedRows, StoredRows, Vectors
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.memory import keep_freed_memory_while_alive, memory_bytes
from largemargin.runtime.threads import Workers, single_thread

PIECE = 512  # vectors of a tile, where values are not computed in registers
# Vectors of a tile whose values are kept: so many that few places of it are empty, however vectors
# come together.
PLACES = 16
KEPT_SHARE = 0.4  # of the memory of a worker, for kernel values that are kept
SETS = 4  # sets of columns that are kept packed, in units of the memory of the rows


@dataclass(frozen=True)
class Way:
    """How kernel values are computed: the kernel, their type, that of the rows and of the vectors,
    whether in registers, whether zeros of vectors are left out, and whether values are kept.
    """

    kernel: Kernel
    dtype: str
    of_rows: str
    of_vectors: str
    fused: bool
    zeros: bool
    kept: bool


@dataclass(frozen=True)
class News:
    """Vectors that a shard does not have yet, by the numbers of their rows, and how many of the
    same type it has.

    Those among its own rows come last, and only the others are sent.
    """

    dtype: str
    known: int
    numbers: Numbers
    n_own: int
    rows: Matrix | PackedRows


@dataclass(frozen=True)
class Members:
    """Some of the rows, a bit each; those with the same `key` are the same, and a shard that has
    been told of them is not told again.
    """

    key: bytes
    bits: np.ndarray | None


@dataclass(frozen=True)
class Ask:
    """Sums that are asked for: coefs @ K between vectors, by the numbers of their rows, and sets of
    rows, one after the other; there is one set unless values are kept.
    """

    way: Way
    sets: tuple[Members, ...]
    numbers: Numbers
    coefs: np.ndarray


@dataclass(frozen=True)
class Change:
    """What a round has changed: vectors by the numbers of their rows, by how much, the rows of the
    pool, a bit each, and the gradient of those rows that have left it since the last round.
    """

    numbers: Numbers
    coefs: np.ndarray
    pool: np.ndarray
    left: np.ndarray


@dataclass(frozen=True)
class Copy:
    """A gradient as it was after some round, and the pool of that round, a bit per row."""

    grad: Numbers
    pool: np.ndarray


@dataclass(frozen=True)
class Advance:
    """Rounds of a gradient: `copy` is what it was `n_before` rounds after the start, if the shard
    is not expected to have it.

    `rises` and `falls` say which variables may, a bit each; `most` of each are told, as far as
    their gradient is below the first, or above the second, of the `ends`.
    """

    key: str
    way: Way
    members: Members
    copy: Copy | None
    n_before: int
    changes: list[Change]
    rises: np.ndarray
    falls: np.ndarray
    most: int
    ends: tuple[float, float]
    whole: bool
    last: bool


@dataclass(frozen=True)
class Told:
    """The gradient of some rows, a bit each, the largest number of it, and all of it if asked; of
    rows in the pool nothing is known.
    """

    told: np.ndarray
    grad: np.ndarray
    largest: float
    whole: np.ndarray | None


@dataclass
class Gradient:
    """The gradient of a problem over some rows, but for those in the pool, after so many rounds."""

    grad: np.ndarray
    pool: np.ndarray
    n_rounds: int


class Known:
    """The vectors that a shard was told of, and their slots by the numbers of their rows."""

    def __init__(self) -> None:
        self.basis = Basis(Kernel(), np.dtype(np.float64))  # squared norms of all digits
        self.slot_of = np.empty(0, np.int64)

    def add(self, rows: Matrix, numbers: np.ndarray) -> None:
        last = int(numbers.max())
        if last >= len(self.slot_of):
            more = np.full(2 * last + 1 - len(self.slot_of), -1)
            self.slot_of = np.concatenate([self.slot_of, more])
        self.slot_of[numbers] = len(self.basis) + np.arange(len(numbers))
        self.basis.add(rows, numbers)


class RowShard:
    """Some of the rows, on a worker, in the memory of Dask."""

    def __init__(self, parts: list[Matrix], rows: tuple[int, int]) -> None:
        self._rows = rows
        self._versions = {parts[0].dtype.name: stacked(parts)}
        self.given = parts[0].dtype.name
        self.first, self.n = rows[0], rows[1] - rows[0]
        self._vectors: dict[str, Known] = {}
        self._columns: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._fused: dict[Way, FusedRows] = {}
        self._values: dict[Way, OrderedDict[bytes, KeptValues]] = {}
        self._segments: dict[bytes, np.ndarray] = {}  # rows by key
        self._gradients: dict[str, Gradient] = {}
        self.team = Workers(get_worker().state.nthreads)
        keep_freed_memory_while_alive(self)

    def __reduce__(self) -> Any:
        """Whoever moves a shard moves its rows only."""
        return type(self), ([self._versions[self.given]], self._rows)

    def __sizeof__(self) -> int:
        return 2 * n_bytes(list(self._versions.values()))

    def version(self, dtype: str) -> Matrix:
        """The rows in a type."""
        if dtype not in self._versions:
            self._versions[dtype] = self._versions[self.given].astype(dtype)
        return self._versions[dtype]

    def learn(self, news: News) -> None:
        """Keep vectors that sums will be asked for."""
        if not news.known:
            self._vectors[news.dtype] = Known()
            for way in [way for way in self._values if way.of_vectors == news.dtype]:
                del self._values[way]  # they were of other vectors
        if news.dtype not in self._vectors:
            raise Forgotten
        known = self._vectors[news.dtype]
        if news.known != len(known.basis):
            raise Forgotten
        numbers = unpacked_numbers(news.numbers)
        n_sent = len(numbers) - news.n_own
        if n_sent:
            known.add(unpacked(news.rows), numbers[:n_sent])
        if news.n_own:
            own = numbers[n_sent:]
            known.add(self.version(news.dtype)[own - self.first], own)

    def all_sums(self, asks: list[Ask]) -> list[np.ndarray]:
        """coefs @ K for each, one column for each row that is asked for."""
        places = [self._places(ask) for ask in asks]
        self._fetch(asks, places)
        found: list[np.ndarray] = []
        tasks: list[Callable[[], None]] = []
        for ask, slots in zip(asks, places, strict=True):
            kept = [self._kept(ask.way, one) for one in ask.sets] if ask.way.kept else []
            if not kept or not all(one.holds(slots) for one in kept):
                self.team.map(_run, tasks)  # before values that they use make room for others
                tasks.clear()
                found.append(self._sums(ask, slots))
                continue
            out = np.zeros((len(ask.coefs), sum(one.n for one in kept)))
            found.append(out)
            ends = np.cumsum([one.n for one in kept])
            for one, end in zip(kept, ends, strict=True):
                tasks += one.tasks(slots, ask.coefs, out[:, end - one.n : end])
        self.team.map(_run, tasks)
        return found

    def _sums(self, ask: Ask, slots: np.ndarray) -> np.ndarray:
        if ask.way.kept:
            kept = (self._kept(ask.way, one) for one in ask.sets)
            return np.concatenate([one.sums(slots, ask.coefs, self.team) for one in kept], axis=1)
        columns = self._packed(ask.way, ask.sets[0])
        if not ask.way.fused:
            return self._tiled(ask, columns, self._vectors[ask.way.of_vectors].basis.take(slots)[0])
        return np.asarray(columns.sums(self._as_vectors(ask.way, slots), ask.coefs))

    def _fetch(self, asks: list[Ask], places: list[np.ndarray]) -> None:
        """Compute what is missing of the values that are kept, for all sums together."""
        wanted: dict[tuple[Way, bytes], tuple[Members, list[np.ndarray]]] = {}
        for ask, slots_of in zip(asks, places, strict=True):
            for one in ask.sets if ask.way.kept else ():
                found = wanted.setdefault((ask.way, one.key), (one, []))[1]
                found.append(slots_of)
        for (way, _), (one, slots) in wanted.items():
            self._kept(way, one).fetch(np.unique(np.concatenate(slots)))

    def advance(self, ask: Advance) -> Told:
        """Make rounds of a gradient, and tell of which rows the variables violate most."""
        rows = self._rows_of(ask.members)
        if ask.copy is not None:
            self._gradients[ask.key] = Gradient(
                np.array(unpacked_numbers(ask.copy.grad)), _marks(ask.copy.pool, len(rows)),
                ask.n_before,
            )  # fmt: skip
        at = self._gradients.get(ask.key)
        if at is None or at.n_rounds != ask.n_before:
            raise Forgotten
        for change in ask.changes:
            pool = _marks(change.pool, len(rows))
            at.grad[at.pool & ~pool] = change.left
            columns = self._registers(ask.way, rows[~pool])
            numbers = unpacked_numbers(change.numbers)
            slots = self._vectors[ask.way.of_vectors].slot_of[numbers]
            at.grad[~pool] += columns.sums(self._as_vectors(ask.way, slots), change.coefs)[0]
            at.pool = pool
            at.n_rounds += 1
        told, others = np.zeros(len(rows), bool), ~at.pool
        lowest, highest = ask.ends
        sides = (ask.rises, -at.grad, -lowest), (ask.falls, at.grad, highest)
        for bits, values, end in sides:
            may = np.flatnonzero(_marks(bits, len(rows)) & others & (values >= end))
            told[may[_largest(values[may], ask.most)]] = True
        if ask.last:
            del self._gradients[ask.key]
        largest = float(np.abs(at.grad[others]).max(initial=0.0))
        return Told(np.packbits(told), at.grad[told], largest, at.grad if ask.whole else None)

    def _places(self, ask: Ask) -> np.ndarray:
        """Where the vectors of sums are among those of the shard."""
        return np.asarray(self._vectors[ask.way.of_vectors].slot_of[unpacked_numbers(ask.numbers)])

    def _as_vectors(self, way: Way, slots: np.ndarray) -> Vectors:
        """Vectors, packed: those of values that are kept have so many entries that no two are
        expected to be zero in the same features.
        """
        basis, dtype = self._vectors[way.of_vectors].basis, np.dtype(way.dtype)
        if StoredRows.can_read(basis, dtype):
            stored = StoredRows(way.kernel, basis, self.team, dtype, way.zeros)
            return stored.vectors(slots, sort=not way.kept)
        vectors = basis.take(slots)[0]
        of = FusedRows(way.kernel, vectors, self.team, dtype, zeros=way.zeros)
        return of.vectors(np.arange(vectors.shape[0]))

    def _kept(self, way: Way, members: Members) -> KeptValues:
        """The values of a way that are kept of a segment of the rows."""
        rows, of = self._rows_of(members), self._values.setdefault(way, OrderedDict())
        if members.key not in of:
            while of and sum(one.n for one in of.values()) + len(rows) > self.n:
                of.popitem(last=False)  # of other segments, of which a fit before this one was
            limit = get_worker().memory_manager.memory_limit or memory_bytes("auto")
            room = int(KEPT_SHARE * limit) // len(self._values)
            dtype, basis = np.dtype(way.dtype), self._vectors[way.of_vectors].basis
            columns: Any = (self._registers if way.fused else self._stretches)(way, rows)

            def compute(slots: np.ndarray, places: np.ndarray, values: np.ndarray) -> None:
                if way.fused:
                    packed = self._as_vectors(way, slots)
                    columns.fill(packed, places[packed.order], values)
                else:
                    vectors = basis.take(slots)[0]
                    values[places] = self._tiles(way, columns, vectors, basis.examples[slots])

            most = room // max(1, self.n * dtype.itemsize)
            padded = columns.padded if way.fused else len(rows)
            of[members.key] = KeptValues(len(rows), dtype, most, compute, padded)
        return of[members.key]

    def _rows_of(self, members: Members, kept: bool = True) -> np.ndarray:
        rows = self._segments.get(members.key)
        if rows is None:
            if members.bits is None:
                raise Forgotten
            rows = np.flatnonzero(np.unpackbits(members.bits, count=self.n))
            if kept:
                self._segments[members.key] = rows
        return rows

    def _packed(self, way: Way, members: Members) -> Any:
        """A set of columns, ready for sums; the last ones used are kept."""
        key = members.key, way.dtype, way.of_rows
        if key not in self._columns:
            rows = self._rows_of(members, kept=False)
            most = SETS * self.n
            while self._columns and sum(n for n, _ in self._columns.values()) + len(rows) > most:
                self._columns.popitem(last=False)
            packed: Any = (self._registers if way.fused else self._stretches)(way, rows)
            self._columns[key] = len(rows), packed
        self._columns.move_to_end(key)
        return self._columns[key][1]

    def _registers(self, way: Way, rows: np.ndarray) -> Any:
        if way not in self._fused:
            X = self.version(way.of_rows)
            self._fused[way] = FusedRows(way.kernel, X, self.team, np.dtype(way.dtype), zeros=False)
        return self._fused[way].columns(rows)

    def _stretches(self, way: Way, rows: np.ndarray) -> list[tuple[Matrix, np.ndarray]]:
        """The rows of each stretch, and their squared norms."""
        X, found = self.version(way.of_rows), []
        for first in range(0, self.n, STRETCH):
            lo, hi = np.searchsorted(rows, (first, first + STRETCH))
            part = X[rows[lo:hi]]
            if way.kernel.on_products:
                part = part.astype(way.dtype, copy=False)
                found.append((part, squared_norms(part).astype(way.dtype)))
            else:
                found.append((part, np.zeros(hi - lo)))
        return found

    def _tiled(self, ask: Ask, stretches: list[Any], vectors: Matrix) -> np.ndarray:
        """Sums over tiles of kernel values, in the order of the vectors."""
        out = np.zeros((len(ask.coefs), sum(part.shape[0] for part, _ in stretches)))
        parts = [slice(lo, lo + PIECE) for lo in range(0, vectors.shape[0], PIECE)]

        def add(p: int, columns: slice, values: np.ndarray) -> None:
            out[:, columns] += ask.coefs[:, parts[p]] @ values

        self._use_tiles(ask.way, stretches, [vectors[part] for part in parts], add)
        return out

    def _tiles(
        self, way: Way, stretches: list[Any], vectors: Matrix, numbers: np.ndarray
    ) -> np.ndarray:
        """Kernel values of vectors (down) against the rows of all stretches (across).

        Vectors come in any company: a shard has its own rows last, and computes again what it had
        no room for. So each has its place in tiles of one height, but for products of sparse rows,
        which are summed value by value.
        """
        count = vectors.shape[0]
        tiles = tiles_of(numbers)
        if way.kernel.on_products and sp.issparse(vectors):
            tiles = np.arange(count)[None, :]
        out = np.empty((count, sum(part.shape[0] for part, _ in stretches)), way.dtype)

        def keep(p: int, columns: slice, values: np.ndarray) -> None:
            taken = tiles[p] >= 0
            out[tiles[p][taken], columns] = values[taken]

        # where a place is empty, -1, the last vector stands in
        self._use_tiles(way, stretches, [vectors[tile] for tile in tiles], keep)
        return out

    def _use_tiles(
        self,
        way: Way,
        stretches: list[Any],
        pieces: list[Matrix],
        use: Callable[[int, slice, np.ndarray], None],
    ) -> None:
        """use(p, columns, values) of the kernel values of each piece p of the vectors (down)
        against each stretch (across): a product for each, of the same shape in any shard.
        """
        dtype, by_norm = np.dtype(way.dtype), way.kernel.on_products
        tiles = []
        for V in pieces:
            V = V.astype(dtype, copy=False) if by_norm else V
            squares = squared_norms(V).astype(dtype) if by_norm else np.zeros(V.shape[0])
            tiles.append((V, squares))
        runs = _runs(stretches)

        def run(k: int) -> None:
            width = stretches[k][0].shape[0]
            for p, tile in enumerate(tiles if width else ()):
                values = np.empty((tile[0].shape[0], width), dtype)
                use(p, runs[k], fill(way.kernel, dtype, stretches[k], tile, values))

        self.team.map(run, range(len(stretches)))


def tiles_of(numbers: np.ndarray) -> np.ndarray:
    """Which vector, -1 being none, is in each place of each tile.

    A vector's place follows from the number of its row alone: the last bits of a value depend on
    the place in a product and on the shape of it, but not on what is in other places. Numbers that
    are evenly spaced, as those of one class may be, are spread over all places.

    >>> tiles = tiles_of(np.arange(0, 320, 10))
    >>> tiles.shape, sorted(tiles[tiles >= 0]) == list(range(32))
    ((3, 16), True)
    """
    place = (numbers.astype(np.uint64) * 0x9E3779B1 % 2**32 * PLACES >> 32).astype(np.int64)
    counts = np.bincount(place, minlength=PLACES)
    order = np.argsort(place, kind="stable")
    tiles = np.full((counts.max(initial=0), PLACES), -1)
    tiles[np.arange(len(place)) - (np.cumsum(counts) - counts)[place[order]], place[order]] = order
    return tiles


def _largest(values: np.ndarray, most: int) -> np.ndarray:
    """Whether each value is among so many largest ones; all that are equal to the last are.

    >>> _largest(np.array([2.0, 5.0, 2.0, 1.0, 7.0]), 3)
    array([ True,  True,  True, False,  True])
    """
    if most >= len(values):
        return np.ones(len(values), bool)
    if not most:
        return np.zeros(len(values), bool)
    return np.asarray(values >= np.partition(values, -most)[-most])


def _marks(bits: np.ndarray, count: int) -> np.ndarray:
    return np.unpackbits(bits, count=count).view(bool)


def _run(task: Callable[[], None]) -> None:
    task()


def _runs(stretches: list[Any]) -> list[slice]:
    """The columns of each stretch."""
    ends = np.cumsum([part.shape[0] for part, _ in stretches]).tolist()
    return [slice(lo, hi) for lo, hi in zip([0, *ends], ends, strict=False)]


def answer(
    shard: RowShard, news: list[News], asks: list[Ask], advances: list[Advance],
    fetched: list[tuple[str, Numbers]],
) -> list[Any]:  # fmt: skip
    """All that is asked for in a round: sums, rounds of gradients, and then some of the rows."""
    for one in news:
        shard.learn(one)
    with single_thread():
        found: list[Any] = [*shard.all_sums(asks), *(shard.advance(one) for one in advances)]
    return found + [packed(shard.version(dtype)[unpacked_numbers(rows)]) for dtype, rows in fetched]


def processor(shard: RowShard) -> tuple[str, ...]:
    """What the last bits of kernel values depend on."""
    from importlib.metadata import version

    import llvmlite.binding as llvm

    features = sorted(name for name, there in llvm.get_host_cpu_features().items() if there)
    versions = [version(name) for name in ("largemargin", "numpy", "scipy", "numba")]
    return (llvm.get_host_cpu_name(), *features, *versions)


def stacked(parts: list[Matrix]) -> Matrix:
    if len(parts) == 1:
        return parts[0]
    if sp.issparse(parts[0]):
        return sp.csr_array(sp.vstack(parts, format="csr"))
    return np.concatenate(parts)
