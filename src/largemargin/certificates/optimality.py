"""How far a fit is from the best that its program allows: the duality gap as the fit tells it, and,
for support vector machines, the dual problem with what its coefficients show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from largemargin.certificates.certificate import Condition, Statement, Theorem
from largemargin.certificates.fitted import Fitted, class_factors_of
from largemargin.certificates.rounding import FEW, at_most
from largemargin.kernels.functions import UNIT
from largemargin.machines import card_of

if TYPE_CHECKING:
    from largemargin.svm.formulations import Loss

GAP = Theorem("duality gap", "weak duality", "always")
OPTIMAL_GAP = 1e-6  # relative duality gap up to which a fit counts as optimal


def gap_statement(model: Any, indefinite: str = "") -> Statement:
    """The largest relative difference of primal and dual objective, as the fit tells it.

    `indefinite` says why the kernel may not be positive definite: then no objective bounds another.
    """
    if indefinite:
        return GAP.fails(indefinite)
    gaps = np.maximum(np.asarray(model.dual_gap_, float), 0.0)
    largest = float(gaps.max())
    if not np.isfinite(largest):
        return GAP.fails(_why_unknown(model))
    sentence = (
        f"The objective of this fit exceeds the smallest possible one by at most "
        f"{at_most(largest)} {'times w.w' if _is_of_nu(model) else 'of itself'}, as the dual "
        "objective shows."
    )
    return GAP.says(largest, sentence, by_problem=gaps)


def _is_of_nu(model: Any) -> bool:
    """Whether objectives are about zero, so that their difference is relative to w.w."""
    return card_of(model).package == "svm" and getattr(model, "nu", 0) != 0


def _why_unknown(model: Any) -> str:
    """Why there is no duality gap."""
    if np.isinf(getattr(model, "C", np.inf)):
        return "the training data were not separated, so there is no primal objective"
    return "with numbers of this size rounding leaves nothing of the objectives: scale the data"


def is_optimal(model: Any) -> Condition:
    """Whether a fit is what its program asks for; None if that is so to the solver's tolerance, or
    to rounding, only: a small coefficient may have been left out.
    """
    gap = max(float(np.max(model.dual_gap_)), 0.0)
    exact = True if gap <= OPTIMAL_GAP else None
    return Condition(
        f"the fit is optimal (its duality gap is at most {at_most(gap, 2)})",
        exact if model.converged_ else False,
        "the solver stopped before it reached an optimum",
    )


@dataclass(frozen=True)
class Dual:
    """A support vector machine as its dual says it, for the training examples.

    Attributes
    ----------
    alphas : array of shape (n_problems, m)
    box : array of shape (n_problems, m)
        Their upper bounds; inf where there is none.
    slack : str
        "none", "squared-sum" or the name of the loss.
    loss : Loss or None
        What is paid for the slack of each example, if that is counted singly.
    ridge : array of shape (m,)
        What the loss adds to the diagonal of the kernel matrix: 1/(2 C s_i) with squared slacks.
    threshold : bool
        Whether the dual has the condition sum y alpha = 0.
    origin : bool
        Whether f goes through the origin of the feature space.
    of_nu : bool
        Whether the machine is a nu-SVM: the bounds come from a share nu of the examples.
    """

    alphas: np.ndarray
    box: np.ndarray
    slack: str
    loss: Loss | None
    ridge: np.ndarray
    threshold: bool
    origin: bool
    of_nu: bool

    @property
    def bounded(self) -> bool:
        """Whether the loss bounds the coefficients."""
        return self.loss is not None and np.isfinite(self.loss.box)


def dual_of(fitted: Fitted) -> Dual:
    """The dual problem of a fitted machine of the svm family, with its solution."""
    from largemargin.svm import KernelAdatron, NuSVC
    from largemargin.svm.formulations import HINGE, LOSSES

    model = fitted.model
    alphas, of_nu = fitted.alphas(), isinstance(model, NuSVC) and model.nu != 0
    s = class_factors_of(fitted)
    C = np.inf if isinstance(model, NuSVC) else float(model.C)
    slack = "linear" if of_nu else "none" if np.isinf(C) else getattr(model, "slack", "linear")
    loss = HINGE if of_nu else LOSSES.get(slack)
    box, ridge = np.full(alphas.shape, np.inf), np.zeros(len(fitted))
    if of_nu or slack == "squared-sum":
        # the machine with the hinge loss and this C has the same solution
        box[:] = (alphas / s).max(axis=1, keepdims=True) * s
    elif loss is not None:
        box[:], ridge = loss.upper_bounds(C, s), loss.ridges(C, s)
    origin = not model.fit_intercept or model.multiclass == "crammer-singer"
    threshold = not origin and not isinstance(model, KernelAdatron)
    return Dual(alphas, box, slack, loss, ridge, threshold, origin, of_nu)


def dual_margins(fitted: Fitted, dual: Dual) -> list[np.ndarray]:
    """The margins of each problem as its dual knows them: a threshold that was added after training
    does not count.
    """
    if dual.threshold or not fitted.thresholds.any():
        return fitted.functional
    return [
        y[y != 0] * (f - b)[y != 0]
        for y, f, b in zip(fitted.signs, fitted.scores, fitted.thresholds, strict=True)
    ]


def _feasible(fitted: Fitted, dual: Dual) -> tuple[np.ndarray, np.ndarray]:
    """The sums of the coefficients, rounded down, and by how much they have to be changed to meet
    the conditions of the dual: nothing, but for rounding.
    """
    sums = dual.alphas.sum(axis=1)
    lack = np.maximum(dual.alphas - dual.box, 0.0).sum(axis=1)
    if dual.threshold:
        lack = lack + np.abs((fitted.signs * dual.alphas).sum(axis=1))
    rounding = len(fitted) * UNIT * sums
    return sums - rounding, lack + rounding * dual.threshold


def least_objectives(fitted: Fitted, dual: Dual) -> np.ndarray:
    """The dual objective W of the hard margin that the coefficients show, rounded down: that of
    the best multiple of them, (sum alpha)^2 / (2 w.w).
    """
    sums, lack = _feasible(fitted, dual)
    longest = fitted.norm_bounds[1] + lack * fitted.largest_radius
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (np.maximum(sums - lack, 0.0) / longest) ** 2 / 2 * (1 - FEW * UNIT)
    return np.where(longest > 0, found, 0.0)


def absolute_gaps(fitted: Fitted, dual: Dual) -> np.ndarray:
    """What the dual objective of each problem's coefficients can lack of the best, rounded up."""
    R, s = fitted.largest_radius, class_factors_of(fitted)
    sums, lack = _feasible(fitted, dual)
    gaps = []
    for p, (outputs, norm, error) in enumerate(
        zip(dual_margins(fitted, dual), fitted.norm_bounds[1], fitted.score_errors,
            strict=True)
    ):  # fmt: skip
        alpha, least = dual.alphas[p], outputs - error
        if dual.slack == "none":
            nearest = float(least.min())
            primal = (norm / nearest) ** 2 / 2 if nearest > 0 else np.inf
        else:
            price = float((alpha / s).max()) if dual.of_nu else float(fitted.model.C)
            weights, xi = s[fitted.signs[p] != 0], np.maximum(0.0, 1 - least)
            losses = xi if dual.loss is None else dual.loss.value(xi)
            primal = norm**2 / 2 + price * float(weights @ losses)
        value = sums[p] - norm**2 / 2 - float(dual.ridge @ alpha**2) / 2
        rounding = (len(fitted) + FEW) * UNIT * (abs(primal) + abs(value) + norm**2)
        gaps.append(primal - value + rounding + lack[p] * (1 + norm * R + lack[p] * R**2))
    if dual.loss is None or dual.of_nu:
        return np.maximum(gaps, 0.0)
    # the solver has told the gap of these machines, relative to the primal objective
    told = np.maximum(np.asarray(fitted.model.dual_gap_, float), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(told < 1, told / (1 - told) * np.abs(fitted.model.objective_), np.inf)
    return np.maximum(np.minimum(gaps, best), 0.0)
