"""The training half that the kernel machines of linear programs share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from largemargin.base.classifier import check_positive
from largemargin.base.expansion import ExpansionClassifier
from largemargin.base.training_set import TrainingSet
from largemargin.lp.column_generation import ColumnGeneration
from largemargin.lp.duplicates import DistinctSet
from largemargin.lp.exact_values import ExactValues
from largemargin.lp.kernel_values import KernelValues, OutOfTime, kernel_values
from largemargin.lp.programs import Program
from largemargin.lp.proof import Solution
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.memory import memory_bytes
from largemargin.runtime.progress import Watch, check_seconds
from largemargin.runtime.threads import workers

# The least relative gap that is asked for with kernel values in float32, where k(x, z) and k(z, x)
# are the same to rounding only.
LEAST_SINGLE_GAP = 1e-5


class LinearProgramMachine(ExpansionClassifier):
    """Training; subclasses say which program a problem of two sides is.

    A subclass has a `program`, and may have a `check_data` and a `has_own_part` of its own; it
    calls `session` and `accepted_gap`.
    """

    PROTOCOL: ClassVar[tuple[str, ...]] = (
        *ExpansionClassifier.PROTOCOL,
        "accepted_gap", "check_data", "has_own_part", "program", "session",
    )  # fmt: skip

    degree: int
    gamma: float | str
    coef0: float
    matern_nu: float
    class_weight: Any
    tol: float
    max_seconds: float | None
    memory: int | str
    precision: str
    verbose: int

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> Self:
        """Train on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            For kernel="precomputed", the kernel matrix of shape (n_samples, n_samples), which need
            not be symmetric: the values k(x_i, x_j) of a row are those of what is scored.
        y : array of shape (n_samples,)
            Labels of any type.
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 is exactly an example twice, a weight of 0 exactly its absence: the
            machine is the same, in whatever order rows come, though the program may have several
            solutions. For kernel="precomputed" that is said of the objective.

        Returns
        -------
        self
        """
        with self.rolled_back_on_error(), self.calibrating(X, y, sample_weight):
            self.check_parameters()
            X, y = self.validate(X, y)
            with self.session(X, y, sample_weight) as (data, values, exact, watch):
                solved = []
                for signs in sides(data):
                    program = self.program(signs, data.weights, exact.diagonal)
                    solver = ColumnGeneration(program, values, watch)
                    solved.append(checked(solver.run(self.accepted_gap(data), exact)))
                    watch.advance(1)
            self.set_fitted(data, solved)
        self.warn_unless_converged(solved)
        return self

    def accepted_gap(self, data: DistinctSet) -> float:
        """The largest relative gap with which a solution counts as one."""
        return max(self.tol, LEAST_SINGLE_GAP) if data.dtype == np.float32 else self.tol

    @contextmanager
    def session(
        self, X: Matrix, y: np.ndarray, sample_weight: VectorLike, n_models: int = 1
    ) -> Iterator[tuple[DistinctSet, KernelValues, ExactValues, Watch]]:
        """The examples, kernel values for all the problems, and a watch over all that is done."""
        n_classes = len(np.unique(y))
        watch = self.watch(n_models * (n_classes if n_classes > 2 else 1))

        def look() -> None:
            if watch.look():
                raise OutOfTime

        # infinities and NaN are refused when a problem is solved
        with watch, workers(self.n_jobs) as team, np.errstate(all="ignore"):
            data = DistinctSet(self, X, y, sample_weight)
            self.check_data(data)
            enough = len(data) ** 2 * data.dtype.itemsize
            memory = memory_bytes(self.memory, enough=enough)
            values = kernel_values(data.X, data.kernel, data.dtype, memory, team, look)
            yield data, values, ExactValues(data.X, data.kernel, team), watch

    def program(self, signs: np.ndarray, weights: np.ndarray, diagonal: np.ndarray) -> Program:
        """The linear program of a problem of two sides; `diagonal` has the values k(x_i, x_i)."""
        raise NotImplementedError

    @property
    def has_own_part(self) -> bool:
        """Whether a coefficient counts in its own example's margin, so that duplicates share it."""
        return False

    def set_fitted(self, data: DistinctSet, solved: Sequence[Solution]) -> None:
        """Make the fitted attributes."""
        coefs = np.zeros((len(solved), len(data)))
        for row, signs, one in zip(coefs, sides(data), solved, strict=True):
            row[one.examples] = signs[one.examples] * one.coefs
        given, coefs = data.as_given(coefs, self.has_own_part)
        self.set_expansion(given, coefs, np.array([one.b for one in solved]))
        self.objective_ = np.array([one.objective for one in solved])
        self.dual_gap_ = np.array([one.gap for one in solved])
        self.n_iter_ = np.array([max(1, one.n_steps) for one in solved])
        self.converged_ = not any(one.reason for one in solved)

    def warn_unless_converged(self, solved: Sequence[Solution]) -> None:
        """Warn of what kept the fit from its solution."""
        reasons = [one.reason for one in solved if one.reason]
        if reasons:
            warnings.warn(
                f"{type(self).__name__} stopped before it converged because {reasons[0]}; the "
                f"largest relative duality gap is {self.dual_gap_.max():.3g}. The model can be "
                "used",
                ConvergenceWarning,
                stacklevel=3,
            )

    def check_data(self, data: DistinctSet) -> None:
        """Refuse data that a subclass cannot be trained on."""

    def check_parameters(self) -> None:
        check_positive("tol", self.tol)
        if not isinstance(self.verbose, Integral):
            raise ValueError(f"verbose must be 0 or 1, got {self.verbose!r}")
        check_seconds(self.max_seconds)


def checked(solved: Solution) -> Solution:
    """A solution, refused if it has infinities or NaN."""
    known = (solved.coefs.sum(), solved.b, solved.rho, solved.objective)
    if not np.isfinite(known).all() or np.isnan(solved.gap):
        raise ValueError(
            "the kernel values of these data, or the coefficients that they need, are more or less "
            "than float64 can compute with: scale the data (to 0..1, say) or give another gamma"
        )
    return solved


def sides(data: TrainingSet) -> list[np.ndarray]:
    """The signs of the examples in each problem: two classes are one, positive for the second;
    several are one each, against the rest.
    """
    positive = [1] if data.n_classes == 2 else range(data.n_classes)
    return [np.where(data.labels == c, 1.0, -1.0) for c in positive]
