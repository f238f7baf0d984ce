"""What the machines of linear programs say of examples left out, and theorem 2.2.

An example without a coefficient and without an active constraint can be left out of the program:
its solution stays one, and classifies the example with y f(x) > 1. Of the machine that is told nu
this is true where its price stays: with m examples it minimises sum xi - nu m rho, so of m - 1 the
nu must be nu m / (m - 1). The bounds of support vector machines that look at the size of
coefficients do not hold here; the chapter says so itself of the machine that minimises one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.certificates.capacity import adaptive_statement
from largemargin.certificates.certificate import Statement
from largemargin.certificates.feature_space import (
    Asked,
    examine_expansion,
    feature_space_statements,
)
from largemargin.certificates.fitted import Fitted
from largemargin.certificates.leave_one_out import lone_words, true_statement
from largemargin.certificates.optimality import gap_statement, is_optimal
from largemargin.certificates.rounding import at_most
from largemargin.certificates.svm import JAAKKOLA, XI_ALPHA
from largemargin.certificates.theorem import Condition, Theorem
from largemargin.machines import card_of

NEEDED = Theorem(
    "needed examples, leave-one-out", "optimality conditions of linear programs", "always", True
)
SLACK = 1e-6  # a constraint that has less room than this counts as active


def levels(fitted: Fitted) -> np.ndarray:
    """The margin that the program asks for, of each problem: rho, or 1."""
    return np.asarray(getattr(fitted.model, "margin_", np.ones(fitted.n_problems)), float)


def statements(model: Any, X: Any, y: Any, asked: Asked) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said of a machine of a linear program."""
    fitted = examine(model, X, y)
    own = program_statements(fitted, asked.delta, asked.leave_one_out)
    return feature_space_statements(fitted, own, asked)


examine = examine_expansion


def program_statements(fitted: Fitted, delta: float, leave_one_out: bool | str) -> list[Statement]:
    """For `LPSVC`, `NuLPSVC`, `LeaveOneOutSVC` and `AdaptiveMarginSVC`."""
    model = fitted.model
    no_size = "the size of a coefficient bounds nothing in a machine that is a linear program"
    statements = [
        gap_statement(model),
        _needed(fitted),
        *(theorem.fails(no_size) for theorem in (JAAKKOLA, XI_ALPHA)),
        true_statement(fitted, leave_one_out),
    ]
    if card_of(model).name in ("AdaptiveMarginSVC", "LeaveOneOutSVC"):
        statements.append(adaptive_statement(fitted, delta))
    return statements


def needed_examples(fitted: Fitted) -> np.ndarray:
    """With a coefficient or an active constraint in any problem."""
    size = fitted.radius**2 if _of_nu(fitted) else 1.0
    active = fitted.signs * fitted.scores <= levels(fitted)[:, None] + SLACK * size
    return fitted.coefs_used() | active.any(axis=0)


def _of_nu(fitted: Fitted) -> bool:
    return card_of(fitted.model).name == "NuLPSVC"


def _needed(fitted: Fitted) -> Statement:
    of_nu = _of_nu(fitted)
    plain = not of_nu or fitted.model.class_weight is None
    conditions = [
        *fitted.records,
        Condition("equal weights, where nu is a share of them", plain,
                  "with class weights the threshold may have been moved after training"),
        is_optimal(fitted.model),
        Condition("the program has one solution", None),
    ]  # fmt: skip
    refuted = NEEDED.refuted_by(conditions)
    if refuted:
        return refuted
    active = needed_examples(fitted)
    needed = active | fitted.alone
    which = ", of the machine with nu m/(m - 1) in place of nu," if of_nu else ""
    sentence = (
        f"The leave-one-out error{which} is at most {at_most(needed.mean())}: only the "
        f"{int(active.sum())} of {len(fitted)} examples with a coefficient or an active constraint"
        f"{lone_words(fitted, active)} can be wrong when left out."
    )
    return NEEDED.says(float(needed.mean()), sentence, conditions)
