"""What there is to say of a fit in words: which machine it is, its kernel, what was found.

`known_notes` are those of a model file that `largemargin train` wrote, where they are as it writes
them: `save` lets people note anything under any name, and what has another shape is theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

from largemargin.machines import (
    CLASSIFIER,
    DUAL,
    ENSEMBLE,
    HYPERPLANE,
    NETWORK,
    STREAM,
    TRACE,
    card_of,
)
from largemargin.runtime.showing import percent, text

# parameters that tell one machine from another
_MACHINE = (
    "norm", "C", "nu", "lam", "slack", "multiclass", "method", "margin", "aggressive", "alpha", "B",
    "budget", "policy", "average", "estimator", "n_rounds", "n_centers", "regularization",
)  # fmt: skip


def machine_words(parameters: dict[str, Any]) -> str:
    """Those of a model's parameters that say which machine it is, but for the kernel.

    >>> machine_words({"C": float("inf"), "slack": "linear", "kernel": "rbf", "tol": 1e-3})
    'C inf, slack linear'
    """
    told = {name: parameters[name] for name in _MACHINE if name in parameters}
    if "estimator" in told:
        told["estimator"] = _base_learner_words(told["estimator"])
    return ", ".join(f"{name} {text(value)}" for name, value in told.items())


def _base_learner_words(estimator: Any) -> str:
    if estimator is None:
        return "stumps"
    return estimator["class"] if isinstance(estimator, dict) else type(estimator).__name__


def kernel_words(parameters: dict[str, Any]) -> str:
    """The kernel and those of the parameters that mean something for it; a model without one is
    linear.

    >>> kernel_words({"kernel": "rbf", "degree": 4, "gamma": 0.5, "coef0": 1.0})
    'rbf, gamma 0.5'
    """
    from largemargin.kernels.functions import KERNELS  # loads NumPy, which `--help` does without

    kernel = parameters.get("kernel", "linear")
    wanted = KERNELS[kernel].parameters
    return ", ".join([kernel, *(f"{name} {text(parameters[name])}" for name in wanted)])


def learned(model: Any) -> dict[str, Any]:
    """What fitting found, by what it leaves."""
    card = card_of(model)
    found = _FOUND[card.outcome](model)
    return {"classes": len(model.classes_), **found} if card.kind == CLASSIFIER else found


def _found_by_rounds(model: Any) -> dict[str, Any]:
    errors = model.weighted_errors_
    ends = {"first_error": float(errors[0]), "last_error": float(errors[-1])}
    return {"rounds": model.n_iter_, "ended": model.ended_, **ends}


def _found_by_network(model: Any) -> dict[str, Any]:
    return {"centers": len(model.centers_), "objective": model.objective_}


def _found_by_stream(model: Any) -> dict[str, Any]:
    return {
        "online_errors": model.online_errors_, "margin_errors": model.margin_errors_,
        "insertions": model.n_insertions_, "removals": model.n_removals_,
        "support_vectors": model.n_support_,
    }  # fmt: skip


def _found_by_epochs(model: Any) -> dict[str, Any]:
    return {
        "converged": model.converged_, "epochs": model.n_epochs_,
        "mistakes": int(model.n_mistakes_.sum()), "support_vectors": model.n_support_,
    }  # fmt: skip


def _found_by_solver(model: Any) -> dict[str, Any]:
    return {
        "converged": model.converged_, "problems": len(model.intercept_),
        "iterations": int(model.n_iter_.sum()), "dual_gap": float(model.dual_gap_.max()),
    }  # fmt: skip


def _found_by_dual(model: Any) -> dict[str, Any]:
    return {**_found_by_solver(model), "support_vectors": model.n_support_}


def _found_by_hyperplane(model: Any) -> dict[str, Any]:
    used = int(model.coef_.any(axis=0).sum())
    margin = float(model.margin_.min())
    return {**_found_by_solver(model), "margin": margin, "features_used": used}


_FOUND = {
    DUAL: _found_by_dual, TRACE: _found_by_epochs, STREAM: _found_by_stream,
    HYPERPLANE: _found_by_hyperplane, ENSEMBLE: _found_by_rounds, NETWORK: _found_by_network,
}  # fmt: skip


def learned_words(facts: dict[str, Any]) -> list[tuple[str, Any]]:
    """What `learned` gave, for people."""
    from largemargin.certificates.rounding import at_least, at_most

    if "rounds" in facts:
        ended = "" if facts["ended"] == "n_rounds" else f" (ended by: {facts['ended']})"
        errors = f"{facts['first_error']:.3g}, at last {facts['last_error']:.3g}"
        return [("rounds", f"{facts['rounds']}{ended}"), ("weighted error", f"at first {errors}")]
    if "centers" in facts:
        return [("centres", facts["centers"]), ("objective", facts["objective"])]
    if "online_errors" in facts:
        rows = [
            ("online errors", _online_errors(facts)),
            ("margin errors", facts["margin_errors"]),
            ("stored", f"{facts['insertions']}, of which {facts['removals']} removed again"),
        ]
    elif "epochs" in facts:
        end = " (no mistake in the last)" if facts["converged"] else ""
        rows = [("epochs", f"{facts['epochs']}{end}"), ("mistakes", facts["mistakes"])]
    else:
        end = "" if facts["converged"] else " (not converged)"
        rows = [
            ("problems", facts["problems"]),
            ("iterations", facts["iterations"]),
            ("duality gap", f"{at_most(facts['dual_gap'], 3)}{end}"),
        ]
    if "features_used" in facts:
        least = "smallest margin" if facts["problems"] > 1 else "margin"
        rows += [(least, at_least(facts["margin"])), ("features used", facts["features_used"])]
        return rows
    return [*rows, ("support vectors", facts["support_vectors"])]


def _online_errors(facts: dict[str, Any]) -> str:
    share = facts.get("progressive_error")
    return f"{facts['online_errors']}" + (f" ({percent(share)})" if share is not None else "")


def known_notes(model: Any, info: dict[str, Any]) -> dict[str, Any]:
    """The notes that have the shape that `largemargin train` gives them, with the names of columns;
    these are the model's own if there are none in the notes.
    """
    info = {name: value for name, value in info.items() if SHAPES.get(name, _anything)(value)}
    names = info.get("feature_names", getattr(model, "feature_names_in_", ()))
    if len(names) <= int(model.n_features_in_):  # of a stream, as many as have been seen
        return {**info, "feature_names": [str(name) for name in names]}
    return {name: value for name, value in info.items() if name != "feature_names"}


def _anything(value: Any) -> bool:
    return True


def _is(kind: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind) and not isinstance(value, bool)


def _is_search(value: Any) -> bool:
    """A table of a search, with what was chosen."""
    if not isinstance(value, dict) or not isinstance(value.get("table"), list):
        return False
    rows, chosen = value["table"], value.get("chosen")
    return bool(rows) and isinstance(chosen, dict) and _is(int)(value.get("folds")) and all(
        isinstance(row, dict)
        and isinstance(row.get("parameters"), dict)
        and row["parameters"].keys() == chosen.keys()
        and all(_is(Real)(row.get(name)) for name in ("mean", "spread", "seconds"))
        for row in rows
    )  # fmt: skip


SHAPES: dict[str, Callable[[Any], bool]] = {
    "rows": _is(int),
    "seconds": _is(Real),
    "warnings": _is(list),
    "versions": _is(dict),
    "feature_names": _is(list),
    "cv": _is_search,
    "held_out": _is(dict),
    "label": _is(str),
    "decisions": _is(list),
    "column_kinds": _is(dict),
    "progress": _is(list),
}
