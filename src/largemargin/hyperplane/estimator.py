"""`MaxMarginHyperplane`: the linear classifier of largest margin, in any p-norm."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from largemargin.base.classifier import KernelClassifier, check_positive
from largemargin.base.training_set import TrainingSet
from largemargin.hyperplane.central_path import solve_smooth
from largemargin.hyperplane.linear_norms import solve_linear
from largemargin.hyperplane.program import Hyperplane, Norm, Program, Proposal, judge
from largemargin.lp.duplicates import merge_duplicates
from largemargin.lp.estimator import sides
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.progress import check_seconds
from largemargin.runtime.threads import single_thread
from largemargin.svm.svc import SMALLEST_C, SVC

SMALLEST_SIZE = 1e-300  # the smallest size of data whose inverse is still finite
BEYOND = "more or less than float64 can compute with: scale the data (to 0..1, say)"
SVM_TOL = 1e-5  # tolerance of the support vector machine, which is exact beyond it where it can be


class MaxMarginHyperplane(KernelClassifier):
    """The hyperplane of largest margin, with the p-norm of w and distances in its conjugate.

    With 1/p + 1/q = 1 the distance of x to the hyperplane in the q-norm is |w.x + b| / |w|_p. So
    p = 2 is the optimal hyperplane, p = 1 has the largest distances in the maximum norm and few
    features in use, p = inf those in the sum norm and all features alike. The soft margin is

        minimise |w|_p^r / r + C sum_i s_i xi_i,   y_i (w.x_i + b) >= 1 - xi_i,  xi_i >= 0

    with r = min(p, q): |w|_1 for p = 1, |w|_inf for p = inf, which are linear programs,
    |w|_2^2 / 2 for p = 2, which is `SVC(kernel="linear")`, and continuous in between. With C = inf
    the power does not matter.

    Parameters
    ----------
    norm : float, default=2
        p, from 1 to `inf`.
    C : float, default=1.0
        The price of slack; `inf` is the hard margin, (1.19) to (1.22) of the chapter. If the data
        cannot be separated it says so in a warning, and answers with the larger side.
    fit_intercept : bool, default=True
        Whether there is a threshold b; without, the hyperplane goes through the origin.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of examples, one per class.
    tol : float, default=1e-7
        The largest relative duality gap of a solution that is accepted without a warning. What is
        reached is usually far below.
    min_margin : float, default=1e-6
        With C=inf: data that is shown not to be separable with this margin is said to be so.
    max_seconds : float or None, default=None
        Stop after so many seconds, with a warning and a model that can be used. So does Ctrl-C.
    verbose : int, default=0
        1 shows progress.
    calibrate : bool, default=False
        Whether to fit sigmoids that make probabilities of scores, which `predict_proba` gives. Five
        fits on parts of the data score the rows that each leaves out.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_problems, n_features)
        w, one row per problem: one problem for two classes, positive for `classes_[1]`; else one
        per class, against the rest.
    intercept_ : array of shape (n_problems,)
    margin_ : array of shape (n_problems,)
        The smallest y (w.x + b) / |w|_p of the training examples: the distance of the nearest to
        the hyperplane in the q-norm, negative if they are not separated. Where w = 0 there is no
        hyperplane, and it is -inf.
    objective_ : array of shape (n_problems,)
        The objective above, computed from `coef_` and `intercept_`.
    dual_gap_ : array of shape (n_problems,)
        Its difference to a lower bound, the objective of the dual program, relative to the larger;
        what rounding can have done to both is counted, so the true gap is not larger.
    n_iter_ : array of shape (n_problems,)
        Steps of the solver.
    converged_ : bool
        Whether every gap is within `tol`.
    n_features_in_, feature_names_in_ :
        As everywhere in scikit-learn.

    See Also
    --------
    SVC : The 2-norm, with kernels.
    LPSVC : The 1-norm of the coefficients of a kernel expansion.

    References
    ----------
    Smola, A., Bartlett, P., Schoelkopf, B. and Schuurmans, D. (2000). Introduction to large margin
    classifiers. In Advances in Large Margin Classifiers, MIT Press, section 1.1.4.

    Mangasarian, O. (1999). Arbitrary-norm separating plane. Operations Research Letters 24, 15-23.

    Notes
    -----
    p = 2 is solved by the support vector machine's solver, 1 and inf by HiGHS, other p by SciPy's
    trust-region method for smooth convex functions along a central path. Whichever it was, the
    objective and its lower bound are computed from the data afterwards. The time for other p grows
    with the larger and with the square of the smaller of the numbers of examples and features, the
    memory as for dense data.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [3.0, 1.0]])
    >>> for norm in (1, 2, np.inf):
    ...     model = MaxMarginHyperplane(norm=norm, C=np.inf).fit(X, ["left", "right"])
    ...     print(np.round(model.coef_[0], 3), np.round(model.margin_[0], 3))
    [0.667 0.   ] 1.5
    [0.6 0.2] 1.581
    [0.5 0.5] 2.0
    """

    # the kernel that a training set is seen through
    kernel, degree, gamma, coef0, precision = "linear", 1, "auto", 0.0, "float64"

    def __init__(
        self,
        *,
        norm: float = 2,
        C: float = 1.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-7,
        min_margin: float = 1e-6,
        max_seconds: float | None = None,
        verbose: int = 0,
        calibrate: bool = False,
    ) -> None:
        self.norm = norm
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.min_margin = min_margin
        self.max_seconds = max_seconds
        self.verbose = verbose
        self.calibrate = calibrate

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> Self:
        """Train on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
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
            X, y = self.validate(X, y)
            data = TrainingSet(self, X, y, sample_weight)
            few = merge_duplicates(data.X, data.labels, data.weights)
            data.X, data.labels = data.X[few.first], data.labels[few.first]
            data.weights = few.weights
            check_size(data.X)
            # infinities and NaN are refused below; the bits of a product depend on its threads
            with np.errstate(all="ignore"), single_thread():
                found = [checked(one) for one in self._solve(data)]
            self.set_fitted(data, found)
        self.warn_unless_converged(found)
        return self

    def _solve(self, data: TrainingSet) -> list[Hyperplane]:
        programs = [self._program(data, signs) for signs in sides(data)]
        if self.norm == 2:
            proposals = self._solve_svm(data, programs)
        else:
            proposals = self._solve_each(programs)
        return [judge(*pair) for pair in zip(programs, proposals, strict=True)]

    def _program(self, data: TrainingSet, signs: np.ndarray) -> Program:
        return Program(
            data.X, signs, data.weights, Norm(float(self.norm)), float(self.C),
            bool(self.fit_intercept), float(self.min_margin),
        )  # fmt: skip

    def _solve_svm(self, data: TrainingSet, programs: Sequence[Program]) -> list[Proposal]:
        machine = SVC(
            C=self.C, kernel="linear", fit_intercept=self.fit_intercept, tol=min(SVM_TOL, self.tol),
            min_margin=self.min_margin, max_seconds=self.max_seconds, verbose=self.verbose,
        )  # fmt: skip
        machine.part = self.part
        with machine.session(data, len(programs)) as (session, watch):
            (fit,) = machine.train(session, [data.weights], [None], watch)
        return [
            Proposal(
                np.asarray(data.X.T @ coefs), float(b), program.y * coefs, one.n_steps,
                watch.stopped, one.separable,
            )
            for program, coefs, b, one in zip(
                programs, fit.coefs, fit.intercepts, fit.results, strict=True
            )
        ]  # fmt: skip

    def _solve_each(self, programs: Sequence[Program]) -> list[Proposal]:
        linear = float(self.norm) in (1.0, np.inf)
        found = []
        with self.watch(len(programs)) as watch:
            for program in programs:
                if linear:
                    found.append(solve_linear(program, watch))
                else:
                    found.append(solve_smooth(program, float(self.tol), watch))
                watch.advance(1)
        return found

    def set_fitted(self, data: TrainingSet, found: Sequence[Hyperplane]) -> None:
        """Make the fitted attributes."""
        self.classes_ = data.classes
        self.remember(data.fingerprint)
        self.coef_ = np.array([one.w for one in found])
        self.intercept_ = np.array([one.b for one in found])
        self.objective_ = np.array([one.objective for one in found])
        self.dual_gap_ = np.array([one.gap for one in found])
        self.margin_ = np.array([one.margin for one in found])
        self.n_iter_ = np.array([max(1, one.n_steps) for one in found])
        self._separable = all(one.separable for one in found)
        self.converged_ = bool((self.dual_gap_ <= self.tol).all())

    def warn_unless_converged(self, found: Sequence[Hyperplane]) -> None:
        """Warn of what kept the fit from its solution."""
        if not self._separable:
            message = (
                "the training data cannot be separated with a margin of "
                f"min_margin={self.min_margin:g}: to that accuracy, some point is in both classes' "
                "convex hulls. The optimal hyperplane does not exist; give a finite C"
            )
        elif not self.converged_:
            reason = next((one.trouble for one in found if one.trouble), "")
            reason = reason or "rounding errors leave no better solution: scale the features"
            message = (
                f"{type(self).__name__} stopped before it converged because {reason}; the largest "
                f"relative duality gap is {self.dual_gap_.max():.3g}. The model can be used"
            )
        else:
            return
        warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """w.x + b of the rows of X: one number per row for two classes (positive for
        `classes_[1]`), else one per class, the largest of which `predict` answers with.
        """
        if not hasattr(self, "coef_"):
            check_is_fitted(self)
        if not self.is_valid(X):
            X = self.validate(X, reset=False)
        scores = np.asarray(X @ self.coef_.T, np.float64) + self.intercept_
        return np.asarray(scores[:, 0]) if len(self.classes_) == 2 else scores

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class with the largest score, for each row of X."""
        return self.classes_of(self.decision_function(X))

    def check_parameters(self) -> None:
        norm: Any = self.norm
        if not isinstance(norm, Real) or isinstance(norm, bool) or not float(norm) >= 1:
            raise ValueError(f"norm must be a number from 1 to inf, got {norm!r}")
        check_positive("C", self.C)
        if self.C < SMALLEST_C:
            raise ValueError(
                f"C must be at least {SMALLEST_C:g} to be computed with, got {self.C!r}"
            )
        for name in ("tol", "min_margin"):
            check_positive(name, getattr(self, name))
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ValueError(f"fit_intercept must be True or False, got {self.fit_intercept!r}")
        if not isinstance(self.verbose, Integral):
            raise ValueError(f"verbose must be 0 or 1, got {self.verbose!r}")
        check_seconds(self.max_seconds)


def check_size(X: Matrix) -> None:
    """Refuse data whose hyperplanes have no size that float64 can hold."""
    largest = float(abs(X).max()) if X.shape[1] else 0.0
    if 0 < largest < SMALLEST_SIZE:
        raise ValueError(
            f"X has no number larger than {largest:.3g}, whose hyperplanes are {BEYOND}"
        )


def checked(found: Hyperplane) -> Hyperplane:
    """A hyperplane, refused if it has infinities or NaN where it should not."""
    known = [found.w.sum(), found.b]
    if found.separable:
        known += [found.objective] if np.isfinite(found.margin) and found.margin > 0 else []
    if not np.isfinite(known).all() or np.isnan([found.objective, found.gap, found.margin]).any():
        raise ValueError(f"the hyperplane of these data is {BEYOND}")
    return found
