"""Training of the perceptron: passes over examples, and the state that they leave, which is a
trace, the basis that the trace refers to, and what it takes to go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from largemargin.kernels.basis import Basis
from largemargin.kernels.choosing import WithConstant
from largemargin.kernels.functions import Kernel, Linear
from largemargin.perceptron.kernel_pass import KernelPass
from largemargin.perceptron.linear_pass import LinearPass, weights_of
from largemargin.perceptron.trace import Trace
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.progress import Watch
from largemargin.runtime.threads import Workers, workers


class Pass(Protocol):
    """A way over all examples, block by block."""

    @property
    def n_blocks(self) -> int: ...

    def visit(self, block: int) -> int:
        """Run over one block and return how many examples it has."""


@dataclass(frozen=True)
class Outcome:
    """How training ended: the epochs begun, whether the last one had no mistake, and why training
    stopped early, if it did.
    """

    n_epochs: int
    converged: bool
    stopped: str


class PerceptronState:
    """What training leaves. `n_seen` counts distinct examples of the data or the stream."""

    def __init__(self, kernel: Kernel, dtype: np.dtype, n_problems: int) -> None:
        self.kernel = kernel
        self.basis = Basis(kernel, dtype)
        self.trace = Trace(n_problems)
        self.n_seen = 0
        # with the linear kernel: the current vectors, and the vectors of rules that were asked for
        self._weights: np.ndarray | None = None
        self.weights_of_rules: dict[tuple[str, bool], np.ndarray] = {}

    @property
    def threshold(self) -> bool:
        return isinstance(self.kernel, WithConstant)

    @property
    def settled(self) -> bool:
        """Whether every example was seen, and right, since the last mistake. A mistake is made on
        the first example, so a stream alone is never settled.
        """
        trace = self.trace
        last = int(trace.step[-1]) if len(trace) else -1
        return trace.n_steps - 1 - last >= self.n_seen > 0

    @property
    def linear(self) -> bool:
        kernel = self.kernel.kernel if isinstance(self.kernel, WithConstant) else self.kernel
        return isinstance(kernel, Linear)

    def learn(
        self,
        X: Matrix,
        labels: np.ndarray,
        positive: np.ndarray,
        positions: np.ndarray,
        *,
        epochs: int,
        n_jobs: int | None,
        memory: int,
        watch: Watch,
        make_pass: Callable[..., Pass] | None = None,
    ) -> Outcome:
        """Go over the rows of X `epochs` times. A failure leaves everything as it was before.

        `make_pass` makes the pass over rows that are elsewhere, of what is given here and of this
        state.
        """
        X = self.basis.match(X)
        before = (len(self.basis), len(self.trace), self.trace.n_steps, self.n_seen)
        self.weights_of_rules.clear()
        weights = None if self._weights is None else self._weights.copy()
        try:
            with workers(n_jobs) as team, watch:
                given = X, labels, positive, positions, epochs
                one_pass = (
                    make_pass(self, *given) if make_pass else self._pass_over(*given, team, memory)
                )
                outcome = self._run_epochs(one_pass, X.shape[0], epochs, watch)
            self.n_seen += X.shape[0]
            return outcome
        except BaseException:
            size, mistakes, n_steps, self.n_seen = before
            self.basis.truncate(size)
            self.trace.truncate(mistakes, n_steps)
            self._weights = weights
            raise

    def _pass_over(
        self,
        X: Matrix,
        labels: np.ndarray,
        positive: np.ndarray,
        positions: np.ndarray,
        epochs: int,
        team: Workers,
        memory: int,
    ) -> Pass:
        if self.linear:
            if self._weights is None:
                self._weights = weights_of(self.trace, self.basis, X.shape[1], self.threshold)
            return LinearPass(
                X, self.basis, team, labels, positive, self.trace, positions, self._weights,
                self.threshold,
            )  # fmt: skip
        held = KernelPass.held(team.count, X.shape[0], self.basis.dtype)
        if memory < held:
            raise ValueError(
                f"memory={memory} bytes is too little to train with: allow at least {held}"
            )
        return KernelPass(
            X, self.basis, memory - held, team, labels, positive, self.trace, positions, epochs
        )

    def _run_epochs(self, one_pass: Pass, n_rows: int, epochs: int, watch: Watch) -> Outcome:
        for epoch in range(1, epochs + 1):
            mistakes = len(self.trace)
            for block in range(one_pass.n_blocks):
                seen = one_pass.visit(block)
                watch.advance(seen, f"epoch {epoch}, {len(self.trace)} mistakes")
                if watch.stopped and block < one_pass.n_blocks - 1:
                    return Outcome(epoch, False, watch.stopped)
            if len(self.trace) == mistakes:
                # every epoch to come would be like this one: the last vectors survive them all
                self.trace.n_steps += (epochs - epoch) * n_rows
                return Outcome(epoch, True, "")
            if watch.stopped and epoch < epochs:
                return Outcome(epoch, False, watch.stopped)
        return Outcome(epochs, False, "")
