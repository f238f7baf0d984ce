"""The models that `train` knows, and their options."""

from __future__ import annotations

from typing import Any

from largemargin.runtime.showing import shown

MODELS = {
    "voted-perceptron": "VotedPerceptron",
    "svc": "SVC",
    "nu-svc": "NuSVC",
    "kernel-adatron": "KernelAdatron",
    "lp-svc": "LPSVC",
    "nu-lp-svc": "NuLPSVC",
    "leave-one-out-svc": "LeaveOneOutSVC",
    "adaptive-margin-svc": "AdaptiveMarginSVC",
    "max-margin-hyperplane": "MaxMarginHyperplane",
    "aggressive-perceptron": "AggressivePerceptron",
    "mira": "MIRA",
    "romma": "ROMMA",
    "alma": "ALMA",
    "adaboost": "AdaBoost",
    "rbf-network": "RBFNetwork",
}
# those that learn from a stream
ONLINE = ("aggressive-perceptron", "mira", "romma", "alma")
# where the command line has another default than the estimator
_DEFAULTS: dict[str, dict[str, Any]] = {
    "voted-perceptron": {"epochs": 10},
    "adaboost": {"n_rounds": 500},
}


def make_estimator(model: str, options: dict[str, Any]) -> Any:
    """The unfitted estimator with the options that were given (those that are not None).

    >>> make_estimator("svc", {"C": 10.0, "nu": None})
    SVC(C=10.0)
    >>> make_estimator("svc", {"nu": 0.1})
    Traceback (most recent call last):
    ...
    ValueError: --nu is no option of svc: it belongs to nu-svc and nu-lp-svc
    """
    import largemargin

    given = {name: value for name, value in options.items() if value is not None}
    known = parameters_of(model)
    for name in given:
        if name not in known:
            owners = [other for other in MODELS if name in parameters_of(other)]
            raise ValueError(
                f"--{name.replace('_', '-')} is no option of {model}: it belongs to "
                f"{' and '.join(owners)}"
            )
    if "estimator" in given:
        given["estimator"] = _base_learner(given["estimator"])
    return getattr(largemargin, MODELS[model])(**{**_DEFAULTS.get(model, {}), **given})


def _base_learner(name: str) -> Any:
    """The base learner of boosting that has this name."""
    from largemargin import RBFNetwork

    if name not in ("stumps", "rbf-network"):
        raise ValueError(f"--estimator must be stumps or rbf-network, got {shown(name)}")
    return None if name == "stumps" else RBFNetwork()


def parameters_of(model: str) -> set[str]:
    """The names of the parameters that a model has."""
    import inspect

    import largemargin

    return set(inspect.signature(getattr(largemargin, MODELS[model])).parameters)
