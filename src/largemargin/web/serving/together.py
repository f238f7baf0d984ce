"""Requests that arrive together, worked on together.

While a batch is worked on in a thread, the requests that arrive wait; the next batch is all of
them. So a single request waits for nobody, and under load batches grow until they are efficient.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Together(Generic[Asked, Answer]):
    """What is asked for one by one, answered in batches.

    Parameters
    ----------
    work : callable
        work(list) gives a list of answers, one for each entry, or what is wrong with it as an
        exception; it runs in a thread, one batch after the other.
    size : callable
        The size of an entry.
    most : int
        The size of a batch, unless one entry alone is larger.
    """

    def __init__(
        self,
        work: Callable[[list[Asked]], Sequence[Answer | Exception]],
        size: Callable[[Asked], int],
        most: int,
    ) -> None:
        self._work, self._size, self._most = work, size, most
        self._waiting: deque[tuple[Asked, asyncio.Future[Any]]] = deque()
        self._working: asyncio.Task[None] | None = None

    async def ask(self, what: Asked) -> Answer:
        """The answer to one entry."""
        found: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((what, found))
        if self._working is None:
            self._working = asyncio.create_task(self._run())
        return await found

    async def _run(self) -> None:
        try:
            while batch := self._taken():
                try:
                    answers = await asyncio.to_thread(self._work, [what for what, _ in batch])
                except Exception as error:
                    for _, found in batch:
                        if not found.done():
                            found.set_exception(error)
                    continue
                for (_, found), answer in zip(batch, answers, strict=True):
                    if found.done():  # whoever asked may have gone
                        continue
                    if isinstance(answer, Exception):
                        found.set_exception(answer)
                    else:
                        found.set_result(answer)
        finally:
            self._working = None

    def _taken(self) -> list[tuple[Asked, asyncio.Future[Any]]]:
        """The next batch; what was given up is left out."""
        batch: list[tuple[Asked, asyncio.Future[Any]]] = []
        size = 0
        while self._waiting:
            what, found = self._waiting[0]
            if batch and size + self._size(what) > self._most:
                break
            self._waiting.popleft()
            if not found.done():
                batch.append((what, found))
                size += self._size(what)
        return batch
