"""The state of a learner along a stream: its arrays, and how they grow with what is stored and with
the classes that appear.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field

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
    Weights,
    Work,
    make_work,
    most_slots,
    removes,
    zero_weights,
)
from largemargin.online.prefetch import (
    LOOK_AHEAD,
    PrefetchedBlock,
    Prefetcher,
    StoredExamples,
    block_bytes,
)
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.progress import Watch
from largemargin.runtime.threads import Workers

MAX_BLOCK_VALUES = 1 << 23  # largest number of kernel values of a block against the cache
# The part of |x|^2 outside the span of the stored examples from which on the projectron stores x.
# With less the inverse of the Gram matrix loses its digits on data of few dimensions.
CLEARANCE = {"float64": 1e-4, "float32": 1e-3}
MIN_BLOCK = 16  # least number of examples of a block, however large the cache


def n_vectors_of(n_classes: int) -> int:
    """How many weight vectors so many classes have: with less than two there is none."""
    return n_classes if n_classes > 2 else max(n_classes - 1, 0)


@dataclass(frozen=True)
class Answers:
    """What the examples of a chunk were answered before they were learned.

    For parts of the chunk, in their order, there are the classes known there and the scores, one
    row per example, of the weight vectors or, if so asked, of their average.
    """

    average: bool
    parts: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    def add(self, classes: np.ndarray, scores: np.ndarray, before: np.ndarray) -> None:
        """Add the scores of a block at whose first example there were the classes `before`.

        If that example is the first of its class, the class is none that it could be answered with,
        and the scores are those of the weight vectors that there would be without it.
        """
        if len(before) < len(classes):
            kept = np.searchsorted(classes, before)
            kept = kept[-1:] if len(before) == 2 else kept[: n_vectors_of(len(before))]
            self.parts.append((before, scores[:1, kept]))
            scores = scores[1:]
        self.parts.append((classes, scores))


def split_at_new_classes(
    labels: np.ndarray, known: np.ndarray
) -> Iterator[tuple[int, int, np.ndarray]]:
    """Split a chunk where a class is seen first: (start, stop, the classes known there, ascending).

    The label -1 is no class.

    >>> list(split_at_new_classes(np.array([3, 3, 1, 3]), np.array([3])))
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


class LearnerState:
    """What a learner has become: its cache, its weight vectors and what it has counted.

    Parameters
    ----------
    rule, policy : int
        See `arrays`.
    budget : int or None
        The most examples stored.
    averages : bool
        Whether to keep the average over the stream.
    settings : array
        The numbers of the rule.
    seed : int
        For random eviction.
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
        self.stored = StoredExamples(kernel, dtype)
        self.keeps_gram = removes(policy)
        self.projects = policy == PROJECTRON
        self.clearance = CLEARANCE[dtype.name]
        # slots that may be needed: the forgetron stores the new example before it evicts one
        self.limit = None if budget is None else budget + (policy == FORGETRON)
        tally = np.zeros(N_TALLIES, np.int64)
        tally[EVERY], tally[NEWEST] = 1, -1
        self.learner = Learner(
            rule, policy, -1 if budget is None else budget, averages, settings, tally,
            np.zeros(LOG_LENGTH, np.int64), np.zeros(N_TUNING), np.array([seed], np.uint64),
        )  # fmt: skip
        self.cache = self._empty_cache(0)
        self.weights = zero_weights(0, 0)
        self.n_unvisited = 0  # rows that a fit which was stopped did not come to
        self._expansions: dict[bool, Expansion] = {}

    def _empty_cache(self, n_slots: int) -> Cache:
        square = (n_slots, n_slots)
        return Cache(
            np.full(n_slots, -1), np.zeros(n_slots, np.int64), np.zeros(n_slots),
            np.arange(n_slots), np.zeros(square if self.keeps_gram else (0, 0), self.dtype),
            np.zeros(square if self.projects else (0, 0)),
        )  # fmt: skip

    @property
    def tally(self) -> np.ndarray:
        return self.learner.tally

    @property
    def n_given(self) -> int:
        """How many examples there were, those included that a stopped fit did not come to."""
        return int(self.tally[SEEN]) + self.n_unvisited

    @property
    def sizes(self) -> np.ndarray:
        """The log: examples seen and examples stored, one row per entry."""
        sizes = self.learner.log[: self.tally[LOGGED]]
        return np.column_stack([np.arange(1, len(sizes) + 1) * self.tally[EVERY], sizes])

    def learn(
        self,
        X: Matrix,
        labels: np.ndarray,
        known: np.ndarray,
        team: Workers,
        memory: int,
        watch: Watch,
        answers: Answers | None = None,
        apart: bool = True,
        order: np.ndarray | None = None,
    ) -> int:
        """Learn from the rows of X; returns how many, which is all unless the watch has stopped.

        Labels are numbers, and `known` are those of the classes known so far. If there are
        `answers`, the scores of each row before it is learned are added to them, and rows with the
        label -1 are only answered. Kernel values are each computed `apart`, so that not one bit
        depends on the chunks that a stream comes in; or, if all of it is here, in matrix products,
        which are faster. `order` has the positions of the rows in the training data, where these
        are not the order in which they come.
        """
        columns = np.arange(X.shape[0]) if order is None else order
        prefetcher = Prefetcher(self.stored, self.stored.match(X), columns, team, apart)
        work: Work | None = None
        for start, stop, classes in split_at_new_classes(labels, known):
            self._admit(known, classes)
            before, known = known, classes
            numbers = np.searchsorted(classes, labels[start:stop])
            numbers[labels[start:stop] < 0] = -1
            while start < stop:
                n = prefetcher.waiting or self.block_length(stop - start, memory)
                self._make_room(n, memory)
                block = prefetcher.take(start, n, int(self.tally[TOP]))
                self._prefetch(prefetcher, block, stop, memory)
                here = numbers[len(numbers) - (stop - start) :][:n]
                work = self._fitting(work, block)
                n = self._learn_block(
                    prefetcher, block, here, (before, classes), answers, work, order
                )
                start, before = start + n, classes
                watch.advance(n, f"{self.tally[SIZE]} stored")
                if watch.stopped:
                    return start
        return len(labels)

    def block_length(self, n: int, memory: int) -> int:
        """How many of the next n examples are one block, for which there must be memory.

        The number does not depend on the memory, because the last bits of kernel values depend on
        which of them are computed together.
        """
        n = min(n, self._longest_block())
        self._check_memory(n, 0, 0, memory)
        return n

    def _longest_block(self) -> int:
        """The largest number of examples of a block."""
        most = MAX_BLOCK_VALUES // (int(self.tally[TOP]) + 2 * LOOK_AHEAD)
        return min(LOOK_AHEAD, max(MIN_BLOCK, most))

    def _check_memory(self, n: int, n_next: int, n_later: int, memory: int) -> None:
        """Refuse memory that is too little for the kernel values of a block of n examples, those of
        the next block, and those within the one after it.
        """
        top, n_slots = int(self.tally[TOP]), len(self.cache.positions)
        slots = self._needed(n + n_next)
        least = self._gram_bytes(max(n_slots, slots)) + block_bytes(n, 0, top, self.dtype)
        least += block_bytes(n_next, n, top, self.dtype) + block_bytes(n_later, 0, 0, self.dtype)
        if least > memory:
            raise ValueError(
                f"memory={memory} bytes is too little for the kernel values of {slots} stored "
                f"examples: allow at least {least}, or store less with a smaller budget"
            )

    def _prefetch(
        self, prefetcher: Prefetcher, block: PrefetchedBlock, stop: int, memory: int
    ) -> None:
        """Have the kernel values of the next block computed, and of the one after it begun."""
        left = stop - block.stop
        n_next = min(left, self._longest_block())
        n_later = min(left - n_next, self._longest_block())
        self._check_memory(len(block), n_next, n_later, memory)
        if n_next:
            prefetcher.begin(block, n_next, int(self.tally[TOP]), n_later)

    def _needed(self, n: int) -> int:
        """The slots that n more examples may need."""
        needed = max(int(self.tally[TOP]), int(self.tally[SIZE]) + n)
        return needed if self.limit is None else min(needed, self.limit)

    def _make_room(self, n: int, memory: int) -> None:
        """Make room for n more examples; twice the slots there are, if there is memory for it."""
        needed, n_slots = self._needed(n), len(self.cache.positions)
        if needed > n_slots:
            ample = 2 * n_slots if self.limit is None else min(2 * n_slots, self.limit)
            # the values of this block, and of the two that are prefetched meanwhile
            held = 3 * block_bytes(n, n, int(self.tally[TOP]), self.dtype)
            if self._gram_bytes(ample) + held > memory:
                ample = needed
            self.reserve(max(needed, ample))

    def _gram_bytes(self, n_slots: int) -> int:
        """Size of the kernel values among so many slots."""
        return n_slots * n_slots * (self.keeps_gram * self.dtype.itemsize + self.projects * 8)

    def reserve(self, n_slots: int) -> None:
        """Make room for so many slots."""
        old, new = self.cache, self._empty_cache(n_slots)
        for before, after in zip(old, new, strict=True):
            after[tuple(slice(n) for n in before.shape)] = before
        self.cache = new
        self.stored.reserve(n_slots)
        self.weights = self._weights_from(range(len(self.weights.scale)))

    def reset_weights(self, n: int) -> None:
        """So many weight vectors, all zero."""
        self.weights = zero_weights(n, len(self.cache.positions))

    def _weights_from(self, sources: Sequence[int | None]) -> Weights:
        """Weight vectors as wide as the cache, each one of the present ones or, for None, zero."""
        new = zero_weights(len(sources), len(self.cache.positions))
        for r, source in enumerate(sources):
            if source is not None:
                for before, after in zip(self.weights, new, strict=True):
                    if before.ndim == 1:
                        after[r] = before[source]
                    else:
                        after[r, : before.shape[1]] = before[source]
        return new

    def _admit(self, known: np.ndarray, classes: np.ndarray) -> None:
        """Make the weight vectors those of more classes: a new one starts at zero, and the one of
        two classes, w, becomes two, -w and w.
        """
        before, self.n_classes = self.n_classes, len(classes)
        if before == self.n_classes:
            return
        places = np.searchsorted(classes, known)
        self.cache.labels[:] = places[self.cache.labels] if len(known) else 0
        n = n_vectors_of(self.n_classes)
        sources: list[int | None] = [None] * n
        if n > 1:
            for old, new in enumerate(places[:before]):
                sources[new] = old if before > 2 else (0 if before == 2 else None)
        self.weights = self._weights_from(sources)
        if before == 2 and n > 1:
            mirrored = places[0]
            for part in (self.weights.coefs, self.weights.loo_scores, self.weights.average_offset):
                part[mirrored] = 0.0 - part[mirrored]  # no zero gets a sign

    def _learn_block(
        self,
        prefetcher: Prefetcher,
        block: PrefetchedBlock,
        labels: np.ndarray,
        classes: tuple[np.ndarray, np.ndarray],
        answers: Answers | None,
        work: Work,
        order: np.ndarray | None,
    ) -> int:
        """Learn from the first rows of a block; returns how many.

        `classes` are those known before its first example and from there on.
        """
        from largemargin.online.loop import run_block

        n, n_vectors = len(block), len(self.weights.scale)
        scores = np.zeros((n * (answers is not None), n_vectors))
        average = answers is not None and answers.average
        values = Block(labels, block.own, block.against, block.since, block.within, block.arrivals)
        done: int = run_block(
            self.learner, values, self.cache, self.weights, work, self.clearance, average, scores
        )
        if answers is not None:
            before, known = classes
            answers.add(known, scores[:done], before)
        prefetcher.finish()  # it reads the stored examples, which change now
        slots, places = work.arrived[:, : work.n_arrived[0]]
        rows, squares = prefetcher.rows_of(block, places)
        positions = self.cache.positions[slots]
        numbers = positions + self.n_unvisited if order is None else order[positions]
        self.stored.replace(slots, rows, squares, numbers, int(self.tally[TOP]))
        self._expansions.clear()
        if done < len(labels):
            prefetcher.forget()
        prefetcher.arrived(slots, rows, squares)
        if self.tally[TOP] > most_slots(int(self.tally[SIZE])):
            self._compact()
            prefetcher.forget()
        return done

    def _fitting(self, work: Work | None, block: PrefetchedBlock) -> Work:
        """Scratch memory for a block: that which there is, if it is large enough."""
        width, n_slots, n_vectors = block.width, len(self.cache.positions), len(self.weights.scale)
        if (
            work is not None
            and len(work.row) >= width
            and (len(work.values), len(work.raw)) == (n_slots, n_vectors)
        ):
            return work
        return make_work(width, n_slots, n_vectors, self.dtype)

    def _compact(self) -> None:
        """Move what is stored into the first slots and free the memory of the rest."""
        slots = np.flatnonzero(self.cache.positions[: self.tally[TOP]] >= 0)
        old, self.cache = self.cache, self._empty_cache(len(slots))
        for before, after in zip(old, self.cache, strict=True):
            if before.size:
                after[:] = before[slots] if before.ndim == 1 else before[np.ix_(slots, slots)]
        weights = self.weights
        self.reset_weights(len(weights.scale))
        for before, after in zip(weights, self.weights, strict=True):
            after[:] = before if before.ndim == 1 else before[:, slots]
        self.stored.take(slots)
        self.tally[TOP] = self.tally[FREE] = len(slots)

    def copy(self) -> LearnerState:
        """A copy that shares nothing that changes."""
        twin = copy(self)
        twin.cache, twin.weights, twin.learner = deepcopy((self.cache, self.weights, self.learner))
        twin.stored = self.stored.copy()
        twin._expansions = {}
        return twin

    def expansion(self, average: bool) -> Expansion:
        """The weight vectors now, or their average over the stream, as sums over the stored
        examples in the order of the stream.
        """
        if average not in self._expansions:
            slots = np.flatnonzero(self.cache.positions[: self.tally[TOP]] >= 0)
            slots = slots[np.argsort(self.cache.positions[slots])]
            basis = Basis(self.kernel, self.dtype)
            if len(slots):
                basis.add(self.stored.rows[slots], self.stored.numbers[slots])
            coefs = self.weights.coefs[:, slots]
            if average:
                offset = self.weights.average_offset[:, slots]
                coefs = coefs * self.weights.scale_sum[:, None] - offset
                coefs /= max(int(self.tally[SEEN]), 1)
            else:
                coefs = coefs * self.weights.scale[:, None]
            self._expansions[average] = Expansion(basis, coefs, np.zeros(len(coefs)))
        return self._expansions[average]
