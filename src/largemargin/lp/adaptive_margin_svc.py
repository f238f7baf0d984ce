"""`AdaptiveMarginSVC`: margins that grow with an example's own part in its score."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from largemargin.lp.column_generation import ColumnGeneration
from largemargin.lp.duplicates import DistinctSet
from largemargin.lp.estimator import LinearProgramMachine, checked, sides
from largemargin.lp.exact_values import ExactValues
from largemargin.lp.kernel_values import KernelValues
from largemargin.lp.programs import Program, adaptive_margin
from largemargin.lp.proof import Solution
from largemargin.runtime.arrays import MatrixLike, VectorLike
from largemargin.runtime.progress import Watch


class AdaptiveMarginSVC(LinearProgramMachine):
    """The adaptive-margin support vector machine of Weston and Herbrich.

        min  sum_i s_i xi_i
        with y_i sum_j alpha_j y_j k(x_j, x_i) - lam (alpha_i / s_i) k(x_i, x_i) >= 1 - xi_i,
             alpha >= 0,  xi >= 0

    The larger its coefficient, the larger a margin an example must have; so an outlier gains little
    by a large coefficient of its own, and centres of clusters get one. There is no threshold. Of
    solutions without any loss, of which there are many, it is the one of least sum of coefficients.

    Parameters
    ----------
    lam : float, default=1.0
        How much of an example's own part its margin grows by, 0 or more. 0 minimises the training
        loss alone, 1 is `LeaveOneOutSVC`, and large values tend to Parzen windows: from
        max_j sum_i y_i y_j k(x_j, x_i) / k(x_j, x_j) on no coefficient is worth its price, and all
        examples get the same one, so small that it costs nothing.
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
    LeaveOneOutSVC : The machine with lam=1.
    LPSVC : The sum of the coefficients in place of adaptive margins.

    References
    ----------
    Weston, J. and Herbrich, R. (2000). Adaptive margin support vector machines. In Smola et al.
    (eds), Advances in Large Margin Classifiers, chapter 2. MIT Press.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaptiveMarginSVC(lam=2.0).fit(scale(X), y)
    >>> model.n_support_, round(model.score(scale(X), y), 3)
    (64, 0.988)
    """

    def __init__(
        self,
        *,
        lam: float = 1.0,
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
        self.lam = lam
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

    def path(
        self,
        X: MatrixLike,
        y: VectorLike,
        lams: Sequence[float],
        sample_weight: VectorLike = None,
    ) -> list[AdaptiveMarginSVC]:
        """Fit one machine for each value of lambda, over shared kernel values.

        From the smallest value to the largest, each program starts from the last solution.

        Parameters
        ----------
        X, y, sample_weight :
            As for `fit`.
        lams : sequence of float
            Values of `lam`, 0 or more.

        Returns
        -------
        list of AdaptiveMarginSVC
            Fitted clones of this estimator, in the order of `lams`.
        """
        template = clone(self)
        models = [clone(self).set_params(lam=lam) for lam in checked_lams(lams)]
        for model in models:
            model.check_parameters()
        folds = template.cross_fitting(X, y, sample_weight)
        X, y = template.validate(X, y)
        with template.session(X, y, sample_weight, len(models)) as (data, values, exact, watch):
            found = template._solve_path(data, models, values, exact, watch)
        for model, solved in zip(models, found, strict=True):
            model.set_fitted(data, solved)
            model.n_features_in_ = template.n_features_in_
            if hasattr(template, "feature_names_in_"):
                model.feature_names_in_ = template.feature_names_in_
            model.warn_unless_converged(solved)
            model.cross_fit(folds)
        return models

    def _solve_path(
        self,
        data: DistinctSet,
        models: Sequence[AdaptiveMarginSVC],
        values: KernelValues,
        exact: ExactValues,
        watch: Watch,
    ) -> list[list[Solution]]:
        """The solutions of the problems, one list per model."""
        found: list[list[Solution]] = [[] for _ in models]
        order = np.argsort([model.lam for model in models], kind="stable")
        for signs in sides(data):
            solver = None
            for k in order:
                program = models[k].program(signs, data.weights, exact.diagonal)
                if solver is None:
                    solver = ColumnGeneration(program, values, watch)
                else:
                    solver.change(program.own)
                found[k].append(checked(solver.run(self.accepted_gap(data), exact)))
                watch.advance(1)
        return found

    def check_parameters(self) -> None:
        super().check_parameters()
        check_lam(self.lam)

    def program(self, signs: np.ndarray, weights: np.ndarray, diagonal: np.ndarray) -> Program:
        return adaptive_margin(signs, weights, diagonal, float(self.lam))

    @property
    def has_own_part(self) -> bool:
        return self.lam > 0


def check_lam(lam: Any) -> None:
    if not isinstance(lam, Real) or isinstance(lam, bool) or not 0 <= float(lam) < np.inf:
        raise ValueError(f"lam must be a finite number, 0 or more, got {lam!r}")


def checked_lams(lams: Any) -> list[float]:
    """The values of lambda of a path."""
    values = list(np.atleast_1d(np.asarray(lams, dtype=float)).ravel().tolist())
    if not values:
        raise ValueError("lams must hold at least one value of lambda, got none")
    return values
