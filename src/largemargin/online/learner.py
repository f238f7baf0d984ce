"""A learner's way along a stream: its arrays, and how they grow with what is stored and with the
classes that appear.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from largemargin.base.expansion import Expansion
from largemargin.kernels.basis import Basis
from largemargin.kernels.functions import Kernel
from largemargin.online.arrays import (
    EVERY,
    FORGETRON,
    FREE,
    LOG_LENGTH,
    LOGGED,
    N_TALLIES,
    N_TUNING,
    NEWEST,
    PROJECTRON,
    SEEN,
    SIZE,
    TOP,
    Block,
    Cache,
    Learner,
    Rows,
    Work,
    make_work,
    most_slots,
    removes,
    zero_rows,
)
from largemargin.online.prefetch import LOOK_AHEAD, LookAhead, Stretch, Vectors, block_bytes
from largemargin.runtime.progress import Watch
from largemargin.runtime.threads import Workers

VALUES = 1 << 23  # kernel values against the cache that are looked at together, at most
SHORTEST = 16  # but so many examples are, however large the cache


def n_rows_of(n_classes: int) -> int:
    """How many vectors so many classes have: nothing is to be told apart with less than two."""
    return n_classes if n_classes > 2 else max(n_classes - 1, 0)


@dataclass(frozen=True)
class Answers:
    """What the examples of a chunk were answered before they were learned: for parts of it in their
    order the classes known there and the scores, a row an example, of the vectors or, if so asked,
    of their average."""

    average: bool
    parts: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    def add(self, classes: np.ndarray, scores: np.ndarray, before: np.ndarray) -> None:
        """Add the scores of a block at whose first example there were the classes `before`.

        If that example is the first of its class, the class is none that it could be answered with,
        and the scores are those of the vectors that there would be without it.
        """
        if len(before) < len(classes):
            kept = np.searchsorted(classes, before)
            kept = kept[-1:] if len(before) == 2 else kept[: n_rows_of(len(before))]
            self.parts.append((before, scores[:1, kept]))
            scores = scores[1:]
        self.parts.append((classes, scores))


def stretches(labels: np.ndarray, known: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """Part a chunk where a class is seen first: (start, stop, the classes known there, ascending).
    The label -1 is no class.

    >>> list(stretches(np.array([3, 3, 1, 3]), np.array([3])))
    [(0, 2, array([3])), (2, 4, array([1, 3]))]
    """
    found, first = np.unique(labels, return_index=True)
    new = ~np.isin(found, known) & (found >= 0)
    order = np.argsort(first[new])
    start = 0
    for place, label in zip(first[new][order], found[new][order], strict=True):
        if place > start:
            yield start, int(place), known
        known, start = np.union1d(known, [label]), int(place)
    if start < len(labels):
        yield start, len(labels), known


class Run:
    """What a learner has become.

    Parameters
    ----------
    rule, policy : int
        See `rules` and `policies`.
    budget : int or None
        The most examples stored.
    averages : bool
        Whether to keep the average over the stream.
    settings : array
        The numbers of the rule.
    seed : int
        For random removal.
    """

    def __init__(
        self,
        kernel: Kernel,
        dtype: np.dtype,
        rule: int,
        policy: int,
        budget: int | None,
        averages: bool,
        settings: np.ndarray,
        seed: int,
    ) -> None:
        self.kernel = kernel
        self.dtype = dtype
        self.budget = budget
        self.n_classes = 0
        self.vectors = Vectors(kernel, dtype)
        self.keeps_gram = removes(policy)
        self.projects = policy == PROJECTRON
        # the forgetron steps before it removes
        self.limit = None if budget is None else budget + (policy == FORGETRON)
        tally = np.zeros(N_TALLIES, np.int64)
        tally[EVERY], tally[NEWEST] = 1, -1
        self.learner = Learner(
            rule, policy, -1 if budget is None else budget, averages, settings, tally,
            np.zeros(LOG_LENGTH, np.int64), np.zeros(N_TUNING), np.array([seed], np.uint64),
        )  # fmt: skip
        self.cache = self._empty_cache(0)
        self.rows = zero_rows(0, 0)
        self._expansions: dict[bool, Expansion] = {}

    def _empty_cache(self, room: int) -> Cache:
        square = (room, room)
        return Cache(
            np.full(room, -1), np.zeros(room, np.int64), np.zeros(room), np.arange(room),
            np.zeros(square if self.keeps_gram else (0, 0), self.dtype),
            np.zeros(square if self.projects else (0, 0)),
        )  # fmt: skip

    @property
    def tally(self) -> np.ndarray:
        return self.learner.tally

    @property
    def sizes(self) -> np.ndarray:
        """The log: examples seen and stored, a row an entry."""
        sizes = self.learner.log[: self.tally[LOGGED]]
        return np.column_stack([np.arange(1, len(sizes) + 1) * self.tally[EVERY], sizes])

    def learn(
        self,
        X: Any,
        labels: np.ndarray,
        known: np.ndarray,
        team: Workers,
        memory: int,
        watch: Watch,
        answers: Answers | None = None,
        apart: bool = True,
    ) -> int:
        """Learn from the rows of X, whose labels are numbers of which the first `n_classes` classes
        are `known`. Returns how many were learned from: all, unless the watch has stopped.

        If there are `answers` to be given, so are they to each row before it is learned, and rows
        with the label -1 are only answered. Kernel values are each computed `apart`, so that not
        one bit depends on the chunks that a stream comes in; or, if all of it is here, in matrix
        products, which are faster."""
        first = int(self.tally[SEEN])
        ahead = LookAhead(self.vectors, self.vectors.match(X), first, team, apart)
        work: Work | None = None
        for start, stop, classes in stretches(labels, known):
            self._admit(known, classes)
            before, known = known, classes
            numbers = np.searchsorted(classes, labels[start:stop])
            numbers[labels[start:stop] < 0] = -1
            while start < stop:
                n = ahead.waiting or self.look(stop - start, memory)
                self._make_room(n, memory)
                stretch = ahead.take(start, n, int(self.tally[TOP]))
                self._look_past(ahead, stretch, stop, memory)
                here = numbers[len(numbers) - (stop - start) :][:n]
                work = self._fitting(work, stretch)
                n = self._learn_block(ahead, stretch, here, (before, classes), answers, work)
                start, before = start + n, classes
                watch.advance(n, f"{self.tally[SIZE]} stored")
                if watch.stopped:
                    return start
        return len(labels)

    def look(self, n: int, memory: int) -> int:
        """How many of the next n examples are looked at together, for which there must be memory.

        That does not depend on the memory: the last bits of kernel values depend on what is
        computed together.
        """
        n = min(n, self._length())
        self._check_memory(n, 0, 0, memory)
        return n

    def _length(self) -> int:
        """The most examples that are looked at together."""
        most = VALUES // (int(self.tally[TOP]) + 2 * LOOK_AHEAD)
        return min(LOOK_AHEAD, max(SHORTEST, most))

    def _check_memory(self, n: int, n_next: int, n_later: int, memory: int) -> None:
        """Refuse memory that is too little for a stretch of n examples, those of the next and what
        can be known of those after it.
        """
        top, room = int(self.tally[TOP]), len(self.cache.positions)
        slots = self._needed(n + n_next)
        least = self._gram_bytes(max(room, slots)) + block_bytes(n, 0, top, self.dtype)
        least += block_bytes(n_next, n, top, self.dtype) + block_bytes(n_later, 0, 0, self.dtype)
        if least > memory:
            raise ValueError(
                f"memory={memory} bytes is too little for the kernel values of {slots} stored "
                f"examples: allow at least {least}, or store less with a smaller budget"
            )

    def _look_past(self, ahead: LookAhead, stretch: Stretch, stop: int, memory: int) -> None:
        """Have the values of the next stretch computed, and of the one after it begun."""
        left = stop - stretch.stop
        n_next = min(left, self._length())
        n_later = min(left - n_next, self._length())
        self._check_memory(len(stretch), n_next, n_later, memory)
        if n_next:
            ahead.begin(stretch, n_next, int(self.tally[TOP]), n_later)

    def _needed(self, n: int) -> int:
        """The slots that n more examples may need."""
        needed = max(int(self.tally[TOP]), int(self.tally[SIZE]) + n)
        return needed if self.limit is None else min(needed, self.limit)

    def _make_room(self, n: int, memory: int) -> None:
        """Room for n more examples, and ample if there is memory for it, so that it is seldom
        made."""
        needed, room = self._needed(n), len(self.cache.positions)
        if needed > room:
            ample = 2 * room if self.limit is None else min(2 * room, self.limit)
            # as much as a stretch takes, and others that are looked at meanwhile
            held = 3 * block_bytes(n, n, int(self.tally[TOP]), self.dtype)
            if self._gram_bytes(ample) + held > memory:
                ample = needed
            self.reserve(max(needed, ample))

    def _gram_bytes(self, room: int) -> int:
        """What a cache of so many slots holds of kernel values."""
        return room * room * (self.keeps_gram * self.dtype.itemsize + self.projects * 8)

    def reserve(self, room: int) -> None:
        """Room for so many slots."""
        old, new = self.cache, self._empty_cache(room)
        for before, after in zip(old, new, strict=True):
            after[tuple(slice(n) for n in before.shape)] = before
        self.cache = new
        self.vectors.reserve(room)
        self.rows = self._with_rows(range(len(self.rows.scale)))

    def make_rows(self, n: int) -> None:
        """So many vectors, all zero."""
        self.rows = zero_rows(n, len(self.cache.positions))

    def _with_rows(self, sources: Sequence[int | None]) -> Rows:
        """Vectors as wide as the cache, each one of the present ones or, for None, zero."""
        new = zero_rows(len(sources), len(self.cache.positions))
        for r, source in enumerate(sources):
            if source is not None:
                for before, after in zip(self.rows, new, strict=True):
                    if before.ndim == 1:
                        after[r] = before[source]
                    else:
                        after[r, : before.shape[1]] = before[source]
        return new

    def _admit(self, known: np.ndarray, classes: np.ndarray) -> None:
        """Make the vectors those of more classes: a new one starts at zero, and one vector for two
        classes, w, becomes two, -w and w."""
        before, self.n_classes = self.n_classes, len(classes)
        if before == self.n_classes:
            return
        places = np.searchsorted(classes, known)
        self.cache.labels[:] = places[self.cache.labels] if len(known) else 0
        n = n_rows_of(self.n_classes)
        sources: list[int | None] = [None] * n
        if n > 1:
            for old, new in enumerate(places[:before]):
                sources[new] = old if before > 2 else (0 if before == 2 else None)
        self.rows = self._with_rows(sources)
        if before == 2 and n > 1:
            mirrored = places[0]
            for part in (self.rows.coefs, self.rows.others, self.rows.debts):
                part[mirrored] = 0.0 - part[mirrored]  # a zero stays one without a sign

    def _learn_block(
        self,
        ahead: LookAhead,
        stretch: Stretch,
        labels: np.ndarray,
        classes: tuple[np.ndarray, np.ndarray],
        answers: Answers | None,
        work: Work,
    ) -> int:
        """Learn from the first rows of a stretch, before and from the first of which on these
        classes are known; returns how many."""
        from largemargin.online.loop import walk

        n, n_rows = len(stretch), len(self.rows.scale)
        accuracy = float(np.sqrt(np.finfo(self.dtype).eps))
        scores = np.zeros((n * (answers is not None), n_rows))
        average = answers is not None and answers.average
        block = Block(
            labels, stretch.own, stretch.against, stretch.since, stretch.within, stretch.arrivals
        )
        n = walk(self.learner, block, self.cache, self.rows, work, accuracy, average, scores)
        if answers is not None:
            before, known = classes
            answers.add(known, scores[:n], before)
        ahead.finish()  # it reads the vectors
        slots, places = work.arrived[:, : work.n_arrived[0]]
        rows, squares = ahead.rows(stretch, places)
        self.vectors.replace(slots, rows, squares, int(self.tally[TOP]))
        self._expansions.clear()
        if n < len(labels):
            ahead.forget()
        ahead.arrived(slots, rows, squares)
        if self.tally[TOP] > most_slots(int(self.tally[SIZE])):
            self._compact()
            ahead.forget()
        return n

    def _fitting(self, work: Work | None, stretch: Stretch) -> Work:
        """Room for the walk over a stretch: that which there is, if it will do."""
        width, room, n_rows = stretch.width, len(self.cache.positions), len(self.rows.scale)
        if (
            work is not None
            and len(work.row) >= width
            and (len(work.values), len(work.raw)) == (room, n_rows)
        ):
            return work
        return make_work(width, room, n_rows, self.dtype)

    def _compact(self) -> None:
        """Move what is stored into the first slots and give up the room of the rest."""
        slots = np.flatnonzero(self.cache.positions[: self.tally[TOP]] >= 0)
        old, self.cache = self.cache, self._empty_cache(len(slots))
        for before, after in zip(old, self.cache, strict=True):
            if before.size:
                after[:] = before[slots] if before.ndim == 1 else before[np.ix_(slots, slots)]
        rows = self.rows
        self.make_rows(len(rows.scale))
        for before, after in zip(rows, self.rows, strict=True):
            after[:] = before if before.ndim == 1 else before[:, slots]
        self.vectors.take(slots)
        self.tally[TOP] = self.tally[FREE] = len(slots)

    def copy(self) -> Run:
        """A run that goes on by itself from here."""
        twin = copy(self)
        twin.cache, twin.rows, twin.learner = deepcopy((self.cache, self.rows, self.learner))
        twin.vectors = self.vectors.copy()
        twin._expansions = {}
        return twin

    def expansion(self, average: bool) -> Expansion:
        """The vectors now, or their average over the stream, over the stored examples in the order
        of the stream."""
        if average not in self._expansions:
            slots = np.flatnonzero(self.cache.positions[: self.tally[TOP]] >= 0)
            slots = slots[np.argsort(self.cache.positions[slots])]
            basis = Basis(self.kernel, self.dtype)
            if len(slots):
                basis.add(self.vectors.rows[slots], self.cache.positions[slots])
            coefs, debts = self.rows.coefs[:, slots], self.rows.debts[:, slots]
            if average:
                coefs = coefs * self.rows.passed[:, None] - debts
                coefs /= max(int(self.tally[SEEN]), 1)
            else:
                coefs = coefs * self.rows.scale[:, None]
            self._expansions[average] = Expansion(basis, coefs, np.zeros(len(coefs)))
        return self._expansions[average]
