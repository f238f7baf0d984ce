"""What scikit-learn's estimators ask LIBSVM for, which is to train, to score and to answer, done by
this package: `Machine` and `Classifier` have the methods in which they ask.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from largemargin.base.training_set import TrainingSet
from largemargin.dropin.distances import GaussianOfDifferences, is_seen
from largemargin.dropin.layout import packed, unpacked, winners
from largemargin.dropin.probabilities import cross_fitted_scores
from largemargin.dropin.scoring import Scorer, as_table, signs_are_told
from largemargin.kernels.engine import largest_square
from largemargin.kernels.functions import KERNELS, Kernel
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.progress import Watch
from largemargin.svm.certification import certify
from largemargin.svm.estimator import Fit, SupportVectorEstimator, unwarned
from largemargin.svm.jobs import Job
from largemargin.svm.session import Session

MEGABYTE = 1 << 20
DENSE_VALUES = 1 << 20  # sparse data of so many entries, zeros counted, is trained on as dense


class Machine(BaseEstimator):
    """What scikit-learn's estimators call to train and to predict, in place of LIBSVM."""

    _scorer: Scorer | None = None
    _by_differences = False

    def _dense_fit(
        self, X: Any, y: np.ndarray, sample_weight: np.ndarray, solver_type: int, kernel: str,
        random_seed: int,
    ) -> None:  # fmt: skip
        if callable(self.kernel):
            self._rows_of_fit = X
            X = self._compute_kernel(X)
            if X.ndim != 2 or X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"the values of a kernel function must be a square matrix, got {X.shape}: one "
                    "row for each row of its first argument, one column for each of its second"
                )
        self._train(X, y, sample_weight, kernel, random_seed)

    def _sparse_fit(
        self, X: Any, y: np.ndarray, sample_weight: np.ndarray, solver_type: int, kernel: str,
        random_seed: int,
    ) -> None:  # fmt: skip
        X.sort_indices()
        self._train(X, y, sample_weight, kernel, random_seed)

    def _train(
        self, X: Matrix, y: np.ndarray, sample_weight: np.ndarray, kernel: str, random_seed: int
    ) -> None:
        labels = y.astype(np.intp)
        weights = sample_weight if sample_weight.size else np.ones(len(labels))
        if weights.ndim != 1:
            raise ValueError(f"sample_weight must be one number per row, got {weights.shape}")
        self._check_weights(weights, labels)
        square = largest_square(X)
        if not np.isfinite(self._gamma) or not np.isfinite(square):
            self._keep_nothing(X)
            return
        self._by_differences = kernel == "rbf" and not self._sparse and is_seen(self._gamma, square)
        model = self._model(kernel)
        model.check_parameters()
        rows: Any = X
        if sp.issparse(X) and X.shape[0] * X.shape[1] <= DENSE_VALUES:
            rows = rows.toarray()
        data = self._training_set(model, rows, labels, np.maximum(weights, 0.0))
        with model.session(data, 1) as (session, watch), unwarned():
            fit = solved(model, session, data.weights, watch)
            model.set_fitted(data, fit)
            self._probA = self._probB = np.empty(0)
            if self._wants_probabilities and not watch.stopped:
                seed = 0 if self.random_state is None else random_seed
                self._calibrate(model, session, data, watch, seed)
        self._keep(model, X, labels)
        self._warn(model, fit, watch.stopped)

    def _model(self, kernel: str) -> Any:
        """The estimator of this package that solves the problem."""
        model = self._own()
        model.kernel = kernel if kernel == "precomputed" else self._kernel_function()
        return model.set_params(
            tol=self.tol,
            max_iter=self.max_iter or 1,
            memory=max(1, int(self.cache_size * MEGABYTE)),
            verbose=int(bool(self.verbose)),
        )

    def _own(self) -> SupportVectorEstimator:
        raise NotImplementedError

    def _kernel_function(self) -> Kernel:
        if self._by_differences:
            return GaussianOfDifferences(float(self._gamma))
        values = {"degree": self.degree, "gamma": float(self._gamma), "coef0": float(self.coef0)}
        chosen = KERNELS[self.kernel]
        return chosen(*(values[name] for name in chosen.parameters))

    def _training_set(
        self, model: Any, X: Matrix, labels: np.ndarray, weights: np.ndarray
    ) -> TrainingSet:
        found: TrainingSet = model.training_set(X, labels, weights)
        return found

    def _check_weights(self, weights: np.ndarray, labels: np.ndarray) -> None:
        if not (weights > 0).any():
            raise ValueError("Invalid input - all samples have zero or negative weights.")

    @property
    def _wants_probabilities(self) -> bool:
        return False

    def _keep_nothing(self, X: Matrix) -> None:
        """Coefficients that are no numbers, which `fit` refuses: squares of X are beyond them."""
        self.support_, self.support_vectors_ = np.arange(1, dtype=np.int32), X[:1]
        self.dual_coef_ = self._stored(np.full((1, 1), np.nan))
        self.intercept_ = np.full(1, np.nan)
        self.fit_status_ = 0

    def _keep(self, model: Any, X: Matrix, labels: np.ndarray) -> None:
        """The fitted attributes."""
        order, expansion = model.positions, model.expansion
        self.support_ = order.astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if self._has_values else X[order]
        self._n_support = self._counts(labels[order])
        self.dual_coef_ = self._stored(self._table(expansion.coefs))
        self.intercept_ = self._signed(expansion.intercepts)
        # the iteration that finds no step to take is one of them
        most = np.iinfo(np.int32).max if self.max_iter == -1 else self.max_iter
        self._num_iter = np.minimum(model.n_iter_ + 1, most).astype(np.int32)
        self.fit_status_ = int((self._num_iter >= most).any())
        self._prepare(self.dual_coef_)

    def _prepare(self, coefs: Any) -> None:
        """Bring the vectors into the form that predictions read, which store nothing."""
        self._scorer = None if self._has_values else self._scorer_of(as_table(coefs))

    def _warn(self, model: Any, fit: Fit, stopped: str) -> None:
        if self.fit_status_:
            self._warn_from_fit_status()
            return
        model._remedy = "to go on, give a larger tol or scale the features"
        model.warn_unless_converged(stopped, fit.rounding)

    def _stored(self, table: np.ndarray) -> Any:
        """Coefficients as scikit-learn keeps them: sparse for sparse data."""
        if not self._sparse:
            return table
        rows, columns = table.shape
        full = (table.ravel(), np.tile(np.arange(columns), rows), np.arange(rows + 1) * columns)
        return sparse_like_scikit_learn(sp.csr_array(full, table.shape))

    def _counts(self, labels: np.ndarray) -> np.ndarray:
        """Support vectors of each class, in the form that `n_support_` reads."""
        raise NotImplementedError

    def _table(self, coefs: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _functions(self, table: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _signed(self, values: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _compute_kernel(self, X: Any) -> Any:
        if not callable(self.kernel):
            return X
        values = self.kernel(X, self._rows_of_fit)
        values = values.toarray() if sp.issparse(values) else values
        return np.asarray(values, np.float64, order="C")

    def _scores(self, X: Any, exact: bool) -> np.ndarray:
        """One row for each function of LIBSVM, one column for each row of X."""
        table = as_table(self._dual_coef_)
        if self._has_values:
            X = check_array(X, dtype=np.float64)
            if X.shape[1] != self.shape_fit_[0]:
                raise ValueError(
                    f"X has {X.shape[1]} kernel values in a row, and there are "
                    f"{self.shape_fit_[0]} training rows: give one value for each of them"
                )
            scores = self._functions(table) @ X[:, self.support_].T
            return np.asarray(scores + self._intercept_[:, None])
        scorer = self._scorer
        if not (scorer and scorer.is_of(self.support_vectors_, table, self._kernel_function())):
            scorer = self._scorer_of(table)  # somebody changed an attribute
        return scorer(X, self._intercept_, None if exact else signs_are_told)

    def _scorer_of(self, table: np.ndarray) -> Scorer:
        kernel = self._kernel_function()
        return Scorer.of(self.support_vectors_, table, self._functions(table), kernel)

    @property
    def _has_values(self) -> bool:
        """Whether rows come as their kernel values, from the user or from a function."""
        return self.kernel == "precomputed" or callable(self.kernel)

    def _dense_decision_function(self, X: Any) -> np.ndarray:
        return np.ascontiguousarray(self._scores(X, exact=True).T)

    _sparse_decision_function = _dense_decision_function

    def _dense_predict(self, X: Any) -> np.ndarray:
        return self._answers(self._scores(self._compute_kernel(X), exact=False))

    _sparse_predict = _dense_predict

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        state.pop("_scorer", None)
        return state

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if hasattr(self, "_dual_coef_"):
            self._prepare(self._dual_coef_)


class Classifier(Machine):
    """What `SVC` and `NuSVC` share: pairs of classes, votes and probabilities."""

    def _check_weights(self, weights: np.ndarray, labels: np.ndarray) -> None:
        super()._check_weights(weights, labels)
        left = np.unique(labels[weights > 0])
        if len(left) == 1:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class."
            )
        if len(left) < len(self.classes_):
            missing = np.setdiff1d(np.arange(len(self.classes_)), left)[0]
            raise ValueError(
                f"all samples of class {self.classes_[missing]} have zero or negative weights: "
                "leave them out of y"
            )

    def _counts(self, labels: np.ndarray) -> np.ndarray:
        return np.bincount(labels, minlength=len(self.classes_)).astype(np.int32)

    def _table(self, coefs: np.ndarray) -> np.ndarray:
        return packed(self._signed(coefs), self._n_support)

    def _functions(self, table: np.ndarray) -> np.ndarray:
        return unpacked(table, self._n_support)

    def _signed(self, values: np.ndarray) -> np.ndarray:
        return 0.0 - values  # LIBSVM's functions are positive for the first class of a pair

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        return winners(scores, len(self.classes_))

    @property
    def _wants_probabilities(self) -> bool:
        return bool(getattr(self, "_effective_probability", self.probability))

    def _calibrate(
        self, model: Any, session: Any, data: TrainingSet, watch: Any, seed: int
    ) -> None:
        """Fit a sigmoid for each pair of classes, to scores of rows that were held out."""
        from largemargin.calibration import PairwiseCoupling

        scores = cross_fitted_scores(model, session, data, watch, seed)
        coupling = PairwiseCoupling().fit(scores, data.labels, data.weights)
        self._probA, self._probB = coupling.a_, self._signed(coupling.b_)

    def _dense_predict_proba(self, X: Any) -> np.ndarray:
        from largemargin.calibration import PairwiseCoupling

        coupling = PairwiseCoupling()
        coupling.classes_ = self.classes_
        coupling.a_, coupling.b_ = self._probA, self._signed(self._probB)
        scores = self._scores(self._compute_kernel(X), exact=True)
        return np.asarray(coupling.predict_proba(self._signed(scores.T)))

    _sparse_predict_proba = _dense_predict_proba


def solved(model: Any, session: Session, weights: np.ndarray, watch: Watch) -> Fit:
    """The machine, without the duality gaps that `model.train` would compute: nobody is told."""
    jobs = [
        Job(split, model._formulation(session, split, weights), weights)
        for split in model._splits(session.n_classes)
    ]
    trained = session.train(jobs, tol=model.tol, max_steps=model._max_steps, watch=watch)
    found = []
    for one in trained:
        if one.result.witness is not None:  # is there a machine at all?
            (one,) = certify(session, [one], watch, model.tol)
        found.append(one)
    return Fit(
        np.array([one.coefs(session.n) for one in found]),
        np.array([one.result.intercept for one in found]),
        [one.result for one in found],
        found,
    )


def sparse_like_scikit_learn(values: Any) -> Any:
    """A sparse matrix of the kind that this version of scikit-learn gives its users."""
    try:
        from sklearn.utils._sparse import _align_api_if_sparse
    except ImportError:  # before 1.9
        return sp.csr_matrix(values)
    return _align_api_if_sparse(values)
