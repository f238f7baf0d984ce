"""How many threads there are, and that work is done once, whoever does it."""

import os
import threading
import time
import warnings
import weakref
from functools import partial

import numpy as np
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from largemargin.runtime.threads import (
    IDLE_POOLS,
    Workers,
    count_workers,
    for_each,
    single_thread,
    workers,
)

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def blas_limits():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def test_count_of_workers(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert count_workers(1) == 1
    assert count_workers(7) == 7
    assert count_workers(np.int64(3)) == 3
    assert count_workers(-1) == CORES
    assert count_workers(-CORES) == 1
    assert count_workers(-1000) == 1
    assert 1 <= count_workers(None) <= CORES


def test_none_keeps_within_the_limits_in_force(monkeypatch):
    with threadpool_limits(1, user_api="blas"):
        assert count_workers(None) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert count_workers(None) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert count_workers(None) >= 1


def test_none_is_one_inside_a_joblib_worker():
    found = Parallel(n_jobs=2, prefer="threads")(delayed(count_workers)(None) for _ in range(4))
    assert found == [1, 1, 1, 1]


@pytest.mark.parametrize("wrong", [0, 1.5, "2", True, np.nan])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(
        ValueError, match=f"n_jobs must be None or a non-zero integer, got {wrong!r}"
    ):
        count_workers(wrong)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_map_does_every_item_once(count):
    done, lock = [], threading.Lock()

    def work(item):
        with lock:
            done.append(item)

    with workers(count) as team:
        assert team.count == count
        team.map(work, range(200))
        team.map(work, [])
    assert sorted(done) == list(range(200))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_errors_reach_the_caller(count):
    def work(item):
        if item == 17:
            raise RuntimeError("item 17")

    with workers(count) as team, pytest.raises(RuntimeError, match="item 17"):
        team.map(work, range(40))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_after_an_error_nothing_more_is_begun(count):
    begun = []

    def work(item):
        begun.append(item)
        if item == 3:
            raise RuntimeError("item 3")
        time.sleep(0.01)

    with workers(count) as team, pytest.raises(RuntimeError, match="item 3"):
        team.map(work, range(1000))
    assert set(range(4)) <= set(begun)
    assert len(begun) < 4 + 10 * count


@pytest.mark.parametrize("count", [1, 2, 5])
def test_work_may_share_out_work_of_its_own(count):
    done, lock = [], threading.Lock()

    def work(item):
        with lock:
            done.append(item)

    with workers(count) as team:
        team.map(lambda item: team.map(work, range(10 * item, 10 * item + 10)), range(20))
    assert sorted(done) == list(range(200))


def test_work_that_is_done_lets_go_of_its_data():
    """Also where its helpers were never begun, since all threads were busy: the matrices of
    hundreds of small problems would be there at once.
    """
    kept = []
    team = Workers(2)

    def share_out(_):
        data = np.zeros(1000)
        kept.append(weakref.ref(data))
        team.map(lambda k: data.__setitem__(k, 1.0), range(4))
        return data.sum()

    def begin(_):
        for k in range(20):
            share_out(k)
        alive.append(sum(one() is not None for one in kept))

    alive = []
    team.map(begin, range(2))
    team.close()
    assert len(kept) == 40
    assert max(alive) <= 2  # one of each thread


@pytest.mark.parametrize("count", [1, 2, 4])
def test_waiting_for_one_task_does_others_in_the_meantime(count):
    done, lock = [], threading.Lock()

    def work(item):
        time.sleep(0.001)
        with lock:
            done.append(item)

    with workers(count) as team:
        tasks = {}
        for item in range(20):
            job = partial(work, item)
            tasks[team.submit(job)] = job
        for number, task in enumerate(list(tasks)):
            team.wait(tasks, task)
            assert number in done
    assert sorted(done) == list(range(20))


def test_an_error_in_another_thread_is_raised_when_its_task_is_waited_for():
    def fail():
        raise RuntimeError("in another thread")

    with workers(3) as team:
        task = team.submit(fail)
        time.sleep(0.05)
        with pytest.raises(RuntimeError, match="in another thread"):
            team.wait({task: fail}, task)


def test_blas_is_single_threaded_within_and_as_before_afterwards():
    before = blas_limits()
    with workers(2):
        assert blas_limits() == {1}
    assert blas_limits() == before
    with pytest.raises(KeyError), workers(2):
        raise KeyError
    assert blas_limits() == before
    with single_thread():
        assert blas_limits() == {1}
    assert blas_limits() == before
    for items in ([], [1], [1, 2, 3]):
        seen = []
        for_each(lambda item, seen=seen: seen.append((item, *blas_limits())), items, 2)
        assert sorted(seen) == [(item, 1) for item in items]
    assert blas_limits() == before


def idents(team):
    """The threads beside this one that have done a part of some work."""
    found = set()
    team.map(lambda item: (time.sleep(0.005), found.add(threading.get_ident())), range(12))
    return found - {threading.get_ident()}


def test_threads_wait_for_the_next_team_and_serve_one_at_a_time():
    with workers(2) as team:
        first = idents(team)
        with workers(2) as other:
            second = idents(other)
    with workers(2) as team:
        again = idents(team)
    assert len(first) == len(second) == 1
    assert first != second
    assert again == first  # those that had nothing to do for the shortest time


def test_few_threads_are_left_behind():
    for count in range(2, 12):
        with workers(count) as team:
            team.map(lambda item: None, range(50))
    gone = time.monotonic() + 10
    most = IDLE_POOLS * 11 + 5
    while threading.active_count() > most and time.monotonic() < gone:
        time.sleep(0.01)
    assert threading.active_count() <= most


def test_work_that_nobody_waits_for_ends_before_the_team_does():
    done = []
    with workers(2) as team:
        team.submit(lambda: (time.sleep(0.05), done.append(1)))
    assert done in ([], [1])  # never begun, or done
    count = len(done)
    time.sleep(0.1)
    assert len(done) == count


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own():
    with workers(2) as team:
        team.map(lambda item: None, range(4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        with workers(2) as team:
            seen = []
            team.map(seen.append, range(100))
        os._exit(0 if sorted(seen) == list(range(100)) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_without_other_threads_work_waits_until_it_is_waited_for():
    done = []
    team = Workers(1)
    task = team.submit(lambda: done.append(1))
    assert done == []
    team.wait({task: lambda: done.append(2)}, task)
    assert done == [2]
    team.close()
