"""The images that experiments are about, and how an experiment knows that they are the same."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from largemargin.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class Images:
    """A training and a test set, with what identifies them."""

    data: Dataset

    @cached_property
    def identity(self) -> dict[str, Any]:
        parts = (self.data.X, self.data.y, self.data.X_test, self.data.y_test)
        checksum = 0
        for part in parts:
            checksum = zlib.crc32(np.ascontiguousarray(part).data, checksum)
        return {
            "name": self.data.name,
            "n_train": self.n_train,
            "n_test": self.n_test,
            "checksum": checksum,
        }

    @property
    def n_train(self) -> int:
        return int(self.data.X.shape[0])

    @property
    def n_test(self) -> int:
        return int(self.data.X_test.shape[0])
