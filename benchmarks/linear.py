"""Linear machines against LIBLINEAR (`LinearSVC(loss="hinge")` at its default tolerance).

covtype 400,000 rows, dense 100,000 x 100, text 50,000 x 30,000, and growth up to a million rows of
50. Ours has one thread and two, LIBLINEAR knows of one only, each in a process of its own. The
objective is 1/2 w.w + C sum xi with a threshold that is free and costs nothing; LIBLINEAR, whose
threshold is a weight among others, gets the best one for its w. What is worse by more than 1e-3, or
did not converge, does not count.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import linear_data
from benchmarks.linear_worker import OURS
from benchmarks.options import OPTIONS
from benchmarks.svm_race import CLOSE, THREAD_SETTINGS
from benchmarks.timing import failed, faster, figure, note

Row = dict[str, Any]
PEER = "LinearSVC"
FULL = 60_000  # what `--rows` is relative to
LEAST = 5000  # rows of a trial


@cache
def _folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="linear-benchmark-")


def size(n: int) -> int:
    return n if OPTIONS.rows is None else min(n, max(LEAST, n * OPTIONS.rows // FULL))


def stored(name: str, X: Any, y: np.ndarray) -> str:
    """Where the processes find the data."""
    file = str(Path(_folder().name) / name)
    np.save(f"{file}.y.npy", y)
    if sp.issparse(X):
        sp.save_npz(f"{file}.npz", X, compressed=False)
    else:
        np.save(f"{file}.npy", X)
    return file


def measured(file: str, machine: str, C: float, threads: int) -> dict[str, Any] | None:
    """One machine in its own process; None if it takes too long."""
    spec = {
        "file": file, "machine": machine, "C": C, "threads": threads, "rounds": OPTIONS.rounds,
        "slow": OPTIONS.slow / OPTIONS.rounds,
    }  # fmt: skip
    settings = os.environ | dict.fromkeys(THREAD_SETTINGS, str(threads))
    command = [sys.executable, "-m", "benchmarks.linear_worker", json.dumps(spec)]
    try:
        done = subprocess.run(
            command, env=settings, capture_output=True, text=True, check=True, timeout=OPTIONS.limit
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout.splitlines()[-1])


def race(name: str, make: Callable[[], tuple[Any, np.ndarray]], Cs: list[float]) -> Iterator[Row]:
    """Ours with one thread and with two beside LIBLINEAR."""
    X, y = make()
    file = stored(name, X, y)
    for C in Cs:
        what = f"{name}, {X.shape[0]:,} x {X.shape[1]:,}, C {C:g}"
        theirs = measured(file, PEER, C, 1)
        if theirs is None:
            yield note(f"{what}: LinearSVC", f"none in {OPTIONS.limit:g} s")
        else:
            yield note(f"{what}: LinearSVC", _told(theirs), **theirs)
        for threads in (1, 2):
            mine = measured(file, OURS, C, threads)
            title = f"{what}: LinearSVC / ours, {threads} thread{'s' * (threads > 1)}"
            if mine is None or not mine["converged"]:
                yield failed(title, "ours did not converge", ">= 1")
            elif theirs and mine["objective"] > (1 + CLOSE) * theirs["objective"]:
                yield failed(title, f"a worse objective: {_told(mine)}", ">= 1")
            elif theirs is not None:
                told = figure(
                    f"C{C:g}-threads{threads}", mine["seconds"], {PEER: theirs["seconds"]},
                    told=f"objective {mine['objective']:.7g}; LinearSVC: {_ended(theirs)}",
                )  # fmt: skip
                ratio = theirs["seconds"] / mine["seconds"]
                yield faster(title, ratio, 1.0, _told(mine), **told)
            else:
                yield note(title, _told(mine), **mine)


def _told(result: dict[str, Any]) -> str:
    return f"{result['seconds']:.2f} s, objective {_ended(result)}"


def _ended(result: dict[str, Any]) -> str:
    return f"{result['objective']:.7g}{'' if result['converged'] else ', not converged'}"


def covtype(scaling: str, C: float) -> Iterator[Row]:
    name = f"covtype {scaling}"
    yield from race(name, partial(linear_data.covtype, size(400_000), scaling), [C])


def dense() -> Iterator[Row]:
    yield from race("dense", partial(linear_data.dense, size(100_000), 100), [0.1, 1.0])


def text() -> Iterator[Row]:
    yield from race("text", partial(linear_data.text, size(50_000), 30_000), [1.0])


def growth() -> Iterator[Row]:
    """A million rows of 50, and the exponent of the time from a tenth of them."""
    sizes = [size(100_000), size(1_000_000)]
    times = []
    for n in sizes:
        file = stored(f"growth {n}", *linear_data.dense(n, 50))
        mine = measured(file, OURS, 1.0, OPTIONS.threads)
        what = f"dense, {n:,} x 50, C 1: ours, {OPTIONS.threads} threads"
        if mine is None or not mine["converged"]:
            yield failed(what, "did not converge", "")
            return
        times.append(mine["seconds"])
        yield note(what, _told(mine), **figure(str(n), mine["seconds"], {}), **mine)
    if sizes[1] > sizes[0]:
        exponent = float(np.log(times[1] / times[0]) / np.log(sizes[1] / sizes[0]))
        yield note("  exponent of the time", f"{exponent:.2f}", exponent=exponent)


PARTS = [
    {
        "covtype": partial(covtype, "0..1", 1.0),
        "covtype-standardised": partial(covtype, "standardised", 0.01),
    },
    {"dense": dense},
    {"text": text},
    {"growth": growth},
]
