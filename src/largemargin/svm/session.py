"""A training session: data, kernel values and threads, and any number of machines trained on them.

`solving` chooses how a problem is solved. Whatever is trained in the same session shares kernel
values: the classes, the values of C of a path, the folds of a cross-validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from threading import Lock, Semaphore, get_ident

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
from largemargin.runtime.arrays import Matrix, MatrixLike
from largemargin.runtime.memory import give_back, lend
from largemargin.runtime.progress import Watch
from largemargin.runtime.threads import Workers
from largemargin.svm.decomposition import WORKING_SET
from largemargin.svm.evaluation import Evaluation, sum_loops
from largemargin.svm.jobs import Job, StatedProblem, TrainedProblem
from largemargin.svm.linear.rows import products_by_weights
from largemargin.svm.multiclass import SEGMENT, Layout, Split
from largemargin.svm.problem import Solution, smo_loops
from largemargin.svm.single_first import LARGEST_MATRIX
from largemargin.svm.solving import Solving

ZERO_COEF = 1e-13  # a coefficient below this fraction of the largest part of w is zero
BYTES_PER_EXAMPLE = 150  # bytes per example and class: bounds, gradients, coefficients
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
    shares : bool
        Whether coefficients will be shared among copies, which rounds each once more.
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
        shares: bool = False,
    ) -> None:
        self.X, self.labels, self.kernel, self.team = X, labels, kernel, team
        self.given = X if given is None else given
        self.n, self.n_classes = int(X.shape[0]), n_classes
        self.exact, self.may_forget = dtype == np.float64, may_forget
        self.shares = shares
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
        # examples, their matrix, and its memory
        self._kept: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    @cached_property
    def is_cheap(self) -> bool:
        """Whether kernel values are computed each time, or would be if there were more of them."""
        return self.may_forget and (self.computed or is_computed_again(self.kernel, self.X))

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
        found = Solving(self, tol, watch).solve(stated, max_steps)
        return [self._read_seen(one, at) for one, at in zip(stated, found, strict=True)]

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

    @cached_property
    def long(self) -> FusedRows:
        """The rows for kernel values in float64."""
        return self.fused if self.exact else self._fused_in(np.dtype(np.float64))

    @contextmanager
    def matrix(self, examples: np.ndarray) -> Iterator[np.ndarray]:
        """The values among some examples in float32, no more of them at once than there is memory
        for; those among all examples are kept for other problems: other classes, other values of C,
        other folds.
        """
        with self._matrices:
            if len(examples) < self.n or self._memory < 2 * LARGEST_MATRIX:
                room = lend(len(examples) ** 2, self.quick.dtype)
                yield self.quick.corner(examples, room)
                give_back(room)
                return
            with self._keeping:
                if self._kept is None or not np.array_equal(self._kept[0], examples):
                    room = lend(len(examples) ** 2, self.quick.dtype)
                    self._kept = examples, self.quick.corner(examples, room), room
                K = self._kept[1]
            yield K

    def room(self, size: int) -> np.ndarray:
        """Memory of this thread for a corner of so many values, since fresh memory is slow."""
        room = self._rooms.get(get_ident())
        if room is None or len(room) < size:
            room = self._rooms[get_ident()] = np.empty(size, self.fused.dtype)
        return room

    def asked_for(self, split: Split) -> np.ndarray:
        """Marks the examples whose rows were asked for by problems of these classes."""
        return self._asked_for.setdefault(split.classes, np.zeros(self.n, bool))

    def close(self) -> None:
        """Give up the kernel values."""
        if "rows" in vars(self):
            self.rows.close()
        if self._kept is not None:
            give_back(self._kept[2])
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

    def gram_of_split(self, split: Split) -> np.ndarray:
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
            return self.read(one, solution)
        problem = replace(
            problem, lo=np.where(seen, problem.lo, 0.0), hi=np.where(seen, problem.hi, 0.0)
        )
        trained = self.read(replace(one, problem=problem), solution)
        result = replace(trained.result, gap=np.inf, converged=False, separable=True)
        return replace(trained, result=result, outputs=np.where(seen, trained.outputs, np.nan))

    def read(self, one: StatedProblem, solution: Solution) -> TrainedProblem:
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
