"""A fit as the page draws it: scores on a grid, margins of the points, support vectors, numbers."""

from __future__ import annotations

import base64
import math
import time
from typing import Any

import numpy as np

from largemargin.machines import DETECTOR
from largemargin.report.plane import are_competing, margin_level
from largemargin.web.playground.saying import said_here
from largemargin.web.playground.tasks import Task
from largemargin.web.problems import Problem

SIDE = 80  # points of the grid in each direction
MOST_WARNINGS = 3


def grid_points(view: list[float], side: int) -> np.ndarray:
    """The grid as rows, from the lower left corner, row by row."""
    left, right, bottom, top = view
    across, up = np.meshgrid(np.linspace(left, right, side), np.linspace(bottom, top, side))
    return np.stack([across.ravel(), up.ravel()], axis=1)


def view_of(content: dict[str, Any]) -> list[float]:
    """The part of the plane that is seen: left, right, bottom, top."""
    view = content.get("view", [-1.0, 1.0, -1.0, 1.0])
    numbers = isinstance(view, list) and len(view) == 4
    if not numbers or not all(isinstance(v, int | float) and abs(v) <= 1e3 for v in view):
        raise Problem(400, "view must be the four numbers left, right, bottom, top")
    if not (view[0] < view[1] and view[2] < view[3]):
        raise Problem(400, "view must have left below right and bottom below top")
    return [float(v) for v in view]


def packed(values: np.ndarray) -> str:
    """Numbers as the page reads them: 32 bits each, in base 64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode()


def rows_of_scores(scores: np.ndarray) -> np.ndarray:
    """One row for two classes, else one per class."""
    return np.atleast_2d(np.asarray(scores, np.float64).T)


def leads(scores: np.ndarray) -> np.ndarray:
    """By how much each class leads over the best other one."""
    if len(scores) == 1:
        return np.concatenate([-scores, scores])
    second, best = np.partition(scores, -2, axis=0)[-2:]
    return np.asarray(scores - np.where(scores == best, second, best))


def number(value: Any) -> Any:
    """A number for JSON, which has no infinity."""
    value = float(value)
    return value if math.isfinite(value) else None


def fit(task: Task, max_seconds: float) -> tuple[Any, list[str], float]:
    """The fitted machine, what it warned of, and the seconds."""
    began = time.perf_counter()
    with said_here() as said:
        model = task.fitted(max_seconds)
    return model, list(dict.fromkeys(said))[:MOST_WARNINGS], time.perf_counter() - began


def picture(task: Task, view: list[float], max_seconds: float) -> dict[str, Any]:
    """Everything that the page draws of a fit."""
    model, said, fitting = fit(task, max_seconds)
    began = time.perf_counter()
    grid = rows_of_scores(model.decision_function(grid_points(view, SIDE)))
    found = {
        "machine": task.card.name,
        "detector": task.card.kind == DETECTOR,
        "classes": classes_of(task, model),
        "side": SIDE,
        "view": view,
        "grid": packed(grid),
        "problems": len(grid),
        **margin_lines(model, len(grid)),
        **of_points(task, model),
        **support_of(model, len(task.y)),
        "numbers": numbers(model),
        "warnings": said,
    }
    drawing = time.perf_counter() - began
    return {**found, "milliseconds": {"fit": 1e3 * fitting, "picture": 1e3 * drawing}}


def classes_of(task: Task, model: Any) -> list[int]:
    return [-1, 1] if task.card.kind == DETECTOR else model.classes_.tolist()


def margin_lines(model: Any, problems: int) -> dict[str, Any]:
    """Where the margins are: a level of scores (or of leads, if the classes compete), or none."""
    level = np.ravel(np.asarray(margin_level(model), np.float64))
    if getattr(model, "multiclass", None) == "ovo" and problems > 1:
        level = np.zeros(1)
    wanted = bool((level > 0).all() and np.isfinite(level).all())
    return {
        "levels": np.broadcast_to(level, max(problems, 2)).tolist() if wanted else None,
        "competing": are_competing(model),
    }


def of_points(task: Task, model: Any) -> dict[str, Any]:
    """Margin and answer of each point, and how many are wrong."""
    scores = rows_of_scores(model.decision_function(task.X))
    lead = leads(scores)
    if task.card.kind == DETECTOR:
        margins, answers = scores[0], np.where(scores[0] >= 0, 1, -1)
        wrong = answers < 0
    else:
        own = np.searchsorted(model.classes_, task.y)
        margins = lead[own, np.arange(len(own))]
        answers = model.predict(task.X)
        wrong = answers != task.y
    return {
        "margins": [number(value) for value in margins],
        "answers": answers.tolist(),
        "wrong": np.flatnonzero(wrong).tolist(),
        "error": float(wrong.mean()),
    }


def support_of(model: Any, n: int) -> dict[str, Any]:
    """The support vectors and their coefficients, one list per problem."""
    if not hasattr(model, "support_"):
        return {"support": None, "coefficients": None}
    support = np.asarray(model.support_)
    coefficients = np.atleast_2d(model.dual_coef_)
    kept = support < n
    return {
        "support": support[kept].tolist(),
        "coefficients": [[number(v) for v in row] for row in coefficients[:, kept]],
    }


NAMES = {
    "dual_gap_": "duality gap (relative)",
    "margin_": "margin",
    "objective_": "objective",
    "n_support_": "support vectors",
    "n_mistakes_": "mistakes in training",
    "n_insertions_": "examples inserted",
    "n_removals_": "examples thrown out",
    "online_errors_": "errors on the way",
    "n_iter_": "iterations",
    "n_epochs_": "epochs",
    "converged_": "converged",
}


def numbers(model: Any) -> list[dict[str, Any]]:
    """What a fit tells of itself: of several problems the worst gap, the least margin, the sum."""
    found = []
    for name, words in NAMES.items():
        value = getattr(model, name, None)
        if value is None:
            continue
        each = np.ravel(np.asarray(value, np.float64))
        if not len(each) or (name == "n_iter_" and each.max() < 1):
            continue
        one = {"dual_gap_": each.max, "margin_": each.min}.get(name, each.sum)()
        shown = bool(each.all()) if name == "converged_" else number(one)
        found.append({"name": name, "words": words, "value": shown})
    return found
