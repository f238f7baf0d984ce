"""Workers die, memory is full, the scheduler is gone: the same model, or a sentence, and soon."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import dask.array as da
import numpy as np
import pytest
from dask import delayed

from largemargin import SVC
from largemargin.dask import ClusterError, DaskSVC, cluster, gradients
from largemargin.svm import chunking, column_sets, cross_validate

from .conftest import cluster_of, wait_for_all

pytestmark = pytest.mark.cluster

N, LIMIT = 9000, 100  # rows, and seconds after which a test has hung
PARAMS = {"gamma": 0.2, "C": 3.0}


@pytest.fixture(autouse=True)
def no_hang():
    """A wait without end is a failure, and does not stop the other tests."""

    def end(number, frame):
        raise AssertionError(f"this takes more than {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int) ^ (rng.random(N) < 0.1)
    return X, y


@pytest.fixture(scope="module")
def two_workers():
    """With nannies that start them again."""
    with cluster_of(2) as client:
        yield client


@pytest.fixture
def workers(two_workers):
    wait_for_all(two_workers, 2)
    return two_workers


@pytest.fixture(scope="module")
def undisturbed(data, two_workers):
    """The model, and the seconds that it takes once everything is loaded."""
    for _ in range(2):
        began = time.perf_counter()
        model = DaskSVC(client=two_workers, **PARAMS).fit(chunked(data[0]), data[1])
        seconds = time.perf_counter() - began
    assert_same(model, SVC(**PARAMS).fit(*data))
    return model, seconds


def chunked(X):
    return da.from_array(X, chunks=(2500, X.shape[1]))


def assert_same(one, other):
    for name in ("support_", "dual_coef_", "intercept_"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def kill(client, count=1):
    """Kill some workers as a machine that is switched off would."""
    for pid in list(client.run(os.getpid).values())[:count]:
        os.kill(pid, signal.SIGKILL)


def assert_nothing_left(client):
    """Nothing of a fit is on the cluster; messages about that may be on their way."""
    for _ in range(50):
        keys = client.run_on_scheduler(lambda dask_scheduler: list(map(str, dask_scheduler.tasks)))
        if not keys:
            return
        time.sleep(0.1)
    raise AssertionError(f"left on the cluster: {keys}")


def all_answer(client):
    """Whether the scheduler has noticed every death, also one after the end of a fit."""
    found = client.run(os.getpid, on_error="return").values()
    return not any(isinstance(one, Exception) for one in found)


@contextmanager
def killed(client, seconds, count=1):
    """While this runs, workers die after so many seconds."""
    pids = list(client.run(os.getpid).values())[:count]

    def strike():
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    timer = threading.Timer(seconds, strike)
    timer.start()
    yield
    timer.join()
    while not all_answer(client):
        time.sleep(0.01)
    wait_for_all(client, 2)
    assert_nothing_left(client)


def fit_while_dying(client, data, undisturbed, moments, count=1):
    for moment in moments:
        with killed(client, moment, count):
            model = DaskSVC(client=client, **PARAMS).fit(chunked(data[0]), data[1])
        assert_same(model, undisturbed[0])


def random_moments(undisturbed, count):
    choice = random.Random(count)
    return [choice.random() * undisturbed[1] for _ in range(count)]


@pytest.mark.parametrize("moment", range(3))
def test_a_worker_dies(workers, data, undisturbed, moment):
    moments = random_moments(undisturbed, 3)
    fit_while_dying(workers, data, undisturbed, moments[moment : moment + 1])


def test_one_dies_right_at_the_start_and_then_both(workers, data, undisturbed):
    fit_while_dying(workers, data, undisturbed, [0.02])
    fit_while_dying(workers, data, undisturbed, [0.5 * undisturbed[1]], count=2)


def test_one_dies_during_the_last_check(workers, data, undisturbed, monkeypatch):
    """The first death is before the last sums of the solver, the second after them."""
    run = chunking.Chunking.run

    def killing(self):
        run(self)
        kill(workers)

    monkeypatch.setattr(chunking.Chunking, "run", killing)
    model = DaskSVC(client=workers, **PARAMS).fit(chunked(data[0]), data[1])
    assert_same(model, undisturbed[0])
    assert np.array_equal(model.dual_gap_, undisturbed[0].dual_gap_)


@pytest.mark.parametrize("copied", [0.0, 100.0])
def test_the_gradient_that_a_worker_had_is_made_again(workers, data, monkeypatch, copied):
    """From a copy of the round before, or from the start and the changes of all rounds since."""
    monkeypatch.setattr(column_sets, "POOL", 1024)
    monkeypatch.setattr(gradients, "COPIED", copied)
    expected = SVC(**PARAMS).fit(*data)
    advance, rounds = gradients.ShardedGradient.advance, []

    def killing(self, *args):
        rounds.append(self)
        if len(rounds) == 4:
            kill(workers)
        return advance(self, *args)

    monkeypatch.setattr(gradients.ShardedGradient, "advance", killing)
    model = DaskSVC(client=workers, **PARAMS).fit(chunked(data[0]), data[1])
    assert len(rounds) > 5
    assert sum(one["deaths"] for one in model.cluster_stats_) >= 1
    assert_same(model, expected)
    wait_for_all(workers, 2)


def test_plain_data_is_sent_again(workers, data, undisturbed, monkeypatch):
    """Also where what is sent goes beside the task, to a worker that has just died."""
    monkeypatch.setattr(cluster, "LARGE", 1 << 10)
    submit, calls, killed = cluster.Cluster._submit, [], []

    def killing(self, what, function, k, *args):
        calls.append(1)
        if len(killed) < 2 and len(calls) >= (3, 12)[len(killed)]:
            address = self.shards[k].address  # which is asked next
            for pid in workers.run(os.getpid, workers=[address], on_error="ignore").values():
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
        return submit(self, what, function, k, *args)

    monkeypatch.setattr(cluster.Cluster, "_submit", killing)
    model = DaskSVC(client=workers, **PARAMS).fit(*data)
    assert_same(model, undisturbed[0])
    assert len(killed) == 2
    assert sum(shard["deaths"] for shard in model.cluster_stats_) >= 2
    assert_nothing_left(workers)


def test_a_worker_that_forgets_is_told_again(workers, data, undisturbed, monkeypatch):
    """A shard that was on disk meanwhile comes back with its rows only; that is no death."""
    submit, calls = cluster.Cluster._submit, []

    def forgetting(self, what, function, k, args):
        calls.append(1)
        return submit(self, what, forgetful if len(calls) % 7 == 0 else function, k, args)

    monkeypatch.setattr(cluster.Cluster, "_submit", forgetting)
    model = DaskSVC(client=workers, **PARAMS).fit(chunked(data[0]), data[1])
    assert_same(model, undisturbed[0])
    assert not any(shard["deaths"] for shard in model.cluster_stats_)


def forgetful(shard, *args):
    from largemargin.dask.cluster import Forgotten

    shard._vectors.clear()
    raise Forgotten


def test_a_worker_that_joins_is_used_by_the_next_fit(workers, data, undisturbed):
    code = "from distributed.cli.dask_worker import main; main()"
    address = workers.scheduler.address
    options = [address, "--host", "127.0.0.1", "--no-dashboard", "--nthreads", "1", "--no-nanny"]
    joining = subprocess.Popen([sys.executable, "-c", code, *options], stderr=subprocess.DEVNULL)
    try:
        workers.wait_for_workers(3, timeout=LIMIT)
        model = DaskSVC(client=workers, **PARAMS).fit(chunked(data[0]), data[1])
        assert len(model.cluster_stats_) == 3
        assert_same(model, undisturbed[0])
        with killed(workers, 0.3 * undisturbed[1], 0):  # it leaves for good
            threading.Timer(0.3 * undisturbed[1], joining.kill).start()
            model = DaskSVC(client=workers, **PARAMS).fit(chunked(data[0]), data[1])
        assert_same(model, undisturbed[0])
    finally:
        joining.kill()
        joining.wait()


def test_two_fits_at_once(workers, data, undisturbed):
    def fit(k):
        return DaskSVC(client=workers, **PARAMS).fit(chunked(data[0]), data[1])

    with ThreadPoolExecutor(2) as pool:
        for model in pool.map(fit, range(2)):
            assert_same(model, undisturbed[0])
        with killed(workers, 0.5 * undisturbed[1]):
            for model in pool.map(fit, range(2)):
                assert_same(model, undisturbed[0])


def test_a_fit_within_a_task(workers, data, undisturbed):
    """It makes room for the tasks that it waits for."""

    def fit(X, y):
        return DaskSVC(**PARAMS).fit(X, y)

    futures = [workers.submit(fit, *data, pure=False) for _ in range(2)]
    for future in futures:
        assert_same(future.result(timeout=LIMIT), undisturbed[0])


def test_a_time_limit(workers, data):
    X, y = data
    y = np.random.default_rng(2).integers(0, 2, N)  # nothing to be learned, for long
    began = time.perf_counter()
    with pytest.warns(match="max_seconds"):
        model = DaskSVC(client=workers, C=1e4, max_seconds=1.0).fit(chunked(X), y)
    assert time.perf_counter() - began < 30
    assert model.predict(X[:10]).shape == (10,)
    assert_nothing_left(workers)


def test_nothing_is_left_of_paths_and_errors(workers, data):
    X, y = data
    DaskSVC(client=workers).path(chunked(X[:5000]), y[:5000], [0.01, 0.02])
    assert_nothing_left(workers)
    cross_validate(DaskSVC(client=workers), chunked(X[:5000]), y[:5000], [0.01], cv=2)
    assert_nothing_left(workers)
    bad = X.copy()
    bad[8765, 2] = np.nan
    with pytest.raises(ValueError, match=r"8765") as told:
        DaskSVC(client=workers).fit(chunked(bad), y)
    assert_nothing_left(workers)  # while the error is still there, with all that it refers to
    assert told.value
    with pytest.raises(ValueError, match="y has 5 values") as told:
        DaskSVC(client=workers).fit(chunked(X), y[:5])
    assert_nothing_left(workers)
    with pytest.raises(ZeroDivisionError):
        DaskSVC(client=workers).fit([delayed(divide)(X)], y)
    assert_nothing_left(workers)


def divide(X):
    return X / (1 // 0)


def test_data_that_cannot_be_made_again(workers, data):
    X, y = data
    there = sorted(workers.scheduler_info()["workers"])
    halves = [workers.scatter(part, workers=[at], hash=False)
              for part, at in zip((X[:5000], X[5000:]), there, strict=True)]  # fmt: skip
    kill(workers, 2)
    while not set(there).isdisjoint(workers.scheduler_info()["workers"]):
        time.sleep(0.1)
    wait_for_all(workers, 2)
    with pytest.raises(ClusterError, match="only in the memory of a worker that is gone"):
        DaskSVC(client=workers).fit(halves, y)
    there = sorted(workers.scheduler_info()["workers"])
    halves = [workers.scatter(part, workers=[at], hash=False)
              for part, at in zip((X[:5000], X[5000:]), there, strict=True)]  # fmt: skip
    submit, calls = cluster.Cluster._submit, []

    def killing(self, *args):
        calls.append(1)
        if len(calls) == 9:
            kill(workers, 2)  # a copy of some rows may be on the other one
        return submit(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster.Cluster, "_submit", killing)
        with pytest.raises(ClusterError, match=r"rows \d+ to \d+ of X cannot be made again"):
            DaskSVC(client=workers).fit(halves, y)
    wait_for_all(workers, 2)


def deadly(X):
    """A part that no worker survives."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_parts_that_no_worker_survives(workers, data, known, monkeypatch):
    X, y = data
    monkeypatch.setattr(cluster, "DEATHS", 1)  # workers take seconds to start again
    given = [delayed(deadly)(X[:5000]), delayed(np.array)(X[5000:])]
    if known:
        given = da.from_array(X, chunks=(5000, 6)).map_blocks(deadly, meta=X[:0])
    with pytest.raises(ClusterError, match="use more workers"):
        DaskSVC(client=workers).fit(given, y)
    wait_for_all(workers, 2)
