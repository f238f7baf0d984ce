"""What a TablePreprocessor learns, for the model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.model_file.refitting import width_of
from largemargin.runtime.showing import printable
from largemargin.tables.parsing import COMMA, DATE_FORMS, POINT
from largemargin.tables.plans import CATEGORY, DATE, DROPPED, KINDS, NUMBER, REASONS, Plan

_FORMS = {NUMBER: ("", POINT, COMMA), DATE: ("", *DATE_FORMS)}
_FACTS = {"named", "sparse", "kinds", "forms", "reasons", "decisions"}


def parts(model: Any) -> list[Any]:
    """What imputes and scales numbers, and what encodes text, if there are any."""
    return [part for part in (model.numeric_, model.categorical_) if part is not None]


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What becomes of each column, and the decisions in sentences."""
    facts = {
        "named": model._named,
        "sparse": model.sparse_,
        "kinds": [plan.kind for plan in model.plans_],
        "forms": [plan.form for plan in model.plans_],
        "reasons": [plan.why for plan in model.plans_],
        "decisions": list(model.decisions_),
    }
    return facts, {}


def unpack(
    model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray], parts: list[Any]
) -> None:
    """Make a TablePreprocessor again of its parts."""
    if set(facts) != _FACTS or arrays:
        raise ValueError(f"a TablePreprocessor needs the facts {', '.join(sorted(_FACTS))}")
    if type(facts["named"]) is not bool or type(facts["sparse"]) is not bool:
        raise ValueError("named and sparse of a TablePreprocessor are neither true nor false")
    decisions = facts["decisions"]
    if not isinstance(decisions, list) or not all(type(line) is str for line in decisions):
        raise ValueError("the decisions of a TablePreprocessor are not sentences")
    model._check_parameters()
    model.plans_ = _plans(model, facts)
    kinds = [plan.kind for plan in model.plans_]
    n_texts = kinds.count(CATEGORY)
    n_numbers = len(kinds) - n_texts - kinds.count(DROPPED)
    needed = {"ColumnTransformer": n_numbers, "Pipeline": n_texts}
    needed = {name: count for name, count in needed.items() if count}
    found = {type(part).__name__: part.n_features_in_ for part in parts}
    if len(parts) != len(needed) or list(found.items()) != list(needed.items()):
        raise ValueError("the parts of a TablePreprocessor do not fit its columns")
    model.numeric_ = parts[0] if n_numbers else None
    model.categorical_ = parts[-1] if n_texts else None
    if not parts or (n_texts and type(model.categorical_[-1]).__name__ != "OneHotEncoder"):
        raise ValueError("a TablePreprocessor has no parts that make numbers")
    model._named, model.sparse_ = facts["named"], facts["sparse"]
    model.decisions_ = [printable(line) for line in decisions]


def width(model: Any) -> int:
    return sum(width_of(part) for part in parts(model))


def _plans(model: Any, facts: dict[str, Any]) -> list[Plan]:
    names = getattr(model, "feature_names_in_", np.empty(0)).tolist()
    lists = [facts[key] for key in ("kinds", "forms", "reasons")]
    if not all(isinstance(part, list) and len(part) == len(names) for part in lists):
        raise ValueError("a TablePreprocessor has not one plan a column")
    if len(set(names)) < len(names) or not names:
        raise ValueError("the columns of a TablePreprocessor have no names of their own")
    plans = [Plan(*four) for four in zip(names, *lists, strict=True)]
    for plan in plans:
        forms = _FORMS.get(plan.kind, ("",)) if plan.kind in KINDS else ()
        reasons = REASONS if plan.kind == DROPPED else ("",)
        if plan.form not in forms or plan.why not in reasons:
            raise ValueError("the plan of a column is not one")
    return plans
