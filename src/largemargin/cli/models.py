"""The models that `train` knows, and how one is made from options."""

from __future__ import annotations

from typing import Any

from largemargin.cli.model_options import parameters_of
from largemargin.machines import CARDS, by_command
from largemargin.runtime.showing import shown

MODELS = {card.command: card.name for card in CARDS}
# those that learn from a stream
ONLINE = tuple(card.command for card in CARDS if card.streams)


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
