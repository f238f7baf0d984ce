"""Clusters of processes on this machine, for the tests of the folder."""

from contextlib import contextmanager

import dask
import pytest
from distributed import Client, LocalCluster

# Dask always opens an HTTP server. Bound to a free port of the loopback, with nothing to serve, it
# is the nearest to none.
QUIET = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.scheduler.active-memory-manager.start": False,
}


@contextmanager
def cluster_of(n_workers, threads=1, **settings):
    """A client of a cluster of so many processes, which end with it."""
    with (
        dask.config.set(QUIET),
        LocalCluster(
            n_workers=n_workers, threads_per_worker=threads, processes=True, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False},
            silence_logs=50, **settings,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client


@pytest.fixture(scope="session")
def client():
    with cluster_of(2) as client:
        yield client
