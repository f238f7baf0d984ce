"""The gradient of a problem on the workers of a cluster, each of which has that of its own rows.

In a round all workers are told what a pool has changed: the vectors, and by how much. Each adds
that to the gradient of its other rows. That of the pool is known to the coordinator alone, which
tells of it when a row leaves the pool; most rows stay for several rounds. A worker answers with the
gradient of those of its other rows that violate the KKT conditions most, of which there are many
more than can be selected, and only of rows that violate them as much as those of the pool do:

    down   for each vector that changed 8 bytes and a few bits that say which it is, for each row
           that leaves the pool 8 bytes, for each row 3 bits: whether it is in the pool, and whether
           its variable may rise and may fall
    up     8 bytes for each row that may be selected, and a bit for each row

A worker that dies loses its part of the gradient. The coordinator has a copy from an earlier round
and all changes since then: they are made again, in the same order and with the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np

from largemargin.dask.cluster import n_bytes
from largemargin.dask.packing import Numbers, packed_numbers
from largemargin.dask.shards import Advance, Change, Copy, Members, Told, Way

if TYPE_CHECKING:
    from largemargin.dask.values import ShardedKernel

COPIED = 8  # times the memory of a copy that changes may take before there is a new one


@dataclass(frozen=True)
class Logged:
    """What a round has changed: vectors by their slots and by the numbers of their rows, and the
    gradient of the rows that have left the pool since the last round, in the order of the shards.
    `pool` has a bit per row of each shard.
    """

    slots: np.ndarray
    numbers: Numbers
    coefs: np.ndarray
    pool: list[np.ndarray]
    left: list[np.ndarray]

    @property
    def nbytes(self) -> int:
        return n_bytes([self.slots, self.numbers, self.coefs, self.pool, self.left])


@dataclass(frozen=True)
class Advanced:
    """A round that is asked for: `most` of the rows that may rise, and of those that may fall, are
    told, if their gradient is as far down, or up, as `ends` say; `whole` asks for all of the
    gradient, and the `last` round ends it.
    """

    of: ShardedGradient
    rises: np.ndarray
    falls: np.ndarray
    most: int
    ends: tuple[float, float]
    whole: bool
    last: bool


class ShardedGradient:
    """The gradient of a problem over some rows; `grad` is that of the start."""

    def __init__(self, of: ShardedKernel, rows: np.ndarray, grad: np.ndarray) -> None:
        columns = of.columns(rows)
        self.way: Way = of.way(of.rows.dtype.name, kept=False)
        self.set = columns.sets[0]
        self._of, self._order = of, columns.order
        ends = np.cumsum([0, *self.set.counts]).tolist()
        self._parts = [slice(*ends_of) for ends_of in pairwise(ends)]
        self._pool, self._of_pool = np.zeros(len(grad), bool), np.empty(len(grad))
        self._copy, self._n_copied = grad[self._order], 0  # as it was after so many rounds
        self._copied_pool = self._pool
        self._log: list[Logged] = []  # the rounds since then
        self._told = [(0, 0)] * len(self._parts)  # life, and the rounds that a shard was told of
        self._key = uuid4().hex

    def advance(
        self, examples: np.ndarray, changes: np.ndarray, which: np.ndarray, grad: np.ndarray,
        rises: np.ndarray, falls: np.ndarray, most: int,
    ) -> tuple[np.ndarray, np.ndarray, float]:  # fmt: skip
        """Add changes of some examples to all but `which`, the gradient of which is known.

        Returns some of the others, those that violate optimality most among them, with their
        gradient, and the largest number of all.
        """
        pool, values = np.zeros(len(self._order), bool), np.empty(len(self._order))
        pool[which], values[which] = True, grad
        pool, values = pool[self._order], values[self._order]
        left = self._pool & ~pool
        self._log.append(
            Logged(
                self._of.vectors(examples).slots,
                packed_numbers(self._of.rows.numbers(examples)),
                changes,
                [np.packbits(pool[part]) for part in self._parts],
                [self._of_pool[part][left[part]] for part in self._parts],
            )
        )
        self._pool, self._of_pool = pool, values
        ends = -_end(-grad[rises[which]], most), _end(grad[falls[which]], most)
        full = sum(one.nbytes for one in self._log) > COPIED * self._copy.nbytes
        found = self._asked(rises[self._order], falls[self._order], most, ends, full)
        told = [
            np.unpackbits(one.told, count=count)
            for one, count in zip(found, self.set.counts, strict=True)
        ]
        places = self._order[np.flatnonzero(np.concatenate(told))]
        largest = max(float(np.abs(grad).max(initial=0.0)), *(one.largest for one in found))
        return places, np.concatenate([one.grad for one in found]), largest

    def whole(self, last: bool) -> np.ndarray:
        """All of it; with `last` the workers forget it."""
        none = np.zeros(len(self._order), bool)
        self._asked(none, none, 0, (0.0, 0.0), whole=True, last=last)
        out = np.empty(len(self._order))
        out[self._order] = self._copy
        return out

    def _asked(
        self, rises: np.ndarray, falls: np.ndarray, most: int, ends: tuple[float, float],
        whole: bool, last: bool = False,
    ) -> list[Told]:  # fmt: skip
        asked = Advanced(self, rises, falls, most, ends, whole, last)
        found: list[Told] = self._of.rows._shared.ask(asked)
        if whole:
            self._copy = np.concatenate([one.whole for one in found])
            self._copy[self._pool] = self._of_pool[self._pool]
            self._copied_pool = self._pool
            self._n_copied += len(self._log)
            self._log = []
        return found

    def missing(self, k: int, life: int) -> list[np.ndarray]:
        """The slots of the vectors that shard k is told of in the next round."""
        return [one.slots for one in self._log[self._n_known(k, life) :]]

    def n_values(self, k: int) -> int:
        """How many kernel values the last round takes on shard k."""
        if not self._log:
            return 0
        return len(self._log[-1].slots) * int(np.count_nonzero(~self._pool[self._parts[k]]))

    def told(self, k: int, life: int, asked: Advanced, members: Members) -> Advance:
        """A round as shard k is told of it: all rounds since the copy if it does not know them."""
        part, known = self._parts[k], self._n_known(k, life)
        copy = None
        if self._told[k][0] != life:
            copy = Copy(packed_numbers(self._copy[part]), np.packbits(self._copied_pool[part]))
        self._told[k] = life, self._n_copied + len(self._log)
        changes = [
            Change(one.numbers, one.coefs, one.pool[k], one.left[k]) for one in self._log[known:]
        ]
        return Advance(
            self._key, self.way, members, copy, self._n_copied + known, changes,
            np.packbits(asked.rises[part]), np.packbits(asked.falls[part]), asked.most,
            asked.ends, asked.whole, asked.last,
        )  # fmt: skip

    def _n_known(self, k: int, life: int) -> int:
        """How many rounds of the log shard k was told of since it was made."""
        of, count = self._told[k]
        return count - self._n_copied if of == life else 0


def _end(values: np.ndarray, most: int) -> float:
    """What so many values reach: others below it are not among so many largest ones."""
    return float(np.partition(values, -most)[-most]) if 0 < most <= len(values) else -np.inf
