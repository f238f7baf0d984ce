"""What is known of a support vector machine beyond its margins: how optimal it is, and what its
coefficients say of the leave-one-out error (the shares of support vectors, the bounds of Jaakkola
and Haussler, xi-alpha, radius and margin). The inequalities are in `leave_one_out`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from largemargin.certificates.certificate import INDEPENDENT, Condition, Statement, Theorem
from largemargin.certificates.feature_space import (
    BOOK,
    Asked,
    examine_expansion,
    feature_space_statements,
)
from largemargin.certificates.fitted import LARGEST_EIGENPROBLEM, Fitted
from largemargin.certificates.leave_one_out import (
    least_kernel_value,
    leave_one_out_statement,
    lone_words,
    possible_errors,
    shortfall,
    support_vector_bound,
)
from largemargin.certificates.optimality import (
    Dual,
    absolute_gaps,
    dual_margins,
    dual_of,
    gap_statement,
    is_optimal,
    least_objectives,
)
from largemargin.certificates.rounding import above, at_least, at_most, lowered, raised
from largemargin.runtime.arrays import MatrixLike, VectorLike

OPTIMAL = Theorem(
    "optimal hyperplane", "Cortes & Vapnik 1995, W = 2/rho^2", "always", bounds_from="below"
)
SUPPORT = Theorem("support vectors, leave-one-out", f"{BOOK}, section 1.3.4", "always", True)
EXPECTED = Theorem("support vectors, expected error", "Cortes & Vapnik 1995", "expectation", True)
JAAKKOLA_HAUSSLER = Theorem("Jaakkola-Haussler", f"{BOOK}, (1.84) as in (2.3)", "always", True)
XI_ALPHA = Theorem("xi-alpha", "Joachims 2000, theorem 2", "always", True)
RADIUS = Theorem("radius-margin", "Vapnik 1998, from Jaakkola-Haussler", "always", True)
LEAVE_ONE_OUT_BOUNDS = (SUPPORT, EXPECTED, JAAKKOLA_HAUSSLER, XI_ALPHA, RADIUS)
UNIQUE_WITHOUT = "the threshold stays unique when one is left out"

AT_BOUND = 1e-9  # relative distance up to which a coefficient counts as at its bound


def statements(
    model: Any, X: MatrixLike, y: VectorLike, asked: Asked
) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said of a support vector machine."""
    fitted = examine(model, X, y)
    own = svm_statements(fitted, asked.leave_one_out)
    return feature_space_statements(fitted, own, asked)


def examine(model: Any, X: MatrixLike, y: VectorLike) -> Fitted:
    """A support vector machine beside data."""
    joint = model.multiclass == "crammer-singer"
    return examine_expansion(model, X, y, by_pairs=getattr(model, "_by_pairs", False), joint=joint)


def svm_statements(fitted: Fitted, leave_one_out: bool | str) -> list[Statement]:
    """What the dual solution says, of optimality and of the leave-one-out error."""
    if fitted.silent:
        rest = [theorem.fails(fitted.silent, fitted.records) for theorem in LEAVE_ONE_OUT_BOUNDS]
        return [
            gap_statement(fitted.model, fitted.indefinite_in_training),
            OPTIMAL.fails(fitted.silent, fitted.records),
            *rest,
            leave_one_out_statement(fitted, leave_one_out),
        ]
    dual = dual_of(fitted)
    support = support_vector_statement(fitted, dual)
    # that the others can be left out is a theorem only if all that it assumes is known to hold
    known = support.applies and not dual.of_nu and all(a.holds for a in support.assumptions)
    return [
        gap_statement(fitted.model, fitted.indefinite_in_training),
        optimal_hyperplane_statement(fitted, dual),
        support,
        expected_error_statement(fitted, dual),
        jaakkola_haussler_statement(fitted, dual),
        xi_alpha_statement(fitted, dual),
        radius_margin_statement(fitted, dual),
        leave_one_out_statement(fitted, leave_one_out, fitted.coefs_used() if known else None),
    ]


def _optimality_conditions(fitted: Fitted) -> list[Condition]:
    """What all statements from the dual solution assume."""
    return [
        *fitted.records,
        is_optimal(fitted.model),
        Condition("the kernel is positive definite on the examples", not fitted.indefinite,
                  fitted.indefinite),
    ]  # fmt: skip


def optimal_hyperplane_statement(fitted: Fitted, dual: Dual) -> Statement:
    """The optimal hyperplane: no margin is larger than the dual objective W allows."""
    conditions = [
        Condition("a hard margin", dual.slack == "none", "the margin is soft"),
        *_optimality_conditions(fitted),
    ]
    refuted = OPTIMAL.refuted_by(conditions)
    if refuted:
        return refuted
    W = least_objectives(fitted, dual)
    w = np.asarray(fitted.norm_bounds[1])
    rho = raised(np.sqrt(2 / W.max())) if W.max() > 0 else np.inf
    found = lowered(min(2 * (f.min() - e) / n if n > 0 else 0.0 for f, e, n in zip(
        dual_margins(fitted, dual), fitted.score_errors, w, strict=True
    )))  # fmt: skip
    several = ", in the problem where it is least," if fitted.n_problems > 1 else ""
    if dual.threshold:
        what = "hyperplane separates the classes with a distance between them"
        which = f"; the one found separates them with {at_least(found, 6)}"
    else:
        what = "hyperplane through the origin of the feature space has all examples on their sides "
        what += "with twice the distance to the nearest"
        which = f"; the one found has them there with {at_least(found, 6)}"
    sentence = (
        f"The dual objective W = {at_least(W.max(), 6)} shows that{several} no {what} above rho "
        f"= sqrt(2/W) = {at_most(rho, 6)}{which if found > 0 else ''}."
    )
    return OPTIMAL.says(W.max(), sentence, conditions, W)


def _shortfall(fitted: Fitted, dual: Dual) -> np.ndarray:
    """`shortfall` from the gaps of the dual. Where nobody knows that a fit is optimal, that is
    assumed, and said among the conditions.
    """
    known = is_optimal(fitted.model).holds is True
    gaps = absolute_gaps(fitted, dual) if known else np.zeros(fitted.n_problems)
    return shortfall(fitted, dual.alphas, gaps)


def _leave_one_out_conditions(fitted: Fitted, dual: Dual) -> list[Condition]:
    """What all leave-one-out bounds assume."""
    from largemargin.svm import KernelAdatron

    halfway = isinstance(fitted.model, KernelAdatron) and bool(fitted.model.fit_intercept)
    free = (dual.alphas > 0) & (dual.alphas < dual.box * (1 - AT_BOUND))
    unique = not dual.threshold or bool(free.any(axis=1).all())
    return [
        *_optimality_conditions(fitted),
        Condition(
            "the threshold is part of the machine's program", not halfway,
            "the adatron's threshold is put halfway between the classes after training",
        ),
        Condition(
            "the threshold is unique", unique,
            "in some problem every coefficient is at a bound, so the threshold is not unique",
        ),
        Condition("the kernel, the price of slack and the weights stay when one is left out", True),
    ]  # fmt: skip


def _which_machine(dual: Dual) -> str:
    """What a sentence says of the machine that its bound is about."""
    return ", of the machine with linear slack that has this solution," * dual.of_nu


def support_vector_statement(fitted: Fitted, dual: Dual) -> Statement:
    """The leave-one-out error is at most the share of support vectors."""
    conditions = _leave_one_out_conditions(fitted, dual)
    refuted = SUPPORT.refuted_by(conditions)
    if refuted:
        return refuted
    used, flags = np.any(dual.alphas > 0, axis=0), (dual.alphas > 0) | fitted.alone_by_problem
    share = support_vector_bound(flags)
    sentence = (
        f"The leave-one-out error{_which_machine(dual)} is at most {at_most(share)}. Removing an "
        "example that is not a support vector does not change the solution, so only the "
        f"{int(used.sum()):,} support vectors of {len(fitted):,} "
        f"examples{lone_words(fitted, used)} "
        "can be wrong when left out."
    )
    return SUPPORT.says(share, sentence, conditions, _shares(fitted, flags))


def _shares(fitted: Fitted, flags: np.ndarray) -> list[float]:
    """The share of flagged examples of each problem; a machine of all classes is one problem."""
    if fitted.joint:
        return []
    return [float(f[y != 0].mean()) for f, y in zip(flags, fitted.signs, strict=True)]


def expected_error_statement(fitted: Fitted, dual: Dual) -> Statement:
    """The expected error is at most the expected share of support vectors."""
    conditions = [
        Condition(
            "the machine was chosen without the data", not dual.of_nu,
            "nu is a share of the examples, so the machine differs with their number",
        ),
        *_leave_one_out_conditions(fitted, dual),
        INDEPENDENT,
    ]  # fmt: skip
    refuted = EXPECTED.refuted_by(conditions)
    if refuted:
        return refuted
    used, flags = np.any(dual.alphas > 0, axis=0), (dual.alphas > 0) | fitted.alone_by_problem
    share = support_vector_bound(flags)
    lone = " and of examples alone in their classes" * bool((fitted.alone & ~used).any())
    sentence = (
        "The expected error after training on one example less is at most the expected share of "
        f"support vectors{lone}; here this share is {at_most(share)}."
    )
    return EXPECTED.says(share, sentence, conditions, _shares(fitted, flags))


def _two_class_conditions(fitted: Fitted, dual: Dual) -> list[Condition]:
    """What leave-one-out bounds from the size of coefficients assume."""
    together = fitted.model.multiclass == "crammer-singer"
    return [
        Condition("a reduction to problems of two sides", not together,
                  "the vectors of all classes were trained together"),
        Condition("slack counted singly", dual.slack != "squared-sum",
                  "the price is that of the square of the sum of the slacks"),
        *_leave_one_out_conditions(fitted, dual),
    ]  # fmt: skip


def jaakkola_haussler_statement(fitted: Fitted, dual: Dual) -> Statement:
    """The leave-one-out bound of Jaakkola and Haussler, without a threshold."""
    conditions = [
        Condition("no threshold", dual.origin, "it is a bound only without a threshold"),
        *_two_class_conditions(fitted, dual),
    ]
    refuted = JAAKKOLA_HAUSSLER.refuted_by(conditions)
    if refuted:
        return refuted
    flags = _jaakkola_haussler_flags(fitted, dual)
    return _flag_statement(JAAKKOLA_HAUSSLER, fitted, dual, flags, conditions)


def _jaakkola_haussler_flags(fitted: Fitted, dual: Dual) -> np.ndarray:
    """The examples that can be leave-one-out errors, one row per problem."""
    assert fitted.squares is not None
    outputs = fitted.signs * fitted.scores
    short = _shortfall(fitted, dual)
    flags = possible_errors(outputs, dual.alphas, fitted.squares, False, None, 0.0, short)
    return np.asarray(flags & (fitted.signs != 0))


def xi_alpha_statement(fitted: Fitted, dual: Dual) -> Statement:
    """The xi-alpha estimate of Joachims, with a threshold."""
    plain = getattr(fitted.model, "class_weight", None) is None
    # every support vector of a machine without bounds is free; of one with bounds, leaving out an
    # example can leave none free, and then the error can exceed the bound
    conditions = [
        Condition(
            "a threshold", not dual.origin, "without a threshold Jaakkola-Haussler is the sharper"
        ),
        Condition("equal weights", plain, "it is proved for examples of equal weight"),
        *_two_class_conditions(fitted, dual),
        Condition(UNIQUE_WITHOUT, None if dual.bounded else True),
    ]
    refuted = XI_ALPHA.refuted_by(conditions)
    if refuted:
        return refuted
    assert fitted.squares is not None
    least = least_kernel_value(fitted, LARGEST_EIGENPROBLEM)
    outputs, ridge = fitted.signs * fitted.scores, float(dual.ridge.max())
    short = _shortfall(fitted, dual)
    flags = possible_errors(
        outputs, dual.alphas, fitted.squares, True, least, ridge, short, dual.bounded
    )
    return _flag_statement(XI_ALPHA, fitted, dual, flags & (fitted.signs != 0), conditions)


def _flag_statement(
    theorem: Theorem, fitted: Fitted, dual: Dual, flags: np.ndarray, conditions: list[Condition]
) -> Statement:
    """The leave-one-out error is at most the share of examples that are flagged."""
    flagged, counted = np.any(flags, axis=0), flags | fitted.alone_by_problem
    share = float(counted.any(axis=0).mean())
    open_question = any(c.text == UNIQUE_WITHOUT and c.holds is None for c in conditions)
    sentence = (
        f"The leave-one-out error{_which_machine(dual)} is at most {at_most(share)}: only "
        f"{int(flagged.sum()):,} of {len(fitted):,} examples{lone_words(fitted, flagged)} can "
        f"be wrong when left out"
        f"{', if ' + UNIQUE_WITHOUT if open_question else ''}."
    )
    return theorem.says(share, sentence, conditions, _shares(fitted, counted))


def radius_margin_statement(fitted: Fitted, dual: Dual) -> Statement:
    """The radius-margin bound of the leave-one-out error, for a hard margin."""
    conditions = [
        Condition("a hard margin", dual.slack == "none", "the margin is soft"),
        Condition("no threshold", dual.origin,
                  "this form of it is for hyperplanes through the origin"),
        *_two_class_conditions(fitted, dual),
    ]  # fmt: skip
    refuted = RADIUS.refuted_by(conditions)
    if refuted:
        return refuted
    # it is what Jaakkola-Haussler counts at most, and that is counted with the gap in mind
    counted = _jaakkola_haussler_flags(fitted, dual).sum(axis=1)
    lone = fitted.alone_by_problem.sum(axis=1)
    R = Fraction(fitted.largest_radius)
    squares = [
        max((R * Fraction(float(norm))) ** 2, Fraction(int(count)))
        for norm, count in zip(fitted.norm_bounds[1], counted, strict=True)
    ]
    each = [
        above((square + int(k)) / int((y != 0).sum()))
        for square, k, y in zip(squares, lone, fitted.signs, strict=True)
    ]
    bound = above((sum(squares, Fraction(0)) + int(fitted.alone.sum())) / len(fitted))
    more = f" and {int(fitted.alone.sum())}/m for examples alone in their classes"
    sentence = (
        f"The leave-one-out error is at most R^2 |w|^2 / m{more if fitted.alone.any() else ''} = "
        f"{at_most(bound)}, where R = {at_most(fitted.largest_radius)} is the largest norm of an "
        "example and 1/|w| is the margin."
    )
    return RADIUS.says(bound, sentence, conditions, each)
