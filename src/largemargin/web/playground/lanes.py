"""Work off the event loop: a lane does one thing at a time, and only the newest request counts.

A request that a newer one of its lane replaces is answered at once, with 409; what it computes is
told to stop, and the newer one begins when it has. A request that takes too long is answered 503,
and told to stop too; so is one whose page was closed.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from largemargin.runtime.progress import stoppable
from largemargin.web.problems import Problem

THREADS = 4


class _Ticket:
    """A request in its lane: what it computes asks `stop`, who waits for it asks `replaced`."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.replaced: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def replace(self) -> None:
        self.stop.set()
        if not self.replaced.done():
            self.replaced.set_result(None)


class Lanes:
    """What computes for the page.

    Parameters
    ----------
    seconds : float
        Of a request at most.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._pool = ThreadPoolExecutor(THREADS, "playground")
        self._newest: dict[Hashable, _Ticket] = {}
        self._turns: dict[Hashable, asyncio.Lock] = {}

    async def run(
        self, lane: Hashable, work: Callable[[], Any], gone: Awaitable[Any] | None = None
    ) -> Any:
        """What `work` returns, unless a newer request of the lane comes or the time is up, or
        whoever asked is `gone`.
        """
        leaving = asyncio.ensure_future(gone or asyncio.get_running_loop().create_future())
        ticket = _Ticket()
        older = self._newest.get(lane)
        if older is not None:
            older.replace()
        self._newest[lane] = ticket
        task = asyncio.ensure_future(self._turn(lane, ticket, work))
        try:
            await asyncio.wait(
                {task, ticket.replaced, leaving},
                timeout=self._seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            ticket.stop.set()
            left = leaving.done()
            leaving.cancel()
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        if ticket.replaced.done():
            raise Problem(409, "a newer request took the place of this one")
        if not task.done() and left:
            raise Problem(409, "whoever asked has gone")
        if not task.done():
            raise Problem(
                503,
                f"this took more than {self._seconds:g} seconds: use fewer points or another "
                "machine, or try again if it is the first of its kind since the installation, "
                "which is compiled",
            )
        return task.result()

    async def _turn(self, lane: Hashable, ticket: _Ticket, work: Callable[[], Any]) -> Any:
        turn = self._turns.setdefault(lane, asyncio.Lock())
        async with turn:
            if ticket.stop.is_set():
                return None
            try:
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._pool, _stoppable, work, ticket.stop.is_set)
            finally:
                if self._newest.get(lane) is ticket:  # nobody waits
                    del self._newest[lane], self._turns[lane]

    def close(self) -> None:
        for ticket in self._newest.values():
            ticket.stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _stoppable(work: Callable[[], Any], asked: Callable[[], bool]) -> Any:
    with stoppable(asked):
        return work()
