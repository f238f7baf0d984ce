"""What a fitted support vector machine holds, for the model file: an expansion and what is known
of each problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.machines import CLASSIFIER, card_of
from largemargin.model_file.arrays import pack_expansion, unpack_expansion


def _flags_and_reports(model: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is true or false of a fit, and what is known of each problem; the margin is that of two
    classes. `pack_expansion` adds the rest: kernel and basis, coefficients, thresholds, the number
    of problems and of examples, the largest gap, whether the fit converged.
    """
    if card_of(model).kind == CLASSIFIER:
        return ("separable", "by_pairs"), ("objective", "dual_gap", "margin", "n_iter")
    return ("separable",), ("objective", "dual_gap", "n_iter")


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a fitted model."""
    return pack_expansion(model, *_flags_and_reports(model))


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Give an estimator the fitted state that `pack` took from another."""
    flags, reports = _flags_and_reports(model)
    unpack_expansion(model, facts, arrays, flags, reports)
    if "margin" in reports and not (model.margin_ > 0).all():
        raise ValueError("margin is not positive")
