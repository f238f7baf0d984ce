"""What a fitted voted perceptron answers, read off its trace: scores, classes and the vectors that
they come from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from largemargin.base.classifier import KernelClassifier
from largemargin.base.expansion import linear_scores
from largemargin.kernels.engine import prepare
from largemargin.perceptron.learner import PerceptronState
from largemargin.perceptron.rules import METHODS, Rule, decide, rule_coefficients
from largemargin.runtime.arrays import MatrixLike
from largemargin.runtime.threads import single_thread


class TraceReader(KernelClassifier):
    """The reading half of `VotedPerceptron`; the other half makes the state that is read here."""

    PROTOCOL: ClassVar[tuple[str, ...]] = (*KernelClassifier.PROTOCOL, "coefficients", "state")

    method: str
    normalize: bool
    memory: int | str
    n_jobs: int | None
    random_state: Any
    _state: PerceptronState
    _correct: np.ndarray | None  # per vector: examples that it gets right, trained on or held out
    _looked: str  # the method that those counts were made for

    read_with = ("method", "normalize")

    @property
    def score_unit(self) -> float:  # type: ignore[override]
        """Votes and averages are sums over the steps of training."""
        return float(self._state.trace.n_steps) if self.method in ("vote", "average") else 1.0

    @property
    def state(self) -> PerceptronState:
        """What training left: the trace and its basis."""
        return self._state

    @property
    def n_trained(self) -> int:  # type: ignore[override]
        return self._state.n_seen

    @property
    def _chosen_later(self) -> Collection[str]:  # type: ignore[override]
        # what was held out had no part in training, whatever else is read off it
        return ("normalize",) if self._looked == "holdout" else ("method", "normalize")

    def decision_function(
        self, X: MatrixLike, method: str | None = None, normalize: bool | None = None
    ) -> np.ndarray:
        """Scores of the rows of X: one per row for two classes (positive for `classes_[1]`), else
        one per class.

        `method` and `normalize` may be chosen anew here; None means as given to the estimator.
        """
        rule = self._rule(method, normalize)
        return self.decision_functions(X, [rule])[rule]

    def predict(
        self, X: MatrixLike, method: str | None = None, normalize: bool | None = None
    ) -> np.ndarray:
        """The class with the largest score, for each row of X."""
        return self.classes_of(self.decision_function(X, method, normalize))

    def decision_functions(self, X: MatrixLike, rules: Iterable[Rule]) -> dict[Rule, np.ndarray]:
        """Scores under several rules, from one pass over kernel values.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        rules : list of (method, normalize)

        Returns
        -------
        dict
            For each rule what `decision_function` gives.
        """
        return self.staged_decision_functions(X, [None], rules)[0]

    def staged_decision_functions(
        self, X: MatrixLike, at: Sequence[float | None], rules: Iterable[Rule]
    ) -> list[dict[Rule, np.ndarray]]:
        """Scores as they would be had training stopped earlier, from one pass over kernel values.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        at : list of float
            Numbers of epochs, fractions allowed, such as [0.1, 1, 2].
        rules : list of (method, normalize)

        Returns
        -------
        list of dict
            For each entry of `at`, what `decision_functions` would give.
        """
        if not hasattr(self, "_state"):
            check_is_fitted(self)
        rules = [self._checked(rule) for rule in rules]
        X = X if self.is_valid(X) else self.validate(X, reset=False)
        state = self._state
        steps = [state.trace.n_steps if e is None else state.trace.step_at(e) for e in at]
        stages = np.array(sorted(set(steps)), np.int64)
        place = np.searchsorted(stages, steps)
        scores = {}
        if state.linear and steps == [state.trace.n_steps]:
            for rule in rules:
                if rule[0] not in ("vote", "random"):
                    weights = self._weights(rule)
                    found = linear_scores(X, weights[:, :-1], self.n_jobs) + weights[:, -1]
                    scores[rule] = found.T[None]
        rest = [rule for rule in rules if rule not in scores]
        if rest:
            scores |= decide(
                prepare(X, state.kernel, state.basis.dtype), state.basis, state.trace, rest, stages,
                correct=self._correct, random_state=self.random_state,
                n_jobs=self.n_jobs, memory=self.memory,
            )  # fmt: skip
        return [
            {r: s[i, 0] if state.trace.n_problems == 1 else s[i].T for r, s in scores.items()}
            for i in place
        ]

    def staged_predict(self, X: MatrixLike, at: Sequence[float]) -> np.ndarray:
        """Predictions as they would be had training stopped after each number of epochs in `at`.

        Returns an array of shape (len(at), n_samples).
        """
        rule = self._rule(None, None)
        staged = self.staged_decision_functions(X, at, [rule])
        answers = [self.classes_of(scores[rule]) for scores in staged]
        return np.array(answers, self.classes_.dtype).reshape(len(answers), np.shape(X)[0])

    @property
    def support_(self) -> np.ndarray:
        check_is_fitted(self)
        return np.sort(self._state.basis.examples)

    @property
    def support_vectors_(self) -> Any:
        check_is_fitted(self)
        basis = self._state.basis
        if basis.vectors is None:
            return np.empty((0, self.n_features_in_))
        if basis.kernel.by_column:
            raise AttributeError(
                "a precomputed kernel has no support vectors, only positions: support_"
            )
        return basis.vectors[np.argsort(basis.examples)]

    @property
    def n_support_(self) -> int:
        check_is_fitted(self)
        return len(self._state.basis)

    @property
    def dual_coef_(self) -> np.ndarray:
        check_is_fitted(self)
        return self.coefficients()[:, np.argsort(self._state.basis.examples)]

    @property
    def intercept_(self) -> np.ndarray:
        check_is_fitted(self)
        if not self._state.threshold:
            return np.zeros(self._state.trace.n_problems)
        return np.asarray(self.coefficients().sum(axis=1))

    @property
    def coef_(self) -> np.ndarray:
        check_is_fitted(self)
        if not self._state.linear:
            raise AttributeError("coef_ exists with kernel='linear' only")
        method, normalize = self._rule(None, None)
        rule = ("last" if method in ("vote", "random") else method, normalize)
        return np.asarray(self._weights(rule)[:, :-1])

    def coefficients(self, rule: Rule | None = None) -> np.ndarray:
        """One row per problem and one column per slot; by default of the rule of `dual_coef_`."""
        if rule is None:
            rule = self._rule(None, None)
            if rule[0] in ("vote", "random"):
                rule = ("last", rule[1])
        return rule_coefficients(self._state.trace, rule, self._correct, len(self._state.basis))

    def _weights(self, rule: Rule) -> np.ndarray:
        """The vectors of a rule with the linear kernel: one row per problem, the threshold last."""
        known = self._state.weights_of_rules
        if rule not in known:
            coefs = self.coefficients(rule)
            vectors = self._state.basis.vectors
            weights = np.zeros((len(coefs), self.n_features_in_ + 1))
            if vectors is not None:
                with single_thread():
                    weights[:, :-1] = coefs @ vectors
            if self._state.threshold:
                weights[:, -1] = coefs.sum(axis=1)
            known[rule] = weights
        return known[rule]

    def _checked(self, rule: Any) -> Rule:
        if isinstance(rule, str) or len(rule) != 2:
            raise ValueError(
                f"rules must be pairs such as ('vote', False) or ('last', True), got {rule!r}"
            )
        return self._rule(*rule)

    def _rule(self, method: str | None, normalize: bool | None = False) -> Rule:
        """A rule with None filled in from the estimator, checked against what was fitted."""
        method = self.method if method is None else method
        normalize = self.normalize if normalize is None else normalize
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        if method in ("pocket", "holdout") and getattr(self, "_looked", method) != method:
            raise ValueError(
                f"method={method!r} looks at data when fitting: fit again with method={method!r}"
            )
        return method, bool(normalize)
