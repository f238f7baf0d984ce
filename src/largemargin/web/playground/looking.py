"""A closer look at a fit: what leaving out a point would change, and what the theory says."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.certificates.certificate import stated
from largemargin.machines import DETECTOR
from largemargin.runtime.showing import shown
from largemargin.web.playground.picture import SIDE, grid_points, packed, rows_of_scores
from largemargin.web.playground.saying import said_here
from largemargin.web.playground.tasks import Task
from largemargin.web.problems import Problem


def without(task: Task, index: Any, view: list[float], max_seconds: float) -> dict[str, Any]:
    """The fit without one point: its boundary, and its answer for that point."""
    n = len(task.y)
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < n:
        raise Problem(400, f"index must be a whole number from 0 to {n - 1}, got {shown(index)}")
    rows = np.delete(np.arange(n), index)
    if not len(rows):
        raise Problem(400, "there is only this point: draw more")
    if task.card.kind != DETECTOR and len(set(task.y[rows].tolist())) < 2:
        raise Problem(400, "Left out, only one class would remain.")
    points = grid_points(view, SIDE)
    with said_here():
        whole, other = task.fitted(max_seconds), task.fitted(max_seconds, rows)
    grid = rows_of_scores(other.decision_function(points))
    before, after = (model.predict(task.X[index : index + 1])[0] for model in (whole, other))
    moved = float(np.mean(whole.predict(points) != other.predict(points)))
    if task.card.kind == DETECTOR:
        fate = f"it would be {'an outlier' if after < 0 else 'no outlier'}"
    else:
        right = "right" if after == task.y[index] else "wrong"
        fate = f"it would be answered class {int(after) + 1}, which is {right}"
    still = "still " if before == after else ""
    return {
        "side": SIDE,
        "problems": len(grid),
        "grid": packed(grid),
        "answer": int(after),
        "moved": moved,
        "sentence": f"Left out, {fate.replace('would be', f'would {still}be', 1)}; "
        f"{100 * moved:.2g} % of the plane would change.",
    }


def certificate(task: Task, max_seconds: float) -> dict[str, Any]:
    """The statements about a fit, as the page shows them."""
    with said_here():
        model = task.fitted(max_seconds)
        given = (task.X,) if task.card.kind == DETECTOR else (task.X, task.y)
        found = model.certificate(*given)
    return {
        "statements": [
            {**_plain(statement.as_dict()), "shown": _shown(statement)} for statement in found
        ]
    }


def _shown(statement: Any) -> str:
    return "-" if statement.value is None else stated(statement.value, statement.side)


def _plain(statement: dict[str, Any]) -> dict[str, Any]:
    """What the page reads; numbers are written out in `shown`, since JSON has no infinity."""
    return {
        key: statement[key]
        for key in ("name", "applies", "vacuous", "kind", "sentence", "source", "assumptions")
    }
