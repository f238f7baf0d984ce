"""`LeaveOneOutSVC`: each example is scored without its own part."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.lp.estimator import LinearProgramMachine
from largemargin.lp.programs import Program, adaptive_margin


class LeaveOneOutSVC(LinearProgramMachine):
    """The leave-one-out support vector machine of Weston and Herbrich.

        min  sum_i s_i xi_i
        with y_i sum_{j != i} alpha_j y_j k(x_j, x_i) >= 1 - xi_i,   alpha >= 0,  xi >= 0

    (a copy of an example is another example: it votes). It minimises a bound of the leave-one-out
    error and has nothing to choose but the kernel. There is no threshold. Of solutions without any
    loss, of which there are many, it is the one of least sum of coefficients.

    Parameters
    ----------
    kernel, degree, gamma, coef0, matern_nu, class_weight, tol, max_seconds, memory, n_jobs, \
    precision, verbose, calibrate :
        As for `LPSVC`.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, objective_, \
    dual_gap_, n_iter_, converged_, n_features_in_, feature_names_in_ :
        As for `LPSVC`.

    See Also
    --------
    AdaptiveMarginSVC : The machines between no regularisation and Parzen windows, of which this is
        the one with lam=1.

    References
    ----------
    Weston, J. and Herbrich, R. (2000). Adaptive margin support vector machines. In Smola et al.
    (eds), Advances in Large Margin Classifiers, chapter 2. MIT Press.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LeaveOneOutSVC().fit(scale(X), y)
    >>> model.n_support_, round(model.score(scale(X), y), 3)
    (44, 0.996)
    """

    def __init__(
        self,
        *,
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

    def program(self, signs: np.ndarray, weights: np.ndarray, diagonal: np.ndarray) -> Program:
        return adaptive_margin(signs, weights, diagonal, 1.0)

    @property
    def has_own_part(self) -> bool:
        return True
