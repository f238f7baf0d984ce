"""Clusters of processes on this machine, for the tests of the folder."""

import time
from contextlib import contextmanager

import dask
import pytest
from distributed import Client, LocalCluster
from distributed.core import Status

# Dask always opens an HTTP server. Bound to a free port of the loopback, with nothing to serve, it
# is the nearest to none.
QUIET = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.scheduler.active-memory-manager.start": False,
    # A cluster gives up a worker that is away so long after it died, although it may have come back
    # meanwhile and died again, which happens in these tests.
    "distributed.deploy.lost-worker-timeout": "1 hour",
}


@contextmanager
def cluster_of(n_workers, threads=1, set_as_default=True, **settings):
    """A client of a cluster of so many processes, which end with it; or of threads of this process,
    which are reached by the loopback all the same.
    """
    settings = {"processes": True, "protocol": "tcp://", **settings}
    with (
        dask.config.set(QUIET),
        LocalCluster(
            n_workers=n_workers, threads_per_worker=threads, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False},
            silence_logs=50, **settings,
        ) as cluster,
        Client(cluster, set_as_default=set_as_default) as client,
    ):  # fmt: skip
        yield client


def wait_for_all(client, n_workers, timeout=100):
    """Wait until there are so many workers, and until their nannies know it: a nanny does not start
    a worker again that is killed before that.
    """
    until = time.monotonic() + timeout
    client.wait_for_workers(n_workers, timeout=timeout)
    nannies = client.cluster.workers.values()
    while not all(nanny.process and nanny.process.status == Status.running for nanny in nannies):
        assert time.monotonic() < until, "a nanny is without its worker"
        time.sleep(0.01)


@pytest.fixture(scope="session")
def client():
    with cluster_of(2) as client:
        yield client
