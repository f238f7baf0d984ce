"""Points in the plane, separated by polynomials of degree 2.

The kernel (u.v + 1)^2 makes every decision line a conic. Where one without errors exists the
machine is the optimal hyperplane (C infinite); otherwise slack is paid for.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.figures import Conic, Figure, Plane

N_POINTS = 90
SOFT_C = 1.0
SETS = {"ellipse": math.inf, "parabola": math.inf, "overlap": SOFT_C}
"""The sets of points, and the C of each."""
TITLES = {
    "ellipse": "separable: an ellipse",
    "parabola": "separable: a parabola",
    "overlap": f"not separable, C = {SOFT_C:g}",
}


@dataclass(frozen=True)
class PlaneExperiment:
    """One set of points; the seed is fixed."""

    points: str
    seed: int = 1995

    cost = 0.1

    @property
    def name(self) -> str:
        return f"points in the plane, {self.points}"

    @property
    def file_name(self) -> str:
        return f"plane-{self.points}_seed-{self.seed}.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "plane",
            "points": self.points,
            "seed": self.seed,
            "n_points": N_POINTS,
            "C": str(SETS[self.points]),
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Train, and find the support vectors, the errors and the conic."""
        from largemargin.svm import SVC

        points, labels = draw_points(self.points, self.seed)
        started = time.perf_counter()
        model = SVC(C=SETS[self.points], kernel="poly", degree=2, gamma=1.0, coef0=1.0)
        model.fit(points, labels)
        seconds = {"fit": time.perf_counter() - started}
        results = {
            "points": points.tolist(),
            "labels": labels.tolist(),
            "support": model.support_.tolist(),
            "errors": np.flatnonzero(labels * model.decision_function(points) <= 0).tolist(),
            "conic": conic_of(model).tolist(),
        }
        return results, seconds


def draw_points(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A set of points and their labels, 1 or -1."""
    random = np.random.RandomState(seed)  # its stream is frozen: always the same points
    points = random.uniform(-1, 1, (4 * N_POINTS, 2)).round(4)
    x, y = points.T
    if name == "ellipse":
        side = 1 - (x / 0.85) ** 2 - (y / 0.55) ** 2 + 0.4 * x * y
        gap = 0.12
    else:
        side = y - 1.6 * x * x + 0.5
        gap = 0.1 if name == "parabola" else -1.0
        if name == "overlap":
            side = side + 0.3 * random.standard_normal(len(side))
    kept = np.flatnonzero(np.abs(side) > gap)[:N_POINTS]
    return points[kept], np.where(side[kept] > 0, 1, -1)


def conic_of(model: Any) -> np.ndarray:
    """a..f of f(x, y) = a + b x + c y + d x^2 + e xy + f y^2, from (s.x + 1)^2 multiplied out."""
    s, t = model.support_vectors_.T
    monomials = np.stack([np.ones_like(s), 2 * s, 2 * t, s * s, 2 * s * t, t * t])
    conic = monomials @ model.dual_coef_[0]
    conic[0] += model.intercept_[0]
    return np.asarray(conic)


def planes(records: dict[str, dict[str, Any]]) -> Figure:
    """The pictures, from what `PlaneExperiment.run` found for each set of points."""
    panels = tuple(
        Plane(
            TITLES[name],
            tuple((x, y) for x, y in found["points"]),
            tuple(found["labels"]),
            tuple(found["support"]),
            tuple(found["errors"]),
            Conic(tuple(found["conic"])),
        )
        for name, found in records.items()
    )
    return Figure(
        "planes",
        "In the plane: polynomials of degree 2",
        "",
        "",
        panels,
        (
            "Support vectors are ringed and errors crossed; the line is where the decision "
            "function is zero, the dashed ones where it is 1 and -1. The points are ours, drawn "
            "with a fixed seed.",
            "The separable sets have the optimal hyperplane, of which no point is on the wrong "
            "side; in the third set the labels are noisy.",
        ),
    )
