"""AdaBoost: rounds of a weak learner, each on the examples weighted by how they fared so far.

    D_1(i) = s_i / sum s
    g_t = L(X, Y, D_t),   eps_t = sum_i D_t(i) 1{g_t(x_i) != y_i}
    alpha_t = 1/2 ln((1 - eps_t) / eps_t),   D_{t+1}(i) = D_t(i) exp(-alpha_t y_i g_t(x_i)) / Z_t
    f = sum_t alpha_t g_t / sum_t alpha_t

(Advances in Large Margin Classifiers, table 1.2; s_i is the weight of an example, 1 if none is
given.) alpha_t minimises the exponential loss, sum_i s_i exp(-y_i sum_r alpha_r g_r(x_i)), and
D_{t+1} is proportional to its terms. This is how D is computed here: it is the recursion of the
table, unrolled.

Many classes are SAMME (Zhu, Zou, Rosset & Hastie 2009): y_i g(x_i) becomes

    z = 2 (K - 1) / K  if g(x_i) = y_i,   -2 / K  if not,

which is +1 and -1 for K = 2; then alpha_t = 1/2 [ln((1 - eps_t) / eps_t) + ln(K - 1)].

AdaBoost_Reg (Raetsch, Onoda & Mueller 2001) trusts an example the less, the more weight it has
had. With w_i^(r) = D_r(i) / s_i, the weight of one copy, and |alpha| = sum_r alpha_r,

    mu_i = (sum_r alpha_r w_i^(r) / |alpha|)^2,
    alpha_t minimises  J = sum_i s_i exp(-sum_r alpha_r z_r(i) - C |alpha| mu_i)  over alpha_t >= 0,

and D_{t+1} is proportional to its terms. In the letters of that paper b = 2 alpha. J need not be
convex, and where C is so large that every error is forgiven it falls for ever: so alpha_t is
`LARGEST_STEP` at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import brentq

from largemargin.boosting.examples import Examples
from largemargin.runtime.progress import Watch

Learner = Callable[[np.ndarray], tuple[Any, np.ndarray]]

LARGEST_STEP = 20.0  # alpha_t of AdaBoost_Reg at most
_CHANCE_ROUNDING = 1e-10  # an error less than this below that of chance is chance
_LEAST_WEIGHT = 1e-300  # relative weight of an example at least: small, but never none
_STEP_GRID = np.concatenate([[0.0], np.geomspace(1e-3, LARGEST_STEP, 24)])  # alpha_t to start from


@dataclass
class Ensemble:
    """What the rounds gave. `ended` says why they ended, in words."""

    classifiers: list[Any] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    ended: str = "n_rounds"

    def add(self, classifier: Any, alpha: float, error: float) -> None:
        self.classifiers.append(classifier)
        self.alphas.append(alpha)
        self.errors.append(error)


def boost(
    learner: Learner, examples: Examples, *, n_rounds: int, regularization: float, watch: Watch
) -> Ensemble:
    """Run the rounds. A learner takes D and returns a classifier and its answers on the examples,
    as class numbers.

    An error of zero ends them: alpha is infinite, and f is that classifier alone. So does an error
    of chance, 1 - 1/K (1/2 for two classes): such a classifier is left out, unless it is the first.
    """
    ensemble = Ensemble()
    state = _ExponentialLoss(examples.weights, regularization)
    n_classes = len(examples.classes)
    chance = 1 - 1 / n_classes - _CHANCE_ROUNDING
    for _ in range(n_rounds):
        D = state.distribution()
        classifier, answers = learner(D)
        wrong = answers != examples.labels
        error = float(D @ wrong)
        if not wrong.any():
            ensemble.add(classifier, np.inf, 0.0)
            ensemble.ended = "zero error"
            break
        alpha = 0.0
        if error < chance:
            z = 2 * (n_classes - 1) / n_classes - 2.0 * wrong
            alpha = state.step(z, D, error, n_classes)
        if alpha <= 0:
            ensemble.ended = "chance"
            if not ensemble.classifiers:
                ensemble.add(classifier, 0.0, error)
            break
        ensemble.add(classifier, alpha, error)
        watch.advance(1, f"weighted error {error:.3f}")
        if watch.stopped:
            ensemble.ended = watch.stopped
            break
    return ensemble


class _ExponentialLoss:
    """The sums over rounds that the exponential loss and the weights of examples are made of."""

    def __init__(self, weights: np.ndarray, regularization: float) -> None:
        self.weights = weights.copy()  # writable, for the compiled loop
        self.C = regularization
        self.scores = np.zeros(len(weights))  # sum_r alpha_r z_r(i)
        self.influence = np.zeros(len(weights))  # sum_r alpha_r w_i^(r)
        self.norm = 0.0  # |alpha|

    def distribution(self) -> np.ndarray:
        """D of the next round: the terms of the loss, divided by their sum."""
        exponent = -self.scores
        if self.C > 0 and self.norm > 0:
            exponent = exponent - self.C * self.influence**2 / self.norm
        D = self.weights * np.maximum(np.exp(exponent - exponent.max()), _LEAST_WEIGHT)
        return np.asarray(D / D.sum())

    def step(self, z: np.ndarray, D: np.ndarray, error: float, n_classes: int) -> float:
        """Choose alpha_t, and take it in."""
        error = max(error, _LEAST_WEIGHT)
        if self.C > 0:
            alpha = self._line_search(z, D / self.weights)
        else:
            alpha = 0.5 * (np.log((1 - error) / error) + np.log(n_classes - 1))
        if alpha > 0:
            self.scores += alpha * z
            self.influence += alpha * D / self.weights
            self.norm += alpha
        return float(alpha)

    def _line_search(self, z: np.ndarray, w: np.ndarray) -> float:
        """The alpha_t of least J on a grid, made exact between its neighbours by J' = 0."""
        from largemargin.boosting._loops import regularized_loss

        def loss(alpha: float) -> tuple[float, float]:
            value, slope = regularized_loss(
                alpha, z, w, self.weights, self.scores, self.influence, self.norm, self.C
            )
            return value, slope

        best = int(np.argmin([loss(alpha)[0] for alpha in _STEP_GRID]))
        low, high = _STEP_GRID[max(best - 1, 0)], _STEP_GRID[min(best + 1, len(_STEP_GRID) - 1)]
        if loss(low)[1] >= 0 or loss(high)[1] <= 0:  # the end of the range
            return float(_STEP_GRID[best])
        return float(brentq(lambda alpha: loss(alpha)[1], low, high, xtol=1e-14))
