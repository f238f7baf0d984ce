"""`AdaBoost`: a convex combination of classifiers with large margins."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from largemargin.base.classifier import Classifier, checked_weights
from largemargin.base.labels import numbers_in
from largemargin.boosting.examples import Examples
from largemargin.boosting.rounds import Ensemble, Learner, boost
from largemargin.boosting.weak_learners import (
    EstimatorLearner,
    Stump,
    StumpLearner,
    check_estimator,
    column,
)
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.progress import check_seconds
from largemargin.runtime.showing import shown


class AdaBoost(Classifier):
    """AdaBoost of Freund and Schapire, and its regularized form.

    Rounds of a weak learner, each on the examples weighted by how they fared so far; the answer is
    the convex combination f = sum_t alpha_t g_t / sum_t alpha_t of the classifiers found. Two
    classes are exactly the table of the textbook (below); more are SAMME, which is the same with
    ln(K - 1) added in alpha.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The base learner: any scikit-learn classifier whose `fit` takes `sample_weight`. It is
        cloned for each round, with a seed drawn from `random_state`, and fitted with weights that
        add up to 1. None is stumps of minimum weighted error, found exactly: one feature, one
        threshold, a class on either side (two sides, two classes, of all that there are).
    n_rounds : int, default=100
        Rounds at most. They end before that with a classifier that makes no error: its alpha is
        infinite, and f is that classifier alone. They also end with one that is no better than
        chance (weighted error 1/2, or 1 - 1/K for K classes), which is left out; if it is the very
        first, it is kept alone, with a warning.
    regularization : float, default=0.0
        C of AdaBoost_Reg: how much is forgiven of an example that had much weight in earlier
        rounds. Weights add up to 1 and their squares count, so useful values grow with the square
        of the number of examples: 1,000 to 10,000 for some hundreds. 0 is AdaBoost.
    random_state : int, RandomState or None, default=None
        For the seeds of the base learner. Stumps draw nothing.
    max_seconds : float or None, default=None
        Stop after so many seconds, with a warning and a model that can be used. So does Ctrl-C.
    verbose : int, default=0
        1 shows a progress bar.
    calibrate : bool, default=False
        Whether to fit sigmoids that make probabilities of scores, which `predict_proba` gives. Five
        fits on parts of the data score the rows that each leaves out.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    estimators_ : list
        The classifiers g_t; of stumps, `Stump` with `feature`, `threshold`, `left`, `right`.
    alphas_ : array of shape (n_iter_,)
        Their coefficients alpha_t, before division by the sum.
    weighted_errors_ : array of shape (n_iter_,)
        Their weighted errors eps_t, each in its own round.
    n_iter_ : int
        Rounds kept.
    ended_ : str
        Why there were no more: "n_rounds", "zero error", "chance", or what stopped them.

    See Also
    --------
    RBFNetwork : The base learner of the published comparison.
    sklearn.ensemble.AdaBoostClassifier : SAMME on trees that split by impurity.

    References
    ----------
    Freund, Y. and Schapire, R. E. (1997). A decision-theoretic generalization of on-line learning
    and an application to boosting. Journal of Computer and System Sciences 55.

    Smola, A. J., Bartlett, P. L., Schoelkopf, B. and Schuurmans, D., eds. (2000). Advances in Large
    Margin Classifiers. MIT Press. Table 1.2 and theorem 1.12.

    Raetsch, G., Onoda, T. and Mueller, K.-R. (2001). Soft margins for AdaBoost. Machine
    Learning 42.

    Zhu, J., Zou, H., Rosset, S. and Hastie, T. (2009). Multi-class AdaBoost. Statistics and
    Its Interface 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoost(n_rounds=50).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 3)
    0.951
    >>> model.estimators_[0]
    Stump(feature=22, threshold=112.85, left=np.int64(1), right=np.int64(0))
    >>> model.margin_error(X[::2], y[::2], 0.1) <= model.margin_error_bound(0.1)
    True
    """

    _needs_scaling = False  # stumps compare the values of one column

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rounds: int = 100,
        regularization: float = 0.0,
        random_state: Any = None,
        max_seconds: float | None = None,
        verbose: int = 0,
        calibrate: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_rounds = n_rounds
        self.regularization = regularization
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.verbose = verbose
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__") and not isinstance(self.estimator, type):
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    @property
    def _accepts_sparse(self) -> bool | str:  # type: ignore[override]
        return "csr" if self.__sklearn_tags__().input_tags.sparse else False

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> Self:
        """Train on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Labels of any type.
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 is exactly an example twice, a weight of 0 exactly its absence, as far as
            the base learner means that too.

        Returns
        -------
        self
        """
        with self.rolled_back_on_error(), self.calibrating(X, y, sample_weight):
            self.check_parameters()
            examples = Examples.of(self, X, y, sample_weight)
            learner = self._learner(examples)
            with self.watch(int(self.n_rounds)) as watch:
                ensemble = boost(
                    learner, examples, n_rounds=int(self.n_rounds),
                    regularization=float(self.regularization), watch=watch,
                )  # fmt: skip
            self.set_fitted(ensemble, examples.classes)
            self.remember(examples.fingerprint)
        self.warn_unless_converged()
        return self

    def _learner(self, examples: Examples) -> Learner:
        if self.estimator is None:
            return StumpLearner(examples)
        return EstimatorLearner(self.estimator, examples, check_random_state(self.random_state))

    def set_fitted(self, ensemble: Ensemble, classes: np.ndarray) -> None:
        self.classes_ = classes
        self.estimators_ = ensemble.classifiers
        self.alphas_ = np.array(ensemble.alphas)
        self.weighted_errors_ = np.array(ensemble.errors)
        self.n_iter_ = len(ensemble.classifiers)
        self.ended_ = ensemble.ended

    def warn_unless_converged(self) -> None:
        """Warn of a fit that is not what was asked for."""
        if self.alphas_[0] == 0:
            message = (
                "the base learner is no better than chance in the first round (weighted error "
                f"{self.weighted_errors_[0]:.3g}): AdaBoost is that classifier alone; use another "
                "estimator"
            )
        elif self.ended_ not in ("n_rounds", "zero error", "chance"):
            message = (
                f"AdaBoost stopped after {self.n_iter_} of {self.n_rounds} rounds because "
                f"{self.ended_}. The model can be used"
            )
        else:
            return
        warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """f for the rows of X, from -1 to 1 (positive for `classes_[1]`); with more than two
        classes the share of the vote of each, from 0 to 1.
        """
        (scores,) = deque(self._staged_scores(X), maxlen=1)
        return scores

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class with the largest score, for each row of X."""
        return self.classes_of(self.decision_function(X))

    def staged_decision_function(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """`decision_function` after each round."""
        yield from self._staged_scores(X)

    def staged_predict(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """`predict` after each round."""
        for scores in self._staged_scores(X):
            yield self.classes_of(scores)

    def margins(self, X: MatrixLike, y: VectorLike) -> np.ndarray:
        """The margin of each row: y f(x) with y of -1 and 1; with more than two classes its share
        of the vote less the largest share of another class. From -1 to 1, positive if right.
        """
        labels = self._labels_of(X, y)
        return self.margins_of(self.decision_function(X), labels)

    def staged_margins(self, X: MatrixLike, y: VectorLike) -> Iterator[np.ndarray]:
        """`margins` after each round."""
        labels = self._labels_of(X, y)
        for scores in self._staged_scores(X):
            yield self.margins_of(scores, labels)

    def margin_error(
        self, X: MatrixLike, y: VectorLike, rho: float, sample_weight: VectorLike = None
    ) -> float:
        """The share of rows with a margin below rho, (1.30); rho = 0 counts errors without ties."""
        _check_rho(rho)
        margins = self.margins(X, y)
        weights = checked_weights(X, margins, sample_weight)
        return float(weights[margins < rho].sum() / weights.sum())

    def margin_error_bound(self, rho: float) -> float:
        """What theorem 1.12 says the margin error on the training data is at most.

        For two classes, (1.86), and for K of them by the same proof, since a margin is at least
        twice the share of the own class less 1:

            2^T prod_t sqrt(eps_t^(1 - rho) (1 - eps_t)^(1 + rho))
            prod_t K / (K - 1) eps_t ((K - 1) (1 - eps_t) / eps_t)^((1 + rho) / 2)

        Parameters
        ----------
        rho : float
            The margin.

        Raises
        ------
        ValueError
            With `regularization`, for which the theorem does not hold.
        """
        check_is_fitted(self)
        _check_rho(rho)
        if self.regularization != 0:
            raise ValueError(
                "theorem 1.12 is about AdaBoost, not about AdaBoost_Reg: it needs "
                f"regularization=0, got {shown(self.regularization)}"
            )
        errors, others = self.weighted_errors_, len(self.classes_) - 1
        if self.alphas_[0] == 0:
            return 1.0  # alpha = 0: the product is empty
        with np.errstate(divide="ignore"):
            logs = np.log1p(1 / others) + xlogy((1 - rho) / 2, errors)
            logs += (1 + rho) / 2 * (np.log(others) + np.log1p(-errors))
        return float(np.exp(logs.sum()))

    def _staged_scores(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """f after each round."""
        check_is_fitted(self)
        X = self.validate(X, reset=False)
        n, two = X.shape[0], len(self.classes_) == 2
        votes = np.zeros(n) if two else np.zeros((n, len(self.classes_)))
        total = 0.0
        for alpha, answers in zip(self.alphas_, self._answers(X), strict=True):
            if np.isinf(alpha) or alpha == 0:  # no error, or no better than chance: this one alone
                votes[:], total, alpha = 0.0, 0.0, 1.0
            if two:
                votes += np.where(answers == 1, alpha, -alpha)
            else:
                votes[np.arange(n), answers] += alpha
            total += alpha
            yield votes / total

    def _answers(self, X: Matrix) -> Iterator[np.ndarray]:
        """The class numbers that each classifier answers with."""
        if self.estimators_ and isinstance(self.estimators_[0], Stump):
            yield from self._stump_answers(X)
            return
        for classifier in self.estimators_:
            yield numbers_in(self.classes_, classifier.predict(X))

    def _stump_answers(self, X: Matrix) -> Iterator[np.ndarray]:
        X = sp.csc_array(X) if sp.issparse(X) else X
        pairs = [[stump.left, stump.right] for stump in self.estimators_]
        sides = numbers_in(self.classes_, np.array(pairs, self.classes_.dtype))
        columns: dict[int, np.ndarray] = {}
        for stump, (left, right) in zip(self.estimators_, sides, strict=True):
            if stump.feature not in columns:
                columns[stump.feature] = np.ascontiguousarray(column(X, stump.feature))
            yield np.where(columns[stump.feature] <= stump.threshold, left, right)

    def _labels_of(self, X: MatrixLike, y: VectorLike) -> np.ndarray:
        check_is_fitted(self)
        y = np.asarray(y)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if y.shape != (n,):
            raise ValueError(f"y must have one label for each of {n} rows, got shape {y.shape}")
        labels = numbers_in(self.classes_, y)
        if (labels < 0).any():
            label = y.tolist()[int(np.argmin(labels))]
            raise ValueError(
                f"y has the label {shown(label)}, which is not among those of the training data"
            )
        return labels

    def margins_of(self, scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
        if scores.ndim == 1:
            return np.where(labels == 1, scores, -scores)
        others = scores.copy()
        rows = np.arange(len(labels))
        others[rows, labels] = -np.inf
        return np.asarray(scores[rows, labels] - others.max(axis=1))

    def check_parameters(self) -> None:
        rounds: Any = self.n_rounds
        if not isinstance(rounds, Integral) or isinstance(rounds, bool) or rounds < 1:
            raise ValueError(f"n_rounds must be a positive integer, got {shown(rounds)}")
        C = self.regularization
        if not isinstance(C, Real) or isinstance(C, bool) or not 0 <= C < np.inf:
            raise ValueError(f"regularization must be a number of at least 0, got {shown(C)}")
        if not isinstance(self.verbose, Integral):
            raise ValueError(f"verbose must be 0 or 1, got {shown(self.verbose)}")
        check_seconds(self.max_seconds)
        if self.estimator is not None:
            check_estimator(self.estimator)


def _check_rho(rho: Any) -> None:
    if not isinstance(rho, Real) or isinstance(rho, bool) or not np.isfinite(float(rho)):
        raise ValueError(f"rho must be a number, and has a meaning from -1 to 1, got {shown(rho)}")
