"""Class labels of any type as JSON and back, with the type they had."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from largemargin.runtime.showing import shown

_NUMBERS = re.compile(r"[<>|]([iu][1248]|f[248]|b1)")
_TEXT = re.compile(r"[<>]U([0-9]{1,9})")
_OBJECTS = "object"
_STRINGS = "string"  # numpy's own type for text of any length
_LARGEST = 1 << 28  # the most bytes of text labels: a short text may claim to be a very long one


def encode_labels(classes: np.ndarray) -> dict[str, Any]:
    """The labels as a list and the name of their type."""
    kind = classes.dtype.kind
    if kind == "O":
        strange = next((c for c in classes.tolist() if not isinstance(c, str)), None)
        if strange is not None:
            raise ValueError(
                f"the labels are Python objects such as {shown(strange)}, a "
                f"{type(strange).__name__}, which cannot be saved: use labels that are all numbers "
                "or all text"
            )
        return {"type": _OBJECTS, "values": [str(c) for c in classes]}
    if kind == "T" and classes.dtype == np.dtypes.StringDType():
        return {"type": _STRINGS, "values": [str(c) for c in classes]}
    name = classes.dtype.str
    if kind == "U" and classes.nbytes <= _LARGEST:
        return {"type": name, "values": classes.tolist()}
    if not _NUMBERS.fullmatch(name) or not np.isfinite(classes).all():
        raise ValueError(
            f"labels of type {classes.dtype} cannot be saved: use integers, floats, bools or text"
        )
    # float16 and float32 are exact as Python floats, whose decimal form is exact too
    return {"type": name, "values": classes.tolist()}


def decode_labels(state: Any, least: int = 2) -> np.ndarray:
    """What `encode_labels` was given, checked: at least so many labels of one type, ascending."""
    if not isinstance(state, dict) or set(state) != {"type", "values"}:
        raise ValueError("there are no labels")
    name, values = state["type"], state["values"]
    if not isinstance(values, list) or not isinstance(name, str) or len(values) < least:
        raise ValueError("there are too few labels")
    if isinstance(values[0], str):
        classes = _decode_text(name, values)
    else:
        classes = _decode_numbers(name, values)
    ascending = classes[1:] > classes[:-1]
    if classes.shape != (len(values),) or not ascending.all() or classes.tolist() != values:
        raise ValueError("the labels are not in ascending order or not of their type")
    return classes


def _decode_text(name: str, values: list[Any]) -> np.ndarray:
    if not all(type(value) is str for value in values):
        raise ValueError("some labels are text and some are not")
    if name == _OBJECTS:
        return np.array(values, object)
    if name == _STRINGS:
        return np.array(values, np.dtypes.StringDType())
    size = _TEXT.fullmatch(name)
    if not size or not 4 * int(size[1]) * len(values) <= _LARGEST:
        raise ValueError(f"the labels are text but their type is {name[:40]!r}")
    return np.array(values, np.dtype(name))


def _decode_numbers(name: str, values: list[Any]) -> np.ndarray:
    if not _NUMBERS.fullmatch(name):
        raise ValueError(f"labels cannot be of type {name[:40]!r}")
    dtype = np.dtype(name)
    wanted = {"i": int, "u": int, "f": float, "b": bool}[dtype.kind]
    if not all(type(value) is wanted for value in values):
        raise ValueError(f"some labels are not of type {name}")
    return np.array(values, dtype)
