"""Machines against each other: each in its own process, with as many threads, taking turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.options import OPTIONS, Options
from benchmarks.svm_peers import OURS, PEERS
from benchmarks.timing import note
from largemargin.data import load

CLOSE = 1e-3  # relative difference of objectives that still is the same solution
SAME = 1e-4  # relative difference of objectives of one solver that took two ways
ERROR_CLOSE = 2e-3  # difference of test errors that still is the same answer
THREAD_SETTINGS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
GAUSSIAN = {"C": 10.0, "kernel": "rbf", "gamma": 0.02}
POLYNOMIAL = {"C": 10.0, "kernel": "poly", "degree": 4, "gamma": 1.0, "coef0": 1.0}
KERNELS: dict[str, dict[str, Any]] = {"gaussian": GAUSSIAN, "polynomial": POLYNOMIAL}

Result = dict[str, Any]
_too_slow: dict[tuple[str, str, str], int] = {}


@cache
def _folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="svm-benchmark-")


def folder() -> Path:
    """Where the data lies for the processes to read."""
    return Path(_folder().name)


def store(name: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Write arrays for the workers, and say how to read them; X and X_test may be sparse."""
    for part, values in arrays.items():
        if sp.issparse(values):
            sp.save_npz(folder() / f"{name}.{part}.npz", values.tocsr(), compressed=False)
            continue
        kind = np.int64 if part.startswith("y") else values.dtype
        np.ascontiguousarray(values, kind).tofile(folder() / f"{name}.{part}")
    return {
        "sparse": sp.issparse(arrays["X"]),
        "folder": str(folder()),
        "name": name,
        "dtype": arrays["X"].dtype.name,
        "features": arrays["X"].shape[1],
        "rows": len(arrays["y"]),
        "test_rows": len(arrays["y_test"]),
    }


@cache
def _mnist() -> dict[str, Any]:
    data = load("mnist")
    scale = np.float32(255)
    return store(
        "mnist",
        {"X": data.X / scale, "y": data.y, "X_test": data.X_test / scale, "y_test": data.y_test},
    )


def mnist(n: int) -> dict[str, Any]:
    """The first n training images, pixels 0..1, and the test images: where only the times of the
    fits are shown, as many as tell the errors apart."""
    spec = _mnist()
    tests = spec["test_rows"]
    if OPTIONS.rows is not None:
        tests = min(1000, tests)
    elif OPTIONS.brief and n < spec["rows"]:
        tests = min(2000, tests)
    return {**spec, "rows": min(n, spec["rows"]), "test_rows": tests}


def run(job: dict[str, Any]) -> Result:
    """A job in a fresh process. What goes wrong there is part of the answer."""
    job = {"threads": OPTIONS.threads, "limit": OPTIONS.limit, **job}
    threads = str(job["threads"])
    environment = os.environ | dict.fromkeys(THREAD_SETTINGS, threads) | {"MKL_DYNAMIC": "FALSE"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.svm_worker"],
            input=json.dumps(job),
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=job["limit"],
        )
    except subprocess.TimeoutExpired:
        return {"missing": f"over {job['limit']:.0f} s, stopped", "late": True}
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
    return {"missing": f"ended with code {done.returncode}: {last}"[:160]}


def take_turns(jobs: dict[str, dict[str, Any]], clock: str) -> dict[str, Result]:
    """The best of several rounds of all jobs; one that is slow or fails is not run again.

    The first round also looks at the solutions.
    """
    results: dict[str, Result] = {}
    for turn in range(OPTIONS.rounds):
        for name, job in jobs.items():
            if turn and not again(name, results[name], clock):
                continue
            limit = max(OPTIONS.limit, Options.limit) if name == OURS else OPTIONS.limit
            found = run({"limit": limit, **job, "check": turn == 0})
            if not sys.stderr.closed and sys.stderr.isatty():
                print(f"... {name}: {found.get(clock, found)}", file=sys.stderr, flush=True)
            if turn == 0 or "missing" in found:
                results[name] = found
            else:
                for key in {clock, "predict", "product", "bound"} & found.keys():
                    results[name][key] = min(results[name][key], found[key])
    return results


def again(name: str, result: Result, clock: str) -> bool:
    """Whether a job is run once more. Ours always is: its first fit may have compiled code."""
    return "missing" not in result and (name == OURS or result[clock] <= OPTIONS.slow)


def machines(candidates: Sequence[str] = PEERS) -> list[str]:
    wanted = OPTIONS.peers
    return [OURS, *(p for p in candidates if wanted is None or p in wanted)]


@cache
def race(kernel: str, n: int, multiclass: str, peers: tuple[str, ...] = PEERS) -> dict[str, Result]:
    """Fit n MNIST images with every machine; `wrong` says what is wrong with an answer."""
    jobs, results = {}, {}
    for name in machines(peers):
        if _too_slow.get((name, kernel, multiclass), n) < n:
            results[name] = {"missing": "stopped for its time on fewer rows"}
        else:
            jobs[name] = {
                "kind": "fit",
                "machine": name,
                "kernel": KERNELS[kernel],
                "multiclass": multiclass,
                "data": mnist(n),
                "products": not OPTIONS.brief,
            }
    results |= take_turns(jobs, "fit")
    for name, result in results.items():
        if result.get("late"):
            _too_slow[name, kernel, multiclass] = n
    judge(results, mnist(n)["test_rows"])
    return results


def judge(results: dict[str, Result], n_test: int) -> None:
    """Say of each result what is wrong with it: the highest feasible objective is right."""
    good = [r for r in results.values() if r.get("objective") is not None and not r["why"]]
    best = max(good, key=lambda r: r["objective"], default=None)
    for result in results.values():
        result["wrong"] = ""
        if "missing" in result or best is None:
            continue
        if result.get("objective") is not None:
            result["off"] = abs(best["objective"] - result["objective"]) / abs(best["objective"])
            if result["why"]:
                result["wrong"] = result["why"]
            elif result["off"] > CLOSE:
                result["wrong"] = f"objective off by {result['off']:.1e}"
        if result["error"] > best["error"] + max(ERROR_CLOSE, 3 / n_test):
            result["wrong"] = f"error, {result['wrong']}".rstrip(", ")


def fastest(results: dict[str, Result], clock: str = "fit") -> str | None:
    """The peer that is fastest among those with right answers."""
    right = [n for n, r in results.items() if n != OURS and "missing" not in r and not r["wrong"]]
    return min(right, key=lambda n: results[n][clock], default=None)


def table(results: dict[str, Result], rows: int = 0) -> Iterator[dict[str, Any]]:
    """A line for each machine on so many rows: its times, and what it came to."""
    for name, result in results.items():
        if "missing" in result:
            yield note(f"  {name}", result["missing"], machine=name, rows=rows, **result)
            continue
        objective = result.get("objective")
        solution = "not exposed" if objective is None else f"{objective:.7g}"
        yield note(
            f"  {name}",
            f"fit {result['fit']:8.3f} s  predict {result['predict']:7.3f} s  "
            f"error {100 * result['error']:5.2f} %  objective {solution}  "
            f"vectors {result.get('vectors', 0)} / {result.get('vectors_summed', 0)}  "
            f"peak {result['peak'] / 1e6:.0f} MB"
            + (f"  gap {result['gap']:.0e}" if "gap" in result else "")
            + (f"  WRONG: {result['wrong']}" if result["wrong"] else ""),
            machine=name,
            rows=rows,
            **{k: v for k, v in result.items() if k not in ("why",)},
        )
