"""`RBFNetwork`: a network of radial basis functions with adaptive centres and widths."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from largemargin.base.classifier import Classifier
from largemargin.boosting.examples import Examples
from largemargin.boosting.rbf_training import Network, basis_values, train
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.progress import Watch, check_seconds
from largemargin.runtime.showing import shown
from largemargin.runtime.threads import single_thread

SMALLEST_REGULARIZATION = 1e-12


class RBFNetwork(Classifier):
    """A small network of Gaussian basis functions, trained by least squares.

    Centres start from a weighted k-means, widths from the distance to the nearest other centre.
    A few quasi-Newton steps then move both, with the output weights at their optimum throughout.
    It is the weak learner with which regularized AdaBoost was published: weak with few centres and
    few steps, and quick.

    Parameters
    ----------
    n_centers : int, default=10
        Basis functions; at most one for each different row.
    regularization : float, default=1e-6
        Price of the squared output weights, beside the weighted mean of the squared errors.
    max_iter : int, default=10
        Steps on centres and widths; 0 keeps them where they start. Few steps are meant: this
        is no optimisation to run to its end.
    random_state : int, RandomState or None, default=None
        For the start of the k-means.
    max_seconds, verbose, calibrate :
        As for `AdaBoost`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    centers_ : array of shape (n_centers, n_features)
    widths_ : array of shape (n_centers,)
        sigma of exp(-|x - c|^2 / (2 sigma^2)).
    coef_ : array of shape (n_outputs, n_centers)
        Output weights: one output for two classes, else one per class.
    objective_ : float
        Half the weighted mean squared error plus half the price of the weights.
    n_iter_ : int
        Steps made, counted as 1 if there were none.

    See Also
    --------
    AdaBoost : Boosts it, with `estimator=RBFNetwork()`.

    References
    ----------
    Raetsch, G., Onoda, T. and Mueller, K.-R. (2001). Soft margins for AdaBoost. Machine
    Learning 42.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RBFNetwork(n_centers=6, random_state=0).fit(X, y)
    >>> model.centers_.shape
    (6, 4)
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        n_centers: int = 10,
        *,
        regularization: float = 1e-6,
        max_iter: int = 10,
        random_state: Any = None,
        max_seconds: float | None = None,
        verbose: int = 0,
        calibrate: bool = False,
    ) -> None:
        self.n_centers = n_centers
        self.regularization = regularization
        self.max_iter = max_iter
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.verbose = verbose
        self.calibrate = calibrate

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> Self:
        """Train on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Sparse rows are made dense, as centres are.
        y : array of shape (n_samples,)
            Labels of any type.
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 is exactly an example twice, a weight of 0 exactly its absence.

        Returns
        -------
        self
        """
        with self.rolled_back_on_error(), self.calibrating(X, y, sample_weight):
            self.check_parameters()
            examples = Examples.of(self, X, y, sample_weight)
            # the bits of a product depend on its threads
            with self.watch(int(self.max_iter)) as watch, single_thread():
                network = self._train(examples, watch)
            self.classes_ = examples.classes
            self.set_fitted(network)
            self.remember(examples.fingerprint)
        if watch.stopped:
            warnings.warn(
                f"RBFNetwork stopped after {network.n_iter} of {self.max_iter} steps because "
                f"{watch.stopped}. The model can be used",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _train(self, examples: Examples, watch: Watch) -> Network:
        def after_step() -> bool:
            watch.advance(1)
            return not watch.stopped

        return train(
            _dense(examples.X), examples.labels, _targets(len(examples.classes)),
            examples.weights, n_centers=int(self.n_centers),
            regularization=float(self.regularization), max_iter=int(self.max_iter),
            random_state=check_random_state(self.random_state), after_step=after_step,
            look=watch.look,
        )  # fmt: skip

    def set_fitted(self, network: Network) -> None:
        self.centers_ = network.centers
        self.widths_ = network.widths
        self.coef_ = network.weights.T
        self.objective_ = network.objective
        self.n_iter_ = max(1, network.n_iter)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Outputs for the rows of X: one per row for two classes (positive for `classes_[1]`), else
        one per class.
        """
        check_is_fitted(self)
        if not self.is_valid(X):
            X = self.validate(X, reset=False)
        outputs = basis_values(_dense(X), self.centers_, self.widths_) @ self.coef_.T
        return np.asarray(outputs[:, 0] if len(self.classes_) == 2 else outputs)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class with the largest output, for each row of X."""
        return self.classes_of(self.decision_function(X))

    def check_parameters(self) -> None:
        for name, least in (("n_centers", 1), ("max_iter", 0)):
            value: Any = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise ValueError(
                    f"{name} must be an integer of at least {least}, got {shown(value)}"
                )
        price = self.regularization
        number = isinstance(price, Real) and not isinstance(price, bool)
        if not number or not SMALLEST_REGULARIZATION <= price < np.inf:
            raise ValueError(
                f"regularization must be a number of at least {SMALLEST_REGULARIZATION:g} to be "
                f"computed with, got {shown(price)}"
            )
        if not isinstance(self.verbose, Integral):
            raise ValueError(f"verbose must be 0 or 1, got {shown(self.verbose)}")
        check_seconds(self.max_seconds)


def _targets(n_classes: int) -> np.ndarray:
    """What each class wants of the outputs: -1 or 1."""
    if n_classes == 2:
        return np.array([[-1.0], [1.0]])
    return 2.0 * np.eye(n_classes) - 1.0


def _dense(X: Matrix) -> np.ndarray:
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), np.float64)
