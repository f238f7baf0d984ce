"""`LPSVC`: the support vector machine with the sum of coefficients in place of the norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.base.classifier import check_positive
from largemargin.lp.estimator import LinearProgramMachine
from largemargin.lp.programs import Program, lp_machine


class LPSVC(LinearProgramMachine):
    """Linear-programming support vector classification.

        min  sum_j alpha_j + C sum_i s_i xi_i
        with y_i sum_j alpha_j y_j k(x_j, x_i) >= 1 - xi_i,   alpha >= 0,  xi >= 0

    The margin is measured in the sum of the coefficients, which makes most of them zero: far fewer
    vectors are left than with `SVC`. There is no threshold. Several classes are one problem each
    against the rest, and share kernel values.

    Parameters
    ----------
    C : float, default=1.0
        The price of slack, finite. For the hard margin there is `NuLPSVC` with nu=0.
    kernel : {"rbf", "linear", "poly", "laplacian", "matern", "sigmoid", "precomputed"} or callable,
    default="rbf"
        The kernel function. A callable takes two blocks of rows and returns the block of values.
        Nothing is asked of a kernel but finite values. Those below 1e-12 of the diagonal are made
        zero in training.
    degree : int, default=3
        Degree of the polynomial (gamma a.b + coef0)^degree.
    gamma : float, "scale" or "auto", default="scale"
        Kernel coefficient; "scale" is 1 / (n_features * X.var()), with the sample weights, "auto"
        is 1 / n_features.
    coef0 : float, default=1.0
        Constant of the polynomial and sigmoid kernels.
    matern_nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness of the Matern kernel.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of examples, one per class.
    tol : float, default=1e-7
        The largest relative duality gap of a solution that counts as one. Solutions are those of
        the simplex method, so it says what to accept and saves no time. With kernel values in
        float32 it is at least 1e-5.
    max_seconds : float or None, default=None
        Stop after so many seconds, with a warning and a model that can be used, whose `dual_gap_`
        is then 1, or inf, if to know more would take long. So does Ctrl-C.
    memory : int or str, default="auto"
        Bytes, or a size such as "500MB", for kernel values held at any time. "auto" is half of what
        is free. Not one bit of the model depends on it. The least that a fit works with is the
        values among 2,048 examples, 34 MB in float64, and a smaller size means as much.
    n_jobs : int or None, default=None
        Threads that compute kernel values. None is every core this process may use, within the BLAS
        and OpenMP limits in force, and 1 inside a joblib worker; note that scikit-learn's None
        means 1. Not one bit of the model, or of its scores, depends on it.
    precision : {"auto", "float32", "float64"}, default="auto"
        The type of kernel values; sums are always float64. "auto" is float64 for up to 8,192 rows
        and float32 beyond.
    verbose : int, default=0
        1 shows progress.
    calibrate : bool, default=False
        Whether to fit sigmoids that make probabilities of scores, which `predict_proba` gives. Five
        fits on parts of the data score the rows that each leaves out.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    support_, support_vectors_, n_support_ :
        The examples with a coefficient other than zero in any problem: their sorted positions in
        the training data, their rows, their number.
    dual_coef_, intercept_, coef_ :
        f = dual_coef_ @ K(support_vectors_, x) + intercept_, one row per problem: one problem for
        two classes, positive for `classes_[1]`; else one per class. `coef_` with the linear kernel
        only. Without a threshold, `intercept_` is zero.
    objective_ : array of shape (n_problems,)
        The objective above, computed in float64 from the coefficients that are kept.
    dual_gap_ : array of shape (n_problems,)
        The duality gap: what the objective is above a lower bound of it, the dual objective,
        relative to the larger of the two in absolute value. The fit is optimal to this accuracy.
        What rounding can have done to kernel values and sums is counted, so the true gap is not
        larger. Where coefficients have no price, or one that is lost beside that of slack, the
        bound is one for coefficients up to ten times the largest.
    n_iter_ : array of shape (n_problems,)
        Iterations of the simplex method.
    converged_ : bool
        Whether every problem was solved, to a relative gap of `tol`.
    n_features_in_, feature_names_in_ :
        As everywhere in scikit-learn.

    See Also
    --------
    NuLPSVC : The same machine, told a fraction of errors instead of a price.
    AdaptiveMarginSVC : Margins that grow with an example's own coefficient.
    SVC : The norm in place of the sum of coefficients.

    References
    ----------
    Weston, J. and Herbrich, R. (2000). Adaptive margin support vector machines. In Smola et al.
    (eds), Advances in Large Margin Classifiers, chapter 2. MIT Press.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LPSVC(C=1.0).fit(scale(X), y)
    >>> model.n_support_, round(model.score(scale(X), y), 3)
    (35, 0.982)
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        matern_nu: float = 1.5,
        class_weight: Any = None,
        tol: float = 1e-7,
        max_seconds: float | None = None,
        memory: int | str = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        verbose: int = 0,
        calibrate: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.matern_nu = matern_nu
        self.class_weight = class_weight
        self.tol = tol
        self.max_seconds = max_seconds
        self.memory = memory
        self.n_jobs = n_jobs
        self.precision = precision
        self.verbose = verbose
        self.calibrate = calibrate

    def check_parameters(self) -> None:
        super().check_parameters()
        check_positive("C", self.C)
        if not np.isfinite(self.C):
            raise ValueError(
                f"C must be finite, got {self.C!r}: for the hard margin use NuLPSVC(nu=0)"
            )

    def program(self, signs: np.ndarray, weights: np.ndarray, diagonal: np.ndarray) -> Program:
        if not np.isfinite(float(self.C) * float(weights.sum())):
            raise ValueError(
                f"C={self.C!r} times the weights of the examples is more than float64 can compute "
                "with: give a smaller C"
            )
        return lp_machine(signs, weights, diagonal, float(self.C))
