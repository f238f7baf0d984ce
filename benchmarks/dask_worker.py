"""One fit on a cluster of this machine, or in this process: `python -m benchmarks.dask_worker JOB`.

Cluster, scheduler, workers and client together are confined to as many cores as the job says.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from hashlib import blake2b
from typing import Any

import numpy as np

FEW = 9_000  # rows of a fit before, to its end, so that compiled code is loaded

ROUNDS = 50  # rounds of which the latency is the median


def main(job: dict[str, Any]) -> None:
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))[: job["cores"]]
        os.sched_setaffinity(0, cores)
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(job["cores"])
    X, y = np.load(job["data"] + ".X.npy", mmap_mode="r"), np.load(job["data"] + ".y.npy")
    workers, parameters = job["workers"], job["parameters"]
    found = _on_cluster(X, y, job) if workers else _plain(np.ascontiguousarray(X), y, parameters)
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(found))


def _plain(X: np.ndarray, y: np.ndarray, parameters: dict[str, Any]) -> dict[str, Any]:
    from largemargin import SVC

    SVC(**_few(parameters)).fit(X[:FEW], y[:FEW])
    began, used = time.perf_counter(), time.process_time()
    model = SVC(**parameters).fit(X, y)
    return {**_told(model, time.perf_counter() - began), "cpu": time.process_time() - used}


def _on_cluster(X: np.ndarray, y: np.ndarray, job: dict[str, Any]) -> dict[str, Any]:
    import dask.array as da
    from distributed import Client, LocalCluster

    from largemargin.dask import DaskSVC

    options = {"host": "127.0.0.1", "dashboard_address": None, "processes": True}
    with (
        LocalCluster(n_workers=job["workers"], threads_per_worker=job["threads"], **options) as at,
        Client(at) as client,
    ):
        parts = [
            client.submit(_read, job["data"], k, min(k + job["part"], len(X)), pure=False)
            for k in range(0, len(X), job["part"])
        ]
        blocks = [
            da.from_delayed(part, (min(job["part"], len(X) - k), X.shape[1]), X.dtype)
            for part, k in zip(parts, range(0, len(X), job["part"]), strict=True)
        ]
        rows = da.concatenate(blocks)
        DaskSVC(**_few(job["parameters"])).fit(rows[:FEW], y[:FEW])
        used, began = _cpu(client), time.perf_counter()
        model = DaskSVC(**job["parameters"]).fit(rows, y)
        found = _told(model, time.perf_counter() - began)
        found |= {"cpu": _cpu(client) - used, "stats": model.cluster_stats_}
        return {**found, "round": _round(client)}


def _round(client: Any) -> float:
    """Seconds of a round in which no worker has anything to do: the median of some."""
    addresses, times = list(client.scheduler_info()["workers"]), []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        client.gather([client.submit(bool, pure=False, workers=[one]) for one in addresses])
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def _cpu(client: Any) -> float:
    """Seconds of processors that this process, with the scheduler, and the workers have used."""
    return time.process_time() + sum(client.run(time.process_time).values())


def _few(parameters: dict[str, Any]) -> dict[str, Any]:
    return {**parameters, "max_seconds": 60.0}


def _read(data: str, first: int, end: int) -> np.ndarray:
    return np.array(np.load(data + ".X.npy", mmap_mode="r")[first:end])


def _told(model: Any, seconds: float) -> dict[str, Any]:
    return {
        "seconds": seconds,
        "vectors": int(model.n_support_),
        "gap": float(model.dual_gap_.max()),
        "converged": bool(model.converged_),
        "objective": float(model.objective_.sum()),
        "bits": blake2b(model.dual_coef_.tobytes()).hexdigest(),
    }


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
