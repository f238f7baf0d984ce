"""How far a fit is from the best that its program allows."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.certificates.certificate import Statement, at_most
from largemargin.certificates.theorem import Condition, Theorem
from largemargin.machines import card_of

GAP = Theorem("duality gap", "weak duality", "always")
EXACT = 1e-6  # a relative gap that is rounding


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
        f"No machine's objective is better than this fit's by more than {at_most(largest)} "
        f"{'times w.w' if _is_of_nu(model) else 'of it'}, as its dual objective shows."
    )
    return GAP.says(largest, sentence, by_problem=gaps)


def _is_of_nu(model: Any) -> bool:
    """Whether objectives are about zero, so that their difference is relative to w.w."""
    return card_of(model).name == "NuSVC" and model.nu > 0


def _why_unknown(model: Any) -> str:
    if np.isinf(getattr(model, "C", np.inf)):
        return "the training data were not separated, so there is no primal objective"
    return "with numbers of this size rounding leaves nothing of the objectives: scale the data"


def is_optimal(model: Any) -> Condition:
    """Whether a fit is what its program asks for; None if that is so to the solver's tolerance, or
    to rounding, only: a small coefficient may have been left out.
    """
    gap = max(float(np.max(model.dual_gap_)), 0.0)
    exact = True if gap <= EXACT else None
    return Condition(
        f"the fit is optimal (its duality gap is at most {at_most(gap, 2)})",
        exact if model.converged_ else False,
        "the solver stopped before it reached an optimum",
    )
