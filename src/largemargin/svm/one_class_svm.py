"""`OneClassSVM`: the region where most of the rows are, learned without labels."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from largemargin.base.classifier import Detector
from largemargin.base.first_look import Told, signs_told
from largemargin.base.training_set import TrainingSet
from largemargin.runtime.arrays import MatrixLike, VectorLike
from largemargin.runtime.threads import single_thread
from largemargin.svm.bounds import FEW, Interval, ObjectiveBounds, half_square, lengthened
from largemargin.svm.estimator import SupportVectorEstimator, unwarned
from largemargin.svm.evaluation import NearMargin, Outputs, summed
from largemargin.svm.formulations import Formulation, group_multipliers, hull_problem
from largemargin.svm.multiclass import Split
from largemargin.svm.problem import DualResult, Problem, Solution
from largemargin.svm.session import Session

LEAST_DISTANCE = 1e-6  # the fraction of the largest norm below which |w| / sum c_i is 0
# The threshold is lowered by this fraction of itself, in float64 and in float32, so that rounding
# does not put an example outside that is on the boundary.
BOUNDARY_ROUNDING = (1e-10, 1e-6)
SAME_SHARE = 1e-12  # weights that differ by this fraction are the same share of all


@dataclass(frozen=True)
class OneClass:
    """The hyperplane farthest from the origin that has all but a share nu of the rows beyond it.

        primal    1/2 w.w - nu S rho + sum s_i xi_i,   xi_i = max(0, rho - w.x_i),   S = sum s_i
        dual      -1/2 w.w,   w = sum c_i x_i,   0 <= c_i <= s_i,   sum c_i = nu S

    It is the problem of `Nu` without a threshold and with one sign; coefficients are in the scale
    of LIBSVM. Of a given w the best rho is a quantile: rows that weigh nu S at most are below it.
    So both halves of the nu-property hold of every fit, optimal or not: w.x_i < rho for a share nu
    of the weight at most, and c_i > 0 for a share nu of it at least.
    """

    nu: float
    reach: float  # the largest norm of a row
    rounding: float

    @property
    def least_norm(self) -> float:
        """Where |w| / sum c_i is less, the origin is among the rows."""
        return LEAST_DISTANCE * self.reach

    def problem(self, y: np.ndarray, s: np.ndarray, start: np.ndarray | None = None) -> Problem:
        return hull_problem(y, s / (self.nu * s.sum()), False, start, self.least_norm)

    def read(
        self, problem: Problem, solution: Solution, y: np.ndarray, s: np.ndarray
    ) -> DualResult:
        unit = self.nu * s.sum()  # the solver's variables sum to 1
        coefs, f = np.minimum(solution.beta * unit, s), solution.grad * unit
        if solution.seen is None:
            rho = quantile(f, s, self.nu)
        else:  # some outputs are not known
            rho = -float(group_multipliers(problem, solution)[0]) * unit
        rho -= self.rounding * abs(rho)
        square, least = float(coefs @ f), self.least_norm * unit
        separable = square > least**2
        if abs(square) <= least**2:  # w is 0 but for rounding: no row is an outlier
            rho = -least * self.reach
        return DualResult(
            coefs, -rho, -square / 2, np.inf, square, solution.violation, solution.n_steps,
            solution.converged and separable, separable,
        )  # fmt: skip

    @staticmethod
    def near_margin(y: np.ndarray, s: np.ndarray, b: float) -> NearMargin:
        """Marks the examples that may be outside."""
        return lambda values, errors: np.asarray((s > 0) & (values[0] + b < 2 * errors[0]))

    def bounds(
        self, y: np.ndarray, s: np.ndarray, coefs: np.ndarray, b: float, outputs: Outputs,
        reach: float,
    ) -> ObjectiveBounds:  # fmt: skip
        """What coefficients achieve, with the threshold as it is stored."""
        total, rho, half = self.nu * summed(s), -b, half_square(outputs)
        f = outputs.values[0]
        errors = outputs.errors[0] + FEW * (np.abs(f) + abs(rho))
        slack = [summed(s * np.maximum(0.0, rho - f + e)) for e in (-errors, errors)]
        # feasible coefficients are no further away than this
        missing = 2 * summed(np.maximum(0.0, coefs - s) + np.maximum(0.0, -coefs))
        missing += abs(summed(coefs) - total) + FEW * total
        longest = lengthened(half, missing * reach)
        off = FEW * (total * abs(rho) + abs(longest))
        primal = Interval(
            half.low - total * rho + slack[0] * (1 - FEW) - off,
            half.high - total * rho + slack[1] * (1 + FEW) + off,
        )
        dual = Interval(-longest - off, -half.low + off)
        return ObjectiveBounds(primal, dual, outputs.square, Interval(2 * half.low, 2 * half.high))


def quantile(f: np.ndarray, s: np.ndarray, nu: float) -> float:
    """A number below which is no more than a share nu of the weight, and no less up to it; the
    middle, where an interval is.

    >>> float(quantile(np.array([4.0, 1.0, 2.0, 3.0]), np.ones(4), 0.3))
    2.0
    >>> float(quantile(np.array([4.0, 1.0, 2.0, 3.0]), np.ones(4), 0.5))
    2.5
    """
    order = np.argsort(f, kind="stable")
    weight = np.cumsum(s[order])
    ends = [nu * weight[-1] * (1 - SAME_SHARE), nu * weight[-1] * (1 + SAME_SHARE)]
    low, high = np.searchsorted(weight, ends[0]), np.searchsorted(weight, ends[1], "right")
    return float(f[order[low]] + f[order[min(high, len(f) - 1)]]) / 2


class OneClassSVM(Detector, SupportVectorEstimator):
    """Outlier detection by the one-class support vector machine: the region where most rows are.

    `nu` is an upper bound of the fraction of training rows outside the region and a lower bound of
    the fraction that are support vectors.

    Parameters
    ----------
    nu : float, default=0.5
        Above 0 and up to 1. The share of training rows that may be outside.
    tol : float, default=1e-3
        The largest violation of the optimality conditions that is left, relative to the threshold.
    kernel, degree, gamma, coef0, matern_nu, max_iter, max_seconds, warm_start, memory, n_jobs, \
    precision, verbose :
        As for `SVC`.

    Attributes
    ----------
    offset_ : float
        The threshold: `decision_function` is `score_samples` less this. Of the scores of the
        training rows it is a quantile, the one that nu names.
    dual_coef_ : array of shape (1, n_support)
        Positive, none above the weight of its row, and nu times all weights in sum, as in
        scikit-learn.
    intercept_ : array of shape (1,)
        The threshold with its sign turned.
    objective_ : array of shape (1,)
        The dual objective reached, -1/2 w.w, less what rounding may account for.
    dual_gap_ : array of shape (1,)
        The difference of the primal and the dual objective, relative to w.w; it holds for the
        coefficients as they are stored, as with `SVC`.
    support_, support_vectors_, n_support_, coef_, n_iter_, converged_, n_features_in_, \
    feature_names_in_ :
        As for `SVC`.

    See Also
    --------
    NuSVC : The same share, of the margin errors of a classifier.

    References
    ----------
    Schoelkopf, B., Platt, J. C., Shawe-Taylor, J., Smola, A. J. and Williamson, R. C. (2001).
    Estimating the support of a high-dimensional distribution. Neural Computation 13, 1443-1471.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = OneClassSVM(nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    >>> float((model.predict(X) == -1).mean()) <= 0.1 <= model.n_support_ / 200
    True
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        matern_nu: float = 1.5,
        tol: float = 1e-3,
        max_iter: int = -1,
        max_seconds: float | None = None,
        warm_start: bool = False,
        memory: int | str = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        verbose: int = 0,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.matern_nu = matern_nu
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.memory = memory
        self.n_jobs = n_jobs
        self.precision = precision
        self.verbose = verbose

    def fit(self, X: MatrixLike, y: Any = None, sample_weight: VectorLike = None) -> Self:
        """Train on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            For kernel="precomputed", the kernel matrix of shape (n_samples, n_samples).
        y : None
            Not used: there are no labels.
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 is exactly a row twice, a weight of 0 exactly its absence.

        Returns
        -------
        self
        """
        with self.rolled_back_on_error():
            self.check_parameters()
            data = TrainingSet(self, self.validate(X), None, sample_weight)
            start = self._last_solution(data) if self.warm_start else None
            with self.session(data, 1) as (session, watch), unwarned():
                (fit,) = self.train(session, [data.weights], [start], watch)
            self.set_fitted(data, fit)
        self.warn_unless_converged(watch.stopped, fit.rounding)
        return self

    _in_portions = False  # the bounds keep a part from holding the whole of nu

    def _formulation(self, session: Session, split: Split, weights: np.ndarray) -> Formulation:
        rounding = BOUNDARY_ROUNDING[not session.exact]
        return OneClass(float(self.nu), session.evaluation.reach, rounding)

    @property
    def _no_margin(self) -> str:
        return (
            "no hyperplane separates the training data from the origin of the feature space: the "
            "origin is among them, all scores are about zero, and no row is an outlier. Take a "
            "kernel whose values are positive, such as rbf"
        )

    def check_parameters(self) -> None:
        super().check_parameters()
        nu = self.nu
        if not isinstance(nu, Real) or isinstance(nu, bool) or not 0 < nu <= 1:
            raise ValueError(f"nu must be above 0 and at most 1, got {nu!r}")

    @property
    def offset_(self) -> float:
        check_is_fitted(self)
        return -float(self._expansion.intercepts[0])

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """How far inside each row of X is: 0 on the boundary, negative outside.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            For kernel="precomputed", kernel values against all training rows, of which only the
            columns `support_` are read, or against those in `support_` alone.
        """
        return self._scores(X)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """1 for each row of X that is inside or on the boundary, -1 for an outlier."""
        return np.where(self._scores(X, signs_told) >= 0, 1, -1)

    def _scores(self, X: MatrixLike, told: Told | None = None) -> np.ndarray:
        check_is_fitted(self)
        with single_thread():
            return np.asarray(self.problem_scores(X, told)[0])

    def score_samples(self, X: MatrixLike) -> np.ndarray:
        """The score w.x of each row of X; those below `offset_` are outside."""
        return np.asarray(self.decision_function(X) + self.offset_)
