"""What scikit-learn's SimpleImputer and MissingIndicator learn, for the model file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from largemargin.model_file.arrays import check_array, check_range
from largemargin.model_file.refitting import refit, rows_with_gaps

_STRATEGIES = ("mean", "median", "most_frequent", "constant")
_TYPES = ("float64", "float32", "int64", "int32", "object")


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What an imputer or an indicator holds."""
    if not hasattr(model, "statistics_"):
        return {}, {"features_": model.features_.astype(np.int64)}
    if model.strategy not in _STRATEGIES:
        raise ValueError(
            "the strategy of SimpleImputer is a function, which is code and cannot be saved: use "
            f"one of {', '.join(_STRATEGIES)}"
        )
    dtype = model._fit_dtype.name
    if dtype not in _TYPES:
        raise ValueError(
            f"a SimpleImputer that was fitted to values of type {dtype} cannot be saved: use "
            "float64 numbers or text"
        )
    facts, arrays = {"dtype": dtype, "statistics": None}, {}
    if model.statistics_.dtype == object:
        facts["statistics"] = model.statistics_.tolist()
    else:
        arrays["statistics_"] = model.statistics_
    if model.indicator_ is not None:
        arrays["features_"] = model.indicator_.features_.astype(np.int64)
    return facts, arrays


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Make an imputer or an indicator again."""
    _check_mark(model.missing_values)
    if type(model).__name__ == "MissingIndicator":
        if facts or set(arrays) != {"features_"}:
            raise ValueError("a MissingIndicator needs the array features_ alone")
        text = model.missing_values is None or isinstance(model.missing_values, str)
        _refit_with_gaps(model, np.dtype(object if text else np.float64), arrays["features_"])
        _check_features(model, model.features_, arrays["features_"])
        return
    if model.strategy not in _STRATEGIES or set(facts) != {"dtype", "statistics"}:
        raise ValueError("a SimpleImputer needs a known strategy, its type and its statistics")
    if set(arrays) - {"statistics_", "features_"}:
        raise ValueError("a SimpleImputer has arrays that do not belong to it")
    if facts["dtype"] not in _TYPES:
        raise ValueError("a SimpleImputer cannot have such a type of values")
    dtype = np.dtype(facts["dtype"])
    if model.fill_value is not None and not _is_value(model.fill_value):
        raise ValueError("fill_value of a SimpleImputer is not a value")
    if ("features_" in arrays) != (model.add_indicator is True):
        raise ValueError("a SimpleImputer has an indicator and no features of it, or has none")
    gaps = arrays.get("features_", np.empty(0, np.int64))
    _refit_with_gaps(model, dtype, gaps)
    if model.add_indicator:
        _check_features(model, model.indicator_.features_, gaps)
    model.statistics_ = _statistics(model, facts["statistics"], arrays, dtype)


def width(model: Any) -> int:
    """The columns that an imputer leaves and adds, or that an indicator makes."""
    if not hasattr(model, "statistics_"):
        return len(model.features_)
    n_kept = sum(not _is_nan(value) for value in model.statistics_.tolist())
    n_kept = len(model.statistics_) if model.keep_empty_features else n_kept
    return n_kept + (len(model.indicator_.features_) if model.indicator_ is not None else 0)


def _refit_with_gaps(model: Any, dtype: np.dtype[Any], gaps: np.ndarray) -> None:
    check_array(gaps, "features_", np.int64, (len(gaps),))
    check_range(gaps, "features_", 0, model.n_features_in_)
    refit(model, rows_with_gaps(model, dtype, gaps))


def _check_features(model: Any, made: np.ndarray, given: np.ndarray) -> None:
    if not np.array_equal(made, given):
        raise ValueError("the features with missing values are not in order")


def _statistics(
    model: Any,
    listed: Any,
    arrays: dict[str, np.ndarray],
    dtype: np.dtype[Any],
) -> np.ndarray:
    """The values that an imputer puts in, of the type that its fit left them in."""
    n_features = model.n_features_in_
    if listed is None:
        statistics = arrays["statistics_"]
        check_array(statistics, "statistics_", model.statistics_.dtype, (n_features,))
        if np.isinf(statistics).any():
            raise ValueError("statistics_ of a SimpleImputer are not finite")
    else:
        fits = isinstance(listed, list) and len(listed) == n_features
        if not fits or "statistics_" in arrays or not all(_is_value(value) for value in listed):
            raise ValueError("the statistics of a SimpleImputer are not one value per feature")
        numbers = all(isinstance(value, int | float) for value in listed)
        if dtype.kind != "O" and not numbers:
            raise ValueError("the statistics of a SimpleImputer are not numbers")
        statistics = np.empty(n_features, object)
        statistics[:] = listed
    if statistics.dtype != model.statistics_.dtype:
        raise ValueError("the statistics of a SimpleImputer are not of the type of its strategy")
    return statistics


def _is_value(value: Any) -> bool:
    return type(value) in (str, bool, int) or (type(value) is float and not math.isinf(value))


def _check_mark(mark: Any) -> None:
    if mark is not None and not _is_value(mark):
        raise ValueError("missing_values is neither a number nor text")


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
