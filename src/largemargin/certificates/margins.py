"""Margins: how far on its side each example is, and the share that is not far enough.

    functional   y f(x)              geometric   y f(x) / |w|, a distance in the feature space
    margin error at rho              R_rho = (1/m) #{i : margin of i < rho}         (1.30)

(Advances in Large Margin Classifiers, definition 1.1.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from largemargin.certificates.certificate import Statement, Theorem
from largemargin.certificates.fitted import Fitted, lead

# |w| that counts as zero, relative to what the terms of its sum could make: its square is rounding.
ZERO_NORM = 1e-7
SOURCE = "Advances in Large Margin Classifiers, definition 1.1"
ERROR = Theorem("error", "the share of wrong answers", "measured")
SMALLEST = Theorem("smallest margin", SOURCE, "measured")
GEOMETRIC = Theorem("smallest geometric margin", SOURCE, "measured")
MEDIAN = Theorem("median geometric margin", SOURCE, "measured")


@dataclass(frozen=True)
class Margins:
    """The margins of a model on data, of each problem of two classes.

    Attributes
    ----------
    functional : list of arrays
        y f(x) of the examples of each problem; where the classes are not told apart by problems of
        two, one array: the score of the true class less the largest other.
    geometric : list of arrays or None
        y f(x) / |w|; None where there is no |w|, for the `reason` given.
    radius : float
        The largest norm of an example in the feature space; nan if there is none.
    reason : str
    """

    functional: list[np.ndarray]
    geometric: list[np.ndarray] | None
    radius: float
    reason: str = ""

    def error(self, rho: float) -> float:
        """The largest share, over problems, of examples with a geometric margin below rho."""
        if self.geometric is None:
            raise ValueError(f"there are no geometric margins: {self.reason}")
        return max(margin_error(one, rho) for one in self.geometric)


def margin_error(margins: np.ndarray, rho: float) -> float:
    """The share of margins below rho, (1.30).

    >>> margin_error(np.array([-1.0, 0.5, 2.0, 3.0]), 2.0)
    0.5
    """
    values = np.asarray(margins)
    return float(np.mean(values < rho)) if len(values) else 0.0


def margins_of(fitted: Fitted) -> Margins:
    """The margins of a model that is linear in some feature space."""
    reason = no_geometry(fitted)
    norms = fitted.norms if not reason else None
    geometric = None
    if norms is not None:
        geometric = [f / norm for f, norm in zip(fitted.functional, norms, strict=True)]
    return Margins(fitted.functional, geometric, fitted.radius, reason)


def score_margins(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """y f(x), or the lead of the true class, from what `decision_function` gives."""
    if scores.ndim == 1:
        return np.where(labels == 1, scores, -scores)
    return lead(scores.T, labels)


def no_geometry(fitted: Fitted) -> str:
    """Empty, or why there are no distances to a hyperplane."""
    if fitted.one_vector:
        return fitted.one_vector
    if fitted.joint:
        return "several classes have a vector each, and no hyperplane of two sides"
    if fitted.indefinite:
        return fitted.indefinite
    if fitted.norms is None:
        return "the kernel matrix of the training data is not at hand"
    sizes = np.abs(fitted.coefs).sum(axis=1) * fitted.radius
    if not (fitted.norms > ZERO_NORM * sizes).all():
        return "w = 0, to rounding: there is no hyperplane"
    return ""


def margin_statements(fitted: Fitted, rhos: Iterable[float]) -> list[Statement]:
    """What is measured of every classifier that is a function in a feature space."""
    found = margins_of(fitted)
    return [error_statement(fitted.wrong), *_functional(found), *_geometric(found, rhos)]


def error_statement(wrong: np.ndarray) -> Statement:
    """The share of wrong answers."""
    sentence = f"{int(wrong.sum()):,} of these {len(wrong):,} examples are misclassified."
    return ERROR.says(float(wrong.mean()), sentence)


def _functional(found: Margins) -> list[Statement]:
    smallest = [least(one) for one in found.functional]
    where = " in some problem" if len(smallest) > 1 else ""
    sentence = (
        "The smallest margin y f(x) of an example; it is negative if the example is "
        f"misclassified{where}."
    )
    return [SMALLEST.says(np.nanmin(smallest), sentence, by_problem=smallest)]


def least(margins: np.ndarray) -> float:
    """The smallest margin, or nan where none of the rows is of the problem's two classes."""
    return float(margins.min()) if len(margins) else np.nan


def _geometric(found: Margins, rhos: Iterable[float]) -> list[Statement]:
    at_rho = [Theorem(f"margin error at {rho:g}", f"{SOURCE}, (1.30)", "measured") for rho in rhos]
    if found.geometric is None:
        return [theorem.fails(found.reason) for theorem in (GEOMETRIC, MEDIAN, *at_rho)]
    smallest = [least(one) for one in found.geometric]
    medians = [float(np.median(one)) if len(one) else np.nan for one in found.geometric]
    nearest, R = np.nanmin(smallest), found.radius
    statements = [
        GEOMETRIC.says(
            nearest,
            "The example that is nearest to the hyperplane, or farthest on the wrong side of it, "
            f"has the distance y f(x)/|w| = {nearest:.4g}; the largest norm of an example is R = "
            f"{R:.4g}.",
            by_problem=smallest,
        ),
        MEDIAN.says(
            np.nanmin(medians),
            "Half of the examples are at least this far on their side of the hyperplane"
            f"{', in the problem where that is least' if len(medians) > 1 else ''}.",
            by_problem=medians,
        ),
    ]
    several = "; the largest of a problem" if len(medians) > 1 else ""
    for theorem, rho in zip(at_rho, rhos, strict=True):
        shares = [margin_error(one, rho * R) for one in found.geometric]
        sentence = (
            f"The share of examples whose distance to the hyperplane, y f(x)/|w|, is below {rho:g} "
            f"of the largest norm R = {R:.4g}{several}."
        )
        statements.append(theorem.says(max(shares), sentence, by_problem=shares))
    return statements
