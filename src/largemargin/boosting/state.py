"""What fitted boosting models hold, for the model file: networks, and rounds of networks or stumps.

Classifiers that boosting combined are stored end to end: stumps as one array of features, one of
thresholds and one of class numbers, networks as the centres of all of them one after another. The
base learner of another library is code that a file cannot hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from largemargin.base.labels import numbers_in
from largemargin.boosting.rbf_network import RBFNetwork
from largemargin.boosting.weak_learners import LARGEST_SEED, Stump
from largemargin.model_file.arrays import (
    LARGEST_COUNT,
    check_array,
    check_count,
    check_finite,
    check_moderate,
    check_range,
)


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a fitted model."""
    if type(model) is RBFNetwork:
        facts = {"n_basis": len(model.centers_)}
        return facts, _pack_networks([model])
    facts = {"n_kept": model.n_iter_, "ended": model.ended_}
    arrays = {"alphas": model.alphas_, "errors": model.weighted_errors_}
    classifiers = model.estimators_
    if all(type(one) is Stump for one in classifiers):  # whatever the next fit would be with
        return {**facts, "base": "stump"}, arrays | _pack_stumps(classifiers, model.classes_)
    foreign = next((one for one in classifiers if type(one) is not RBFNetwork), None)
    if foreign is not None:
        raise ValueError(
            f"the base learner of AdaBoost is a {type(foreign).__name__}, which is code and cannot "
            "be saved: use estimator=None, for stumps, or RBFNetwork()"
        )
    if type(model.estimator) is not RBFNetwork:
        raise ValueError("AdaBoost was fitted with another estimator than it has now: fit it again")
    arrays["seeds"] = np.array([one.random_state for one in classifiers], np.int64)
    return {**facts, "base": "network"}, arrays | _pack_networks(classifiers)


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Give an estimator the fitted state that `pack` took from another."""
    arrays = dict(arrays)
    if type(model) is RBFNetwork:
        _unpack_network(model, facts, arrays)
    else:
        _unpack_rounds(model, facts, arrays)
    if arrays:
        raise ValueError(f"there is an array {sorted(arrays)[0][:60]!r}, which no model has")


def _unpack_network(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    if set(facts) != {"n_basis"}:
        raise ValueError("RBFNetwork needs the fact n_basis")
    _unpack_networks([model], model.classes_, model.n_features_in_, arrays)
    if facts["n_basis"] != len(model.centers_):
        raise ValueError("n_basis is not the number of centres")


def _unpack_rounds(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    if set(facts) != {"n_kept", "ended", "base"} or facts["base"] not in ("stump", "network"):
        raise ValueError("AdaBoost needs the facts n_kept, ended and base")
    check_count(facts["n_kept"], "n_kept")
    n = facts["n_kept"]
    if type(facts["ended"]) is not str:
        raise ValueError("ended is not text")
    alphas, errors = arrays.pop("alphas"), arrays.pop("errors")
    _check_rounds(alphas, errors, n, facts["ended"])
    if facts["base"] == "network" and type(model.estimator) is not RBFNetwork:
        raise ValueError("the classifiers are not those of the base learner")
    if facts["base"] == "stump":
        model.estimators_ = _unpack_stumps(n, model.classes_, model.n_features_in_, arrays)
    else:
        seeds = arrays.pop("seeds")
        check_array(seeds, "seeds", np.int64, (n,))
        check_range(seeds, "seeds", 0, LARGEST_SEED)
        networks = [clone(model.estimator).set_params(random_state=s) for s in seeds.tolist()]
        _unpack_networks(networks, model.classes_, model.n_features_in_, arrays)
        model.estimators_ = networks
    model.alphas_, model.weighted_errors_ = alphas, errors
    model.n_iter_, model.ended_ = n, facts["ended"]


def _check_rounds(alphas: np.ndarray, errors: np.ndarray, n: int, ended: str) -> None:
    if n == 0:
        raise ValueError("there are no rounds")
    check_array(alphas, "alphas", np.float64, (n,))
    check_array(errors, "errors", np.float64, (n,))
    if not ((errors >= 0) & (errors <= 1)).all():
        raise ValueError("errors are not all from 0 to 1")
    check_finite(alphas[:-1], "alphas but for the last")
    with np.errstate(over="ignore"):
        check_finite(alphas[:-1].sum(), "the sum of alphas")
    alone = n == 1 and alphas[0] == 0 and ended == "chance"
    if not (alphas > 0).all() and not alone:
        raise ValueError("alphas are not all positive")
    if np.isinf(alphas[-1]) != (ended == "zero error"):
        raise ValueError("the last alpha is not that of how it ended")


def _pack_stumps(stumps: list[Stump], classes: np.ndarray) -> dict[str, np.ndarray]:
    sides = np.array([[stump.left, stump.right] for stump in stumps], classes.dtype)
    return {
        "stumps.features": np.array([stump.feature for stump in stumps], np.int64),
        "stumps.thresholds": np.array([stump.threshold for stump in stumps]),
        "stumps.sides": numbers_in(classes, sides).astype(np.int64),
    }


def _unpack_stumps(
    n: int, classes: np.ndarray, n_features: int, arrays: dict[str, np.ndarray]
) -> list[Stump]:
    features, thresholds, sides = (
        arrays.pop(f"stumps.{name}") for name in ("features", "thresholds", "sides")
    )
    check_array(features, "stumps.features", np.int64, (n,))
    check_array(thresholds, "stumps.thresholds", np.float64, (n,))
    check_array(sides, "stumps.sides", np.int64, (n, 2))
    check_range(features, "stumps.features", 0, n_features)
    check_range(sides.ravel(), "stumps.sides", 0, len(classes))
    if np.isnan(thresholds).any():
        raise ValueError("stumps.thresholds are not all numbers")
    labels = classes[sides]
    return [
        Stump(feature, threshold, left, right)
        for feature, threshold, (left, right) in zip(
            features.tolist(), thresholds.tolist(), labels, strict=True
        )
    ]


def _pack_networks(networks: list[RBFNetwork]) -> dict[str, np.ndarray]:
    return {
        "networks.sizes": np.array([len(net.centers_) for net in networks], np.int64),
        "networks.steps": np.array([net.n_iter_ for net in networks], np.int64),
        "networks.objectives": np.array([net.objective_ for net in networks]),
        "networks.centers": np.concatenate([net.centers_ for net in networks]),
        "networks.widths": np.concatenate([net.widths_ for net in networks]),
        "networks.coefs": np.concatenate([net.coef_.T for net in networks]),
    }


def _unpack_networks(
    networks: list[RBFNetwork],
    classes: np.ndarray,
    n_features: int,
    arrays: dict[str, np.ndarray],
) -> None:
    """Fill in networks that have their parameters."""
    sizes, steps, objectives, centers, widths, coefs = (
        arrays.pop(f"networks.{name}")
        for name in ("sizes", "steps", "objectives", "centers", "widths", "coefs")
    )
    n, total, outputs = len(networks), len(widths), 1 if len(classes) == 2 else len(classes)
    check_array(sizes, "networks.sizes", np.int64, (n,))
    check_array(steps, "networks.steps", np.int64, (n,))
    check_array(objectives, "networks.objectives", np.float64, (n,))
    check_array(centers, "networks.centers", np.float64, (total, n_features))
    check_array(widths, "networks.widths", np.float64, (total,))
    check_array(coefs, "networks.coefs", np.float64, (total, outputs))
    check_range(sizes, "networks.sizes", 1, total + 1)
    check_range(steps, "networks.steps", 1, LARGEST_COUNT)
    if sizes.sum() != total or not (widths > 0).all():
        raise ValueError("the networks are not made of centres with widths")
    for name, values in (("objectives", objectives), ("centers", centers), ("widths", widths)):
        check_finite(values, f"networks.{name}")
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        check_moderate(np.abs(coefs).sum(axis=0), "the sum of networks.coefs")
        inverses = 1.0 / widths**2
        check_moderate(widths**2, "the square of networks.widths")
        for squares in (1.0, (centers**2).sum(axis=1)):
            check_moderate(inverses * squares, "an exponent of the networks")
    ends = np.cumsum(sizes).tolist()
    for k, network in enumerate(networks):
        mine = slice(ends[k] - int(sizes[k]), ends[k])
        network.classes_, network.n_features_in_ = classes, n_features
        network.centers_, network.widths_ = centers[mine], widths[mine]
        network.coef_ = coefs[mine].T
        network.objective_, network.n_iter_ = float(objectives[k]), int(steps[k])
