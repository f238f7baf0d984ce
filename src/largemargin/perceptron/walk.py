"""The run of the perceptron over one block, whose scores are up to date.

It needs only the rows of the kernel matrix of examples that err in the block. They are guessed -
those that would err if nothing changed, then the nearest to erring - and computed together; an
example that errs unforeseen stops the run for another round of guesses.
"""

from __future__ import annotations

import numpy as np

from largemargin.kernels.tiles import WIDTH_STEP
from largemargin.perceptron.trace import Mistakes
from largemargin.perceptron.values import BlockValues

GUESSES = 32  # examples whose kernel rows are computed in one round, at most
KNOWN = 256  # kernel rows within a block that are held at a time


class Walk:
    """Runs over blocks of some rows, whose scores change meanwhile.

    Parameters
    ----------
    labels : array of int
        The class number of each row.
    positive : array of int
        The class that counts as +1 in each problem.
    scores : array
        One row per problem; a block has as many columns as `values` are wide.
    """

    def __init__(
        self,
        values: BlockValues,
        labels: np.ndarray,
        positive: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        self.values, self.labels, self.positive = values, labels, positive
        self.scores = scores
        # where in `_kernel_rows` each example of the block has its kernel row, or -1
        self._row_of = np.empty(values.width, np.int64)
        self._kernel_rows = np.zeros((KNOWN, values.width), values.dtype)

    def run(self, block: int, n_rows: int) -> Mistakes:
        """Run over the `n_rows` examples of a block, in rounds: guess who errs, compute kernel
        rows, go on.
        """
        from largemargin.perceptron._loops import run_block

        first = block * self.values.width
        stop = first + n_rows
        room = n_rows * len(self.positive)
        rows, problems = np.empty(room, np.int64), np.empty(room, np.int64)
        signs, wrong, squares = np.empty(room), np.empty(room), np.empty(room)
        at, known, made = first, 0, 0
        self._row_of.fill(-1)
        while True:
            if known > KNOWN - GUESSES:
                self._row_of.fill(-1)
                known = 0
            guesses = self._guess(first, at, stop)
            if guesses is None:
                return Mistakes(*(part[:made] for part in (rows, problems, signs, wrong, squares)))
            known = self._add_kernel_rows(block, guesses, known)
            at, more = run_block(
                self.scores, first, at, stop, self.labels, self.positive, self._row_of,
                self._kernel_rows, rows[made:], problems[made:], signs[made:], wrong[made:],
            )  # fmt: skip
            place = rows[made : made + more] - first
            squares[made : made + more] = self._kernel_rows[self._row_of[place], place]
            made += more

    def _guess(self, first: int, at: int, stop: int) -> np.ndarray | None:
        """Examples whose kernel rows the run from `at` is likely to want and does not have: those
        that err if nothing changes, in their order, then those nearest to erring. None if no
        example errs any more.
        """
        from largemargin.perceptron._loops import smallest_margins

        margins = np.empty(stop - at)
        smallest_margins(self.scores, at, stop, self.labels, self.positive, margins)
        if not (margins <= 0).any():
            return None
        missing = np.flatnonzero(self._row_of[at - first : stop - first] < 0)
        margins = margins[missing]
        erring = missing[margins <= 0][:GUESSES]
        width = min(-(-len(erring) * 5 // (4 * WIDTH_STEP)) * WIDTH_STEP, GUESSES, len(missing))
        if len(erring) < width:
            erring = missing[np.argpartition(margins, width - 1)[:width]]
        return at + erring

    def _add_kernel_rows(self, block: int, guesses: np.ndarray, known: int) -> int:
        """Compute the kernel rows of some examples within their block. Returns the number of rows
        that are known now.
        """
        if not len(guesses):
            return known
        written = self.values.fill(block, guesses, self._kernel_rows[known:])
        self._row_of[guesses - block * self.values.width] = known + np.arange(len(guesses))
        return known + written
