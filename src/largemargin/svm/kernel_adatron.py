"""`KernelAdatron`: the optimal hyperplane by the simplest of rules, one example at a time.

    z_i     =  sum_j alpha_j y_j k(x_j, x_i)
    alpha_i <- min(max(alpha_i + eta_i (1 - y_i z_i), 0), C)

This climbs the dual of the machine without a threshold, coordinate by coordinate (Friess,
Cristianini & Campbell 1998); 0 < eta_i k(x_i, x_i) < 2 makes every step one upwards. Like the voted
perceptron it is run in blocks, exactly: within a block only the block's own Gram matrix is needed,
and what its steps do to everybody else is one pass over the rows that changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np

from largemargin.base.classifier import check_positive
from largemargin.runtime.arrays import MatrixLike, VectorLike
from largemargin.runtime.progress import Watch
from largemargin.svm.bounds import Criterion, with_bounds
from largemargin.svm.estimator import Fit, SupportVectorMachine
from largemargin.svm.evaluation import Stored
from largemargin.svm.formulations import HINGE, HardMargin, SoftMargin
from largemargin.svm.multiclass import Split, splits
from largemargin.svm.problem import DualResult
from largemargin.svm.session import Session

BLOCK = 512  # examples whose steps are made in one Gram matrix


class KernelAdatron(SupportVectorMachine):
    """The kernel adatron of Friess, Cristianini and Campbell.

    Passes over the data, each example's coefficient moved by what its margin lacks of 1. It finds
    the hyperplane of largest margin through the origin of the feature space; the threshold is put
    halfway between the two classes afterwards.

    Parameters
    ----------
    C : float, default=1.0
        The largest coefficient; `inf` is the hard margin, the algorithm of the paper, which ends
        on data that can be separated only.
    learning_rate : float or "auto", default="auto"
        The step eta. It must lie between 0 and 2 / k(x, x) for every example; "auto" is
        1 / k(x, x) of each example.
    kernel : {"rbf", "linear", "poly", "laplacian", "matern", "sigmoid", "precomputed"} or callable,
    default="rbf"
        The kernel function. A callable takes two blocks of rows and returns the block of values.
    degree, gamma, coef0, matern_nu :
        Parameters of the kernel, as for `SVC`.
    multiclass : {"ovr", "ovo"}, default="ovr"
        One problem per class against the rest, or one per pair.
    fit_intercept : bool, default=True
        Whether to put the threshold halfway between the classes; else it is zero.
    tol : float, default=1e-3
        Passes end when half the distance between the classes' closest scores is at least 1 - tol,
        or no example's margin would move by more than tol.
    max_iter : int, default=1000
        Passes over the data at most; -1 is no limit.
    max_seconds : float or None, default=None
        Stop after so many seconds, with a warning and a model that can be used. So does Ctrl-C.
    memory, n_jobs, precision, verbose, calibrate :
        As for `SVC`.

    Attributes
    ----------
    n_iter_ : array of shape (n_problems,)
        Passes made.
    objective_, dual_gap_, margin_ : arrays of shape (n_problems,)
        Of the machine without a threshold: the dual objective, the relative duality gap reached
        (infinite as long as a hard margin is not met) and 1 / |w|.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_, converged_ :
        As for `SVC`.

    References
    ----------
    Friess, T.-T., Cristianini, N. and Campbell, C. (1998). The kernel-adatron algorithm: a fast and
    simple learning procedure for support vector machines. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelAdatron(C=10.0).fit(X, y)
    >>> round(model.score(X, y), 3)
    0.967
    """

    warm_start = False

    def __init__(
        self,
        *,
        C: float = 1.0,
        learning_rate: float | str = "auto",
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        matern_nu: float = 1.5,
        multiclass: str = "ovr",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        memory: int | str = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        verbose: int = 0,
        calibrate: bool = False,
    ) -> None:
        self.C = C
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.matern_nu = matern_nu
        self.multiclass = multiclass
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.memory = memory
        self.n_jobs = n_jobs
        self.precision = precision
        self.verbose = verbose
        self.calibrate = calibrate

    _in_portions = False
    _may_forget = False  # all examples are passed over again and again
    _merges = False  # one after the other as they were given
    _remedy = "it may need a larger max_iter, or a finite C"

    def fit(self, X: MatrixLike, y: VectorLike) -> Self:  # type: ignore[override]
        """Train on the rows of X; see `SVC.fit`. An online rule has no meaning for weights."""
        return super().fit(X, y)

    def _is_far_off(self, rounding: float) -> bool:
        return False  # it ends by another rule, which leaves what gap it leaves

    def check_parameters(self) -> None:
        super().check_parameters()
        check_positive("C", self.C)
        rate = self.learning_rate
        if rate != "auto" and not (isinstance(rate, Real) and 0 < rate < np.inf):
            raise ValueError(f"learning_rate must be 'auto' or a positive number, got {rate!r}")

    def train(
        self,
        session: Session,
        weightings: Sequence[np.ndarray],
        starts: Sequence[np.ndarray | None],
        watch: Watch,
    ) -> list[Fit]:
        squares = session.kernel.diag(session.X)
        if self.learning_rate == "auto":
            rates = np.divide(1.0, squares, out=np.zeros(session.n), where=squares > 0)
            if not np.isfinite(rates).all():
                raise ValueError(
                    f"k(x, x) of some example is {squares[~np.isfinite(rates)].min():.3g}, too "
                    "little for float64 to compute with: scale the data (to 0..1, say)"
                )
        else:
            rates = np.full(session.n, float(self.learning_rate))
            if not (rates * squares < 2).all():
                raise ValueError(
                    f"learning_rate must be below 2 / k(x, x) for every example, which is "
                    f"{2 / squares.max():.3g} here, got {self.learning_rate!r}"
                )
        coefs, results = [], []
        for split in splits(session.n_classes, self.multiclass):
            mine = np.isin(session.labels, split.classes)
            y = np.where(session.labels == split.positive, 1.0, -1.0) * mine
            found, result = self._climb(session, split, y, rates, watch)
            watch.advance(1)
            coefs.append(found)
            results.append(result)
        return [Fit(np.array(coefs), np.array([m.intercept for m in results]), results)]

    def _climb(
        self, session: Session, split: Split, y: np.ndarray, rates: np.ndarray, watch: Watch
    ) -> tuple[np.ndarray, DualResult]:
        """Pass over the examples (y is 0 for those that do not take part) until it ends."""
        from largemargin.svm.smo import adatron_pass

        order = session.order
        y, rates = y[order], rates[order]
        alpha, z = np.zeros(session.n), np.zeros(session.n)
        ours = np.flatnonzero(y)
        passes, converged = 0, False
        while not converged and passes != self.max_iter and not watch.stopped:
            moved = 0.0
            for k in range(0, len(ours), BLOCK):
                block = ours[k : k + BLOCK]
                before = alpha[block]
                after, local = before.copy(), z[block]
                K = session.gram_of(order[block])
                moved = max(
                    moved, adatron_pass(K, y[block], after, local, rates[block], float(self.C))
                )
                alpha[block] = after
                changed = np.flatnonzero(after != before)
                if len(changed):
                    step = (y[block] * (after - before))[changed]
                    z += session.products(order[block[changed]], step[None])[0]
                watch.advance(0)
            passes += 1
            if not np.isfinite(z).all():
                raise ValueError(
                    f"coefficients grow without bound with C={self.C:g}, since values of "
                    f"{session.kernel} are not positive definite on these data: give a smaller C "
                    "or another kernel"
                )
            converged = moved <= self.tol or (
                np.isinf(self.C) and _half_gap(y, z)[0] >= 1 - self.tol
            )
        full = np.zeros(session.n)
        full[order] = y * alpha
        return full, self._read(session, split, full, passes, converged)

    def _read(
        self, session: Session, split: Split, coefs: np.ndarray, passes: int, converged: bool
    ) -> DualResult:
        examples = session.layout.examples(split)
        y = np.where(session.labels[examples] == split.positive, 1.0, -1.0)
        criterion: Criterion = HardMargin(0.0, False)
        if np.isfinite(self.C):
            criterion = SoftMargin(float(self.C), HINGE, False)
        mine, ones = coefs[examples], np.ones(len(examples))
        outputs = session.evaluation.outputs(
            Stored(split, examples, mine[None]), criterion.near_margin(y, ones, 0.0), passes
        )
        half, middle = _half_gap(y, outputs[0].values[0])
        intercept = -middle if self.fit_intercept else 0.0
        result = DualResult(mine, intercept, 0.0, np.inf, 0.0, 1 - half, passes, converged)
        reach = session.evaluation.reach
        return with_bounds(
            result, [criterion.bounds(y, ones, mine, 0.0, one, reach) for one in outputs]
        )


def _half_gap(y: np.ndarray, z: np.ndarray) -> tuple[float, float]:
    """Half the distance between the closest scores of the two classes, and what lies halfway."""
    low, high = float(z[y > 0].min()), float(z[y < 0].max())
    return (low - high) / 2, (low + high) / 2
