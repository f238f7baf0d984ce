"""`ALMA`: the approximate large margin algorithm, on a budget."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from largemargin.online.estimator import OnlineLearner


class ALMA(OnlineLearner):
    """ALMA, the approximate large margin algorithm of Gentile (with the 2-norm), on a budget.

    Examples count by their direction, xh = x/|x|. In the k-th step, made when y w.xh <= (1 - alpha)
    B/sqrt(k), w moves by C/sqrt(k) y xh and is brought back to the unit ball if it has left it. One
    pass over the data, in bounded memory if a budget is given.

    Parameters
    ----------
    alpha : float, default=0.9
        Between 0 and 1: the share of the largest margin that may be missed. Smaller is closer to
        it, with more steps.
    B : float or None, default=None
        Scale of the margin asked for; None is the paper's sqrt(8) / alpha.
    C : float or None, default=None
        Scale of the steps; None is the paper's sqrt(2).
    budget, policy, average, kernel, degree, gamma, coef0, matern_nu, max_seconds, memory, n_jobs, \
    precision, shuffle, random_state, verbose, calibrate :
        As for `AggressivePerceptron`.

    Attributes
    ----------
    classes_, online_errors_, margin_errors_, n_insertions_, n_removals_, cache_sizes_, support_, \
    support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_features_in_, feature_names_in_ :
        As for `AggressivePerceptron`.

    Notes
    -----
    More than two classes are as many problems, each class against the rest, over one cache: one
    weight vector per class, each with its own test, step and count k. An example is a margin error,
    and stored, if it is one for any of them, and redundant for the policies if it clears the margin
    of all. While a stream has shown one class nothing is learned. One weight vector w for two
    classes is that of the second class against the first; when a third appears it becomes the two
    vectors -w and w.

    What the average is, and when it is exact, is said at `AggressivePerceptron`.

    References
    ----------
    Gentile, C. (2001). A new approximate maximal margin classification algorithm. Journal of
    Machine Learning Research 2, 213-242.

    Crammer, K., Kandola, J. and Singer, Y. (2003). Online classification on a budget. Advances in
    Neural Information Processing Systems 16.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ALMA(budget=150)
    >>> for start in range(0, 1000, 100):
    ...     chunk = slice(start, start + 100)
    ...     _ = model.partial_fit(X[chunk], y[chunk])
    >>> model.n_support_, round(model.score(X[1000:], y[1000:]), 3)
    (150, 0.922)
    """

    _rule = "ALMA"

    def __init__(
        self,
        *,
        alpha: float = 0.9,
        B: float | None = None,
        C: float | None = None,
        budget: int | None = None,
        policy: str = "auto",
        average: bool | str = "auto",
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "stream",
        coef0: float = 1.0,
        matern_nu: float = 1.5,
        max_seconds: float | None = None,
        memory: int | str = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        shuffle: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        calibrate: bool = False,
    ) -> None:
        self.alpha = alpha
        self.B = B
        self.C = C
        self.budget = budget
        self.policy = policy
        self.average = average
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.matern_nu = matern_nu
        self.max_seconds = max_seconds
        self.memory = memory
        self.n_jobs = n_jobs
        self.precision = precision
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.calibrate = calibrate

    def rule_settings(self) -> np.ndarray:
        alpha = self.alpha
        if not (isinstance(alpha, Real) and not isinstance(alpha, bool) and 0 < alpha <= 1):
            raise ValueError(f"alpha must lie above 0 and not above 1, got {alpha!r}")
        for name in ("B", "C"):
            value = getattr(self, name)
            number = isinstance(value, Real) and not isinstance(value, bool)
            if value is not None and not (number and 0 < value < np.inf):
                raise ValueError(f"{name} must be None or a positive number, got {value!r}")
        B = np.sqrt(8) / alpha if self.B is None else self.B
        C = np.sqrt(2) if self.C is None else self.C
        return np.array([(1 - alpha) * B, C], dtype=np.float64)
