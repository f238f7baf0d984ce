"""What becomes of each column: found once, when a preprocessor is fitted, and kept.

A plan is enough to read a column of any later table in the same way: as numbers (truth values and
dates are numbers too) or as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from largemargin.data.cells import is_number
from largemargin.runtime.showing import shown
from largemargin.tables.columns import plain_number
from largemargin.tables.parsing import (
    ISO,
    POINT,
    are_truths,
    days,
    form_of_dates,
    form_of_numbers,
    has_separators,
    is_money,
    number,
    truth,
)

NUMBER, DATE, BOOLEAN, CATEGORY, DROPPED = "number", "date", "boolean", "category", "dropped"
KINDS = (NUMBER, DATE, BOOLEAN, CATEGORY, DROPPED)
CHOSEN, EMPTY, CONSTANT = "chosen", "empty", "constant"
COUNTER, DISTINCT, RARE = "counter", "distinct", "rare"
REASONS = (CHOSEN, EMPTY, CONSTANT, COUNTER, DISTINCT, RARE)

_FEW_ROWS = 10  # below so many values nothing is concluded from their being distinct
_NEARLY_ALL = 0.9  # of text, the share of distinct values that makes it an identifier
# Of a column of numbers, the share of values that must be numbers so that another is a mistake.
_MOSTLY = 0.9
_FEW_VALUES = 20  # a column of so few distinct values may be codes, some of them digits
# So many pairs of equal values are expected among random integers of this number and range before
# their absence shows that they count the rows, or some of the rows.
_EXPECTED_PAIRS = 10
_LARGEST = 1e100  # numbers are at most so large
_WANTED = {NUMBER: "numbers", DATE: "dates", BOOLEAN: "truth values"}


@dataclass(frozen=True)
class Plan:
    """What becomes of a column: its kind, the form of its text, or why it is dropped."""

    name: str
    kind: str
    form: str = ""
    why: str = ""

    def read(self, values: np.ndarray) -> np.ndarray:
        """A column as float64, nan where a value is missing; or, of categories, as text."""
        if self.kind == CATEGORY:
            return _as_text(values)
        if values.dtype.kind == "O":
            return self._read_text(values)
        if (values.dtype.kind == "M") != (self.kind == DATE):
            there = ~(np.isnat(values) if values.dtype.kind == "M" else np.isnan(values))
            self._check(values, there)
            return np.full(len(values), np.nan)
        if self.kind == DATE:
            return _days_of(values)
        found = values.astype(np.float64)
        if self.kind == BOOLEAN:
            self._check(values, ~np.isin(found, (0, 1)) & ~np.isnan(found))
        return self._checked(found)

    def _checked(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers that are not so large that their squares could not be added."""
        large = np.abs(numbers) > _LARGEST
        if large.any():
            row = int(np.flatnonzero(large)[0])
            raise ValueError(
                f"the column {shown(self.name)} has {numbers[row]:g} in row {row}, counted from 0, "
                f"which is beyond {_LARGEST:g}: correct the value, or leave it empty"
            )
        return numbers

    def signs_in(self, values: np.ndarray) -> str:
        """Of the signs %, $ and comma those that numbers in text have, one for any separators."""
        if self.kind != NUMBER or values.dtype.kind != "O":
            return ""
        texts = {text for text in values if text is not None}
        percent = "%" * any("%" in text for text in texts)
        percent += "$" * any(is_money(text) for text in texts)
        return percent + "," * any(has_separators(text, self.form) for text in texts)

    def _read_text(self, values: np.ndarray) -> np.ndarray:
        readers: dict[str, Callable[[str], float | None]] = {
            NUMBER: partial(number, form=self.form or POINT),
            DATE: partial(days, form=self.form or ISO),
            BOOLEAN: truth,
        }
        read = readers[self.kind]
        known = {text: np.nan if text is None else read(text) for text in set(values)}
        if self.kind == BOOLEAN:  # another word is as a category that was not seen: not known
            known = {text: np.nan if found is None else found for text, found in known.items()}
        self._check(values, np.array([known[text] is None for text in values], bool))
        return self._checked(np.array([known[text] for text in values], np.float64))

    def _check(self, values: np.ndarray, bad: np.ndarray) -> None:
        if bad.any():
            self._refuse(values, int(np.flatnonzero(bad)[0]))

    def _refuse(self, values: np.ndarray, row: int) -> None:
        raise ValueError(
            f"the column {shown(self.name)} had {_WANTED[self.kind]} when this preprocessor was "
            f"fitted, and has {shown(_plain(values[row]))} in row {row}, counted from 0: correct "
            "the value, or leave it empty"
        )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def plan_column(
    name: str, values: np.ndarray, categorical: bool, keep: bool, min_count: int
) -> Plan:
    """What becomes of a column: what its values are, and whether they say anything."""
    kind, form = (CATEGORY, "") if categorical else _kind_of(name, values)
    plan = Plan(name, kind, form)
    found = plan.read(values)
    missing = missing_in(found)
    present = found[~missing]
    why = ""
    if not len(present):
        why = EMPTY
    elif not missing.any() and (present == present[0]).all():
        why = CONSTANT
    elif keep:
        pass
    elif kind == NUMBER and _counts_rows(present):
        why = COUNTER
    elif kind == CATEGORY:
        why = _why_useless(present, missing, min_count, categorical)
    return Plan(name, DROPPED, "", why) if why else plan


def missing_in(values: np.ndarray) -> np.ndarray:
    """Where a column that a plan has read has no value."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    return np.fromiter((value is None for value in values), bool, len(values))


def _kind_of(name: str, values: np.ndarray) -> tuple[str, str]:
    kinds = {"f": NUMBER, "b": BOOLEAN, "M": DATE}
    if values.dtype.kind != "O":
        return kinds[values.dtype.kind], ""
    texts = set(values) - {None}
    if are_truths(texts):
        return BOOLEAN, ""
    form = form_of_numbers(texts)
    if form is not None:
        return NUMBER, form
    form = form_of_dates(texts)
    if form is not None:
        return DATE, form
    _refuse_stray_text(name, values, texts)
    return CATEGORY, ""


def _refuse_stray_text(name: str, values: np.ndarray, texts: Collection[str]) -> None:
    """Refuse a column of numbers with some text among them: as categories it would be lost."""
    stray = {text for text in texts if number(text) is None}
    if len(texts) - len(stray) <= _FEW_VALUES:
        return
    counts = Counter(value for value in values if value is not None)
    n_stray = sum(counts[text] for text in stray)
    if n_stray <= (1 - _MOSTLY) * counts.total():
        row = next(row for row, value in enumerate(values) if value in stray)
        raise ValueError(
            f"the column {shown(name)} has numbers, but {shown(values[row])} in row {row}, counted "
            f"from 0{f', and {n_stray - 1} more values of text' if n_stray > 1 else ''}: correct "
            "them, leave them empty, or name the column in categorical or in drop"
        )


def _counts_rows(values: np.ndarray) -> bool:
    """Whether numbers are integers that count the rows, or those of a larger table.

    Of n random integers from a range of r, n (n - 1) / 2 r pairs are expected to be equal.
    """
    n = len(values)
    if not (values == np.floor(values)).all() or len(np.unique(values)) < n:
        return False
    return bool(n * (n - 1) / 2 >= _EXPECTED_PAIRS * (np.ptp(values) + 1))


def _why_useless(values: np.ndarray, missing: np.ndarray, min_count: int, categorical: bool) -> str:
    counts = Counter(values)
    many = len(values) >= _FEW_ROWS and not categorical
    if many and len(counts) > _NEARLY_ALL * len(values):
        return DISTINCT
    # what is missing is a value of its own
    return RARE if max(*counts.values(), missing.sum()) < min_count else ""


def _days_of(values: np.ndarray) -> np.ndarray:
    moments = values.astype("datetime64[us]")
    found = (moments - np.datetime64("1970-01-01", "us")) / np.timedelta64(1, "D")
    return np.where(np.isnat(moments), np.nan, found)


def _as_text(values: np.ndarray) -> np.ndarray:
    """Values as text. 7, 7.0 and "07" are one category, and so are True and "TRUE": how they come
    depends on what else is in their column.
    """
    if values.dtype.kind == "O":
        known = {text: text if text is None else _short(text) for text in set(values)}
    elif values.dtype.kind == "f":
        values = values.astype(object)
        known = {value: None if value != value else plain_number(value) for value in set(values)}
        return _objects(None if value != value else known[value] for value in values)
    elif values.dtype.kind == "M":
        return _objects(None if np.isnat(value) else str(value) for value in values)
    else:
        known = {True: "true", False: "false"}
    return _objects(known[value] for value in values)


def _objects(values: Any) -> np.ndarray:
    listed = list(values)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def _short(text: str) -> str:
    if text.lower() in ("true", "false"):
        return text.lower()
    return plain_number(float(text)) if is_number(text) else text
