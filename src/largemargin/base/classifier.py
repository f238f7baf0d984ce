"""What all estimators of this package share, how input is checked and what a fit remembers; and
what classifiers and outlier detectors share, answers read off scores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    validate_data,
)

from largemargin.base.fingerprint import Fingerprint, fingerprint
from largemargin.base.foreign_names import explaining
from largemargin.base.labels import LABELS, as_common_labels, plain_labels
from largemargin.base.probabilities import WithProbabilities
from largemargin.base.training_record import TrainingRecord, parameters_of
from largemargin.data.features import checked_sparse
from largemargin.machines import room
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.progress import Part, Watch
from largemargin.runtime.showing import shown

if TYPE_CHECKING:
    from largemargin.certificates import Certificate


class Estimator(BaseEstimator):
    """What learns from rows of numbers, dense or sparse, with labels or without.

    `PROTOCOL` names the methods that files of this package call on each other's estimators. They
    have no leading underscore, but they are not for users: the documentation leaves them out, and
    they may change in any version.
    """

    PROTOCOL: ClassVar[tuple[str, ...]] = (
        "calibrating", "calibration", "check_calibrate", "check_parameters", "check_streaming",
        "check_uncalibrated", "classes_of", "cross_fit", "cross_fitting", "expansion", "is_valid",
        "join_scores", "margins_of", "n_trained", "part", "positions", "precomputed",
        "problem_scores",
        "read_with", "record_with", "remember", "restore_expansion", "rolled_back_on_error",
        "score_unit", "set_expansion", "set_fitted", "training_record", "validate",
        "warn_unless_converged", "watch",
    )  # fmt: skip

    n_features_in_: int
    _accepts_sparse: bool | str = "csr"
    max_seconds: float | None
    verbose: int
    _record: TrainingRecord | None = None
    part: Part | None = None  # of a longer computation that the fit which runs is
    n_trained: int | None = None  # examples of training, where a model knows without a record
    _chosen_later: Collection[str] = ()  # parameters that are about reading the model alone

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "__init__" in vars(cls):
            cls.__init__ = explaining(cls.__init__)  # type: ignore[method-assign]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def training_record(self) -> TrainingRecord | None:
        """What is known of the training, None if nothing is."""
        return self._record

    @training_record.setter
    def training_record(self, record: TrainingRecord | None) -> None:
        self._record = record

    def remember(self, data: Fingerprint) -> None:
        """Keep what a fit was made of and with."""
        self._record = TrainingRecord(data, parameters_of(self))

    def watch(self, total: int | None, name: str = "", **how: Any) -> Watch:
        """A watch over a fit of this estimator."""
        settings = {"verbose": self.verbose, "max_seconds": self.max_seconds, **how}
        return Watch(name or type(self).__name__, total, part=self.part, **settings)

    @contextmanager
    def rolled_back_on_error(self) -> Iterator[None]:
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def validate(self, X: MatrixLike, y: VectorLike = "no_validation", reset: bool = True) -> Any:
        unlabelled = isinstance(y, str) and y == "no_validation"
        if not unlabelled:
            y = plain_labels(y)
        # to look at labels again that are plainly that would take as long as a small fit
        plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in LABELS
        if plain and reset and _is_plain(X) and 0 not in X.shape and len(X) == len(y):
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            return X, y
        if sp.issparse(X):
            X = checked_sparse(X)
        try:
            checked = validate_data(
                self, X, "no_validation" if plain else y, reset=reset,
                accept_sparse=self._accepts_sparse, dtype=[np.float64, np.float32],
            )  # fmt: skip
        except ValueError as error:
            said = str(error).splitlines()[0].rstrip(".")
            if not any(
                part in said for part in ("could not convert string", "Input X contains NaN")
            ):
                raise
            raise ValueError(
                f"{said}: {type(self).__name__} takes numbers; for text, dates and missing values "
                "put a largemargin.tables.TablePreprocessor before it, in a Pipeline"
            ) from error
        if plain:
            if len(y) != checked.shape[0]:
                check_consistent_length(checked, y)
            return checked, y
        if unlabelled:
            return checked
        X, y = checked
        y = plain_labels(y)  # a column of them is a line by now
        if y.dtype.kind not in LABELS:
            check_classification_targets(y)
        return X, y

    def is_valid(self, X: MatrixLike) -> bool:
        """Whether X plainly needs no validation, which takes longer than predicting a row."""
        return (
            _is_plain(X)
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
        )


class Classifier(ClassifierMixin, WithProbabilities, Estimator):
    """A classifier: an estimator that learns labels, and answers with the classes they name."""

    classes_: np.ndarray

    def certificate(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        delta: float = 0.05,
        constant: float = 1.0,
        rhos: Sequence[float] = (0.1,),
        leave_one_out: bool | str = "auto",
    ) -> Certificate:
        """What the theory says of this fit: margins, and bounds with the theorems they come from.

        Parameters
        ----------
        X, y :
            The training data, as `fit` or the calls of `partial_fit` were given them. With other
            data, with data that had weights, or after a parameter was changed, only what is
            measured is said, such as the error. A model that has no record of its training data,
            such as one from an older file, does not know them and says so.
        delta : float, default=0.05
            Bounds of this kind may fail for so many of all training sets.
        constant : float, default=1.0
            The constant c of the VC and margin bounds, which their theorems do not give.
        rhos : sequence of float, default=(0.1,)
            Margins at which to count margin errors, in units of the largest norm of an example
            (for `AdaBoost` as they are, from -1 to 1).
        leave_one_out : bool or "auto", default="auto"
            Whether to find the leave-one-out error by fitting again; "auto" does on up to 200
            rows, if that takes no more than a second.

        Returns
        -------
        largemargin.certificates.Certificate
            Print it, or read `certificate["margin bound"].value`.
        """
        found: Certificate = room("certificates").certificate(
            self, X, y, delta=delta, constant=constant, rhos=rhos, leave_one_out=leave_one_out
        )
        return found

    def record_with(
        self, first: bool, X: Matrix, classes: np.ndarray, labels: np.ndarray
    ) -> TrainingRecord | None:
        """The record of a stream with these rows next; None if its beginning is not known."""
        if first:
            return TrainingRecord(fingerprint(X, classes, labels), parameters_of(self))
        if self._record is None:
            return None
        return replace(self._record, data=self._record.data.then(X, classes, labels))

    def score(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> float:
        """The share of rows whose label is predicted.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            The true labels.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows.
        """
        predicted, y = map(as_common_labels, (self.predict(X), plain_labels(y)))
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def classes_of(self, scores: np.ndarray) -> np.ndarray:
        """The class with the largest score."""
        numbers = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
        return np.asarray(self.classes_[numbers])


class Detector(OutlierMixin, Estimator):
    """An outlier detector: an estimator that learns without labels, and answers 1 or -1."""

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """How far inside each row of X is: 0 on the boundary, negative outside."""
        raise NotImplementedError

    def predict(self, X: MatrixLike) -> np.ndarray:
        """1 for each row of X that is inside or on the boundary, -1 for an outlier."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def certificate(self, X: MatrixLike) -> Certificate:
        """What the theory says of this fit, with the theorems that it comes from.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows, as `fit` was given them. With others, with rows that had weights, or
            after a parameter was changed, only what is measured is said. A model that has no
            record of its training data does not know them and says so.

        Returns
        -------
        largemargin.certificates.Certificate
            Print it, or read `certificate["outliers"].value`.
        """
        found: Certificate = room("certificates").certificate(self, X, None)
        return found


def _is_plain(X: MatrixLike) -> bool:
    """Whether X is a table of finite numbers of the types that are computed with."""
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float32, np.float64)
        and X.ndim == 2
        and bool(np.isfinite(X).all())
    )


class KernelEstimator(Estimator):
    """An estimator with a `kernel` parameter."""

    kernel: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.precomputed
        return tags

    @property
    def precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _accepts_sparse(self) -> bool | str:  # type: ignore[override]
        return False if self.precomputed else "csr"

    def validate(self, X: MatrixLike, y: VectorLike = "no_validation", reset: bool = True) -> Any:
        checked = super().validate(X, y, reset)
        labelled = isinstance(checked, tuple)
        if self.precomputed and (labelled or reset):
            rows, columns = (checked[0] if labelled else checked).shape
            if rows != columns:
                raise ValueError(
                    f"a precomputed kernel matrix must be square, got shape {(rows, columns)}"
                )
        return checked


class KernelClassifier(Classifier, KernelEstimator):
    """A classifier with a `kernel` parameter."""


def checked_weights(X: Matrix, y: np.ndarray | None, sample_weight: VectorLike) -> np.ndarray:
    """The weights of the examples, which may have no labels."""
    if sample_weight is None:
        return np.ones(len(y) if y is not None else X.shape[0])
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        where = int(np.argmin(weights))
        raise ValueError(
            f"sample_weight must not be negative, got {weights[where]} for example {where}"
        )
    if not weights.any():
        raise ValueError(
            "sample_weight is zero for every example: give at least one non-zero weight"
            + (" to each of two classes" if y is not None else "")
        )
    return np.asarray(weights)


def check_positive(name: str, value: Any) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not float(value) > 0:
        raise ValueError(f"{name} must be positive, got {shown(value)}")


def check_nu(nu: Any) -> None:
    """Refuse what is neither a share nor None."""
    number = isinstance(nu, Real) and not isinstance(nu, bool) and 0 <= float(nu) <= 1
    if not number and nu is not None:
        raise ValueError(f"nu must lie between 0 and 1, got {nu!r}")
