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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed
from distributed import Client, Future, KilledWorker
from distributed.client import FutureCancelledError, FuturesCancelledError

LOOK = 0.5  # seconds without an answer after which one looks whether the workers are alive
NO_WORKER = 30.0  # seconds that one waits for a worker, if there is none
SCHEDULER = 10.0  # seconds in which a scheduler that is alive answers
DEATHS = 4  # workers that may die with the same shard
LARGE = 1 << 20  # bytes of arguments that are sent beside a task and not within it
LOST = (KilledWorker, FutureCancelledError, FuturesCancelledError, asyncio.CancelledError)


class ClusterError(RuntimeError):
    """A cluster that cannot go on; the message says why and what to do."""


class Forgotten(Exception):
    """A shard was made again and does not have what was sent to it."""


@dataclass
class Stats:
    """What one shard was asked for, and what that took."""

    worker: str = ""
    rounds: int = 0
    values: int = 0
    vectors_sent: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    seconds_computing: float = 0.0
    seconds_waiting: float = 0.0
    deaths: int = 0


@dataclass
class Shard:
    """Where a shard is; `life` counts how often it was made."""

    rows: tuple[int, int]
    parts: list[Any]
    address: str = ""
    future: Future | None = None
    life: int = 0
    stats: Stats = field(default_factory=Stats)
    begun: list[Begun] = field(default_factory=list)  # in their order, and not finished


@dataclass(eq=False)
class Begun:
    """What a shard was asked for, and is waited for later."""

    what: str
    function: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    k: int
    future: Future | None = None


class Cluster:
    """The shards of some rows.

    Parameters
    ----------
    parts : list of lists
        What each shard is made of: delayed objects, or arrays that are sent.
    rows : list of pairs of int
        The first row of each shard, and where it ends.
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
        make: Callable[..., Any],
        name: str,
    ) -> None:
        self.client, self.name, self._make = client, name, make
        self._token, self._number = uuid4().hex[:8], 0
        self._one_at_a_time = threading.RLock()  # what is asked may take another question
        self.shards = [Shard(at, part) for part, at in zip(parts, rows, strict=True)]
        addresses = sorted(client.sync(_alive, client))
        if not addresses:
            raise ClusterError("the cluster has no worker: start one, and fit again")
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
        with self._one_at_a_time:
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
        with self._one_at_a_time:
            self.shards[k].begun.append(begun)
            self._send(begun)
        return begun

    def finish(self, begun: Begun) -> Any:
        """Wait for what was begun."""
        shard, began = self.shards[begun.k], time.perf_counter()
        with self._one_at_a_time:
            while True:
                found, lost = self.client.sync(self._answered, {begun.k: begun.future})
                if not lost:
                    break
                self._make_again(lost)
        shard.begun.remove(begun)
        begun.future = None
        shard.stats.seconds_waiting += time.perf_counter() - began
        return found[begun.k]

    def _send(self, begun: Begun) -> None:
        """Submit what was begun; it waits for what was begun before."""
        self._number += 1
        earlier = self.shards[begun.k].begun
        at = earlier.index(begun)
        after = earlier[at - 1].future if at else None
        begun.future = self._submit(
            begun.what, begun.function, begun.k, begun.arguments(begun.k), after
        )

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
            self._number += 1
            futures = {
                k: self._submit(what, function, k, arguments(k)) for k in wanted if k not in answers
            }
            found, lost = self.client.sync(self._answered, futures)
            answers |= found
            del futures
            if lost:
                self._make_again(lost)
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
        shard.stats.rounds += 1
        shard.stats.bytes_sent += size
        if size > LARGE:
            args = tuple(self.client.scatter(list(args), workers=[shard.address], hash=False))
        return self.client.submit(
            _timed, shard.future, function, *args, after=after, workers=[shard.address], pure=False,
            key=f"{self.name}-{what}-{self._token}-{self._number}-{k}",
        )  # fmt: skip

    async def _answered(self, futures: dict[int, Future]) -> tuple[dict[int, Any], dict[int, str]]:
        """The answers that came, and which shards were lost, with the reason if one is known."""
        found: dict[int, Any] = {}
        lost: dict[int, str] = {}
        asked = {k: asyncio.ensure_future(_result(future)) for k, future in futures.items()}
        pending = set(asked.values())
        while pending:
            done, pending = await asyncio.wait(pending, timeout=LOOK)
            if pending and not done:
                alive = await self._workers()
                for k, one in asked.items():
                    if one in pending and self.shards[k].address not in alive:
                        one.cancel()
        for k, one in asked.items():
            try:
                answer, seconds = one.result()
            except (Forgotten, *LOST) as error:
                lost[k] = str(error)  # itself it would keep tasks that are to be forgotten
            else:
                found[k] = answer
                self.shards[k].stats.seconds_computing += seconds
                self.shards[k].stats.bytes_received += n_bytes(answer)
        if lost:
            await self._workers()  # or it is the scheduler that is lost
        return found, lost

    async def _workers(self) -> set[str]:
        """The workers that are alive."""
        try:
            return await asyncio.wait_for(_alive(self.client), SCHEDULER)
        except (OSError, TimeoutError, RuntimeError) as error:
            raise ClusterError(
                "the scheduler of the cluster is gone, or does not answer: start the cluster "
                "again, connect a client to it, and fit again"
            ) from error

    def _make_again(self, lost: dict[int, str]) -> None:
        """Have lost shards made on other workers."""
        for k in lost:
            self.shards[k].future = None
            for begun in self.shards[k].begun:
                begun.future = None
        gc.collect()  # tasks that wait for a lost worker would keep their parts waiting too
        for k in sorted(lost):
            self._move(self.shards[k], lost[k])
        for k in sorted(lost):
            for begun in self.shards[k].begun:
                if begun.future is None:
                    self._send(begun)

    def _move(self, shard: Shard, reason: str) -> None:
        """Have a lost shard made on another worker: one that has none, or the fewest."""
        shard.stats.deaths += 1
        first, end = shard.rows
        if shard.stats.deaths > DEATHS:
            raise ClusterError(
                f"{shard.stats.deaths} workers were lost with the same {end - first} rows of X, "
                f"the last at {shard.address}: it may be short of memory; use more workers, or "
                f"workers with more memory ({reason or 'the worker died'})"
            )
        until = time.perf_counter() + NO_WORKER
        while not (there := self.client.sync(self._workers)):
            if time.perf_counter() > until:
                raise ClusterError(
                    f"no worker is left, and none came within {NO_WORKER:.0f} seconds: start "
                    "workers, and fit again"
                )
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
            parts = self.client.scatter(shard.parts, workers=[address], hash=False)
        shard.future = self.client.submit(
            self._make, parts, shard.rows, workers=[address], pure=False,
            key=f"{self.name}-shard-{self._token}-{shard.rows[0]}-{shard.life}",
        )  # fmt: skip

    def close(self) -> None:
        """Let the workers forget the shards."""
        for shard in self.shards:
            shard.future = None
            shard.begun.clear()


async def _result(future: Future) -> Any:
    """The result of a task, once there is one."""
    return await future


async def _alive(client: Client) -> set[str]:
    """The workers that are there."""
    if client.status != "running":
        raise RuntimeError(f"the client is {client.status}")
    return set(await client.scheduler.ncores(workers=None))


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
