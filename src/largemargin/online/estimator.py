"""What all online learners share: parameters, chunks, classes as they appear, what is shown."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from largemargin.base.expansion import Expansion, ExpansionClassifier
from largemargin.base.fingerprint import fingerprint
from largemargin.base.labels import (
    check_same_classes,
    find_classes,
    named_classes,
    numbers_in,
    too_few,
    united,
)
from largemargin.kernels.choosing import has_gamma, kernel_of
from largemargin.kernels.engine import (
    SMALL_PROBLEM,
    check_overflow,
    choose_dtype,
    largest_square,
    prepare,
)
from largemargin.online.arrays import (
    AUTO_BOUNDED,
    AUTO_UNBOUNDED,
    BOUNDED,
    INSERTIONS,
    MARGIN_ERRORS,
    ONLINE_ERRORS,
    REMOVALS,
    RULES,
    SEEN,
    UNBOUNDED,
)
from largemargin.online.beginning import HELD_BACK, Beginning
from largemargin.online.learner import LearnerState
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.memory import memory_bytes
from largemargin.runtime.progress import Watch, check_seconds
from largemargin.runtime.showing import listed, shown
from largemargin.runtime.threads import Workers, workers

FIXED_SEED = 1  # of the order of the rows, if no random_state is given
SOME_EXAMPLES = 1000  # after so many a stream of which nothing was stored is told of


class OnlineLearner(ExpansionClassifier):
    """A kernel classifier over a cache of examples; subclasses say by which rule it learns."""

    PROTOCOL: ClassVar[tuple[str, ...]] = (
        *ExpansionClassifier.PROTOCOL, "answers_averaged", "begin", "beginning", "begins",
        "classes_after", "classes_before", "classes_given", "go_on", "learner_state", "new_state",
        "policy_code", "rule_code", "rule_settings", "seed_and_order", "warn_if_nothing_is_stored",
    )  # fmt: skip

    read_with = ("average",)

    average: bool | str
    degree: int
    gamma: float | str
    coef0: float
    matern_nu: float
    budget: int | None
    policy: str
    max_seconds: float | None
    memory: int | str
    precision: str
    shuffle: bool
    random_state: Any
    verbose: int
    _rule: str  # a key of RULES
    _state: LearnerState
    _classes_given: bool
    _beginning: Beginning | None = None  # of a stream that is in it

    def fit(self, X: MatrixLike, y: VectorLike) -> Self:
        """Go over the training data once, as a stream whose classes are known.

        The rows come in a random order, or with shuffle=False in their own.

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
            self.check_parameters()
            given, y = self.validate(X, y, reset=True)
            classes, labels = find_classes(y)
            if len(classes) < 2:
                raise too_few(type(self).__name__, classes)
            seed, order = self.seed_and_order(len(y))
            visited = given if order is None else given[order]
            state = self.new_state(visited, len(y) <= SMALL_PROBLEM, seed)
            X = prepare(visited, state.kernel, state.dtype)
            with self.watch(len(y)) as watch, workers(self.n_jobs) as team:
                learned = state.learn(
                    X, labels if order is None else labels[order], np.arange(len(classes)), team,
                    memory_bytes(self.memory), watch, apart=False, order=order,
                )  # fmt: skip
            known = learned if order is None else len(y)
            state.n_unvisited = known - learned
            self.set_fitted(state, classes, given=True)
            self.remember(fingerprint(given[:known], classes, labels[:known]))
        if learned < len(y):
            warnings.warn(
                f"stopped after {learned} of {len(y)} examples because {watch.stopped}; the model "
                "is of what was seen so far",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.warn_if_nothing_is_stored()
        return self

    def seed_and_order(self, n: int) -> tuple[int, np.ndarray | None]:
        """The seed of random evictions, and the order of n rows unless it is their own."""
        random_state = check_random_state(self.random_state)
        seed = int(random_state.randint(2**31 - 1))
        if not self.shuffle:
            return seed, None
        if self.random_state is None:
            random_state = check_random_state(FIXED_SEED)
        return seed, random_state.permutation(n)

    def partial_fit(self, X: MatrixLike, y: VectorLike, classes: VectorLike = None) -> Self:
        """Go on with the next examples of a stream, in their order, whatever `shuffle` is.

        Any chunking of the same stream gives the same model, to the last bit. That of `fit` with
        shuffle=False is the same where kernel values are integers, and elsewhere unless a score
        lies within rounding of the margin: with all examples at hand it multiplies matrices, which
        is faster. A chunk that fails leaves the model as it was.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array of shape (n_classes,), optional
            In the first call, all the labels that will occur; another one is then an error. Without
            it a class is there from its first example on, and its vector starts at zero.

        Returns
        -------
        self
        """
        with self.rolled_back_on_error():
            self.check_parameters()
            self.check_streaming()
            self.check_uncalibrated()
            rows, y = self.validate(X, y, reset=not hasattr(self, "_state"))
            # Ctrl-C waits for the end of a block, so that what there is of the model is whole
            with Watch("stream", len(y)) as watch, workers(self.n_jobs) as team:
                self.go_on(rows, y, classes, team, watch)
        if watch.stopped:
            raise KeyboardInterrupt
        return self

    def go_on(
        self, rows: Matrix, y: np.ndarray, classes: VectorLike, team: Workers, watch: Watch
    ) -> None:
        """Learn from the next examples of a stream, which are checked."""
        first, memory = not hasattr(self, "_state"), memory_bytes(self.memory)
        before, given = self.classes_before(classes, first)
        after = self.classes_after(before, y, given) if len(y) else before
        labels, known = numbers_in(after, y), numbers_in(after, before)
        record = self.record_with(first, rows, after, labels)
        if not first:
            self._check_unchanged(self._state)
        beginning = self.begin(rows) if first else self._beginning
        if beginning is not None:  # all of it once more, with the gamma of more examples
            beginning = beginning.then(rows, labels, known)
            rows, labels = beginning.examples
            state = self.new_state(rows, beginning.double, beginning.seed)
            known = known if given else known[:0]
        else:
            state = self._state
            if state.kernel.on_products:
                check_overflow(state.kernel, state.dtype, largest_square(rows))
            if state.block_length(len(y), memory) < len(y) or len(after) > len(before):
                state = state.copy()  # a failure between two blocks must leave no trace
        X = prepare(rows, state.kernel, state.dtype)
        if state.learn(X, labels, known, team, memory, watch) < len(labels):
            raise KeyboardInterrupt
        self.set_fitted(state, after, given, self._open(beginning))
        self._record = record
        self.warn_if_nothing_is_stored(len(y))

    def begin(self, rows: Matrix) -> Beginning:
        """The beginning of a stream whose first rows these are, still without examples."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        return Beginning(rows.dtype != np.float32, seed)

    @property
    def begins(self) -> bool:
        """Whether the next example may be held back: there is no gamma yet."""
        return self._beginning is not None or (not hasattr(self, "_state") and self._holds_back())

    def _holds_back(self) -> bool:
        return isinstance(self.gamma, str) and self.gamma == "stream" and has_gamma(self.kernel)

    def _open(self, beginning: Beginning | None) -> Beginning | None:
        """A beginning that goes on after these examples; None if gamma is fixed."""
        if beginning is None or not self._holds_back() or len(beginning) >= HELD_BACK:
            return None
        return beginning.kept()

    def classes_before(self, classes: VectorLike, first: bool) -> tuple[np.ndarray, bool]:
        """The classes known before a chunk, and whether they are all there can be."""
        if first:
            if classes is None:
                return np.empty(0, np.int64), False
            return named_classes(classes), True
        if classes is not None:
            check_same_classes(classes, self.classes_ if self._classes_given else None)
        return self.classes_, self._classes_given

    def classes_after(self, before: np.ndarray, y: np.ndarray, given: bool) -> np.ndarray:
        """The classes known after a chunk with these labels."""
        new = find_classes(y)[0]
        if not len(before):
            return new
        after = united(before, new)
        if len(after) == len(before):
            return before
        if given:
            strange = new[numbers_in(before, new) < 0].tolist()
            raise ValueError(
                f"y holds the label {shown(strange[0])}, which is not in classes="
                f"{listed(before.tolist())}: name every label in the first call to partial_fit, or "
                "give no classes"
            )
        return after

    def new_state(self, X: Matrix, double: bool, seed: int = 0) -> LearnerState:
        """The state before the first example; raises ValueError for wrong parameters."""
        if self._holds_back():
            kernel = kernel_of(self, X[:HELD_BACK], gamma="scale")
            dtype = choose_dtype(self.precision, double, kernel, X[:HELD_BACK])
            if kernel.on_products:
                check_overflow(kernel, dtype, largest_square(X))
        else:
            kernel = kernel_of(self, X)
            dtype = choose_dtype(self.precision, double, kernel, X)
        return LearnerState(
            kernel, dtype, self.rule_code(), self.policy_code(), self.budget,
            isinstance(self.average, str) or bool(self.average), self.rule_settings(), seed,
        )  # fmt: skip

    def rule_code(self) -> int:
        """The number of the rule, see `arrays`."""
        return RULES[self._rule]

    def rule_settings(self) -> np.ndarray:
        """The numbers of the rule; raises ValueError for wrong ones."""
        raise NotImplementedError

    def policy_code(self) -> int:
        """The number of the eviction policy; raises ValueError for a wrong one."""
        fitting, others = (UNBOUNDED, BOUNDED) if self.budget is None else (BOUNDED, UNBOUNDED)
        if isinstance(self.policy, str) and self.policy == "auto":
            return fitting[AUTO_UNBOUNDED if self.budget is None else AUTO_BOUNDED]
        if isinstance(self.policy, str) and self.policy in fitting:
            return fitting[self.policy]
        if isinstance(self.policy, str) and self.policy in others:
            needed = (
                "needs a budget: say how many examples may be stored"
                if self.budget is None
                else f"has no budget, got budget={self.budget}: leave that out, or use one of "
                + ", ".join(fitting)
            )
            raise ValueError(f"policy={self.policy!r} {needed}")
        names = ", ".join(["auto", *UNBOUNDED, *BOUNDED])
        raise ValueError(f"policy must be one of {names}, got {self.policy!r}")

    def check_parameters(self) -> None:
        budget = self.budget
        if budget is not None and (
            not isinstance(budget, Integral) or isinstance(budget, bool) or budget < 1
        ):
            raise ValueError(f"budget must be None or a positive integer, got {budget!r}")
        if not isinstance(self.average, bool | np.bool_) and not (
            isinstance(self.average, str) and self.average == "auto"
        ):
            raise ValueError(f"average must be 'auto', True or False, got {self.average!r}")
        if not isinstance(self.shuffle, bool | np.bool_):
            raise ValueError(f"shuffle must be True or False, got {self.shuffle!r}")
        if not isinstance(self.verbose, Integral):
            raise ValueError(f"verbose must be 0 or 1, got {self.verbose!r}")
        check_seconds(self.max_seconds)
        memory_bytes(self.memory)
        self.rule_settings()
        self.policy_code()

    def check_streaming(self) -> None:
        if self.precomputed:
            raise ValueError(
                "partial_fit needs examples, not kernel='precomputed', whose columns a stream lacks"
            )
        if isinstance(self.gamma, str) and self.gamma == "scale" and not hasattr(self, "_state"):
            raise ValueError(
                "gamma='scale' needs the variance of all the data, which a stream does not have: "
                "use gamma='stream', 'auto' or a number"
            )

    def _check_unchanged(self, state: LearnerState) -> None:
        """A stream goes on with the rule, the policy and the budget that it began with.

        "auto" is what it was then, see `state`.
        """
        policy = state.learner.policy if self.policy == "auto" else self.policy_code()
        if (state.budget, state.learner.policy) != (self.budget, policy):
            raise ValueError(
                f"budget={self.budget} and policy={self.policy!r} are not what the stream began "
                "with: fit again to change them"
            )
        if not np.array_equal(state.learner.settings, self.rule_settings()):
            raise ValueError(
                "the parameters of the step are not what the stream began with: fit again to "
                "change them"
            )

    def set_fitted(
        self,
        state: LearnerState,
        classes: np.ndarray,
        given: bool,
        beginning: Beginning | None = None,
    ) -> None:
        self.classes_ = classes
        self._classes_given = given
        self._state = state
        self._beginning = beginning

    def warn_if_nothing_is_stored(self, n_last: int | None = None) -> None:
        """Say so if a learner has had examples of two classes and took nothing of them.

        A stream, of whose examples the last chunk has `n_last`, says it once.
        """
        tally = self._state.tally
        due = n_last is None or tally[SEEN] >= SOME_EXAMPLES > tally[SEEN] - n_last
        if due and not tally[INSERTIONS] and len(self.classes_) > 1:
            warnings.warn(
                f"{type(self).__name__} has stored none of {tally[SEEN]} examples, so that every "
                "score is 0: its steps were all zero, as for rows of zeros; scale the data, or use "
                "another kernel",
                ConvergenceWarning,
                stacklevel=4,
            )

    @property
    def learner_state(self) -> LearnerState:
        """The cache, the weight vectors and the counts; there are none before the first example."""
        return self._state

    @property
    def beginning(self) -> Beginning | None:
        """The examples that are held back, of a stream that has not fixed its gamma."""
        return self._beginning

    @property
    def answers_averaged(self) -> bool:
        """Whether the average answers; "auto" is what it was when the stream began."""
        if isinstance(self.average, str):
            return bool(self._state.learner.averages)
        return bool(self.average)

    @property
    def classes_given(self) -> bool:
        """Whether the labels to come were named."""
        return self._classes_given

    @property
    def _expansion(self) -> Expansion:  # type: ignore[override]
        state, average = self._state, self.answers_averaged
        if average and not state.learner.averages:
            raise ValueError(
                "average=True is kept along the stream: choose it before the first example, or fit "
                "again"
            )
        return state.expansion(average)

    @property
    def _positions(self) -> np.ndarray:  # type: ignore[override]
        return self._expansion.basis.examples

    @property
    def n_trained(self) -> int:  # type: ignore[override]
        return self._state.n_given

    def join_scores(self, scores: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:  # a stream that has shown one class so far
            return np.zeros(scores.shape[1])
        return super().join_scores(scores)

    @property
    def n_insertions_(self) -> int:
        return self._count(INSERTIONS)

    @property
    def n_removals_(self) -> int:
        return self._count(REMOVALS)

    @property
    def online_errors_(self) -> int:
        return self._count(ONLINE_ERRORS)

    @property
    def margin_errors_(self) -> int:
        return self._count(MARGIN_ERRORS)

    @property
    def cache_sizes_(self) -> np.ndarray:
        check_is_fitted(self)
        return self._state.sizes

    def _count(self, what: int) -> int:
        check_is_fitted(self)
        return int(self._state.tally[what])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")


def check_margin(margin: float) -> float:
    """A margin that is not negative."""
    number = isinstance(margin, Real) and not isinstance(margin, bool)
    if not (number and 0 <= margin < np.inf):
        raise ValueError(f"margin must be a number that is not negative, got {margin!r}")
    return float(margin)
