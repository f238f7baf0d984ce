"""Points in the plane, and the margins of training examples: figures 1.1 and 2.2 to 2.6.

The points of the chapter are not printed; these are drawn as its text describes them, and each
machine of figures 2.2 to 2.6 has a gaussian kernel.

Several lines separate the points of the first panel of figure 1.1. Those of largest margin are one
for each norm of w, with the distance in the conjugate norm; with one label changed there is no such
line, and slack is paid for. The distributions of margins are those that boosting and the kernel
machines make of the examples of a training set.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.adaptive_margin.machines import ROUNDS, SEED, Splits, gamma_of
from largemargin.papers.experiments import interruptions_raised
from largemargin.runtime.arrays import VectorLike

PLANE_WIDTH = 0.5
PLANE_LAMBDAS = (1.0, 2.0, 5.0, 10.0)
NUS = (0.0, 0.1, 0.2, 0.5)
POINTS_SEED = 2000

NORMS = {1.0: "l1", 2.0: "l2", math.inf: "l-infinity"}
SOFT_C = 1.0
N_POINTS = 16

MARGIN_SET = "banana"
CENTRES = 8
PRICE = 1000.0
STAGES = (5, 20)
GRID = tuple(np.linspace(-1, 1, 81).round(4).tolist())
KERNEL_MACHINES = ("SVM, C = 1", "LOO-SVM", "AM-SVM, lambda = 5")
MARGIN_WIDTH = 0.7


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
            "figure2-4", "Figure 2.4: AM-SVM", "islands", _along("lambda", "am", PLANE_LAMBDAS),
            "The dashed line is the margin 1, the smallest that the machine demands of any point.",
        ),
        Picture(
            "figure2-5", "Figure 2.5: nu-LP-SVM", "islands", _along("nu", "nu-lp", NUS),
            "The points are those of figure 2.4. The dashed lines are the margins.",
        ),
        Picture(
            "figure2-6", "Figure 2.6: nu-SVM", "islands", _along("nu", "nu-svm", NUS),
            "The points are those of figure 2.4. The dashed lines are the margins.",
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
            "width": PLANE_WIDTH,
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
    return makers[name](gamma=gamma_of(PLANE_WIDTH), n_jobs=1)


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
        kernel="linear", epochs=1000, shuffle=False, method="last", fit_intercept=True, n_jobs=1
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
            "width": MARGIN_WIDTH,
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

    common: dict[str, Any] = {"gamma": gamma_of(MARGIN_WIDTH), "n_jobs": 1}
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
