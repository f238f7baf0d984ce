"""The models that `train` knows: their options, and what there is to say of them when trained."""

from __future__ import annotations

from typing import Any

from largemargin.cli.model_options import parameters_of
from largemargin.cli.output import percent, text
from largemargin.machines import CARDS, by_command
from largemargin.runtime.showing import shown

MODELS = {card.command: card.name for card in CARDS}
# those that learn from a stream
ONLINE = tuple(card.command for card in CARDS if card.streams)
# what tells one machine from another
_MACHINE = (
    "norm", "C", "nu", "lam", "slack", "multiclass", "method", "margin", "aggressive", "alpha", "B",
    "budget", "policy", "average", "estimator", "n_rounds", "n_centers", "regularization",
)  # fmt: skip


def make_estimator(model: str, options: dict[str, Any]) -> Any:
    """The unfitted estimator with the options that were given (those that are not None).

    >>> make_estimator("svc", {"C": 10.0, "nu": None})
    SVC(C=10.0)
    >>> make_estimator("svc", {"nu": 0.1})
    Traceback (most recent call last):
    ...
    ValueError: --nu is no option of svc: it belongs to nu-svc and nu-lp-svc
    """
    card = by_command()[model]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in parameters_of(card.name):
            owners = [other.command for other in CARDS if name in parameters_of(other.name)]
            raise ValueError(
                f"--{name.replace('_', '-')} is no option of {model}: it belongs to "
                f"{' and '.join(owners)}"
            )
    if "estimator" in given:
        given["estimator"] = _base_learner(given["estimator"])
    return card.cls(**{**card.defaults, **given})


def _base_learner(name: str) -> Any:
    """The base learner of boosting that has this name."""
    learners = {card.command: card for card in CARDS if card.boosted}
    if name == "stumps":
        return None
    if name not in learners:
        raise ValueError(
            f"--estimator must be stumps or {' or '.join(learners)}, got {shown(name)}"
        )
    return learners[name].cls()


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
    kernel = parameters.get("kernel", "linear")
    wanted = {
        "poly": ("degree", "gamma", "coef0"), "sigmoid": ("gamma", "coef0"),
        "rbf": ("gamma",), "laplacian": ("gamma",),
    }.get(kernel, ())  # fmt: skip
    return ", ".join([kernel, *(f"{name} {text(parameters[name])}" for name in wanted)])


def learned(model: Any) -> dict[str, Any]:
    """What fitting found, by what kind of model it is."""
    facts: dict[str, Any] = {"classes": len(model.classes_)}
    if hasattr(model, "alphas_"):
        errors = model.weighted_errors_
        ends = {"first_error": float(errors[0]), "last_error": float(errors[-1])}
        return {**facts, "rounds": model.n_iter_, "ended": model.ended_, **ends}
    if hasattr(model, "centers_"):
        return {**facts, "centers": len(model.centers_), "objective": model.objective_}
    if hasattr(model, "online_errors_"):
        facts |= {
            "online_errors": model.online_errors_,
            "margin_errors": model.margin_errors_,
            "insertions": model.n_insertions_,
            "removals": model.n_removals_,
        }
        return {**facts, "support_vectors": model.n_support_}
    facts["converged"] = model.converged_
    if hasattr(model, "n_mistakes_"):
        facts |= {"epochs": model.n_epochs_, "mistakes": int(model.n_mistakes_.sum())}
    else:
        facts |= {
            "problems": len(model.intercept_),
            "iterations": int(model.n_iter_.sum()),
            "dual_gap": float(model.dual_gap_.max()),
        }
    if not hasattr(model, "n_support_"):
        used = int(model.coef_.any(axis=0).sum())
        return {**facts, "margin": float(model.margin_.min()), "features_used": used}
    return {**facts, "support_vectors": model.n_support_}


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
