"""The adult data of the UCI repository: columns of numbers and of text, some values missing."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

from largemargin.data.errors import broken
from largemargin.data.mixed import Table
from largemargin.runtime.showing import shown

ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country",
)  # fmt: skip
ADULT_LABEL = "income"


def read_adult(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """An array of objects and the labels: text as it is, numbers as floats, NaN for ``?``."""
    rows = []
    for number, line in enumerate(path.read_text("utf-8").split("\n"), start=1):
        if line.strip():
            rows.append(line.split(", "))
            if len(rows[-1]) != len(ADULT_COLUMNS) + 1:
                told = f"expected {len(ADULT_COLUMNS) + 1} cells, saw {shown(line)}"
                raise broken(path, told, line=number)
    table = np.array(rows, dtype=object)
    X, y = table[:, :-1], table[:, -1].astype(np.str_)
    for j, column in enumerate(X.T):
        with suppress(ValueError):  # a column of text
            X[:, j] = column.astype(np.float64)
    X[X == "?"] = np.nan
    return X, y


def adult_table(X: np.ndarray) -> Table:
    """The same columns as a table, None where text is missing."""
    columns: dict[str, np.ndarray] = {}
    for name, column in zip(ADULT_COLUMNS, X.T, strict=True):
        is_text = any(isinstance(cell, str) for cell in column)
        columns[name] = column.copy() if is_text else column.astype(np.float64)
        if is_text:
            columns[name][[cell != cell for cell in column]] = None
    return Table(columns)
