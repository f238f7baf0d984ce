"""What a fitted online learner holds, for the model file: all that it takes to go on as if nothing
had happened.

Slots are kept as they are, since sums run over them in their order; what is in a free slot is not.
Kernel values among the stored examples go into the file too, below the diagonal: computed again in
another shape, they would differ in their last bits. Everything read back is checked, because the
compiled loops index with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.kernels.basis import Basis
from largemargin.model_file.arrays import check_array, check_count, check_finite, check_range
from largemargin.model_file.basis import BASIS_FACTS, empty_basis, fill_basis, pack_basis
from largemargin.model_file.expansions import check_scores
from largemargin.online.arrays import (
    EVERY,
    FREE,
    INSERTIONS,
    LOG_LENGTH,
    LOGGED,
    MARGIN_ERRORS,
    NEWEST,
    ONLINE_ERRORS,
    REMOVALS,
    SEEN,
    SIZE,
    TOP,
    most_slots,
)
from largemargin.online.learner import Run, n_rows_of

_COUNTS = {
    "n_seen": SEEN, "n_insertions": INSERTIONS, "n_removals": REMOVALS,
    "online_errors": ONLINE_ERRORS, "margin_errors": MARGIN_ERRORS, "n_slots": TOP,
    "log_every": EVERY,
}  # fmt: skip
_FACTS = {*BASIS_FACTS, *_COUNTS, "classes_given", "averages", "random", "newest"}
_BY_SLOT = ("coefs", "others", "debts")
_BY_ROW = ("scale", "passed", "norms", "updates")


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a fitted model."""
    run = model._run
    cache, rows, learner = run.cache, run.rows, run.learner
    slots = np.flatnonzero(cache.positions[: run.tally[TOP]] >= 0)
    basis = Basis(run.kernel, run.dtype)
    if len(slots):
        basis.add(run.vectors.rows[slots], cache.positions[slots])
    facts, arrays = pack_basis(basis)
    facts |= {name: int(run.tally[place]) for name, place in _COUNTS.items()}
    facts |= {
        "classes_given": bool(model._classes_given),
        "averages": bool(learner.averages),
        "random": f"{int(learner.random[0]):016x}",
        "newest": int(run.tally[NEWEST]),
    }
    arrays |= {"slots": slots, "labels": cache.labels[slots], "squares": cache.squares[slots]}
    for name in _BY_SLOT:
        arrays[name] = getattr(rows, name)[:, slots]
    for name in _BY_ROW:
        arrays[name] = getattr(rows, name)
    if run.keeps_gram:  # of two examples, the later has their value
        gram, positions = cache.gram[np.ix_(slots, slots)], cache.positions[slots]
        gram = np.where(positions[:, None] < positions, gram.T, gram)
        arrays["gram"] = gram[np.tril_indices(len(slots))]
    if run.projects:
        arrays["inverse"] = cache.inverse[np.ix_(slots, slots)][np.tril_indices(len(slots))]
    arrays["log"] = learner.log[: run.tally[LOGGED]]
    arrays["tuning"] = learner.tuning
    return facts, arrays


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Give an estimator the fitted state that `pack` took from another."""
    facts = {"newest": -1, **facts}  # which older files do not have
    if set(facts) != _FACTS:
        raise ValueError(f"{type(model).__name__} needs the facts {', '.join(sorted(_FACTS))}")
    _check_facts(facts)
    model.check_parameters()
    arrays = dict(arrays)
    basis = empty_basis(facts)
    fill_basis(basis, facts, arrays, model.n_features_in_, facts["n_seen"])
    run = Run(
        basis.kernel, basis.dtype, model._rule_code(), model._policy_code(), model.budget,
        facts["averages"], model._settings(), int(facts["random"], 16),
    )  # fmt: skip
    run.n_classes = len(model.classes_)
    _restore_cache(run, basis, facts, arrays)
    _restore_rows(run, arrays)
    _restore_tally(run, facts, arrays)
    if arrays:
        raise ValueError(f"there is an array {sorted(arrays)[0][:60]!r}, which no model has")
    for average in (False, True):
        with np.errstate(over="ignore", invalid="ignore"):
            expansion = run.expansion(average)
        check_scores(expansion.basis, expansion.coefs)
    model._run = run
    model._classes_given = facts["classes_given"]


def _check_facts(facts: dict[str, Any]) -> None:
    for name in _COUNTS:
        check_count(facts[name], name)
    for name in ("classes_given", "averages"):
        if type(facts[name]) is not bool:
            raise ValueError(f"{name} is neither true nor false")
    digits = facts["random"]
    if type(digits) is not str or len(digits) != 16 or set(digits) - set("0123456789abcdef"):
        raise ValueError("the state of the random generator is not one")
    if type(facts["newest"]) is not int or not -1 <= facts["newest"] < facts["n_slots"]:
        raise ValueError("the slot of the newest example is none of the slots")
    made, size = facts["n_insertions"] - facts["n_removals"], facts["n_support"]
    if made != size or not size <= facts["n_slots"] <= facts["n_insertions"]:
        raise ValueError("the numbers of insertions, removals, slots and stored examples disagree")
    errors = (facts["online_errors"], facts["n_insertions"], facts["margin_errors"])
    if max(errors) > facts["n_seen"] or errors[1] > errors[2] or not facts["log_every"]:
        raise ValueError("the numbers of errors and of examples disagree")


def _kept_matrices(run: Run) -> list[str]:
    return ["gram"] * run.keeps_gram + ["inverse"] * run.projects


def _restore_cache(
    run: Run, basis: Basis, facts: dict[str, Any], arrays: dict[str, np.ndarray]
) -> None:
    size, top = len(basis), facts["n_slots"]
    slots, labels, squares = (arrays.pop(name) for name in ("slots", "labels", "squares"))
    check_array(slots, "slots", np.int64, (size,))
    check_array(labels, "labels", np.int64, (size,))
    check_array(squares, "squares", np.float64, (size,))
    check_range(slots, "slots", 0, top)
    check_range(labels, "labels", 0, run.n_classes)
    check_finite(squares, "squares")
    if (np.diff(slots) <= 0).any() or len(np.unique(basis.examples)) < size:
        raise ValueError("the slots are not in order, or an example is stored twice")
    if run.budget is not None and (size > run.budget or top > run.limit):
        raise ValueError("more examples are stored than the budget allows")
    if run.projects and size != top:
        raise ValueError("a projectron has lost examples")
    if top > most_slots(size):
        raise ValueError("there are many more slots than examples in them")
    run.reserve(top)
    run.cache.positions[slots] = basis.examples
    run.cache.labels[slots] = labels
    run.cache.squares[slots] = squares
    if size:
        origins = np.zeros(top, np.int64)  # in an empty slot any vector will do
        origins[slots] = np.arange(size)
        rows, squares = basis.vectors[origins], basis.squares[origins]
        run.vectors.replace(np.arange(top), rows, squares, top)
    below = np.tril_indices(size)
    for name in _kept_matrices(run):
        values = arrays.pop(name)
        target = getattr(run.cache, name)
        check_array(values, name, target.dtype, (len(below[0]),))
        check_finite(values, name)
        target[slots[below[0]], slots[below[1]]] = values
        target[slots[below[1]], slots[below[0]]] = values


def _restore_rows(run: Run, arrays: dict[str, np.ndarray]) -> None:
    stored = np.flatnonzero(run.cache.positions >= 0)
    n = n_rows_of(run.n_classes)
    run.make_rows(n)
    for name in _BY_SLOT:
        values = arrays.pop(name)
        check_array(values, name, np.float64, (n, len(stored)))
        check_finite(values, name)
        getattr(run.rows, name)[:, stored] = values
    for name in _BY_ROW:
        values = arrays.pop(name)
        target = getattr(run.rows, name)
        check_array(values, name, target.dtype, (n,))
        check_finite(values, name)
        target[:] = values
    check_range(run.rows.updates, "updates", 1, 2**53)
    if not (run.rows.scale > 0).all() or (run.rows.norms < 0).any():
        raise ValueError("a factor or a squared norm of a vector is not one")


def _restore_tally(run: Run, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    for name, place in _COUNTS.items():
        run.tally[place] = facts[name]
    positions = run.cache.positions[: facts["n_slots"]]
    run.tally[SIZE] = (positions >= 0).sum()
    newest = run.tally[NEWEST] = facts["newest"]
    if newest >= 0 and (not run.keeps_gram or positions[newest] != positions.max()):
        raise ValueError("the newest example is not where it is said to be")
    run.tally[FREE] = np.argmin(positions >= 0) if (positions < 0).any() else len(positions)
    log, tuning = arrays.pop("log"), arrays.pop("tuning")
    check_array(log, "log", np.int64, (len(log),))
    if len(log) != facts["n_seen"] // facts["log_every"] or len(log) > LOG_LENGTH:
        raise ValueError("the log of cache sizes is not as long as the stream makes it")
    check_range(log, "log", 0, facts["n_slots"] + 1)
    run.learner.log[: len(log)] = log
    run.tally[LOGGED] = len(log)
    check_array(tuning, "tuning", np.float64, run.learner.tuning.shape)
    check_finite(tuning, "tuning")
    run.learner.tuning[:] = tuning
