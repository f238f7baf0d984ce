"""Platt's sigmoid: the probability of the positive class as a function of one score.

    P(y = 1 | f) = 1 / (1 + exp(A f + B))

A and B minimise the cross-entropy, sum_i w_i (log(1 + exp(z_i)) - (1 - t_i) z_i) with
z_i = A f_i + B, against targets that are a little short of certainty (Platt 1999):

    t_i = (N+ + 1) / (N+ + 2)  of a positive example,      1 / (N- + 2)  of a negative one

where N+ and N- are the weights of the two classes. With these targets there is a finite minimum
also where the scores part the classes without an error. The function is convex; Newton's method
with a line search finds its minimum in a few steps (Lin, Lin and Weng 2007). Scores are centred and
scaled first, so that neither their size nor their place matters, and exponentials are taken of
negative numbers only, so that none overflows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from largemargin.base.classifier import checked_weights
from largemargin.base.labels import plain_labels
from largemargin.runtime.arrays import VectorLike
from largemargin.runtime.threads import single_thread

MAX_STEPS = 100
TOLERANCE = 1e-12  # of the gradient, per unit of weight
ROUNDING = 1e-16  # of the loss: no smaller decrease is seen in it
SUFFICIENT = 1e-4  # of the decrease that the gradient promises, a step must keep this share
SHORTEST = 1e-10  # step of the line search
RIDGE = 1e-12  # of the trace, so that every Hessian has an inverse
EQUAL = 1e-14  # scores that differ by this share of their size are equal, up to rounding
SMALLEST = 1e-290  # spread of scores that has a slope below infinity


@dataclass(frozen=True)
class Sigmoid:
    """The fitted A and B."""

    slope: float
    offset: float

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """The probability of the positive class."""
        return logistic(-(self.slope * values + self.offset))


class PlattScaling(BaseEstimator):
    """Probabilities of two classes from one score, by the sigmoid 1 / (1 + exp(A f + B)).

    The scores should be those of rows that the classifier was not trained on.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; the second is the positive class.
    a_, b_ : float
        A and B. A is negative where larger scores mean the positive class.

    References
    ----------
    Platt, J. (1999). Probabilistic outputs for support vector machines and comparisons to
    regularized likelihood methods. In Advances in Large Margin Classifiers, MIT Press.

    Lin, H.-T., Lin, C.-J. and Weng, R. C. (2007). A note on Platt's probabilistic outputs for
    support vector machines. Machine Learning 68, 267-276.

    Examples
    --------
    >>> scores = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
    >>> scaling = PlattScaling().fit(scores, ["no", "no", "yes", "no", "yes", "yes"])
    >>> scaling.predict_proba([-1.0, 0.0, 1.0]).round(2).tolist()
    [[0.65, 0.35], [0.5, 0.5], [0.35, 0.65]]
    """

    def fit(
        self, decision: VectorLike, y: VectorLike, sample_weight: VectorLike = None
    ) -> PlattScaling:
        """Fit the sigmoid.

        Parameters
        ----------
        decision : array of shape (n_samples,)
            Scores, larger for the class that comes second in order.
        y : array of shape (n_samples,)
            Labels of two classes.
        sample_weight : array of shape (n_samples,), optional
            A row of weight s counts as s rows.
        """
        values = checked_values(decision)
        labels = plain_labels(y)
        check_consistent_length(values, labels)
        weights = checked_weights(values[:, None], labels, sample_weight)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(
                f"PlattScaling is about two classes, got {len(self.classes_)}: use "
                "PairwiseCoupling for more"
            )
        sigmoid = fit_sigmoid(values, numbers == 1, weights)
        self.a_, self.b_ = sigmoid.slope, sigmoid.offset
        return self

    def predict_proba(self, decision: VectorLike) -> np.ndarray:
        """The probabilities of `classes_`, one row per score."""
        check_is_fitted(self)
        positive = Sigmoid(self.a_, self.b_)(checked_values(decision))
        return np.column_stack([1.0 - positive, positive])


def checked_values(decision: VectorLike) -> np.ndarray:
    """Scores as a line of finite numbers."""
    values = column_or_1d(np.asarray(decision, np.float64))
    if not np.isfinite(values).all():
        raise ValueError("decision values must be finite, got NaN or inf")
    return np.asarray(values)


def fit_sigmoid(
    values: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None
) -> Sigmoid:
    """The sigmoid of scores, of which `positive` says which belong to the positive class."""
    weights = np.ones(len(values)) if weights is None else weights
    with single_thread():  # the bits of a sum depend on its threads
        return _fit(*(part[weights > 0] for part in (values, positive, weights)))


def _fit(values: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> Sigmoid:
    total, n_positive = weights.sum(), weights[positive].sum()
    n_negative = weights[np.logical_not(positive)].sum()
    targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    scaled = values / largest
    centre = float(weights @ scaled / total)
    spread = float(np.sqrt(weights @ (scaled - centre) ** 2 / total))
    start = np.log((n_negative + 1) / (n_positive + 1))
    if spread <= EQUAL or spread * largest <= SMALLEST:  # equal scores tell nothing
        return Sigmoid(0.0, float(np.log((weights @ (1 - targets)) / (weights @ targets))))
    found = _minimise((scaled - centre) / spread, targets, weights / total, start)
    slope = found[0] / spread
    return Sigmoid(float(slope / largest), float(found[1] - slope * centre))


def _minimise(
    values: np.ndarray, targets: np.ndarray, weights: np.ndarray, start: float
) -> np.ndarray:
    """A and B for scores of mean 0 and variance 1, by Newton's method."""
    design = np.column_stack([values, np.ones_like(values)])

    def loss(point: np.ndarray) -> float:
        return cross_entropy(design @ point, targets, weights)

    point = np.array([0.0, start])
    for _ in range(MAX_STEPS):
        probability = logistic(-(design @ point))
        gradient = design.T @ (weights * (targets - probability))
        if np.abs(gradient).max() <= TOLERANCE:
            break
        curvature = weights * probability * (1 - probability)
        hessian = design.T @ (curvature[:, None] * design)
        hessian[np.diag_indices(2)] += RIDGE * max(float(np.trace(hessian)), 1e-300)
        direction = -np.linalg.solve(hessian, gradient)
        if -(gradient @ direction) <= ROUNDING * loss(point):
            return np.asarray(point + direction)  # no later one would be seen in the loss
        step = _step(loss, point, direction, float(gradient @ direction))
        point = point + step * direction
        if step == 0:
            break
    return point


def _step(
    loss: Callable[[np.ndarray], float], point: np.ndarray, direction: np.ndarray, slope: float
) -> float:
    """The first of 1, 1/2, 1/4, ... that decreases the loss; 0 if rounding hides any decrease."""
    before, step = loss(point), 1.0
    while step >= SHORTEST:
        if loss(point + step * direction) < before + SUFFICIENT * step * slope:
            return step
        step /= 2
    return 0.0


def cross_entropy(z: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> float:
    """What is minimised: sum w (log(1 + exp(z)) - (1 - t) z)."""
    softplus = np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z)))
    return float(weights @ (softplus - (1 - targets) * z))


def log_logistic(z: np.ndarray) -> np.ndarray:
    """The logarithm of `logistic`."""
    return np.asarray(np.minimum(z, 0.0) - np.log1p(np.exp(-np.abs(z))))


def logistic(z: Any) -> np.ndarray:
    """1 / (1 + exp(-z)), without overflow."""
    small = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1.0, small) / (1.0 + small))
