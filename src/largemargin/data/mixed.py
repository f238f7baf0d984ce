"""A table whose columns are numbers, truth values or text, some values of it missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.runtime.showing import shown

_KINDS = {"f": "number", "b": "bool", "O": "text"}


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns of equal length, each of one kind.

    Rows are taken as from an array, ``table[rows]``, so that scikit-learn can split a table. It
    becomes an array of objects with ``numpy.asarray(table)``.

    Parameters
    ----------
    columns : dict of str to ndarray
        The columns by their names, in order. Numbers are float64, nan where a value is missing;
        truth values are bool; text is an array of objects, str or None where a value is missing.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table({"age": np.array([39.0, np.nan]), "job": np.array(["clerk", None], object)})
    >>> table
    Table(2 x 2, 1 number, 1 text)
    >>> table.kinds
    {'age': 'number', 'job': 'text'}
    >>> table[[0]].column("job")
    array(['clerk'], dtype=object)
    """

    columns: dict[str, np.ndarray]

    def __post_init__(self) -> None:
        if not self.columns:
            raise ValueError("a table needs at least one column, got none")
        lengths = {name: len(column) for name, column in self.columns.items()}
        rows = len(self)
        for name, column in self.columns.items():
            if column.ndim != 1 or (column.dtype != np.float64 and column.dtype.kind not in "bO"):
                raise ValueError(
                    f"the column {shown(name)} must be a one-dimensional array of float64, bool "
                    "or objects, got "
                    f"{column.dtype} of shape {column.shape}"
                )
            if lengths[name] != rows:
                raise ValueError(
                    f"the columns of a table must be equally long, got {lengths[name]} values of "
                    f"{shown(name)} beside {rows}"
                )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.columns)

    @property
    def kinds(self) -> dict[str, str]:
        """What each column holds: "number", "bool" or "text"."""
        return {name: _KINDS[column.dtype.kind] for name, column in self.columns.items()}

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), len(self.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def column(self, name: str) -> np.ndarray:
        """The values of a column."""
        return self.columns[name]

    def take(self, rows: Any) -> Table:
        """Some rows: their numbers, a truth value for each row, or a slice."""
        if not isinstance(rows, slice):
            rows = np.atleast_1d(rows)
            rows = rows if rows.size else rows.astype(np.intp)
        return Table({name: column[rows] for name, column in self.columns.items()})

    def __getitem__(self, rows: Any) -> Table:
        if isinstance(rows, tuple):  # scikit-learn writes X[rows, ...]
            rows, *rest = rows
            if rest not in ([], [Ellipsis]):
                raise IndexError("a table is indexed by rows; take its columns with column(name)")
        return self.take(rows)

    def select(self, names: Iterable[str]) -> Table:
        """Some columns, in the order of these names."""
        return Table({name: self.columns[name] for name in names})

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Rows of objects, or of numbers where the type asked for is one."""
        kind = np.dtype(object if dtype is None else dtype)
        if kind.kind == "f" and all(c.dtype.kind in "fb" for c in self.columns.values()):
            return np.column_stack(list(self.columns.values())).astype(kind)
        rows = np.empty(self.shape, object)
        for position, column in enumerate(self.columns.values()):
            rows[:, position] = column
        return rows.astype(kind)

    def __repr__(self) -> str:
        kinds = list(self.kinds.values())
        counts = {kind: kinds.count(kind) for kind in _KINDS.values() if kind in kinds}
        told = [f"{n} {kind}{'s' * (n > 1 and kind != 'text')}" for kind, n in counts.items()]
        return f"Table({len(self)} x {len(self.columns)}, {', '.join(told)})"
