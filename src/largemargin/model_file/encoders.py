"""What scikit-learn's OneHotEncoder learns, for the model file."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from largemargin.model_file.refitting import refit
from largemargin.runtime.showing import shown

_NUMBERS = re.compile(r"[<>|]([iu][1248]|f[48]|b1)")
_DROPS = (None, "first", "if_binary")


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The categories of each column, and the positions of those that are pooled."""
    if not isinstance(model.drop, str | None):
        raise ValueError("drop of OneHotEncoder cannot be saved as an array: use 'first'")
    if callable(model.feature_name_combiner):
        raise ValueError(
            "feature_name_combiner of OneHotEncoder is a function, which is code and cannot be "
            "saved: use 'concat'"
        )
    if not _is_type(model.dtype):
        raise ValueError(
            f"dtype of OneHotEncoder is {shown(model.dtype)}, which cannot be saved: use "
            "numpy.float64"
        )
    facts = {
        "types": [_type_of(categories) for categories in model.categories_],
        "categories": [categories.tolist() for categories in model.categories_],
        "pooled": [None] * len(model.categories_),
    }
    if _pools(model):
        pooled = model._infrequent_indices
        facts["pooled"] = [None if places is None else places.tolist() for places in pooled]
    return facts, {}


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Make an encoder again."""
    if set(facts) != {"types", "categories", "pooled"} or arrays:
        raise ValueError("a OneHotEncoder needs the types, categories and pooled of its columns")
    if not isinstance(model.drop, str | None) or model.drop not in _DROPS:
        raise ValueError("drop of a OneHotEncoder is of no known kind")
    if model.feature_name_combiner != "concat" or not _is_type(model.dtype):
        raise ValueError("feature_name_combiner or dtype of a OneHotEncoder is of no known kind")
    parts = [facts[key] for key in ("types", "categories", "pooled")]
    if not all(isinstance(part, list) and len(part) == model.n_features_in_ for part in parts):
        raise ValueError("a OneHotEncoder does not have one list of categories per column")
    categories = [_categories(*both) for both in zip(*parts[:2], strict=True)]
    first = np.empty((1, len(categories)), object)
    first[0] = [values[0] for values in categories]
    refit(model, first)
    model.categories_ = categories
    places = [_places(*both) for both in zip(parts[2], categories, strict=True)]
    if _pools(model):
        model._infrequent_indices = places
        model._default_to_infrequent_mappings = [
            None if pooled is None else _mapping(pooled, len(values))
            for pooled, values in zip(places, categories, strict=True)
        ]
    elif any(pooled is not None for pooled in places):
        raise ValueError("a OneHotEncoder pools categories that it must not pool")
    model._set_drop_idx()
    model._n_features_outs = model._compute_n_features_outs()


def width(model: Any) -> int:
    return int(sum(model._n_features_outs))


def _pools(model: Any) -> bool:
    return model.max_categories is not None or model.min_frequency is not None


def _is_type(dtype: Any) -> bool:
    return isinstance(dtype, type) and issubclass(dtype, np.number)


def _type_of(categories: np.ndarray) -> str:
    if categories.dtype == object:
        strange = next((c for c in categories.tolist() if not _is_category(c)), None)
        if strange is not None:
            raise ValueError(
                f"OneHotEncoder has the category {shown(strange)}, a {type(strange).__name__}, "
                "which cannot be saved: use numbers or text"
            )
        return "object"
    if categories.dtype.kind == "U":
        return "text"
    if not _NUMBERS.fullmatch(categories.dtype.str):
        raise ValueError(
            f"categories of type {categories.dtype} cannot be saved: use numbers or text"
        )
    return str(categories.dtype.str)


def _is_category(value: Any) -> bool:
    return value is None or type(value) in (str, int, float, bool)


def _categories(name: Any, values: Any) -> np.ndarray:
    """The categories of one column: distinct, and numbers in ascending order, nan last."""
    if not isinstance(values, list) or not values or not all(map(_is_category, values)):
        raise ValueError("a column has no categories")
    nans = [type(value) is float and math.isnan(value) for value in values]
    if len(set(values)) < len(values) or any(nans[:-1]):
        raise ValueError("a category occurs twice")
    if name == "object":
        categories = np.empty(len(values), object)
        categories[:] = values
        return categories
    if name == "text":
        if not all(type(value) is str for value in values):
            raise ValueError("some categories are not text")
        return np.array(values)
    if not isinstance(name, str) or not _NUMBERS.fullmatch(name):
        raise ValueError("categories are of no known type")
    wanted = {"i": int, "u": int, "f": float, "b": bool}[np.dtype(name).kind]
    if not all(type(value) is wanted for value in values):
        raise ValueError("categories are not of their type")
    numbers = np.array(values, name)
    finite = numbers[: len(numbers) - nans[-1]]
    if not (finite[1:] > finite[:-1]).all():
        raise ValueError("categories that are numbers are not in ascending order")
    return numbers


def _places(places: Any, categories: np.ndarray) -> np.ndarray | None:
    if places is None:
        return None
    if not isinstance(places, list) or not places or not all(type(p) is int for p in places):
        raise ValueError("the pooled categories are not positions")
    if places[0] < 0 or places[-1] >= len(categories) or sorted(set(places)) != places:
        raise ValueError("the pooled categories are not positions in ascending order")
    return np.array(places, np.int64)


def _mapping(pooled: np.ndarray, n_categories: int) -> np.ndarray:
    """The column of each category among those of its feature; the pooled ones have the last."""
    frequent = np.setdiff1d(np.arange(n_categories), pooled)
    mapping = np.full(n_categories, len(frequent), np.int64)
    mapping[frequent] = np.arange(len(frequent))
    return mapping
