"""What a fitted `VotedPerceptron` holds, for the model file: basis, trace and a few numbers.

Everything read back is checked, because the compiled loops index with it: slots lie in the basis,
problems among the problems, mistakes in the order of steps, and the rows of the basis are rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.gram import Basis, check_overflow, largest_square
from largemargin.kernels import Kernel
from largemargin.perceptron.run import Run
from largemargin.perceptron.trace import FIELDS

_LARGEST = 2**53  # steps, positions: what a float64 counts exactly
_NUMBERS = ("n_steps", "epoch_length", "n_seen", "n_epochs")


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a fitted model."""
    run = model._run
    trace, basis = run.trace, run.basis
    facts = {
        "kernel": run.kernel,
        "precision": basis.dtype.name,
        "n_problems": trace.n_problems,
        "n_support": len(basis),
        "n_mistakes": model.n_mistakes_.tolist(),
        "n_steps": int(trace.n_steps),
        "epoch_length": int(trace.epoch_length),
        "n_seen": int(run.n_seen),
        "n_epochs": int(model.n_epochs_),
        "converged": bool(model.converged_),
        "looked": model._looked,
    }
    arrays = {f"trace.{name}": values for name, values in trace.arrays().items()}
    arrays["basis.examples"] = basis.examples
    if model._correct is not None:
        arrays["correct"] = np.asarray(model._correct, np.int64)
    if len(basis) and not basis.kernel.by_column:
        vectors = basis.vectors
        if sp.issparse(vectors):
            arrays["basis.data"] = vectors.data
            arrays["basis.indices"] = vectors.indices.astype(np.int64)
            arrays["basis.indptr"] = vectors.indptr.astype(np.int64)
        else:
            arrays["basis.vectors"] = vectors
    return facts, arrays


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Give an estimator the fitted state that `pack` took from another."""
    n_problems = 1 if len(model.classes_) == 2 else len(model.classes_)
    _check_facts(facts, n_problems)
    kernel = facts["kernel"]
    run = Run(kernel, np.dtype(facts["precision"]), n_problems)
    arrays = dict(arrays)
    _restore_basis(run.basis, arrays, model.n_features_in_, facts["n_support"])
    _restore_trace(run, arrays, facts)
    run.n_seen = facts["n_seen"]

    correct = arrays.pop("correct", None)
    if (correct is not None) != bool(facts["looked"]):
        raise ValueError("method='pocket' or 'holdout' and its counts do not go together")
    if correct is not None:
        _check(correct, "correct", np.int64, (len(run.trace),))
        _check_range(correct, "correct", 0, _LARGEST)
    if arrays:
        raise ValueError(f"there is an array {sorted(arrays)[0][:60]!r}, which no model has")
    n_mistakes = run.trace.n_mistakes()
    if n_mistakes.tolist() != facts["n_mistakes"]:
        raise ValueError("the numbers of mistakes are not those of the trace")
    model.trace_ = run.trace
    model.n_mistakes_ = n_mistakes
    model.n_epochs_ = facts["n_epochs"]
    model.converged_ = facts["converged"]
    model._run = run
    model._correct = correct
    model._looked = facts["looked"]


def _check_facts(facts: dict[str, Any], n_problems: int) -> None:
    wanted = {
        *_NUMBERS, "kernel", "precision", "n_problems", "n_support", "n_mistakes", "converged",
        "looked",
    }  # fmt: skip
    if set(facts) != wanted:
        raise ValueError(f"VotedPerceptron needs the facts {', '.join(sorted(wanted))}")
    for name in _NUMBERS:
        if type(facts[name]) is not int or not 0 <= facts[name] < _LARGEST:
            raise ValueError(f"{name} is not a count")
    if type(facts["n_problems"]) is not int or facts["n_problems"] != n_problems:
        raise ValueError("the number of problems is not that of the labels")
    if not isinstance(facts["kernel"], Kernel):
        raise ValueError("there is no kernel")
    if facts["precision"] not in ("float32", "float64"):
        raise ValueError(f"kernel values cannot be of type {str(facts['precision'])[:40]!r}")
    if type(facts["converged"]) is not bool or facts["looked"] not in ("", "pocket", "holdout"):
        raise ValueError("converged or looked is not what it can be")


def _restore_basis(
    basis: Basis, arrays: dict[str, np.ndarray], n_features: int, n_support: Any
) -> None:
    kernel = basis.kernel
    examples = arrays.pop("basis.examples")
    size = len(examples)
    _check(examples, "basis.examples", np.int64, (size,))
    _check_range(examples, "basis.examples", 0, n_features if kernel.by_column else _LARGEST)
    if type(n_support) is not int or n_support != size:
        raise ValueError("the number of support vectors is not that of the basis")
    if not size:
        return
    if kernel.by_column:
        basis.add(None, examples)
        return
    if "basis.vectors" in arrays:
        vectors = arrays.pop("basis.vectors")
        _check(vectors, "basis.vectors", vectors.dtype, (size, n_features))
        values = vectors
    else:
        vectors = _rows(arrays, size, n_features)
        values = vectors.data
    fits = values.dtype == basis.dtype if kernel.on_products else values.dtype in ("f4", "f8")
    if not fits or not np.isfinite(values).all():
        raise ValueError(f"the vectors of the basis are not finite numbers of type {basis.dtype}")
    if kernel.on_products:
        check_overflow(kernel, basis.dtype, largest_square(vectors))
    basis.add(vectors, examples)


def _rows(arrays: dict[str, np.ndarray], size: int, n_features: int) -> sp.csr_array:
    """Sparse rows, their entries in the order of columns."""
    data, indices, indptr = (arrays.pop(f"basis.{part}") for part in ("data", "indices", "indptr"))
    _check(data, "basis.data", data.dtype, (len(indices),))
    _check(indices, "basis.indices", np.int64, (len(data),))
    _check(indptr, "basis.indptr", np.int64, (size + 1,))
    _check_range(indices, "basis.indices", 0, n_features)
    if indptr[0] != 0 or indptr[-1] != len(data) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("basis.indptr does not part the entries into rows")
    within = np.ones(len(indices), bool)  # the first entry of a row has none before it
    within[indptr[:-1][indptr[:-1] < len(indices)]] = False
    if len(indices) and (np.diff(indices, prepend=0)[within] <= 0).any():
        raise ValueError("basis.indices are not in order within a row")
    return sp.csr_array((data, indices, indptr), shape=(size, n_features))


def _restore_trace(run: Run, arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    trace = run.trace
    mistakes = {name: arrays.pop(f"trace.{name}") for name in FIELDS}
    size = len(mistakes["slot"])
    for name, dtype in FIELDS.items():
        _check(mistakes[name], f"trace.{name}", dtype, (size,))
    slot, problem, step = mistakes["slot"], mistakes["problem"], mistakes["step"]
    _check_range(slot, "trace.slot", 0, len(run.basis))
    _check_range(problem, "trace.problem", 0, trace.n_problems)
    _check_range(step, "trace.step", 0, facts["n_steps"])
    if (np.abs(mistakes["sign"]) != 1).any():
        raise ValueError("trace.sign is not all +1 and -1")
    later = (step[1:] > step[:-1]) | ((step[1:] == step[:-1]) & (problem[1:] > problem[:-1]))
    if not later.all():
        raise ValueError("the mistakes are not in the order in which mistakes are made")
    trace.extend(mistakes)
    trace.n_steps = facts["n_steps"]
    trace.epoch_length = facts["epoch_length"]
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(trace.norms()).all():
            raise ValueError("the scores of the mistakes are not finite")


def _check(array: np.ndarray, name: str, dtype: Any, shape: tuple[int, ...]) -> None:
    if array.shape != shape or array.dtype != dtype:
        raise ValueError(
            f"{name} has type {array.dtype} and shape {array.shape}, where {np.dtype(dtype)} and "
            f"{shape} belong"
        )


def _check_range(array: np.ndarray, name: str, low: int, end: int) -> None:
    if len(array) and not (array.min() >= low and array.max() < end):
        raise ValueError(f"{name} goes beyond the range from {low} to {end}")
