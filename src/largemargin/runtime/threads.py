"""How many threads to use, and running work on them with BLAS held to one thread each.

Threads run over tiles of fixed shape and each tile is one single-threaded product, so a result does
not depend on how many threads there are.

How many threads BLAS has is one number for the whole process, and fits and predictions may overlap
in any order. So the limit is counted: the first who asks for it notes what was in force, the last
to leave puts that back.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from typing import Any

from joblib.parallel import get_active_backend
from threadpoolctl import LibController, ThreadpoolController

from largemargin.runtime.memory import keep_freed_memory

IDLE_POOLS = 4  # teams whose threads wait for the next one
MANY_TASKS = 256  # tasks of a team from which on those that are done are forgotten


@cache
def _libraries() -> list[LibController]:
    """The BLAS libraries of this process; looking them up takes milliseconds, so once."""
    libraries: list[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    return libraries


def _set_threads(library: LibController, count: int) -> None:
    """Set the number of threads, from any thread.

    Later versions of threadpoolctl put one thread in control of a library, the first that sets the
    number, and ignore all others without a word. So that thread is released before and after.
    """
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    library.set_num_threads(count)
    if release is not None:
        release(force=True)


class single_thread:
    """Every BLAS call of the process single-threaded for a while."""

    def __enter__(self) -> None:
        try:  # an interrupt can come between any two steps
            _limit.enter(self)
        except BaseException:
            _limit.leave(self)
            raise

    def __exit__(self, *failure: object) -> None:
        _limit.leave(self)


class _Limit:
    """BLAS on one thread as long as anybody in the process is within."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within: dict[object, int] = {}  # who, and on which thread
        self._before: list[int] = []

    def enter(self, who: object) -> None:
        with self._lock:
            first = not self._within
            if first:
                self._before = [library.num_threads for library in _libraries()]
            self._within[who] = threading.get_ident()
            if first:
                for library, before in zip(_libraries(), self._before, strict=True):
                    if before != 1:
                        _set_threads(library, 1)

    def leave(self, who: object) -> None:
        with self._lock:
            if self._within.pop(who, None) is not None and not self._within:
                self._restore()

    def _restore(self) -> None:
        for library, before in zip(_libraries(), self._before, strict=True):
            # what somebody else has set in the meantime is left to them
            if before != 1 and library.num_threads == 1:
                _set_threads(library, before)

    def allowed(self) -> list[int]:
        """The threads that each library may use, but for this limit."""
        with self._lock:
            now = [library.num_threads for library in _libraries()]
            if not self._within:
                return now
            return [old if n == 1 else n for n, old in zip(now, self._before, strict=True)]

    def after_fork(self) -> None:
        """In a new process, which has the thread that forked and no other."""
        self._lock = threading.Lock()
        here, others = threading.get_ident(), bool(self._within)
        self._within = {who: thread for who, thread in self._within.items() if thread == here}
        if others and not self._within:
            self._restore()


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.after_fork)


def count_workers(n_jobs: int | None) -> int:
    """The number of threads that `n_jobs` means.

    None is every core that this process may use, within the BLAS and OpenMP limits in force, and 1
    inside a joblib worker or a task of a Dask worker. Negative numbers count back from all cores,
    -1 being all of them.
    """
    _check(n_jobs)
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    if n_jobs is None:
        if get_active_backend()[0].nesting_level or _in_a_dask_task():
            return 1
        limits = _limit.allowed()
        limits += [
            int(v) for v in [os.environ.get("OMP_NUM_THREADS", "")] if v.isdigit() and int(v)
        ]
        return max(1, min([cores, *limits]))
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def _in_a_dask_task() -> bool:
    """Whether this thread runs a task of a Dask worker, which has as many tasks as threads; also
    under joblib's Dask backend, whose nesting level stays 0 there.
    """
    worker = sys.modules.get("distributed.worker")  # where Dask is in use it is there already
    if worker is None:
        return False
    try:
        worker.get_worker()
    except ValueError:
        return False
    return True


def _check(n_jobs: int | None) -> None:
    if n_jobs is not None and (
        not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0
    ):
        raise ValueError(f"n_jobs must be None or a non-zero integer, got {n_jobs!r}")


class _IdlePools:
    """Threads that have nothing to do and wait for the next team: starting them takes longer than
    a small fit or prediction has to do. A team has its threads for itself.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pools: list[tuple[int, ThreadPoolExecutor]] = []

    def take(self, count: int) -> ThreadPoolExecutor:
        with self._lock:
            for k, (size, pool) in enumerate(self._pools):
                if size == count:
                    del self._pools[k]
                    return pool
        return ThreadPoolExecutor(count)

    def give(self, count: int, pool: ThreadPoolExecutor) -> None:
        with self._lock:
            self._pools.insert(0, (count, pool))
            left = self._pools[IDLE_POOLS:]
            del self._pools[IDLE_POOLS:]
        for _, old in left:
            old.shutdown(wait=False)

    def after_fork(self) -> None:
        """In a new process, which has none of these threads."""
        self.__init__()  # type: ignore[misc]


_idle = _IdlePools()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.after_fork)


class Workers:
    """Threads that share work out among themselves; the calling thread is one of them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None
        self._given: list[Future[Any]] = []

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        """Have `work` done by another thread; without one, when it is waited for."""
        if self.count == 1:
            return Future()
        if self._pool is None:
            self._pool = _idle.take(self.count - 1)
        given = self._pool.submit(work)
        if len(self._given) > MANY_TASKS:
            self._given = [task for task in self._given if not task.done()]
        self._given.append(given)
        return given

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
        if self.count == 1 or len(left) <= 1:  # without what it takes to wait for others
            for item in left:
                work(item)
            return

        drain = _Draining(work, left)
        helpers = [self.submit(drain) for _ in range(min(self.count, len(left)) - 1)]
        try:
            drain()
        finally:
            wait([helper for helper in helpers if not helper.cancel()])
            drain.forget()
        for helper in helpers:
            if not helper.cancelled():
                helper.result()

    def close(self) -> None:
        """Let the threads go, after what they have begun."""
        if self._pool is not None:
            wait([task for task in self._given if not task.cancel()])
            _idle.give(self.count - 1, self._pool)
            self._pool = None


class _Draining:
    """Work for the items that are left, to be done by any number of threads."""

    def __init__(self, work: Callable[[Any], Any], left: deque[Any]) -> None:
        self._work, self._left = work, left

    def __call__(self) -> None:
        left = self._left
        try:
            while left:
                try:
                    item = left.popleft()
                except IndexError:  # another thread was faster
                    return
                self._work(item)
        except BaseException:
            left.clear()
            raise

    def forget(self) -> None:
        """Let go of what the work refers to: where all threads are busy, a pool holds on to a task
        that was cancelled until one of them looks at it, and these may be thousands.
        """
        del self._work


@contextmanager
def workers(n_jobs: int | None) -> Iterator[Workers]:
    """Threads for a while, during which every BLAS call is single-threaded."""
    keep_freed_memory()
    team = Workers(count_workers(n_jobs))
    try:
        with single_thread():
            yield team
    finally:
        team.close()


def for_each(work: Callable[[Any], Any], items: Sequence[Any], n_jobs: int | None) -> None:
    """Call work(item) for each item, on as many threads as `n_jobs` means, and for one on this."""
    if len(items) > 1:
        with workers(n_jobs) as team:
            team.map(work, items)
        return
    _check(n_jobs)
    with single_thread():
        for item in items:
            work(item)
