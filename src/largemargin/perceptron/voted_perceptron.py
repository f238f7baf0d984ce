"""`VotedPerceptron`: the estimator around the online pass, its trace and the rules that read it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from largemargin.base.fingerprint import fingerprint
from largemargin.base.labels import (
    check_same_classes,
    find_classes,
    named_classes,
    numbers_in,
    too_few,
)
from largemargin.kernels.choosing import WithConstant, kernel_of
from largemargin.kernels.engine import (
    SMALL_PROBLEM,
    check_overflow,
    choose_dtype,
    largest_square,
    prepare,
)
from largemargin.kernels.functions import Kernel
from largemargin.perceptron.learner import Outcome, Pass, PerceptronState
from largemargin.perceptron.reading import TraceReader
from largemargin.perceptron.rules import METHODS, count_right
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike, taken
from largemargin.runtime.memory import memory_bytes
from largemargin.runtime.progress import check_seconds
from largemargin.runtime.showing import listed, shown

FIXED_SEED = 1  # of the order of the examples, if no random_state is given


class VotedPerceptron(TraceReader):
    """The voted perceptron of Freund and Schapire, with kernels.

    One or more passes of the perceptron over the data, example by example, after which all the
    prediction vectors that it went through decide together. More than two classes are as many
    problems, each class against the rest; the largest score wins.

    Parameters
    ----------
    kernel : {"poly", "linear", "rbf", "laplacian", "matern", "sigmoid", "precomputed"} or callable,
    default="poly"
        The kernel function. A callable takes two blocks of rows and returns the block of values.
        With "linear" the current prediction vectors are held explicitly and training makes no
        kernel values.
    degree : int, default=4
        Degree of the polynomial (gamma a.b + coef0)^degree.
    gamma : float, "auto" or "scale", default="auto"
        Kernel coefficient; "auto" is 1 / n_features, "scale" is 1 / (n_features * X.var()), which
        `fit` knows but not `partial_fit`.
    coef0 : float, default=1.0
        Constant of the polynomial and sigmoid kernels.
    matern_nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness of the Matern kernel.
    epochs : int, default=10
        Passes over the data. An epoch without a mistake ends the fit, since nothing would change
        any more. The paper's online algorithm is epochs=1, shuffle=False; `partial_fit` always
        makes one pass.
    method : {"vote", "average", "last", "random", "longest", "pocket", "holdout"}, default="vote"
        How the prediction vectors decide; see Notes. "pocket" and "holdout" look at data again when
        fitting, so they must be chosen before `fit`; between the others one may change at any time.
    normalize : bool, default=False
        Divide every prediction vector by its norm before it is used. It does not change a vote.
    fit_intercept : bool, default=False
        Add the constant coordinate of the perceptron with a threshold: the kernel k(a, b) + 1 in
        place of k(a, b).
    shuffle : bool, default=True
        Visit the examples in a random order, drawn once from `random_state` and kept in every
        epoch; data that are sorted by class teach little otherwise. `partial_fit` always keeps the
        order of the stream.
    validation_fraction : float, default=0.1
        The part of the data that "holdout" holds out.
    max_seconds : float or None, default=None
        Stop training after so many seconds, with a warning and a model of what was seen so far.
        Ctrl-C does the same.
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
    random_state : int, RandomState or None, default=None
        For `shuffle`, the held-out part, and the draws of "random", made afresh in each call. With
        None the order and the held-out part come from a fixed seed, so that two fits are equal.
    verbose : int, default=0
        1 shows a progress bar.
    calibrate : bool, default=False
        Whether to fit sigmoids that make probabilities of scores, which `predict_proba` gives. Five
        fits on parts of the data score the rows that each leaves out. `partial_fit` cannot do that.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    trace_ : Trace
        The mistakes in the order in which they were made: the model itself.
    n_mistakes_ : array of shape (n_problems,)
        Mistakes made in training; one problem for two classes, else one per class.
    n_epochs_ : int
        Epochs begun.
    converged_ : bool
        Whether the last epoch had no mistake, so that the last vector is right on every example
        that it was trained on. A stream never shows that, since it does not look at an example
        again: after `partial_fit` it stays True only if `fit` had converged before and no mistake
        was made since.
    support_, support_vectors_, n_support_ :
        The examples on which a mistake was made: their sorted positions in the training data or the
        stream, their rows, their number.
    dual_coef_, intercept_, coef_ :
        f = dual_coef_ @ K(support_vectors_, x) + intercept_ for the vector that `method` and
        `normalize` mean; for "vote" and "random", which are not one vector, the last one. `coef_`
        with the linear kernel only.
    n_features_in_, feature_names_in_ :
        As everywhere in scikit-learn.

    Notes
    -----
    A score of exactly zero is a mistake. "vote" sums the signs and "average" the scores of all
    prediction vectors, weighted by the number of steps that each survived; "last" is the final
    vector, "random" the one alive at a random moment, "longest" the longest survivor, "pocket"
    Gallant's pocket with ratchet, and "holdout", after Littlestone, the one with the fewest errors
    on held-out data.

    References
    ----------
    Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron
    algorithm. Machine Learning 37, 277-296.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = VotedPerceptron(degree=3).fit(X[:1000], y[:1000])
    >>> round(model.score(X[1000:], y[1000:]), 3)
    0.94

    The paper's setting, one pass in the order of the data, which is what `partial_fit` does:

    >>> paper = VotedPerceptron(degree=3, epochs=1, shuffle=False).fit(X[:1000], y[:1000])
    >>> round(paper.score(X[1000:], y[1000:]), 3)
    0.931
    """

    def __init__(
        self,
        *,
        kernel: Any = "poly",
        degree: int = 4,
        gamma: float | str = "auto",
        coef0: float = 1.0,
        matern_nu: float = 1.5,
        epochs: int = 10,
        method: str = "vote",
        normalize: bool = False,
        fit_intercept: bool = False,
        shuffle: bool = True,
        validation_fraction: float = 0.1,
        max_seconds: float | None = None,
        memory: int | str = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
        calibrate: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.matern_nu = matern_nu
        self.epochs = epochs
        self.method = method
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.validation_fraction = validation_fraction
        self.max_seconds = max_seconds
        self.memory = memory
        self.n_jobs = n_jobs
        self.precision = precision
        self.random_state = random_state
        self.verbose = verbose
        self.calibrate = calibrate

    def fit(self, X: MatrixLike, y: VectorLike) -> Self:
        """Run `epochs` times over the training data.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            For kernel="precomputed", the kernel matrix of shape (n_samples, n_samples).
        y : array of shape (n_samples,)
            Labels of any type.

        Returns
        -------
        self
        """
        with self.rolled_back_on_error(), self.calibrating(X, y):
            return self._fit(X, y)

    def _fit(self, X: MatrixLike, y: VectorLike) -> Self:
        self.check_parameters()
        X, y = self._rows_and_labels(X, y)
        classes, labels = find_classes(y)
        if len(classes) < 2:
            raise too_few(type(self).__name__, classes)
        random_state = check_random_state(
            FIXED_SEED if self.random_state is None else self.random_state
        )
        order = random_state.permutation(len(y)) if self.shuffle else np.arange(len(y))
        held_out = np.empty(0, np.int64)
        if self.method == "holdout":
            order, held_out = self._hold_out(order, labels, random_state)

        kernel = self._make_kernel(X)
        dtype = choose_dtype(self.precision, X.shape[0] <= SMALL_PROBLEM, kernel, X)
        data = prepare(X, kernel, dtype)
        state = PerceptronState(kernel, dtype, _n_problems(classes))
        state.trace.epoch_length = len(order)
        outcome = self._learn(
            state, taken(data, order) if len(order) < len(y) or self.shuffle else data,
            labels[order], _positive(classes), order,
            epochs=self.epochs, verbose=self.verbose, max_seconds=self.max_seconds,
            interruptible=True,
        )  # fmt: skip
        state.n_seen = len(y)  # held-out examples have positions too
        correct = None
        if self.method in ("pocket", "holdout"):
            look = held_out if self.method == "holdout" else order
            truth = _signs(labels[look], _positive(classes))
            correct = self._count_right(taken(data, look), truth, state)
        self.set_fitted(state, classes, outcome, correct)
        self.remember(fingerprint(X, classes, labels))
        if outcome.stopped:
            warnings.warn(
                f"stopped after {state.trace.n_steps / len(order):.3g} of {self.epochs} epochs "
                f"because {outcome.stopped}; the model is of what was seen so far",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def partial_fit(self, X: MatrixLike, y: VectorLike, classes: VectorLike = None) -> Self:
        """Go on with the next examples of a stream: one pass over them, in their order.

        `epochs` and `shuffle` have no part in it. Any chunking of the same stream gives the trace
        that `fit` with epochs=1 and shuffle=False gives: exactly where kernel values are integers,
        and elsewhere unless a score lies within rounding of zero. A chunk that fails leaves the
        model as it was.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array of shape (n_classes,)
            All the labels that will occur; needed in the first call.

        Returns
        -------
        self
        """
        with self.rolled_back_on_error():
            return self._partial_fit(X, y, classes)

    def _partial_fit(self, X: MatrixLike, y: VectorLike, classes: VectorLike) -> Self:
        self.check_parameters()
        self.check_streaming()
        self.check_uncalibrated()
        first = not hasattr(self, "trace_")
        if first and classes is None:
            raise ValueError(
                "classes must be given in the first call to partial_fit: all labels to come"
            )
        X, y = self.validate(X, y, reset=first)
        known = named_classes(classes) if first else self.classes_
        if not first and classes is not None:
            check_same_classes(classes, known)
        labels = numbers_in(known, y)
        if (strange := labels < 0).any():
            raise ValueError(
                f"y holds the label {shown(y[strange].tolist()[0])}, which is not in classes="
                f"{listed(known.tolist())}: name every label in the first call to partial_fit"
            )
        record = self.record_with(first, X, known, labels)
        if first:
            kernel = self._make_kernel(X)
            dtype = choose_dtype(self.precision, X.dtype != np.float32, kernel, X)
            state = PerceptronState(kernel, dtype, _n_problems(known))
        else:
            state = self._state
            if state.kernel.on_products:
                check_overflow(state.kernel, state.basis.dtype, largest_square(X))
        one_pass = state.trace.n_steps == state.n_seen  # a stream is one epoch, as long as it lasts
        self._learn(
            state, prepare(X, state.kernel, state.basis.dtype), labels, _positive(known),
            np.arange(state.n_seen, state.n_seen + X.shape[0]), epochs=1, verbose=0,
            max_seconds=None, interruptible=False,
        )  # fmt: skip
        if one_pass:
            state.trace.epoch_length = state.n_seen
        n_epochs = 1 if first else self.n_epochs_
        self.set_fitted(state, known, Outcome(n_epochs, state.settled, ""), None)
        self._record = record
        return self

    def check_parameters(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}")
        if (
            not isinstance(self.epochs, Integral)
            or isinstance(self.epochs, bool)
            or self.epochs < 1
        ):
            raise ValueError(f"epochs must be a positive integer, got {self.epochs!r}")
        for name in ("normalize", "fit_intercept", "shuffle"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{name} must be True or False, got {value!r}")
        if not isinstance(self.verbose, Integral):
            raise ValueError(f"verbose must be 0 or 1, got {self.verbose!r}")
        check_seconds(self.max_seconds)
        fraction = self.validation_fraction
        if not isinstance(fraction, Real) or not 0 < fraction < 1:
            raise ValueError(f"validation_fraction must lie between 0 and 1, got {fraction!r}")

    def check_streaming(self) -> None:
        if self.method in ("pocket", "holdout"):
            raise ValueError(
                f"method={self.method!r} looks at the data again, which a stream does not keep: "
                "use fit, or another method"
            )
        if self.kernel == "precomputed":
            raise ValueError(
                "partial_fit needs examples, not kernel='precomputed', whose columns a stream lacks"
            )
        if isinstance(self.gamma, str) and self.gamma == "scale" and not hasattr(self, "trace_"):
            raise ValueError(
                "gamma='scale' needs the variance of all the data, which a stream does not have: "
                "use gamma='auto' or a number"
            )

    def _rows_and_labels(self, X: MatrixLike, y: VectorLike) -> tuple[Matrix, np.ndarray]:
        """What `fit` was given, checked."""
        checked: tuple[Matrix, np.ndarray] = self.validate(X, y, reset=True)
        return checked

    def _count_right(self, X: Matrix, truth: np.ndarray, state: PerceptronState) -> np.ndarray:
        """How many rows of X each prediction vector gets right."""
        return count_right(
            X, truth, state.basis, state.trace, n_jobs=self.n_jobs, memory=self.memory
        )

    def _make_kernel(self, X: Matrix) -> Kernel:
        kernel = kernel_of(self, X)
        return WithConstant(kernel) if self.fit_intercept else kernel

    def _hold_out(
        self, order: np.ndarray, labels: np.ndarray, random_state: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Part `order` into what is trained on, in its order, and what is held out."""
        held = round(self.validation_fraction * len(order))
        chosen = np.zeros(len(order), bool)
        chosen[random_state.permutation(len(order))[:held]] = True
        if not 0 < held < len(order) or len(np.unique(labels[order[~chosen]])) < 2:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of {len(order)} examples leaves "
                "nothing to train on or nothing to hold out: give more data or another fraction"
            )
        return order[~chosen], order[chosen]

    def _learn(
        self,
        state: PerceptronState,
        X: Matrix,
        labels: np.ndarray,
        positive: np.ndarray,
        positions: np.ndarray,
        *,
        epochs: int,
        verbose: int,
        max_seconds: float | None,
        interruptible: bool,
        make_pass: Callable[..., Pass] | None = None,
    ) -> Outcome:
        watch = self.watch(
            epochs * X.shape[0], "voted perceptron", verbose=verbose, max_seconds=max_seconds,
            interruptible=interruptible,
        )  # fmt: skip
        return state.learn(
            X, labels, positive, positions, epochs=epochs, n_jobs=self.n_jobs,
            memory=memory_bytes(self.memory), watch=watch, make_pass=make_pass,
        )  # fmt: skip

    def set_fitted(
        self,
        state: PerceptronState,
        classes: np.ndarray,
        outcome: Outcome,
        correct: np.ndarray | None,
    ) -> None:
        self.classes_ = classes
        self.trace_ = state.trace
        self.n_mistakes_ = state.trace.n_mistakes()
        self.n_epochs_ = outcome.n_epochs
        self.converged_ = outcome.converged
        self._state = state
        self._correct = correct
        self._looked = self.method if correct is not None else ""


def _n_problems(classes: np.ndarray) -> int:
    return 1 if len(classes) == 2 else len(classes)


def _positive(classes: np.ndarray) -> np.ndarray:
    """The class number that is +1 in each problem."""
    return np.array([1]) if len(classes) == 2 else np.arange(len(classes))


def _signs(labels: np.ndarray, positive: np.ndarray) -> np.ndarray:
    return np.where(labels[None, :] == positive[:, None], 1.0, -1.0)
