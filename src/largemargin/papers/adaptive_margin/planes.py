"""Figures 2.2 to 2.6: points in the plane, gaussian kernels, and what each machine makes of them.

The points of the chapter are not printed; these are drawn as its text describes them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.adaptive_margin.machines import gamma_of
from largemargin.papers.experiments import interruptions_raised
from largemargin.papers.figures import Figure, Gaussians, Plane

WIDTH = 0.5
LAMBDAS = (1.0, 2.0, 5.0, 10.0)
NUS = (0.0, 0.1, 0.2, 0.5)
POINTS_SEED = 2000


@dataclass(frozen=True)
class Picture:
    """One figure: its points, its machines by title, and what to say of it."""

    id: str
    title: str
    points: str
    machines: tuple[tuple[str, str, float], ...]
    note: str


def _beside_svm() -> tuple[tuple[str, str, float], ...]:
    return (("LOO-SVM", "loo", 0.0), ("SVM, C = 1", "svm", 1.0), ("SVM, C = 100", "svm", 100.0))


def _along(title: str, machine: str, values: Sequence[float]) -> tuple[tuple[str, str, float], ...]:
    return tuple((f"{title} = {value:g}", machine, value) for value in values)


PICTURES = {
    picture.id: picture
    for picture in (
        Picture(
            "figure2-2", "Figure 2.2: one outlier", "outlier", _beside_svm(),
            "Two classes that a line would separate but for one point far to the right.",
        ),
        Picture(
            "figure2-3", "Figure 2.3: overlapping classes", "overlap", _beside_svm(),
            "Two classes, left and right, that overlap a little.",
        ),
        Picture(
            "figure2-4", "Figure 2.4: AM-SVM", "islands", _along("lambda", "am", LAMBDAS),
            "Dashed is the margin 1, the smallest that the machine asks of any point.",
        ),
        Picture(
            "figure2-5", "Figure 2.5: nu-LP-SVM", "islands", _along("nu", "nu-lp", NUS),
            "The points of figure 2.4; dashed is the margin.",
        ),
        Picture(
            "figure2-6", "Figure 2.6: nu-SVM", "islands", _along("nu", "nu-svm", NUS),
            "The points of figure 2.4; dashed is the margin.",
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class PlaneExperiment:
    """The machines of one figure; the seed is fixed."""

    figure: str
    seed: int = POINTS_SEED

    cost = 5.0

    @property
    def picture(self) -> Picture:
        return PICTURES[self.figure]

    @property
    def name(self) -> str:
        return f"points in the plane, {self.picture.title}"

    @property
    def file_name(self) -> str:
        return f"plane-{self.figure}_seed-{self.seed}.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "plane",
            "points": self.picture.points,
            "seed": self.seed,
            "width": WIDTH,
            "machines": [list(machine) for machine in self.picture.machines],
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Train each machine; keep its expansion, its support vectors and its errors."""
        points, labels = draw_points(self.picture.points, self.seed)
        started = time.perf_counter()
        found = []
        for _, name, value in self.picture.machines:
            with warnings.catch_warnings(), interruptions_raised():
                warnings.simplefilter("ignore")
                model = make_model(name, value).fit(points, labels)
            found.append(expansion_of(model, points, labels, name))
        results = {"points": points.tolist(), "labels": labels.tolist(), "machines": found}
        return results, {"fit": time.perf_counter() - started}


def make_model(name: str, value: float) -> Any:
    import largemargin as lm

    makers: dict[str, Callable[..., Any]] = {
        "loo": lambda **common: lm.LeaveOneOutSVC(**common),
        "am": lambda **common: lm.AdaptiveMarginSVC(lam=value, **common),
        "nu-lp": lambda **common: lm.NuLPSVC(nu=value, **common),
        "nu-svm": lambda **common: lm.NuSVC(nu=value, **common),
        "svm": lambda **common: lm.SVC(C=value, **common),
    }
    return makers[name](gamma=gamma_of(WIDTH), n_jobs=1)


def expansion_of(model: Any, points: np.ndarray, labels: np.ndarray, name: str) -> dict[str, Any]:
    """The decision function, and where its margin is."""
    outputs = labels * model.decision_function(points)
    return {
        "support": model.support_.tolist(),
        "coefficients": model.dual_coef_[0].tolist(),
        "constant": float(model.intercept_[0]),
        "errors": np.flatnonzero(outputs <= 0).tolist(),
        "margin": float(np.ravel(model.margin_)[0]) if name == "nu-lp" else 1.0,
    }


def draw_points(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A set of points and their labels, 1 or -1."""
    random = np.random.RandomState(seed)  # its stream is frozen: always the same points
    if name == "outlier":
        left = random.normal((-0.9, 0.0), (0.35, 0.55), (24, 2))
        right = random.normal((0.8, 0.0), (0.35, 0.55), (24, 2))
        points = np.vstack([left, [[2.6, 0.1]], right])
        labels = np.repeat([1, -1], [25, 24])
    elif name == "overlap":
        points = np.vstack(
            [
                random.normal((-0.6, 0.0), (0.5, 0.7), (30, 2)),
                random.normal((0.6, 0.0), (0.5, 0.7), (30, 2)),
            ]
        )
        labels = np.repeat([1, -1], 30)
    else:
        crosses = np.vstack(
            [
                random.normal((-1.0, 0.4), 0.35, (30, 2)),
                random.normal((0.9, 0.7), 0.35, (30, 2)),
            ]
        )
        dots = random.normal((0.2, -0.7), (0.55, 0.35), (59, 2))
        points = np.vstack([crosses, dots, [[-1.5, 0.2]]])
        labels = np.repeat([-1, 1], 60)
    return points.round(4), labels


OUTLIER = 24
"""The position of the outlier among the points of figure 2.2."""


def figure_of(name: str, found: dict[str, Any]) -> Figure:
    picture = PICTURES[name]
    points = tuple((x, y) for x, y in found["points"])

    def panel(title: str, machine: dict[str, Any]) -> Plane:
        decision = Gaussians(
            WIDTH,
            tuple(points[i] for i in machine["support"]),
            tuple(machine["coefficients"]),
            machine["constant"],
        )
        return Plane(
            title,
            points,
            tuple(found["labels"]),
            tuple(machine["support"]),
            tuple(machine["errors"]),
            decision,
            machine["margin"],
        )

    machines = zip(picture.machines, found["machines"], strict=True)
    return Figure(
        picture.id,
        picture.title,
        "",
        "",
        tuple(panel(title, machine) for (title, _, _), machine in machines),
        (f"{picture.note} Gaussian of width {WIDTH:g}.",),
    )


def outlier_is_given_up(found: dict[str, Any]) -> bool:
    """Whether of the three machines of figure 2.2 only the first has the outlier wrong."""
    return [OUTLIER in machine["errors"] for machine in found["machines"]] == [True, False, False]
