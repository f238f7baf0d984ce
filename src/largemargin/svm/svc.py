"""`SVC`: support-vector networks, soft and hard margins, in three ways to count slack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from largemargin.base.classifier import check_positive
from largemargin.base.training_set import TrainingSet
from largemargin.runtime.arrays import MatrixLike, VectorLike
from largemargin.runtime.progress import Watch
from largemargin.svm import crammer_singer, squared_sum
from largemargin.svm.estimator import Fit, SupportVectorMachine, unwarned
from largemargin.svm.formulations import HINGE, LOSSES, Formulation, HardMargin, SoftMargin
from largemargin.svm.jobs import Job, TrainedProblem
from largemargin.svm.multiclass import Split, splits
from largemargin.svm.session import Session

SMALLEST_C = 1e-100
SLACKS = (*LOSSES, "squared-sum")


class SVC(SupportVectorMachine):
    """Support vector classification: the hyperplane of largest margin in a kernel's feature space.

    The support-vector network of Cortes and Vapnik, solved by blocks over kernel rows that all
    classes share. A drop-in for `sklearn.svm.SVC` on larger data, with hard margins, three ways to
    count slack, exact weights and a certificate of how optimal the fit is.

    Parameters
    ----------
    C : float, default=1.0
        The price of slack; `inf` is the hard margin, the optimal hyperplane.
    kernel : {"rbf", "linear", "poly", "laplacian", "matern", "sigmoid", "precomputed"} or callable,
    default="rbf"
        The kernel function. A callable takes two blocks of rows and returns the block of values.
    degree : int, default=3
        Degree of the polynomial (gamma a.b + coef0)^degree.
    gamma : float, "scale" or "auto", default="scale"
        Kernel coefficient; "scale" is 1 / (n_features * X.var()), with the sample weights, "auto"
        is 1 / n_features.
    coef0 : float, default=1.0
        Constant of the polynomial and sigmoid kernels.
    matern_nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness of the Matern kernel.
    slack : {"linear", "squared", "squared-sum"}, default="linear"
        What C is the price of: the sum of the slacks (hinge loss), the sum of their squares
        (squared hinge loss), or the square of their sum, which the paper's experiments used.
    multiclass : {"ovr", "ovo", "crammer-singer"}, default="ovr"
        One problem per class against the rest, one per pair, or one for all with one vector per
        class (which has linear slack and no threshold).
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of examples, by class.
    fit_intercept : bool, default=True
        Whether there is a threshold; without, the hyperplane goes through the origin.
    tol : float, default=1e-3
        The largest violation of the optimality conditions that is left, as in LIBSVM. Problems in
        float64 with up to 2,000 free variables are then solved exactly, and so are all with the
        linear kernel on up to 256 features, in the space of these. Those with more free variables
        go on to a hundredth of it, as long as that takes no more than what was spent before.
    min_margin : float, default=1e-6
        With C=inf: data that is shown not to be separable with this margin is said to be so.
    max_iter : int, default=-1
        Steps of the solver per problem at most; -1 is no limit. A linear system that is solved for
        all examples counts as one.
    max_seconds : float or None, default=None
        Stop after so many seconds, with a warning and a model that can be used. So does Ctrl-C. On
        large data the model may then be that of a part of the examples, with a gap of `inf`: there
        was no time to find out.
    warm_start : bool, default=False
        Start from the solution of the last fit, if it was on as many examples of the same classes.
    memory : int or str, default="auto"
        Bytes, or a size such as "500MB", for kernel values held at any time. "auto" is half of what
        is free. Not one bit of the model depends on it. The least that a fit works with is a matrix
        of 2,048 by 2,048 values, 34 MB in float64, and a smaller size means as much.
    n_jobs : int or None, default=None
        Threads. None is every core this process may use, within the BLAS and OpenMP limits in
        force, and 1 inside a joblib worker; note that scikit-learn's None means 1. Not one bit of
        the model, or of its scores, depends on it.
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
        f = dual_coef_ @ K(support_vectors_, x) + intercept_, one row per problem: one for two
        classes, positive for `classes_[1]`; else one per class; with "ovo" one per pair (i, j),
        i < j, in lexicographic order, positive for `classes_[j]`. `coef_` with the linear kernel
        only.
    objective_ : array of shape (n_problems,)
        The dual objective reached, sum alpha - 1/2 w.w and what the slack adds, less what rounding
        may account for: no machine has a primal objective below it.
    dual_gap_ : array of shape (n_problems,)
        The duality gap: the primal less the dual objective, relative to the larger of the two in
        absolute value. The fit is optimal to this accuracy. It holds for the coefficients as they
        are stored: it is computed from these, and what rounding may have done to sums and kernel
        values is added. Where it is 1 or more nothing is known, which takes numbers of very
        different sizes: scale the data. With a kernel that is not positive definite neither
        objective is a bound of the other.
    margin_ : array of shape (n_problems,)
        1 / |w|.
    n_iter_ : array of shape (n_problems,)
        Steps of the solver.
    converged_ : bool
        Whether every problem was solved to `tol`, in the kernel values that were computed.
    n_features_in_, feature_names_in_ :
        As everywhere in scikit-learn.

    See Also
    --------
    NuSVC : The same machine, told a fraction of errors instead of a price.
    largemargin.svm.cross_validate : Scores of values of C over shared kernel rows.

    References
    ----------
    Cortes, C. and Vapnik, V. (1995). Support-vector networks. Machine Learning 20, 273-297.

    Crammer, K. and Singer, Y. (2001). On the algorithmic implementation of multiclass kernel-based
    vector machines. JMLR 2, 265-292.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SVC(C=10.0).fit(X[:1000], y[:1000])
    >>> round(model.score(X[1000:], y[1000:]), 3)
    0.966
    >>> bool(model.dual_gap_.max() < 1e-9)
    True
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
        slack: str = "linear",
        multiclass: str = "ovr",
        class_weight: Any = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        min_margin: float = 1e-6,
        max_iter: int = -1,
        max_seconds: float | None = None,
        warm_start: bool = False,
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
        self.slack = slack
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.min_margin = min_margin
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.memory = memory
        self.n_jobs = n_jobs
        self.precision = precision
        self.verbose = verbose
        self.calibrate = calibrate

    _reductions = ("ovr", "ovo", "crammer-singer")

    def check_parameters(self) -> None:
        super().check_parameters()
        check_positive("C", self.C)
        if self.C < SMALLEST_C:
            raise ValueError(
                f"C must be at least {SMALLEST_C:g} to be computed with, got {self.C!r}"
            )
        check_positive("min_margin", self.min_margin)
        if self.multiclass == "crammer-singer" and (self.slack != "linear" or np.isinf(self.C)):
            raise ValueError(
                "multiclass='crammer-singer' needs slack='linear' and a finite C, got "
                f"slack={self.slack!r} and C={self.C!r}"
            )
        if self.slack not in SLACKS:
            raise ValueError(f"slack must be one of {', '.join(SLACKS)}, got {self.slack!r}")

    def _formulation(self, session: Session, split: Split, weights: np.ndarray) -> Formulation:
        if np.isinf(self.C):
            return HardMargin(float(self.min_margin), bool(self.fit_intercept))
        loss = LOSSES.get(self.slack, HINGE)  # "squared-sum" is solved by way of hinge losses
        return SoftMargin(float(self.C), loss, bool(self.fit_intercept))

    def _has_matrices(self, n_classes: int) -> bool:
        return self.multiclass != "crammer-singer" and np.isfinite(self.C)

    def _solve(self, session: Session, jobs: Sequence[Job], watch: Watch) -> list[TrainedProblem]:
        if self.slack == "squared-sum" and np.isfinite(self.C):
            return squared_sum.train(
                session, jobs, float(self.C), bool(self.fit_intercept), tol=self.tol,
                max_steps=self._max_steps, watch=watch,
            )  # fmt: skip
        return super()._solve(session, jobs, watch)

    def train(
        self,
        session: Session,
        weightings: Sequence[np.ndarray],
        starts: Sequence[np.ndarray | None],
        watch: Watch,
    ) -> list[Fit]:
        if self.multiclass != "crammer-singer":
            return super().train(session, weightings, starts, watch)
        return [
            self._train_crammer_singer(session, weights, start, watch)
            for weights, start in zip(weightings, starts, strict=True)
        ]

    def _train_crammer_singer(
        self, session: Session, weights: np.ndarray, start: np.ndarray | None, watch: Watch
    ) -> Fit:
        two = session.n_classes == 2  # one function, the difference of the two
        if two and start is not None:
            start = np.array([-start[0] / 2, start[0] / 2])
        tau, result = crammer_singer.train(
            session, weights, float(self.C), tol=self.tol, max_steps=self._max_steps, watch=watch,
            start=start,
        )  # fmt: skip
        coefs = tau[1:] - tau[:1] if two else tau
        return Fit(coefs, np.zeros(len(coefs)), [result])

    def _n_functions(self, data: TrainingSet) -> int:
        if self.multiclass == "crammer-singer" and data.n_classes > 2:
            return data.n_classes
        return super()._n_functions(data)

    def path(
        self, X: MatrixLike, y: VectorLike, Cs: Sequence[float], sample_weight: VectorLike = None
    ) -> list[SVC]:
        """Fit one machine for each value of C, over shared kernel rows.

        From the smallest C to the largest, each fit starts from the one before.

        Parameters
        ----------
        X, y, sample_weight :
            As for `fit`.
        Cs : sequence of float
            Positive; `inf` is the hard margin.

        Returns
        -------
        list of SVC
            Fitted clones of this estimator, in the order of `Cs`.
        """
        template = clone(self)
        models = [clone(self).set_params(C=C) for C in checked_Cs(Cs)]
        for model in models:
            model.check_parameters()
        folds = template.cross_fitting(X, y, sample_weight)
        few = template.distinct(template.training_set(X, y, sample_weight))
        total = len(models) * len(splits(few.data.n_classes, self.multiclass))
        with template.session(few.data, total) as (session, watch):
            rounding = np.zeros(len(models))
            for k, fits in template.sweep(session, [few.data.weights], models, watch):
                models[k].set_fitted(*few.as_given(fits[0]))
                rounding[k] = fits[0].rounding
        for model, off in zip(models, rounding.tolist(), strict=True):
            model.n_features_in_ = template.n_features_in_
            if hasattr(template, "feature_names_in_"):
                model.feature_names_in_ = template.feature_names_in_
            model.warn_unless_converged(watch.stopped, off)
            model.cross_fit(folds)
        return models

    @staticmethod
    def sweep(
        session: Session, weightings: Sequence[np.ndarray], models: Sequence[SVC], watch: Watch
    ) -> Iterator[tuple[int, list[Fit]]]:
        """The fits of each model for all weightings, from the smallest C to the largest."""
        starts: list[np.ndarray | None] = [None] * len(weightings)
        before = 0.0
        fits: list[Fit] = []
        for k in np.argsort([model.C for model in models], kind="stable").tolist():
            model = models[k]
            if before and np.isfinite(model.C):
                starts = [model._grown(fit, model.C / before) for fit in fits]
            with unwarned():
                fits = model.train(session, weightings, starts, watch)
            before = model.C
            yield k, fits

    def _grown(self, fit: Fit, ratio: float) -> np.ndarray:
        """A start for a larger C: the multiple of a solution that is best of those in its box.

        Along t b the dual objective is t sum alpha - t^2/2 w.w; for the optimum at the smaller
        C its peak is at t >= 1.
        """
        if self.multiclass == "crammer-singer":
            return fit.coefs
        totals = np.abs(fit.coefs).sum(axis=1)
        squares = np.array([max(result.square, 1e-300) for result in fit.results])
        return np.asarray(fit.coefs * np.clip(totals / squares, 1.0, ratio)[:, None])


def checked_Cs(Cs: VectorLike) -> list[float]:
    """The values of C of a path or a grid."""
    values = list(np.atleast_1d(np.asarray(Cs, dtype=float)).ravel().tolist())
    if not values:
        raise ValueError("Cs must hold at least one value of C, got none")
    return values
