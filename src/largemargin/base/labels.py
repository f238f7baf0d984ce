"""Labels of any type, told apart exactly.

Two labels are one class if Python says that they are equal: 1, 1.0 and True are, "1" is another.
NumPy would make one type of them first, and of 2**53 + 1 and 2.0**53 one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from largemargin.data.errors import MAX_LABEL
from largemargin.data.labels import text_array
from largemargin.runtime.showing import listed, shown

NUMBERS = "biuf"  # kinds of arrays: truth values, integers, floats
TEXT = "UTO"  # of fixed width, of any length, of Python's own
LABELS = "biuUST"  # whose values are labels, whatever they say


def plain_labels(y: Any) -> Any:
    """What was given as labels, as an array of one type if that is plain to see; else as it was.

    >>> plain_labels([3, 1]), plain_labels(["a", "b"])
    (array([3, 1]), array(['a', 'b'], dtype='<U1'))
    >>> plain_labels(["a", 1])
    Traceback (most recent call last):
    ...
    ValueError: the labels are of several types, such as 'a' and 1: use one type of label
    """
    if type(y) is np.ndarray:
        return _settled(y)
    if isinstance(y, list | tuple) and not any(
        isinstance(label, list | tuple | np.ndarray) for label in y
    ):
        return _from_values(y)
    found = np.asarray(y)
    return _settled(found) if found.ndim == 1 and found.dtype.kind not in "f" else y


def find_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The labels that occur, ascending, and for each row the number of its label."""
    if y.dtype.kind == "i" and y.ndim == 1 and len(y) and y.min() >= 0 and y.max() < len(y):
        occurs = np.bincount(y) > 0  # counting is faster than sorting
        return np.flatnonzero(occurs).astype(y.dtype), (np.cumsum(occurs) - 1)[y]
    return np.unique(y, return_inverse=True)


def as_common_labels(y: Any) -> Any:
    """Labels of a type that other libraries know too: not bytes, nor NumPy's text of any length."""
    kind = y.dtype.kind if isinstance(y, np.ndarray) else ""
    if kind == "S":
        return np.strings.decode(y, "latin-1")
    return y.astype(object) if kind == "T" else y


def numbers_in(classes: np.ndarray, y: Any) -> np.ndarray:
    """For each label its number among the classes, -1 if it is none of them.

    >>> numbers_in(np.array([2**53, 2**53 + 1]), np.array([2.0**53, 3.0]))
    array([ 0, -1])
    """
    if not isinstance(y, np.ndarray):
        y = np.asarray(plain_labels(y))
    if y.dtype.kind == classes.dtype.kind != "O":
        numbers = np.searchsorted(classes, y).clip(max=len(classes) - 1)
        return np.where(classes[numbers] == y, numbers, -1) if len(classes) else numbers - 1
    known = {label: number for number, label in enumerate(classes.tolist())}
    if y.dtype.kind == "O":
        numbers = [_number(known, label) for label in y.ravel().tolist()]
        return np.array(numbers, np.intp).reshape(y.shape)
    seen, places = np.unique(y, return_inverse=True)
    found = np.array([known.get(label, -1) for label in seen.tolist()], np.intp)
    return found[places.reshape(y.shape)] if len(found) else np.empty(y.shape, np.intp)


def _number(known: dict[Any, int], label: Any) -> int:
    try:
        return known.get(label, -1)
    except TypeError:  # a list, say
        return -1


def united(known: np.ndarray, new: np.ndarray) -> np.ndarray:
    """All classes of two ascending arrays, in one type in which none is lost.

    >>> united(np.array([2**53 + 1]), np.array([2.0**53]))
    array([9007199254740992, 9007199254740993])
    """
    if not len(known) or not len(new):
        return known if len(known) else new
    kinds = known.dtype.kind, new.dtype.kind
    if _family(kinds[0]) != _family(kinds[1]):
        raise ValueError(
            f"y holds labels of type {new.dtype}, such as {shown(new.tolist()[0])}, in a stream "
            f"whose labels were of type {known.dtype}: use one type of label"
        )
    if kinds[0] == kinds[1] != "O":
        return np.union1d(known, new)
    labels = sorted({**dict.fromkeys(known.tolist()), **dict.fromkeys(new.tolist())})
    if _family(kinds[0]) == "text":
        dtype: Any = np.dtypes.StringDType() if "T" in kinds else object
        return np.array(labels, dtype)
    whole = "f" not in kinds  # NumPy's common type of signed and unsigned integers is none of both
    return _from_numbers(labels, np.dtype(np.int64) if whole else np.result_type(known, new))


def _family(kind: str) -> str:
    return "number" if kind in NUMBERS else "text" if kind in TEXT else kind


def _settled(y: np.ndarray) -> Any:
    """An array of labels of one type, none of them too long."""
    kind = y.dtype.kind
    if y.ndim != 1 or not len(y):
        return y
    if kind == "O":
        return _from_objects(y)
    if kind == "V":
        raise ValueError(
            f"the labels have several fields ({y.dtype}): use one of them, such as "
            f"y[{(y.dtype.names or ('a',))[0]!r}]"
        )
    if kind in "mM" and np.isnat(y).any():
        raise _missing(y[np.isnat(y)][0])
    if kind == "T":
        if hasattr(y.dtype, "na_object"):
            missing = [not isinstance(label, str) for label in y.tolist()]
            if any(missing):
                raise _missing(y.tolist()[missing.index(True)])
        if y.dtype != np.dtypes.StringDType():
            y = y.astype(np.dtypes.StringDType())
    if kind == "T" or (y.dtype.itemsize > MAX_LABEL and kind in "US"):
        lengths = np.strings.str_len(y)
        if lengths.max() > MAX_LABEL:
            raise _too_long(y[int(lengths.argmax())])
    return y


def _from_objects(y: np.ndarray) -> Any:
    values = y.tolist()
    if all(issubclass(kind, str) for kind in set(map(type, values))):
        _check_lengths(values)
        return y
    return _from_values(values, strict=True)


def _from_values(values: Sequence[Any], strict: bool = False) -> Any:
    """Python's own values as an array of one type; what is no label is left to others, or is
    refused if `strict`."""
    kinds = set(map(type, values))
    if not kinds:
        return values
    text = [kind for kind in kinds if issubclass(kind, str)]
    if len(text) == len(kinds):
        _check_lengths(values)
        return text_array(values)
    if all(issubclass(kind, bytes) for kind in kinds):
        _check_lengths(values)
        if any(label.endswith(b"\0") for label in values):
            raise ValueError("a label of bytes ends with a zero byte, which NumPy drops: use text")
        return np.array(values)
    numeric = (Integral, np.bool_, float, np.floating)
    numbers = [kind for kind in kinds if issubclass(kind, numeric)]
    if len(numbers) == len(kinds):
        whole = all(issubclass(kind, Integral | np.bool_) for kind in kinds)
        if not _has_large(values):
            return np.array(values)
        if not whole and any(value != value for value in values):
            return np.array(values, float)  # refused for its NaN
        return _from_numbers(list(values), np.dtype(np.int64 if whole else np.float64))
    missing = next((v for v in values if v is None or _is_nan(v)), values)
    if missing is not values:
        raise _missing(missing)
    if text or numbers or strict:
        if len(kinds) > 1:
            first, *_ = values
            other = next(value for value in values if type(value) is not type(first))
            raise ValueError(
                f"the labels are of several types, such as {shown(first)} and {shown(other)}: use "
                "one type of label"
            )
        raise ValueError(
            f"the labels are Python objects such as {shown(values[0])}, a "
            f"{type(values[0]).__name__}: use integers, floats, bools or text"
        )
    return values


def _has_large(values: Sequence[Any]) -> bool:
    return any(isinstance(value, Integral) and abs(int(value)) > 2**53 for value in values)


def _is_nan(value: Any) -> bool:
    """Whether it is one of the many things that stand for nothing."""
    try:
        return bool(value != value)
    except Exception:  # pandas' NA is neither equal nor unequal
        return type(value).__name__ == "NAType"


def _from_numbers(values: list[Any], dtype: np.dtype) -> np.ndarray:
    """Numbers in a type that holds each of them exactly: this one, or one of integers."""
    if dtype.kind == "f" and all(_is_float(value) for value in values):
        return np.array(values, dtype)
    if all(isinstance(value, Integral | np.bool_) or float(value).is_integer() for value in values):
        whole = [int(value) for value in values]
        low, high = min(whole), max(whole)
        for kind in (np.int64, np.uint64):
            if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
                return np.array(whole, kind)
    large = max(values, key=abs)
    raise ValueError(
        f"the labels {shown(large)} and {shown(next(v for v in values if v != large))} do not fit "
        "in one type of number: use text"
        if len(set(values)) > 1
        else f"the label {shown(large)} is too large for a number of 64 bits: use text"
    )


def _is_float(value: Any) -> bool:
    try:
        return bool(float(value) == value)
    except OverflowError:
        return False


def _check_lengths(values: Sequence[Any]) -> None:
    if max(map(len, values)) > MAX_LABEL:
        raise _too_long(max(values, key=len))


def _too_long(label: Any) -> ValueError:
    return ValueError(
        f"the label {shown(label)} is longer than the {MAX_LABEL} characters that a label may "
        "have: use shorter ones, such as their numbers in a list"
    )


def _missing(label: Any) -> ValueError:
    return ValueError(
        f"a label is missing: y contains {shown(label)} (NaN or None); remove its row or fill it in"
    )


def too_few(name: str, classes: np.ndarray, weighted: bool = False) -> ValueError:
    """The error for labels that are all the same."""
    of_weight = " with positive weight" if weighted else ""
    return ValueError(
        f"{name} needs at least two classes, got only one class{of_weight}: "
        f"{listed(classes.tolist())}"
    )


def named_classes(classes: Any) -> np.ndarray:
    """The classes that the first call to `partial_fit` names."""
    named = find_classes(np.asarray(plain_labels(classes)))[0]
    if len(named) < 2:
        raise ValueError(f"classes must name at least two classes, got {listed(named.tolist())}")
    return named


def check_same_classes(classes: Any, known: np.ndarray | None) -> None:
    """Refuse classes that a later call names differently; None are those never named."""
    named = find_classes(np.asarray(plain_labels(classes)))[0]
    if known is None or named.tolist() != known.tolist():
        first = "not given" if known is None else listed(known.tolist())
        raise ValueError(
            f"classes={listed(named.tolist())} is not what it was in the first call: {first}"
        )
