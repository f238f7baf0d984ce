"""The three data sets: which kernel, which cache sizes, and how the examples are presented to it.

The paper names the kernels but neither the scale of the inputs nor the width. Each is a `View`, and
one of several is chosen on held-out training data. The margin needs no such choice: with 0.01 and
K(x, x) = 1, as for a gaussian and for rows of norm 1, no step of MIRA comes near its limit of 1, so
that its vectors just have the scale of the margin, and another margin gives the same predictions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from largemargin.data.dataset import Dataset
from largemargin.papers.budget import published
from largemargin.papers.experiments import Images

# A common scale is one over the root mean square of the norms.
SCALES = {
    "each": "rows of norm 1",
    "common": "one scale for all rows",
    "none": "as in the file",
}


@dataclass(frozen=True)
class View:
    """How the kernel sees the examples.

    Attributes
    ----------
    blank : bool
        Whether the smallest value, that of blank paper, is taken to zero.
    scale : a key of SCALES
    gamma : float
        Of the kernel.
    """

    blank: bool = False
    scale: str = "none"
    gamma: float = 1.0

    def as_json(self) -> dict[str, Any]:
        return {"blank": self.blank, "scale": self.scale, "gamma": self.gamma}

    @property
    def words(self) -> str:
        if self.scale == "none":
            return f"gamma = {self.gamma:g}"
        return SCALES[self.scale] + (", blank at 0" if self.blank else "")

    def of(self, data: Dataset) -> Dataset:
        """The data set through this view; shift and common scale are those of the training set."""
        shift = data.X.min() if self.blank else data.X.dtype.type(0)
        X, X_test = data.X - shift, data.X_test - shift
        if self.scale == "each":
            X, X_test = _unit_rows(X), _unit_rows(X_test)
        elif self.scale == "common":
            factor = X.dtype.type(1 / np.sqrt(np.mean(np.square(_norms(X)))))
            X, X_test = X * factor, X_test * factor
        return Dataset(X, data.y, X_test, data.y_test, data.name)


@dataclass(frozen=True)
class Task:
    """A data set of the paper.

    Attributes
    ----------
    views : what to choose from on held-out data
    Cs : of the machine, likewise
    sizes, quick_sizes : of the fixed caches, in a full and in a quick run
    """

    name: str
    title: str
    kernel: str
    views: tuple[View, ...]
    Cs: tuple[float, ...]
    sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]

    def parameters(self, view: View) -> dict[str, Any]:
        """Of the kernel, for an estimator."""
        if self.kernel == "poly":
            degree = published.DEGREE
            return {"kernel": "poly", "degree": degree, "coef0": 0.0, "gamma": view.gamma}
        return {"kernel": "rbf", "gamma": view.gamma}


TASKS = {
    task.name: task
    for task in (
        Task(
            "mnist", "MNIST", "poly",
            (View(scale="each"), View(scale="common")),
            (1.0, 10.0, 100.0),
            (500, 1000, 2000, 4000, 8000, 12000), (100, 300, 1000),
        ),
        Task(
            "usps", "USPS", "poly",
            tuple(View(blank, scale) for blank in (True, False) for scale in ("each", "common")),
            (1.0, 10.0, 100.0),
            (100, 200, 400, 800, 1200, 1600, 2400), (100, 300, 1000),
        ),
        Task(
            "letter", "LETTER", "rbf",
            tuple(View(gamma=gamma) for gamma in (0.03, 0.06, 0.12, 0.25)),
            (1.0, 10.0),
            (500, 1000, 2000, 3000, 4000, 6000), (300, 1000, 2000),
        ),
    )
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Problem:
    """A task with its data."""

    task: Task
    images: Images
    _seen: dict[View, Dataset] = field(default_factory=dict)

    def seen_through(self, view: View) -> Dataset:
        """The data through a view; the last one is kept."""
        if view not in self._seen:
            self._seen.clear()
            self._seen[view] = view.of(self.images.data)
        return self._seen[view]

    @property
    def comparable(self) -> bool:
        """Whether the published numbers are about as much data."""
        return (self.images.n_train, self.images.n_test) == published.DATA_SIZES[self.task.name]


def some_of(data: Dataset, n_train: int, n_test: int) -> Dataset:
    """At most so many examples, always the same ones."""
    random = np.random.RandomState(0)  # its stream is frozen
    train = np.sort(random.permutation(len(data.X))[:n_train])
    test = np.sort(random.permutation(len(data.X_test))[:n_test])
    assert data.y is not None
    assert data.y_test is not None
    return Dataset(data.X[train], data.y[train], data.X_test[test], data.y_test[test], data.name)


def _norms(X: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64)))


def _unit_rows(X: np.ndarray) -> np.ndarray:
    norms = _norms(X)
    norms[norms == 0] = 1.0
    return np.asarray(X / norms[:, None].astype(X.dtype))
