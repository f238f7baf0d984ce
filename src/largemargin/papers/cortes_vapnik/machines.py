"""The experiments with digits: ten polynomial machines, each class against the rest.

USPS: K(u, v) = (u.v/256 + 1)^d with values from -1 to 1, the paper's (u.v + 1)^d for images divided
by 16, so that u.v is within -1 and 1 and the kernel between 0 and 2^d for every degree.
MNIST: K(u, v) = (u.v + 1)^4 with pixels 0 to 1.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.cortes_vapnik.choosing import Search
from largemargin.papers.images import Images
from largemargin.papers.interruption import interruptions_raised

SMOOTHING = 0.75  # deviation of the Gaussian, in pixels
USPS_BACKGROUND = -1.0
SLACK = "linear"
MNIST_DEGREE = 4


@dataclass(frozen=True)
class MachineExperiment:
    """Ten machines on one set of images; `images` holds them as the kernel takes them."""

    images: Images
    degree: int
    gamma: float
    search: Search
    smoothed: bool = False

    @property
    def name(self) -> str:
        smoothed = ", smoothed" if self.smoothed else ""
        return f"{self.images.data.name}, degree {self.degree}{smoothed}"

    @property
    def cost(self) -> float:
        return (self.images.n_train / 7_291) ** 1.7 * (self.search.rows is None or 0.3)

    @property
    def file_name(self) -> str:
        smoothed = "_smoothed" if self.smoothed else ""
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
            "slack": SLACK,
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
            slack=SLACK,
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
