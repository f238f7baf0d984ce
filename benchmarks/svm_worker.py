"""One machine in a process of its own: a job as JSON on stdin, a line of JSON on stdout.

    echo '{"kind": "fit", "machine": "scikit-learn", ...}' | python -m benchmarks.svm_worker

`benchmarks.svm_race` writes the jobs and the files that they name.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import tables_bound
from benchmarks.svm_objective import dual_objectives, infeasible
from benchmarks.svm_peers import OURS, machine
from benchmarks.timing import best_of, seconds

WARM_UP = 500  # rows of the fit that loads and compiles what there is to load and compile
ENOUGH = 100.0  # seconds; several fits that take less in all are repeated
SHORT = 2.0  # seconds that the repetitions of a short fit may take
PREDICT = 4.0  # the same of a prediction

Job = dict[str, Any]
Result = dict[str, Any]


class Arrays:
    """The data of a job, read into memory of this process and no more than that."""

    def __init__(self, job: Job) -> None:
        spec = job["data"]
        folder, dtype, width = Path(spec["folder"]), np.dtype(spec["dtype"]), spec["features"]

        def read(name: str, kind: np.dtype, count: int, columns: int = 1) -> np.ndarray:
            return np.fromfile(folder / f"{spec['name']}.{name}", kind, count * columns)

        def read_rows(name: str, count: int) -> Any:
            if spec.get("sparse"):
                return sp.csr_matrix(sp.load_npz(folder / f"{spec['name']}.{name}.npz")[:count])
            return read(name, dtype, count, width).reshape(count, width)

        n, m = spec["rows"], spec["test_rows"]
        self.X = read_rows("X", n)
        self.y = read("y", np.dtype(np.int64), n)
        self.X_test = read_rows("X_test", m)
        self.y_test = read("y_test", np.dtype(np.int64), m)

    @property
    def nbytes(self) -> int:
        rows = [
            part
            for X in (self.X, self.X_test)
            for part in ((X.data, X.indices, X.indptr) if sp.issparse(X) else (X,))
        ]
        return sum(a.nbytes for a in (*rows, self.y, self.y_test))

    def warm_up(self) -> tuple[np.ndarray, np.ndarray]:
        return self.X[:WARM_UP], self.y[:WARM_UP]


def peak_bytes() -> int:
    """The largest resident size of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def build(job: Job, **changes: Any) -> Any:
    kernel = {**job["kernel"], **changes}
    own = {"memory": job["memory"]} if "memory" in job else {}
    return machine(job["machine"], kernel, job["multiclass"], job["threads"], **own)


def fit(job: Job) -> Result:
    """Time one fit and the prediction of the test set; then look at what came out."""
    data = Arrays(job)
    warm = build(job)
    warm.fit(*data.warm_up())
    warm.predict(data.X_test[:WARM_UP])
    model = build(job)
    result: Result = {"fit": seconds(lambda: model.fit(data.X, data.y))}
    result["peak_fit"] = peak_bytes()
    repeats = int(min(job.get("fits", 1) - 1, SHORT // result["fit"]))
    if repeats > 0:
        again = best_of(repeats, lambda: build(job).fit(data.X, data.y))
        result["fit"] = min(result["fit"], *again)
    start = perf_counter()
    answers = model.predict(data.X_test)
    result["predict"] = perf_counter() - start
    result["error"] = float(np.mean(answers != data.y_test))
    result["peak"], result["data_bytes"] = peak_bytes(), data.nbytes
    repeats = int(min(4, PREDICT // result["predict"]))
    if repeats:
        again = best_of(repeats, lambda: model.predict(data.X_test))
        result["predict"] = min(result["predict"], *again)
    if job.get("check") or job.get("save") or job["machine"] == OURS:
        result |= look_inside(model, data, job)
    return result


def look_inside(model: Any, data: Arrays, job: Job) -> Result:
    """Support vectors, objective and, for ours, the products that nobody can avoid."""
    try:
        support, coefs = model.expansion(data.y)
    except AttributeError as error:
        return {"objective": None, "why": f"coefficients are not exposed: {error}"}
    labels, vectors = data.y[support], data.X[support]
    if sp.issparse(vectors):
        vectors = vectors.toarray()
    result: Result = {
        "vectors": int((coefs != 0).any(axis=0).sum()),
        "vectors_summed": int(np.count_nonzero(coefs)),
    }
    if job.get("save"):
        np.savez(job["save"], support=support, coefs=coefs)
    if job.get("check"):
        objectives = dual_objectives(vectors, labels, coefs, job["kernel"])
        result["objective"] = float(objectives.sum())
        result["why"] = infeasible(labels, coefs, job["kernel"]["C"])
    if job["machine"] == OURS:
        result["gap"] = float(np.max(model.model.dual_gap_))
        result["converged"] = bool(model.model.converged_)
    if job["machine"] == OURS and job.get("products", True):
        result["product"] = product_seconds(model, data, vectors)
        result["bound"], result["values"] = bound(data, labels, vectors, coefs)
    return result


def product_seconds(model: Any, data: Arrays, vectors: np.ndarray) -> float:
    """X_test @ support_vectors.T, taking turns with the prediction."""
    out = np.empty((len(data.X_test), len(vectors)), data.X.dtype)
    out.fill(0)  # its pages are there before the clock runs
    time, _ = best_of(
        3,
        lambda: np.dot(data.X_test, vectors.T, out=out),
        lambda: model.predict(data.X_test),
    )
    return time


def bound(
    data: Arrays, labels: np.ndarray, vectors: np.ndarray, coefs: np.ndarray
) -> tuple[float, int]:
    """Seconds for the inner products of every support vector with each example that a problem
    which it supports has, each once; and their number.
    """
    classes = np.unique(data.y)
    groups = [np.ascontiguousarray(data.X[data.y == c]) for c in classes]
    # a problem has the examples of those classes that its support vectors belong to
    used = np.array([(coefs[:, labels == c] != 0).any(axis=1) for c in classes])
    largest = max(map(len, groups))
    buffer = np.empty(len(labels) * largest, data.X.dtype)
    buffer.fill(0)  # its pages are there before the clock runs
    time, values = 0.0, 0
    for c, mine in enumerate(classes):
        own = np.flatnonzero(labels == mine)
        for d, group in enumerate(groups):
            problems = used[c] & used[d]
            needed = own[(coefs[np.ix_(problems, own)] != 0).any(axis=0)]
            if len(needed):
                rows = vectors[needed]
                out = buffer[: len(rows) * len(group)].reshape(len(rows), len(group))
                time += min(best_of(2, partial(np.dot, rows, group.T, out=out)))
                values += out.size
    return time, values


def small(job: Job) -> Result:
    """Fit plus predict of a small set, over and over in a warm process: the least time."""
    data = Arrays(job)
    model = build(job)

    def work() -> None:
        model.fit(data.X, data.y)
        model.predict(data.X)

    for _ in range(3):
        work()
    times: list[float] = []
    while len(times) < 10 or (sum(times) < job["seconds"] and len(times) < 1000):
        times.append(seconds(work))
    result = {"both": min(times), "times": len(times)}
    result["error"] = float(np.mean(model.predict(data.X) != data.y))
    support, coefs = model.expansion(data.y)
    objectives = dual_objectives(data.X[support], data.y[support], coefs, job["kernel"])
    return {**result, "objective": float(objectives.sum()), "vectors": len(support)}


def path(job: Job) -> Result:
    """Each C by itself, and all of them by `path`, taking turns."""
    data = Arrays(job)
    Cs = job["Cs"]
    build(job).fit(*data.warm_up())
    if hasattr(build(job).model, "path"):
        build(job).model.path(*data.warm_up(), Cs)
    else:
        return {"missing": "SVC has no path"}
    models = [build(job, C=C) for C in Cs]
    together: list[Any] = []

    def run() -> None:
        together[:] = build(job).model.path(data.X, data.y, Cs)

    alone = [partial(model.fit, data.X, data.y) for model in models]
    *single, all_of_them = repeat(job["rounds"], [*alone, run])
    apart = np.array([np.sum(m.model.objective_) for m in models])
    joined = np.array([np.sum(m.objective_) for m in together])
    return {
        "single": single,
        "path": all_of_them,
        "difference": float(np.max(np.abs(apart - joined) / np.abs(apart))),
        "peak": peak_bytes(),
    }


def cross_validation(job: Job) -> Result:
    """One fit, and all folds over shared rows, taking turns; then the first fold by itself."""
    from sklearn.model_selection import StratifiedKFold

    import largemargin.svm

    data = Arrays(job)
    if not hasattr(largemargin.svm, "cross_validate"):
        return {"missing": "largemargin.svm has no cross_validate"}
    cross_validate = largemargin.svm.cross_validate
    model = build(job).model
    Cs = [job["kernel"]["C"]]
    model.fit(*data.warm_up())
    cross_validate(model, *data.warm_up(), Cs, job["folds"])
    validated: list[Any] = []

    def run() -> None:
        validated[:] = [cross_validate(model, data.X, data.y, Cs, job["folds"])]

    one, folds = repeat(job["rounds"], [partial(model.fit, data.X, data.y), run])
    peak = peak_bytes()
    train, test = next(StratifiedKFold(job["folds"]).split(data.X, data.y))
    alone = model.fit(data.X[train], data.y[train]).score(data.X[test], data.y[test])
    return {
        "fit": one,
        "folds": folds,
        "peak": peak,
        "error": 1 - float(np.max(validated[0].mean_scores)),
        "first": 1 - float(np.ravel(validated[0].scores)[0]),
        "alone": 1 - float(alone),
    }


def repeat(rounds: int, works: list[Any]) -> list[float]:
    """The least time of each in so many rounds, or in one if that is long enough."""
    start = perf_counter()
    best = best_of(1, *works)
    for _ in range(rounds - 1):
        if perf_counter() - start > ENOUGH:
            break
        best = [min(pair) for pair in zip(best, best_of(1, *works), strict=True)]
    return best


KINDS = {
    "fit": fit,
    "small": small,
    "path": path,
    "cross-validation": cross_validation,
    "rate": tables_bound.measure,
}


def main() -> None:
    job = json.load(sys.stdin)
    if hasattr(os, "sched_setaffinity"):  # for libraries that count cores and ask nobody
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[: job["threads"]])
    try:
        result = KINDS[job["kind"]](job)
    except ModuleNotFoundError as error:
        result = {"missing": f"not installed: {error.name}"}
    print("\n" + json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
