"""What a fitted machine of a linear program holds, for the model file: an expansion and what is
known of each problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.lp.nu_lp_svc import NuLPSVC
from largemargin.model_file.arrays import pack_expansion, unpack_expansion


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a fitted model."""
    return pack_expansion(model, (), _reports(model))


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Give an estimator the fitted state that `pack` took from another."""
    unpack_expansion(model, facts, arrays, (), _reports(model))
    if len(model.objective_) != len(model._expansion.coefs):
        raise ValueError("there is not one objective per problem")
    if not (getattr(model, "margin_", np.zeros(1)) >= 0).all():
        raise ValueError("a margin is negative")


def _reports(model: Any) -> tuple[str, ...]:
    """What is known of each problem."""
    reports = ("objective", "dual_gap", "n_iter")
    return (*reports, "margin") if isinstance(model, NuLPSVC) else reports
