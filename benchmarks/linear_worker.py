"""`python -m benchmarks.linear_worker SPEC`: one fit of a linear machine in a process of its own.

The specification and the result, a line of its own at the end, are JSON.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.linear_data import objective
from benchmarks.timing import seconds

OURS = "largemargin"


def read(file: str) -> tuple[Any, np.ndarray]:
    """Rows and labels as `benchmarks.linear` stored them."""
    y = np.load(f"{file}.y.npy")
    return sp.load_npz(f"{file}.npz") if Path(f"{file}.npz").exists() else np.load(f"{file}.npy"), y


def machine(name: str, C: float, threads: int) -> Any:
    if name == OURS:
        from largemargin import SVC

        return SVC(kernel="linear", C=C, n_jobs=threads)
    from sklearn.svm import LinearSVC

    return LinearSVC(loss="hinge", C=C)


def main() -> None:
    spec = json.loads(sys.argv[1])
    warnings.simplefilter("ignore")
    X, y = read(spec["file"])
    few = 10_000  # what is compiled or imported at the first fit is not the fit
    machine(spec["machine"], 1e-3, spec["threads"]).fit(X[:few], y[:few])
    took, found = [], []
    for _ in range(spec["rounds"]):
        model = machine(spec["machine"], spec["C"], spec["threads"])
        took.append(seconds(lambda model=model: found.append(model.fit(X, y))))
        if took[-1] > spec["slow"]:
            break
    model = found[-1]
    converged = model.converged_ if spec["machine"] == OURS else model.n_iter_ < model.max_iter
    result = {
        "seconds": min(took), "converged": bool(converged),
        "objective": objective(X, y, model.coef_[0], spec["C"]),
    }  # fmt: skip
    print(json.dumps(result))


if __name__ == "__main__":
    main()
