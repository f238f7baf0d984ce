"""What a fitted model knows of its training: the fingerprint of the data, and the parameters that
were in force.

A model without a record, such as one from a file of an earlier version, does not know the data that
it was trained on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import clone

from largemargin.base.fingerprint import Fingerprint

# Parameters that cannot change a model, or only by ending its training early.
ASIDE = frozenset(
    {"calibrate", "client", "n_jobs", "memory", "verbose", "max_seconds", "warm_start"}
)
LONGEST = 60  # characters of a value in a sentence


@dataclass(frozen=True)
class TrainingRecord:
    """Of one fit, or of a stream so far; the parameters are those at its beginning."""

    data: Fingerprint
    parameters: Mapping[str, Any]

    def changed(self, model: Any, aside: Collection[str] = ()) -> dict[str, Any]:
        """What parameters were that a model does not have any more, but for those put aside."""
        return {
            name: value
            for name, value in self.parameters.items()
            if name not in aside and not _same(value, getattr(model, name))
        }


def parameters_of(model: Any) -> dict[str, Any]:
    """The parameters that a model depends on, as they are now."""
    return {name: _kept(getattr(model, name)) for name in _names_of(model.__class__)}


def told_changes(changed: Mapping[str, Any], model: Any) -> str:
    """What `TrainingRecord.changed` found, in words."""
    return "; ".join(
        f"{name} was {_short(value)} when the model was trained, and is "
        f"{_short(getattr(model, name))} now"
        for name, value in changed.items()
    )


@cache
def _names_of(cls: Any) -> list[str]:
    """Looked up once: it takes as long as a part of a small fit."""
    return [name for name in cls._get_param_names() if name not in ASIDE]


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _kept(value: Any) -> Any:
    """The value as it is now, whatever is done to it later."""
    if value is None or isinstance(value, str | int | float):
        return value
    if _is_estimator(value):
        return clone(value, safe=False)
    return deepcopy(value) if isinstance(value, dict | list | np.ndarray) else value


def _same(before: Any, now: Any) -> bool:
    if before is now:
        return True
    if isinstance(before, np.random.RandomState | np.random.Generator):
        return type(before) is type(now)  # it goes on with every draw
    if _is_estimator(before):
        if type(before) is not type(now):
            return False
        one, other = before.get_params(deep=False), now.get_params(deep=False)
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    try:
        return bool(np.all(before == now))
    except (TypeError, ValueError):
        return False
