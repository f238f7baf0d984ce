"""Margins: lines that separate points in the plane, and the margins of training examples.

Several lines separate the points of the first panel of figure 1.1. Those of largest margin are one
for each norm of w, with the distance in the conjugate norm; with one label changed there is no such
line, and slack is paid for. The distributions of margins are those that boosting and the kernel
machines make of the examples of a training set.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.adaptive_margin import published
from largemargin.papers.adaptive_margin.machines import ROUNDS, SEED, gamma_of
from largemargin.papers.adaptive_margin.planes import POINTS_SEED
from largemargin.papers.adaptive_margin.sets import Splits
from largemargin.papers.experiments import interruptions_raised
from largemargin.papers.figures import Conic, Figure, Panel, Plane
from largemargin.report.charts import Curve
from largemargin.runtime.arrays import VectorLike

NORMS = {1.0: "l1", 2.0: "l2", math.inf: "l-infinity"}
SOFT_C = 1.0
N_POINTS = 16

MARGIN_SET = "banana"
CENTRES = 8
PRICE = 1000.0
STAGES = (5, 20)
GRID = tuple(np.linspace(-1, 1, 81).round(4).tolist())
KERNEL_MACHINES = ("SVM, C = 1", "LOO-SVM", "AM-SVM, lambda = 5")
WIDTH = 0.7


@dataclass(frozen=True)
class HyperplaneExperiment:
    """A perceptron, the largest margins, and the soft one; the seed is fixed."""

    seed: int = POINTS_SEED

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


@dataclass(frozen=True)
class MarginExperiment:
    """The machines on one training set."""

    splits: Splits

    cost = 400.0

    @property
    def name(self) -> str:
        return f"{self.splits.name}, margins"

    @property
    def file_name(self) -> str:
        return f"{self.splits.name}_margins.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "margins",
            "data": self.splits.identity,
            "centres": CENTRES,
            "C": PRICE,
            "stages": list(STAGES),
            "width": WIDTH,
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """The share of training examples with at most each margin, for each machine."""
        started = time.perf_counter()
        (data,) = self.splits.parts
        with warnings.catch_warnings(), interruptions_raised():
            warnings.simplefilter("ignore")
            boosted = {
                "AdaBoost": boosted_margins(data.X, data.y, 0.0),
                "AdaBoost_Reg": boosted_margins(data.X, data.y, PRICE),
            }
            kernel = kernel_margins(data.X, data.y)
        results = {
            "boosted": {
                name: {stage: share_below(margins) for stage, margins in stages.items()}
                for name, stages in boosted.items()
            },
            "kernel": {name: share_below(margins) for name, margins in kernel.items()},
        }
        return results, {"fit": time.perf_counter() - started}


def boosted_margins(X: np.ndarray, y: VectorLike, price: float) -> dict[str, np.ndarray]:
    """Margins after some rounds, as far as they were reached, and after all."""
    from largemargin import AdaBoost, RBFNetwork

    model = AdaBoost(
        RBFNetwork(n_centers=CENTRES), n_rounds=ROUNDS, regularization=price, random_state=SEED
    ).fit(X, y)
    stages = list(model.staged_margins(X, y))
    some = {f"{rounds} rounds": stages[rounds - 1] for rounds in STAGES if rounds < len(stages)}
    return {**some, "all rounds": stages[-1]}


def kernel_margins(X: np.ndarray, y: VectorLike) -> dict[str, np.ndarray]:
    """y f(x) over the largest |f| of a training example."""
    from largemargin import SVC, AdaptiveMarginSVC, LeaveOneOutSVC

    common: dict[str, Any] = {"gamma": gamma_of(WIDTH), "n_jobs": 1}
    models: tuple[Any, ...] = (
        SVC(C=1.0, fit_intercept=False, **common),
        LeaveOneOutSVC(**common),
        AdaptiveMarginSVC(lam=5.0, **common),
    )
    found = {}
    for name, model in zip(KERNEL_MACHINES, models, strict=True):
        model.fit(X, y)
        signs = np.where(y == model.classes_[1], 1.0, -1.0)
        outputs = model.decision_function(X)
        found[name] = signs * outputs / np.abs(outputs).max()
    return found


def share_below(margins: np.ndarray) -> list[float]:
    """The percentage of the margins that are at most each value of GRID."""
    counts = np.searchsorted(np.sort(margins), GRID, side="right")
    return [float(share) for share in 100 * counts / len(margins)]


def margin_figure(found: dict[str, Any]) -> Figure:
    def panel(title: str, shares: dict[str, list[float]]) -> Panel:
        curves = tuple(Curve(name, GRID, tuple(share)) for name, share in shares.items())
        at_zero = GRID.index(0.0)
        summary = "training errors in percent: " + ", ".join(
            f"{curve.name} {curve.y[at_zero]:.1f}" for curve in curves
        )
        return Panel(title, curves, summary, log_x=False, log_y=False)

    boosted = (panel(name, stages) for name, stages in found["boosted"].items())
    return Figure(
        "margin-distribution",
        f"Margins of the training examples of {published.SETS[MARGIN_SET]}",
        "margin",
        "percent with at most that margin",
        (*boosted, panel("kernel machines", found["kernel"])),
        (
            "The margin of a convex combination lies between -1 and 1. The outputs of the kernel "
            "machines, none of which has a threshold, are divided by the largest of them. Networks "
            f"with {CENTRES} centres are boosted, at most {ROUNDS} of them, AdaBoost_Reg has C = "
            f"{PRICE:g}, and the width of the kernel is {WIDTH:g}.",
        ),
    )
