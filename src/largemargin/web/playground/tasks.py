"""What a request asks for: points with classes, and a machine with its parameters."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.machines import DETECTOR, Card, by_name
from largemargin.runtime.showing import shown
from largemargin.web.playground.controls import Describe, arguments_of
from largemargin.web.problems import Problem

MOST_POINTS = 2_000
MOST_CLASSES = 5
FARTHEST = 1e3  # coordinates that make sense on the page


@dataclass(frozen=True)
class Task:
    """A fit that is asked for.

    Attributes
    ----------
    X : array of shape (n, 2)
    y : array of shape (n,)
    card : Card
    arguments : dict
        Of the constructor.
    """

    X: np.ndarray
    y: np.ndarray
    card: Card
    arguments: dict[str, Any]

    def machine(self, max_seconds: float | None = None) -> Any:
        """The machine, not fitted; with a time limit, on one thread, for the page."""
        known = inspect.signature(self.card.cls).parameters
        more: dict[str, Any] = {"random_state": 0} if "random_state" in known else {}
        if max_seconds is not None:
            more["max_seconds"] = max_seconds
            if "n_jobs" in known:  # no bit depends on it, and small fits are faster so
                more["n_jobs"] = 1
        return self.card.cls(**self.arguments, **more)

    def fitted(self, max_seconds: float | None = None, rows: Any = slice(None)) -> Any:
        model = self.machine(max_seconds)
        if self.card.kind == DETECTOR:
            return model.fit(self.X[rows])
        return model.fit(self.X[rows], self.y[rows])


def points_of(given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and classes of a list of [x, y, class]."""
    if not isinstance(given, list) or not given:
        raise Problem(400, "there are no points: draw some, or choose a preset")
    if len(given) > MOST_POINTS:
        raise Problem(413, f"{len(given)} points are more than {MOST_POINTS:,}: use fewer of them")
    try:
        table = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] != 3:
        raise Problem(400, "points must be a list of [x, y, class] with three numbers each")
    if not (np.abs(table[:, :2]) <= FARTHEST).all():
        raise Problem(400, f"coordinates must lie between -{FARTHEST:g} and {FARTHEST:g}")
    classes = table[:, 2]
    if not np.isin(classes, np.arange(MOST_CLASSES)).all():
        raise Problem(400, f"classes must be whole numbers from 0 to {MOST_CLASSES - 1}")
    return np.ascontiguousarray(table[:, :2]), classes.astype(np.int64)


def task_of(content: Any, describe: Describe) -> Task:
    """The fit that a request asks for, checked."""
    if not isinstance(content, dict):
        raise Problem(400, 'the request must be an object with "points" and "machine"')
    X, y = points_of(content.get("points"))
    name = content.get("machine")
    card = by_name().get(name) if isinstance(name, str) else None
    if card is None:
        raise Problem(400, f"there is no machine {shown(name)}: use {', '.join(by_name())}")
    return Task(X, y, card, arguments_of(card, content.get("params", {}), describe))
