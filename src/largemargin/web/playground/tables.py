"""Points from a table: two of its columns, or its first two principal components, and labels."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin import data
from largemargin.runtime.showing import shown
from largemargin.web.playground.tasks import MOST_CLASSES, MOST_POINTS
from largemargin.web.problems import Problem

COMPONENTS = ("first principal component", "second principal component")
INSIDE = 0.9  # the points lie between minus this and this
MOST_COLUMNS = 2_000
NEEDED = "the table needs two columns of numbers besides the labels"


@dataclass(frozen=True)
class Columns:
    """A table by its columns, and which of them was taken for the labels."""

    name: str
    columns: Mapping[str, np.ndarray]
    label: str | None

    @property
    def numbers(self) -> list[str]:
        """The columns that can be coordinates: numbers, of which at least one is known."""
        return [
            name
            for name, column in self.columns.items()
            if column.dtype.kind in "fiub" and np.isfinite(column).any()
        ]


def of_text(text: Any) -> Columns:
    """A table that was dropped on the page, read from a file of our own name, as any other."""
    if not isinstance(text, str) or not text.strip():
        raise Problem(400, "there is no table: drop a CSV file with a line of names")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text(text, "utf-8", errors="replace")
        try:
            read = partial(data.read, path, mixed=True, format="csv")
            return _labelled_or_not(read, partial(read, label=False))
        except ValueError as error:
            said = str(error).replace(f"{path}, ", "").replace(f"{path}: ", "")
            raise Problem(400, said) from None


def of_file(name: str) -> Columns:
    """The data that the command was given: a name or a file."""
    return _labelled_or_not(
        partial(data.load, name, mixed=True), partial(data.read, name, mixed=True, label=False)
    )


def _labelled_or_not(
    read: Callable[[], data.Dataset], read_without: Callable[[], data.Dataset]
) -> Columns:
    """A table with its labels, or without, if nothing looks like labels beside two numbers."""
    problem = ValueError(NEEDED)
    try:
        found = of_dataset(read())
        if len(found.numbers) - (found.label in found.numbers) > 1:
            return found
    except ValueError as error:
        problem = error
    try:
        return of_dataset(read_without())
    except (OSError, ValueError):
        raise problem from None


def of_dataset(found: data.Dataset) -> Columns:
    X = found.X
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(
            f"{found.name} has {X.shape[1]} columns, more than {MOST_COLUMNS:,}: use fewer of them"
        )
    if isinstance(X, data.Table):
        columns = dict(X.columns)
    else:
        rows = np.asarray(X.toarray() if sp.issparse(X) else X, np.float64)
        names = found.feature_names or [f"x{j}" for j in range(rows.shape[1])]
        columns = dict(zip(names, rows.T, strict=True))
    label = None
    if found.y is not None:
        label = found.label_name or "label"
        columns[label] = np.asarray(found.y)
    return Columns(found.name, columns, label)


def points(table: Columns, x: Any = None, y: Any = None, label: Any = None) -> dict[str, Any]:
    """The points of two columns and a label, none if it is "", with what was done in sentences."""
    label = table.label if label is None else _known(label, ["", *table.columns]) or None
    numeric = [name for name in table.numbers if name != label]
    if len(numeric) < 2:
        raise Problem(400, NEEDED)
    usual = numeric if len(numeric) == 2 else COMPONENTS
    allowed = [*numeric, *COMPONENTS]
    x, y = (
        (usual[0] if x is None else _known(x, allowed)),
        (usual[1] if y is None else _known(y, allowed)),
    )
    said: list[str] = []
    plane = np.stack([_coordinate(table, name, numeric, said) for name in (x, y)], axis=1)
    labels, classes = _labels(table, label, said)
    kept = np.isfinite(plane).all(axis=1) & (labels >= 0)
    if not kept.any():
        raise Problem(400, "no row has both numbers and a label: choose other columns")
    if not np.isfinite(plane).all():
        said.append(f"Rows with a missing value were left out, {int((~kept).sum())} in all.")
    rows = np.flatnonzero(kept)
    if len(rows) > MOST_POINTS:
        chosen = np.random.default_rng(0).choice(len(rows), MOST_POINTS, replace=False)
        said.append(f"{MOST_POINTS:,} of {len(rows):,} rows were drawn at random.")
        rows = rows[np.sort(chosen)]
    seen = _of_size_one(plane[rows])
    low, high = seen.min(axis=0), seen.max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    placed = np.round(INSIDE * (2 * (seen - low) / spread - 1), 4)
    said.append("Both axes are scaled to the square.")
    return {
        "name": table.name,
        "columns": allowed,
        "labels": list(table.columns),
        "x": x,
        "y": y,
        "label": label,
        "classes": classes,
        "points": [[*map(float, p), int(k)] for p, k in zip(placed, labels[rows], strict=True)],
        "sentence": " ".join(said),
    }


def _known(name: Any, names: list[str]) -> str:
    if name not in names:
        few = ", ".join(name for name in names[:9] if name)
        raise Problem(400, f"there is no column {shown(name)}: use one of {few}")
    return str(name)


def _coordinate(table: Columns, name: str, numeric: list[str], said: list[str]) -> np.ndarray:
    if name in COMPONENTS:
        k = COMPONENTS.index(name)
        scores, share = _components(np.stack([table.columns[n].astype(float) for n in numeric], 1))
        said.append(
            f"The {name} of {len(numeric)} standardised columns has {100 * share[k]:.0f} % of "
            "their variance."
        )
        return scores[:, k]
    return np.asarray(table.columns[name], np.float64)


def _components(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first two principal components of the columns, standardised; missing is the mean."""
    X = _of_size_one(X)
    mean = np.nanmean(X, axis=0)
    X = np.where(np.isnan(X), mean, X) - mean
    X = X / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    _, values, axes = np.linalg.svd(X, full_matrices=False)
    axes *= np.where(np.take_along_axis(axes, abs(axes).argmax(1)[:, None], 1) < 0, -1, 1)
    return X @ axes[:2].T, values[:2] ** 2 / max((values**2).sum(), 1e-300)


def _of_size_one(X: np.ndarray) -> np.ndarray:
    """The columns with 1 as their largest size, so that no difference is too large a number."""
    largest = np.nanmax(np.abs(X), axis=0)
    return np.asarray(X / np.where(largest > 0, largest, 1.0))


def _labels(table: Columns, label: str | None, said: list[str]) -> tuple[np.ndarray, list[str]]:
    """The number of the class of each row, -1 if it is left out, and the names of the classes."""
    if label is None:
        said.append("No column was taken for the labels: all points are of one class.")
        n = len(next(iter(table.columns.values())))
        return np.zeros(n, int), ["all"]
    values = table.columns[label]
    missing = np.array([value is None or value != value for value in values])
    texts = np.array(["" if gone else _text(v) for v, gone in zip(values, missing, strict=True)])
    names, counts = np.unique(texts[~missing], return_counts=True)
    if len(names) > MOST_CLASSES:
        largest = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])
        said.append(f"Only the {MOST_CLASSES} largest of {len(names)} classes are shown.")
        names = names[largest]
    number = {name: k for k, name in enumerate(names.tolist())}
    found = [-1 if gone else number.get(t, -1) for t, gone in zip(texts, missing, strict=True)]
    return np.array(found), [name[:40] for name in names.tolist()]


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)
