"""Labels of any type, as integers where they all are whole numbers and as strings otherwise.

A reader hands over raw labels, either text as it stood in the file or an array. Whether a set of
labels is "int" or "str" depends on all of them, so a stream settles it before its first chunk.
"""

from __future__ import annotations

import re
from os import PathLike
from typing import Literal

import numpy as np

from largemargin.data.errors import broken

LabelKind = Literal["int", "str"]
RawLabels = list[str] | np.ndarray

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# Above this a float no longer tells neighbouring integers apart.
_EXACT = 2.0**53
_LARGEST = np.iinfo(np.int64).max


def label_kind(raw: RawLabels) -> LabelKind:
    """ "int" if every label is a whole number, else "str".

    Examples
    --------
    >>> label_kind(["+1", "-1", "3.0"])
    'int'
    >>> label_kind(["1", "cat"])
    'str'
    """
    if isinstance(raw, list):
        return "int" if all(_whole(text) is not None for text in set(raw)) else "str"
    if raw.dtype.kind == "u" and raw.size and raw.max() > _LARGEST:
        return "str"
    if raw.dtype.kind in "iu":
        return "int"
    if raw.dtype.kind == "f" and np.all((np.trunc(raw) == raw) & (np.abs(raw) < _EXACT)):
        return "int"
    return "str"


def as_labels(
    raw: RawLabels, kind: LabelKind | None = None, path: str | PathLike[str] = ""
) -> np.ndarray:
    """Raw labels as an array of int64 or of strings.

    Examples
    --------
    >>> as_labels(["+1", "-1"])
    array([ 1, -1])
    >>> as_labels(["+1", "-1"], "str")
    array(['+1', '-1'], dtype='<U2')
    """
    kind = kind or label_kind(raw)
    if kind == "int" and isinstance(raw, np.ndarray) and raw.dtype.kind in "SU":
        raw = _as_text(raw).tolist()
    if kind == "int" and label_kind(raw) == "str":
        seen = next(str(value) for value in raw if label_kind([str(value)]) == "str")
        raise broken(
            path, f"expected integer labels, saw {seen!r}; pass labels='str' to keep them as text"
        )
    if isinstance(raw, np.ndarray):
        return raw.astype(np.int64) if kind == "int" else _as_text(raw)
    if kind == "str":
        return np.array(raw, dtype=np.str_)
    values = {text: _whole(text) for text in set(raw)}
    return np.array([values[text] for text in raw], dtype=np.int64)


def missing_label(raw: RawLabels) -> int | None:
    """The position of the first label that is missing, or None.

    Examples
    --------
    >>> missing_label(["a", "", "b"])
    1
    """
    if isinstance(raw, list):
        absent = {text for text in set(raw) if text.lower() in ("", "nan")}
        return next((i for i, text in enumerate(raw) if text in absent), None) if absent else None
    if raw.dtype.kind != "f":
        return None
    bad = np.flatnonzero(~np.isfinite(raw))
    return int(bad[0]) if bad.size else None


def join_labels(parts: list[RawLabels]) -> RawLabels:
    """The raw labels of consecutive blocks, as one."""
    if all(isinstance(part, list) for part in parts):
        return [text for part in parts for text in part]
    return np.concatenate(parts)


def _whole(text: str) -> int | None:
    if _INTEGER.fullmatch(text):
        value = int(text)
        return value if abs(value) <= _LARGEST else None
    if _DECIMAL.fullmatch(text):
        number = float(text)
        return int(number) if number.is_integer() and abs(number) < _EXACT else None
    return None


def _as_text(raw: np.ndarray) -> np.ndarray:
    if raw.dtype.kind == "S":
        return np.char.decode(raw, "utf-8")
    return raw.astype(np.str_)
