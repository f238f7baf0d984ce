"""What a classifier that is one kernel expansion a problem answers: scores, classes and the
expansion itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from largemargin.classifier import KernelClassifier
from largemargin.expansion import Expansion, linear_scores
from largemargin.gram import Basis, prepare
from largemargin.kernels import Linear
from largemargin.training_set import TrainingSet
from largemargin.workers import single_thread


class ExpansionClassifier(KernelClassifier):
    """The reading half of a classifier; the other half makes the expansion read here."""

    n_jobs: int | None
    _expansion: Expansion
    _positions: np.ndarray  # of the expansion's vectors in the training data
    _n_given: int  # examples that the training data had

    def _set_expansion(self, data: TrainingSet, coefs: np.ndarray, intercepts: np.ndarray) -> None:
        """Keep what was trained, from coefficients of all examples, a row a problem."""
        order = np.flatnonzero(coefs.any(axis=0))
        # vectors of a class together, so that few problems use a stretch of them
        order = order[np.argsort(data.labels[order], kind="stable")]
        basis = Basis(data.kernel, data.dtype)
        basis.add(data.X[order], data.positions[order])
        self.classes_ = data.classes
        self._remember(data.fingerprint)
        self._n_given = data.n_given
        self._positions = data.positions[order]
        self._expansion = Expansion(basis, coefs[:, order], intercepts)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the rows of X: one a row for two classes (positive for `classes_[1]`), else one
        a class, the largest of which `predict` answers with.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            For kernel="precomputed", kernel values against all training examples, of which only
            the columns `support_` are read, or against those in `support_` alone.
        """
        if not hasattr(self, "_expansion"):
            check_is_fitted(self)
        with single_thread():
            return self._joined(self._problem_scores(X))

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score, for each row of X."""
        return self._classes_of(self.decision_function(X))

    def _joined(self, scores: np.ndarray) -> np.ndarray:
        """Scores of classes from those of problems, a row a problem."""
        return scores[0] if len(self.classes_) == 2 else scores.T

    def _problem_scores(self, X: Any) -> np.ndarray:
        if self._expansion.basis.kernel.by_column:
            return self._from_values(X)
        if not self._is_valid(X):
            X = self._validate(X, reset=False)
        expansion = self._expansion
        if self._linear:
            product = linear_scores(X, self.coef_, self.n_jobs)
            return product.T + expansion.intercepts[:, None]
        return expansion(prepare(X, expansion.basis.kernel, expansion.basis.dtype), self.n_jobs)

    def _from_values(self, X: Any) -> np.ndarray:
        """Scores from kernel values that the user computed."""
        X = np.asarray(X)
        known = len(self._positions)
        if X.ndim != 2 or X.shape[1] not in (self.n_features_in_, known):
            raise ValueError(
                f"X has shape {X.shape}, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input: kernel values against all training "
                f"examples, or against the {known} of support_"
            )
        columns = self._positions
        if X.shape[1] != self.n_features_in_:
            columns = np.searchsorted(self.support_, columns)
        values = np.asarray(X[:, columns], np.float64)
        if not np.isfinite(values).all():
            raise ValueError(
                "the kernel values of the support vectors must be finite, got NaN or inf"
            )
        return linear_scores(values, self._expansion.coefs).T + self._expansion.intercepts[:, None]

    @property
    def _n_trained(self) -> int:  # type: ignore[override]
        return self._n_given

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
        return self._expansion.weights(self.n_features_in_)
