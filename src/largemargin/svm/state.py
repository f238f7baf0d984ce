"""What a fitted support vector machine holds, for the model file: an expansion and what is known
of each problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.machines import CLASSIFIER, card_of
from largemargin.model_file.arrays import pack_expansion, unpack_expansion


def _words_and_reports(model: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is kept beside the expansion; the margin is that of two classes."""
    if card_of(model).kind == CLASSIFIER:
        return ("separable", "by_pairs"), ("objective", "dual_gap", "margin", "n_iter")
    return ("separable",), ("objective", "dual_gap", "n_iter")


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a fitted model."""
    return pack_expansion(model, *_words_and_reports(model))


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Give an estimator the fitted state that `pack` took from another."""
    words, reports = _words_and_reports(model)
    unpack_expansion(model, facts, arrays, words, reports)
    if "margin" in reports and not (model.margin_ > 0).all():
        raise ValueError("margin is not positive")
