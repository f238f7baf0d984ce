"""Independent pieces of work on the workers of a cluster, one task and one thread each.

What the pieces have in common, such as a data set, travels once to each worker: all pieces are sent
together, and a task is told which of them is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import uuid4

from distributed import Client, Future, wait

from largemargin.dask.cluster import LOST
from largemargin.dask.connection import NO_WORKERS, SCHEDULER, ClusterError, Patience
from largemargin.runtime.threads import single_thread

LOOK = 2.0  # seconds without a result after which one looks whether there are workers


def spread(
    client: Client, work: Callable[[Any], Any], items: Sequence[Any], name: str
) -> Iterator[tuple[int, Any]]:
    """The place of each item with work(item), as they finish.

    When a worker dies, another one does its work. What `work` raises is raised here; then, and when
    nobody asks for more, what is left is not done.
    """
    token = uuid4().hex[:8]
    shared = client.scatter(_Pieces(work, list(items)), broadcast=True, hash=False)
    left: dict[Future, int] = {
        client.submit(_one, shared, k, pure=False, key=f"{name}-{token}-{k}"): k
        for k in range(len(items))
    }
    try:
        while left:
            for future in _finished(client, left):
                try:
                    result = future.result()
                except LOST as error:
                    raise ClusterError(
                        f"the cluster lost workers and what they held ({error}): look whether "
                        "they are short of memory, and give the same command again"
                    ) from None
                yield left.pop(future), result
    finally:
        client.cancel(list(left))


class _Pieces:
    """Sent as one, so that what they share is sent once."""

    def __init__(self, work: Callable[[Any], Any], items: list[Any]) -> None:
        self.work, self.items = work, items


def _one(pieces: _Pieces, k: int) -> Any:
    with single_thread():
        return pieces.work(pieces.items[k])


def _finished(client: Client, futures: dict[Future, int]) -> set[Future]:
    """Those that are done, of which there is at least one."""
    patience = Patience(NO_WORKERS.replace("and fit again", "and give the same command again"))
    while True:
        try:
            found: set[Future] = wait(
                list(futures), timeout=LOOK, return_when="FIRST_COMPLETED"
            ).done
            return found
        except TimeoutError:
            patience.look(range(_n_workers(client)))


def _n_workers(client: Client) -> int:
    async def ask() -> int:
        return len(await client.scheduler.ncores(workers=None))

    try:
        found: int = client.sync(ask, callback_timeout=SCHEDULER)
    except (OSError, TimeoutError, RuntimeError) as error:
        raise ClusterError(
            "the scheduler of the cluster is gone, or does not answer: start the cluster again, "
            "and give the same command again"
        ) from error
    return found
