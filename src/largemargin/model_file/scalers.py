"""What scikit-learn's scalers learn, for the model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.kernels.engine import LARGEST_NUMBER

_LEARNED = {
    "StandardScaler": ("mean_", "var_", "scale_"),
    "MinMaxScaler": ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    "MaxAbsScaler": ("scale_", "max_abs_"),
}


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a fitted scaler holds; a StandardScaler may have been told not to learn some of it."""
    names = _LEARNED[type(model).__name__]
    found = {name: getattr(model, name) for name in names}
    seen = np.asarray(model.n_samples_seen_)
    if seen.ndim:
        raise ValueError(
            "a scaler that was fitted on missing values cannot be saved: fill them in and fit again"
        )
    arrays = {name: np.asarray(value) for name, value in found.items() if value is not None}
    return {"n_samples_seen": int(seen)}, arrays


def unpack(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Give a scaler what `pack` took from another, checked."""
    names = _LEARNED[type(model).__name__]
    seen = facts.get("n_samples_seen")
    if set(facts) != {"n_samples_seen"} or type(seen) is not int or seen < 0:
        raise ValueError("a scaler does not say how many rows it has seen")
    optional = names if type(model).__name__ == "StandardScaler" else ()
    if set(arrays) - set(names) or set(names) - set(arrays) - set(optional):
        raise ValueError(f"a scaler needs the arrays {', '.join(names)}")
    for name, values in arrays.items():
        if values.shape != (model.n_features_in_,) or values.dtype.kind != "f":
            raise ValueError(f"{name} of a scaler is not one number per feature")
        if not np.isfinite(values).all():
            raise ValueError(f"{name} of a scaler is not finite")
    if not (arrays.get("scale_", np.ones(1)) > 0).all():
        raise ValueError("scale_ of a scaler is not positive")
    _check_settings(model, set(arrays))
    for name in names:
        setattr(model, name, arrays.get(name))
    model.n_samples_seen_ = np.int64(seen) if optional else seen  # each as its own class leaves it


def width(model: Any) -> int:
    """A scaler makes as many columns as it is given."""
    return int(model.n_features_in_)


def _check_settings(model: Any, learned: set[str]) -> None:
    """Refuse parameters that ask for what was not learned."""
    for name in ("with_mean", "with_std", "clip", "copy"):
        if type(getattr(model, name, True)) is not bool:
            raise ValueError(f"{name} of a scaler is neither true nor false")
    for asked, needed in (("with_mean", {"mean_"}), ("with_std", {"var_", "scale_"})):
        if getattr(model, asked, False) and not needed <= learned:
            raise ValueError(f"a scaler has {asked} and no {', '.join(sorted(needed - learned))}")
    low, high = getattr(model, "feature_range", (0, 1))
    plain = all(type(end) in (int, float) for end in (low, high))
    if not plain or not -LARGEST_NUMBER < low < high < LARGEST_NUMBER:
        raise ValueError("feature_range of a scaler is not a range")
