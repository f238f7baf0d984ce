"""A training session: data, kernel rows and threads, and any number of machines trained on them.

Small data has its whole Gram matrix, in which `dense_solver` solves each problem; larger data goes
through `decomposition`; the linear kernel through `linear`. (Coordinate descent, which is for many
features, goes from one row to the next: of rows in other processes each would be waited for, and
kernel values are used instead.) Whatever is trained in the same session shares kernel values: the
classes, the values of C of a path, the folds of a cross-validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from threading import Lock, Semaphore, get_ident
from typing import Any

import numpy as np

from largemargin.kernels.engine import SMALL_PROBLEM, largest_square
from largemargin.kernels.functions import Kernel, Linear
from largemargin.kernels.fused import (
    Columns,
    FusedRows,
    fused_rows,
    is_computed_again,
    single_enough,
)
from largemargin.kernels.rows import HEIGHTS, KernelRows, whole_gram
from largemargin.runtime.arrays import DistantRows, Matrix, MatrixLike
from largemargin.runtime.progress import Watch
from largemargin.runtime.threads import Workers
from largemargin.svm.chunking import LOOK_ROWS, Chunking
from largemargin.svm.decomposition import WORKING_SET, Subproblem, solve
from largemargin.svm.dense_solver import (
    SMO_EXTRA,
    SMO_STEPS,
    SMO_STEPS_PER_VARIABLE,
    solve_dense,
    solve_nearly,
)
from largemargin.svm.evaluation import Evaluation, Outputs, Stored, of_sum, sum_loops
from largemargin.svm.few_features import has_few_features, may_be_solved_in_features
from largemargin.svm.forecast import Forecast
from largemargin.svm.hard_problems import solve_in_columns
from largemargin.svm.jobs import Job, StatedProblem, TrainedProblem
from largemargin.svm.linear.coordinate_descent import fits, solve_by_coordinates
from largemargin.svm.linear.rows import products_by_weights
from largemargin.svm.linear.solver import in_order_of_data, solve_few_columns
from largemargin.svm.multiclass import SEGMENT, Layout, Split
from largemargin.svm.problem import Problem, Solution, smo_loops
from largemargin.svm.single_first import LARGEST_MATRIX, may_pay, solve_near

ZERO_COEF = 1e-13  # a coefficient below this fraction of the largest part of w is zero
# A problem is hard after so many times the steps that a block may take, or where these take longer
# than to solve it in the few dimensions that a kernel is known to have: that is some dozens of
# products L'L, and so many multiplications of one take as long as a step
HARD = 2
MULTIPLICATIONS = 300
SMO_FIRST_ROWS = 512  # rows up to which SMO is tried before solving in few features
SMO_FIRST_VALUES = 3_000_000  # kernel values that it may look at: about the time of the other way
BYTES_PER_EXAMPLE = 150  # bytes per example and class: bounds, gradients, coefficients
CORNER_ROWS = 1536  # examples of a problem up to which its own matrix is computed at once
WHOLE_GRAM_ROWS = 2048  # rows up to which the whole Gram matrix is computed at once


class Session:
    """Data to train machines on.

    Parameters
    ----------
    X : array or CSR matrix
        As `kernels.engine.prepare` gives it.
    labels : array of class numbers
    memory : int
        Bytes for kernel values.
    given : array or sparse matrix, optional
        The same rows before `prepare` rounded them, if it did.
    may_forget : bool
        Whether kernel values may be computed again each time, where that is cheaper.
    in_matrices : bool
        Whether all problems are such that each, if it has few rows, is solved in a matrix.
    """

    def __init__(
        self,
        X: Matrix,
        labels: np.ndarray,
        n_classes: int,
        kernel: Kernel,
        dtype: np.dtype,
        memory: int,
        team: Workers,
        *,
        portions: bool = True,
        given: MatrixLike = None,
        may_forget: bool = True,
        in_matrices: bool = False,
    ) -> None:
        self.X, self.labels, self.kernel, self.team = X, labels, kernel, team
        self.given = X if given is None else given
        self.n, self.n_classes = int(X.shape[0]), n_classes
        self.exact, self.may_forget = dtype == np.float64, may_forget
        self._is_rough = False
        # decided by the data alone, since the two ways end in different last bits
        self.whole = self.n <= WHOLE_GRAM_ROWS
        large = self.n > SMALL_PROBLEM and not self.whole
        self.layout = Layout(labels, n_classes, portions and large)
        self.computed = (
            may_forget
            and not self.whole
            and is_computed_again(kernel, X, max(1, n_classes - 1), in_matrices)
        )
        self._dtype, self._memory = dtype, memory
        self._ends = [0, *np.cumsum(np.bincount(labels, minlength=n_classes)).tolist()]
        self._asked_for: dict[tuple[int, ...], np.ndarray] = {}  # by classes: rows of examples
        self._multiplied = np.zeros(self.n, bool)  # rows asked for by `products`
        self.n_computed = 0  # kernel values that were computed and forgotten
        self.evaluation = Evaluation(self)
        self._matrices = Semaphore(max(1, memory // LARGEST_MATRIX))
        self._rooms: dict[int, np.ndarray] = {}  # for the corners of a thread
        self._keeping = Lock()
        self._kept: tuple[np.ndarray, np.ndarray] | None = None  # examples, and their matrix

    @cached_property
    def gram(self) -> np.ndarray:
        """All kernel values, where they are computed at once, in the order of `order`."""
        return whole_gram(self.X[self.order], self.order, self.kernel, self._dtype, self.team)

    @cached_property
    def fused(self) -> FusedRows:
        """The rows, where kernel values are computed, used and forgotten."""
        return self._fused_in(self._dtype)

    @cached_property
    def quick(self) -> FusedRows:
        """The same in float32 if that is good enough to begin with."""
        if not (self.exact and single_enough(self.kernel, largest_square(self.X))):
            return self.fused
        return self._fused_in(np.dtype(np.float32))

    def _fused_in(self, dtype: np.dtype) -> FusedRows:
        return fused_rows(self.kernel, self.X, self.team, dtype, self.layout.segments)

    def _is_single_first(self, one: StatedProblem) -> bool:
        """Whether a problem is solved in a matrix of float32 first."""
        return (
            self.may_forget
            and not (isinstance(self.X, DistantRows) or one.problem.relative)
            and may_pay(len(one.examples), self.X, self.whole)
            and (self.computed or is_computed_again(self.kernel, self.X))
            and self.quick is not self.fused
            and self.quick.in_order
        )

    @cached_property
    def rows(self) -> KernelRows:
        # a thread's rows in the making and the matrix of its working set
        scratch = HEIGHTS[0] * SEGMENT + (2 * WORKING_SET) ** 2
        used = (
            self.team.count * scratch * self._dtype.itemsize
            + BYTES_PER_EXAMPLE * self.n * self.n_classes
        )
        return KernelRows(
            self.X, self.kernel, self._dtype, self.layout.segments, self._memory - used, self.team
        )

    def train(
        self, jobs: Sequence[Job], *, tol: float, max_steps: float = np.inf, watch: Watch
    ) -> list[TrainedProblem]:
        """Train all jobs, together."""
        stated = [self._state(job) for job in jobs]
        found: list[Solution | None] = [None] * len(stated)
        if (
            has_few_features(self.X, self.kernel)
            and max_steps > SMO_STEPS + SMO_STEPS_PER_VARIABLE * self.n
        ):
            found = [self._solve_in_features(one, tol, watch) for one in stated]
        elif self._has_rows_at_hand and max_steps == np.inf:
            found = self._solve_by_coordinates(stated, tol, watch)
            if may_be_solved_in_features(self.X):
                for k, at in enumerate(found):
                    if at and not (at.converged or watch.stopped):
                        found[k] = self._solve_in_features(stated[k], tol, watch)
        left = [k for k, at in enumerate(found) if not (at and (at.converged or watch.stopped))]
        solutions = self._solve([stated[k] for k in left], tol, max_steps, watch)
        for k, at in zip(left, solutions, strict=True):
            other = found[k]
            found[k] = at if other is None or at.violation < other.violation else other
        return [self._read_seen(one, at) for one, at in zip(stated, found, strict=True) if at]

    @contextmanager
    def roughly(self, wanted: bool = True) -> Iterator[None]:
        """Within it, if that is wanted, many examples are trained on to the tolerance and no
        further, where the exact solution would take longer than that.
        """
        self._is_rough = wanted
        try:
            yield
        finally:
            self._is_rough = False

    @property
    def finishes(self) -> bool:
        """Whether to go on to exact solutions."""
        return self.exact and not self._is_rough

    def _solve(
        self, stated: Sequence[StatedProblem], tol: float, max_steps: float, watch: Watch
    ) -> list[Solution]:
        """Solve all problems over kernel values; one that many steps do not end in few dimensions,
        if the kernel has no more.
        """
        if not stated:
            return []
        patience = min(max_steps, self._patience(max(len(one.problem) for one in stated)))
        found = self._solve_by_steps(stated, tol, patience, watch)
        near = not isinstance(self.X, DistantRows)
        is_single = near and self.computed and not self.exact  # in float32 it may never end
        for k, at in enumerate(found):
            if at.converged or at.n_steps >= max_steps:
                continue
            is_hard = at.n_steps >= patience
            if is_hard:
                found[k] = at = solve_in_columns(self, stated[k], at, tol, watch)
            if (is_hard or is_single) and not (at.converged or watch.look()):
                found[k] = self._continued(stated[k], at, tol, max_steps, watch)
        return found

    def _patience(self, n: int) -> float:
        """The steps after which a problem of n variables is a hard one."""
        usual = SMO_STEPS + SMO_STEPS_PER_VARIABLE * n
        d = self.kernel.dimensions(int(self.X.shape[1])) if self.kernel.psd else np.inf
        return float(int(min(HARD * usual, SMO_STEPS + n * d * d / MULTIPLICATIONS)))

    def _continued(
        self, one: StatedProblem, at: Solution, tol: float, max_steps: float, watch: Watch
    ) -> Solution:
        """Go on from a point, with values in float64 if those so far were not."""
        again = replace(one, problem=replace(one.problem, start=at.beta))
        if self.computed and not self.exact and not isinstance(self.X, DistantRows):
            solver = self._chunking(again, tol, max_steps - at.n_steps, watch, self._long)
            solver.run()
            self.n_computed += solver.effort.n_values
            found = solver.solution()
        else:
            (found,) = self._solve_by_steps([again], tol, max_steps - at.n_steps, watch)
        return replace(found, n_steps=found.n_steps + at.n_steps)

    @cached_property
    def _long(self) -> FusedRows:
        """The rows for kernel values in float64."""
        return self.fused if self.exact else self._fused_in(np.dtype(np.float64))

    def _solve_by_steps(
        self, stated: Sequence[StatedProblem], tol: float, max_steps: float, watch: Watch
    ) -> list[Solution]:
        if self.whole and len(stated) == 1 and self._is_single_first(stated[0]):
            return [self._solve_single_first(stated[0], tol, max_steps, watch)]
        return self._solve_in_double(stated, tol, max_steps, watch)

    def _solve_single_first(
        self, one: StatedProblem, tol: float, max_steps: float, watch: Watch
    ) -> Solution:
        """Solve a problem in float32, and in float64 from there as far as it counts; or go on from
        there in the usual way.
        """
        solver = self._chunking(one, tol, max_steps, watch)
        at = self._solve_in_matrix(one, solver, watch)
        found = at if self._is_rough else self._solve_near(one, solver, watch)
        self.n_computed += solver.effort.n_values
        if found is not None:
            watch.advance(1)
            return found
        steps = solver.effort.n_steps
        start = replace(one.problem, start=solver.beta)
        (found,) = self._solve_in_double(
            [replace(one, problem=start)], tol, max_steps - steps, watch
        )
        return replace(found, n_steps=found.n_steps + steps)

    def _solve_in_matrix(self, one: StatedProblem, solver: Chunking, watch: Watch) -> Solution:
        """Solve a problem in the matrix of its values in float32, and let the solver know; no more
        of them at once than there is memory for.
        """
        tol = solver.tol if self._is_rough else solver.tol / 2
        with self._matrices:
            K = self._matrix(one.examples)
            at = solve_nearly(one.problem, K, tol, solver.effort.max_steps, watch, self.team)
        solver.effort.n_values += K.size
        solver.take(at)
        return at

    def _matrix(self, examples: np.ndarray) -> np.ndarray:
        """The values among some examples in float32; those among all examples are kept for other
        problems: other classes, other values of C, other folds.
        """
        if len(examples) < self.n or self._memory < 2 * LARGEST_MATRIX:
            return self.quick.corner(examples)
        with self._keeping:
            if self._kept is None or not np.array_equal(self._kept[0], examples):
                self._kept = examples, self.quick.corner(examples)
            return self._kept[1]

    def _chunking(
        self, one: StatedProblem, tol: float, max_steps: float, watch: Watch,
        kernel: FusedRows | None = None,
    ) -> Chunking:  # fmt: skip
        """The solver of a problem over values that are computed, used and forgotten; those of the
        exact solution in float32 first, without the sizes of sums, which are wanted in the end.
        """
        distant = isinstance(self.X, DistantRows)  # sums come from afar: as few as can be
        return Chunking(
            one.problem, one.examples, self.layout.ends(one.job.split), kernel or self.quick, tol,
            max_steps,
            norms=self.sizes,
            weights=None if distant or self.finishes else self.evaluation.size_weights,
            stopped=watch.look,
            given=one.job.start is not None,
            report=Forecast(watch, tol, partial(self._gap_on_the_way, one)),
            look_rows=self.n if distant else LOOK_ROWS,
            is_first=self.finishes and self.quick is not self.fused,
        )  # fmt: skip

    def _solve_near(self, one: StatedProblem, solver: Chunking, watch: Watch) -> Solution | None:
        """The exact solution from one in float32, if that leads there."""
        if one.problem.relative or self.quick is self.fused:
            return None

        def error(beta: np.ndarray) -> np.ndarray:
            stored = Stored(one.job.split, one.examples, beta[None])
            return np.asarray(self.evaluation.errors_of_single(stored)[0])

        def solve(problem: Problem, K: np.ndarray, max_steps: float) -> Solution:
            return solve_dense(problem, K, solver.tol, max_steps, watch, self.team)

        return solve_near(
            solver, self.fused, self.sizes, self.evaluation.size_weights, error, solve
        )

    def _solve_in_double(
        self, stated: Sequence[StatedProblem], tol: float, max_steps: float, watch: Watch
    ) -> list[Solution]:
        if self.whole:
            return self._solve_whole(stated, tol, max_steps, watch)
        if self.computed and self._are_small(stated):
            return self._solve_in_corners(stated, tol, max_steps, watch)
        if self.computed:
            return self._solve_in_chunks(stated, tol, max_steps, watch)
        runs = [
            Subproblem(
                one.problem,
                self.layout.portions(one.job.split),
                self.rows,
                self._asked_for.setdefault(one.job.split.classes, np.zeros(self.n, bool)),
                tol,
                max_steps,
                self.sizes,
                watch.look,
                one.job.start is not None,
            )
            for one in stated
        ]
        solve(runs, self.rows, self.team, watch)
        if self.finishes and not watch.stopped:
            self._finish([run for run in runs if run.converged], watch)
        return [run.solution() for run in runs]

    def _are_small(self, stated: Sequence[StatedProblem]) -> bool:
        """Whether each problem has few of the examples: pairs of many classes."""
        return all(len(one.examples) <= min(CORNER_ROWS, self.n - 1) for one in stated)

    def _solve_in_corners(
        self, stated: Sequence[StatedProblem], tol: float, max_steps: float, watch: Watch
    ) -> list[Solution]:
        """Solve small problems, each on one thread in the matrix of its kernel values."""
        found: list[Any] = [None] * len(stated)
        near = self.fused.nearby()

        def run(k: int) -> None:
            found[k] = self._solve_in_corner(stated[k], near, tol, max_steps, watch)

        _ = self.sizes, self.evaluation.size_weights  # not by several threads at once
        self.team.map(run, range(len(stated)))
        self.n_computed += sum(len(one.examples) ** 2 for one in stated)
        return found

    def _solve_in_corner(
        self, one: StatedProblem, near: FusedRows, tol: float, max_steps: float, watch: Watch
    ) -> Solution:
        examples, sizes = one.examples, self.sizes
        room = self._rooms.get(get_ident())
        if room is None or len(room) < len(examples) ** 2:  # fresh memory is slow
            room = self._rooms[get_ident()] = np.empty(len(examples) ** 2, self.fused.dtype)
        K = np.asarray(near.corner(examples, room), np.float64)
        at = solve_dense(one.problem, K, tol, max_steps, watch, self.team)
        used = np.flatnonzero(at.beta)
        coefs, weights = np.abs(at.beta[used]), self.evaluation.size_weights
        drift = of_sum(len(used)) * float(coefs @ sizes[examples[used]]) * sizes[examples]
        weighted = None
        if weights is not None:
            weighted = (coefs * weights[examples[used]]) @ np.abs(K[used])
        watch.advance(1)
        return replace(at, drift=drift, sizes=weighted)

    def _solve_in_chunks(
        self, stated: Sequence[StatedProblem], tol: float, max_steps: float, watch: Watch
    ) -> list[Solution]:
        """Solve all problems over kernel values that are computed, used and forgotten: those in
        float64 in float32 first, as far as the tolerance.
        """
        _ = self.quick, self.sizes, self.evaluation.size_weights  # not by several threads at once
        found: list[Any] = [None] * len(stated)
        near = self.fused.nearby() if any(self._are_small([one]) for one in stated) else self.fused

        def run(k: int) -> None:
            one = stated[k]
            if self._are_small([one]):
                found[k] = self._solve_in_corner(one, near, tol, max_steps, watch)
                self._n_computed[k] = len(one.examples) ** 2
                return
            solver = self._chunking(one, tol, max_steps, watch)
            at = None
            if not self._is_single_first(one):
                solver.run()
            else:
                at = self._solve_in_matrix(one, solver, watch)
            if self.finishes:
                at = self._solve_near(one, solver, watch)
            if at is None:
                if self.finishes:
                    solver = solver.continued(self.fused, self.evaluation.size_weights)
                at = solver.solution()
                if solver.kernel.dtype != self.fused.dtype:  # no time for float64, or no wish
                    stored = Stored(one.job.split, one.examples, at.beta[None])
                    at = replace(at, drift=at.drift + self.evaluation.error_of_single(stored))
            self._n_computed[k] = solver.effort.n_values
            watch.advance(int(at.converged))
            found[k] = at

        self._n_computed = np.zeros(len(stated), np.int64)
        together = self.X.together if isinstance(self.X, DistantRows) else self.team.map
        together(run, range(len(stated)))
        self.n_computed += int(self._n_computed.sum())
        return found

    def _gap_on_the_way(self, one: StatedProblem, solver: Chunking) -> float:
        """The relative duality gap of a solver's variables, rounding apart."""
        solution = solver.solution()
        trained = self._read(one, replace(solution, beta=solution.beta.copy()))
        y, s, result = one.signs, one.weights, trained.result
        f = trained.scale * trained.outputs[None]
        outputs = Outputs(f, np.zeros_like(f), float(result.coefs @ f[0]), 0.0)
        bounds = one.job.formulation.bounds(
            y, s, result.coefs, result.intercept, outputs, self.evaluation.reach
        )
        return bounds.gap

    def _solve_dense(
        self, one: StatedProblem, tol: float, max_steps: float, watch: Watch
    ) -> Solution:
        """Solve a problem in the matrix of all its kernel values."""
        K = self._gram_of_split(one.job.split)
        at = solve_dense(one.problem, K, tol, max_steps, watch, self.team)
        watch.advance(1)
        return at

    def _solve_whole(
        self, stated: Sequence[StatedProblem], tol: float, max_steps: float, watch: Watch
    ) -> list[Solution]:
        """Solve all problems in the whole Gram matrix, each on one thread."""
        found: list[Any] = [None] * len(stated)

        def run(k: int) -> None:
            found[k] = self._solve_dense(stated[k], tol, max_steps, watch)

        _ = self.gram  # not by several threads at once
        self.team.map(run, range(len(stated)))
        return found

    def _solve_in_features(self, one: StatedProblem, tol: float, watch: Watch) -> Solution:
        """Solve a problem in the space of its few features, unless a few steps are enough."""
        if self.whole and self.n <= SMO_FIRST_ROWS:
            at = self._solve_dense(one, tol, SMO_FIRST_VALUES // self.n, watch)
            if at.converged or watch.stopped:
                return at
        at = in_order_of_data(
            one.problem, one.examples, self.X,
            lambda problem, X: solve_few_columns(
                problem, X, tol, self.finishes, self.team, watch.look
            ),
        )  # fmt: skip
        watch.advance(int(at.converged))
        return at

    @property
    def _has_rows_at_hand(self) -> bool:
        """Whether a row's product with w is cheaper than a kernel row, and does not come from
        afar.
        """
        near = not isinstance(self.X, DistantRows)
        return isinstance(self.kernel, Linear) and near and not self.whole

    def _solve_by_coordinates(
        self, stated: Sequence[StatedProblem], tol: float, watch: Watch
    ) -> list[Solution | None]:
        """Solve the problems that coordinate descent knows, each on one thread."""
        found: list[Solution | None] = [None] * len(stated)

        def work(k: int) -> None:
            at = found[k] = in_order_of_data(
                stated[k].problem, stated[k].examples, self.X,
                lambda problem, X: solve_by_coordinates(
                    problem, X, tol, self.finishes, self.team, watch.look
                ),
            )  # fmt: skip
            watch.advance(int(at.converged))

        self.team.map(work, [k for k, one in enumerate(stated) if fits(one.problem)])
        return found

    def _finish(self, runs: Sequence[Subproblem], watch: Watch) -> None:
        """Go on beyond the tolerance as far as that is cheap, then to the exact solutions."""
        for run in runs:
            run.continue_to(SMO_EXTRA * run.tol)
        solve(runs, self.rows, self.team, watch)
        for run in runs:
            run.converged = True
            if not watch.look():
                run.refine()

    def close(self) -> None:
        """Give up the kernel values."""
        if "rows" in vars(self):
            self.rows.close()
        vars(self).clear()  # objects that refer to each other would be kept for long

    @cached_property
    def order(self) -> np.ndarray:
        """All examples, segment by segment: the order of what `products` gives."""
        return np.concatenate(self.layout.segments)

    @cached_property
    def _all_columns(self) -> Columns:
        return self.fused.columns(self.order)

    @cached_property
    def place(self) -> np.ndarray:
        """Where each example is in that order."""
        places = np.empty(self.n, np.int64)
        places[self.order] = np.arange(self.n)
        return places

    def column_ranges(self, split: Split | None) -> list[tuple[int, int]]:
        """The ranges of columns, first and end, that a problem has in the whole Gram matrix."""
        if split is None or len(split.classes) == self.n_classes:
            return [(0, self.n)]
        return [(self._ends[c], self._ends[c + 1]) for c in split.classes]

    def gram_of(self, examples: np.ndarray) -> np.ndarray:
        """Kernel values among some examples."""
        if self.whole:
            place = self.place[examples]
            return self.gram[np.ix_(place, place)]
        if self.computed:
            return self.fused.corner(examples)
        return self.rows.block(examples)

    def _gram_of_split(self, split: Split) -> np.ndarray:
        """The values among the examples of some classes, which are together in the whole matrix."""
        if len(split.classes) == self.n_classes:
            return self.gram
        first, last = split.classes[0], split.classes[-1]
        if last - first == len(split.classes) - 1:
            part = slice(self._ends[first], self._ends[last + 1])
            return self.gram[part, part].copy()
        counts = [self._ends[c + 1] - self._ends[c] for c in split.classes]
        gram = np.empty((sum(counts), sum(counts)), self.gram.dtype)
        row = 0
        for c, height in zip(split.classes, counts, strict=True):
            strip, column = self.gram[self._ends[c] : self._ends[c + 1]], 0
            for d, width in zip(split.classes, counts, strict=True):
                block = strip[:, self._ends[d] : self._ends[d + 1]]
                gram[row : row + height, column : column + width] = block
                column += width
            row += height
        return gram

    @property
    def n_asked(self) -> int:
        """Kernel values that were asked for, each counted once: the same whatever the memory."""
        if self.whole:
            return self.n**2
        if self.computed:
            return self.n_computed
        count = int(self._multiplied.sum()) * self.n
        for classes, rows in self._asked_for.items():
            count += int(rows.sum()) * int(np.isin(self.labels, classes).sum())
        return count

    def products(self, examples: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        """coefs @ K[examples, order], for one row of coefficients per problem."""
        if self._by_weights:
            return products_by_weights(self.X, self.team, examples, coefs)[:, self.order]
        self._multiplied[examples] = True
        if self.whole:
            return np.asarray(coefs @ self.gram[self.place[examples]])
        if self.computed:
            self.n_computed += len(examples) * self.n
            return self._all_columns.sums(self.fused.vectors(examples), coefs)
        return self.rows.products(examples, coefs)

    @property
    def _by_weights(self) -> bool:
        """Whether w is shorter than a row of kernel values."""
        return isinstance(self.kernel, Linear) and not self.whole and self.X.shape[1] <= self.n

    def _state(self, job: Job) -> StatedProblem:
        examples = self.layout.examples(job.split)
        start = None if job.start is None else job.start[examples]
        signs, weights = self.signs(job, examples), job.weights[examples]
        return StatedProblem(
            job, examples, signs, weights, job.formulation.problem(signs, weights, start)
        )

    def signs(self, job: Job, examples: np.ndarray) -> np.ndarray:
        return np.where(self.labels[examples] == job.split.positive, 1.0, -1.0)

    def _read_seen(self, one: StatedProblem, solution: Solution) -> TrainedProblem:
        """Read a solution of which some outputs may not be known, in which case the gap is not."""
        seen, problem = solution.seen, one.problem
        if seen is None:
            return self._read(one, solution)
        problem = replace(
            problem, lo=np.where(seen, problem.lo, 0.0), hi=np.where(seen, problem.hi, 0.0)
        )
        trained = self._read(replace(one, problem=problem), solution)
        result = replace(trained.result, gap=np.inf, converged=False, separable=True)
        return replace(trained, result=result, outputs=np.where(seen, trained.outputs, np.nan))

    def _read(self, one: StatedProblem, solution: Solution) -> TrainedProblem:
        problem, beta = one.problem, solution.beta
        before, norms = beta.copy(), self.norms[one.examples]
        smo_loops().snap(beta, problem.lo, problem.hi, norms, ZERO_COEF)
        if problem.threshold and not problem.relative:
            sum_loops().balance(beta, problem.lo, problem.hi)
        drift = solution.drift
        if np.isfinite(drift).all():
            drift = drift + float(np.abs(beta - before) @ norms) * float(self.norms.max())
        result = one.job.formulation.read(problem, solution, one.signs, one.weights)
        outputs = solution.grad - problem.p - problem.ridge * solution.beta
        scale = 1.0
        if problem.relative and beta.any():
            scale = float(np.abs(result.coefs).sum() / np.abs(beta).sum())
        return TrainedProblem(one, result, outputs, drift, solution.sizes, scale)

    @cached_property
    def sizes(self) -> np.ndarray:
        """n with |k(a, b)| <= n(a) n(b): from what the kernel says of itself, or the norms in
        feature space, which bound the values of a positive definite kernel.
        """
        sizes = self.kernel.sizes(self.evaluation.squares)
        return self.norms if sizes is None else sizes

    @cached_property
    def norms(self) -> np.ndarray:
        """The norms of the examples in feature space."""
        if self.whole and not self.kernel.on_products:
            return np.asarray(np.sqrt(np.abs(np.diagonal(self.gram)[self.place])), np.float64)
        return np.asarray(np.sqrt(np.abs(self.kernel.diag(self.X))))
