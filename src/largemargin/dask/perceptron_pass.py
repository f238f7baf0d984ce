"""The pass of the voted perceptron over examples on the workers of a cluster.

For each example in order, and each problem p, as in `perceptron.kernel_pass`:

    mistake  <=>  y_p f_p(x) <= 0   ->   f_p += y_p k(x, .)

Blocks live on workers. The client is the coordinator: it has the trace of mistakes with their
vectors, the labels, and the scores of all examples, which are O(n) numbers per problem. A visit of
a block is one task of its owner, which brings the block up to date and runs over it. Meanwhile the
owners of the next AHEAD blocks bring these up to date with the mistakes known so far.

    down   8 bytes for each example of a block and problem, twice a visit: the scores; 32 bytes for
           each example that erred and problem; and, once per worker, the vectors of mistakes
    up     the scores, twice a visit, and the mistakes, with the vectors of first ones

A task is a function of what it is sent, of examples, and of vectors that can be sent again. So a
worker that dies is replaced, and its tasks are sent again. Which mistakes are added to a block
together, and in which order, follows from the numbers of blocks alone: it is what
`perceptron.kernel_pass` does, and the trace is the same, to the last bit of its scores.

With the linear kernel the vectors f_p themselves travel, from the owner of a block to the owner of
the next one; then workers share the memory for the examples, and not the work.

Examples in another order than that of the data, as with shuffle=True, are fetched and sent once,
block by block, to owners that take turns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from largemargin.dask import perceptron_shards as shards
from largemargin.dask.cluster import Begun, Cluster
from largemargin.dask.perceptron_shards import Block, How, News
from largemargin.dask.rows import ShardedRows
from largemargin.kernels.fused import has_zeros, is_cheap
from largemargin.kernels.tiles import tile_width
from largemargin.perceptron.kernel_pass import AHEAD, SlotBook
from largemargin.perceptron.learner import PerceptronState
from largemargin.perceptron.linear_pass import BLOCK, weights_of
from largemargin.perceptron.trace import Mistakes
from largemargin.perceptron.updates import Net, Regulars, net_updates
from largemargin.runtime.arrays import Matrix


class Blocks:
    """Examples in blocks, each on one shard.

    Parameters
    ----------
    name : str
        By which workers know blocks that are sent.
    """

    def __init__(self, X: ShardedRows, width: int, name: str) -> None:
        self.X, self.width, self._name = X, width, name
        self.cluster = X.cluster
        self.count = -(-X.shape[0] // width)
        self._sent: dict[int, tuple[int, int]] = {}  # of a block: the shard that has it, its life
        ends = np.array([shard.rows[1] for shard in self.cluster.shards])
        self._own: dict[int, tuple[int, int]] = {}  # blocks as they are on a shard: it, first row
        for block in range(self.count):
            at = X.numbers(np.arange(self.rows(block).start, self.rows(block).stop))
            k = int(np.searchsorted(ends, at[0], side="right"))
            if (np.diff(at) == 1).all() and at[-1] < ends[k]:
                self._own[block] = k, int(at[0]) - self.cluster.shards[k].rows[0]

    def rows(self, block: int) -> slice:
        """The examples of a block, by their numbers in the pass."""
        return slice(block * self.width, min((block + 1) * self.width, self.X.shape[0]))

    def owner(self, block: int) -> int:
        return self._own[block][0] if block in self._own else block % len(self.cluster)

    def message(self, block: int, k: int) -> Block:
        """What its owner must be told of a block."""
        rows = self.rows(block)
        length, name = rows.stop - rows.start, (self._name, block)
        if block in self._own:
            start = self._own[block][1]
            return Block(name, start, start + length, is_own=True)
        there = k, self.cluster.shards[k].life
        matrix = None
        if self._sent.get(block) != there:
            matrix = self.X[rows]
            # to fetch it may take so long that the owner dies
            self._sent[block] = k, self.cluster.shards[k].life
        return Block(name, 0, length, is_own=False, rows=matrix)

    def send(self) -> None:
        """Have all blocks that are not where they belong sent there."""
        for block in range(self.count):
            if block not in self._own:
                self._send(block)

    def _send(self, block: int) -> None:
        def arguments(k: int) -> tuple[Any, ...]:
            return self.message(block, k), self.X.dtype.name

        self.cluster.finish(self.cluster.begin("order", shards.keep, arguments, self.owner(block)))


class Log:
    """The vectors of mistakes, and which of them each shard has."""

    def __init__(self, cluster: Cluster, state: PerceptronState) -> None:
        self._cluster, self._basis = cluster, state.basis
        self.regulars = Regulars(state.basis)
        self._known = [(0, 0, 0)] * len(cluster)  # of a shard: its life, its vectors and regulars

    def news(self, k: int) -> News:
        """What shard k must be sent before it is asked for anything."""
        shard = self._cluster.shards[k]
        life, known, known_regulars = self._known[k]
        if life != shard.life:
            known = known_regulars = 0
        vectors = None
        if known < len(self._basis):
            vectors = self._basis.take(np.arange(known, len(self._basis)))[0]
            shard.stats.vectors_sent += len(self._basis) - known
        regulars = self.regulars.slots.values
        self._known[k] = shard.life, len(self._basis), len(regulars)
        return News(known, vectors, known_regulars, regulars[known_regulars:].copy())


class ClusterPass:
    """What passes have in common.

    Parameters
    ----------
    X : ShardedRows
        The examples in the order of the pass.
    labels : array of int
        Their class numbers.
    positive : array of int
        The class that counts as +1 in each problem.
    positions : array of int
        The position of each example in the data.
    """

    def __init__(
        self,
        state: PerceptronState,
        X: Any,
        labels: np.ndarray,
        positive: np.ndarray,
        positions: np.ndarray,
    ) -> None:
        self.trace, self.labels = state.trace, labels
        self.how = how_of(state, X, positive)
        self.book = SlotBook(X, state.basis, positions)
        self.blocks = Blocks(X, BLOCK if state.linear else self.how.width, "order")
        self.blocks.send()
        self.cluster: Cluster = X.cluster
        self.n_blocks = self.blocks.count
        self.log = Log(self.cluster, state)

    def note(self, found: Mistakes, vectors: Matrix, rows: slice) -> np.ndarray:
        """Write down the mistakes of a block. Returns their slots."""
        slots = self.book.slots_of(found.rows + rows.start, vectors)
        self.trace.add_block(found, slots, 0, rows.stop - rows.start)
        return slots


class ClusterKernelPass(ClusterPass):
    """A pass over examples; `epochs` is how often each block will be visited."""

    def __init__(self, state: PerceptronState, X: Any, *given: Any, epochs: int) -> None:
        super().__init__(state, X, *given)
        self.scores = np.zeros((state.trace.n_problems, self.n_blocks * self.how.width))
        self._visits_left = epochs * self.n_blocks
        self._seen = np.zeros(self.n_blocks, np.int64)  # mistakes that each block has been told of
        self._ahead: dict[int, Begun] = {}
        self._due: int | None = None

    def visit(self, block: int) -> int:
        """Run over one block and return how many examples it has."""
        rows = self.blocks.rows(block)
        if block in self._ahead:
            self._columns(block)[:] = self.cluster.finish(self._ahead.pop(block))
        known = self.book.is_known(rows)
        begun = self._begin("walk", shards.walk, block, self.labels[rows], known)
        if self._due is not None:  # after the run, for which everybody waits
            self._ahead[self._due] = self._begin("update", shards.bring, self._due)
        self._columns(block)[:], found, vectors = self.cluster.finish(begun)
        slots = self.note(found, vectors, rows)
        self.log.regulars.note_visits(np.unique(slots))
        self._seen[block] = len(self.trace)
        self._visits_left -= 1
        look = self.n_blocks > AHEAD and self._visits_left >= AHEAD
        self._due = (block + AHEAD) % self.n_blocks if look else None
        return int(rows.stop - rows.start)

    def _columns(self, block: int) -> np.ndarray:
        """The scores of a block."""
        width = self.how.width
        return self.scores[:, block * width : (block + 1) * width]

    def _begin(self, what: str, function: Callable[..., Any], block: int, *args: Any) -> Begun:
        """Have the owner of a block do something with it and all mistakes known now."""
        net, scores = self._net(block), self._columns(block).copy()

        def arguments(k: int) -> tuple[Any, ...]:
            message = self.blocks.message(block, k)
            return self.how, self.log.news(k), message, net, scores, *args

        return self.cluster.begin(what, function, arguments, self.blocks.owner(block))

    def _net(self, block: int) -> Net:
        since = int(self._seen[block])
        self._seen[block] = len(self.trace)
        return net_updates(self.trace, since, None if self.how.fused else self.log.regulars)


class ClusterLinearPass(ClusterPass):
    """A pass with explicit vectors."""

    def __init__(self, state: PerceptronState, X: Any, *given: Any) -> None:
        super().__init__(state, X, *given)
        self.bias = float(state.threshold)
        self.weights = weights_of(state.trace, state.basis, X.shape[1], state.threshold)

    def visit(self, block: int) -> int:
        """Run over one block and return how many examples it has."""
        rows = self.blocks.rows(block)
        rest = self.weights, self.bias, self.labels[rows], self.book.is_known(rows)
        begun = self.cluster.begin(
            "walk", shards.walk_linear,
            lambda k: (self.how, self.blocks.message(block, k), *rest), self.blocks.owner(block),
        )  # fmt: skip
        self.weights, found, vectors = self.cluster.finish(begun)
        self.note(found, vectors, rows)
        return int(rows.stop - rows.start)


def how_of(state: PerceptronState, X: Any, positive: np.ndarray) -> How:
    """How a pass over X computes, which is how `KernelPass` does."""
    fused = not state.linear and is_cheap(state.kernel, X, len(positive))
    return How(
        state.kernel, state.basis.dtype.name, X.dtype.name, fused,
        fused and has_zeros(state.kernel, X), tile_width(X.shape[0]), positive,
    )  # fmt: skip


def count_right(of: ClusterPass, blocks: Blocks, truth: np.ndarray) -> np.ndarray:
    """How many examples of blocks each prediction vector gets right; truth[p, i] is +1 or -1."""
    blocks.send()
    owned: list[list[int]] = [[] for _ in of.cluster.shards]
    for block in range(blocks.count):
        owned[blocks.owner(block)].append(block)

    def arguments(k: int) -> tuple[Any, ...]:
        messages = [blocks.message(block, k) for block in owned[k]]
        truths = [truth[:, blocks.rows(block)] for block in owned[k]]
        return of.how, of.log.news(k), messages, truths, of.trace

    only = [k for k, mine in enumerate(owned) if mine]
    found = of.cluster.ask("count", shards.count, arguments, only)
    return np.asarray(np.sum(found, axis=0, dtype=np.int64))
