"""Kernel values that a worker keeps, where they are too dear to be computed each time.

The values of a vector against a segment of the columns, the examples of a class say, are computed
when a problem first uses them, and serve all problems, as long as there is room; the vectors that
were not used for longest make room for others. A value is the same bits when it is computed again,
and sums are made in the same order, so nothing depends on how much room there is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from largemargin.runtime.memory import lazily_paged
from largemargin.runtime.threads import Workers

# vectors that are used at a time, for which there is always room; `add_part` takes four at a time
CHUNK = 512
COLUMNS = 2048  # columns of which sums are made at a time: they stay in cache


class KeptValues:
    """Values of vectors against some columns.

    Parameters
    ----------
    n : int
        Columns.
    most : int
        Vectors that there is room for.
    compute : callable
        compute(slots, places, values) writes the values of vectors against the columns into some
        rows of an array, from the left.
    padded : int, optional
        How long these rows are, if longer than the columns.
    """

    def __init__(
        self, n: int, dtype: np.dtype, most: int,
        compute: Callable[[np.ndarray, np.ndarray, np.ndarray], None], padded: int = 0,
    ) -> None:  # fmt: skip
        self.n, self._compute = n, compute
        most = max(CHUNK, most)
        self._values = lazily_paged((most, max(n, padded)), dtype)
        self._holder = np.full(most, -1)  # the slot of the vector in each place
        self._last_use = np.zeros(most, np.int64)
        self._place_of = np.full(0, -1)  # by slot
        self._n_filled = self._now = 0

    def sums(self, slots: np.ndarray, coefs: np.ndarray, team: Workers) -> np.ndarray:
        """coefs @ K between some vectors and the columns."""
        out = np.zeros((len(coefs), self.n))
        for lo in range(0, len(slots), CHUNK):
            part = slice(lo, lo + CHUNK)
            places, given = self._placed(slots[part]), np.ascontiguousarray(coefs[:, part])
            team.map(partial(self._add, out, places, given), self._parts)
        return out

    def holds(self, slots: np.ndarray) -> bool:
        """Whether the values of some vectors are all there."""
        last = int(slots.max(initial=-1))
        return last < len(self._place_of) and bool((self._place_of[slots] >= 0).all())

    def tasks(
        self, slots: np.ndarray, coefs: np.ndarray, out: np.ndarray
    ) -> list[Callable[[], None]]:
        """What adds the sums to `out`, in any order or at once, of vectors that it `holds`."""
        places = self._placed(slots)
        return [partial(self._add, out, places, coefs, first) for first in self._parts]

    @property
    def _parts(self) -> range:
        return range(0, self.n, COLUMNS)

    def _add(self, out: np.ndarray, places: np.ndarray, coefs: np.ndarray, first: int) -> None:
        """Add the sums of some columns: term by term, however many vectors there are at a time."""
        from largemargin.kernels.loops import add_part

        for p in range(len(coefs)):
            end = min(first + COLUMNS, self.n)
            add_part(out[p], self._values, first, end, places, coefs[p])

    def fetch(self, slots: np.ndarray) -> None:
        """Have the values of vectors that are used next, as far as there is room: together they
        take less time than in parts.
        """
        self._placed(slots[: len(self._holder)])

    def _placed(self, slots: np.ndarray) -> np.ndarray:
        """Where the values of some distinct vectors are; those that are missing are computed."""
        self._now += 1
        last = int(slots.max(initial=-1))
        if last >= len(self._place_of):
            more = np.full(last + 1, -1)
            self._place_of = np.concatenate([self._place_of, more])
        places = self._place_of[slots]
        self._last_use[places[places >= 0]] = self._now
        missing = slots[places < 0]
        if len(missing):
            free = self._make_room(len(missing))
            self._compute(missing, free, self._values)
            self._holder[free], self._place_of[missing] = missing, free
            self._last_use[free] = self._now
        return np.asarray(self._place_of[slots])

    def _make_room(self, count: int) -> np.ndarray:
        """Places for vectors: those not taken yet, then those that were not used for longest."""
        fresh = np.arange(self._n_filled, min(self._n_filled + count, len(self._holder)))
        self._n_filled += len(fresh)
        if len(fresh) == count:
            return fresh
        self._last_use[fresh] = self._now
        oldest = np.argsort(self._last_use, kind="stable")[: count - len(fresh)]
        self._place_of[self._holder[oldest]] = -1
        return np.concatenate([fresh, oldest])
