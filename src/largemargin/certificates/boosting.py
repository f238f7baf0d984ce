"""What the theory says of boosting, and the little that is known of a network of basis functions,
which boosting combines.

    theorem 1.12   R_rho(f) <= 2^T prod_t sqrt(eps_t^(1 - rho) (1 - eps_t)^(1 + rho))      (1.86)
    theorem 1.10   R(f) <= R_rho(f) + sqrt(c/m (h ln^2(m/h)/rho^2 + ln(1/delta)))          (1.50)

for convex combinations of classifiers from a class of VC dimension h (Schapire, Freund, Bartlett &
Lee 1998, as in Advances in Large Margin Classifiers). Stumps on n features shatter d points only if
2n >= binom(d, d/2): of the subsets of d/2 points, each feature cuts off one from below and one from
above by its thresholds.
"""

from __future__ import annotations

from math import comb, log
from typing import Any

import numpy as np
from scipy.special import xlogy

from largemargin.certificates.certificate import INDEPENDENT, Condition, Statement, Theorem
from largemargin.certificates.covering import check_delta, check_positive
from largemargin.certificates.feature_space import BOOK, HARD_MARGIN, MARGIN, VC, Asked
from largemargin.certificates.fitted import checked, numbers_of, recorded
from largemargin.certificates.margins import (
    SMALLEST,
    error_statement,
    margin_error,
    score_margins,
)
from largemargin.certificates.rounding import FEW, at_most, raised
from largemargin.machines import card_of
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike

CONVEX = Theorem("margin bound", f"{BOOK}, theorem 1.10", "probability", True)
Records = tuple[Condition, Condition]


def adaboost_margin_bound(errors: VectorLike, rho: float) -> float:
    """Theorem 1.12: what the margin error of AdaBoost at rho is at most.

    Parameters
    ----------
    errors : array
        The weighted errors eps_t of the rounds, each below 1/2.
    rho : float
        The margin, of f = sum alpha_t g_t / sum alpha_t.

    Examples
    --------
    >>> round(adaboost_margin_bound([0.1, 0.2], 0.0), 6)
    0.48
    >>> round(adaboost_margin_bound([0.1, 0.2], 0.5), 6)
    1.175755
    """
    eps = np.asarray(errors, float)
    if not ((eps >= 0) & (eps < 0.5)).all():
        raise ValueError(f"errors must lie between 0 and 1/2, got {eps[(eps < 0) | (eps >= 0.5)]}")
    logs = log(2) + xlogy((1 - rho) / 2, eps) + (1 + rho) / 2 * np.log1p(-eps)
    return raised(float(np.exp(logs.sum())), FEW + 4 * int(np.abs(logs).sum() + len(eps)))


def convex_combination_bound(
    margins: VectorLike,
    dimension: int,
    *,
    rho: float | None = None,
    delta: float = 0.05,
    constant: float = 1.0,
) -> float:
    """Theorem 1.10: what the error of a convex combination of classifiers is at most, with
    probability 1 - delta.

    Parameters
    ----------
    margins : array
        y f(x) of the training examples, from -1 to 1.
    dimension : int
        The VC dimension of the classifiers.
    rho : float or None, default=None
        None takes the best, which is allowed: the theorem holds for all at once.
    delta, constant : float
        As for `vc_bound`.

    Examples
    --------
    >>> round(convex_combination_bound(np.full(10_000, 0.5), 2, rho=0.5), 3)
    0.242
    """
    check_delta(delta)
    check_positive("constant", constant)
    values = np.asarray(margins, float)
    m = len(values)
    rhos = np.unique(np.append(values[values > 0], 1.0))
    if rho is not None:
        check_positive("rho", rho)
        rhos = np.array([float(rho)])
    errors = np.searchsorted(np.sort(values), rhos) / m
    capacity = dimension * log(m / dimension) ** 2 / rhos**2 + log(1 / delta)
    return raised(float((errors + np.sqrt(constant / m * capacity)).min()))


def stump_dimension(n_features: int) -> int:
    """The VC dimension of stumps: the largest d with binom(d, d/2) <= 2 n_features.

    >>> [stump_dimension(n) for n in (1, 2, 3, 5, 30)]
    [2, 3, 4, 5, 7]
    """
    d = 1
    while comb(d + 1, (d + 1) // 2) <= 2 * n_features:
        d += 1
    return d


examine = None  # there is no feature space


def statements(
    model: Any, X: MatrixLike, y: VectorLike, asked: Asked
) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said of `AdaBoost` or `RBFNetwork`."""
    X, labels = checked(model, X, y)
    if card_of(model).name == "RBFNetwork":
        return len(labels), network_statements(model, X, labels)
    return len(labels), boosting_statements(model, X, labels, asked)


def network_statements(model: Any, X: Matrix, labels: np.ndarray) -> list[Statement]:
    """The statements about `RBFNetwork`, of whose capacity nothing is known."""
    scores = model.decision_function(X)
    sentence = (
        "The smallest margin y f(x) of an example; it is negative if the example is misclassified."
    )
    records = recorded(model, X, labels)
    unknown = "the capacity of networks with moving centres is not known"
    return [
        error_statement(numbers_of(model, scores) != labels),
        SMALLEST.says(float(score_margins(scores, labels).min()), sentence),
        *(theorem.fails(unknown, records) for theorem in (VC, MARGIN, HARD_MARGIN)),
    ]


def boosting_statements(model: Any, X: Matrix, labels: np.ndarray, asked: Asked) -> list[Statement]:
    """The statements about `AdaBoost`: theorem 1.12 at each rho, and theorem 1.10."""
    scores = model.decision_function(X)
    found = model.margins_of(scores, labels)
    records = recorded(model, X, labels)
    told = [
        error_statement(numbers_of(model, scores) != labels),
        SMALLEST.says(
            float(found.min()),
            "The smallest margin of an example, from -1 to 1; it is negative if the example is "
            "misclassified.",
        ),
    ]
    for rho in asked.rhos:
        told += _at_rho(model, found, rho, records)
    told.append(VC.fails("the VC dimension of combinations of classifiers is not known"))
    told.append(convex_combination_statement(model, found, records, asked))
    return told


def _at_rho(model: Any, found: np.ndarray, rho: float, records: Records) -> list[Statement]:
    """The margin error at rho, and its bound."""
    share = margin_error(found, rho)
    measured = Theorem(f"margin error at {rho:g}", f"{BOOK}, (1.30)", "measured")
    bound = Theorem(f"margin error bound at {rho:g}", f"{BOOK}, theorem 1.12", "always", True)
    sentence = f"The share of examples whose margin, from -1 to 1, is below {rho:g}."
    return [
        measured.says(share, sentence),
        margin_error_bound_statement(bound, model, rho, records),
    ]


def margin_error_bound_statement(
    theorem: Theorem, model: Any, rho: float, records: Records
) -> Statement:
    """The bound of the margin error of AdaBoost, theorem 1.12: `adaboost_margin_bound`."""
    conditions = [
        *records,
        Condition(
            "AdaBoost without regularization", model.regularization == 0,
            "the theorem is about AdaBoost, not AdaBoost_Reg",
        ),
        Condition(
            "every round is better than chance", bool(model.alphas_[0] != 0),
            "the base learner is no better than chance in the first round",
        ),
    ]  # fmt: skip
    refuted = theorem.refuted_by(conditions)
    if refuted:
        return refuted
    value = model.margin_error_bound(rho)
    several = ", by the same proof for several classes" if len(model.classes_) > 2 else ""
    sentence = (
        f"At most this share of the training examples has a margin below {rho:g}, from the "
        f"weighted errors of {model.n_iter_} rounds{several}."
    )
    return theorem.says(value, sentence, conditions)


def convex_combination_statement(
    model: Any, found: np.ndarray, records: Records, asked: Asked
) -> Statement:
    """The margin bound of combinations of classifiers, theorem 1.10: `convex_combination_bound`."""
    delta, constant = asked.delta, asked.constant
    h, m = stump_dimension(model.n_features_in_), len(found)
    conditions = [
        *records,
        Condition("two classes", len(model.classes_) == 2, "the theorem is about two classes"),
        Condition(
            "the VC dimension of the base learner is known", model.estimator is None,
            "the VC dimension of the base learner is not known; it is for stumps",
        ),
        Condition("more examples than the VC dimension", m > h,
                  f"{m} examples are not more than the VC dimension {h}"),
        INDEPENDENT,
    ]  # fmt: skip
    refuted = CONVEX.refuted_by(conditions)
    if refuted:
        return refuted
    value = convex_combination_bound(found, h, delta=delta, constant=constant)
    sentence = (
        f"The error is at most {at_most(value)} with probability {1 - delta:g}: this is the margin "
        f"error at the best rho plus a capacity term for {m} examples and combinations of stumps, "
        f"whose VC dimension is h = {h}, with the constant c, which the theorem does not "
        f"give, taken to be {constant:g}."
    )
    return CONVEX.says(value, sentence, conditions)
