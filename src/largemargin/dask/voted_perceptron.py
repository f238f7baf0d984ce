"""`DaskVotedPerceptron`: the voted perceptron on a Dask cluster."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from largemargin.dask.collections import is_lazy, usable
from largemargin.dask.estimators import OnCluster, here
from largemargin.dask.perceptron_pass import (
    Blocks,
    ClusterKernelPass,
    ClusterLinearPass,
    ClusterPass,
    count_right,
)
from largemargin.dask.perceptron_shards import PassShard
from largemargin.dask.prediction import answers
from largemargin.dask.rows import ShardedRows
from largemargin.perceptron import VotedPerceptron
from largemargin.perceptron.learner import Outcome, PerceptronState
from largemargin.runtime.arrays import MatrixLike, VectorLike


class DaskVotedPerceptron(OnCluster, VotedPerceptron):
    """`VotedPerceptron` on a Dask cluster: the same mistakes, on examples that stay on the workers.

    The scores of all examples, one number per problem, and the examples with a mistake are in this
    process. With `shuffle`, and for the part that "holdout" holds out, examples are sent once more,
    through this process, block by block. With the linear kernel workers share the memory for the
    examples, and not the work.

    Parameters
    ----------
    client : distributed.Client, default=None
        As for `DaskSVC`. All other parameters are those of `VotedPerceptron`.

    Attributes
    ----------
    cluster_stats_ : list of dict
        As for `DaskSVC`. All other attributes are those of `VotedPerceptron`.

    Examples
    --------
    >>> from distributed import Client, LocalCluster  # doctest: +SKIP
    >>> client = Client(LocalCluster())  # doctest: +SKIP
    >>> model = DaskVotedPerceptron(degree=3).fit(X, y)  # doctest: +SKIP
    >>> largemargin.save(model.to_local(), "model.lm")  # doctest: +SKIP
    """

    _pass: ClusterPass | None = None

    def fit(self, X: MatrixLike, y: VectorLike) -> Self:
        with self._released():
            try:
                return super().fit(X, y)
            finally:
                self.__dict__.pop("_pass", None)

    def partial_fit(self, X: MatrixLike, y: VectorLike, classes: VectorLike = None) -> Self:
        """Go on with the next examples of a stream, in this process."""
        if is_lazy(X) or is_lazy(y):
            raise ValueError(
                "partial_fit goes over a stream in this process, got a Dask collection: compute "
                "its parts one by one, or use fit"
            )
        return super().partial_fit(X, y, classes)

    def predict(
        self, X: MatrixLike, method: str | None = None, normalize: bool | None = None
    ) -> Any:
        """The classes of rows; of a Dask collection lazily, on the workers, where "random" draws
        anew for each part.
        """
        if is_lazy(X):
            return self._lazy("predict", X, method, normalize)
        return VotedPerceptron.predict(self, X, method, normalize)

    def decision_function(
        self, X: MatrixLike, method: str | None = None, normalize: bool | None = None
    ) -> Any:
        """The scores of rows; of a Dask collection as in `predict`."""
        if is_lazy(X):
            return self._lazy("decision_function", X, method, normalize)
        return VotedPerceptron.decision_function(self, X, method, normalize)

    def to_local(self) -> Any:
        """The plain fitted estimator, which may go on with a stream by itself."""
        local = super().to_local()
        if hasattr(self, "_state"):
            local._state = copy.deepcopy(self._state)
            local.trace_ = local._state.trace
        return local

    def _lazy(self, name: str, X: MatrixLike, method: str | None, normalize: bool | None) -> Any:
        local = super().to_local()
        local.method, local.normalize = self._rule(method, normalize)
        return answers(local, name, X, usable(self.client))

    def _rows_and_labels(self, X: MatrixLike, y: VectorLike) -> Any:
        placed = self.placed(X, y, PassShard, in_turn=True)
        return super()._rows_and_labels(here(X), here(y)) if placed is None else placed

    def _learn(self, state: PerceptronState, X: Any, *given: Any, **how: Any) -> Outcome:
        if not isinstance(X, ShardedRows):
            return super()._learn(state, X, *given, **how)

        def make_pass(*given: Any) -> Any:
            *rest, epochs = given
            self._pass = (
                ClusterLinearPass(*rest)
                if state.linear
                else ClusterKernelPass(*rest, epochs=epochs)
            )
            return self._pass

        return super()._learn(state, X, *given, **how, make_pass=make_pass)

    def _count_right(self, X: Any, truth: np.ndarray, state: PerceptronState) -> np.ndarray:
        if self._pass is None:
            return super()._count_right(X, truth, state)
        blocks = self._pass.blocks
        if self.method == "holdout":
            blocks = Blocks(X, blocks.width, "held out")
        return count_right(self._pass, blocks, truth)
