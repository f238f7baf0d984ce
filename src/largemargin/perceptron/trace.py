"""The trace: what one run of the perceptron leaves behind.

A run is a sequence of mistakes. For each, the trace records the example (as a slot of the basis),
the problem (one per class; one in all for two classes), the sign of the update, the step, the score
that was wrong, and k(x, x). The prediction vectors v_1, v_2, ... of a problem are its mistakes,
each adding sign * x to the one before; everything the paper says of them is a read of the trace.
v_0 = 0 is never stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from largemargin.kernels.basis import Growing

FIELDS = {
    "slot": np.int64,
    "problem": np.int64,
    "sign": np.int8,
    "step": np.int64,
    "score": np.float64,
    "square": np.float64,
}


@dataclass(frozen=True)
class Mistakes:
    """Those of one block in their order: the row and the problem, the sign of the update, the score
    that was wrong, and k(x, x).
    """

    rows: np.ndarray
    problems: np.ndarray
    signs: np.ndarray
    scores: np.ndarray
    squares: np.ndarray


class Trace:
    """The mistakes of a run in the order in which they were made.

    Attributes
    ----------
    n_problems : int
    n_steps : int
        Examples seen, counting each epoch; an epoch that was not run because no mistake was left
        counts.
    epoch_length : int
        Examples in an epoch; for a stream, the examples seen.
    slot, problem, sign, step, score, square : arrays, one entry per mistake
        `step` counts from 0; `score` is v.x before the update, `square` is k(x, x).
    """

    def __init__(self, n_problems: int) -> None:
        self.n_problems = n_problems
        self.n_steps = 0
        self.epoch_length = 0
        self._fields = {name: Growing(dtype) for name, dtype in FIELDS.items()}
        self._table: tuple[np.ndarray, np.ndarray] | None = None

    def __len__(self) -> int:
        return len(self._fields["slot"])

    def extend(self, mistakes: Mapping[str, np.ndarray]) -> None:
        for name, field in self._fields.items():
            field.extend(mistakes[name])

    def add_block(self, found: Mistakes, slots: np.ndarray, first: int, seen: int) -> None:
        """Go on over a block of `seen` examples, the rows from `first` on, with these mistakes."""
        self.extend(
            {
                "slot": slots,
                "problem": found.problems,
                "sign": found.signs,
                "step": self.n_steps + found.rows - first,
                "score": found.scores,
                "square": found.squares,
            }
        )
        self.n_steps += seen

    def truncate(self, size: int, n_steps: int) -> None:
        """Go back to an earlier state."""
        for field in self._fields.values():
            field.truncate(size)
        self.n_steps = n_steps
        self._table = None

    @property
    def slot(self) -> np.ndarray:
        return self._fields["slot"].values

    @property
    def problem(self) -> np.ndarray:
        return self._fields["problem"].values

    @property
    def sign(self) -> np.ndarray:
        return self._fields["sign"].values

    @property
    def step(self) -> np.ndarray:
        return self._fields["step"].values

    @property
    def score(self) -> np.ndarray:
        return self._fields["score"].values

    @property
    def square(self) -> np.ndarray:
        return self._fields["square"].values

    def arrays(self) -> dict[str, np.ndarray]:
        """All fields by name."""
        return {name: field.values for name, field in self._fields.items()}

    def step_at(self, epochs: float) -> int:
        """The number of examples seen after so many epochs, a fraction allowed."""
        step = round(epochs * self.epoch_length) if np.isfinite(epochs) else -1
        if not 0 <= step <= self.n_steps:
            seen = self.n_steps / max(self.epoch_length, 1)
            raise ValueError(
                f"at must lie between 0 and the {seen:g} epochs that were run, got {epochs!r}"
            )
        return step

    def mistakes_by(self, until: int | None = None) -> int:
        """How many mistakes were made in the first `until` steps."""
        return len(self) if until is None else int(np.searchsorted(self.step, until))

    def n_mistakes(self, until: int | None = None) -> np.ndarray:
        """Mistakes of each problem in the first `until` steps."""
        made = self.problem[: self.mistakes_by(until)]
        return np.bincount(made, minlength=self.n_problems)

    def n_support(self, until: int | None = None) -> int:
        """Distinct examples with a mistake, over all problems, in the first `until` steps."""
        return len(np.unique(self.slot[: self.mistakes_by(until)]))

    def n_support_of(self, until: int | None = None) -> np.ndarray:
        """Distinct examples with a mistake in each problem in the first `until` steps."""
        made = self.mistakes_by(until)
        pairs = np.unique(np.stack([self.problem[:made], self.slot[:made]]), axis=1)
        return np.bincount(pairs[0], minlength=self.n_problems)

    def survival(self, until: int | None = None) -> np.ndarray:
        """c, the steps that each prediction vector survived, counting the one that made it."""
        made = self.mistakes_by(until)
        end = self.n_steps if until is None else until
        counts = np.empty(made, np.int64)
        for p in range(self.n_problems):
            of_p = np.flatnonzero(self.problem[:made] == p)
            counts[of_p] = np.diff(self.step[of_p], append=end)
        return counts

    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """What the compiled loops read, worked out once: problem, slot, sign and step of each
        mistake, and 1/|v| after it (0 for the zero vector).
        """
        if self._table is None or self._table[0].shape[1] != len(self):
            norms = self.norms()
            inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
            fields = [self.problem, self.slot, self.sign.astype(np.int64), self.step]
            self._table = np.stack(fields), inverse
        return self._table

    def norms(self) -> np.ndarray:
        """|v| after each mistake, by |v + yx|^2 = |v|^2 + 2 y v.x + k(x, x), clipped at zero."""
        growth = 2 * self.sign * self.score + self.square
        squares = np.empty(len(self))
        for p in range(self.n_problems):
            of_p = np.flatnonzero(self.problem == p)
            total = np.cumsum(growth[of_p])
            # a sum clipped at zero is the plain sum less its lowest value so far, where that is
            # below zero
            squares[of_p] = total - np.minimum(np.minimum.accumulate(total), 0.0)
        return np.sqrt(squares)
