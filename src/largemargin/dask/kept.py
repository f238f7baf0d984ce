"""Kernel values that a worker keeps, where they are too dear to be computed each time.

The values of a vector against all rows of a shard are computed when it is first used and serve all
problems, as long as there is room; the vectors that were not used for longest make room for others.
A value is the same bits when it is computed again, and sums are made in the same order, so nothing
depends on how much room there is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import numpy as np

from largemargin.runtime.memory import lazily_paged
from largemargin.runtime.threads import Workers

CHUNK = 512  # vectors that are used at a time, for which there is always room
COLUMNS = 2048  # columns of which sums are made at a time: they stay in cache


class KeptValues:
    """Values of vectors against the rows of a shard.

    Parameters
    ----------
    n : int
        Rows of the shard.
    room : int
        Bytes that may be used.
    compute : callable
        compute(slots) gives the values of vectors against all rows.
    """

    def __init__(
        self, n: int, dtype: np.dtype, room: int, compute: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        self._compute = compute
        most = max(CHUNK, room // max(1, n * dtype.itemsize))
        self._values = lazily_paged((most, n), dtype)
        self._places: OrderedDict[int, int] = OrderedDict()  # by slot, the last used at the end

    def sums(
        self, slots: np.ndarray, coefs: np.ndarray, columns: np.ndarray, team: Workers
    ) -> np.ndarray:
        """coefs @ K between some vectors and some of the rows."""
        from largemargin.dask.kept_loops import add_gathered

        out = np.zeros((len(coefs), len(columns)))
        for lo in range(0, len(slots), CHUNK):
            part = slice(lo, lo + CHUNK)
            places = self._placed(slots[part])
            given = np.ascontiguousarray(coefs[:, part])

            def add(first: int, places: np.ndarray = places, given: np.ndarray = given) -> None:
                some = slice(first, first + COLUMNS)
                for p in range(len(given)):
                    add_gathered(out[p, some], self._values, columns[some], places, given[p])

            team.map(add, range(0, len(columns), COLUMNS))
        return out

    def _placed(self, slots: np.ndarray) -> np.ndarray:
        """Where the values of some vectors are, after those that are missing were computed."""
        wanted = slots.tolist()
        for slot in wanted:
            if slot in self._places:
                self._places.move_to_end(slot)
        missing = [slot for slot in wanted if slot not in self._places]
        if missing:
            values = self._compute(np.array(missing, np.int64))
            for slot, row in zip(missing, values, strict=True):
                free = len(self._places)
                if free == len(self._values):
                    _, free = self._places.popitem(last=False)
                self._values[free] = row
                self._places[slot] = free
        return np.array([self._places[slot] for slot in wanted], np.int64)
