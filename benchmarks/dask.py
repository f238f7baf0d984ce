"""Machines on a Dask cluster of this machine, against the same fit in one process.

1 overhead: the plain fit on two threads against 2 workers x 1 thread and 1 worker x 2 threads;
2 scaling: 2 workers against 1, everything confined to as many cores as there are workers;
3 communication: bytes per worker against those of the vectors that every worker must have;
4 on paper: the time on 8 to 256 workers, from constants that 1 and 2 workers gave here;
5 memory of the client at a million rows.

Every fit runs in its own process, with its own cluster.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from benchmarks.options import OPTIONS
from benchmarks.timing import failed, faster, note, row
from largemargin.data import load

Row = dict[str, Any]
COVTYPE = {"kernel": "rbf", "gamma": 32.0, "C": 32.0}
MNIST = {"kernel": "rbf", "gamma": 0.02, "C": 10.0, "multiclass": "ovo"}
ROWS, IMAGES, MILLION = 200_000, 60_000, 1_000_000
PART = 20_000  # rows of a part of the collection
SIZES = (1, 2, 8, 32, 128, 256)  # workers, on paper
THREADS = 8  # of a worker and of the coordinator, on paper
BANDWIDTH = 1.25e9  # bytes per second of the coordinator's link, on paper: 10 Gbit/s


@cache
def folder() -> str:
    return tempfile.mkdtemp(prefix="largemargin-dask-")


def stored(name: str, X: np.ndarray, y: np.ndarray) -> str:
    path = os.path.join(folder(), name)
    np.save(path + ".X.npy", X)
    np.save(path + ".y.npy", y)
    return path


@cache
def covtype() -> str:
    data = load("covtype", split=0)
    low, high = data.X.min(axis=0), data.X.max(axis=0)
    n = OPTIONS.size(ROWS)
    return stored(
        "covtype", ((data.X[:n] - low) / (high - low)).astype(np.float32), data.y[:n] == 2
    )


@cache
def mnist() -> str:
    data, n = load("mnist"), OPTIONS.size(IMAGES)
    return stored("mnist", (data.X[:n] / 255).astype(np.float32), data.y[:n])


@cache
def million() -> str:
    rng, n = np.random.default_rng(0), OPTIONS.size(MILLION)
    X = rng.normal(size=(n, 50)).astype(np.float32)
    wrong = rng.random(n) < 0.1
    return stored("million", X, (X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] > 0) ^ wrong)


_found: dict[str, Row] = {}


def fit(data: str, parameters: dict[str, Any], workers: int, threads: int, cores: int) -> Row:
    """A fit in its own process; the same one is made once."""
    job = json.dumps(
        {
            "data": data, "parameters": parameters, "workers": workers, "threads": threads,
            "cores": cores, "part": PART,
        }
    )  # fmt: skip
    if job not in _found:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.dask_worker", job],
            capture_output=True, text=True, timeout=OPTIONS.limit, check=False,
        )  # fmt: skip
        lines = done.stdout.strip().splitlines()
        reason = done.stderr.strip().splitlines()[-1:] or ["no answer"]
        _found[job] = json.loads(lines[-1]) if done.returncode == 0 else {"missing": reason[0]}
    return _found[job]


def overhead() -> Iterator[Row]:
    for name, data, parameters in (
        ("covtype", covtype(), COVTYPE), ("MNIST one-vs-one", mnist(), MNIST)
    ):  # fmt: skip
        plain = fit(data, parameters, 0, 0, 2)
        for workers, threads, bar in ((2, 1, 1.25), (1, 2, 1.15)):
            what = f"{name}, {workers} workers x {threads}: time / plain fit on 2 threads"
            found = fit(data, parameters, workers, threads, 2)
            if reason := found.get("missing") or plain.get("missing"):
                yield failed(what, reason, f"<= {bar:g}")
                continue
            same = abs(found["objective"] - plain["objective"]) <= 1e-3 * abs(plain["objective"])
            detail = f"{found['seconds']:.1f} s / {plain['seconds']:.1f} s"
            detail += f", gap {found['gap']:.1e}" + ("" if same else ", OTHER OBJECTIVE")
            yield row(what, found["seconds"] / plain["seconds"], bar, detail)


def scaling() -> Iterator[Row]:
    one, two = (fit(covtype(), COVTYPE, workers, 1, workers) for workers in (1, 2))
    what = "covtype: 1 worker on 1 core / 2 workers on 2 cores"
    if reason := one.get("missing") or two.get("missing"):
        yield failed(what, reason, ">= 1.8")
        return
    detail = f"{one['seconds']:.1f} s / {two['seconds']:.1f} s"
    yield faster(what, one["seconds"] / two["seconds"], 1.8, detail)
    for workers, found in ((1, one), (2, two)):
        waiting = max(stats["seconds_waiting"] for stats in found["stats"])
        share = 1 - waiting / found["seconds"]
        yield note(
            f"  {workers} workers: the coordinator's own work",
            f"{100 * share:.0f} % of the time", share=share,
        )  # fmt: skip
    yield note("  the same bits", "yes" if one["bits"] == two["bits"] else "NO")


def communication() -> Iterator[Row]:
    width = np.load(covtype() + ".X.npy", mmap_mode="r").shape[1]
    for workers in (2, 3, 4):
        found = fit(covtype(), COVTYPE, workers, 1, 2)
        what = f"covtype, {workers} workers: bytes of a worker / those of the vectors"
        if "missing" in found:
            yield failed(what, found["missing"], "<= 1.5")
            continue
        most = max(found["stats"], key=lambda one: one["bytes_sent"] + one["bytes_received"])
        total = most["bytes_sent"] + most["bytes_received"]
        # vectors that a worker was sent, and those that it owns and sent itself
        least = workers / max(1, workers - 1) * most["vectors_sent"] * width * 4
        waits = most["seconds_waiting"] - most["seconds_computing"]
        detail = (
            f"{most['bytes_sent'] / 1e6:.1f} MB sent, {most['bytes_received'] / 1e6:.1f} MB "
            f"received, least {least / 1e6:.1f} MB; {most['rounds']} tasks, "
            f"{1e3 * waits / most['rounds']:.1f} ms of waiting each"
        )
        yield row(what, total / least, 1.5, detail)


def on_paper() -> Iterator[Row]:
    """T(W) = coordinator + values / (rate x threads x W) + rounds x latency + bytes / bandwidth."""
    one, two = (fit(covtype(), COVTYPE, workers, 1, 2) for workers in (1, 2))
    if reason := one.get("missing") or two.get("missing"):
        yield failed("covtype, on paper", reason, "a model")
        return
    first = one["stats"][0]
    rate = first["values"] / first["seconds_computing"]
    latency = (first["seconds_waiting"] - first["seconds_computing"]) / first["rounds"]
    own = one["seconds"] - first["seconds_waiting"]
    yield note(
        "  constants", f"{rate / 1e9:.2f} billion values per second and thread, "
        f"{1e3 * latency:.1f} ms per round, {own:.1f} s of the coordinator (2 threads)",
    )  # fmt: skip
    expected = own + first["values"] / rate / 2 + first["rounds"] * latency
    detail = f"{two['seconds']:.1f} s / {expected:.1f} s expected from 1 worker"
    yield row("covtype, 2 workers: measured / model", two["seconds"] / expected, 1.2, detail)
    n = len(np.load(covtype() + ".y.npy"))
    traffic = first["bytes_received"]
    for workers in SIZES:
        seconds = (
            own * 2 / THREADS
            + first["values"] / (rate * THREADS * workers)
            + first["rounds"] * latency
            + (traffic + workers * one["vectors"] * 54 * 4) / BANDWIDTH
        )
        yield note(
            f"  covtype {n:,} rows, {workers} workers x {THREADS} threads", f"{seconds:.1f} s",
            expected=seconds,
        )  # fmt: skip


def memory() -> Iterator[Row]:
    data = million()
    for name, parameters in (
        ("linear", {"kernel": "linear", "C": 0.1}),
        ("gaussian, max_seconds=300", {"kernel": "rbf", "gamma": 0.02, "max_seconds": 300.0}),
    ):
        found = fit(data, parameters, 2, 1, 2)
        what = f"a million rows x 50, {name}"
        if "missing" in found:
            yield failed(what, found["missing"], "a model")
            continue
        yield note(
            what,
            f"{found['seconds']:.0f} s, client's peak {found['peak'] / 1e6:.0f} MB, "
            f"{found['vectors']:,} vectors, gap {found['gap']:.1e}",
            **found,
        )


PARTS = [
    {"overhead": overhead},
    {"scaling": scaling},
    {"communication": communication},
    {"on-paper": on_paper},
    {"memory": memory},
]
