"""A calibration in the model file: numbers in JSON, exact to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.calibration.calibration import Calibration, is_by_pairs, n_sigmoids
from largemargin.model_file.arrays import check_count, check_finite

KEYS = {"slopes", "offsets", "n_rows", "n_folds", "read_with"}


def pack(calibration: Calibration) -> dict[str, Any]:
    """What JSON can say of a calibration."""
    return {
        "slopes": calibration.slopes.tolist(),
        "offsets": calibration.offsets.tolist(),
        "n_rows": calibration.n_rows,
        "n_folds": calibration.n_folds,
        "read_with": dict(calibration.read_with),
    }


def unpack(model: Any, packed: Any) -> None:
    """Give a fitted model the calibration that `pack` took from another, checked."""
    if not isinstance(packed, dict) or set(packed) != KEYS:
        raise ValueError("the calibration is malformed")
    wanted = n_sigmoids(len(model.classes_), is_by_pairs(model))
    slopes, offsets = (_numbers(packed[name], name, wanted) for name in ("slopes", "offsets"))
    for name in ("n_rows", "n_folds"):
        check_count(packed[name], f"{name} of the calibration")
    reading = packed["read_with"]
    if not isinstance(reading, dict) or set(reading) != set(model.read_with):
        raise ValueError("the calibration is of scores that this model does not have")
    model.calibration = Calibration(slopes, offsets, packed["n_rows"], packed["n_folds"], reading)


def _numbers(values: Any, name: str, wanted: int) -> np.ndarray:
    if not isinstance(values, list) or not all(type(value) is float for value in values):
        raise ValueError(f"{name} of the calibration are not numbers")
    if len(values) != wanted:
        raise ValueError(f"{name} of the calibration are not {wanted}")
    numbers = np.array(values)
    check_finite(numbers, f"{name} of the calibration")
    return numbers
