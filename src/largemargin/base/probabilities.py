"""What classifiers that are calibrated have beyond scores: probabilities.

How scores become probabilities is in the room `calibration`, above all families. It is reached by
its name, as certificates are.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from largemargin.base.unscaled import warn_if_unscaled
from largemargin.machines import room
from largemargin.runtime.arrays import MatrixLike, VectorLike
from largemargin.runtime.progress import Part, clock
from largemargin.runtime.showing import shown

# Of the time of all, if five fits on four fifths of the data take as long as four on all of it.
MACHINE_SHARE = 0.2


def _gives_probabilities(model: Any) -> bool:
    if model.calibrate or model.calibration is not None:
        return True
    raise AttributeError(
        f"this {type(model).__name__} has no probabilities: fit it with calibrate=True, or give "
        "rows that it has not seen to largemargin.calibrated"
    )


class WithProbabilities:
    """The part of a classifier that is about probabilities."""

    # parameters that scores are read off a fitted model with, and that may change after the fit
    read_with: ClassVar[tuple[str, ...]] = ()

    score_unit: float = 1.0  # what scores grow with, as training goes on, if they do

    _needs_scaling = True  # whether the sizes of columns can matter
    calibrate: bool = False
    max_seconds: float | None
    _calibration: Any = None
    part: Part | None

    @property
    def calibration(self) -> Any:
        """How scores become probabilities; None if that is not known."""
        return self._calibration

    @calibration.setter
    def calibration(self, found: Any) -> None:
        self._calibration = found

    @available_if(_gives_probabilities)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """The probabilities of the classes, one row per row of X, in the order of `classes_`.

        The method is there with `calibrate=True`, and on what `largemargin.calibrated` returns.
        The class of the largest probability can be another than that of `predict`, which is that of
        the largest score: the sigmoid need not be 1/2 where the score is 0, and with more than two
        classes each has a sigmoid of its own.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            As for `decision_function`.
        """
        check_is_fitted(self)
        found: np.ndarray = room("calibration").probabilities(self, X)
        return found

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """The logarithms of what `predict_proba` gives."""
        with np.errstate(divide="ignore"):  # a probability can be too small for a float
            return np.asarray(np.log(self.predict_proba(X)))

    def check_calibrate(self) -> None:
        """Refuse what is no answer to whether to calibrate."""
        if not isinstance(self.calibrate, bool | np.bool_):
            raise ValueError(f"calibrate must be True or False, got {shown(self.calibrate)}")

    def check_uncalibrated(self) -> None:
        """Refuse to calibrate on the way along a stream."""
        self.check_calibrate()
        if self.calibrate:
            raise ValueError(
                "partial_fit holds no rows out to calibrate with, got calibrate=True: leave it "
                "out, and give rows that the model has not seen to largemargin.calibrated"
            )
        self.__dict__.pop("_calibration", None)  # it is that of other scores

    @contextmanager
    def calibrating(
        self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None
    ) -> Iterator[None]:
        """Around a fit: calibration comes after it, if `calibrate` asks for that, in the time that
        is left; and rows that were not learned for want of scaling are told of.
        """
        self.__dict__.pop("_calibration", None)
        folds = self.cross_fitting(X, y, sample_weight)
        if folds is None:
            yield
            self._look_at_scale(X, y, sample_weight)
            return
        start, part = clock(), Part(MACHINE_SHARE)
        self.part = part
        try:
            yield
        finally:
            del self.part
        self.cross_fit(folds, clock() - start, part.interrupted)
        self._look_at_scale(X, y, sample_weight)

    def _look_at_scale(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike) -> None:
        """Weights can ask for anything: nothing is said of what was learned with them."""
        if self._needs_scaling and sample_weight is None:
            warn_if_unscaled(self, X, y)

    def cross_fitting(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike) -> Any:
        """The folds to calibrate with; None unless `calibrate` asks for it."""
        self.check_calibrate()
        if not self.calibrate:
            return None
        return room("calibration").CrossFitting(self, X, y, sample_weight)

    def cross_fit(self, folds: Any, elapsed: float = 0.0, interrupted: bool = False) -> None:
        """Calibrate this fitted model, in what is left of its time; no folds are no calibration."""
        if folds is None:
            return
        left = None if self.max_seconds is None else max(self.max_seconds - elapsed, 1e-3)
        if not interrupted:
            self._calibration = folds.calibration(self, left)
        if self._calibration is None:
            warnings.warn(
                f"{type(self).__name__} was interrupted before its scores were calibrated: the "
                "model can be used, but has no probabilities",
                ConvergenceWarning,
                stacklevel=5,
            )
