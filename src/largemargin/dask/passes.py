"""Functions of all rows, or of some of them, computed on the workers stretch by stretch.

This is what linear machines are trained with: X w, X'b, and X'DX of w and b at the client.

    down   once for each shard: what is as short as w; numbers beside the rows, as b, 8 bytes each
           for the rows of the shard; and a bit per row if not all of them are meant
    up     a number per row, 8 bytes each; or sums over the stretches of the shard

The sums of stretches are added up in pairs, in pairs of pairs, and so on. A worker sends what its
own stretches make of this tree, some arrays, and the client adds up the rest. So an answer does
not depend on how the rows were shared out, nor on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from largemargin.dask.cluster import Cluster
from largemargin.dask.collections import STRETCH
from largemargin.dask.shards import RowShard
from largemargin.runtime.arrays import PairedSum
from largemargin.runtime.threads import single_thread

AT_ONCE = 32  # stretches whose sums are held at the same time


@dataclass(frozen=True)
class Pass:
    """A function to compute over some of the rows, a bit each, or all; `beside` are arrays with an
    entry per row, of which the function has its part after the rows.
    """

    dtype: str
    function: Callable[..., np.ndarray]
    beside: tuple[np.ndarray, ...]
    args: tuple[Any, ...]
    members: np.ndarray | None = None

    def stretches(self, shard: RowShard) -> list[Callable[[], np.ndarray]]:
        """The function of each stretch."""
        X, ends = shard.version(self.dtype), np.arange(0, shard.n + STRETCH, STRETCH)
        if self.members is None:
            rows, ends = None, np.minimum(ends, shard.n)
        else:
            rows = np.flatnonzero(np.unpackbits(self.members, count=shard.n))
            ends = np.searchsorted(rows, ends)

        def run(first: int, end: int) -> np.ndarray:
            part: Any = slice(first, end) if rows is None else rows[first:end]
            return self.function(X[part], *(one[first:end] for one in self.beside), *self.args)

        return [partial(run, first, end) for first, end in pairwise(ends.tolist())]


def by_rows(cluster: Cluster, wanted: Pass, rows: np.ndarray | None = None) -> np.ndarray:
    """An entry for each of the rows, or of some rows."""
    parts, order = _asked(cluster, "rows", _by_rows, wanted, rows)
    found = np.concatenate(parts)
    if found.dtype == np.uint16:
        found = found.astype(np.float64)
    if order is None:
        return found
    out = np.empty_like(found)
    out[order] = found
    return out


def totals(cluster: Cluster, wanted: Pass, rows: np.ndarray | None = None) -> np.ndarray:
    """The sum over all stretches, of all rows or of some."""
    total = PairedSum()
    for parts in _asked(cluster, "sums", _totals, wanted, rows)[0]:
        for level, number, value in parts:
            total.add(level, number, value)
    return total.total()


def _asked(
    cluster: Cluster, what: str, run: Callable[[RowShard, Pass], Any], wanted: Pass,
    rows: np.ndarray | None,
) -> tuple[list[Any], np.ndarray | None]:  # fmt: skip
    """What each shard answers, and the order in which the rows come, if not in their own."""
    ranges = [shard.rows for shard in cluster.shards]
    ends, order, beside, members = ranges, None, wanted.beside, np.zeros(0, bool)
    if rows is not None:
        members = np.zeros(ranges[-1][1], bool)
        members[rows] = True
        order = np.argsort(rows, kind="stable")
        beside = tuple(one[order] for one in beside)
        firsts = np.searchsorted(rows[order], np.array(ranges))
        ends = [(int(first), int(end)) for first, end in firsts]

    def arguments(k: int) -> tuple[Pass]:
        mine = None if rows is None else np.packbits(members[slice(*ranges[k])])
        parts = tuple(np.ascontiguousarray(one[slice(*ends[k])]) for one in beside)
        return (replace(wanted, beside=parts, members=mine),)

    return cluster.ask(what, run, arguments), order


def _by_rows(shard: RowShard, asked: Pass) -> np.ndarray:
    """On a worker: what a function gives of the rows."""
    return _compact(np.concatenate(_computed(shard, asked.stretches(shard))))


def _totals(shard: RowShard, asked: Pass) -> list[tuple[int, int, np.ndarray]]:
    """On a worker: parts of the sum over all stretches."""
    stretches, total = asked.stretches(shard), PairedSum()
    number = shard.first // STRETCH
    for first in range(0, len(stretches), AT_ONCE):
        found = _computed(shard, stretches[first : first + AT_ONCE])
        for k, value in enumerate(found):
            total.add(0, number + first + k, value)
    return [(*key, value) for key, value in total.parts.items()]


def _computed(shard: RowShard, stretches: list[Callable[[], np.ndarray]]) -> list[np.ndarray]:
    found: list[Any] = [None] * len(stretches)

    def run(k: int) -> None:
        found[k] = stretches[k]()

    with single_thread():
        shard.team.map(run, range(len(stretches)))
    return found


def _compact(values: np.ndarray) -> np.ndarray:
    """Counts take fewer bytes on their way."""
    if values.dtype != np.float64 or values.ndim != 1 or np.signbit(values).any():
        return values
    if not values.max(initial=0) < 2**16:  # or there is a NaN
        return values
    small = values.astype(np.uint16)
    return small if (small == values).all() else values
