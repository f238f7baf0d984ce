"""What a model answers on labelled rows: predictions, margins, confusions."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.report.intervals import ErrorRate
from largemargin.runtime.arrays import Matrix


@dataclass(frozen=True, eq=False)
class Rows:
    """Labelled rows. `truth` holds class numbers, -1 for a label that the model does not know."""

    name: str
    X: Matrix
    truth: np.ndarray

    def __len__(self) -> int:
        return len(self.truth)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The answers on some rows.

    Attributes
    ----------
    predicted : array of int
        Class numbers.
    margins : array of float
        By how much the true class leads: y f(x) for two classes, else its score less the best other
        one. Below zero for an error; minus infinity where the label is unknown.
    seconds : float
        The time that the answers took.
    scores : array, or None
        The decision values.
    """

    rows: Rows
    predicted: np.ndarray
    margins: np.ndarray
    seconds: float
    scores: np.ndarray | None = None

    @property
    def wrong(self) -> np.ndarray:
        return np.asarray(self.predicted != self.rows.truth)

    @property
    def error(self) -> ErrorRate:
        return ErrorRate(int(self.wrong.sum()), len(self.rows))


def answer(model: Any, rows: Rows) -> Outcome:
    """Ask the model about all rows at once."""
    start = time.perf_counter()
    scores = model.decision_function(rows.X)
    seconds = time.perf_counter() - start
    return Outcome(rows, classes_of(scores), margins_of(scores, rows.truth), seconds, scores)


def classes_of(scores: np.ndarray) -> np.ndarray:
    """The number of the class with the largest score."""
    return scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)


def margins_of(scores: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """By how much the true class leads, for each row."""
    scores = np.asarray(scores, np.float64)
    if scores.ndim == 1:
        margins = np.where(truth == 1, scores, -scores)
    else:
        every = np.arange(len(truth))
        others = scores.copy()
        others[every, truth] = -np.inf
        margins = scores[every, truth] - others.max(axis=1)
    return np.where(truth < 0, -np.inf, margins)


def confusion_matrix(truth: np.ndarray, predicted: np.ndarray, n_classes: int) -> np.ndarray:
    """Counts, one row per true class and one column per predicted class, without unknown labels."""
    known = truth >= 0
    pairs = truth[known] * n_classes + predicted[known]
    return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)
