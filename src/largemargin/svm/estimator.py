"""What all support vector machines share: training in a session, what is kept, and answers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, sqrt
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from largemargin.base.classifier import check_positive
from largemargin.base.expansion import ExpansionClassifier, ExpansionEstimator
from largemargin.base.training_set import TrainingSet
from largemargin.runtime.arrays import MatrixLike, VectorLike
from largemargin.runtime.memory import memory_bytes
from largemargin.runtime.progress import Watch, check_seconds
from largemargin.runtime.threads import workers
from largemargin.svm.certification import certify
from largemargin.svm.copies import Distinct
from largemargin.svm.formulations import Formulation
from largemargin.svm.jobs import Job, TrainedProblem
from largemargin.svm.multiclass import Split, ranges_of_votes, splits, votes
from largemargin.svm.problem import DualResult
from largemargin.svm.session import Session

FAR = 0.5  # a relative duality gap that is not expected of a fit that met its tolerance
USUAL_TOL = 1e-2  # the largest tolerance for which it is not


def unwarned() -> np.errstate:
    """For training: numbers beyond the range of floats are looked for in what comes out, which
    says what they mean.
    """
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


@dataclass(frozen=True)
class Fit:
    """A machine as trained: coefficients of all examples, one row per function, the results of
    its problems, and these problems as trained, if each has two sides.
    """

    coefs: np.ndarray
    intercepts: np.ndarray
    results: Sequence[DualResult]
    trained: Sequence[TrainedProblem] = ()

    @property
    def rounding(self) -> float:
        """The most that rounding accounts for in a gap."""
        return max(result.rounding for result in self.results)


class SupportVectorEstimator(ExpansionEstimator):
    """The base of what this package trains: a session, its problems, and what is kept of them.

    Subclasses say which problems: `_formulation` of each, and `_splits` into them. The other files
    of this package call `session` and `train`.
    """

    PROTOCOL = (*ExpansionEstimator.PROTOCOL, "session", "train")

    degree: int
    gamma: float | str
    coef0: float
    matern_nu: float
    tol: float
    max_iter: int
    max_seconds: float | None
    warm_start: bool
    memory: int | str
    precision: str
    verbose: int

    @contextmanager
    def session(
        self, data: TrainingSet, total: int, portions: bool = True
    ) -> Iterator[tuple[Session, Watch]]:
        """A session to train on some data, and the watch over its `total` problems."""
        with self.watch(total) as watch, workers(self.n_jobs) as team:
            session = Session(
                data.X, data.labels, data.n_classes, data.kernel, data.dtype,
                memory_bytes(self.memory, enough=len(data) ** 2 * data.dtype.itemsize), team,
                portions=portions and self._in_portions, given=data.given,
                may_forget=self._may_forget, in_matrices=self._has_matrices(data.n_classes),
                shares=data.has_copies,
            )  # fmt: skip
            yield session, watch
            session.close()

    _may_forget = True  # whether kernel values may be computed again each time they are used

    def _has_matrices(self, n_classes: int) -> bool:
        """Whether each problem of few rows is solved in a matrix of its own."""
        return False

    _in_portions = True  # whether a part of the examples makes a problem of its own

    def train(
        self,
        session: Session,
        weightings: Sequence[np.ndarray],
        starts: Sequence[np.ndarray | None],
        watch: Watch,
    ) -> list[Fit]:
        """Train a machine for each weighting of the examples, all of them together.

        `starts` has for each the coefficients to start from, one row per function, or None.
        """
        parts = self._splits(session.n_classes)
        jobs = []
        for weights, start in zip(weightings, starts, strict=True):
            rows = [None] * len(parts) if start is None else start
            jobs += [
                Job(split, self._formulation(session, split, weights), weights, row)
                for split, row in zip(parts, rows, strict=True)
            ]
        trained = certify(session, self._solve(session, jobs, watch), watch, self.tol)
        fits = []
        for k in range(0, len(trained), len(parts)):
            group = trained[k : k + len(parts)]
            fits.append(
                Fit(
                    np.array([one.coefs(session.n) for one in group]),
                    np.array([one.result.intercept for one in group]),
                    [one.result for one in group],
                    group,
                )
            )
        return fits

    def _solve(self, session: Session, jobs: Sequence[Job], watch: Watch) -> list[TrainedProblem]:
        return session.train(jobs, tol=self.tol, max_steps=self._max_steps, watch=watch)

    def _formulation(self, session: Session, split: Split, weights: np.ndarray) -> Formulation:
        raise NotImplementedError

    def _splits(self, n_classes: int) -> list[Split]:
        """The problems of so many classes; rows without labels are one class, and one problem."""
        return splits(n_classes, "ovr")

    @property
    def _max_steps(self) -> float:
        return np.inf if self.max_iter == -1 else self.max_iter

    def _last_solution(self, data: TrainingSet) -> np.ndarray | None:
        """For a warm start: the coefficients of the last fit, if it was on as many examples."""
        if not hasattr(self, "_expansion") or self._n_given != data.n_given:
            return None
        old = self._expansion.coefs
        if len(old) != self._n_functions(data):
            return None
        full = np.zeros((len(old), data.n_given))
        full[:, self._positions] = old
        return full[:, data.positions]

    def _n_functions(self, data: TrainingSet) -> int:
        return len(self._splits(data.n_classes))

    def set_fitted(self, data: TrainingSet, fit: Fit) -> None:
        """Make the fitted attributes."""
        if not (np.isfinite(fit.coefs).all() and np.isfinite(fit.intercepts).all()):
            raise ValueError(
                f"the coefficients of {type(self).__name__} left the range of numbers that can be "
                f"computed with, for values of {data.kernel}: scale the data"
            )
        self.set_expansion(data, fit.coefs, fit.intercepts)
        results = fit.results
        self.objective_ = np.array([m.objective for m in results])
        self.dual_gap_ = np.array([m.gap for m in results])
        self.n_iter_ = np.array([max(1, m.n_steps) for m in results])
        self.converged_ = bool(all(m.converged for m in results))
        self._separable = bool(all(m.separable for m in results))

    def warn_unless_converged(self, stopped: str, rounding: float) -> None:
        """Warn of what kept the fit from its solution."""
        name = type(self).__name__
        if not self._separable:
            message = self._no_margin
        elif not self.converged_:
            reason = stopped or "rounding errors leave no better solution: scale the features"
            if not stopped and (self.n_iter_ >= self._max_steps).any():
                reason = f"max_iter={self.max_iter} was reached"
            message = (
                f"{name} stopped before it converged because {reason}; the largest relative "
                f"duality gap is {self.dual_gap_.max():.3g}. The model can be used; {self._remedy}"
            )
        elif self._is_far_off(rounding):
            message = (
                f"{name} met its tolerance and may be far from optimal all the same: its relative "
                f"duality gap may be {self.dual_gap_.max():.3g}, to which rounding adds "
                f"{rounding:.3g}, with values of this size. The model can be used; "
                f"{self._rounding_remedy}"
            )
        else:
            return
        warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _is_far_off(self, rounding: float) -> bool:
        """Whether rounding, of kernel values or of the gap itself, may have made a bad machine."""
        gap = float(self.dual_gap_.max())
        return FAR < gap < np.inf and (self.tol <= USUAL_TOL or gap < 2 * rounding)

    @property
    def _no_margin(self) -> str:
        """What to say where no hyperplane is what the problem asks for."""
        raise NotImplementedError

    _remedy = "to go on, fit again with warm_start=True"
    _rounding_remedy = "scale the features or ask for precision='float64'"

    def check_parameters(self) -> None:
        check_positive("tol", self.tol)
        limit: Any = self.max_iter
        whole = isinstance(limit, Integral) and not isinstance(limit, bool)
        if not whole or (limit < 1 and limit != -1):
            raise ValueError(
                f"max_iter must be a positive integer, or -1 for no limit, got {limit!r}"
            )
        _check_answer("warm_start", self.warm_start)
        if not isinstance(self.verbose, Integral):
            raise ValueError(f"verbose must be 0 or 1, got {self.verbose!r}")
        check_seconds(self.max_seconds)


class SupportVectorMachine(ExpansionClassifier, SupportVectorEstimator):
    """The base of support vector machines; subclasses say which machines to train.

    The other files of this package call `training_set`, `session`, `train` and `by_pairs`, and of
    `SVC` `sweep`.
    """

    PROTOCOL = (*SupportVectorEstimator.PROTOCOL, "training_set", "by_pairs", "sweep")

    fit_intercept: bool
    multiclass: str
    min_margin: float
    _reductions: tuple[str, ...] = ("ovr", "ovo")
    _by_pairs: bool

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> Self:
        """Train on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            For kernel="precomputed", the kernel matrix of shape (n_samples, n_samples).
        y : array of shape (n_samples,)
            Labels of any type.
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 is exactly an example twice, a weight of 0 exactly its absence.

        Returns
        -------
        self
        """
        with self.rolled_back_on_error(), self.calibrating(X, y, sample_weight):
            self.check_parameters()
            data = self.training_set(X, y, sample_weight)
            few = self.distinct(data)
            start = few.merged(self._last_solution(data) if self.warm_start else None)
            total = len(splits(data.n_classes, self.multiclass))
            opened = self.session(few.data, total, portions=start is None)
            with opened as (session, watch), unwarned():
                (fit,) = self.train(session, [few.data.weights], [start], watch)
            self.set_fitted(*few.as_given(fit))
        self.warn_unless_converged(watch.stopped, fit.rounding)
        return self

    def training_set(
        self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None
    ) -> TrainingSet:
        """What this machine is trained on, checked."""
        X, y = self.validate(X, y)
        return TrainingSet(self, X, y, sample_weight)

    def distinct(self, data: TrainingSet) -> Distinct:
        """What to train on: the examples without copies, if there are many."""
        return Distinct(self, data, self._merges)

    _merges = True  # whether copies of an example are the same problem as its weight

    def _splits(self, n_classes: int) -> list[Split]:
        return splits(n_classes, self.multiclass)

    def _last_solution(self, data: TrainingSet) -> np.ndarray | None:
        if not np.array_equal(getattr(self, "classes_", ()), data.classes):
            return None
        return super()._last_solution(data)

    def set_fitted(self, data: TrainingSet, fit: Fit) -> None:
        super().set_fitted(data, fit)
        self._by_pairs = data.n_classes > 2 and self.multiclass == "ovo"
        squares = [m.square for m in fit.results]
        self.margin_ = np.array([1 / sqrt(square) if square > 0 else inf for square in squares])

    @property
    def _no_margin(self) -> str:
        return (
            "the training data cannot be separated with a margin of "
            f"min_margin={self.min_margin:g}: to that accuracy, some point is in both classes' "
            "convex hulls. The optimal hyperplane does not exist; give a finite C"
        )

    _rounding_remedy = "scale the features, give a smaller C or ask for precision='float64'"

    @property
    def by_pairs(self) -> bool:
        """Whether each problem of the fitted classifier is one of two classes among several."""
        return self._by_pairs

    def join_scores(self, scores: np.ndarray) -> np.ndarray:
        if self._by_pairs:
            return votes(scores, len(self.classes_)).T
        return super().join_scores(scores)

    def _ranges_of_classes(
        self, scores: np.ndarray, errors: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if self._by_pairs:
            return ranges_of_votes(scores, errors, len(self.classes_))
        return super()._ranges_of_classes(scores, errors)

    def check_parameters(self) -> None:
        super().check_parameters()
        _check_answer("fit_intercept", self.fit_intercept)
        if self.multiclass not in self._reductions:
            raise ValueError(
                f"multiclass must be one of {', '.join(self._reductions)}, got {self.multiclass!r}"
            )


def _check_answer(name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
