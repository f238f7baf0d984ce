"""Cells of tables in text: which are numbers, which stand for nothing, and columns made of them.

A column is numbers if every cell is a number or a mark of a missing value, truth values if every
cell is true or false, and text otherwise. Dates, percent signs and thousands separators stay text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

# Cells, in lower case, that stand for a missing value.
_MISSING = frozenset(
    {"", "?", "na", "n/a", "nan", "-nan", "null", "none", "<na>", "#n/a", "#na", "nat"}
)
_TRUTHS = {"true": True, "false": False}
# A number with a decimal comma, whose points part thousands; a percent sign may follow.
_WITH_COMMA = re.compile(r"([+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]*))(,[0-9]+)?( ?%)?")
_SWAPPED = str.maketrans(".,", ",.")


def is_number(cell: str) -> bool:
    """Whether a cell is a number, infinities included and NaN not.

    Examples
    --------
    >>> is_number("1e-3"), is_number("nan"), is_number("1_000")
    (True, False, False)
    """
    try:
        value = float(cell)
    except ValueError:
        return False
    return not math.isnan(value) and "_" not in cell and cell.isascii()


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value.

    Examples
    --------
    >>> is_missing("?"), is_missing("0")
    (True, False)
    """
    return cell.lower() in _MISSING


def swap_points(text: str) -> str:
    """Text with decimal commas as if it had decimal points, and the other way round.

    Examples
    --------
    >>> swap_points("1.234,5")
    '1,234.5'
    """
    return text.translate(_SWAPPED)


def with_point(cell: str) -> str:
    """A number with a decimal comma as a number with a point; any other cell as it is, but with a
    comma for its only point, since that cannot be a decimal point.

    Examples
    --------
    >>> [with_point(cell) for cell in ("1.234,5", "0,5%", "12", "a,b", "1.5")]
    ['1234.5', '0.5%', '12', 'a,b', '1,5']
    """
    found = _WITH_COMMA.fullmatch(cell)
    if found is None:
        return swap_points(cell) if is_number(cell) and "." in cell else cell
    whole, fraction, percent = found.groups(default="")
    return whole.replace(".", "") + fraction.replace(",", ".") + percent


def numbers_of(cells: Sequence[str]) -> np.ndarray | None:
    """Cells as float64, nan for marks of missing values; None if one of them is something else.

    Examples
    --------
    >>> numbers_of(["1", "?", "2.5"])
    array([1. , nan, 2.5])
    >>> numbers_of(["1", "two"]) is None
    True
    """
    together = "".join(cells)
    if not together.isascii():  # blanks of another kind around a number do not matter
        cells = [cell.strip() for cell in cells]
        together = "".join(cells)
    if "_" in together or not together.isascii():
        return None
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        pass
    marks = {cell for cell in set(cells) if is_missing(cell.strip())}
    if not marks:
        return None
    values = (math.nan if cell in marks else float(cell) for cell in cells)
    try:
        return np.fromiter(values, np.float64, len(cells))
    except ValueError:
        return None


class Texts(dict[str, str | None]):
    """Each text that was seen, held once and without blanks around it; None for marks of missing
    values."""

    def __missing__(self, cell: str) -> str | None:
        text = cell.strip()
        self[cell] = value = None if is_missing(text) else text
        return value

    def of(self, cells: Sequence[str]) -> np.ndarray:
        """Cells as an array of objects."""
        column = np.empty(len(cells), object)
        column[:] = list(map(self.__getitem__, cells))
        return column


def truths_of(column: np.ndarray, distinct: set[str]) -> np.ndarray | None:
    """A column of text as truth values, or None if it has any other; `distinct` has its values."""
    if not distinct or not {cell.lower() for cell in distinct} <= _TRUTHS.keys():
        return None
    values = {cell: _TRUTHS[cell.lower()] for cell in distinct}
    if any(cell is None for cell in column):
        return None
    return np.array([values[cell] for cell in column], np.bool_)
