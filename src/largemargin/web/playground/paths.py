"""Machines along a path of one parameter, and a solver step by step.

Both light the working set: the points whose coefficients changed since the frame before, which on
a path of C are those that became support vectors, reached their bound, or left either.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from largemargin.machines import DETECTOR
from largemargin.runtime.progress import clock
from largemargin.web.playground.frames import counted, few_digits, wrong_of
from largemargin.web.playground.picture import (
    classes_of,
    margin_lines,
    number,
    packed,
    rows_of_scores,
    support_of,
)
from largemargin.web.playground.tasks import Task

# What is followed where nothing happens in time: a parameter over its range.
PATHS: dict[str, tuple[str, list[Any]]] = {
    "SVC": ("C", np.geomspace(1e-2, 1e4, 25).tolist()),
    "NuSVC": ("nu", np.linspace(0.9, 0.02, 23).tolist()),
    "OneClassSVM": ("nu", np.linspace(0.9, 0.02, 23).tolist()),
    "KernelAdatron": ("max_iter", [1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 140, 200]),
    "LPSVC": ("C", np.geomspace(1e-2, 1e3, 16).tolist()),
    "NuLPSVC": ("nu", np.linspace(0.9, 0.02, 16).tolist()),
    "AdaptiveMarginSVC": ("lam", np.geomspace(10.0, 1e-2, 16).tolist()),
    "LeaveOneOutSVC": ("gamma", np.geomspace(0.1, 100.0, 16).tolist()),
    "MaxMarginHyperplane": ("C", np.geomspace(1e-2, 1e3, 16).tolist()),
    "RBFNetwork": ("n_centers", [2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30]),
}
SOLVERS = ("SVC", "NuSVC", "OneClassSVM")  # whose `max_iter` counts the steps of their solver
FIRST = 12  # steps of a solver that are all shown
STEPS = 30  # frames of a solver


def path(task: Task, grid: np.ndarray, max_seconds: float) -> tuple[Any, list[Any]]:
    """A machine along a path of its parameter, the present value of it among the others."""
    name, values = PATHS[task.card.name]
    present = task.arguments[name]
    if isinstance(present, int | float) and np.isfinite(present):
        values = sorted({*values, present}, reverse=values[0] > values[-1])
    if task.card.name in ("SVC", "AdaptiveMarginSVC"):
        models = task.machine(max_seconds).path(task.X, task.y, values)
    else:
        models = list(_fits(task, name, values, max_seconds))
    told = [f"{name} = {few_digits(getattr(model, name))}" for model in models]
    return models[-1], _frames(task, grid, models, told, _standing)


def steps(task: Task, grid: np.ndarray, max_seconds: float) -> tuple[Any, list[Any]]:
    """The solver of a support vector machine after 1, 2, 3, ... of its steps, and in the end."""
    final = task.fitted(max_seconds)
    last = int(np.max(final.n_iter_))
    shown = {
        *range(1, FIRST + 1),
        *np.geomspace(FIRST, max(last, FIRST), STEPS - FIRST).astype(int),
    }
    values = sorted(k for k in shown if k < last)
    models = [*_fits(task, "max_iter", values, max_seconds), final]
    told = [f"After {counted(int(np.max(model.n_iter_)), 'step')} of {last}" for model in models]
    return final, _frames(task, grid, models, told, _coefficients)


def _fits(task: Task, name: str, values: list[Any], max_seconds: float) -> Iterable[Any]:
    """A fit for each value, as many as there is time for; those that are not feasible for these
    points are left out.
    """
    error, none, end = None, True, clock() + max_seconds
    for value in values:
        try:
            yield Task(task.X, task.y, task.card, {**task.arguments, name: value}).fitted(
                max_seconds
            )
            none = False
        except ValueError as problem:
            error = problem
        if clock() > end:
            break
    if none and error is not None:
        raise error


def _frames(
    task: Task, grid: np.ndarray, models: list[Any], told: list[str], of: Any
) -> list[dict[str, Any]]:
    """A frame for each model; `of` gives what is compared with the frame before, by points."""
    frames: list[dict[str, Any]] = []
    before = None
    for model, words in zip(models, told, strict=True):
        found, classes = support_of(model, len(task.y)), classes_of(task, model)
        wrong = wrong_of(task, model.decision_function(task.X), classes)
        now = None if found["support"] is None else of(model, found, len(task.y))
        lit: list[int] = []
        if now is not None and before is not None:
            lit = np.flatnonzero((now != before).any(axis=0)).tolist()
        gap = _gap(model)
        frames.append(
            {
                "grid": packed(rows_of_scores(model.decision_function(grid))),
                "lit": lit,
                **found,
                **margin_lines(model, 1 if len(classes) == 2 else len(classes)),
                "wrong": wrong,
                "gap": gap,
                "words": _sentence(task, words, found, len(wrong), gap, len(lit), before),
            }
        )
        before = now
    return frames


def _coefficients(model: Any, found: dict[str, Any], n: int) -> np.ndarray:
    """The coefficients, one row for each problem."""
    full = np.zeros((len(found["coefficients"]), n))
    full[:, found["support"]] = found["coefficients"]
    return full


def _standing(model: Any, found: dict[str, Any], n: int) -> np.ndarray:
    """0 for no support vector, 2 for one at its bound, else 1."""
    sizes = np.abs(_coefficients(model, found, n))
    C = getattr(model, "C", None)
    bound = C if isinstance(C, float) and getattr(model, "slack", "") == "linear" else np.inf
    return np.asarray((sizes > 0).astype(int) + (sizes >= bound * (1 - 1e-9)))


def _gap(model: Any) -> Any:
    gap = getattr(model, "dual_gap_", None)
    return None if gap is None else number(np.max(gap))


def _sentence(
    task: Task, words: str, found: Any, errors: int, gap: Any, changed: int, before: Any
) -> str:
    told = "outlier" if task.card.kind == DETECTOR else "error"
    parts = [words, counted(errors, told)]
    if found["support"] is not None:
        parts.append(counted(len(found["support"]), "support vector"))
    if gap is not None:
        parts.append(f"duality gap {few_digits(gap)}")
    sentence = ", ".join(parts) + "."
    if before is None or found["support"] is None:
        return sentence
    return f"{sentence} The working set, {counted(changed, 'point')}, is lit."
