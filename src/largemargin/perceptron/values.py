"""The kernel values of a pass, in one of two ways.

A pass goes over blocks of examples and asks for two things: the values of some examples of a block
against the whole block, and what mistakes do to the scores of a block. `TiledValues` computes tiles
and keeps those of regulars. Values of few columns cost less to compute than to keep, and
`ForgottenValues` uses them where they are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from largemargin.kernels.basis import Basis
from largemargin.kernels.fused import FusedRows
from largemargin.kernels.tiles import WIDTH_STEP, Gram, tile_width
from largemargin.perceptron.trace import Trace
from largemargin.perceptron.updates import Regulars, Updates, net_updates
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.threads import Workers

Update = Callable[[int, np.ndarray], None]  # of a block, in the scores of all


class BlockValues(Protocol):
    """Kernel values within blocks."""

    @property
    def width(self) -> int:
        """Rows of a block."""

    @property
    def dtype(self) -> np.dtype: ...

    def fill(self, block: int, examples: np.ndarray, out: np.ndarray) -> int:
        """Values of some examples against their block, into the first rows of `out`. Returns how
        many rows were written.
        """


class TiledValues:
    """Tiles of kernel values; a block is a row tile.

    Parameters
    ----------
    cache_bytes : int
        For the values of regulars.
    positions : array of int
        The position of each row in the data or the stream.
    """

    def __init__(self, X: Matrix, basis: Basis, cache_bytes: int, positions: np.ndarray) -> None:
        self.basis, self.positions = basis, positions
        self.regulars = Regulars(basis)
        self.gram = Gram(X, self.regulars.basis, cache_bytes)
        self.width, self.dtype = self.gram.width, self.gram.dtype

    def fill(self, block: int, examples: np.ndarray, out: np.ndarray) -> int:
        height = -(-len(examples) // WIDTH_STEP) * WIDTH_STEP
        padded = np.concatenate([examples, np.full(height - len(examples), examples[0])])
        vectors = self.gram.vectors(padded, self.positions)
        self.gram.fill(self.gram.rows(block), vectors, out[:height])
        return height

    def updates(self, trace: Trace, since: int) -> Update:
        """The mistakes from number `since` on, as they are now: what they do to any block, on any
        thread.
        """
        updates = Updates(net_updates(trace, since, self.regulars), self.basis)
        return lambda block, scores: updates.apply(self.gram, block, scores)

    def note_visits(self, slots: np.ndarray) -> None:
        """Know of slots that erred in a visit of their block."""
        self.regulars.note_visits(slots)


class ForgottenValues:
    """Values that are computed at each use, in registers.

    Parameters
    ----------
    examples_of : callable
        The rows of X in some slots that were given since the pass began.
    """

    def __init__(
        self, X: Matrix, basis: Basis, examples_of: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        kernel, dtype, alone = basis.kernel, basis.dtype, Workers(1)  # blocks are what is shared
        self.width = tile_width(X.shape[0])
        self._examples_of, self._n_before = examples_of, len(basis)
        self._rows = FusedRows(kernel, X, alone, dtype)
        if len(basis):
            self._before = FusedRows(kernel, basis.vectors, alone, dtype)
        self.dtype = self._rows.dtype
        rows = np.arange(X.shape[0])
        self._columns = [
            self._rows.columns(rows[first : first + self.width])
            for first in range(0, len(rows), self.width)
        ]

    def fill(self, block: int, examples: np.ndarray, out: np.ndarray) -> int:
        columns = self._columns[block]
        out[: len(examples), : columns.n] = columns.values(self._rows.vectors(examples))
        return len(examples)

    def updates(self, trace: Trace, since: int) -> Update:
        wanted, weights = net_updates(trace, since).weights(trace.n_problems)
        n_old = int(np.searchsorted(wanted, self._n_before))
        examples = self._examples_of(wanted[n_old:])

        def apply(block: int, scores: np.ndarray) -> None:
            columns = self._columns[block]
            part = scores[:, block * self.width :][:, : columns.n]
            if n_old:
                part += columns.sums(self._before.vectors(wanted[:n_old]), weights[:, :n_old])
            if len(examples):
                part += columns.sums(self._rows.vectors(examples), weights[:, n_old:])

        return apply

    def note_visits(self, slots: np.ndarray) -> None:
        """Nothing is kept of them."""
