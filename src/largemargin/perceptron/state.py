"""What a fitted `VotedPerceptron` holds, for the model file: basis, trace and a few numbers.

Everything read back is checked, because the compiled loops index with it: slots lie in the basis,
problems among the problems, mistakes in the order of steps, and the rows of the basis are rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.model_file.arrays import (
    BASIS_FACTS,
    LARGEST_COUNT,
    check_array,
    check_count,
    check_range,
    empty_basis,
    fill_basis,
    pack_basis,
)
from largemargin.perceptron.learner import PerceptronState
from largemargin.perceptron.trace import FIELDS

_NUMBERS = ("n_steps", "epoch_length", "n_seen", "n_epochs")


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a fitted model."""
    state = model.state
    trace = state.trace
    facts, arrays = pack_basis(state.basis)
    facts |= {
        "n_problems": trace.n_problems,
        "n_mistakes": model.n_mistakes_.tolist(),
        "n_steps": int(trace.n_steps),
        "epoch_length": int(trace.epoch_length),
        "n_seen": int(state.n_seen),
        "n_epochs": int(model.n_epochs_),
        "converged": bool(model.converged_),
        "looked": model._looked,
    }
    arrays |= {f"trace.{name}": values for name, values in trace.arrays().items()}
    if model._correct is not None:
        arrays["correct"] = np.asarray(model._correct, np.int64)
    return facts, arrays


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Give an estimator the fitted state that `pack` took from another."""
    n_problems = 1 if len(model.classes_) == 2 else len(model.classes_)
    _check_facts(facts, n_problems)
    basis = empty_basis(facts)
    state = PerceptronState(basis.kernel, basis.dtype, n_problems)
    arrays = dict(arrays)
    fill_basis(state.basis, facts, arrays, model.n_features_in_)
    _restore_trace(state, arrays, facts)
    state.n_seen = facts["n_seen"]

    correct = arrays.pop("correct", None)
    if (correct is not None) != bool(facts["looked"]):
        raise ValueError("method='pocket' or 'holdout' and its counts do not go together")
    if correct is not None:
        check_array(correct, "correct", np.int64, (len(state.trace),))
        check_range(correct, "correct", 0, LARGEST_COUNT)
    if arrays:
        raise ValueError(f"there is an array {sorted(arrays)[0][:60]!r}, which no model has")
    n_mistakes = state.trace.n_mistakes()
    if n_mistakes.tolist() != facts["n_mistakes"]:
        raise ValueError("the numbers of mistakes are not those of the trace")
    model.trace_ = state.trace
    model.n_mistakes_ = n_mistakes
    model.n_epochs_ = facts["n_epochs"]
    # older files of streams say so of a last chunk alone; what was held out is not seen at all
    model.converged_ = facts["converged"] and (state.settled or facts["looked"] == "holdout")
    model._state = state
    model._correct = correct
    model._looked = facts["looked"]


def _check_facts(facts: dict[str, Any], n_problems: int) -> None:
    wanted = {*_NUMBERS, *BASIS_FACTS, "n_problems", "n_mistakes", "converged", "looked"}
    if set(facts) != wanted:
        raise ValueError(f"VotedPerceptron needs the facts {', '.join(sorted(wanted))}")
    for name in _NUMBERS:
        check_count(facts[name], name)
    if type(facts["n_problems"]) is not int or facts["n_problems"] != n_problems:
        raise ValueError("the number of problems is not that of the labels")
    if type(facts["converged"]) is not bool or facts["looked"] not in ("", "pocket", "holdout"):
        raise ValueError("converged or looked is not what it can be")


def _restore_trace(
    state: PerceptronState, arrays: dict[str, np.ndarray], facts: dict[str, Any]
) -> None:
    trace = state.trace
    mistakes = {name: arrays.pop(f"trace.{name}") for name in FIELDS}
    size = len(mistakes["slot"])
    for name, dtype in FIELDS.items():
        check_array(mistakes[name], f"trace.{name}", dtype, (size,))
    slot, problem, step = mistakes["slot"], mistakes["problem"], mistakes["step"]
    check_range(slot, "trace.slot", 0, len(state.basis))
    check_range(problem, "trace.problem", 0, trace.n_problems)
    check_range(step, "trace.step", 0, facts["n_steps"])
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
