"""What is said of the machines of linear programs: a bound of the leave-one-out error from the
examples that the program needs, and theorem 2.2, the bound of adaptive-margin machines.

An example without a coefficient and without an active constraint can be left out of the program:
the solution is still one of the program without it, and classifies the example with y f(x) > 1. For
the machine with nu this holds if the price of slack stays: with m examples it minimises
sum xi - nu m rho, so with m - 1 examples nu must be nu m / (m - 1). The bounds of support vector
machines that look at the size of coefficients do not hold here; the chapter says so itself of the
machine that minimises one.
"""

from __future__ import annotations

from math import e
from typing import Any

import numpy as np

from largemargin.certificates.capacity import adaptive_margin_bound
from largemargin.certificates.certificate import Condition, Statement, Theorem
from largemargin.certificates.feature_space import (
    BOOK,
    Asked,
    examine_expansion,
    feature_space_statements,
    margin_conditions,
)
from largemargin.certificates.fitted import Fitted
from largemargin.certificates.leave_one_out import leave_one_out_statement, lone_words
from largemargin.certificates.optimality import gap_statement, is_optimal
from largemargin.certificates.rounding import at_most, total
from largemargin.certificates.svm import JAAKKOLA_HAUSSLER, XI_ALPHA
from largemargin.machines import card_of
from largemargin.runtime.arrays import MatrixLike, VectorLike

ADAPTIVE = Theorem("adaptive margin bound", f"{BOOK}, theorem 2.2", "probability", True)
NEEDED = Theorem(
    "needed examples, leave-one-out", "optimality conditions of linear programs", "always", True
)
ACTIVE_ROOM = 1e-6  # room up to which a constraint counts as active


def levels(fitted: Fitted) -> np.ndarray:
    """The margin that the program asks for, of each problem: rho, or 1."""
    return np.asarray(getattr(fitted.model, "margin_", np.ones(fitted.n_problems)), float)


def statements(
    model: Any, X: MatrixLike, y: VectorLike, asked: Asked
) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said of a machine of a linear program."""
    fitted = examine(model, X, y)
    own = program_statements(fitted, asked.delta, asked.leave_one_out)
    return feature_space_statements(fitted, own, asked)


examine = examine_expansion


def program_statements(fitted: Fitted, delta: float, leave_one_out: bool | str) -> list[Statement]:
    """The statements about `LPSVC`, `NuLPSVC`, `LeaveOneOutSVC` and `AdaptiveMarginSVC` alone."""
    model = fitted.model
    no_size = "the size of a coefficient bounds nothing in a machine that is a linear program"
    statements = [
        gap_statement(model),
        needed_statement(fitted),
        *(theorem.fails(no_size) for theorem in (JAAKKOLA_HAUSSLER, XI_ALPHA)),
        leave_one_out_statement(fitted, leave_one_out),
    ]
    if card_of(model).name in ("AdaptiveMarginSVC", "LeaveOneOutSVC"):
        statements.append(adaptive_statement(fitted, delta))
    return statements


def needed_examples(fitted: Fitted) -> np.ndarray:
    """The examples with a coefficient or an active constraint in any problem."""
    size = fitted.radius**2 if _of_nu(fitted) else 1.0
    active = fitted.signs * fitted.scores <= levels(fitted)[:, None] + ACTIVE_ROOM * size
    return np.asarray(fitted.coefs_used() | active.any(axis=0))


def _of_nu(fitted: Fitted) -> bool:
    """Whether the machine is told a share nu of examples in place of a price."""
    return card_of(fitted.model).name == "NuLPSVC"


def needed_statement(fitted: Fitted) -> Statement:
    """The leave-one-out bound of the examples that the program needs."""
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
        f"{int(active.sum()):,} of {len(fitted):,} examples with a coefficient or an active "
        f"constraint{lone_words(fitted, active)} can be wrong when left out."
    )
    return NEEDED.says(float(needed.mean()), sentence, conditions)


def adaptive_statement(fitted: Fitted, delta: float) -> Statement:
    """Theorem 2.2 for an adaptive-margin machine: `adaptive_margin_bound`."""
    met = all(bool((f >= 1).any()) for f in fitted.functional)
    conditions = [
        *margin_conditions(fitted),
        Condition("some example has y f(x) >= 1", met, "no training example has y f(x) >= 1"),
    ]
    refuted = ADAPTIVE.refuted_by(conditions)
    if refuted:
        return refuted
    # max(0, xi - lambda alpha k(x, x)) is max(0, 1 - y f(x)), whatever lambda is
    lack = 1 - fitted.signs * fitted.scores
    share = delta / fitted.n_problems
    each = [
        adaptive_margin_bound(float(n), fitted.largest_radius, one + error, delta=share)
        for n, one, error in zip(fitted.norm_bounds[1], lack, fitted.score_errors, strict=True)
    ]
    known = [bound for bound in each if bound is not None]
    provisos = Condition(
        "kappa <= e m and m >= max(2/bound, 6)", len(known) == len(each),
        f"the theorem needs kappa = floor(65 (W R + 3 D)^2) <= e m, which is {e * len(fitted):.4g}",
    )  # fmt: skip
    conditions.append(provisos)
    if not provisos.holds:
        return ADAPTIVE.fails(provisos.otherwise, conditions)
    sentence = (
        f"The error is at most {at_most(total(known))} with probability {1 - delta:g}, from the "
        "norm of w and the slack of the adaptive margins."
    )
    return ADAPTIVE.says(total(known), sentence, conditions, known)
