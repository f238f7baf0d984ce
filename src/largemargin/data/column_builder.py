"""Columns out of the cells of a table in text, block by block.

Numbers are made at once, so that their cells need not be kept. A column that was numbers and then
has a word is text, and its first cells are gone: `late_texts` names such columns, and the file is
read a second time for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from os import PathLike
from typing import Any

import numpy as np

from largemargin.data.cells import (
    Texts,
    is_missing,
    is_number,
    numbers_of,
    truths_of,
    with_point,
)
from largemargin.data.errors import broken
from largemargin.runtime.showing import shown

_LOOKED_AT = 1000  # different texts of a column that are looked at for numbers
_NUMBERS_PER_WORD = 5  # so many, for each word, make a column suspicious


class ColumnBuilder:
    """Columns that grow by blocks of rows.

    Parameters
    ----------
    path : str or path-like
        The file, for messages.
    names : sequence of str
        The names of the columns.
    kinds : mapping
        What columns are, where that is known: "number", "bool", "text" or "label".
    decimal : {".", ","}
        What parts the fraction of a number.
    wanted : sequence of str, default=None
        The columns to make, if not all.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        names: Sequence[str],
        kinds: Mapping[str, str],
        decimal: str = ".",
        wanted: Sequence[str] | None = None,
    ) -> None:
        self._path, self._comma = path, decimal == ","
        self._kinds = dict(kinds)
        wanted = names if wanted is None else wanted
        self._places = {name: names.index(name) for name in wanted}
        self._parts: dict[str, list[Any]] = {name: [] for name in wanted}
        self._texts = {name: Texts() for name in wanted}
        self._late: list[str] = []

    def add(self, rows: list[list[str]], lines: list[int]) -> None:
        """Append rows of cells; `lines` has the number of the line of each."""
        by_column = list(zip(*rows, strict=True))
        for name, place in self._places.items():
            if name not in self._late:
                self._add_cells(name, by_column[place], lines)

    def _add_cells(self, name: str, cells: Sequence[str], lines: list[int]) -> None:
        kind = self._kinds.get(name)
        if kind == "label":
            stripped = {cell: cell.strip() for cell in set(cells)}
            self._parts[name].append([stripped[cell] for cell in cells])
            return
        if self._comma:
            cells = [with_point(cell.strip()) for cell in cells]
        if kind in (None, "number"):
            numbers = numbers_of(cells)
            if numbers is not None:
                self._check_finite(name, numbers, cells, lines)
                self._parts[name].append(numbers)
                return
            if kind == "number":
                raise self._not_a_number(name, cells, lines)
            self._begin_text(name)
        if name not in self._late:
            self._parts[name].append(self._texts[name].of(cells))

    def _begin_text(self, name: str) -> None:
        """From here on a column is text; what was numbers has to be read again as text."""
        self._kinds[name] = "text or bool"
        parts = self._parts[name]
        if all(np.isnan(part).all() for part in parts):
            self._parts[name] = [np.full(len(part), None, object) for part in parts]
        else:
            self._late.append(name)

    def late_texts(self) -> list[str]:
        """The columns that have to be read again, as text."""
        return self._late

    def columns(self) -> dict[str, Any]:
        """The columns, but those that have to be read again."""
        return {name: self._column(name) for name in self._places if name not in self._late}

    def notes(self) -> list[str]:
        """A sentence for each column of text that is all but numbers."""
        found = []
        for name in self._places:
            texts = [text for text in islice(self._texts[name].values(), _LOOKED_AT) if text]
            words = [text for text in texts if not is_number(text)]
            if words and len(words) * _NUMBERS_PER_WORD <= len(texts):
                found.append(
                    f"the column {shown(name)} is read as text, since it holds {shown(words[0])} "
                    "beside numbers"
                )
        return found

    def _column(self, name: str) -> Any:
        parts, kind = self._parts[name], self._kinds.get(name)
        if kind == "label":
            return [cell for part in parts for cell in part]
        column = np.concatenate(parts)
        if kind in ("text or bool", "bool"):
            distinct = {text for text in self._texts[name].values() if text is not None}
            truths = truths_of(column, distinct)
            return column if truths is None else truths
        return column

    def _check_finite(
        self, name: str, numbers: np.ndarray, cells: Sequence[str], lines: list[int]
    ) -> None:
        infinite = np.isinf(numbers)
        if infinite.any():
            at = int(infinite.argmax())
            raise broken(
                self._path,
                f"expected a finite number, saw {shown(cells[at])}; write the largest value that "
                "can occur, or leave the cell empty if it is not known",
                line=lines[at],
                column=name,
            )

    def _not_a_number(self, name: str, cells: Sequence[str], lines: list[int]) -> Exception:
        at = next(
            i
            for i, cell in enumerate(cells)
            if not is_number(cell) and not is_missing(cell.strip())
        )
        return broken(
            self._path,
            f"expected a number, as in the training data, saw {shown(cells[at])}; correct the "
            "cell, or leave it empty if the value is not known",
            line=lines[at],
            column=name,
        )
