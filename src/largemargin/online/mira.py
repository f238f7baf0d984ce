"""`MIRA`: the margin infused relaxed algorithm, on a budget."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.online.estimator import OnlineLearner, check_margin


class MIRA(OnlineLearner):
    """MIRA, the margin infused relaxed algorithm of Crammer and Singer, on a budget.

    There is one weight vector per class, and one cache. When m_y.x - max_{r != y} m_r.x <= margin,
    the weight vectors move by m_r += tau_r x, where tau is the solution of a small quadratic
    program: as little as gives the example the margin, and nowhere by more than 1. One pass over
    the data, in bounded memory if a budget is given.

    Parameters
    ----------
    margin : float, default=0.01
        What the true class must lead the best other one by for an example not to be learned.
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
    With two classes the two weight vectors are -w and w, and the decision function is w.x: the
    margin is between the two, 2 y (w.x), and the step is that of the passive-aggressive algorithm
    PA-I with C = 1 for the hinge loss max(0, margin / 2 - y (w.x)). While a stream has shown one
    class nothing is learned.

    What the average is, and when it is exact, is said at `AggressivePerceptron`.

    References
    ----------
    Crammer, K. and Singer, Y. (2003). Ultraconservative online algorithms for multiclass problems.
    Journal of Machine Learning Research 3, 951-991.

    Crammer, K., Kandola, J. and Singer, Y. (2003). Online classification on a budget. Advances in
    Neural Information Processing Systems 16.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = MIRA(budget=150)
    >>> for start in range(0, 1000, 100):
    ...     chunk = slice(start, start + 100)
    ...     _ = model.partial_fit(X[chunk], y[chunk])
    >>> model.n_support_, round(model.score(X[1000:], y[1000:]), 3)
    (150, 0.922)
    """

    _rule = "MIRA"

    def __init__(
        self,
        *,
        margin: float = 0.01,
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
        self.margin = margin
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
        return np.array([check_margin(self.margin), 0.0])
