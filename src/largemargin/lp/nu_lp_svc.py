"""`NuLPSVC`: the linear-programming machine that is told a fraction of errors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from largemargin.base.classifier import check_nu
from largemargin.lp.duplicates import DistinctSet
from largemargin.lp.estimator import LinearProgramMachine, sides
from largemargin.lp.programs import Program, largest_nu, nu_machine
from largemargin.lp.proof import Solution

USUAL_NU = 0.1  # what nu=None is where that is feasible with something to spare
NU_ROUNDING = 1e-12  # relative error of the largest feasible nu, which is a quotient of sums


class NuLPSVC(LinearProgramMachine):
    """Linear-programming support vector classification with nu: a fraction of margin errors.

        min  sum_i (s_i / sum s) xi_i - nu rho
        with y_i (sum_j alpha_j y_j k(x_j, x_i) + b) >= rho - xi_i,
             sum_j alpha_j = 1,   alpha >= 0,  xi >= 0,  rho >= 0

    If the margin rho is positive, `nu` is an upper bound of the fraction of training examples with
    y f < rho.

    Parameters
    ----------
    nu : float or None, default=None
        Between 0 and twice the smaller class's share of the weight; None is 0.1 or that share
        itself, whichever is smaller in a problem. For two classes a larger value is an error; in
        problems of one class against the rest, or with class weights, it is lowered where it has to
        be, with one warning; with class weights the threshold then gives way too, to the side of
        more weight. 0 is the limit of small values: the largest margin without errors or, if there
        is none, the least loss.
    kernel, degree, gamma, coef0, matern_nu, class_weight, tol, max_seconds, memory, n_jobs, \
    precision, verbose, calibrate :
        As for `LPSVC`.

    Attributes
    ----------
    dual_coef_, intercept_ :
        As in the program, with coefficients whose absolute values sum to 1.
    margin_ : array of shape (n_problems,)
        The margin rho: f = `margin_` where `SVC` has f = 1.
    classes_, support_, support_vectors_, n_support_, coef_, objective_, \
    dual_gap_, n_iter_, converged_, n_features_in_, feature_names_in_ :
        As for `LPSVC`.

    See Also
    --------
    LPSVC : The same machine, told a price of slack, without a threshold.
    NuSVC : The norm in place of the sum of coefficients.

    References
    ----------
    Graepel, T., Herbrich, R., Schoelkopf, B., Smola, A., Bartlett, P., Mueller, K.-R., Obermayer,
    K. and Williamson, R. (1999). Classification on proximity data with LP-machines. ICANN.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = NuLPSVC(nu=0.1).fit(scale(X), y)
    >>> model.n_support_, round(model.score(scale(X), y), 3)
    (33, 0.984)
    """

    def __init__(
        self,
        *,
        nu: float | None = None,
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
        self.nu = nu
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
        check_nu(self.nu)

    def check_data(self, data: DistinctSet) -> None:
        if self.nu is None:
            return
        largest = [largest_nu(signs, data.weights) for signs in sides(data)]
        short = [nu for nu in largest if nu < self.nu * (1 - NU_ROUNDING)]
        if short and data.n_classes == 2 and self.class_weight is None:
            raise ValueError(
                f"nu={self.nu} is infeasible for these classes: the largest feasible nu is "
                f"{min(short):.6g}, twice the smaller class's share"
            )
        if short:
            warnings.warn(
                f"nu={self.nu} is infeasible for {len(short)} of {len(largest)} problems of two "
                "sides; there it was lowered to the largest feasible value, at least "
                f"{min(short):.4g}",
                UserWarning,
                stacklevel=3,
            )

    def program(self, signs: np.ndarray, weights: np.ndarray, diagonal: np.ndarray) -> Program:
        largest = largest_nu(signs, weights)
        weighted = self.class_weight is not None
        nu = USUAL_NU if self.nu is None else float(self.nu)
        if self.nu is None and not weighted:
            nu = min(nu, largest / 2)
        lowered = weighted and nu > largest
        return nu_machine(signs, weights, diagonal, min(nu, largest), lowered)

    def set_fitted(self, data: DistinctSet, solved: Sequence[Solution]) -> None:
        super().set_fitted(data, solved)
        self.margin_ = np.array([one.rho for one in solved])

    def warn_unless_converged(self, solved: Sequence[Solution]) -> None:
        super().warn_unless_converged(solved)
        if self.converged_ and not self.margin_.all():
            warnings.warn(
                f"nu={self.nu} is less than the fraction of margin errors that the training data "
                "force: no margin is left. Give a larger nu",
                ConvergenceWarning,
                stacklevel=3,
            )
