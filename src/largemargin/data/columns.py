"""Which column of a table is the label."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Sequence
from os import PathLike
from typing import SupportsIndex

from largemargin.data.errors import broken
from largemargin.runtime.showing import shown

# A name, a position (negative from the end), None for the default, False for none.
LabelColumn = str | SupportsIndex | None

LABEL_NAMES = ("label", "target", "class", "y")


def label_position(
    path: str | PathLike[str], label: LabelColumn, names: Sequence[str] | None, width: int
) -> int | None:
    """The position of the label column, or None if there is none.

    By default it is the column called label, target, class or y, whatever the case, and else the
    last one.

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
    close = difflib.get_close_matches(label, names, n=1)
    hint = f"did you mean {shown(close[0])}?" if close else f"the columns are {_listed(names)}"
    raise broken(path, f"there is no column called {shown(label)}; {hint}")


def _listed(names: Sequence[str], most: int = 10) -> str:
    first = ", ".join(map(shown, names[:most]))
    return first if len(names) <= most else f"{first} and {len(names) - most} more"
