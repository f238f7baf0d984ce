"""Figure 1.1 and the margins after it: lines that separate points in the plane.

Several lines separate the points of the first panel. Those of largest margin are one for each norm
of w, with the distance in the conjugate norm; with one label changed there is no such line, and
slack is paid for.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.adaptive_margin.planes import SEED
from largemargin.papers.interruption import interruptions_raised
from largemargin.report.figures import Conic, Figure, Plane

NORMS = {1.0: "l1", 2.0: "l2", math.inf: "l-infinity"}
SOFT_C = 1.0
N_POINTS = 16


@dataclass(frozen=True)
class HyperplaneExperiment:
    """A perceptron, the largest margins, and the soft one; the seed is fixed."""

    seed: int = SEED

    name = "figure 1.1, lines in the plane"
    cost = 1.0

    @property
    def file_name(self) -> str:
        return f"plane-figure1-1_seed-{self.seed}.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "hyperplanes",
            "seed": self.seed,
            "n_points": N_POINTS,
            "norms": list(NORMS.values()),
            "C": SOFT_C,
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        from largemargin import MaxMarginHyperplane

        points, labels, triangle = draw_separable(self.seed)
        changed = labels.copy()
        changed[triangle] *= -1
        started = time.perf_counter()
        with interruptions_raised():
            found = [describe_perceptron(points, labels)]
            for norm, title in NORMS.items():
                model = MaxMarginHyperplane(norm=norm, C=math.inf).fit(points, labels)
                found.append(describe(f"largest margin, {title} norm of w", model, points, labels))
            model = MaxMarginHyperplane(norm=2, C=SOFT_C).fit(points, changed)
            found.append(describe(f"a label changed, C = {SOFT_C:g}", model, points, changed))
        results = {"points": points.tolist(), "lines": found}
        return results, {"fit": time.perf_counter() - started}


def draw_separable(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Points, labels 1 or -1, and the one that is a triangle in the chapter: farthest inside."""
    random = np.random.RandomState(seed)
    points = random.uniform(-1, 1, (8 * N_POINTS, 2)).round(4)
    side = points @ [1.0, 0.6] + 0.1
    kept = np.flatnonzero(np.abs(side) > 0.3)[:N_POINTS]
    points, labels = points[kept], np.where(side[kept] > 0, 1, -1)
    return points, labels, int(np.argmax(points @ [1.0, 0.6]))


def describe_perceptron(points: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    """A line that a perceptron stops at, which is one of many, with its margin."""
    from largemargin import VotedPerceptron

    model = VotedPerceptron(
        kernel="linear", epochs=1000, method="last", fit_intercept=True, n_jobs=1
    ).fit(points, labels)
    constant = float(model.decision_function(np.zeros((1, 2)))[0])
    w = model.decision_function(np.eye(2)) - constant
    return _line("a perceptron", w, constant, points, labels, 0.0)


def describe(title: str, model: Any, points: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    return _line(title, w, b, points, labels, 1.0)


def _line(
    title: str, w: np.ndarray, b: float, points: np.ndarray, labels: np.ndarray, margin: float
) -> dict[str, Any]:
    """A line with what lies on its margins or within, and its distance from the nearest point."""
    outputs = labels * (points @ w + b)
    return {
        "title": title,
        "labels": labels.tolist(),
        "w": w.tolist(),
        "b": b,
        "margin": margin,
        "distance": float(outputs.min() / np.linalg.norm(w)),
        "support": np.flatnonzero(outputs <= 1 + 1e-6).tolist() if margin else [],
        "errors": np.flatnonzero(outputs <= 0).tolist(),
    }


def hyperplane_figure(found: dict[str, Any]) -> Figure:
    points = tuple((x, y) for x, y in found["points"])

    def panel(line: dict[str, Any]) -> Plane:
        return Plane(
            line["title"],
            points,
            tuple(line["labels"]),
            tuple(line["support"]),
            tuple(line["errors"]),
            Conic((line["b"], *line["w"], 0.0, 0.0, 0.0)),
            line["margin"],
        )

    distances = ", ".join(
        f"{line['title']} {line['distance']:.3f}" for line in found["lines"] if not line["errors"]
    )
    return Figure(
        "figure1-1",
        "Figure 1.1: lines that separate, and their margins",
        "",
        "",
        tuple(map(panel, found["lines"])),
        (
            "Points on a margin or within it are ringed. Euclidean distance of the nearest point: "
            f"{distances}.",
        ),
    )
