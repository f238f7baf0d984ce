"""What a machine did, in frames: mistakes, examples of a stream, rounds, or a path of a parameter.

Each frame has scores on a coarse grid, the support vectors so far, the points that something
happens to (`lit`), and a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from largemargin.machines import DETECTOR, ENSEMBLE, TRACE
from largemargin.runtime.showing import shown as shown_value
from largemargin.web.playground.frames import chosen, counted, few_digits, wrong_of
from largemargin.web.playground.paths import PATHS, SOLVERS, path, steps
from largemargin.web.playground.picture import (
    classes_of,
    grid_points,
    margin_lines,
    packed,
    rows_of_scores,
    support_of,
)
from largemargin.web.playground.saying import said_here
from largemargin.web.playground.tasks import Task
from largemargin.web.problems import Problem

SIDE = 48


def kinds(task: Task) -> dict[str, str]:
    """The replays that a machine has, the usual one first, by their names in words."""
    if task.card.outcome == TRACE:
        return {"mistakes": "mistake by mistake"}
    if task.card.streams:
        return {"examples": "example by example"}
    if task.card.outcome == ENSEMBLE:
        return {"rounds": "round by round"}
    name = task.card.name
    found = {"path": f"along {PATHS[name][0]}"}
    return {**found, "steps": "the steps of the solver"} if name in SOLVERS else found


REPLAYS: dict[str, Callable[[Task, np.ndarray, float], tuple[Any, list[Any]]]]


def replay(task: Task, view: list[float], max_seconds: float, kind: Any = None) -> dict[str, Any]:
    """The frames of a machine on the points, of one of its replays."""
    known = kinds(task)
    kind = next(iter(known)) if kind is None else kind
    if not isinstance(kind, str) or kind not in known:
        raise Problem(400, f"there is no replay {shown_value(kind)}: use {', '.join(known)}")
    with said_here():
        model, frames = REPLAYS[kind](task, grid_points(view, SIDE), max_seconds)
    problems = _problems(task, model)
    common = {
        "side": SIDE,
        "problems": problems,
        "classes": classes_of(task, model),
        "detector": task.card.kind == DETECTOR,
        **margin_lines(model, problems),
        "support": None,
        "coefficients": None,
        "wrong": [],
    }
    return {"kinds": known, "kind": kind, "common": common, "frames": frames}


def _problems(task: Task, model: Any) -> int:
    """Rows of scores: one for two classes."""
    count = len(classes_of(task, model))
    return 1 if count == 2 else count


def mistakes(task: Task, grid: np.ndarray, max_seconds: float) -> tuple[Any, list[Any]]:
    """The perceptron mistake by mistake, deciding by its rule over the vectors so far."""
    model = task.fitted(max_seconds)
    trace, n = model.trace_, len(task.y)
    rule = (model.method if model.method not in ("pocket", "holdout") else "last", model.normalize)
    moments = chosen(len(trace))
    at = [(trace.step[k] + 1) / trace.epoch_length for k in moments]
    both = np.concatenate([grid, task.X])
    staged = model.staged_decision_functions(both, at, [rule]) if moments else []
    examples_of = model._state.basis.examples[trace.slot] if moments else np.empty(0, int)
    survived = trace.survival()
    frames = []
    for k, found in zip(moments, staged, strict=True):
        scores = found[rule]
        erred = int(examples_of[k])
        counts = np.zeros((trace.n_problems, n))
        np.add.at(counts, (trace.problem[: k + 1], examples_of[: k + 1]), trace.sign[: k + 1])
        support = np.unique(examples_of[: k + 1])
        problem = f" of class {trace.problem[k] + 1}" if trace.n_problems > 1 else ""
        frames.append(
            {
                "grid": packed(rows_of_scores(scores[: len(grid)])),
                "lit": [erred],
                "support": support.tolist(),
                "coefficients": counts[:, support].tolist(),
                "wrong": wrong_of(task, scores[len(grid) :], model.classes_),
                "words": f"Mistake {k + 1} of {len(trace)}{problem}, in epoch "
                f"{trace.step[k] // trace.epoch_length + 1} on point {erred + 1}; the vector that "
                f"it makes survives {counted(int(survived[k]), 'example')}, which are its votes.",
            }
        )
    return model, frames


def examples(task: Task, grid: np.ndarray, max_seconds: float) -> tuple[Any, list[Any]]:
    """An online learner example by example: what it inserted and what it threw out."""
    model = task.machine()
    if getattr(model, "gamma", None) == "scale":  # a stream has no variance: that of all points
        model.set_params(gamma=1 / (2 * task.X.var()))
    classes, n = np.unique(task.y), len(task.y)
    order = model.seed_and_order(n)[1]
    order = np.arange(n) if order is None else order
    shown = set(chosen(n))
    frames: list[Any] = []
    before: set[int] = set()
    inserted: list[int] = []
    removed: list[int] = []
    for step, i in enumerate(order.tolist()):
        classes_known = classes if step == 0 else None
        model.partial_fit(task.X[i : i + 1], task.y[i : i + 1], classes=classes_known)
        support = support_of(model, n)
        support["support"] = order[support["support"]].tolist()
        after = set(support["support"])
        inserted += sorted(after - before)
        removed += sorted(before - after)
        before = after
        if step not in shown:
            continue
        frames.append(
            {
                "grid": packed(rows_of_scores(model.decision_function(grid))),
                "lit": sorted({i, *inserted, *removed}),
                **support,
                "wrong": wrong_of(task, model.decision_function(task.X), model.classes_),
                "words": f"Example {step + 1} of {n}, point {i + 1}: "
                f"{_happened(inserted, removed)}; {len(after)} stored, "
                f"{int(model.online_errors_)} errors so far.",
            }
        )
        inserted, removed = [], []
    return model, frames


def _happened(inserted: list[int], removed: list[int]) -> str:
    parts = []
    if inserted:
        parts.append(f"inserted {_listed(inserted)}")
    if removed:
        parts.append(f"threw out {_listed(removed)}")
    return ", ".join(parts) or "nothing changed in the cache"


def _listed(points: list[int]) -> str:
    few = ", ".join(str(i + 1) for i in points[:4])
    return f"point{'s' if len(points) > 1 else ''} {few}{' and others' if len(points) > 4 else ''}"


def rounds(task: Task, grid: np.ndarray, max_seconds: float) -> tuple[Any, list[Any]]:
    """Boosting round by round: each frame has the weights with which its round was made."""
    model = task.fitted(max_seconds)
    shown = set(chosen(model.n_iter_))
    both = np.concatenate([grid, task.X])
    frames = []
    staged = zip(weights_of_rounds(task, model), model.staged_decision_function(both), strict=True)
    for t, (weights, scores) in enumerate(staged):
        if t not in shown:
            continue
        wrong = wrong_of(task, scores[len(grid) :], model.classes_)
        frames.append(
            {
                "grid": packed(rows_of_scores(scores[: len(grid)])),
                "sizes": [round(float(v), 3) for v in _sizes(weights)],
                "lit": [],
                "wrong": wrong,
                "words": f"Round {t + 1} of {model.n_iter_}: weighted error "
                f"{model.weighted_errors_[t]:.3f}, coefficient {few_digits(model.alphas_[t])}; "
                f"{counted(len(wrong), 'error')} in all. Points are as large as their weights.",
            }
        )
    return model, frames


def weights_of_rounds(task: Task, model: Any) -> Iterable[np.ndarray]:
    """The weights of the examples in each round, from the classifiers and their coefficients."""
    n, K, C = len(task.y), len(model.classes_), float(model.regularization)
    scores, influence, norm = np.zeros(n), np.zeros(n), 0.0
    for classifier, alpha in zip(model.estimators_, model.alphas_, strict=True):
        exponent = -scores - (C * influence**2 / norm if C > 0 and norm > 0 else 0.0)
        weights = np.exp(exponent - exponent.max())
        weights /= weights.sum()
        yield weights
        if np.isfinite(alpha):  # an infinite one is the last
            wrong = np.asarray(classifier.predict(task.X)) != task.y
            scores += alpha * (2 * (K - 1) / K - 2.0 * wrong)
            influence += alpha * weights
            norm += alpha


def _sizes(weights: np.ndarray) -> np.ndarray:
    """Factors of the radius: areas go with the weights, within what can be seen."""
    return np.asarray(np.clip(np.sqrt(weights * len(weights)), 0.4, 3.5))


REPLAYS = {
    "mistakes": mistakes, "examples": examples, "rounds": rounds, "path": path, "steps": steps,
}  # fmt: skip
