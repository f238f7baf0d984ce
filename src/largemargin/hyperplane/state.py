"""What a fitted hyperplane holds, for the model file: w and b of each problem, and what is known
of the solution.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.model_file.arrays import (
    check_array,
    check_moderate,
    check_problems,
    pack_coefs,
    unpack_coefs,
    unpack_reports,
)

_FACTS = {"n_problems", "largest_gap", "converged", "separable"}
_REPORTS = ("objective", "dual_gap", "margin", "n_iter")


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a fitted model."""
    facts = {
        "n_problems": len(model.coef_),
        "largest_gap": float(model.dual_gap_.max()),
        "converged": bool(model.converged_),
        "separable": bool(model._separable),
    }
    arrays = {name: getattr(model, f"{name}_") for name in _REPORTS}
    return facts, {**pack_coefs(model.coef_), "intercepts": model.intercept_, **arrays}


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Give an estimator the fitted state that `pack` took from another."""
    if set(facts) != _FACTS:
        raise ValueError(f"MaxMarginHyperplane needs the facts {', '.join(sorted(_FACTS))}")
    check_problems(facts, ("separable",), len(model.classes_))
    n_problems = facts["n_problems"]
    arrays = dict(arrays)
    coefs = unpack_coefs(arrays, n_problems, model.n_features_in_)
    intercepts = arrays.pop("intercepts")
    check_array(intercepts, "intercepts", np.float64, (n_problems,))
    check_moderate(intercepts, "intercepts")
    known = unpack_reports(arrays, _REPORTS, n_problems)
    if arrays:
        raise ValueError(f"there is an array {sorted(arrays)[0][:60]!r}, which no model has")
    if len(known["objective"]) != n_problems or known["dual_gap"].max() != facts["largest_gap"]:
        raise ValueError("what is known of the problems is not of all of them")
    model.coef_, model.intercept_ = coefs, intercepts
    model.converged_, model._separable = facts["converged"], facts["separable"]
    for name, values in known.items():
        setattr(model, f"{name}_", values)
