"""The estimator half that all support vector machines share: weights, sessions, expansions,
answers.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from largemargin.classifier import KernelClassifier
from largemargin.expansion import Expansion
from largemargin.gram import SMALL_PROBLEM, Basis, choose_dtype, memory_bytes, prepare
from largemargin.kernels import Kernel, Linear, make_kernel
from largemargin.svm.reductions import Split, splits, votes
from largemargin.svm.session import Formulation, Job, Session, Trained
from largemargin.watch import Watch, check_seconds
from largemargin.workers import Workers, workers


class TrainingSet:
    """Examples of positive weight, with the kernel that they are seen through."""

    def __init__(
        self, model: SupportVectorMachine, X: Any, y: np.ndarray, sample_weight: Any
    ) -> None:
        weights = weights_of(X, y, sample_weight)
        self.n_given = len(y)
        self.positions = np.flatnonzero(weights > 0)
        if len(self.positions) < self.n_given:  # weight 0 is absence
            y, weights = y[self.positions], weights[self.positions]
            X = X[self.positions]
            if model._precomputed:
                X = X[:, self.positions]
        self.classes, self.labels = np.unique(y, return_inverse=True)
        if len(self.classes) < 2:
            weighted = " with positive weight" if sample_weight is not None else ""
            raise ValueError(
                f"{type(model).__name__} needs at least two classes, got only one class"
                f"{weighted}: {self.classes.tolist()}"
            )
        self.weights = weights * class_weights(
            getattr(model, "class_weight", None), self.classes, self.labels, weights
        )
        self.kernel = make_kernel(
            model.kernel, degree=model.degree, gamma=model.gamma, coef0=model.coef0, X=X,
            sample_weight=weights,
        )  # fmt: skip
        small = X.shape[0] <= SMALL_PROBLEM
        self.dtype = choose_dtype(model.precision, small, self.kernel, X)
        self.X = prepare(X, self.kernel, self.dtype)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    def session(self, model: SupportVectorMachine, team: Workers, portions: bool) -> Session:
        return Session(
            self.X, self.labels, self.n_classes, self.kernel, self.dtype,
            memory_bytes(model.memory), team, portions=portions,
        )  # fmt: skip


def weights_of(X: Any, y: np.ndarray, sample_weight: Any) -> np.ndarray:
    """The weights of the examples, checked."""
    if sample_weight is None:
        return np.ones(len(y))
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        where = int(np.argmin(weights))
        raise ValueError(
            f"sample_weight must not be negative, got {weights[where]} for example {where}"
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for every example: at least two must count")
    return weights


def class_weights(
    class_weight: Any, classes: np.ndarray, labels: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """The factor of each example's weight that `class_weight` means."""
    if class_weight is None:
        return np.ones(len(labels))
    if isinstance(class_weight, str) and class_weight == "balanced":
        sums = np.bincount(labels, weights)
        factors = sums.sum() / (len(classes) * sums)
    elif isinstance(class_weight, dict):
        factors = np.array([class_weight.get(c, 1.0) for c in classes.tolist()], dtype=float)
    else:
        raise ValueError(
            f"class_weight must be None, 'balanced' or a dictionary, got {class_weight!r}"
        )
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise ValueError(f"class_weight must hold positive numbers, got {class_weight!r}")
    return np.asarray(factors[labels])


class SupportVectorMachine(KernelClassifier):
    """Training and answers; subclasses say which machines to train."""

    degree: int
    gamma: float | str
    coef0: float
    fit_intercept: bool
    multiclass: str
    tol: float
    max_iter: int
    max_seconds: float | None
    warm_start: bool
    memory: int | str
    n_jobs: int | None
    precision: str
    verbose: int
    _expansion: Expansion
    _positions: np.ndarray

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        with self._unchanged_by_failure():
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._check_parameters()
        X, y = self._validate(X, y)
        data = TrainingSet(self, X, y, sample_weight)
        jobs, starts = self._jobs(data), self._starts(data)
        jobs = [
            Job(job.split, job.formulation, job.weights, start)
            for job, start in zip(jobs, starts, strict=True)
        ]
        portions = all(job.formulation.portions for job in jobs) and starts[0] is None
        with self._watch(len(jobs)) as watch, workers(self.n_jobs) as team:
            session = data.session(self, team, portions)
            trained = self._train(session, jobs, watch)
        self._keep(data, trained)
        self._warn(watch.stopped)
        return self

    def _train(self, session: Session, jobs: list[Job], watch: Watch) -> list[Trained]:
        return session.train(jobs, tol=self.tol, max_steps=self._max_steps, watch=watch)

    def _watch(self, total: int) -> Watch:
        return Watch(type(self).__name__, total, verbose=self.verbose, max_seconds=self.max_seconds)

    @property
    def _max_steps(self) -> float:
        return np.inf if self.max_iter == -1 else self.max_iter

    def _formulation(self, data: TrainingSet, split: Split) -> Formulation:
        raise NotImplementedError

    def _jobs(self, data: TrainingSet) -> list[Job]:
        return [
            Job(split, self._formulation(data, split), data.weights)
            for split in splits(data.n_classes, self.multiclass)
        ]

    def _starts(self, data: TrainingSet) -> Sequence[np.ndarray | None]:
        """Where to start each problem: at the last fit's solution, if it is asked for and fits."""
        n_problems = len(splits(data.n_classes, self.multiclass))
        if self.warm_start and hasattr(self, "_expansion"):
            old = self._expansion.coefs
            same = np.array_equal(self.classes_, data.classes) and len(old) == n_problems
            if same and self._n_given == data.n_given:
                full = np.zeros((n_problems, data.n_given))
                full[:, self._positions] = old
                return list(full[:, data.positions])
        return [None] * n_problems

    def _keep(self, data: TrainingSet, trained: Sequence[Trained]) -> None:
        """Make the fitted attributes from what was trained."""
        used = np.zeros(len(data.labels), bool)
        for one in trained:
            used[one.examples[one.machine.coefs != 0]] = True
        # vectors of a class together, so that few problems use a stretch of them
        order = np.flatnonzero(used)
        order = order[np.argsort(data.labels[order], kind="stable")]
        place = np.full(len(used), -1)
        place[order] = np.arange(len(order))
        coefs = np.zeros((len(trained), len(order)))
        for row, one in zip(coefs, trained, strict=True):
            mine = one.machine.coefs != 0
            row[place[one.examples[mine]]] = one.machine.coefs[mine]
        machines = [one.machine for one in trained]
        basis = Basis(data.kernel, data.dtype)
        basis.add(data.X[order], data.positions[order])
        self.classes_ = data.classes
        self._n_given = data.n_given
        self._positions = data.positions[order]
        self._expansion = Expansion(basis, coefs, np.array([m.intercept for m in machines]))
        self.objective_ = np.array([m.objective for m in machines])
        self.dual_gap_ = np.array([m.gap for m in machines])
        squares = np.array([m.square for m in machines])
        with np.errstate(divide="ignore", invalid="ignore"):
            self.margin_ = np.where(squares > 0, 1 / np.sqrt(squares), np.inf)
        self.n_iter_ = np.array([max(1, m.n_steps) for m in machines])
        self.converged_ = all(m.converged for m in machines)
        self._separable = all(m.separable for m in machines)

    def _warn(self, stopped: str) -> None:
        if self.converged_:
            return
        reason = stopped or f"max_iter={self.max_iter} was reached"
        warnings.warn(
            f"{type(self).__name__} stopped before it converged because {reason}; the largest relative "
            f"duality gap is {self.dual_gap_.max():.3g}. The model can be used; to go on, fit again with "
            "warm_start=True",
            ConvergenceWarning,
            stacklevel=4,
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the rows of X: one a row for two classes (positive for `classes_[1]`), else one
        a class, the largest of which `predict` answers with.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            For kernel="precomputed", kernel values against all training examples, of which only the
            columns `support_` are read, or against those in `support_` alone.
        """
        scores = self._scores(X)
        if len(self.classes_) == 2 and len(scores) == 1:
            return scores[0]
        if len(scores) > len(self.classes_) or self._pairs:
            return votes(scores, len(self.classes_)).T
        return scores.T

    @property
    def _pairs(self) -> bool:
        n = len(self.classes_)
        return n > 2 and len(self._expansion.coefs) == n * (n - 1) // 2 and self.multiclass == "ovo"

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score, for each row of X."""
        return self._classes_of(self.decision_function(X))

    def _scores(self, X: Any) -> np.ndarray:
        """f of each problem, a row a problem."""
        if not hasattr(self, "_expansion"):
            check_is_fitted(self)
        if self._precomputed:
            return self._precomputed_scores(X)
        if not self._is_valid(X):
            X = self._validate(X, reset=False)
        expansion = self._expansion
        if self._linear:
            product = X @ self.coef_.T
            return np.asarray(product, np.float64).T + expansion.intercepts[:, None]
        return expansion(prepare(X, expansion.basis.kernel, expansion.basis.dtype), self.n_jobs)

    def _precomputed_scores(self, X: Any) -> np.ndarray:
        X = validate_data(
            self, X, reset=False, dtype=[np.float64, np.float32], skip_check_array=True
        ) if False else np.asarray(X)  # fmt: skip
        expansion = self._expansion
        known = len(self._positions)
        if X.ndim != 2 or X.shape[1] not in (self.n_features_in_, known):
            raise ValueError(
                f"X has shape {X.shape}, but {type(self).__name__} was fitted on {self.n_features_in_} "
                f"examples: give kernel values against all of them, or against the {known} of support_"
            )
        if X.shape[1] == self.n_features_in_:
            values = X[:, self._positions]
        else:
            values = X[:, np.argsort(np.argsort(self._positions))]
        values = np.asarray(values, np.float64)
        if not np.isfinite(values).all():
            raise ValueError("the kernel values of the support vectors must be finite")
        return expansion.coefs @ values.T + expansion.intercepts[:, None]

    @property
    def _linear(self) -> bool:
        return isinstance(self._expansion.basis.kernel, Linear)

    @property
    def support_(self) -> np.ndarray:
        check_is_fitted(self)
        return np.sort(self._positions)

    @property
    def support_vectors_(self) -> Any:
        check_is_fitted(self)
        basis = self._expansion.basis
        if basis.kernel.by_column:
            raise AttributeError(
                "a precomputed kernel has no support vectors, only positions: support_"
            )
        if basis.vectors is None:
            return np.empty((0, self.n_features_in_))
        return basis.vectors[np.argsort(self._positions)]

    @property
    def n_support_(self) -> int:
        check_is_fitted(self)
        return len(self._positions)

    @property
    def dual_coef_(self) -> np.ndarray:
        check_is_fitted(self)
        return self._expansion.coefs[:, np.argsort(self._positions)]

    @property
    def intercept_(self) -> np.ndarray:
        check_is_fitted(self)
        return self._expansion.intercepts

    @property
    def coef_(self) -> np.ndarray:
        check_is_fitted(self)
        if not self._linear:
            raise AttributeError("coef_ is there with kernel='linear' only")
        if not hasattr(self, "_weights"):
            self._weights = self._expansion.weights()
        return self._weights

    def _check_parameters(self) -> None:
        for name, least in (("tol", 0.0), ("max_iter", 0)):
            value = getattr(self, name)
            if not isinstance(value, Real) or isinstance(value, bool) or not value > least:
                if name == "max_iter" and isinstance(value, Integral) and value == -1:
                    continue
                allowed = (
                    "a positive integer, or -1 for no limit"
                    if least == 0 and name != "tol"
                    else "positive"
                )
                raise ValueError(f"{name} must be {allowed}, got {value!r}")
        for name in ("fit_intercept", "warm_start"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{name} must be True or False, got {value!r}")
        if self.multiclass not in self._reductions:
            raise ValueError(
                f"multiclass must be one of {', '.join(self._reductions)}, got {self.multiclass!r}"
            )
        if not isinstance(self.verbose, Integral):
            raise ValueError(f"verbose must be 0 or 1, got {self.verbose!r}")
        check_seconds(self.max_seconds)

    _reductions: tuple[str, ...] = ("ovr", "ovo")


def support_rows(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X


__all__ = ["Kernel", "SupportVectorMachine", "TrainingSet"]
