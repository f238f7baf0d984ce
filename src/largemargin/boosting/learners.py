"""Any classifier of scikit-learn's kind as the base learner of boosting."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from largemargin.base.classifier import Classifier
from largemargin.base.labels import as_common_labels, numbers_in
from largemargin.boosting.examples import Examples
from largemargin.runtime.showing import shown

LARGEST_SEED = 2**31 - 1


class EstimatorLearner:
    """Fits a clone of an estimator for one weighting after another, each with seeds of its own."""

    def __init__(
        self, estimator: Any, examples: Examples, random_state: np.random.RandomState
    ) -> None:
        self.estimator = estimator
        self.examples = examples
        self.random_state = random_state

    def __call__(self, D: np.ndarray) -> tuple[Any, np.ndarray]:
        """A classifier fitted with weights D, and its answers as class numbers."""
        classifier = clone(self.estimator)
        seeds = {
            name: int(self.random_state.randint(LARGEST_SEED))
            for name in sorted(classifier.get_params(deep=True))
            if name == "random_state" or name.endswith("__random_state")
        }
        classifier.set_params(**seeds)
        y = self.examples.y
        if y.dtype.kind == "T" and not isinstance(classifier, Classifier):
            y = as_common_labels(y)
        classifier.fit(self.examples.X, y, sample_weight=D)
        return classifier, numbers_in(self.examples.classes, classifier.predict(self.examples.X))


def check_estimator(estimator: Any) -> None:
    """Refuse what cannot be a base learner."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not is_classifier(estimator):
        raise ValueError(
            f"estimator must be None, for stumps, or a classifier, got {shown(estimator)}"
        )
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"estimator must take sample_weight in fit, which {type(estimator).__name__} does not: "
            "use None, for stumps, or a classifier that takes weights"
        )
