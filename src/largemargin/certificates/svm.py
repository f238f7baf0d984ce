"""What is known of a support vector machine beyond its margins: how optimal it is, and what its
coefficients say of the examples left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from largemargin.certificates.certificate import Statement, at_most
from largemargin.certificates.fitted import (
    FOREIGN,
    LARGEST_EIGENPROBLEM,
    Fitted,
    class_factors_of,
)
from largemargin.certificates.leave_one_out import (
    least_kernel_value,
    support_vector_bound,
    suspects,
    true_statement,
)
from largemargin.certificates.optimality import gap_statement, is_optimal
from largemargin.certificates.theorem import INDEPENDENT, Condition, Theorem

BOOK = "Advances in Large Margin Classifiers"
OPTIMAL = Theorem("optimal hyperplane", "Cortes & Vapnik 1995, W = 2/rho^2", "always")
SUPPORT = Theorem("support vectors, leave-one-out", f"{BOOK}, section 1.3.4", "always", True)
EXPECTED = Theorem("support vectors, expected error", "Cortes & Vapnik 1995", "expectation", True)
JAAKKOLA = Theorem("Jaakkola-Haussler", f"{BOOK}, (1.84) as in (2.3)", "always", True)
XI_ALPHA = Theorem("xi-alpha", "Joachims 2000, theorem 2", "always", True)
RADIUS = Theorem("radius-margin", "Vapnik 1998, from Jaakkola-Haussler", "always", True)
LEFT_OUT = (SUPPORT, EXPECTED, JAAKKOLA, XI_ALPHA, RADIUS)
UNIQUE_WITHOUT = "the threshold stays unique when one is left out"

EDGE = 1e-9  # relative distance from its bound at which a coefficient is free
OTHER_WEIGHTS = 1e-4  # a gap found anew that differs by more shows other weights of the examples


@dataclass(frozen=True)
class Dual:
    """A support vector machine as its dual says it, for the training examples.

    Attributes
    ----------
    alphas : array of shape (n_problems, m)
    box : array of shape (n_problems, m)
        Their upper bounds; inf where there is none.
    slack : str
        "none", "linear", "squared" or "squared-sum".
    ridge : array of shape (m,)
        1/(2 C s_i) with squared slacks, else 0.
    threshold : bool
        Whether the dual has the condition sum y alpha = 0.
    origin : bool
        Whether f goes through the origin of the feature space.
    of_nu : bool
        Whether the bounds come from a share nu of the examples.
    """

    alphas: np.ndarray
    box: np.ndarray
    slack: str
    ridge: np.ndarray
    threshold: bool
    origin: bool
    of_nu: bool


def dual_of(fitted: Fitted) -> Dual:
    from largemargin.svm import KernelAdatron, NuSVC

    model = fitted.model
    alphas, of_nu = fitted.alphas(), isinstance(model, NuSVC) and model.nu > 0
    s = class_factors_of(fitted)
    C = np.inf if isinstance(model, NuSVC) else float(model.C)
    slack = "linear" if of_nu else "none" if np.isinf(C) else getattr(model, "slack", "linear")
    box, ridge = np.full(alphas.shape, np.inf), np.zeros(len(fitted))
    if of_nu:  # the machine with linear slack and this C has the same solution
        box[:] = (alphas / s).max(axis=1, keepdims=True) * s
    elif slack == "linear":
        box[:] = C * s
    elif slack == "squared-sum":
        box[:] = (alphas / s).max(axis=1, keepdims=True) * s
    elif slack == "squared":
        ridge = 1 / (2 * C * s)
    origin = not model.fit_intercept or model.multiclass == "crammer-singer"
    threshold = not origin and not isinstance(model, KernelAdatron)
    return Dual(alphas, box, slack, ridge, threshold, origin, of_nu)


def with_weights_checked(fitted: Fitted) -> Fitted:
    """The same, called foreign if its gap cannot be found again from the data: the weights that
    the machine was trained with were others.
    """
    model = fitted.model
    together = model.multiclass == "crammer-singer"
    if fitted.foreign or together or fitted.indefinite or not model.converged_:
        return fitted
    gaps = gaps_found_again(fitted, dual_of(fitted))
    if (np.abs(gaps) <= OTHER_WEIGHTS + 2 * np.abs(model.dual_gap_)).all():
        return fitted
    return replace(fitted, foreign=f"{FOREIGN} with these labels, or not with equal weights")


def gaps_found_again(fitted: Fitted, dual: Dual) -> np.ndarray:
    """The relative duality gap of each problem, from the coefficients and the data alone."""
    assert fitted.norms is not None
    s = class_factors_of(fitted)
    gaps = []
    for p, (y, alpha, norm) in enumerate(zip(fitted.signs, dual.alphas, fitted.norms, strict=True)):
        part = y != 0
        b = fitted.thresholds[p] if dual.threshold else 0.0
        own = fitted.scores[p] - fitted.thresholds[p] + b
        outputs, total = (y * own)[part], float(alpha.sum())
        if dual.slack == "none":
            least = float(outputs.min())
            primal = norm**2 / (2 * least**2) if least > 0 else np.inf
            value = total**2 / (2 * norm**2) if norm > 0 else np.inf
        else:
            xi, weights = np.maximum(0.0, 1 - outputs), s[part]
            price = float((alpha / s).max()) if dual.of_nu else float(fitted.model.C)
            loss = {
                "linear": float(weights @ xi),
                "squared": float(weights @ xi**2),
                "squared-sum": float(weights @ xi) ** 2,
            }[dual.slack]
            primal = norm**2 / 2 + price * loss
            value = total - norm**2 / 2 - float(dual.ridge @ alpha**2) / 2
            if dual.slack == "squared-sum":
                value -= float((alpha / s).max()) ** 2 / (4 * price)
        scale = max(abs(primal), abs(value), np.finfo(float).tiny)
        gaps.append((primal - value) / scale if np.isfinite(primal) else np.inf)
    return np.array(gaps)


def svm_statements(fitted: Fitted, leave_one_out: bool | str) -> list[Statement]:
    if fitted.foreign:
        rest = [theorem.fails(fitted.foreign) for theorem in LEFT_OUT]
        return [
            gap_statement(fitted.model, _indefinite(fitted)),
            OPTIMAL.fails(fitted.foreign),
            *rest,
            true_statement(fitted, leave_one_out),
        ]
    dual = dual_of(fitted)
    support = _support(fitted, dual)
    # that the others can be left out is a theorem only if all that it assumes is known to hold
    known = support.applies and not dual.of_nu and all(a.holds for a in support.assumptions)
    return [
        gap_statement(fitted.model, _indefinite(fitted)),
        _optimal(fitted, dual),
        support,
        _expected(fitted, dual),
        _jaakkola(fitted, dual),
        _xi_alpha(fitted, dual),
        _radius(fitted, dual),
        true_statement(fitted, leave_one_out, fitted.coefs_used() if known else None),
    ]


def _indefinite(fitted: Fitted) -> str:
    """Empty if the kernel is positive definite on the training examples, or why that is not
    known.
    """
    if fitted.foreign and not fitted.kernel.psd:
        return f"{fitted.kernel} is not known to be positive definite on the training examples"
    return fitted.indefinite


def _solved(fitted: Fitted) -> list[Condition]:
    return [
        Condition("these are the training data", True),
        is_optimal(fitted.model),
        Condition("the kernel is positive definite on the examples", not fitted.indefinite,
                  fitted.indefinite),
    ]  # fmt: skip


def _optimal(fitted: Fitted, dual: Dual) -> Statement:
    conditions = [
        Condition("a hard margin", dual.slack == "none", "the margin is soft"),
        *_solved(fitted),
    ]
    refuted = OPTIMAL.refuted_by(conditions)
    if refuted:
        return refuted
    W = np.asarray(fitted.model.objective_, float)
    assert fitted.norms is not None
    sentence = (
        f"The dual objective W = {W.max():.6g} shows that no hyperplane separates the classes with "
        f"a distance between them above rho = sqrt(2/W) = {np.sqrt(2 / W.max()):.6g}; the one "
        f"found has 2/|w| = {2 / fitted.norms.max():.6g}."
    )
    return OPTIMAL.says(W.max(), sentence, conditions, W)


def _left_out(fitted: Fitted, dual: Dual) -> list[Condition]:
    """What all leave-one-out bounds assume."""
    from largemargin.svm import KernelAdatron

    halfway = isinstance(fitted.model, KernelAdatron) and bool(fitted.model.fit_intercept)
    free = (dual.alphas > 0) & (dual.alphas < dual.box * (1 - EDGE))
    unique = not dual.threshold or bool(free.any(axis=1).all())
    return [
        *_solved(fitted),
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


def _what(dual: Dual) -> str:
    return ", of the machine with linear slack that has this solution" * dual.of_nu


def _support(fitted: Fitted, dual: Dual) -> Statement:
    conditions = _left_out(fitted, dual)
    refuted = SUPPORT.refuted_by(conditions)
    if refuted:
        return refuted
    share = support_vector_bound(dual.alphas)
    sentence = (
        f"The leave-one-out error{_what(dual)} is at most {at_most(share)}: only the "
        f"{round(share * len(fitted))} support vectors of {len(fitted)} examples can be wrong "
        "when left out."
    )
    return SUPPORT.says(share, sentence, conditions, _shares(fitted, dual.alphas > 0))


def _shares(fitted: Fitted, flags: np.ndarray) -> list[float]:
    """Of the examples of each problem; a machine of all classes is one problem."""
    if fitted.joint:
        return []
    return [float(f[y != 0].mean()) for f, y in zip(flags, fitted.signs, strict=True)]


def _expected(fitted: Fitted, dual: Dual) -> Statement:
    conditions = [
        Condition(
            "the machine was chosen without the data", not dual.of_nu,
            "nu is a share of the examples, so the machine differs with their number",
        ),
        *_left_out(fitted, dual),
        INDEPENDENT,
    ]  # fmt: skip
    refuted = EXPECTED.refuted_by(conditions)
    if refuted:
        return refuted
    share = support_vector_bound(dual.alphas)
    sentence = (
        "The expected error after training on one example less is at most the expected share of "
        f"support vectors; here that is {at_most(share)}."
    )
    return EXPECTED.says(share, sentence, conditions, _shares(fitted, dual.alphas > 0))


def _two_sides(fitted: Fitted, dual: Dual) -> list[Condition]:
    together = fitted.model.multiclass == "crammer-singer"
    return [
        Condition("a reduction to problems of two sides", not together,
                  "the vectors of all classes were trained together"),
        Condition("slack counted singly", dual.slack != "squared-sum",
                  "the price is that of the square of the sum of the slacks"),
        *_left_out(fitted, dual),
    ]  # fmt: skip


def _jaakkola(fitted: Fitted, dual: Dual) -> Statement:
    conditions = [
        Condition("no threshold", dual.origin, "it is a bound only without a threshold"),
        *_two_sides(fitted, dual),
    ]
    refuted = JAAKKOLA.refuted_by(conditions)
    if refuted:
        return refuted
    assert fitted.squares is not None
    outputs = fitted.signs * fitted.scores
    flags = suspects(outputs, dual.alphas, fitted.squares, False, None, 0.0) & (fitted.signs != 0)
    return _flagged(JAAKKOLA, fitted, dual, flags, conditions)


def _xi_alpha(fitted: Fitted, dual: Dual) -> Statement:
    plain = getattr(fitted.model, "class_weight", None) is None
    # every support vector of a machine without bounds is free; of one with bounds, leaving out an
    # example can leave none free, and then the error can exceed the bound
    conditions = [
        Condition(
            "a threshold", not dual.origin, "without a threshold Jaakkola-Haussler is the sharper"
        ),
        Condition("equal weights", plain, "it is proved for examples of equal weight"),
        *_two_sides(fitted, dual),
        Condition(UNIQUE_WITHOUT, None if dual.slack == "linear" else True),
    ]
    refuted = XI_ALPHA.refuted_by(conditions)
    if refuted:
        return refuted
    assert fitted.squares is not None
    least = least_kernel_value(fitted, LARGEST_EIGENPROBLEM)
    outputs, ridge = fitted.signs * fitted.scores, float(dual.ridge.max())
    flags = suspects(outputs, dual.alphas, fitted.squares, True, least, ridge)
    return _flagged(XI_ALPHA, fitted, dual, flags & (fitted.signs != 0), conditions)


def _flagged(
    theorem: Theorem, fitted: Fitted, dual: Dual, flags: np.ndarray, conditions: list[Condition]
) -> Statement:
    share = float(flags.any(axis=0).mean())
    open_question = any(c.text == UNIQUE_WITHOUT and c.holds is None for c in conditions)
    sentence = (
        f"The leave-one-out error{_what(dual)} is at most {at_most(share)}: only "
        f"{int(flags.any(axis=0).sum())} of {len(fitted)} examples can be wrong when left out"
        f"{', if ' + UNIQUE_WITHOUT if open_question else ''}."
    )
    return theorem.says(share, sentence, conditions, _shares(fitted, flags))


def _radius(fitted: Fitted, dual: Dual) -> Statement:
    conditions = [
        Condition("a hard margin", dual.slack == "none", "the margin is soft"),
        Condition("no threshold", dual.origin,
                  "this form of it is for hyperplanes through the origin"),
        *_left_out(fitted, dual),
    ]  # fmt: skip
    refuted = RADIUS.refuted_by(conditions)
    if refuted:
        return refuted
    assert fitted.norms is not None
    each = [
        (fitted.radius * norm) ** 2 / int((y != 0).sum())
        for norm, y in zip(fitted.norms, fitted.signs, strict=True)
    ]
    total = sum((fitted.radius * norm) ** 2 for norm in fitted.norms) / len(fitted)
    sentence = (
        f"The leave-one-out error is at most R^2 |w|^2 / m = {at_most(total)}, R = "
        f"{fitted.radius:.4g} being the largest norm and 1/|w| the margin."
    )
    return RADIUS.says(total, sentence, conditions, each)
