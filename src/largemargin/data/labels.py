"""Labels: which column of a table holds them, and what they become.

A reader hands over raw labels, either text as it stood in the file or an array. They become
integers where they all are whole numbers, and strings otherwise. Whether a set of labels is "int"
or "str" depends on all of them, so a stream settles it before its first chunk.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Sequence
from os import PathLike
from typing import Literal, SupportsIndex

import numpy as np

from largemargin.data.errors import MAX_LABEL, broken
from largemargin.runtime.showing import shown

# A name, a position (negative from the end), None for the default, False for none.
LabelColumn = str | SupportsIndex | None
LabelKind = Literal["int", "str"]
RawLabels = list[str] | np.ndarray

LABEL_NAMES = ("label", "target", "class", "y")

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# Floats below this tell neighbouring integers apart.
_EXACT_FLOATS = 2.0**53
_LARGEST_INTEGER = np.iinfo(np.int64).max
_INTEGER_DIGITS = 19  # digits of that one
# Characters of the widest label that is stored as text of fixed width, which takes the room of the
# longest label for every row.
_WIDEST_FIXED = 256


def label_position(
    path: str | PathLike[str], label: LabelColumn, names: Sequence[str] | None, width: int
) -> int | None:
    """The position of the label column, or None if there is none.

    By default it is the column that is called label, target, class or y, whatever the case, and
    the last column if none is.

    Examples
    --------
    >>> label_position("a.csv", None, ["Class", "height"], 2)
    0
    >>> label_position("a.csv", -1, None, 3)
    2
    """
    if label is False:
        return None
    if label is None:
        return _default_position(names, width)
    if isinstance(label, str):
        return _named_position(path, label, names)
    position = operator.index(label)
    if not -width <= position < width:
        raise broken(
            path, f"label={position} is not a column; the file has {width}, counted from 0"
        )
    return position % width


def check_label_argument(label: LabelColumn) -> None:
    """Raise unless `label` can name a column."""
    if label is None or label is False or isinstance(label, str):
        return
    if label is True or not hasattr(label, "__index__"):
        raise ValueError(
            "label must be the name or position of a column, or False for a file without labels, "
            f"got {shown(label)}"
        )


def _default_position(names: Sequence[str] | None, width: int) -> int:
    lowered = [name.lower() for name in names or ()]
    return next((lowered.index(name) for name in LABEL_NAMES if name in lowered), width - 1)


def _named_position(path: str | PathLike[str], label: str, names: Sequence[str] | None) -> int:
    if names is None:
        raise broken(
            path,
            f"there is no header line to find label={shown(label)} in; give the position of the "
            "column",
        )
    if (count := list(names).count(label)) > 1:
        raise broken(path, f"{count} columns are called {shown(label)}; give the position of one")
    if label in names:
        return list(names).index(label)
    close = difflib.get_close_matches(label, names, n=1, cutoff=0.7)
    hint = f"did you mean {shown(close[0])}? The" if close else "the"
    raise broken(
        path, f"there is no column called {shown(label)}; {hint} columns are {_listed(names)}"
    )


def _listed(names: Sequence[str], most: int = 10) -> str:
    first = ", ".join(map(shown, names[:most]))
    return first if len(names) <= most else f"{first} and {len(names) - most} more"


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
        return "int" if all(_parse_integer(text) is not None for text in set(raw)) else "str"
    if raw.dtype.kind == "u" and raw.size and raw.max() > _LARGEST_INTEGER:
        return "str"
    if raw.dtype.kind in "iu":
        return "int"
    if raw.dtype.kind == "f" and np.all((np.trunc(raw) == raw) & (np.abs(raw) < _EXACT_FLOATS)):
        return "int"
    return "str"


def parse_labels(
    raw: RawLabels, kind: LabelKind | None = None, path: str | PathLike[str] = ""
) -> np.ndarray:
    """Raw labels as an array of int64 or of strings.

    Examples
    --------
    >>> parse_labels(["+1", "-1"])
    array([ 1, -1])
    >>> parse_labels(["+1", "-1"], "str")
    array(['+1', '-1'], dtype='<U2')
    """
    kind = kind or label_kind(raw)
    if kind == "int" and isinstance(raw, np.ndarray) and raw.dtype.kind in "SU":
        raw = _as_text(raw, path).tolist()
    if kind == "int" and label_kind(raw) == "str":
        seen = next(str(value) for value in raw if label_kind([str(value)]) == "str")
        raise broken(
            path,
            f"expected integer labels, saw {shown(seen)}; pass labels='str' to keep them as text",
        )
    if isinstance(raw, np.ndarray):
        return raw.astype(np.int64) if kind == "int" else _as_text(raw, path)
    if kind == "str":
        return text_array(raw)
    values = {text: _parse_integer(text) for text in set(raw)}
    return np.array([values[text] for text in raw], dtype=np.int64)


def first_bad_label(raw: RawLabels) -> int | None:
    """The position of the first label that is missing or too long, or None.

    Examples
    --------
    >>> first_bad_label(["a", "", "b"])
    1
    """
    if isinstance(raw, list):
        bad = {text for text in set(raw) if label_problem(text)}
        return next((i for i, text in enumerate(raw) if text in bad), None) if bad else None
    if raw.dtype.kind in "fmM":
        wrong = ~np.isfinite(raw)
    elif raw.dtype.kind in "SU" and raw.dtype.itemsize > MAX_LABEL:
        wrong = np.strings.str_len(raw) > MAX_LABEL
    else:
        return None
    return int(wrong.argmax()) if wrong.any() else None


def label_problem(label: str) -> str | None:
    """What is wrong with a label as it stands in a file, or None."""
    if len(label) > MAX_LABEL:
        return f"expected a label of at most {MAX_LABEL} characters, saw {shown(label)}"
    if label.lower() in ("", "nan"):
        return f"expected a label, saw {shown(label)}; remove the row or fill in its label"
    return None


def join_labels(parts: list[RawLabels]) -> RawLabels:
    """The raw labels of consecutive blocks, as one."""
    if all(isinstance(part, list) for part in parts):
        return [text for part in parts for text in part]
    return np.concatenate(parts)


def _parse_integer(text: str) -> int | None:
    if _INTEGER.fullmatch(text):
        digits = text.lstrip("+-").lstrip("0") or "0"
        if len(digits) > _INTEGER_DIGITS:
            return None  # Python refuses to make a number of thousands
        value = -int(digits) if text[0] == "-" else int(digits)
        return value if abs(value) <= _LARGEST_INTEGER else None
    if _DECIMAL.fullmatch(text):
        number = float(text)
        return int(number) if number.is_integer() and abs(number) < _EXACT_FLOATS else None
    return None


def _as_text(raw: np.ndarray, path: str | PathLike[str]) -> np.ndarray:
    if raw.dtype.kind == "S":
        try:
            return np.char.decode(raw, "utf-8")
        except UnicodeDecodeError as error:
            raise broken(
                path, f"expected labels in UTF-8, saw {shown(error.object)}; save them as text"
            ) from None
    return raw.astype(np.str_)


def text_array(values: Sequence[str]) -> np.ndarray:
    """Text as an array: of fixed width, or of Python's own where that would waste memory or drop a
    zero at the end.

    Examples
    --------
    >>> text_array(["a", "bc"])
    array(['a', 'bc'], dtype='<U2')
    """
    distinct = set(values)
    if max(map(len, distinct), default=0) > _WIDEST_FIXED or any(
        t.endswith("\0") for t in distinct
    ):
        return np.array(values, object)
    return np.array(values, np.str_)
