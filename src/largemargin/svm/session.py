"""One sitting of the solver: data, kernel rows and threads, and any number of machines trained on
them.

Small data has its whole Gram matrix and each problem is one block; larger data goes through
`lockstep`. Whatever is trained in the same session shares kernel values: the classes, the values of
C of a path, the folds of a cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from largemargin.gram import SMALL_PROBLEM
from largemargin.kernel_rows import KernelRows
from largemargin.kernels import Kernel
from largemargin.svm.exact import polish
from largemargin.svm.lockstep import PATIENCE, Progress, State, solve, solve_block
from largemargin.svm.machines import Machine
from largemargin.svm.problem import Problem, Solution
from largemargin.svm.reductions import Layout, Split
from largemargin.watch import Watch
from largemargin.workers import Workers

ROUNDING = 1e-12  # of a box
CLOSER = 1e-2  # of the tolerance, to which small problems are taken by steps
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
        self.whole = self.n <= WHOLE and self.n**2 * dtype.itemsize <= memory
        large = self.n > SMALL_PROBLEM and not self.whole
        self.layout = Layout(labels, n_classes, portions and large)
        if self.whole:
            order = self.order  # classes together: fewer copies
            columns = order[:, None] if kernel.by_column else X[order]
            self._gram = np.ascontiguousarray(kernel(X[order], columns), dtype)
            self._place = np.argsort(order)
            check_finite(self._gram, kernel)
        else:
            self.rows = KernelRows(X, kernel, dtype, self.layout.segments, memory, team)

    def train(
        self, jobs: Sequence[Job], *, tol: float, max_steps: float = np.inf, watch: Watch
    ) -> list[Trained]:
        """Train all jobs, together."""
        stated = [self._state(job) for job in jobs]
        if self.whole:
            solutions = [
                self._solve_whole(problem, examples, tol, max_steps, watch)
                for problem, examples in stated
            ]
        else:
            runs = [
                Progress(problem, self.layout.portions(job.split), self.rows, tol, max_steps)
                for job, (problem, _) in zip(jobs, stated, strict=True)
            ]
            solve(runs, self.rows, self.team, watch)
            if self.exact and not watch.stopped:
                self._finish([run for run in runs if run.converged], watch)
            solutions = [run.solution() for run in runs]
        return [
            self._read(job, problem, examples, solution)
            for job, (problem, examples), solution in zip(jobs, stated, solutions, strict=True)
        ]

    def _finish(self, runs: Sequence[Progress], watch: Watch) -> None:
        """Beyond the tolerance as far as it is cheap, then to the exact solutions."""
        for run in runs:
            run.go_on(CLOSER)
        solve(runs, self.rows, self.team, watch)
        for run in runs:
            run.converged = True
            run.polish()

    @property
    def order(self) -> np.ndarray:
        """All examples, segment by segment: the order of what `products` gives."""
        return np.concatenate(self.layout.segments)

    def gram_of(self, examples: np.ndarray) -> np.ndarray:
        """Kernel values among some examples."""
        if self.whole:
            place = self._place[examples]
            if len(place) == self.n and place[0] == 0 and (np.diff(place) == 1).all():
                return self._gram
            return self._gram[np.ix_(place, place)]
        return np.asarray(self.kernel(*self.rows.columns(examples)), self.rows.dtype)

    def products(self, examples: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        """coefs @ K[examples, order], for coefficients a row a problem."""
        if self.whole:
            return coefs @ self._gram[self._place[examples]]
        return self.rows.products(examples, coefs)

    def _state(self, job: Job) -> tuple[Problem, np.ndarray]:
        examples = self.layout.examples(job.split)
        start = None if job.start is None else job.start[examples]
        signs = self.signs(job, examples)
        return job.formulation.problem(signs, job.weights[examples], start), examples

    def signs(self, job: Job, examples: np.ndarray) -> np.ndarray:
        return np.where(self.labels[examples] == job.split.positive, 1.0, -1.0)

    def _read(
        self, job: Job, problem: Problem, examples: np.ndarray, solution: Solution
    ) -> Trained:
        signs, weights = self.signs(job, examples), job.weights[examples]
        solution = _snapped(problem, solution)
        machine = job.formulation.read(problem, solution, signs, weights)
        outputs = solution.grad - problem.p - problem.ridge * solution.beta
        return Trained(job, examples, machine, outputs)

    def _solve_whole(
        self,
        problem: Problem,
        examples: np.ndarray,
        tol: float,
        max_steps: float,
        watch: Watch,
    ) -> Solution:
        K = self.gram_of(examples)
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
        everything = np.arange(len(problem))

        def exact(at: Solution) -> Solution:
            return polish(problem, at, lambda F: K[np.ix_(F, F)], lambda F, d: K[:, F] @ d)

        while True:
            state = State.of(problem, at.beta, at.grad, len(problem))
            at = replace(
                at, violation=state.violation, converged=state.violation <= tol or state.hopeless
            )
            if at.converged or at.n_steps >= max_steps or watch.stopped:
                break
            # beyond the tolerance, as far as it is cheap: the exact solution is then a guess away
            found, steps = solve_block(
                problem, everything, K, at.grad, at.beta, CLOSER * tol * state.unit,
                max_steps - at.n_steps,
            )  # fmt: skip
            delta = found - at.beta
            grad = at.grad + K @ delta + problem.ridge * delta
            at = replace(at, beta=found, grad=grad, n_steps=at.n_steps + steps)
            if steps > PATIENCE * len(problem):  # hard going: it may be a guess away
                at = exact(at)
            watch.advance(0)
        return exact(at) if at.converged and not state.hopeless and not watch.stopped else at


def _snapped(problem: Problem, solution: Solution) -> Solution:
    """Variables within rounding of an end put there: in many steps it is rarely hit."""
    beta = solution.beta
    near = ROUNDING * (problem.hi - problem.lo)
    beta = np.where(np.isfinite(near) & (problem.hi - beta <= near), problem.hi, beta)
    beta = np.where(np.isfinite(near) & (beta - problem.lo <= near), problem.lo, beta)
    return replace(solution, beta=beta)


def check_finite(values: np.ndarray, kernel: Kernel) -> None:
    if not np.isfinite(values).all():
        raise ValueError(
            f"{kernel} returned values that are not finite: scale the data, or mend the kernel"
        )
