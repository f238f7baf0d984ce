"""What every reader and every named data set returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Examples and their labels, with a test set where there is one.

    A data set unpacks into its training part: ``X, y = read(path)``.

    Parameters
    ----------
    X : ndarray, csr_matrix or Table of shape (n_samples, n_features)
        The examples; sparse when the file was, a `Table` where columns are text, truth values or
        have missing values, and the caller asked for that (``mixed=True``).
    y : ndarray of shape (n_samples,), or None
        The labels, integers or strings; None for a file without labels.
    X_test, y_test : the same, or None
        The test set, for the data sets that have one.
    name : str
        The name of the data set, or of the file.
    feature_names : tuple of str, or None
        The names of the columns of X, where the file gives them; of a `Table` always.
    label_name : str, or None
        The name of the column of the labels. A column that has no name is called by its position,
        x0 the first.
    label_reason : str
        Why this column was taken for the labels, where a rule decided it.
    label_position : int, or None
        The position of that column in the file, from 0, where it is one of a table.
    notes : tuple of str
        What else was decided while the file was read, a sentence each.

    Examples
    --------
    >>> import numpy as np
    >>> data = Dataset(np.eye(2), np.array([-1, 1]), name="corners")
    >>> data
    Dataset('corners', 2 x 2, 2 classes)
    >>> X, y = data
    >>> y
    array([-1,  1])
    """

    X: Any  # a Matrix, or a Table
    y: np.ndarray | None
    X_test: Any = None  # the same for the data sets that have a test set
    y_test: np.ndarray | None = None
    name: str = ""
    feature_names: tuple[str, ...] | None = None
    label_name: str | None = None
    label_reason: str = ""
    notes: tuple[str, ...] = ()
    label_position: int | None = None

    def __iter__(self) -> Iterator[Any]:
        yield self.X
        yield self.y

    def __repr__(self) -> str:
        rows, width = self.X.shape
        labels = "no labels" if self.y is None else f"{len(np.unique(self.y))} classes"
        test = "" if self.X_test is None else f", {self.X_test.shape[0]} test rows"
        return f"Dataset({self.name!r}, {rows} x {width}, {labels}{test})"
