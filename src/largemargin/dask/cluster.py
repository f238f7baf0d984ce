"""Shards of the data on the workers of a Dask cluster, asked all together, round by round.

A shard is an object in the memory of one worker, the result of a Dask task, and pinned there. It
can be made again at any time from the graph that it came from, and whatever else it holds can be
sent to it again. So a worker that dies loses nothing: its shard is made on another worker, and what
was asked of it is asked again, with the same answer to the last bit.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed
from distributed import Client, Future, KilledWorker

from largemargin.dask.connection import (
    CANCELLED,
    LOOK,
    MORE,
    ClusterError,
    Patience,
    alive,
    told,
    told_by_scheduler,
    workers_of,
)  # fmt: skip

PAUSED = 20.0  # seconds that one waits for a worker that takes no tasks, its memory being full
# seconds in which no worker is at work after which a shard that is waited for is made again, the
# first time: tasks may be kept for a worker that is gone, although any other could do them
STALLED = 5.0
ENDED = "the fit has ended, and its shards are gone: fit again"
DEATHS = 4  # workers that may die with the same shard before it answers
LARGE = 1 << 20  # bytes of arguments that are sent beside a task and not within it


class Lost(Exception):
    """A shard is not where it was."""


class Forgotten(Exception):
    """A shard does not have what was sent to it: it was made again, or was on disk meanwhile."""


LOST = (KilledWorker, Lost, *CANCELLED)


@dataclass
class Stats:
    """What one shard was asked for, and what that took."""

    worker: str = ""
    rounds: int = 0
    values: int = 0
    vectors_sent: int = 0
    vectors_own: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    seconds_computing: float = 0.0
    seconds_waiting: float = 0.0
    deaths: int = 0


@dataclass
class Shard:
    """Where a shard is; `life` counts how often it was made, or forgot what was sent to it.

    `made_of` are its parts on the cluster until it answers for the first time, and `failures` the
    workers that were lost with it since its last answer.
    """

    rows: tuple[int, int]
    parts: list[Any]
    words: str
    address: str = ""
    future: Future | None = None
    made_of: list[Future] = field(default_factory=list)
    life: int = 0
    failures: int = 0
    stats: Stats = field(default_factory=Stats)
    begun: list[Begun] = field(default_factory=list)  # in their order, and not finished

    def release(self) -> None:
        """Let the cluster forget it."""
        for future in [*self.made_of, self.future]:
            if future is not None:
                future.release()
        self.future, self.made_of = None, []
        for begun in self.begun:
            begun.release()


@dataclass(eq=False)
class Begun:
    """What a shard was asked for, and is waited for later."""

    what: str
    function: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    k: int
    future: Future | None = None

    def release(self) -> None:
        """Let the cluster forget it."""
        if self.future is not None:
            self.future.release()
        self.future = None


class Cluster:
    """The shards of some rows.

    Parameters
    ----------
    parts : list of lists
        What each shard is made of: delayed objects, or arrays that are sent.
    rows : list of pairs of int
        The first row of each shard, and where it ends.
    words : list of str
        Which rows of X these are, as errors name them.
    make : callable
        make(parts, rows) gives the object, on the worker.
    name : str
        What the names of tasks begin with.
    """

    def __init__(
        self,
        client: Client,
        parts: Sequence[list[Any]],
        rows: Sequence[tuple[int, int]],
        words: Sequence[str],
        make: Callable[..., Any],
        name: str,
    ) -> None:
        self.client, self.name, self._make = client, name, make
        self._token, self._number = uuid4().hex[:8], 0
        self._closed = False
        self._one_at_a_time = threading.RLock()  # what is asked may take another question
        self.shards = [Shard(*of) for of in zip(rows, parts, words, strict=True)]
        addresses = sorted(workers_of(client))
        with self._told():
            for k, shard in enumerate(self.shards):
                self._place(shard, addresses[k % len(addresses)])

    def __len__(self) -> int:
        return len(self.shards)

    def ask(
        self,
        what: str,
        function: Callable[..., Any],
        arguments: Callable[[int], tuple[Any, ...]],
        only: Sequence[int] | None = None,
    ) -> list[Any]:
        """function(shard, *arguments(k)) of each shard k, or of some of them: one task each.

        Arguments are asked for once more where they have to be sent again.
        """
        with self._one_at_a_time, self._told():
            wanted = list(range(len(self))) if only is None else list(only)
            return self._asked(what, function, arguments, wanted)

    def begin(
        self,
        what: str,
        function: Callable[..., Any],
        arguments: Callable[[int], tuple[Any, ...]],
        k: int,
    ) -> Begun:
        """Have function(shard, *arguments(k)) computed by shard k, after all that it has begun."""
        begun = Begun(what, function, arguments, k)
        with self._one_at_a_time, self._told():
            self.shards[k].begun.append(begun)
            self._send(begun)
        return begun

    def finish(self, begun: Begun) -> Any:
        """Wait for what was begun."""
        shard, began = self.shards[begun.k], time.perf_counter()
        found: dict[int, Any] = {}
        with self._one_at_a_time, self._told():
            while begun.k not in found:
                if self._closed:
                    raise ClusterError(ENDED)
                if begun.future is None:
                    self._make_again({begun.k: ""})
                    continue
                found, lost = self.client.sync(self._answered, {begun.k: begun.future})
                if lost:
                    self._make_again(lost)
                elif not found:  # the shard was made again by the scheduler, without what it had
                    self._begin_again(shard)
            shard.begun.remove(begun)
            begun.release()
        shard.stats.seconds_waiting += time.perf_counter() - began
        return found[begun.k]

    def _send(self, begun: Begun) -> None:
        """Submit what was begun; it waits for what was begun before."""
        self._number += 1
        earlier = self.shards[begun.k].begun
        at = earlier.index(begun)
        after = earlier[at - 1].future if at else None
        try:
            begun.future = self._submit(
                begun.what, begun.function, begun.k, begun.arguments(begun.k), after
            )
        except Lost:
            begun.future = None  # it is noticed when it is waited for

    def _begin_again(self, shard: Shard) -> None:
        """Submit once more what was begun."""
        for begun in shard.begun:
            begun.release()
        for begun in shard.begun:
            self._send(begun)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """After an error nothing of the shards is left on the cluster."""
        try:
            with told(self.client):
                yield
        except BaseException:
            self.close()
            raise

    def _asked(
        self,
        what: str,
        function: Callable[..., Any],
        arguments: Callable[[int], tuple[Any, ...]],
        wanted: list[int],
    ) -> list[Any]:
        answers: dict[int, Any] = {}
        began = time.perf_counter()
        while len(answers) < len(wanted):
            if self._closed:
                raise ClusterError(ENDED)
            self._number += 1
            futures: dict[int, Future] = {}
            lost: dict[int, str] = {}
            try:
                for k in wanted:
                    if k not in answers:
                        try:
                            futures[k] = self._submit(what, function, k, arguments(k))
                        except Lost as error:
                            lost[k] = str(error)
                found, more = self.client.sync(self._answered, futures)
            finally:
                for future in futures.values():
                    future.release()
                futures.clear()
            answers |= found
            if lost or more:
                self._make_again(lost | more)
        for k in wanted:
            self.shards[k].stats.seconds_waiting += time.perf_counter() - began
        return [answers[k] for k in wanted]

    def _submit(
        self,
        what: str,
        function: Callable[..., Any],
        k: int,
        args: tuple[Any, ...],
        after: Future | None = None,
    ) -> Future:
        shard, size = self.shards[k], n_bytes(args)
        if shard.future is None:
            raise Lost
        shard.stats.rounds += 1
        shard.stats.bytes_sent += size
        beside: list[Future] = []
        if size > LARGE:
            beside = self.client.sync(self._sent, list(args), shard.address)
        try:
            return self.client.submit(
                _timed, shard.future, function, *(beside or args), after=after,
                workers=[shard.address], pure=False,
                key=f"{self.name}-{what}-{self._token}-{self._number}-{k}",
            )  # fmt: skip
        finally:
            for future in beside:
                future.release()

    async def _sent(self, values: list[Any], address: str) -> list[Future]:
        """Values in the memory of a worker."""
        sending = self.client.scatter(values, workers=[address], hash=False, asynchronous=True)
        try:
            return list(await self._while_there(sending, address))
        except (OSError, TimeoutError, KeyError, *CANCELLED) as error:
            raise Lost(f"the worker at {address} took no data: {error}") from error

    async def _while_there(self, one: Awaitable[Any], address: str) -> Any:
        """What is waited for, unless the worker dies."""
        waiting = asyncio.ensure_future(one)
        while not (await asyncio.wait([waiting], timeout=LOOK))[0]:
            if address not in (await alive(self.client))[0]:
                waiting.cancel()
        return await waiting

    async def _answered(self, futures: dict[int, Future]) -> tuple[dict[int, Any], dict[int, str]]:
        """The answers that came, and which shards were lost, with the reason if one is known."""
        found: dict[int, Any] = {}
        lost: dict[int, str] = {}
        asked = {k: asyncio.ensure_future(_result(future)) for k, future in futures.items()}
        try:
            await self._waited_for(asked)
        finally:
            for one in asked.values():
                one.cancel()
        for k, one in asked.items():
            shard = self.shards[k]
            try:
                answer, seconds = one.result()
            except Forgotten:
                shard.life += 1
            except LOST as error:
                lost[k] = str(error)  # itself it would keep tasks that are to be forgotten
                if isinstance(error, KilledWorker):  # the scheduler has tried as often already
                    shard.failures = DEATHS
            except MemoryError as error:
                raise ClusterError(f"{_with_rows(shard)} is short of memory: {MORE}") from error
            else:
                found[k] = answer
                shard.failures = 0
                shard.stats.seconds_computing += seconds
                shard.stats.bytes_received += n_bytes(answer)
                for future in shard.made_of:
                    future.release()
                shard.made_of = []
        if lost:
            await alive(self.client)  # or it is the scheduler that is lost
        return found, lost

    async def _waited_for(self, asked: dict[int, asyncio.Task[Any]]) -> None:
        """Wait for answers, and give up those of workers that are gone."""
        pending = set(asked.values())
        since = time.perf_counter()  # the last answer, or when somebody was at work
        paused: dict[str, float] = {}
        while pending:
            done, pending = await asyncio.wait(pending, timeout=LOOK)
            now = time.perf_counter()
            if done:
                since = now
                paused.clear()
                continue
            there, running = await alive(self.client)
            left = {k: self.shards[k] for k, one in asked.items() if one in pending}
            # a part that is waited for may be made by any of them
            watched = {shard.address for shard in left.values()}
            if any(shard.made_of for shard in left.values()):
                watched = there
            paused = {at: paused.get(at, now) for at in (watched & there) - running}
            full = [at for at, began in paused.items() if now - began > PAUSED]
            if full:
                raise ClusterError(
                    f"the worker at {full[0]} takes no tasks, as one whose memory is full: {MORE}"
                )
            if paused or any((await told_by_scheduler(self.client, "processing")).values()):
                since = now
            for k, shard in left.items():
                stalled = now - since > STALLED * 2**shard.failures
                if stalled or shard.address not in there:
                    asked[k].cancel()

    def _make_again(self, lost: dict[int, str]) -> None:
        """Have lost shards made on other workers, with all that nobody has noticed yet."""
        there = self.client.sync(alive, self.client)[0]
        gone = {k: "" for k, shard in enumerate(self.shards) if shard.address not in there}
        lost = gone | lost
        for k in lost:
            self._check_data(self.shards[k], lost[k])
            self.shards[k].release()
        gc.collect()  # tasks that wait for a lost worker would keep their parts waiting too
        for k in sorted(lost):
            self._move(self.shards[k], lost[k])
        for k in sorted(lost):
            self._begin_again(self.shards[k])

    def _check_data(self, shard: Shard, reason: str) -> None:
        """Refuse to wait for what cannot be made again."""
        lazy = all(isinstance(part, Delayed) for part in shard.parts)
        if lazy and shard.made_of and "lost dependencies" in reason:
            raise ClusterError(
                f"{shard.words} cannot be made again: some of them were only in "
                "the memory of a worker that is gone, as what is scattered; load the data again, "
                "or give a collection that knows how to"
            )

    def _move(self, shard: Shard, reason: str) -> None:
        """Have a lost shard made on another worker: one that has none, or the fewest."""
        shard.stats.deaths += 1
        shard.failures += 1
        if shard.failures > DEATHS:
            raise ClusterError(
                f"{shard.failures} workers were lost with the same rows, and the last of them, "
                f"{_with_rows(shard)}, may have been short of memory: {MORE} "
                f"({reason or 'the worker died'})"
            )
        patience = Patience()
        while not (there := self.client.sync(alive, self.client)[1]):
            patience.look(there)
            time.sleep(LOOK)
        load = dict.fromkeys(there, 0)
        for other in self.shards:
            if other is not shard and other.address in load:
                load[other.address] += 1
        self._place(shard, min(sorted(load), key=lambda address: load[address]))

    def _place(self, shard: Shard, address: str) -> None:
        """Have a shard made on a worker."""
        shard.life += 1
        shard.address = shard.stats.worker = address
        if all(isinstance(part, Delayed) for part in shard.parts):
            parts = self.client.compute(
                shard.parts, workers=[address], allow_other_workers=True, optimize_graph=False
            )
        else:
            shard.stats.bytes_sent += n_bytes(shard.parts)
            try:
                parts = self.client.sync(self._sent, shard.parts, address)
            except Lost:
                return  # it is noticed when it is asked
        shard.made_of = parts
        shard.future = self.client.submit(
            self._make, parts, shard.rows, workers=[address], pure=False,
            key=f"{self.name}-shard-{self._token}-{shard.rows[0]}-{shard.life}",
        )  # fmt: skip

    def close(self) -> None:
        """Let the workers forget the shards."""
        self._closed = True
        for shard in self.shards:
            shard.release()
            shard.begun.clear()


def _with_rows(shard: Shard) -> str:
    return f"the worker at {shard.address} with {shard.words}"


async def _result(future: Future) -> Any:
    """The result of a task, once there is one."""
    return await future


def _timed(
    shard: Any, function: Callable[..., Any], *args: Any, after: Any = None
) -> tuple[Any, float]:
    began = time.perf_counter()
    answer = function(shard, *args)
    return answer, time.perf_counter() - began


def n_bytes(value: Any) -> int:
    """About how many bytes are sent with a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if sp.issparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, list | tuple):
        return sum(n_bytes(part) for part in value)
    if hasattr(value, "__dataclass_fields__"):
        return sum(n_bytes(getattr(value, name)) for name in value.__dataclass_fields__)
    return 8
