"""Which column of a table holds the labels, and whether its values can be labels.

The rule, for tables of mixed columns:

1. the column that the caller names, or whose position the caller gives;
2. else the column called label, target or class, whatever the case (or y, first or last);
3. else the last column, if it is text, truth values or whole numbers with few values;
4. else none: the caller has to name it, and is told which columns could be meant.

Whichever it is, a column with rows that lack a label is refused, and one that looks like a
measurement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from largemargin.data.errors import DataError, broken
from largemargin.data.labels import LabelColumn, RawLabels, label_kind, label_position
from largemargin.runtime.showing import listed, shown

FEW_VALUES = 20  # values that a column may have to be taken for the labels unasked
MANY_VALUES = 100  # numbers that are no classes any more
_ROWS_PER_TEXT = 5  # rows with the same text, on average, of a longer list of classes
_ROWS_PER_NUMBER = 5
_NAMES = ("label", "target", "class")
_MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "<na>", "#n/a", "nat"})


@dataclass(frozen=True)
class LabelChoice:
    """The column of the labels, and why it is this one."""

    position: int | None
    reason: str = ""
    is_guess: bool = False  # whether its values have to confirm it


def default_name(position: int) -> str:
    """What a column is called that has no name, by its position from 0.

    Examples
    --------
    >>> default_name(0)
    'x0'
    """
    return f"x{position}"


def check_distinct(path: str | PathLike[str], names: Sequence[str]) -> None:
    """Raise if two columns have the same name."""
    counts = Counter(names)
    if twice := [name for name, count in counts.items() if count > 1]:
        places = {name: [j + 1 for j, n in enumerate(names) if n == name] for name in twice[:3]}
        told = ", ".join(
            f"{shown(name)} (columns {', '.join(map(str, at[:5]))})" for name, at in places.items()
        )
        more = f" and {len(twice) - 3} more" if len(twice) > 3 else ""
        raise broken(
            path,
            f"several columns have the same name: {told}{more}; give each column a name of its own",
        )


def choose_label(
    path: str | PathLike[str], label: LabelColumn, names: Sequence[str] | None, width: int
) -> LabelChoice:
    """The column that the rule finds by names and positions alone.

    Examples
    --------
    >>> choose_label("a.csv", None, ["Class", "height"], 2)
    LabelChoice(position=0, reason='it is called Class', is_guess=False)
    >>> choose_label("a.csv", None, None, 3)
    LabelChoice(position=2, reason='it is the last column', is_guess=True)
    """
    if label is not None:
        called = [name or default_name(j) for j, name in enumerate(names or [""] * width)]
        position = label_position(path, label, called, width)
        return LabelChoice(position, "" if position is None else "it was named as the label")
    lowered = [name.lower() for name in names or ()]
    for name in _NAMES:
        if name in lowered:
            position = lowered.index(name)
            return LabelChoice(position, f"it is called {(names or ())[position]}")
    for position in (0, width - 1):
        if lowered and lowered[position] == "y":
            return LabelChoice(position, f"it is called {(names or ())[position]}")
    named = [j for j in range(width) if names is None or names[j]]  # a line may end in a separator
    return LabelChoice((named or [width - 1])[-1], "it is the last column", is_guess=True)


@dataclass(frozen=True)
class _Values:
    """What is known of a column of raw labels."""

    kind: str  # "numbers", "whole numbers" or "text"
    count: int  # different values
    rows: int
    missing: int
    first_missing: int

    @classmethod
    def of(cls, raw: RawLabels) -> _Values:
        if isinstance(raw, list):
            return cls._of_text(raw)
        if raw.dtype.kind in "fc":
            lost = np.isnan(raw)
        else:
            lost = np.isnat(raw) if raw.dtype.kind in "mM" else np.zeros(len(raw), bool)
        present = raw[~lost]
        kind = "whole numbers" if label_kind(present) == "int" else "numbers"
        if raw.dtype.kind not in "iuf":
            kind = "text"
        first = int(lost.argmax()) if lost.any() else -1
        return cls(kind, len(np.unique(present)), len(raw), int(lost.sum()), first)

    @classmethod
    def _of_text(cls, raw: list[str]) -> _Values:
        distinct = set(raw)
        marks = {text for text in distinct if text.lower() in _MISSING}
        lost = [row for row, text in enumerate(raw) if text in marks] if marks else []
        values = list(distinct - marks)
        if label_kind(values) == "int":
            kind = "whole numbers"
        else:
            kind = "numbers" if all(map(_is_decimal, values)) else "text"
        first = lost[0] if lost else -1
        return cls(kind, len(values), len(raw), len(lost), first)

    @property
    def can_be_guessed(self) -> bool:
        if self.kind == "text":
            often = self.count * _ROWS_PER_TEXT <= self.rows and self.count <= 10 * FEW_VALUES
            return self.count <= FEW_VALUES or often
        return self.kind == "whole numbers" and self.count <= FEW_VALUES

    @property
    def are_measurements(self) -> bool:
        if self.kind == "numbers":
            return self.count > MANY_VALUES or FEW_VALUES < self.count > self.rows / 2
        return (
            self.kind == "whole numbers"
            and self.count > MANY_VALUES
            and self.count * _ROWS_PER_NUMBER > self.rows
        )


def _is_decimal(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_labels(
    path: str | PathLike[str],
    choice: LabelChoice,
    name: str,
    raw: RawLabels,
    others: Mapping[str, Any],
    measurements: bool = False,
) -> str:
    """Raise unless the values of the chosen column can be labels; `others` are the other columns,
    and `measurements` lets numbers pass that look like such. Returns the reason for the choice, a
    sentence without its subject."""
    values = _Values.of(raw)
    if choice.is_guess and not values.can_be_guessed:
        raise _no_label(path, name, values, others)
    if values.are_measurements and not measurements:
        raise broken(
            path,
            f"{values.count} different {values.kind} in {values.rows} rows look like a "
            "measurement, and labels are a few classes; pass label=NAME to take another "
            "column, or replace the numbers by groups such as low and high",
            column=name,
        )
    if values.missing:
        such = [n for n, column in others.items() if _could_be_label(column)]
        hint = f", such as {listed(such, 5)[1:-1]}" if choice.is_guess and such else ""
        taken = "the last column was taken for the labels, and " if choice.is_guess else ""
        raise broken(
            path,
            f"{taken}{values.missing} of {values.rows} rows have no label, the first of them row "
            f"{values.first_missing + 1}; remove these rows, fill in their labels, or pass "
            f"label=NAME to take another column{hint}",
            column=name,
        )
    return f"{choice.reason}, and holds {values.count} classes"


def _no_label(
    path: str | PathLike[str], last: str, values: _Values, others: Mapping[str, Any]
) -> DataError:
    found = [name for name, column in others.items() if _could_be_label(column)]
    what = "pass label=NAME, or the position of the column from 0: columns with few values are "
    what += listed(found)[1:-1]
    if not found:
        what = "no column has few values, so add one with a class for each row, such as low or high"
    return broken(
        path,
        "which column holds the labels? None is called label, target or class, and the last one, "
        f"{shown(last)}, has {values.count} different {_plural(values.kind)}; {what}",
    )


def _plural(kind: str) -> str:
    return "texts" if kind == "text" else kind


def _could_be_label(column: np.ndarray) -> bool:
    """Whether the rule would take a column if it were the last, and it has two classes."""
    if column.dtype.kind == "b":
        return bool(column.any() and not column.all())
    if column.dtype.kind == "O":
        values = {value for value in column.tolist() if value is not None}
        return 2 <= len(values) <= FEW_VALUES
    present = column[~np.isnan(column)]
    if len(np.unique(present[:1000])) > FEW_VALUES:
        return False
    return label_kind(present) == "int" and 2 <= len(np.unique(present)) <= FEW_VALUES
