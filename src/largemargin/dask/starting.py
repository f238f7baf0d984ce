"""A client for the time of a command: of a cluster that runs, or of one on this machine."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client, LocalCluster

from largemargin.dask.connection import ClusterError
from largemargin.runtime.showing import shown
from largemargin.runtime.threads import count_workers

LOCAL = "local"
CONNECT = 10.0  # seconds for a scheduler to answer
FIRST_WORKER = 30.0  # seconds for a first worker to be there
# the server that tells of health is on any free port; that of the dashboard may be taken
NO_DASHBOARD = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the scheduler at an address, or of workers on this machine for `local`."""
    if address == LOCAL:
        with _local_cluster() as cluster, Client(cluster) as client:
            yield client
        return
    with _client(address) as client:
        try:
            client.wait_for_workers(1, timeout=FIRST_WORKER)
        except TimeoutError:
            raise ClusterError(
                f"the cluster at {address} has no worker, and none came within "
                f"{FIRST_WORKER:.0f} seconds: start some with dask worker {address}"
            ) from None
        yield client


def _local_cluster() -> LocalCluster:
    """A process for each core, with one thread each, that only this machine can reach."""
    with _unheard():
        return LocalCluster(
            n_workers=count_workers(None), threads_per_worker=1, processes=True,
            host="127.0.0.1", scheduler_kwargs=NO_DASHBOARD, silence_logs=logging.CRITICAL,
        )  # fmt: skip


@contextmanager
def _unheard() -> Iterator[None]:
    """Processes that are started meanwhile do not hear Ctrl-C, which is for this one: the fit ends
    with what it has, for which it needs its workers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _client(address: str) -> Any:
    try:
        return Client(address, timeout=CONNECT)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"no scheduler answers at {shown(address)}: give the address that it told when it "
            f"started, such as tcp://10.0.0.1:8786, or {LOCAL} for processes on this machine"
        ) from error
