"""`AggressivePerceptron`: the perceptron with a margin, on a budget."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.online.estimator import OnlineLearner, check_margin


class AggressivePerceptron(OnlineLearner):
    """The aggressive perceptron of Crammer, Kandola and Singer, which bounds what it stores.

    An example that is not classified with the margin is added to the weight vector: with two
    classes, w += y x whenever y (w.x) <= margin. With more there is one weight vector per class and
    one cache: when m_y.x - max_{r != y} m_r.x <= margin, x is added to the weight vector of the
    true class y and subtracted from that of the best other one. One pass over the data, in bounded
    memory if a budget is given.

    Parameters
    ----------
    margin : float, default=0.01
        What an example must clear not to be learned.
    budget : int or None, default=None
        The most examples stored; None is no limit.
    policy : {"auto", "distill", "keep", "margin", "forgetron", "random", "projectron"},
    default="auto"
        What is stored. Without a budget "distill" ("auto"): after each insertion, examples that
        would be classified with the margin without themselves are removed; or "keep": none is.
        With one, a full cache takes no more, and new examples are projected onto the span of the
        stored ones ("projectron", "auto"); or it loses the example that would be classified best
        without itself ("margin", the paper's rule), any one ("random"), or the oldest after
        everything has been shrunk ("forgetron").
    average : bool or "auto", default="auto"
        Answer with the average of the vectors over the stream ("auto") instead of the last ones,
        which are the paper's; see Notes.
    kernel : {"rbf", "linear", "poly", "laplacian", "matern", "sigmoid", "precomputed"} or callable,
    default="rbf"
        The kernel function. A callable takes two blocks of rows and returns the block of values.
    degree : int, default=3
        Degree of the polynomial (gamma a.b + coef0)^degree.
    gamma : float, "stream", "auto" or "scale", default="stream"
        Kernel coefficient; "stream" is 1 / (n_features * variance) of the first hundred examples,
        see Notes, "auto" is 1 / n_features, "scale" 1 / (n_features * X.var()), in `fit` only.
    coef0 : float, default=1.0
        Constant of the polynomial and sigmoid kernels.
    matern_nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness of the Matern kernel.
    max_seconds : float or None, default=None
        Stop `fit` after so many seconds, with a warning and a model of what was seen so far. Ctrl-C
        does the same.
    memory : int or str, default="auto"
        Bytes, or a size such as "500MB", for kernel values held at any time. "auto" is half of what
        is free. Not one bit of the model depends on it.
    n_jobs : int or None, default=None
        Threads. None is every core this process may use, within the BLAS and OpenMP limits in
        force, and 1 inside a joblib worker; note that scikit-learn's None means 1. Not one bit of
        the model, or of its scores, depends on it.
    precision : {"auto", "float32", "float64"}, default="auto"
        The type of kernel values; sums are always float64. "auto" is float64 for up to 8,192 rows
        and float32 beyond; with `partial_fit` it follows the type of the first chunk.
    shuffle : bool, default=True
        Have `fit` visit the rows in a random order, drawn from `random_state`; rows that are
        sorted by class would fill a budget with the first ones. False is their own order, as in the
        paper. `partial_fit` always keeps the order of the stream.
    random_state : int, RandomState or None, default=None
        For `shuffle` and policy="random". With None the order comes from a fixed seed, so that two
        fits are equal.
    verbose : int, default=0
        1 shows a progress bar.
    calibrate : bool, default=False
        Whether to fit sigmoids that make probabilities of scores, which `predict_proba` gives. Five
        fits on parts of the data score the rows that each leaves out. `partial_fit` cannot do that.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    online_errors_ : int
        Examples that were misclassified when they came, before they were learned; a score of
        exactly zero, or a tie with another class, is an error.
    margin_errors_ : int
        Examples that did not clear the margin when they came, online errors among them.
    n_insertions_, n_removals_ : int
        Examples stored, and of these dropped again.
    cache_sizes_ : array of shape (n_entries, 2)
        Examples seen and examples then stored, at equal distances along the stream. There are at
        most 1,024 entries; the distance grows with the stream.
    support_, support_vectors_, n_support_ :
        The stored examples: their sorted positions in the training data, or in the stream, their
        rows, their number.
    dual_coef_, intercept_, coef_ :
        f = dual_coef_ @ K(support_vectors_, x) + intercept_, one row for two classes and otherwise
        one per class; the intercept is 0. `coef_` with the linear kernel only.
    n_features_in_, feature_names_in_ :
        As everywhere in scikit-learn.

    Notes
    -----
    While a stream has shown one class nothing is learned. One vector w for two classes becomes the
    two vectors -w and w when a third class appears.

    With policy="distill" and data that a unit vector separates with margin gamma, at most
    (R^2 + 2 margin) / gamma^2 examples are stored, R being the largest norm.

    The average is that over the stream of the weight vectors after each example, kept in the
    coefficients of the stored examples. It is exact as long as nothing is evicted; the part of an
    example that is evicted is handed over to the stored ones that are most like it: its projection
    onto up to 16 of them, found by matching pursuit. It must be asked for before the first example.

    What "auto" is was chosen by `python -m benchmarks budgets`: over thirteen streams with up to
    30 % wrong labels, the projectron with the average has the least mean error with each of the
    four learners, and the least or nearly so on each stream. The algorithm of the paper is
    policy="margin", average=False, shuffle=False.

    With gamma="stream", `partial_fit` holds the first hundred examples back. With the hundredth
    gamma is fixed, and they are learned in their order. Until then the model answers as learning
    the ones so far would make it, with the gamma of these. Its counts are those of that model; once
    gamma is fixed, those of learning the hundred with it. `fit` takes gamma from the first hundred
    rows that it visits, or from all if there are fewer.

    References
    ----------
    Crammer, K., Kandola, J. and Singer, Y. (2003). Online classification on a budget. Advances in
    Neural Information Processing Systems 16.

    Dekel, O., Shalev-Shwartz, S. and Singer, Y. (2008). The Forgetron: a kernel-based perceptron on
    a budget. SIAM Journal on Computing 37, 1342-1372.

    Orabona, F., Keshet, J. and Caputo, B. (2009). Bounded kernel-based online learning. Journal of
    Machine Learning Research 10, 2643-2666.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = AggressivePerceptron(budget=150)
    >>> for start in range(0, 1000, 100):
    ...     chunk = slice(start, start + 100)
    ...     _ = model.partial_fit(X[chunk], y[chunk])
    >>> model.n_support_, round(model.score(X[1000:], y[1000:]), 3)
    (150, 0.92)
    """

    _rule = "AggressivePerceptron"

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
