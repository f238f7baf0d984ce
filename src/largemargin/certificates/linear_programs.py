"""What the machines of linear programs say of examples left out, and theorem 2.2.

An example without a coefficient and without an active constraint can be left out of the program:
its solution stays one, and classifies the example with y f(x) > 1. The bounds of support vector
machines that look at the size of coefficients do not hold here; the chapter says so itself of the
machine that minimises one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from largemargin.certificates.capacity import adaptive_statement
from largemargin.certificates.certificate import Statement, at_most
from largemargin.certificates.fitted import FOREIGN, Fitted, class_factors_of
from largemargin.certificates.leave_one_out import true_statement
from largemargin.certificates.optimality import gap_statement, is_optimal
from largemargin.certificates.svm import JAAKKOLA, OTHER_WEIGHTS, XI_ALPHA
from largemargin.certificates.theorem import Condition, Theorem

NEEDED = Theorem(
    "needed examples, leave-one-out", "optimality conditions of linear programs", "always", True
)
SLACK = 1e-6  # a constraint that has less room than this counts as active


def with_weights_checked(fitted: Fitted) -> Fitted:
    """The same, called foreign if its objective cannot be found again from the data: the weights
    that the machine was trained with were others.
    """
    from largemargin.lp import NuLPSVC

    if fitted.foreign or isinstance(fitted.model, NuLPSVC) or fitted.squares is None:
        return fitted
    told = np.asarray(fitted.model.objective_, float)
    if (np.abs(objectives_found_again(fitted) - told) <= OTHER_WEIGHTS * (1 + told)).all():
        return fitted
    return replace(fitted, foreign=f"{FOREIGN} with these labels, or not with equal weights")


def objectives_found_again(fitted: Fitted) -> np.ndarray:
    """sum s xi of each problem, or sum alpha + C sum s xi, from the coefficients and the data."""
    from largemargin.lp import LPSVC

    s, alphas = class_factors_of(fitted), fitted.alphas()
    own = own_parts(fitted, alphas / s)
    xi = np.maximum(0.0, 1 - fitted.signs * fitted.scores + own)
    loss = xi @ s
    if isinstance(fitted.model, LPSVC):
        return np.asarray(alphas.sum(axis=1) + float(fitted.model.C) * loss)
    return np.asarray(loss)


def own_parts(fitted: Fitted, alphas: np.ndarray) -> np.ndarray:
    """lambda alpha_i k(x_i, x_i): what an adaptive margin grows by."""
    from largemargin.lp import LeaveOneOutSVC

    if isinstance(fitted.model, LeaveOneOutSVC):
        lam = 1.0
    else:
        lam = float(getattr(fitted.model, "lam", 0.0))
    return lam * alphas * np.asarray(fitted.squares)


def program_statements(fitted: Fitted, delta: float, leave_one_out: bool | str) -> list[Statement]:
    """For `LPSVC`, `NuLPSVC`, `LeaveOneOutSVC` and `AdaptiveMarginSVC`."""
    from largemargin.lp import AdaptiveMarginSVC, LeaveOneOutSVC

    model = fitted.model
    no_size = "the size of a coefficient bounds nothing in a machine that is a linear program"
    statements = [
        gap_statement(model),
        _needed(fitted),
        *(theorem.fails(no_size) for theorem in (JAAKKOLA, XI_ALPHA)),
        true_statement(fitted, leave_one_out),
    ]
    if isinstance(model, AdaptiveMarginSVC | LeaveOneOutSVC):
        lam = 1.0 if isinstance(model, LeaveOneOutSVC) else float(model.lam)
        statements.append(adaptive_statement(fitted, lam, delta))
    return statements


def needed_examples(fitted: Fitted) -> np.ndarray:
    """With a coefficient or an active constraint in any problem, of machines of margin 1."""
    active = fitted.signs * fitted.scores <= 1 + SLACK
    return fitted.coefs_used() | active.any(axis=0)


def _needed(fitted: Fitted) -> Statement:
    from largemargin.lp import NuLPSVC

    of_nu = isinstance(fitted.model, NuLPSVC)
    conditions = [
        Condition("these are the training data", not fitted.foreign, fitted.foreign),
        Condition(
            "the program stays when one is left out", not of_nu,
            "nu is a share of the examples, so leaving one out changes the program for the others",
        ),
        is_optimal(fitted.model),
        Condition("the program has one solution", None),
    ]  # fmt: skip
    refuted = NEEDED.refuted_by(conditions)
    if refuted:
        return refuted
    needed = needed_examples(fitted)
    sentence = (
        f"The leave-one-out error is at most {at_most(needed.mean())}: only the "
        f"{int(needed.sum())} of {len(fitted)} examples with a coefficient or an active constraint "
        "can be wrong when left out."
    )
    return NEEDED.says(float(needed.mean()), sentence, conditions)
