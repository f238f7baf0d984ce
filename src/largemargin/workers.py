"""How many threads to use, and running work on them with BLAS held to one thread each.

Threads run over tiles of fixed shape and each tile is one single-threaded product, so a result does
not depend on how many threads there are.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from typing import Any

from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """The BLAS libraries of this process; looking them up takes milliseconds, so once."""
    return ThreadpoolController().select(user_api="blas")


def count_workers(n_jobs: int | None) -> int:
    """The number of threads that `n_jobs` means.

    None is every core that this process may use, within the BLAS and OpenMP limits in force, and 1
    inside a joblib worker. Negative numbers count back from all cores, -1 being all of them.
    """
    if n_jobs is not None and (
        not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0
    ):
        raise ValueError(f"n_jobs must be None or a non-zero integer, got {n_jobs!r}")
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    if n_jobs is None:
        if get_active_backend()[0].nesting_level:
            return 1
        limits = [lib["num_threads"] for lib in _controller().info()]
        limits += [
            int(v) for v in [os.environ.get("OMP_NUM_THREADS", "")] if v.isdigit() and int(v)
        ]
        return max(1, min([cores, *limits]))
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


class Workers:
    """Threads that share work out among themselves; the calling thread is one of them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        """Have `work` done by another thread; without one, when it is waited for."""
        if self.count == 1:
            return Future()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.count - 1)
        return self._pool.submit(work)

    def wait(self, tasks: Mapping[Future[Any], Callable[[], Any]], task: Future[Any]) -> None:
        """Wait for one of the submitted `tasks`, doing those that nobody has begun meanwhile."""
        while not task.done():
            for other in (task, *tasks):
                if not other.done() and other.cancel():
                    tasks[other]()
                    break
            else:
                break
        if not task.cancelled():
            task.result()

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> None:
        """Call work(item) for each item, on all threads; after an error, for no further one."""
        left = deque(items)

        def drain() -> None:
            try:
                while left:
                    try:
                        item = left.popleft()
                    except IndexError:  # another thread was faster
                        return
                    work(item)
            except BaseException:
                left.clear()
                raise

        helpers = [self.submit(drain) for _ in range(min(self.count, len(left)) - 1)]
        try:
            drain()
        finally:
            wait([helper for helper in helpers if not helper.cancel()])
        for helper in helpers:
            if not helper.cancelled():
                helper.result()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


@contextmanager
def blas_threads(n_jobs: int | None) -> Iterator[None]:
    """BLAS on as many threads as `n_jobs` means, for one product that is not worth cutting up."""
    if n_jobs is None:
        yield
    else:
        with _controller().limit(limits=count_workers(n_jobs)):
            yield


@contextmanager
def workers(n_jobs: int | None) -> Iterator[Workers]:
    """Threads for a while, during which every BLAS call is single-threaded."""
    team = Workers(count_workers(n_jobs))
    try:
        with _controller().limit(limits=1):
            yield team
    finally:
        team.close()
