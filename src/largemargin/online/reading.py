"""What a fitted online learner answers, read off its run."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from largemargin.base.expansion import Expansion, ExpansionClassifier
from largemargin.online.arrays import (
    INSERTIONS,
    MARGIN_ERRORS,
    ONLINE_ERRORS,
    REMOVALS,
    SEEN,
)
from largemargin.online.learner import Run


class RunReader(ExpansionClassifier):
    """The reading half of the online learners; the other half makes the run that is read here."""

    average: bool
    _run: Run

    @property
    def _expansion(self) -> Expansion:  # type: ignore[override]
        run = self._run
        if self.average and not run.learner.averages:
            raise ValueError(
                "average=True is kept along the stream: choose it before the first example, or fit "
                "again"
            )
        return run.expansion(bool(self.average))

    @property
    def _positions(self) -> np.ndarray:  # type: ignore[override]
        return self._expansion.basis.examples

    @property
    def n_trained(self) -> int:  # type: ignore[override]
        return int(self._run.tally[SEEN])

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
        return self._run.sizes

    def _count(self, what: int) -> int:
        check_is_fitted(self)
        return int(self._run.tally[what])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_run")
