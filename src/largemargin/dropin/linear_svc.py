"""`LinearSVC` as scikit-learn has it, on the linear solvers of this package.

The threshold is a weight like the others, as in LIBLINEAR: that of a column in which each row has
`intercept_scaling`. What is solved does not depend on `dual`, since the dual problem and the primal
problem have one solution: `dual` is checked, and that is all.

    squared hinge loss, squared norm      Newton's method (`newton`)
    squared hinge loss, absolute norm     coordinate descent and Newton steps (`absolute_norm`)
    Crammer & Singer's loss               the rows in turns (`crammer_singer`)
    hinge loss                            `largemargin.SVC` with the linear kernel and no threshold
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn import svm as scikit_learn
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from largemargin.dropin.absolute_norm import by_columns, solve_absolute_norm
from largemargin.dropin.crammer_singer import solve_crammer_singer
from largemargin.dropin.newton import LinearProblem, Weights, solve_squared_hinge
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.threads import single_thread, workers
from largemargin.svm import SVC


class LinearSVC(scikit_learn.LinearSVC):
    """`sklearn.svm.LinearSVC` on the solvers of this package.

    The signature and the checks are those of the scikit-learn that is installed.

    Parameters
    ----------
    penalty, loss, C, multi_class, fit_intercept, intercept_scaling, class_weight :
        As in scikit-learn: the intercept is regularised like the other weights, the less the
        larger `intercept_scaling` is.
    dual : bool or "auto", default="auto"
        Checked as in scikit-learn, and of no effect: both problems have the same solution.
    tol : float, default=1e-4
        How exact the solution is. With squared hinge loss and the squared norm, the distance from
        the solution relative to the length of the weights, at most; with ``penalty="l1"``, the
        duality gap relative to the objective; with Crammer and Singer's loss, ten times that; with
        hinge loss, the largest violation of the optimality conditions.
    max_iter : int, default=1000
        Newton steps; with ``penalty="l1"`` and with Crammer and Singer's loss rounds, each of which
        makes several passes. No effect with hinge loss, where the solver goes on to `tol`.
    random_state : int, RandomState instance or None, default=None
        No effect: nothing is random.
    verbose : int, default=0
        Whether to show progress, with hinge loss.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_, n_iter_ :
        As in scikit-learn.

    See Also
    --------
    largemargin.SVC : With ``kernel="linear"``, a threshold that is not regularised.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(penalty="l1").fit(X, y)
    >>> model.coef_.shape, model.n_iter_ < 10
    ((3, 4), True)
    """

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> Self:
        """Train on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Labels.
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 is an example twice; one of 0 or less is its absence.

        Returns
        -------
        self
        """
        self._validate_params()
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )
        check_classification_targets(y)
        self._check_combination(X)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                "LinearSVC needs samples of at least 2 classes in the data, but the data contains "
                f"only one class: {self.classes_[0]}"
            )
        weights = self._weights(X, y, labels, sample_weight)
        used = np.flatnonzero(weights > 0)
        rows, labels, weights = self._with_column(X[used]), labels[used], weights[used]
        found = self._solve(rows, labels, weights)
        self.coef_, self.intercept_ = found, 0.0
        if self.fit_intercept:
            self.coef_ = np.ascontiguousarray(found[:, :-1])
            self.intercept_ = self.intercept_scaling * found[:, -1]
        return self

    def _check_combination(self, X: Matrix) -> None:
        """Refuse what LIBLINEAR has no solver for, in scikit-learn's words."""
        from sklearn.svm._base import _get_liblinear_solver_type
        from sklearn.svm._classes import _validate_dual_parameter

        dual = _validate_dual_parameter(self.dual, self.loss, self.penalty, self.multi_class, X)
        _get_liblinear_solver_type(self.multi_class, self.penalty, self.loss, dual)

    def _weights(
        self, X: Matrix, y: np.ndarray, labels: np.ndarray, sample_weight: VectorLike
    ) -> np.ndarray:
        """The weight of each row, that of its class included."""
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        more = {}
        if "sample_weight" in inspect.signature(compute_class_weight).parameters:
            more = {"sample_weight": sample_weight}
        factors = compute_class_weight(self.class_weight, classes=self.classes_, y=y, **more)
        with np.errstate(invalid="ignore"):  # a class without weight is refused below
            weights = np.nan_to_num(np.maximum(weights * factors[labels], 0.0))
        missing = np.flatnonzero(np.bincount(labels, weights) == 0)
        if len(missing):
            raise ValueError(
                f"all samples of class {self.classes_[missing[0]]} have zero or negative weights: "
                "leave them out of y"
            )
        return np.asarray(weights)

    def _with_column(self, X: Matrix) -> Matrix:
        """The rows with the column of the threshold."""
        if not self.fit_intercept:
            return X
        column = np.full((X.shape[0], 1), float(self.intercept_scaling))
        if sp.issparse(X):
            return sp.csr_array(sp.hstack([X, sp.csr_array(column)], format="csr"))
        return np.hstack([X, column])

    def _solve(self, X: Matrix, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """One row of weights for each function."""
        joint, n_classes = self.multi_class == "crammer_singer", len(self.classes_)
        if joint and n_classes > 2:
            with single_thread():
                one = solve_crammer_singer(
                    X, labels, weights * self.C, n_classes, self.tol, self.max_iter
                )
            return self._finished([one], one.w)
        if joint or self.loss == "hinge":
            # of Crammer & Singer's two vectors the difference is that of hinge loss
            return self._by_support_vectors(X, labels, weights, self.C * (2 if joint else 1))
        functions = self._by_newton(X, labels, weights * self.C)
        return self._finished(functions, np.array([one.w for one in functions]))

    def _by_support_vectors(
        self, X: Matrix, labels: np.ndarray, weights: np.ndarray, C: float
    ) -> np.ndarray:
        model = SVC(
            C=C, kernel="linear", fit_intercept=False, tol=self.tol, precision="float64",
            verbose=int(bool(self.verbose)),
        )  # fmt: skip
        model.fit(X, labels, weights)
        self.n_iter_ = int(model.n_iter_.max())
        return model.coef_.copy()

    def _by_newton(self, X: Matrix, labels: np.ndarray, costs: np.ndarray) -> list[Weights]:
        """The functions of the classes, each on one thread."""
        positive = [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))
        columns = by_columns(X) if self.penalty == "l1" else None
        found: list[Any] = [None] * len(positive)

        def run(k: int) -> None:
            problem = LinearProblem(X, np.where(labels == positive[k], 1.0, -1.0), costs)
            with single_thread():
                if columns is not None:
                    found[k] = solve_absolute_norm(problem, columns, self.tol, self.max_iter)
                else:
                    found[k] = solve_squared_hinge(problem, self.tol, self.max_iter)

        with workers(None) as team:
            team.map(run, range(len(positive)))
        return found

    def _finished(self, found: list[Weights], weights: np.ndarray) -> np.ndarray:
        """The weights, after a warning if the limit of iterations was reached, as in scikit-learn
        also by a solver that was done by then.
        """
        self.n_iter_ = max(one.n_iter for one in found)
        if self.n_iter_ >= self.max_iter:
            # the first sentence is what programs know from scikit-learn
            warnings.warn(
                "Liblinear failed to converge, increase the number of iterations. (The solver is "
                f"that of largemargin, and max_iter={self.max_iter} was reached.)",
                ConvergenceWarning,
                stacklevel=4,
            )
        return np.ascontiguousarray(weights)
