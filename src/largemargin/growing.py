"""An array that grows at its end: models of a stream append to their arrays and never move the
rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.memory import untouched

UNIT = 64  # capacities are multiples of it


class Growing:
    """A one- or two-dimensional array with room to spare at its end.

    `values` is what was appended. `padded` goes on to the end of the capacity, the first row
    repeated.

    >>> numbers = Growing(np.int64)
    >>> numbers.extend([1, 2, 3])
    >>> numbers.values
    array([1, 2, 3])
    """

    def __init__(self, dtype: Any, width: int | None = None) -> None:
        self._size = 0
        self.padded = np.empty((0,) if width is None else (0, width), dtype)

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> np.ndarray:
        return self.padded[: self._size]

    def extend(self, rows: Any) -> None:
        rows = np.asarray(rows, self.padded.dtype)
        size = self._size + len(rows)
        if size > len(self.padded):
            capacity = -(-max(size, 2 * self._size) // UNIT) * UNIT
            room = untouched((capacity, *self.padded.shape[1:]), self.padded.dtype)
            room[: self._size] = self.values
            room[self._size :] = room[0] if self._size else rows[0]
            self.padded = room
        self.padded[self._size : size] = rows
        self._size = size

    def truncate(self, size: int) -> None:
        """Forget all but the first `size` rows."""
        self._size = size
