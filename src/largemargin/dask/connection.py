"""The connection to a cluster: whether it is there, which workers it has, and what they compute.

Whatever waits here looks now and then whether there is still somebody to wait for. So a cluster
that is gone ends in an error, and in no endless wait.
"""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from dask.delayed import Delayed
from distributed import Client, Future, KilledWorker, secede
from distributed.client import FutureCancelledError, FuturesCancelledError

LOOK = 0.5  # seconds without an answer after which one looks whether the workers are alive
NO_WORKER = 60.0  # seconds that one waits for a worker, if there is none
SAID = 5.0  # seconds after which one says that one waits: a nanny takes some to start one again
SCHEDULER = 10.0  # seconds in which a scheduler that is alive answers
CANCELLED = (FutureCancelledError, FuturesCancelledError, asyncio.CancelledError)
GONE = (
    "the scheduler of the cluster is gone, or does not answer: start the cluster again, connect a "
    "client to it, and fit again"
)
MORE = "use more workers, or workers with more memory"
NO_WORKERS = (
    f"no worker is left that takes tasks, and none came within {NO_WORKER:.0f} seconds: start "
    "workers, and fit again"
)


class ClusterError(RuntimeError):
    """A cluster that cannot go on; the message says why and what to do."""


class Patience:
    """Waiting for a worker where there is none: it is said after some seconds, and given up after
    many, with an error that says `gone`.
    """

    def __init__(self, gone: str = NO_WORKERS) -> None:
        self._gone, self._seen, self._said = gone, time.perf_counter(), False

    def look(self, workers: Collection[Any]) -> None:
        """Take note of the workers that there are."""
        now = time.perf_counter()
        if workers:
            self._seen, self._said = now, False
        elif now - self._seen > NO_WORKER:
            raise ClusterError(self._gone)
        elif now - self._seen > SAID and not self._said:
            self._said = True
            warnings.warn(
                "no worker of the cluster takes tasks: waiting for one, up to "
                f"{NO_WORKER:.0f} seconds. Start workers, or press Ctrl-C",
                stacklevel=2,
            )


@contextmanager
def told(client: Client) -> Iterator[None]:
    """If it is the connection to the cluster that fails, say so."""
    try:
        yield
    except ClusterError:
        raise
    except (Exception, asyncio.CancelledError) as error:
        if client.status != "running":
            raise ClusterError(GONE) from error
        raise


def workers_of(client: Client) -> set[str]:
    """The workers that take tasks, of which there must be one."""
    with told(client):
        found: set[str] = client.sync(alive, client)[1]
    if not found:
        raise ClusterError("the cluster has no worker that takes tasks: start one, and fit again")
    return found


def computed_on(client: Client, values: Sequence[Delayed]) -> list[Any]:
    """What delayed values are, as long as there are workers."""
    futures = client.compute(list(values))
    try:
        with told(client):
            return list(client.sync(_gathered, client, futures))
    finally:
        for future in futures:
            future.release()


async def _gathered(client: Client, futures: list[Future]) -> list[Any]:
    """The results of tasks; those of a lost worker are made again by the scheduler."""
    waiting = asyncio.ensure_future(client._gather(futures))
    patience = Patience()
    while not (await asyncio.wait([waiting], timeout=LOOK))[0]:
        try:
            patience.look((await alive(client))[1])
        except ClusterError:
            waiting.cancel()
            raise
    try:
        return list(await waiting)
    except KilledWorker as error:
        raise ClusterError(f"a part of the data is the death of its workers: {MORE}") from error
    except CANCELLED as error:
        if client.status != "running":
            raise
        raise ClusterError(
            "some of the data cannot be made: it was only in the memory of a worker that is gone, "
            "as what is scattered; load it again, or give a collection that knows how to"
        ) from error


def make_room() -> None:
    """Within a task, let its worker start others while this one waits for them."""
    with suppress(ValueError, KeyError):  # not within a task, or once more
        secede()


async def alive(client: Client) -> tuple[set[str], set[str]]:
    """The workers that are there, and those that take tasks."""
    there = await told_by_scheduler(client, "ncores")
    return set(there), set(await told_by_scheduler(client, "ncores_running"))


async def told_by_scheduler(client: Client, what: str) -> dict[str, Any]:
    """What the scheduler knows of its workers, by their addresses."""
    if client.status != "running":
        raise ClusterError(GONE)
    try:
        answer = getattr(client.scheduler, what)(workers=None)
        return dict(await asyncio.wait_for(answer, SCHEDULER))
    except (OSError, TimeoutError) as error:
        raise ClusterError(GONE) from error
