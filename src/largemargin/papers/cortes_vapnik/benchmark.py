"""Classifiers of scikit-learn on the images of the support vector machine, with error and time."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.images import Images
from largemargin.papers.interruption import interruptions_raised

CLASSIFIERS = {
    "linear": "logistic regression, at most 200 iterations",
    "3-NN": "the three nearest training images, by Euclidean distance",
    "CART": "a decision tree grown until its leaves are pure",
    "2-layer net": "300 hidden units, stopped early on a tenth of the training set",
}
COSTS = {"linear": 0.6, "3-NN": 0.4, "CART": 0.5, "2-layer net": 1.5}


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
