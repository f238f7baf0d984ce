"""`NuSVC`: the support vector machine with a fraction of errors in place of a price for them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from largemargin.base.classifier import check_nu, check_positive
from largemargin.runtime.progress import Watch
from largemargin.svm.estimator import Fit, SupportVectorMachine
from largemargin.svm.formulations import Formulation, HardMargin, Nu
from largemargin.svm.multiclass import Split, splits
from largemargin.svm.session import Session


class NuSVC(SupportVectorMachine):
    """Nu support vector classification: a fraction of margin errors instead of a price for them.

    `nu` is an upper bound of the fraction of training examples within the margin and a lower bound
    of the fraction that are support vectors.

    Parameters
    ----------
    nu : float or None, default=None
        Between 0 and twice the smaller class's share of the weight; None is that share itself. In
        each problem this is half of the largest value, 0.5 for two classes of equal size. For two
        classes a larger value is an error; in a multiclass reduction it is lowered where it has to
        be, with one warning. So it is where class weights make it too large, and then the threshold
        also gives way, to the side of more weight. 0 is the limit of small values, the hard margin.
    multiclass : {"ovr", "ovo"}, default="ovr"
        One problem per class against the rest, or one per pair.
    tol : float, default=1e-3
        The largest violation of the optimality conditions that is left, relative to the margin rho.
    min_margin : float, default=1e-6
        With nu=0: data that is shown not to be separable with this margin is said to be so.
    kernel, degree, gamma, coef0, matern_nu, class_weight, fit_intercept, max_iter, max_seconds, \
    warm_start, memory, n_jobs, precision, verbose, calibrate :
        As for `SVC`.

    Attributes
    ----------
    dual_coef_, intercept_ :
        Scaled so that the margin is at f = 1, as with `SVC`.
    objective_ : array of shape (n_problems,)
        The dual objective reached, -1/2 w.w with the bounds s_i / sum s, before that scaling; less
        what rounding may account for.
    dual_gap_ : array of shape (n_problems,)
        The duality gap: the primal less the dual objective, relative to w.w before that scaling,
        since both are small and negative; with nu=0 relative to the larger of the two, as with
        `SVC`. It holds for the coefficients as they are stored.
    classes_, support_, support_vectors_, n_support_, coef_, margin_, n_iter_, converged_, \
    n_features_in_, feature_names_in_ :
        As for `SVC`.

    References
    ----------
    Schoelkopf, B., Smola, A., Williamson, R. C. and Bartlett, P. L. (2000). New support vector
    algorithms. Neural Computation 12, 1207-1245.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = NuSVC(nu=0.1).fit(scale(X), y)
    >>> round(model.score(scale(X), y), 3)
    0.988
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
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.matern_nu = matern_nu
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

    PROTOCOL = (*SupportVectorMachine.PROTOCOL, "lower_nu")

    @property
    def _no_margin(self) -> str:
        if self.nu == 0:
            return super()._no_margin
        return (
            f"nu={self.nu} is less than the fraction of margin errors that the training data "
            f"force: no margin of min_margin={self.min_margin:g} is left. Give a larger nu"
        )

    @property
    def _in_portions(self) -> bool:  # type: ignore[override]
        return self.nu == 0  # the bounds keep a part from holding the whole of nu

    def check_parameters(self) -> None:
        super().check_parameters()
        check_nu(self.nu)
        check_positive("min_margin", self.min_margin)

    def _formulation(self, session: Session, split: Split, weights: np.ndarray) -> Formulation:
        if self.nu == 0:
            return HardMargin(float(self.min_margin), bool(self.fit_intercept))
        largest = self._largest(session.labels, split, weights)
        nu = largest / 2 if self.nu is None else float(self.nu)
        return Nu(
            min(nu, largest), float(self.min_margin), bool(self.fit_intercept),
            is_lowered=self.class_weight is not None and nu > largest,
        )  # fmt: skip

    def _largest(self, labels: np.ndarray, split: Split, weights: np.ndarray) -> float:
        """The largest nu that a problem allows."""
        if not self.fit_intercept:
            return 1.0
        positive = weights[labels == split.positive].sum()
        return largest_nu(positive, weights[np.isin(labels, split.classes)].sum() - positive)

    def lower_nu(self, session: Session, weights: np.ndarray) -> None:
        """Have no larger nu than two classes of these weights allow."""
        if session.n_classes == 2 and self.nu is not None:
            (split,) = splits(2, self.multiclass)
            self.nu = min(self.nu, self._largest(session.labels, split, weights))

    def train(
        self,
        session: Session,
        weightings: Sequence[np.ndarray],
        starts: Sequence[np.ndarray | None],
        watch: Watch,
    ) -> list[Fit]:
        if self.nu is None:
            return super().train(session, weightings, starts, watch)
        parts = splits(session.n_classes, self.multiclass)
        largest = [
            self._largest(session.labels, split, weights)
            for weights in weightings
            for split in parts
        ]
        short = [nu for nu in largest if nu < float(self.nu)]
        if short and session.n_classes == 2 and self.class_weight is None:
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
        return super().train(session, weightings, starts, watch)


def largest_nu(positive: float, negative: float) -> float:
    """The largest nu that the bounds allow, from the weights of the two sides."""
    return float(2 * min(positive, negative) / (positive + negative))
