"""What a fitted online learner holds, for the model file: all that it takes to go on where it
stopped, to the last bit.

Slots are kept as they are, since sums run over them in their order; what is in a free slot is not.
Kernel values among the stored examples go into the file too, below the diagonal: computed again in
another shape, they would differ in their last bits. Everything read back is checked, because the
compiled loops index with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.basis import Basis
from largemargin.model_file.arrays import (
    BASIS_FACTS,
    check_array,
    check_count,
    check_finite,
    check_range,
    check_scores,
    empty_basis,
    fill_basis,
    pack_basis,
    pack_rows,
    unpack_rows,
)
from largemargin.online.arrays import (
    BOUNDED,
    EVERY,
    FREE,
    INSERTIONS,
    LOG_LENGTH,
    LOGGED,
    MARGIN_ERRORS,
    NEWEST,
    OLD_BOUNDED,
    OLD_UNBOUNDED,
    ONLINE_ERRORS,
    REMOVALS,
    SEEN,
    SIZE,
    TOP,
    UNBOUNDED,
    most_slots,
)
from largemargin.online.beginning import HELD_BACK, Beginning
from largemargin.online.learner import LearnerState, n_vectors_of

_COUNTS = {
    "n_seen": SEEN, "n_insertions": INSERTIONS, "n_removals": REMOVALS,
    "online_errors": ONLINE_ERRORS, "margin_errors": MARGIN_ERRORS, "n_slots": TOP,
    "log_every": EVERY,
}  # fmt: skip
_FACTS = {
    *BASIS_FACTS, *_COUNTS, "classes_given", "averages", "random", "newest", "policy", "beginning",
    "clearance", "n_unvisited",
}  # fmt: skip
# Arrays of the file, and which of the weights each of them is
_BY_SLOT = {"coefs": "coefs", "others": "loo_scores", "debts": "average_offset"}
_BY_VECTOR = {"scale": "scale", "passed": "scale_sum", "norms": "norms", "updates": "updates"}


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a fitted model."""
    state = model.learner_state
    cache, weights, learner = state.cache, state.weights, state.learner
    slots = np.flatnonzero(cache.positions[: state.tally[TOP]] >= 0)
    basis = Basis(state.kernel, state.dtype)
    if len(slots):
        basis.add(state.stored.rows[slots], state.stored.numbers[slots])
    facts, arrays = pack_basis(basis)
    facts |= {name: int(state.tally[place]) for name, place in _COUNTS.items()}
    facts |= {
        "classes_given": bool(model.classes_given),
        "averages": bool(learner.averages),
        "random": f"{int(learner.random[0]):016x}",
        "newest": int(state.tally[NEWEST]),
        "policy": _policy_name(learner.policy),
        "clearance": float(state.clearance),
        "n_unvisited": int(state.n_unvisited),
        "beginning": None,
    }
    arrays |= {"slots": slots, "labels": cache.labels[slots], "squares": cache.squares[slots]}
    arrays["visits"] = cache.positions[slots]
    for name, field in _BY_SLOT.items():
        arrays[name] = getattr(weights, field)[:, slots]
    for name, field in _BY_VECTOR.items():
        arrays[name] = getattr(weights, field)
    if state.keeps_gram:  # lower triangular in order of arrival; in the file, in order of slots
        gram, positions = cache.gram[np.ix_(slots, slots)], cache.positions[slots]
        gram = np.where(positions[:, None] < positions, gram.T, gram)
        arrays["gram"] = gram[np.tril_indices(len(slots))]
    if state.projects:
        arrays["inverse"] = cache.inverse[np.ix_(slots, slots)][np.tril_indices(len(slots))]
    arrays["log"] = learner.log[: state.tally[LOGGED]]
    arrays["tuning"] = learner.tuning
    if model.beginning is not None:
        facts["beginning"], held = _pack_beginning(model.beginning)
        arrays |= held
    return facts, arrays


def _policy_name(code: int) -> str:
    return next(name for name, other in {**UNBOUNDED, **BOUNDED}.items() if other == code)


def _pack_beginning(beginning: Beginning) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The examples that a stream holds back, and what it settled with the first of them."""
    facts = {"size": len(beginning), "double": beginning.double, "seed": beginning.seed}
    if beginning.rows is None or beginning.labels is None:
        return facts, {}
    rows = beginning.rows
    arrays = pack_rows(rows, "held") if sp.issparse(rows) else {"held.rows": rows}
    return facts, {**arrays, "held.labels": np.asarray(beginning.labels, np.int64)}


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Give an estimator the fitted state that `pack` took from another."""
    # which older files do not have; "auto" was another policy then
    old = {
        "newest": -1, "beginning": None, "policy": model.policy, "clearance": None,
        "n_unvisited": 0,
    }  # fmt: skip
    if model.policy == "auto":
        old["policy"] = OLD_UNBOUNDED if model.budget is None else OLD_BOUNDED
    visited = "n_unvisited" in facts  # older ones came in the order of their positions
    facts = {**old, **facts}
    if set(facts) != _FACTS:
        raise ValueError(f"{type(model).__name__} needs the facts {', '.join(sorted(_FACTS))}")
    _check_facts(facts)
    model.check_parameters()
    arrays = dict(arrays) if visited else {**arrays, "visits": arrays["basis.examples"]}
    basis = empty_basis(facts)
    n_given = facts["n_seen"] + facts["n_unvisited"]
    fill_basis(basis, facts, arrays, model.n_features_in_, n_given)
    state = LearnerState(
        basis.kernel, basis.dtype, model.rule_code(), _policy_of(model, facts), model.budget,
        facts["averages"], model.rule_settings(), int(facts["random"], 16),
    )  # fmt: skip
    state.n_classes = len(model.classes_)
    state.clearance, state.n_unvisited = _clearance_of(facts), facts["n_unvisited"]
    _restore_cache(state, basis, facts, arrays)
    _restore_weights(state, arrays)
    _restore_tally(state, facts, arrays)
    beginning = _unpack_beginning(model, facts, arrays)
    if arrays:
        raise ValueError(f"there is an array {sorted(arrays)[0][:60]!r}, which no model has")
    for average in (False, True):
        with np.errstate(over="ignore", invalid="ignore"):
            expansion = state.expansion(average)
        check_scores(expansion.basis, expansion.coefs)
    model.set_fitted(state, model.classes_, facts["classes_given"], beginning)


def _policy_of(model: Any, facts: dict[str, Any]) -> int:
    """The number of the policy that the stream began with."""
    fitting = UNBOUNDED if model.budget is None else BOUNDED
    name = facts["policy"]
    if type(name) is not str or name not in fitting or model.policy not in ("auto", name):
        raise ValueError("the policy of the stream is not that of its parameters")
    return fitting[name]


def _clearance_of(facts: dict[str, Any]) -> float:
    """What a projectron stores an example from: of older files, the root of the rounding."""
    found = facts["clearance"]
    if found is None:
        return float(np.sqrt(np.finfo(facts["precision"]).eps))
    if type(found) is not float or not 0 < found < 1:
        raise ValueError("the clearance of the stored examples is not a part of 1")
    return found


def _unpack_beginning(
    model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]
) -> Beginning | None:
    held = facts["beginning"]
    if held is None:
        return None
    if not isinstance(held, dict) or set(held) != {"size", "double", "seed"}:
        raise ValueError("the beginning of the stream is malformed")
    check_count(held["size"], "the number of examples held back")
    check_count(held["seed"], "the seed")
    size = held["size"]
    if type(held["double"]) is not bool or size >= HELD_BACK or size != facts["n_seen"]:
        raise ValueError("the numbers of examples held back and seen disagree")
    if not size:
        return Beginning(held["double"], held["seed"])
    labels, rows = arrays.pop("held.labels"), arrays.pop("held.rows", None)
    check_array(labels, "held.labels", np.int64, (size,))
    check_range(labels, "held.labels", 0, len(model.classes_))
    if rows is None:
        rows = unpack_rows(arrays, "held", size, model.n_features_in_)
    values = np.asarray(rows.data if sp.issparse(rows) else rows)
    if rows.shape != (size, model.n_features_in_) or values.dtype not in (np.float32, np.float64):
        raise ValueError("the rows held back are not those of the stream")
    check_finite(values, "held")
    return Beginning(held["double"], held["seed"], rows, labels)


def _check_facts(facts: dict[str, Any]) -> None:
    for name in (*_COUNTS, "n_unvisited"):
        check_count(facts[name], name)
    for name in ("classes_given", "averages"):
        if type(facts[name]) is not bool:
            raise ValueError(f"{name} is neither true nor false")
    digits = facts["random"]
    if type(digits) is not str or len(digits) != 16 or set(digits) - set("0123456789abcdef"):
        raise ValueError("the state of the random generator is malformed")
    if type(facts["newest"]) is not int or not -1 <= facts["newest"] < facts["n_slots"]:
        raise ValueError("the slot of the newest example is none of the slots")
    made, size = facts["n_insertions"] - facts["n_removals"], facts["n_support"]
    if made != size or not size <= facts["n_slots"] <= facts["n_insertions"]:
        raise ValueError("the numbers of insertions, removals, slots and stored examples disagree")
    errors = (facts["online_errors"], facts["n_insertions"], facts["margin_errors"])
    if max(errors) > facts["n_seen"] or errors[1] > errors[2] or not facts["log_every"]:
        raise ValueError("the numbers of errors and of examples disagree")


def _kept_matrices(state: LearnerState) -> list[str]:
    return ["gram"] * state.keeps_gram + ["inverse"] * state.projects


def _restore_cache(
    state: LearnerState, basis: Basis, facts: dict[str, Any], arrays: dict[str, np.ndarray]
) -> None:
    size, top = len(basis), facts["n_slots"]
    slots, labels, squares = (arrays.pop(name) for name in ("slots", "labels", "squares"))
    visits = arrays.pop("visits")
    check_array(visits, "visits", np.int64, (size,))
    check_range(visits, "visits", 0, facts["n_seen"])
    check_array(slots, "slots", np.int64, (size,))
    check_array(labels, "labels", np.int64, (size,))
    check_array(squares, "squares", np.float64, (size,))
    check_range(slots, "slots", 0, top)
    check_range(labels, "labels", 0, state.n_classes)
    check_finite(squares, "squares")
    numbers = [len(np.unique(which)) for which in (basis.examples, visits)]
    if (np.diff(slots) <= 0).any() or min(numbers) < size:
        raise ValueError("the slots are not in order, or an example is stored twice")
    if state.budget is not None and (size > state.budget or top > state.limit):
        raise ValueError("more examples are stored than the budget allows")
    if state.projects and size != top:
        raise ValueError("a projectron has lost examples")
    if top > most_slots(size):
        raise ValueError("there are many more slots than examples in them")
    state.reserve(top)
    state.cache.positions[slots] = visits
    state.cache.labels[slots] = labels
    state.cache.squares[slots] = squares
    if size:
        origins = np.zeros(top, np.int64)  # in an empty slot any vector will do
        origins[slots] = np.arange(size)
        rows, squares = basis.vectors[origins], basis.squares[origins]
        state.stored.replace(np.arange(top), rows, squares, basis.examples[origins], top)
    below = np.tril_indices(size)
    for name in _kept_matrices(state):
        values = arrays.pop(name)
        target = getattr(state.cache, name)
        check_array(values, name, target.dtype, (len(below[0]),))
        check_finite(values, name)
        target[slots[below[0]], slots[below[1]]] = values
        target[slots[below[1]], slots[below[0]]] = values


def _restore_weights(state: LearnerState, arrays: dict[str, np.ndarray]) -> None:
    stored = np.flatnonzero(state.cache.positions >= 0)
    n = n_vectors_of(state.n_classes)
    state.reset_weights(n)
    for name, field in _BY_SLOT.items():
        values = arrays.pop(name)
        check_array(values, name, np.float64, (n, len(stored)))
        check_finite(values, name)
        getattr(state.weights, field)[:, stored] = values
    for name, field in _BY_VECTOR.items():
        values = arrays.pop(name)
        target = getattr(state.weights, field)
        check_array(values, name, target.dtype, (n,))
        check_finite(values, name)
        target[:] = values
    check_range(state.weights.updates, "updates", 1, 2**53)
    if not (state.weights.scale > 0).all() or (state.weights.norms < 0).any():
        raise ValueError("a factor or a squared norm of a vector is malformed")


def _restore_tally(
    state: LearnerState, facts: dict[str, Any], arrays: dict[str, np.ndarray]
) -> None:
    for name, place in _COUNTS.items():
        state.tally[place] = facts[name]
    positions = state.cache.positions[: facts["n_slots"]]
    state.tally[SIZE] = (positions >= 0).sum()
    newest = state.tally[NEWEST] = facts["newest"]
    if newest >= 0 and (not state.keeps_gram or positions[newest] != positions.max()):
        raise ValueError("the newest example is not where it is said to be")
    state.tally[FREE] = np.argmin(positions >= 0) if (positions < 0).any() else len(positions)
    log, tuning = arrays.pop("log"), arrays.pop("tuning")
    check_array(log, "log", np.int64, (len(log),))
    if len(log) != facts["n_seen"] // facts["log_every"] or len(log) > LOG_LENGTH:
        raise ValueError("the log of cache sizes is not as long as the stream makes it")
    check_range(log, "log", 0, facts["n_slots"] + 1)
    state.learner.log[: len(log)] = log
    state.tally[LOGGED] = len(log)
    check_array(tuning, "tuning", np.float64, state.learner.tuning.shape)
    check_finite(tuning, "tuning")
    state.learner.tuning[:] = tuning
