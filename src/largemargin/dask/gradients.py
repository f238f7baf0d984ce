"""The gradient of a problem on the workers of a cluster, each of which has that of its own rows.

In a round all workers are told what a pool has changed: the vectors, by how much, and the gradient
of the pool itself. Each adds the first to the gradient of its other rows and puts the second in its
place. It answers with the gradient of those rows that violate the KKT conditions most, of which
there are many more than can be selected, and of no others:

    down   for each vector that changed 12 bytes, for each row of the pool 8 bytes, for each row 3
           bits: whether it is in the pool, and whether its variable may rise and may fall
    up     8 bytes for each row that may be selected, and a bit for each row

A worker that dies loses its part of the gradient. The coordinator has a copy from an earlier round
and all changes since then: they are made again, in the same order and with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np

from largemargin.dask.shards import Advance, Change, Members, Told, Way

if TYPE_CHECKING:
    from largemargin.dask.values import ShardedKernel

COPIED = 8  # times the memory of a copy that changes may take before there is a new one


@dataclass(frozen=True)
class Logged:
    """What a round has changed: vectors by their slots, and the gradient of the rows of the pool,
    in the order of the shards. `pool` has a bit per row of each shard.
    """

    slots: np.ndarray
    coefs: np.ndarray
    pool: list[np.ndarray]
    grad: list[np.ndarray]

    @property
    def nbytes(self) -> int:
        return sum(one.nbytes for one in (self.slots, self.coefs, *self.pool, *self.grad))


@dataclass(frozen=True)
class Advanced:
    """A round that is asked for: `most` of the rows that may rise, and of those that may fall, are
    told; `whole` asks for all of the gradient, and the `last` round ends it.
    """

    of: ShardedGradient
    rises: np.ndarray
    falls: np.ndarray
    most: int
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
        self._copy, self._n_copied = grad[self._order], 0  # as it was after so many rounds
        self._log: list[Logged] = []  # the rounds since then
        self._told = [(0, 0)] * len(self._parts)  # life, and the rounds that a shard was told of
        self._key = uuid4().hex

    def advance(
        self, examples: np.ndarray, changes: np.ndarray, which: np.ndarray, grad: np.ndarray,
        rises: np.ndarray, falls: np.ndarray, most: int,
    ) -> tuple[np.ndarray, np.ndarray, float]:  # fmt: skip
        """Add changes of some examples to all but `which`, the gradient of which is known.

        Returns some columns, those that violate optimality most among them, with their gradient,
        and the largest number of all.
        """
        pool, values = np.zeros(len(self._order), bool), np.empty(len(self._order))
        pool[which], values[which] = True, grad
        pool, values = pool[self._order], values[self._order]
        self._log.append(
            Logged(
                self._of.vectors(examples).slots,
                changes,
                [np.packbits(pool[part]) for part in self._parts],
                [values[part][pool[part]] for part in self._parts],
            )
        )
        full = sum(one.nbytes for one in self._log) > COPIED * self._copy.nbytes
        found = self._asked(rises[self._order], falls[self._order], most, full)
        told = [
            np.unpackbits(one.told, count=count)
            for one, count in zip(found, self.set.counts, strict=True)
        ]
        places = self._order[np.flatnonzero(np.concatenate(told))]
        grad = np.concatenate([one.grad for one in found])
        return places, grad, max(one.largest for one in found)

    def whole(self, last: bool) -> np.ndarray:
        """All of it; with `last` the workers forget it."""
        none = np.zeros(len(self._order), bool)
        self._asked(none, none, 0, whole=True, last=last)
        out = np.empty(len(self._order))
        out[self._order] = self._copy
        return out

    def _asked(
        self, rises: np.ndarray, falls: np.ndarray, most: int, whole: bool, last: bool = False
    ) -> list[Told]:
        asked = Advanced(self, rises, falls, most, whole, last)
        found: list[Told] = self._of.rows._shared.ask(asked)
        if whole:
            self._copy = np.concatenate([one.whole for one in found])
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
        return len(self._log[-1].slots) * (self.set.counts[k] - len(self._log[-1].grad[k]))

    def told(
        self, k: int, life: int, asked: Advanced, members: Members,
        rows_of: Callable[[np.ndarray], np.ndarray],
    ) -> Advance:  # fmt: skip
        """A round as shard k is told of it: all rounds since the copy if it does not know them."""
        part, known = self._parts[k], self._n_known(k, life)
        copy = None if self._told[k][0] == life else self._copy[part]
        self._told[k] = life, self._n_copied + len(self._log)
        changes = [
            Change(rows_of(one.slots), one.coefs, one.pool[k], one.grad[k])
            for one in self._log[known:]
        ]
        return Advance(
            self._key, self.way, members, copy, self._n_copied + known, changes,
            np.packbits(asked.rises[part]), np.packbits(asked.falls[part]), asked.most,
            asked.whole, asked.last,
        )  # fmt: skip

    def _n_known(self, k: int, life: int) -> int:
        """How many rounds of the log shard k was told of since it was made."""
        of, count = self._told[k]
        return count - self._n_copied if of == life else 0
