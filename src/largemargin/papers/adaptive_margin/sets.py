"""The six data sets as they are learned: random splits, inputs of mean 0 and deviation 1."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from largemargin.data.dataset import Dataset

Load = Callable[..., Dataset]


@dataclass(frozen=True, eq=False)
class Splits:
    """Some of the splits of a data set, of which `first` is the number of the first."""

    name: str
    parts: tuple[Dataset, ...]
    first: int = 0

    def some(self, first: int, count: int) -> Splits:
        return Splits(self.name, self.parts[first : first + count], self.first + first)

    @property
    def words(self) -> str:
        """For the name of a file: the numbers of the first and the last."""
        return f"{self.first}-{self.first + len(self.parts) - 1}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        checksum = 0
        for part in self.parts:
            for array in (part.X, part.y, part.X_test, part.y_test):
                checksum = zlib.crc32(np.ascontiguousarray(array).data, checksum)
        sizes = [len(self.parts[0].X), len(self.parts[0].X_test)]
        return {"name": self.name, "splits": self.words, "sizes": sizes, "checksum": checksum}


def load_splits(load: Load, name: str, count: int) -> Splits:
    """The first `count` splits, each standardised."""
    return Splits(name, tuple(standardise(load(name, split=k)) for k in range(count)))


def standardise(data: Dataset) -> Dataset:
    """Inputs with mean 0 and deviation 1 over the training part, and the test part likewise."""
    mean, deviation = data.X.mean(axis=0), data.X.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    return Dataset(
        (data.X - mean) / deviation,
        data.y,
        (data.X_test - mean) / deviation,
        data.y_test,
        name=data.name,
    )


def folds(data: Dataset, count: int) -> Iterator[Dataset]:
    """The training part in stratified folds, each in turn the test part of the rest."""
    assert data.y is not None
    splitter = StratifiedKFold(count, shuffle=True, random_state=0)
    for train, test in splitter.split(data.X, data.y):
        yield Dataset(data.X[train], data.y[train], data.X[test], data.y[test], name=data.name)
