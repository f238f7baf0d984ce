"""Why a line of a table cannot be read: one cell at a time, for the sake of the message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from largemargin.data.labels import label_problem
from largemargin.runtime.showing import shown

_MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})


class Cells(Protocol):
    """What is known of a table here: its width, its names, and how a line becomes cells."""

    @property
    def width(self) -> int: ...

    @property
    def names(self) -> Sequence[str] | None: ...

    def cells(self, line: str) -> list[str]: ...


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


def line_problem(line: str, table: Cells, label: int | None) -> tuple[str, str | None] | None:
    """What is wrong with a line and in which column, or None."""
    cells = table.cells(line)
    if len(cells) != table.width:
        hint = "; a quote is not closed" if line.count('"') % 2 else ""
        return f"expected {table.width} columns, saw {len(cells)}{hint}", None
    for position, cell in enumerate(cells):
        problem = label_problem(cell) if position == label else _feature_problem(cell, position)
        if problem:
            name = f" ({shown(table.names[position])[1:-1]})" if table.names else ""
            return problem, f"{position + 1}{name}"
    return None


def _feature_problem(cell: str, position: int) -> str | None:
    seen = shown(cell)
    if is_missing(cell):
        return f"expected a number, saw the missing value {seen}; remove the row or fill it in"
    if not is_number(cell):
        return (
            f"expected a number, saw {seen}; write categories as numbers, or pass "
            f"label={position} if this column is the label"
        )
    if math.isinf(float(cell)):
        return f"expected a finite number, saw {seen}; remove the row or fill in the value"
    return None
