"""What all classifiers of this package share: how input is checked, and answers read off scores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data


class KernelClassifier(ClassifierMixin, BaseEstimator):
    """A classifier with a `kernel` parameter."""

    kernel: Any
    classes_: np.ndarray
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @contextmanager
    def _unchanged_by_failure(self) -> Iterator[None]:
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _validate(self, X: Any, y: Any = "no_validation", reset: bool = True) -> Any:
        checked = validate_data(
            self, X, y, reset=reset, accept_sparse=False if self._precomputed else "csr",
            dtype=[np.float64, np.float32],
        )  # fmt: skip
        if isinstance(y, str) and y == "no_validation":
            return checked
        X, y = checked
        if y.dtype.kind not in "biuUS":  # these are labels, whatever they say
            check_classification_targets(y)
        if self._precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel matrix must be square, got shape {X.shape}")
        return X, y

    def _is_valid(self, X: Any) -> bool:
        """Whether X plainly needs no validation, which takes longer than predicting a row."""
        return (
            type(X) is np.ndarray
            and X.dtype in (np.float32, np.float64)
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all())
        )

    def _classes_of(self, scores: np.ndarray) -> np.ndarray:
        """The class with the largest score."""
        return self.classes_[
            scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
        ]


def check_positive(name: str, value: Any) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not float(value) > 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
