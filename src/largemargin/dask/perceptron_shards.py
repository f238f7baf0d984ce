"""What runs on the workers for the voted perceptron: blocks of examples, brought up to date and
walked over.

A worker is sent the scores of a block and sends them back. It keeps examples and the vectors of
mistakes, which can be sent again, and nothing else. Kernel values and sums are those of the pass on
one machine, block by block, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largemargin.dask.cluster import Forgotten, n_bytes
from largemargin.dask.shards import RowShard
from largemargin.kernels.basis import Basis
from largemargin.kernels.functions import Kernel
from largemargin.kernels.fused import FusedRows
from largemargin.kernels.tiles import Gram
from largemargin.perceptron.kernel_pass import first_times
from largemargin.perceptron.linear_pass import walk_rows
from largemargin.perceptron.rules import count_right
from largemargin.perceptron.trace import Mistakes, Trace
from largemargin.perceptron.updates import Net, Updates
from largemargin.perceptron.values import TiledValues
from largemargin.perceptron.walk import Walk
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.threads import Workers, single_thread


@dataclass(frozen=True)
class How:
    """What is the same in all tasks of a fit: the kernel, the types of its values and of the rows,
    whether values are computed in registers and zeros left out there, the width of a block, and
    the class that counts as +1 in each problem.
    """

    kernel: Kernel
    dtype: str
    of_rows: str
    fused: bool
    zeros: bool
    width: int
    positive: np.ndarray


@dataclass(frozen=True)
class Block:
    """Some examples in the order of the pass: rows start..stop of the shard, or others, which are
    sent once and then known by their name.
    """

    name: tuple[str, int]
    start: int
    stop: int
    is_own: bool
    rows: Matrix | None = None


@dataclass(frozen=True)
class News:
    """Vectors of mistakes that a shard does not have yet, in the order of slots, and slots that
    became regulars; and how many of both it has.
    """

    known: int
    vectors: Matrix | None
    known_regulars: int
    regulars: np.ndarray


class TiledBlock(TiledValues):
    """`TiledValues` of one block."""

    def __init__(self, X: Matrix, width: int, regulars: Basis, team: Workers) -> None:
        self.gram, self._team = Gram(X, regulars, width=width), team
        self.positions = np.empty(0, np.int64)
        self.width, self.dtype = width, self.gram.dtype

    def add(self, net: Net, basis: Basis, scores: np.ndarray) -> None:
        """What mistakes do to the scores of the block."""
        Updates(net, basis).apply(self.gram, 0, scores, self._team)


class FusedBlock:
    """What `ForgottenValues` is, of one block."""

    def __init__(self, X: Matrix, how: How, team: Workers) -> None:
        self._how, self._team, self.width = how, team, how.width
        self._rows = FusedRows(how.kernel, X, team, np.dtype(how.dtype), zeros=how.zeros)
        self.dtype = self._rows.dtype
        self._columns = self._rows.columns(np.arange(X.shape[0]))

    def fill(self, block: int, examples: np.ndarray, out: np.ndarray) -> int:
        out[: len(examples), : self._columns.n] = self._columns.values(self._rows.vectors(examples))
        return len(examples)

    def add(self, net: Net, basis: Basis, scores: np.ndarray) -> None:
        wanted, weights = net.weights(len(scores))
        if not len(wanted):
            return
        how = self._how
        vectors = FusedRows(
            how.kernel, basis.take(wanted)[0], self._team, np.dtype(how.dtype), zeros=how.zeros
        )
        found = self._columns.sums(vectors.vectors(np.arange(len(wanted))), weights)
        scores[:, : self._columns.n] += found


class PassShard(RowShard):
    """Some of the rows, blocks of others that were sent, and vectors of mistakes."""

    def __init__(self, parts: list[Matrix], rows: tuple[int, int]) -> None:
        super().__init__(parts, rows)
        self._sent: dict[tuple[str, int], Matrix] = {}
        self._of_blocks: dict[tuple[str, int], TiledBlock | FusedBlock] = {}
        self.basis = self.regulars = Basis(Kernel(), np.dtype(float))

    def __sizeof__(self) -> int:
        return super().__sizeof__() + n_bytes(list(self._sent.values()))

    def hear(self, how: How, news: News) -> None:
        """Keep the vectors of mistakes."""
        if self.basis.kernel != how.kernel:
            self.basis, self.regulars = (Basis(how.kernel, np.dtype(how.dtype)) for _ in range(2))
        if news.known != len(self.basis) or news.known_regulars != len(self.regulars):
            raise Forgotten
        if news.vectors is not None:
            slots = np.arange(news.known, news.known + news.vectors.shape[0])
            self.basis.add(news.vectors, slots)
        if len(news.regulars):
            self.regulars.add(self.basis.take(news.regulars)[0], news.regulars)

    def examples(self, block: Block, dtype: str) -> Matrix:
        """The rows of a block."""
        if block.is_own:
            return self.version(dtype)[block.start : block.stop]
        if block.rows is not None:
            self._sent[block.name] = block.rows
        if block.name not in self._sent:
            raise Forgotten
        return self._sent[block.name]

    def values(self, how: How, block: Block) -> TiledBlock | FusedBlock:
        """The kernel values of a block; what they take is kept until the block was walked over."""
        if block.name not in self._of_blocks:
            X = self.examples(block, how.of_rows)
            self._of_blocks[block.name] = (
                FusedBlock(X, how, self.team)
                if how.fused
                else TiledBlock(X, how.width, self.regulars, self.team)
            )
        return self._of_blocks[block.name]

    def forget_values(self, block: Block) -> None:
        self._of_blocks.pop(block.name, None)


def keep(shard: PassShard, block: Block, dtype: str) -> None:
    """Keep a block that is sent."""
    shard.examples(block, dtype)


def bring(
    shard: PassShard, how: How, news: News, block: Block, net: Net, scores: np.ndarray
) -> np.ndarray:
    """The scores of a block with more mistakes."""
    shard.hear(how, news)
    scores = np.array(scores)  # what was sent may be read-only
    with single_thread():
        shard.values(how, block).add(net, shard.basis, scores)
    return scores


def walk(
    shard: PassShard,
    how: How,
    news: News,
    block: Block,
    net: Net,
    scores: np.ndarray,
    labels: np.ndarray,
    known: np.ndarray,
) -> tuple[np.ndarray, Mistakes, Matrix]:
    """Bring a block up to date and run over it. Returns its scores, the mistakes, and the vectors
    of those that are not `known`, in the order of first mistakes.
    """
    scores = bring(shard, how, news, block, net, scores)
    with single_thread():
        found = Walk(shard.values(how, block), labels, how.positive, scores).run(0, len(labels))
    shard.forget_values(block)
    return scores, found, _fresh(shard.examples(block, how.of_rows), found, known)


def walk_linear(
    shard: PassShard,
    how: How,
    block: Block,
    weights: np.ndarray,
    bias: float,
    labels: np.ndarray,
    known: np.ndarray,
) -> tuple[np.ndarray, Mistakes, Matrix]:
    """Run over a block with explicit vectors. Returns these, and what `walk` returns."""
    X, weights = shard.examples(block, how.of_rows), np.array(weights)
    with single_thread():
        found = walk_rows(X, 0, len(labels), labels, how.positive, weights, bias, shard.team)
    return weights, found, _fresh(X, found, known)


def count(
    shard: PassShard,
    how: How,
    news: News,
    blocks: list[Block],
    truths: list[np.ndarray],
    trace: Trace,
) -> np.ndarray:
    """How many examples of some blocks each prediction vector gets right."""
    shard.hear(how, news)
    found = np.zeros(len(trace), np.int64)
    for block, truth in zip(blocks, truths, strict=True):
        X = shard.examples(block, how.of_rows)
        found += count_right(X, truth, shard.basis, trace, n_jobs=shard.team.count, memory="auto")
    return found


def _fresh(X: Matrix, found: Mistakes, known: np.ndarray) -> Matrix:
    rows = first_times(found.rows)
    return X[rows[~known[rows]]]
