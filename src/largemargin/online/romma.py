"""`ROMMA`: the relaxed online maximum margin algorithm, on a budget."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.online.estimator import OnlineLearner


class ROMMA(OnlineLearner):
    """ROMMA, the relaxed online maximum margin algorithm of Li and Long, on a budget.

    After an example that is not classified well enough, w becomes the shortest vector that gives it
    the margin 1 and keeps to a half-space that stands for all the examples before. One pass over
    the data, in bounded memory if a budget is given.

    Parameters
    ----------
    aggressive : bool, default=True
        Learn whenever y (w.x) < 1, not only on mistakes, y (w.x) <= 0.
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
    weight vector per class, each with its own test, step and scaling. An example is a margin error,
    and stored, if it is one for any of them, and redundant for the policies if it clears the margin
    of all. While a stream has shown one class nothing is learned. One weight vector w for two
    classes is that of the second class against the first; when a third appears it becomes the two
    vectors -w and w.

    On data that cannot be separated w grows; where it would outgrow the numbers, or an example
    contradicts it outright, it starts anew from that example.

    What the average is, and when it is exact, is said at `AggressivePerceptron`.

    References
    ----------
    Li, Y. and Long, P. M. (2002). The relaxed online maximum margin algorithm. Machine Learning
    46, 361-387.

    Crammer, K., Kandola, J. and Singer, Y. (2003). Online classification on a budget. Advances in
    Neural Information Processing Systems 16.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ROMMA(budget=150)
    >>> for start in range(0, 1000, 100):
    ...     chunk = slice(start, start + 100)
    ...     _ = model.partial_fit(X[chunk], y[chunk])
    >>> model.n_support_, round(model.score(X[1000:], y[1000:]), 3)
    (150, 0.921)
    """

    _rule = "ROMMA"

    def __init__(
        self,
        *,
        aggressive: bool = True,
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
        self.aggressive = aggressive
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
        if not isinstance(self.aggressive, bool | np.bool_):
            raise ValueError(f"aggressive must be True or False, got {self.aggressive!r}")
        return np.array([1.0 if self.aggressive else 0.0, 0.0])
