"""One sitting of the solver: data, kernel rows and threads, and any number of machines trained on
them.

Small data has its whole Gram matrix and each problem is one block; larger data goes through
`lockstep`. Whatever is trained in the same session shares kernel values: the classes, the values of
C of a path, the folds of a cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from largemargin.gram import SMALL_PROBLEM
from largemargin.kernel_rows import HEIGHTS, KernelRows, whole_gram
from largemargin.kernels import Kernel
from largemargin.svm.block import BURST, PATIENCE, State, solve_block
from largemargin.svm.exact import is_exact, polish
from largemargin.svm.lockstep import WORKING_SET, Progress, solve
from largemargin.svm.machines import Machine
from largemargin.svm.problem import Problem, Solution
from largemargin.svm.reductions import SEGMENT, Layout, Split
from largemargin.watch import Watch
from largemargin.workers import Workers

ROUNDING = 1e-12  # of a box
CLOSER = 1e-8  # of the tolerance, to which small problems are taken by steps
STUCK = 4  # rounds that do not halve the violation, after which it is left at that
HELD = 150  # bytes an example and class: bounds, gradients, coefficients
WHOLE = 2048  # rows up to which the whole Gram matrix is computed at once


class Formulation(Protocol):
    """A machine as it is stated in `machines`."""

    def problem(self, y: np.ndarray, s: np.ndarray, start: np.ndarray | None = None) -> Problem: ...

    def read(
        self, problem: Problem, solution: Solution, y: np.ndarray, s: np.ndarray
    ) -> Machine: ...


@dataclass(frozen=True)
class Job:
    """A machine to train: which classes, in which formulation, with which weights; from where.

    `weights` and `start` have an entry an example of the data; weight 0 takes an example out.
    """

    split: Split
    formulation: Formulation
    weights: np.ndarray
    start: np.ndarray | None = None


@dataclass(frozen=True)
class Stated:
    """A job as a problem: its examples, in the order of the variables, their signs and weights."""

    job: Job
    examples: np.ndarray
    signs: np.ndarray
    weights: np.ndarray
    problem: Problem


@dataclass(frozen=True)
class Trained:
    """A machine, the examples that its coefficients belong to, and their outputs without the
    threshold.
    """

    job: Job
    examples: np.ndarray
    machine: Machine
    outputs: np.ndarray

    def coefs(self, n: int) -> np.ndarray:
        """The coefficients of all examples of the data."""
        full = np.zeros(n)
        full[self.examples] = self.machine.coefs
        return full


class Session:
    """Data to train machines on.

    Parameters
    ----------
    X : array or CSR matrix
        As `gram.prepare` gives it.
    labels : array of class numbers
    memory : int
        Bytes for kernel values.
    """

    def __init__(
        self,
        X: Any,
        labels: np.ndarray,
        n_classes: int,
        kernel: Kernel,
        dtype: np.dtype,
        memory: int,
        team: Workers,
        *,
        portions: bool = True,
    ) -> None:
        self.X, self.labels, self.kernel, self.team = X, labels, kernel, team
        self.n, self.n_classes = X.shape[0], n_classes
        self.exact = dtype == np.float64
        # from the data alone: the two ways end in different last bits
        self.whole = self.n <= WHOLE
        large = self.n > SMALL_PROBLEM and not self.whole
        self.layout = Layout(labels, n_classes, portions and large)
        if self.whole:
            self._place = np.argsort(self.order)
            self._ends = [0, *np.cumsum(np.bincount(labels, minlength=n_classes)).tolist()]
            self._gram = whole_gram(X[self.order], self.order, kernel, dtype, team)
        else:
            # a thread's rows in the making and the matrix of its working set
            scratch = HEIGHTS[0] * SEGMENT + (2 * WORKING_SET) ** 2
            memory -= team.count * scratch * dtype.itemsize + HELD * self.n * n_classes
            self.rows = KernelRows(X, kernel, dtype, self.layout.segments, memory, team)
            self._asked_for: dict[tuple[int, ...], np.ndarray] = {}  # by classes: rows of examples

    def train(
        self, jobs: Sequence[Job], *, tol: float, max_steps: float = np.inf, watch: Watch
    ) -> list[Trained]:
        """Train all jobs, together."""
        stated = [self._state(job) for job in jobs]
        if self.whole:
            solutions = [
                self._solve_whole(one.problem, one.job.split, tol, max_steps, watch)
                for one in stated
            ]
        else:
            runs = [
                Progress(
                    one.problem,
                    self.layout.portions(one.job.split),
                    self.rows,
                    self._asked_for.setdefault(one.job.split.classes, np.zeros(self.n, bool)),
                    tol,
                    max_steps,
                )
                for one in stated
            ]
            solve(runs, self.rows, self.team, watch)
            if self.exact and not watch.stopped:
                self._finish([run for run in runs if run.converged], watch)
            solutions = [run.solution() for run in runs]
        return [self._read(*pair) for pair in zip(stated, solutions, strict=True)]

    def _finish(self, runs: Sequence[Progress], watch: Watch) -> None:
        """Beyond the tolerance as far as it is cheap, then to the exact solutions."""
        for run in runs:
            run.go_on(CLOSER)
        solve(runs, self.rows, self.team, watch)
        for run in runs:
            run.converged = True
            run.polish()

    def close(self) -> None:
        """Give up the kernel values."""
        if not self.whole:
            self.rows.close()

    @property
    def order(self) -> np.ndarray:
        """All examples, segment by segment: the order of what `products` gives."""
        return np.concatenate(self.layout.segments)

    def gram_of(self, examples: np.ndarray) -> np.ndarray:
        """Kernel values among some examples."""
        if self.whole:
            place = self._place[examples]
            return self._gram[np.ix_(place, place)]
        return self.rows.block(examples)

    def _gram_of_split(self, split: Split) -> np.ndarray:
        """The values among the examples of some classes, which are together in the whole matrix."""
        if len(split.classes) == self.n_classes:
            return self._gram
        first, last = split.classes[0], split.classes[-1]
        if last - first == len(split.classes) - 1:
            part = slice(self._ends[first], self._ends[last + 1])
            return self._gram[part, part].copy()
        counts = [self._ends[c + 1] - self._ends[c] for c in split.classes]
        gram = np.empty((sum(counts), sum(counts)), self._gram.dtype)
        row = 0
        for c, height in zip(split.classes, counts, strict=True):
            strip, column = self._gram[self._ends[c] : self._ends[c + 1]], 0
            for d, width in zip(split.classes, counts, strict=True):
                block = strip[:, self._ends[d] : self._ends[d + 1]]
                gram[row : row + height, column : column + width] = block
                column += width
            row += height
        return gram

    def products(self, examples: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        """coefs @ K[examples, order], for coefficients a row a problem."""
        if self.whole:
            return coefs @ self._gram[self._place[examples]]
        return self.rows.products(examples, coefs)

    def _state(self, job: Job) -> Stated:
        examples = self.layout.examples(job.split)
        start = None if job.start is None else job.start[examples]
        signs, weights = self.signs(job, examples), job.weights[examples]
        return Stated(job, examples, signs, weights, job.formulation.problem(signs, weights, start))

    def signs(self, job: Job, examples: np.ndarray) -> np.ndarray:
        return np.where(self.labels[examples] == job.split.positive, 1.0, -1.0)

    def _read(self, one: Stated, solution: Solution) -> Trained:
        from largemargin.svm._loops import snap

        problem = one.problem
        snap(solution.beta, problem.lo, problem.hi, ROUNDING)
        machine = one.job.formulation.read(problem, solution, one.signs, one.weights)
        outputs = solution.grad - problem.p - problem.ridge * solution.beta
        return Trained(one.job, one.examples, machine, outputs)

    def _solve_whole(
        self,
        problem: Problem,
        split: Split,
        tol: float,
        max_steps: float,
        watch: Watch,
    ) -> Solution:
        K = self._gram_of_split(split)
        beta = problem.start.copy()
        grad = problem.p + problem.ridge * beta
        if beta.any():
            grad = grad + K @ beta
        solution = Solution(beta, grad, np.inf, 0, False)
        solution = self._whole_steps(problem, K, solution, tol, max_steps, watch)
        watch.advance(1)
        return solution

    def _whole_steps(
        self,
        problem: Problem,
        K: np.ndarray,
        at: Solution,
        tol: float,
        max_steps: float,
        watch: Watch,
    ) -> Solution:
        """Steps of two variables until the tolerance is met, then the exact solution."""
        state = State.of(problem, at.beta, at.grad, len(problem))
        least, stuck = np.inf, 0
        while not state.meets(tol) and at.n_steps < max_steps and not watch.stopped:
            # beyond the tolerance, as far as it is cheap: it often makes the solution exact
            found, steps = solve_block(
                problem, slice(None), K, at.grad, at.beta, tol * state.unit,
                max_steps - at.n_steps, CLOSER * tol * state.unit,
            )  # fmt: skip
            delta = found - at.beta
            grad = at.grad + K @ delta
            grad += problem.ridge * delta
            at = Solution(found, grad, np.inf, at.n_steps + steps, False)
            if steps >= PATIENCE * len(problem) + BURST:  # hard going: it may be a guess away
                at = self._exact(problem, K, at)
            state = State.of(problem, at.beta, at.grad, len(problem))
            watch.advance(0)
            stuck = 0 if state.violation < least / 2 else stuck + 1
            least = min(least, state.violation)
            if stuck > STUCK:
                break  # rounding is all that moves it
        at = Solution(at.beta, at.grad, state.violation, at.n_steps, state.meets(tol))
        if (
            at.converged
            and not state.hopeless
            and not is_exact(problem, state.violation)
            and not watch.stopped
        ):
            at = self._exact(problem, K, at)
        return at

    @staticmethod
    def _exact(problem: Problem, K: np.ndarray, at: Solution) -> Solution:
        return polish(problem, at, lambda F: K[np.ix_(F, F)], lambda F, d: K[:, F] @ d)
