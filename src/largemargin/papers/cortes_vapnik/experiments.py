"""The experiments: machines and other classifiers on digits, and points in the plane.

On digits there are ten polynomial machines, each of which separates a class from the rest.

USPS: K(u, v) = (u.v/256 + 1)^d with values from -1 to 1, the paper's (u.v + 1)^d for images divided
by 16, so that u.v is within -1 and 1 and the kernel between 0 and 2^d for every degree.
MNIST: K(u, v) = (u.v + 1)^4 with pixels 0 to 1.

The paper does not print its C, so it is chosen by cross-validation on the training set. Folds are
stratified and shuffled with a fixed seed; the C with the fewest held-out errors wins, and of equal
ones the smallest.

In the plane the kernel (u.v + 1)^2 makes every decision line a conic. Where one without errors
exists the machine is the optimal hyperplane (C infinite); otherwise slack is paid for.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.experiments import Images, interruptions_raised

USPS_CS = (0.1, 1.0, 10.0, 100.0, 1000.0)
MNIST_CS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 10.0)  # kernel values go up to 1e8 there

SMOOTHING = 0.75  # deviation of the Gaussian, in pixels
USPS_BACKGROUND = -1.0
SLACK, OWN_SLACK = "linear", "squared-sum"  # the usual one, and that of the paper's experiments
# C of the square of the sum of slacks: a machine has the box 2 C (sum of slacks)
OWN_USPS_CS = (0.01, 0.1, 1.0, 10.0, 100.0)
OWN_MNIST_CS = (1e-12, 1e-11, 1e-10, 1e-9)
MNIST_DEGREE = 4
CLASSIFIERS = {
    "linear": "logistic regression, at most 200 iterations",
    "3-NN": "the three nearest training images, by Euclidean distance",
    "CART": "a decision tree grown until its leaves are pure",
    "2-layer net": "300 hidden units, stopped early on a tenth of the training set",
}
COSTS = {"linear": 0.6, "3-NN": 0.4, "CART": 0.5, "2-layer net": 1.5}

N_POINTS = 90
SOFT_C = 1.0
SETS = {"ellipse": math.inf, "parabola": math.inf, "overlap": SOFT_C}
"""The sets of points, and the C of each."""


@dataclass(frozen=True)
class SearchForC:
    """The values to try, on how many folds, and on how many training images (None: all)."""

    Cs: tuple[float, ...]
    folds: int = 5
    rows: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {"Cs": list(self.Cs), "folds": self.folds, "rows": self.rows}

    def errors(self, model: Any, X: np.ndarray, y: np.ndarray) -> list[float]:
        """Held-out error of the model in percent, one number for each C."""
        from sklearn.model_selection import StratifiedKFold

        from largemargin.svm import cross_validate

        if self.rows is not None and self.rows < len(y):
            chosen = np.random.RandomState(0).permutation(len(y))[: self.rows]
            X, y = X[chosen], y[chosen]
        folds = StratifiedKFold(self.folds, shuffle=True, random_state=0)
        scores = cross_validate(model, X, y, self.Cs, folds).mean_scores
        return [float(error) for error in 100 * (1 - scores)]

    def best(self, errors: list[float]) -> float:
        return min(zip(errors, self.Cs, strict=True))[1]


@dataclass(frozen=True)
class MachineExperiment:
    """Ten machines on one set of images; `images` holds them as the kernel takes them."""

    images: Images
    degree: int
    gamma: float
    search: SearchForC
    smoothed: bool = False
    slack: str = SLACK

    @property
    def name(self) -> str:
        smoothed = ", smoothed" if self.smoothed else ""
        own = ", the paper's slack" if self.slack == OWN_SLACK else ""
        return f"{self.images.data.name}, degree {self.degree}{smoothed}{own}"

    @property
    def cost(self) -> float:
        share = 1.0 if self.search.rows is None else 0.3
        return share * float((self.images.n_train / 7_291) ** 1.7)

    @property
    def file_name(self) -> str:
        smoothed = "_smoothed" if self.smoothed else ""
        smoothed += f"_{self.slack}" if self.slack != SLACK else ""
        return (
            f"{self.images.data.name}_degree-{self.degree}{smoothed}"
            f"_rows-{self.images.n_train}_folds-{self.search.folds}.json"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "machine",
            "data": self.images.identity,
            "degree": self.degree,
            "gamma": self.gamma,
            "coef0": 1.0,
            "slack": self.slack,
            "smoothed": self.smoothed,
            "search": self.search.as_json(),
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Choose C, train, and count support vectors and errors.

        A fit that Ctrl-C cut short is no experiment: it raises KeyboardInterrupt.
        """
        from largemargin.svm import SVC

        data = self.images.data
        assert data.y is not None
        assert data.y_test is not None
        model = SVC(
            kernel="poly", degree=self.degree, gamma=self.gamma, coef0=1.0, multiclass="ovr",
            slack=self.slack,
        )  # fmt: skip
        clock = [time.perf_counter()]
        with interruptions_raised():
            errors = self.search.errors(model, data.X, data.y)
            C = self.search.best(errors)
            clock.append(time.perf_counter())
            model.set_params(C=C).fit(data.X, data.y)
        clock.append(time.perf_counter())
        on_test = count_errors(model, data.X_test, data.y_test)
        clock.append(time.perf_counter())
        on_train = count_errors(model, data.X, data.y)
        clock.append(time.perf_counter())
        results = {
            "classes": model.classes_.tolist(),
            "C": C,
            "search": {"Cs": list(self.search.Cs), "errors": errors},
            "n_support": (model.dual_coef_ != 0).sum(axis=1).tolist(),
            "n_distinct": int(model.n_support_),
            "test": on_test,
            "train": on_train,
        }
        steps = ("search", "fit", "predict", "evaluate")
        return results, dict(zip(steps, np.diff(clock).tolist(), strict=True))


def count_errors(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """How many images each machine, and all together, get wrong; a score of zero is wrong.

    For all together the largest score wins.
    """
    scores = model.decision_function(X)
    signs = np.where(y[:, None] == model.classes_, 1, -1)
    return {
        "n": len(y),
        "wrong": (signs * scores <= 0).sum(axis=0).tolist(),
        "combined": int(np.count_nonzero(model.classes_[scores.argmax(axis=1)] != y)),
    }


def smooth(X: np.ndarray) -> np.ndarray:
    """Square images under a Gaussian of deviation 0.75 pixels, with background around them."""
    from scipy.ndimage import gaussian_filter

    side = round(X.shape[1] ** 0.5)
    images = X.reshape(-1, side, side)
    deviations = (0, SMOOTHING, SMOOTHING)
    smoothed = gaussian_filter(images, deviations, mode="constant", cval=USPS_BACKGROUND)
    return np.asarray(smoothed.reshape(X.shape))


@dataclass(frozen=True)
class BenchmarkExperiment:
    """One classifier; `images` holds pixels 0 to 1."""

    images: Images
    classifier: str

    @property
    def name(self) -> str:
        return f"{self.images.data.name}, {self.classifier}"

    @property
    def cost(self) -> float:
        return 10 * COSTS[self.classifier] * self.images.n_train / 60_000

    @property
    def file_name(self) -> str:
        return f"benchmark-{self.classifier.replace(' ', '-')}_rows-{self.images.n_train}.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "benchmark",
            "data": self.images.identity,
            "classifier": self.classifier,
            "how": CLASSIFIERS[self.classifier],
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Train and test."""
        from sklearn.exceptions import ConvergenceWarning

        data = self.images.data
        model = make_classifier(self.classifier)
        started = time.perf_counter()
        with interruptions_raised():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the limit is said on the page
            model.fit(data.X, data.y)
        trained = time.perf_counter()
        wrong = int(np.count_nonzero(model.predict(data.X_test) != data.y_test))
        seconds = {"fit": trained - started, "predict": time.perf_counter() - trained}
        return {"wrong": wrong, "n_test": self.images.n_test}, seconds


def make_classifier(name: str) -> Any:
    """A classifier as `CLASSIFIERS` describes it."""
    if name == "linear":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=200)
    if name == "3-NN":
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier(3, algorithm="brute", n_jobs=-1)
    if name == "CART":
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(random_state=0)
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier((300,), early_stopping=True, max_iter=60, random_state=0)


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
