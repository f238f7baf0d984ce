"""Machines on a Dask cluster of this machine, against the same fit in one process.

What is found is written to benchmarks/dask.json, from which docs/dask.rst has its tables.

1 overhead: the plain fit on two threads against 2 workers x 1 thread and 1 worker x 2 threads;
2 scaling: 2 workers against 1, everything confined to as many cores as there are workers;
3 communication: bytes per worker against those of the vectors that every worker must have;
4 on paper: the time on 8 to 256 workers, from constants measured here (`dask_model`);
5 memory of the client at a million rows.

Every fit runs in its own process, with its own cluster.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.dask_model import THREADS, Latency, Law, Work, checked, duration, plot
from benchmarks.options import OPTIONS
from benchmarks.timing import failed, faster, note, row
from largemargin.data import load

Row = dict[str, Any]
COVTYPE = {"kernel": "rbf", "gamma": 32.0, "C": 32.0}
MNIST = {"kernel": "rbf", "gamma": 0.02, "C": 10.0, "multiclass": "ovo"}
ROWS, IMAGES, MILLION = 200_000, 60_000, 1_000_000
PART = 20_000  # rows of a part of the collection
NOISY = {"kernel": "rbf", "gamma": 0.01, "C": 1.0}
NOISY_ROWS = 40_000  # measured, of those on paper
SIZES = (8, 16, 32, 64, 128, 256)  # workers, on paper
RESULTS = Path(__file__).with_suffix(".json")


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
def noisy() -> str:
    rng, n = np.random.default_rng(1), OPTIONS.size(NOISY_ROWS)
    X = rng.normal(size=(n, 100)).astype(np.float32)
    return stored("noisy", X, (X[:, :10].sum(axis=1) > 0) ^ (rng.random(n) < 0.2))


@cache
def quarter(data: str) -> str:
    """A quarter of the rows of a problem."""
    X, y = np.load(data + ".X.npy", mmap_mode="r"), np.load(data + ".y.npy")
    n = len(y) // 4
    return stored(os.path.basename(data) + "-quarter", X[:n], y[:n])


@cache
def million() -> str:
    rng, n = np.random.default_rng(0), OPTIONS.size(MILLION)
    X = rng.normal(size=(n, 50)).astype(np.float32)
    wrong = rng.random(n) < 0.1
    return stored("million", X, (X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] > 0) ^ wrong)


_found: dict[str, Row] = {}


def fit(
    data: str, parameters: dict[str, Any], workers: int, threads: int, cores: int, turn: int = 0
) -> Row:
    """A fit in its own process; the same one is made once in each turn."""
    job = json.dumps(
        {
            "data": data, "parameters": parameters, "workers": workers, "threads": threads,
            "cores": cores, "part": PART,
        }
    )  # fmt: skip
    key = f"{turn} {job}"
    if key not in _found:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.dask_worker", job],
            capture_output=True, text=True, timeout=OPTIONS.limit, check=False,
        )  # fmt: skip
        lines = done.stdout.strip().splitlines()
        reason = done.stderr.strip().splitlines()[-1:] or ["no answer"]
        _found[key] = json.loads(lines[-1]) if done.returncode == 0 else {"missing": reason[0]}
    return _found[key]


def best(runs: list[Row], what: str) -> float:
    return min((run[what] for run in runs), default=float("nan"))


def overhead() -> Iterator[Row]:
    """Plain and on a cluster in turns, the best of each."""
    sizes = ((0, 0), (2, 1), (1, 2))
    for name, data, parameters in (
        ("covtype", covtype(), COVTYPE), ("MNIST one-vs-one", mnist(), MNIST)
    ):  # fmt: skip
        runs: dict[tuple[int, int], list[Row]] = {size: [] for size in sizes}
        for turn in range(OPTIONS.rounds):
            for size in sizes:
                runs[size].append(fit(data, parameters, *size, 2, turn))
        plain = runs[0, 0]
        for (workers, threads), bar in zip(sizes[1:], (1.25, 1.15), strict=True):
            what = f"{name}, {workers} workers x {threads}: time / plain fit on 2 threads"
            found = runs[workers, threads]
            if reason := next((one["missing"] for one in found + plain if "missing" in one), ""):
                yield failed(what, reason, f"<= {bar:g}")
                continue
            ours, theirs = found[0]["objective"], plain[0]["objective"]
            same = abs(ours - theirs) <= 1e-3 * abs(theirs)
            detail = f"{best(found, 'seconds'):.1f} s / {best(plain, 'seconds'):.1f} s, "
            detail += f"of processors {best(found, 'cpu'):.1f} s / {best(plain, 'cpu'):.1f} s"
            detail += f", gap {found[0]['gap']:.1e}" + ("" if same else ", OTHER OBJECTIVE")
            yield row(what, best(found, "seconds") / best(plain, "seconds"), bar, detail)


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
    for name, data, parameters in (
        ("covtype", covtype(), COVTYPE), ("MNIST one-vs-one", mnist(), MNIST)
    ):  # fmt: skip
        width = np.load(data + ".X.npy", mmap_mode="r").shape[1]
        for workers in (2, 3, 4) if name == "covtype" else (2,):
            found = fit(data, parameters, workers, 1, 2)
            what = f"{name}, {workers} workers: bytes of a worker / those of the vectors"
            if "missing" in found:
                yield failed(what, found["missing"], "<= 1.5")
                continue
            most = max(found["stats"], key=lambda one: one["bytes_sent"] + one["bytes_received"])
            least = max(1, most["vectors_sent"] + most["vectors_own"]) * width * 4
            waits = most["seconds_waiting"] - most["seconds_computing"]
            detail = (
                f"{most['bytes_sent'] / 1e6:.1f} MB sent, {most['bytes_received'] / 1e6:.1f} MB "
                f"received, least {least / 1e6:.1f} MB; {most['rounds']} tasks, "
                f"{1e3 * waits / most['rounds']:.1f} ms of waiting each"
            )
            total = most["bytes_sent"] + most["bytes_received"]
            yield row(what, total / least, 1.5, detail)


def on_paper() -> Iterator[Row]:
    """See `dask_model`; the constants of each problem are of two sizes of it, on one worker."""
    cases = {"covtype": (covtype(), COVTYPE), "MNIST": (mnist(), MNIST), "noisy": (noisy(), NOISY)}
    laws: dict[str, Law] = {}
    for name, (data, parameters) in cases.items():
        found = [fit(part, parameters, 1, 1, 2) for part in (quarter(data), data)]
        if reason := next((one["missing"] for one in found if "missing" in one), ""):
            yield failed(f"{name}, on paper", reason, "a model")
            return
        laws[name] = Law(*(Work.of(one, data_of) for one, data_of in
                           zip(found, (quarter(data), data), strict=True)))  # fmt: skip
        yield note(f"  {name}: constants", laws[name].told())
    runs = {workers: fit(covtype(), COVTYPE, workers, 1, 2) for workers in (1, 2, 3, 4)}
    rounds = Latency.of({workers: run["round"] for workers, run in runs.items()})
    yield note("  a round in which nothing is computed", rounds.told())
    yield from checked(laws["covtype"], rounds, runs)
    shown = {
        f"covtype {OPTIONS.size(ROWS):,}": laws["covtype"].at(OPTIONS.size(ROWS)),
        "MNIST8M, 8.1 million x 784": laws["MNIST"].at(8_100_000),
        "10 million x 100, a fifth noisy": laws["noisy"].at(10_000_000),
    }
    times = {name: [work.on(size, rounds) for size in SIZES] for name, work in shown.items()}
    for name, found in times.items():
        for time in found:
            yield note(
                f"  {name}, {time.workers} workers x {THREADS} threads",
                f"{duration(time.total)}; most of it {time.largest}", expected=time.total,
                computing=time.computing, coordinator=time.coordinator, waiting=time.waiting,
                sending=time.sending,
            )  # fmt: skip
    plot(times)


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


def recorded(name: str, part: Callable[[], Iterator[Row]]) -> Callable[[], Iterator[Row]]:
    """A part whose rows go into the file too, in place of those of the last time."""

    def run() -> Iterator[Row]:
        rows = []
        for one in part():
            rows.append(one)
            yield one
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        when = {"date": date.today().isoformat(), "reduced": OPTIONS.rows}
        results[name] = {**when, "rows": rows}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")

    return run


PARTS = [
    {name: recorded(name, part)}
    for name, part in {
        "overhead": overhead, "scaling": scaling, "communication": communication,
        "on-paper": on_paper, "memory": memory,
    }.items()
]  # fmt: skip
