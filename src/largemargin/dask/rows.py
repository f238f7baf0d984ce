"""The rows of a collection on the workers of a cluster, standing where a matrix would.

The problem, as in `svm.chunking`: b and its gradient, whose changes are

    grad_j += sum over i that changed of (change of b_i) k(x_i, x_j)      for all columns j

The client is the coordinator. It has the coefficients and labels, and the gradients of all but
large problems (see `gradients`), which are O(n) numbers, and the vectors that ever were in a
working set or a pool. A worker has some of the rows, which are its columns. In a round the
coordinator selects and solves a working set, or a pool of some ten thousand columns, by itself;
what changed is sent to all workers:

    down   for each vector that changed: a byte or two of its number, 8 bytes for each problem,
           and, once per worker that does not own it, the vector itself, without its zeros
    up     8 bytes for each column and problem: the sums above; and, once, the vectors that were
           selected, without their zeros

Each worker computes the values of these vectors against its columns, uses them and forgets them. So
workers hold no state that is not data, gradients of large problems apart: one that dies is
replaced, and nothing else is replayed. While workers compute for some of the problems of a fit, the
coordinator solves others. A sum has one owner and a fixed order, and a kernel value the same bits
wherever it is computed, so the model does not depend on the number of workers, their threads, or
how the rows were shared out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakMethod

import numpy as np

from largemargin.dask import passes, shards
from largemargin.dask.cluster import Cluster
from largemargin.dask.gradients import Advanced
from largemargin.dask.packing import packed, packed_numbers, unpacked
from largemargin.dask.shards import Ask, Members, News
from largemargin.dask.values import RowSet, ShardedKernel, Sums
from largemargin.kernels.basis import Basis
from largemargin.kernels.functions import Kernel
from largemargin.runtime.arrays import DistantRows, Matrix
from largemargin.runtime.threads import Workers, count_workers


class Store:
    """Rows of a type that the coordinator has, and which of them each shard has."""

    def __init__(self, n: int, dtype: str, n_shards: int) -> None:
        self.dtype = dtype
        self.slot_of = np.full(n, -1, np.int32)
        self.basis = Basis(Kernel(), np.dtype(np.float64))  # squared norms of all digits
        self.sent = [np.zeros(0, bool) for _ in range(n_shards)]
        self.lives = [0] * n_shards

    def add(self, rows: np.ndarray, vectors: Matrix) -> None:
        slots = np.arange(len(self.basis), len(self.basis) + len(rows))
        self.basis.add(vectors, rows)
        self.slot_of[rows] = slots  # last: other threads take it for a sign that they are there

    def rows_of(self, slots: np.ndarray) -> np.ndarray:
        """The rows in some slots, by their numbers, as short as they travel."""
        return np.asarray(self.basis.examples[slots], np.int32)


@dataclass(frozen=True, eq=False)
class Fetch:
    """Rows that the coordinator wants, in ascending order: to have them, or, if they are `stored`,
    to have them in the store.
    """

    dtype: str
    rows: np.ndarray
    stored: bool = False


@dataclass(frozen=True)
class Failed:
    """What an answer is if there is none; all who wait for it raise the same error."""

    error: BaseException
    trace: Any

    def again(self) -> BaseException:
        return self.error.with_traceback(self.trace)


class Asking:
    """Sums that several threads ask for, in rounds.

    A round begins when half of the threads wait for one. The others go on meanwhile, and what they
    ask for is the next round: while the workers compute, the coordinator solves. Which questions
    are in a round depends on the clock, and no answer depends on the other questions of its round.
    No more threads are `at_work` at a time than this process has cores: with more of them, each has
    less of the caches.
    """

    def __init__(self, answer: Callable[[list[Any]], list[Any]]) -> None:
        self._answer = WeakMethod(answer)  # its object has this one, and must go when its fit does
        self._there = threading.Condition()
        self._running = 1
        self._asked: list[tuple[Any, list[Any]]] = []
        self._busy = False  # whether a round is under way
        self._cores = threading.Semaphore(count_workers(None))
        self._mine = threading.local()  # whether this thread has one

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A core for this thread, but for when it waits for an answer."""
        with self._cores:
            self._mine.core = True
            try:
                yield
            finally:
                self._mine.core = False

    def __call__(self, what: Any) -> Any:
        if not getattr(self._mine, "core", False):
            return self._waited_for(what)
        self._cores.release()
        try:
            return self._waited_for(what)
        finally:
            self._cores.acquire()

    def _waited_for(self, what: Any) -> Any:
        found: list[Any] = []
        with self._there:
            self._asked.append((what, found))
            while not found:
                if self._busy or 2 * len(self._asked) < self._running:
                    self._there.wait()
                else:
                    self._round()
        if isinstance(found[0], Failed):
            raise found[0].again()
        return found[0]

    def join(self, count: int) -> None:
        with self._there:
            self._running += count
            self._there.notify_all()

    def _round(self) -> None:
        """Ask for all that is waited for; meanwhile others can begin to wait."""
        asked, self._asked, self._busy = self._asked, [], True
        self._there.release()
        try:
            answer = self._answer()
            assert answer is not None
            answers = answer([what for what, _ in asked])
        except BaseException as error:
            answers = [Failed(error, error.__traceback__)] * len(asked)
        finally:
            self._there.acquire()
            self._busy = False
        for (_, found), answer in zip(asked, answers, strict=True):
            found.append(answer)
        self._there.notify_all()


class Shared:
    """What all views of the same rows have in common."""

    def __init__(self, cluster: Cluster, n: int, width: int, sparse: bool) -> None:
        self.cluster, self.n, self.width, self.sparse = cluster, n, width, sparse
        self.ranges = [shard.rows for shard in cluster.shards]
        self.stores: dict[str, Store] = {}
        self.known: dict[tuple[str, str], np.ndarray] = {}  # what was computed by rows
        self._told: list[tuple[int, set[bytes]]] = [(0, set())] * len(cluster)
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
        slots = store.slot_of[rows]
        if (slots < 0).any():
            self.ask(Fetch(dtype, np.unique(rows[slots < 0]), stored=True))
            slots = store.slot_of[rows]
        return np.asarray(slots)

    def _answered(self, asked: list[Fetch | Sums | Advanced]) -> list[Any]:
        """All that is asked for, in one round: one task per worker that has some of it."""
        sums = [one for one in asked if isinstance(one, Sums)]
        advances = [one for one in asked if isinstance(one, Advanced)]
        fetches = self._joined([one for one in asked if isinstance(one, Fetch)])
        parts = [
            [slice(*np.searchsorted(one.rows, (first, end))) for first, end in self.ranges]
            for one in fetches
        ]
        numbers = [
            packed_numbers(self.stores[one.way.of_vectors].rows_of(one.slots)) for one in sums
        ]

        def arguments(k: int) -> tuple[Any, ...]:
            first, life = self.ranges[k][0], self.cluster.shards[k].life
            needed: dict[str, list[np.ndarray]] = {}
            for one in sums:
                needed.setdefault(one.way.of_vectors, []).append(one.slots)
            for ahead in advances:
                for slots in ahead.of.missing(k, life):
                    needed.setdefault(ahead.of.way.of_vectors, []).append(slots)
            asks = [
                Ask(one.way, self._members(k, one.sets, kept=one.way.kept), rows, one.coefs)
                for one, rows in zip(sums, numbers, strict=True)
            ]
            rounds = [
                one.of.told(k, life, one, self._members(k, [one.of.set], kept=True)[0])
                for one in advances
            ]
            wanted = [
                (one.dtype, packed_numbers(one.rows[part[k]] - first))
                for one, part in zip(fetches, parts, strict=True)
            ]
            news = [self._news(k, dtype, needed[dtype]) for dtype in sorted(needed)]
            return news, asks, rounds, wanted

        only = [
            k
            for k in range(len(self.cluster))
            if sums or advances or any(part[k].stop > part[k].start for part in parts)
        ]
        what = "update" if sums or advances else "candidates"
        found = self.cluster.ask(what, shards.answer, arguments, only)
        for k in only:
            self.cluster.shards[k].stats.values += sum(
                len(one.slots) * sum(part.counts[k] for part in one.sets) for one in sums
            ) + sum(one.of.n_values(k) for one in advances)
        by_question = iter(zip(*found, strict=True))
        columns = [np.concatenate(next(by_question), axis=1) for _ in sums]
        told = [list(next(by_question)) for _ in advances]
        rows = {
            fetch: shards.stacked([unpacked(one) for one in next(by_question)]) for fetch in fetches
        }
        for fetch in fetches:
            if fetch.stored:
                self.stores[fetch.dtype].add(fetch.rows, rows[fetch])

        def found_for(one: Fetch | Sums | Advanced) -> Any:
            if isinstance(one, Fetch):
                return one.stored or rows[one]
            return (columns if isinstance(one, Sums) else told).pop(0)

        return [found_for(one) for one in asked]

    def _joined(self, fetches: list[Fetch]) -> list[Fetch]:
        """What has to be fetched: of all that is to be stored once what several problems want, and
        what was stored since it was asked for is there.
        """
        stored: dict[str, list[np.ndarray]] = {}
        for one in fetches:
            if one.stored:
                stored.setdefault(one.dtype, []).append(one.rows)
        found = [one for one in fetches if not one.stored]
        for dtype, parts in stored.items():
            rows = np.unique(np.concatenate(parts))
            missing = rows[self.stores[dtype].slot_of[rows] < 0]
            if len(missing):
                found.append(Fetch(dtype, missing, stored=True))
        return found

    def _members(self, k: int, sets: Sequence[RowSet], *, kept: bool) -> tuple[Members, ...]:
        """The sets of rows as shard k is told of them: of what is kept, once."""
        life = self.cluster.shards[k].life
        if self._told[k][0] != life:
            self._told[k] = life, set()
        known, found = self._told[k][1], []
        for part in sets:
            bits = None if part.key in known else part.part(*self.ranges[k])
            if kept:
                known.add(part.key)
            found.append(Members(part.key, bits))
        return tuple(found)

    def _news(self, k: int, dtype: str, slots: Sequence[np.ndarray]) -> News:
        """What shard k must be sent before it can be asked for sums with some vectors."""
        store, shard = self.stores[dtype], self.cluster.shards[k]
        if store.lives[k] != shard.life:
            store.sent[k], store.lives[k] = np.zeros(0, bool), shard.life
        sent = np.zeros(len(store.basis), bool)
        sent[: len(store.sent[k])] = store.sent[k]
        wanted = np.unique(np.concatenate(slots))
        wanted = wanted[~sent[wanted]]
        rows = store.rows_of(wanted)
        first, end = shard.rows
        mine = (first <= rows) & (rows < end)
        known = int(sent.sum())
        sent[wanted] = True
        store.sent[k] = sent
        others = wanted[~mine]  # by their slots
        shard.stats.vectors_sent += len(others)
        shard.stats.vectors_own += int(mine.sum())
        matrix = store.basis.take(others)[0] if len(others) else np.empty((0, self.width))
        return News(
            dtype, known, packed_numbers(np.concatenate([rows[~mine], rows[mine]])),
            int(mine.sum()), packed(matrix),
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

    def fused(
        self, kernel: Kernel, dtype: np.dtype, team: Workers, segments: Sequence[np.ndarray] = ()
    ) -> ShardedKernel:
        return ShardedKernel(self, kernel, dtype, team, segments)

    def together(self, work: Callable[[Any], Any], items: Iterable[Any]) -> None:
        items = list(items)
        ask, errors = self._shared.ask, []
        if len(items) == 1:
            work(items[0])
            return

        def run(item: Any) -> None:
            try:
                with ask.at_work():
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
