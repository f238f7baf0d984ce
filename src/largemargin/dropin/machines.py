"""`SVC`, `NuSVC` and `OneClassSVM` as scikit-learn has them, solved and read by this package.

They are the classes of the scikit-learn that is installed, so that signatures, checks, warnings and
attributes are those of its version.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import svm as scikit_learn

from largemargin.base.training_set import TrainingSet
from largemargin.dropin.in_place_of_libsvm import Classifier, Machine
from largemargin.runtime.arrays import Matrix
from largemargin.svm import SVC as OwnSVC
from largemargin.svm import NuSVC as OwnNuSVC
from largemargin.svm import OneClassSVM as OwnOneClassSVM
from largemargin.svm.estimator import SupportVectorEstimator, SupportVectorMachine


class SVC(Classifier, scikit_learn.SVC):
    """`sklearn.svm.SVC` on the solver of this package.

    The signature, the checks and the warnings are those of the scikit-learn that is installed.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, tol, class_weight, decision_function_shape, break_ties :
        As in scikit-learn. ``C=inf`` is the hard margin.
    probability : bool
        Whether there are `predict_proba` and `predict_log_proba`, by Platt's scaling of scores that
        are cross-fitted in five folds over the same kernel rows. The folds follow from
        `random_state`, a fixed number where that is None. Deprecated where scikit-learn says so.
    cache_size : float, default=200
        Megabytes for kernel values held at any time. Not one bit of the model depends on it.
    max_iter : int, default=-1
        Steps of the solver for each pair of classes at most; -1 is no limit.
    random_state : int, RandomState instance or None, default=None
        Chooses the folds of ``probability=True``, and nothing else.
    verbose : bool, default=False
        Whether to show progress, after the word that scikit-learn prints.
    shrinking : bool, default=True
        No effect: the solver decides which variables to leave aside.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_, \
    class_weight_, fit_status_, shape_fit_, n_iter_, n_features_in_, feature_names_in_, probA_, \
    probB_ :
        As in scikit-learn, in the layout of LIBSVM. Of `n_iter_` the numbers are those of this
        solver.

    See Also
    --------
    largemargin.SVC : The same solver with squared slack, one-vs-rest, duality gaps, certificates.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(kernel="linear").fit(X, y)
    >>> model.n_support_, model.dual_coef_.shape
    (array([ 3, 12, 12], dtype=int32), (2, 27))
    """

    def _own(self) -> SupportVectorMachine:
        return OwnSVC(C=self.C, multiclass="ovo")

    def _training_set(
        self, model: Any, X: Matrix, labels: np.ndarray, weights: np.ndarray
    ) -> TrainingSet:
        return super()._training_set(model, X, labels, weights * self.class_weight_[labels])


class NuSVC(Classifier, scikit_learn.NuSVC):
    """`sklearn.svm.NuSVC` on the solver of this package.

    Parameters
    ----------
    nu : float, default=0.5
        As in scikit-learn. A value that a pair of classes does not allow is refused.
    class_weight : dict, "balanced" or None, default=None
        No effect, as with scikit-learn's `NuSVC`; `largemargin.NuSVC` has class weights.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, verbose, max_iter, \
    decision_function_shape, break_ties, random_state :
        As for `largemargin.dropin.SVC`.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_, \
    class_weight_, fit_status_, shape_fit_, n_iter_, n_features_in_, feature_names_in_, probA_, \
    probB_ :
        As for `largemargin.dropin.SVC`.

    See Also
    --------
    largemargin.NuSVC : The same solver behind this package's own signature.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> round(NuSVC(nu=0.2).fit(X, y).score(X, y), 2)
    0.99
    """

    def _own(self) -> SupportVectorMachine:
        return OwnNuSVC(nu=self.nu, multiclass="ovo")

    def _check_weights(self, weights: np.ndarray, labels: np.ndarray) -> None:
        sums = np.sort(np.bincount(labels, np.maximum(weights, 0.0), len(self.classes_)))
        # of all pairs, that of the smallest and the largest class allows the least nu
        if not sums[0]:
            raise ValueError(
                "specified nu is infeasible: all samples of a class have zero or negative weights"
            )
        if self.nu * (sums[0] + sums[-1]) / 2 > sums[0]:
            largest = 2 * sums[0] / (sums[0] + sums[-1])
            raise ValueError(
                f"specified nu is infeasible: nu={self.nu} is more than {largest:.6g}, twice the "
                "smaller class's share of the weight of a pair of classes"
            )


class OneClassSVM(Machine, scikit_learn.OneClassSVM):
    """`sklearn.svm.OneClassSVM` on the solver of this package.

    Parameters
    ----------
    nu : float, default=0.5
        As in scikit-learn.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter :
        As for `largemargin.dropin.SVC`.

    Attributes
    ----------
    offset_ : array of shape (1,)
        `decision_function` is `score_samples` less this. Where several thresholds are optimal, it
        is the middle of them.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, \
    shape_fit_, n_iter_, n_features_in_, feature_names_in_ :
        As in scikit-learn.

    See Also
    --------
    largemargin.OneClassSVM : The same solver behind this package's own signature.

    Examples
    --------
    >>> X = [[0.0], [0.44], [0.45], [0.46], [1.0]]
    >>> OneClassSVM(gamma="auto").fit(X).predict([[0.45], [3.0]])
    array([ 1, -1])
    """

    def _own(self) -> SupportVectorEstimator:
        return OwnOneClassSVM(nu=self.nu)

    def _training_set(
        self, model: Any, X: Matrix, labels: np.ndarray, weights: np.ndarray
    ) -> TrainingSet:
        return TrainingSet(model, model.validate(X), None, weights)

    def _counts(self, labels: np.ndarray) -> np.ndarray:
        return np.array([len(labels), 0], np.int32)

    def _table(self, coefs: np.ndarray) -> np.ndarray:
        return coefs.copy()

    def _functions(self, table: np.ndarray) -> np.ndarray:
        return table

    def _signed(self, values: np.ndarray) -> np.ndarray:
        return values.copy()

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        return np.where(scores[0] > 0, 1, -1)
