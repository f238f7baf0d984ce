"""What a fitted support vector machine holds, for the model file: an expansion and what is known
of each problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.model_file.arrays import pack_expansion, unpack_expansion

_WORDS = ("separable", "by_pairs")
_REPORTS = ("objective", "dual_gap", "margin", "n_iter")


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a fitted model."""
    return pack_expansion(model, _WORDS, _REPORTS)


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Give an estimator the fitted state that `pack` took from another."""
    unpack_expansion(model, facts, arrays, _WORDS, _REPORTS)
    if not (model.margin_ > 0).all():
        raise ValueError("margin is not positive")
