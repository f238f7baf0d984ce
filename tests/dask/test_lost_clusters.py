"""A cluster that is gone or full ends a fit with a sentence; Ctrl-C ends it with a model."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import dask
import dask.array as da
import numpy as np
import pytest
from dask import delayed
from distributed import Client

from largemargin.dask import ClusterError, DaskSVC, cluster, connection

from .conftest import QUIET, cluster_of
from .test_deaths import chunked, data, no_hang  # noqa: F401

pytestmark = pytest.mark.slow

COMMAND = "import sys; from distributed.cli.dask_{0} import main; sys.exit(main())"


@contextmanager
def processes(n_workers=1, *options):
    """A scheduler and workers as programs of their own, without nannies, and a client."""
    started = []

    def start(what, *arguments):
        environment = {
            **os.environ,
            "DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]",
            "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
        }
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND.format(what), *arguments, "--host", "127.0.0.1"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment,
        )  # fmt: skip
        started.append(process)
        return process

    try:
        scheduler = start("scheduler", "--port", "0", "--dashboard-address", "127.0.0.1:0")
        for line in scheduler.stderr:
            if "Scheduler at" in line:
                address = line.split()[-1]
                break
        for _ in range(n_workers):
            start("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", *options)
        with dask.config.set(QUIET), Client(address, timeout=60) as client:
            client.wait_for_workers(n_workers, timeout=60)
            yield client, scheduler, started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()


@contextmanager
def at_round(number, action):
    """Something happens when a task is submitted for the so-many-th time."""
    submit, calls = cluster.Cluster._submit, []

    def watched(self, *args):
        calls.append(1)
        if len(calls) == number:
            action()
        return submit(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster.Cluster, "_submit", watched)
        yield


def soon(seconds=20):
    """A limit of time: `with soon():`"""

    @contextmanager
    def limit():
        began = time.perf_counter()
        yield
        assert time.perf_counter() - began < seconds

    return limit()


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_scheduler(data, sign, monkeypatch):  # noqa: F811
    """Killed, or silent."""
    X, y = data
    monkeypatch.setattr(connection, "SCHEDULER", 3.0)
    with processes() as (client, scheduler, _):
        DaskSVC(client=client).fit(chunked(X), y)
        with (
            at_round(8, lambda: scheduler.send_signal(sign)),
            soon(30),
            pytest.raises(ClusterError, match="scheduler of the cluster is gone"),
        ):
            DaskSVC(client=client).fit(chunked(X), y)
        with soon(30), pytest.raises((ClusterError, ValueError), match=r"is gone|client is"):
            DaskSVC(client=client).fit([delayed(np.array)(X)], y)
        scheduler.kill()  # a client says farewell, and would wait


def test_the_last_worker_is_gone(data, monkeypatch):  # noqa: F811
    X, y = data
    monkeypatch.setattr(connection, "NO_WORKER", 2.0)
    monkeypatch.setattr(connection, "SAID", 1.0)
    with processes() as (client, _, workers):
        with (
            at_round(8, workers[0].kill),
            soon(),
            pytest.raises(ClusterError, match="no worker is left"),
            pytest.warns(UserWarning, match="no worker of the cluster takes tasks: waiting"),
        ):
            DaskSVC(client=client).fit(chunked(X), y)
        with soon(), pytest.raises(ClusterError, match="the cluster has no worker"):
            DaskSVC(client=client).fit(chunked(X), y)
        with soon(), pytest.raises(ClusterError, match="no worker is left"):
            connection.computed_on(client, [delayed(np.array)(X)])


def test_a_worker_whose_memory_is_full(data, monkeypatch):  # noqa: F811
    """It takes no tasks from then on, and does not die."""
    X, y = data
    monkeypatch.setattr(cluster, "PAUSED", 2.0)
    with cluster_of(1) as client, soon(90):

        def fill():
            client.run(pause)

        with (
            at_round(8, fill),
            pytest.raises(ClusterError, match="memory is full: use more workers"),
        ):
            DaskSVC(client=client).fit(chunked(X), y)


def pause(dask_worker):
    from distributed.core import Status

    dask_worker.memory_manager.memory_limit = None
    dask_worker.status = Status.paused


def test_a_worker_out_of_memory():
    """Its nanny kills it again and again, or there is no memory for an array."""
    y = np.arange(200_000) % 2
    X = da.random.default_rng(0).random((len(y), 1000), chunks=(20_000, 1000))
    with (
        cluster_of(1, memory_limit="500MB") as client,
        soon(90),
        pytest.raises(ClusterError, match=r"memory|no worker"),
    ):
        DaskSVC(client=client).fit(X, y)


INTERRUPTED = """
import os, signal, sys, threading, time, warnings
import numpy as np, dask, dask.array as da
from distributed import Client
from largemargin.dask import DaskSVC

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 6)); y = rng.integers(0, 2, 9000)
    with Client(sys.argv[1]) as client:
        DaskSVC(max_seconds=0.5).fit(da.from_array(X, chunks=2500), y)
        threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = DaskSVC(C=1e6, multiclass=sys.argv[2]).fit(da.from_array(X, chunks=2500), y)
        print("it was interrupted" in str(told[-1].message), time.monotonic() - began < 20)
        print(len(model.predict(X)), not model.converged_, np.isfinite(model.dual_coef_).all())
"""


def test_ctrl_c_at_the_client(client):
    """A real signal to a real process: the model so far."""
    address = client.scheduler.address
    command = [sys.executable, "-c", INTERRUPTED, address, "ovr"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert found.stdout.split("\n")[:2] == ["True True", "9000 True True"], found.stderr
    keys = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
    assert keys == 0
