"""The data of a comparison, and the rules that are the same for every machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.base import strata
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.showing import shown

SCALES = ("minmax", "standard", "none")


@dataclass(frozen=True, eq=False)
class Task:
    """What every machine is trained and tested on.

    Attributes
    ----------
    name : str
    X, y : the training set, X an array, a sparse matrix or a table
    X_test, y_test : the test set
    held_out : bool
        Whether the test set was drawn from the data, because they have none of their own.
    scale : str
        One of `SCALES`; learned from the training set, or from the folds of it that are trained on.
    folds : int
        Of the search.
    search_rows : int
        Training rows that the search has at most; the machine that it finds is trained on all.
    seed : int
        For splits, folds and machines.
    max_seconds : float
        Of processor time for each machine: search, training and certificate.
    preprocessor : TablePreprocessor or None
        Not yet fitted: what makes numbers of rows that are a table.
    label : str or None
        The column of the labels.
    """

    name: str
    X: Matrix
    y: np.ndarray
    X_test: Matrix
    y_test: np.ndarray
    held_out: bool = False
    scale: str = "minmax"
    folds: int = 3
    seed: int = 0
    max_seconds: float = 30.0
    search_rows: int = 600
    preprocessor: Any = None
    label: str | None = None

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.y))

    @property
    def scale_gamma(self) -> float:
        """gamma="scale" on the scaled training set: 1 / (features * variance)."""
        scaler = self.scaler()
        X = self.X if scaler is None else scaler.fit_transform(self.X)
        if hasattr(X, "multiply"):
            variance = float(X.multiply(X).mean() - X.mean() ** 2)
        else:
            variance = float(np.var(X))
        n_features = int(X.shape[1])
        return 1.0 / (n_features * variance) if variance > 0 else 1.0 / n_features

    def scaler(self) -> Any:
        """Not yet fitted; None for no scaling. Sparse data are only divided."""
        from scipy.sparse import issparse
        from sklearn.base import clone
        from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

        if self.preprocessor is not None:
            return clone(self.preprocessor).set_params(scale=self.scale)
        if self.scale == "none":
            return None
        if self.scale == "standard":
            return StandardScaler(with_mean=not issparse(self.X))
        return MaxAbsScaler() if issparse(self.X) else MinMaxScaler()

    def pipeline(self, machine: Any) -> Any:
        """The machine behind the scaler."""
        from sklearn.pipeline import Pipeline

        scaler = self.scaler()
        return Pipeline([*([("scale", scaler)] if scaler else []), ("model", machine)])

    def splits(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows to train and to test on, for each fold of the search."""
        from sklearn.model_selection import StratifiedKFold

        rows = self.sample()
        folds = StratifiedKFold(self.folds, shuffle=True, random_state=self.seed)
        return [(rows[a], rows[b]) for a, b in folds.split(rows, self.y[rows])]

    def sample(self) -> np.ndarray:
        """The rows of the search: all, or of each class its share, and at least one per fold."""
        if len(self.y) <= self.search_rows:
            return np.arange(len(self.y))
        drawn, share = np.random.default_rng(self.seed), self.search_rows / len(self.y)
        found = []
        for label in np.unique(self.y):
            rows = drawn.permutation(np.flatnonzero(self.y == label))
            found.append(rows[: max(self.folds, round(share * len(rows)))])
        return np.sort(np.concatenate(found))


def make_task(
    name: str,
    X: Matrix,
    y: np.ndarray,
    X_test: Matrix | None = None,
    y_test: np.ndarray | None = None,
    *,
    scale: str = "minmax",
    folds: int = 3,
    seed: int = 0,
    max_seconds: float = 30.0,
    search_rows: int = 600,
    held_out: float = 0.25,
    preprocessor: Any = None,
    label: str | None = None,
) -> Task:
    """A task, with a test set drawn by strata if there is none."""
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(SCALES)}, got {shown(scale)}")
    if not 0 < max_seconds < np.inf:
        raise ValueError(f"max_seconds must be a positive number, got {shown(max_seconds)}")
    if folds < 2:
        raise ValueError(f"folds must be at least 2, got {shown(folds)}")
    if search_rows < 1:
        raise ValueError(f"search_rows must be at least 1, got {shown(search_rows)}")
    drawn = X_test is None
    if drawn:
        rows, others = strata.held_out(y, held_out, seed)
        X, X_test, y, y_test = X[rows], X[others], y[rows], y[others]
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < folds:
        column = f" of the column {shown(label)}" if label else ""
        raise ValueError(
            f"{name} has {counts.min()} rows to train on of the class "
            f"{shown(classes.tolist()[counts.argmin()])}{column}, fewer than the {folds} folds of "
            "the search: give more rows of it, leave it out, or use fewer folds, 2 at least"
        )
    assert y_test is not None
    return Task(
        name, X, y, X_test, y_test, drawn, scale, folds, seed, max_seconds, search_rows,
        preprocessor, label,
    )  # fmt: skip
