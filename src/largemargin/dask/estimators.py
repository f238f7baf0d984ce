"""The machines on a Dask cluster: the plain classes, trained on rows that stay on the workers."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Self

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from largemargin.base.labels import plain_labels
from largemargin.base.training_set import TrainingSet
from largemargin.dask.cluster import Cluster
from largemargin.dask.collections import STRETCH, Collection, collect, gather, is_lazy, usable
from largemargin.dask.connection import make_room, told, workers_of
from largemargin.dask.prediction import answers
from largemargin.dask.rows import ShardedRows, Shared
from largemargin.dask.shards import RowShard, processor
from largemargin.runtime.arrays import MatrixLike, VectorLike
from largemargin.svm import SVC, NuSVC


def sharded(
    X: MatrixLike, client: Any, name: str, make: type[RowShard] = RowShard, in_turn: bool = False
) -> tuple[ShardedRows, Collection]:
    """The rows of X on the workers, a shard each, and what X is.

    A shard has stretches of rows that follow each other, or, if shards get them `in_turn`, every
    second one, say, of two.
    """
    make_room()
    n_workers = len(workers_of(client))
    with told(client):
        given = collect(X, client)
    count = len(given.stretches)
    n_shards = min(count, n_workers)
    # whole stretches, as evenly as can be
    owned = np.array_split(np.arange(count), n_shards)
    if in_turn:
        owned = [np.arange(k, count, n_shards) for k in range(n_shards)]
    parts = [[given.stretches[i] for i in mine] for mine in owned]
    numbers = [
        np.concatenate([np.arange(i * STRETCH, min((i + 1) * STRETCH, given.n)) for i in mine])
        for mine in owned
    ]
    ends = np.cumsum([len(mine) for mine in numbers]).tolist()
    rows = list(zip([0, *ends[:-1]], ends, strict=True))
    words = [_named(mine) for mine in numbers]
    cluster = Cluster(client, parts, rows, words, make, name)
    kinds = set(cluster.ask("processor", processor, lambda k: ()))
    if len(kinds) > 1:
        warnings.warn(
            "the workers have different processors or versions of libraries: the model is the "
            "same to the tolerance, but not to the last bit",
            stacklevel=4,
        )
    order = np.argsort(np.concatenate(numbers)) if in_turn else None
    shared = Shared(cluster, given.n, given.width, given.sparse)
    return ShardedRows(shared, given.dtype, order), given


def _named(numbers: np.ndarray) -> str:
    """Which rows these are.

    >>> _named(np.array([3, 4, 5])), _named(np.array([0, 1, 4, 5]))
    ('rows 3 to 5 of X', '4 rows between 0 and 5 of X')
    """
    first, last = numbers[0], numbers[-1]
    if last - first + 1 == len(numbers):
        return f"rows {first} to {last} of X"
    return f"{len(numbers)} rows between {first} and {last} of X"


def here(values: Any) -> Any:
    """What is lazy, computed; anything else as it is."""
    return values.compute() if is_lazy(values) else values


class OnCluster:
    """What the machines on a cluster have in common; the plain class comes after it."""

    client: Any
    _plain: type
    _opened: list[ShardedRows] | None = None  # by the fit that runs

    def __init_subclass__(cls) -> None:
        plain = cls._plain = next(c for c in cls.__mro__ if not issubclass(c, OnCluster))
        if plain is object:
            return
        begin: Any = plain.__init__
        signature = inspect.signature(begin)
        client = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None)

        def __init__(self: Any, client: Any = None, **parameters: Any) -> None:
            begin(self, **parameters)
            self.client = client

        __init__.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*signature.parameters.values(), client]
        )
        cls.__init__ = __init__  # type: ignore[method-assign]

    def _look_at_scale(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike) -> None:
        """Rows on workers stay there: nothing is said of their columns."""
        if not (is_lazy(X) or is_lazy(y)):
            super()._look_at_scale(X, y, sample_weight)  # type: ignore[misc]

    def __sklearn_clone__(self) -> Any:
        """With the same client, which cannot be copied."""
        return type(self)(**self.get_params(deep=False))  # type: ignore[attr-defined]

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {**state, "client": None, "_opened": None}

    def check_calibrate(self) -> None:
        super().check_calibrate()  # type: ignore[misc]
        if self.calibrate:  # type: ignore[attr-defined]
            raise ValueError(
                f"{type(self).__name__} holds no rows out on a cluster, got calibrate=True: leave "
                "it out, and give model.to_local() to largemargin.calibrated, with rows that the "
                "model has not seen"
            )

    def placed(
        self, X: MatrixLike, y: VectorLike, make: type[RowShard] = RowShard, in_turn: bool = False
    ) -> tuple[ShardedRows, np.ndarray] | None:
        """The rows on the workers, and the labels here; None, with a warning, without a client."""
        client = usable(self.client)
        name = type(self).__name__
        if client is None:
            warnings.warn(
                f"there is no Dask client: {name} is fitted in this process, as "
                f"{self._plain.__name__}. Make one with distributed.Client(), or give client=",
                stacklevel=5,
            )
            return None
        if isinstance(self.kernel, str) and self.kernel == "precomputed":  # type: ignore[attr-defined]
            raise ValueError(
                f"{name} computes kernel values on the workers, got kernel='precomputed': use "
                f"{self._plain.__name__}"
            )
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but the target y is None")
        rows, given = sharded(X, client, name.removeprefix("Dask").lower(), make, in_turn)
        if self._opened is not None:
            self._opened.append(rows)
        if not is_lazy(y):
            y = column_or_1d(plain_labels(y), warn=True)
        with told(client):
            labels = plain_labels(gather(y, given.n, "y", client))
        check_classification_targets(labels)
        self.n_features_in_ = given.width
        self.__dict__.pop("feature_names_in_", None)
        if given.names is not None:
            self.feature_names_in_ = np.asarray(given.names, object)
        return rows, labels

    @contextmanager
    def _released(self) -> Iterator[None]:
        """After a fit the workers have nothing of it left; what it took is told."""
        opened: list[ShardedRows] = []
        self._opened = opened
        try:
            yield
        finally:
            self.__dict__.pop("_opened", None)
            for rows in opened:
                cluster = rows.cluster
                self.cluster_stats_ = [asdict(shard.stats) for shard in cluster.shards]
                cluster.close()

    def to_local(self) -> Any:
        """The plain fitted estimator, which knows nothing of a cluster."""
        parameters = {
            name: value
            for name, value in self.get_params(deep=False).items()  # type: ignore[attr-defined]
            if name != "client"
        }
        local = self._plain(**parameters)
        hidden = {"client", "_opened", "cluster_stats_"}
        vars(local).update(
            {name: value for name, value in vars(self).items() if name not in hidden}
        )
        return local

    def predict(self, X: MatrixLike) -> Any:
        """The classes of rows; of a Dask collection lazily, on the workers."""
        if is_lazy(X):
            return answers(self.to_local(), "predict", X, usable(self.client))
        return super().predict(X)  # type: ignore[misc]

    def decision_function(self, X: MatrixLike) -> Any:
        """The scores of rows; of a Dask collection lazily, on the workers."""
        if is_lazy(X):
            return answers(self.to_local(), "decision_function", X, usable(self.client))
        return super().decision_function(X)  # type: ignore[misc]


class MachineOnCluster(OnCluster):
    """What support vector machines on a cluster have in common."""

    def training_set(
        self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None
    ) -> TrainingSet:
        placed = self.placed(X, y)
        if placed is None:
            X, y, sample_weight = map(here, (X, y, sample_weight))
            data: TrainingSet = super().training_set(X, y, sample_weight)  # type: ignore[misc]
            return data
        rows, labels = placed
        if sample_weight is not None:
            sample_weight = gather(sample_weight, len(labels), "sample_weight", usable(self.client))
        return TrainingSet(self, rows, labels, sample_weight)

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> Self:
        with self._released():
            return super().fit(X, y, sample_weight)  # type: ignore[misc,no-any-return]


class DaskSVC(MachineOnCluster, SVC):
    """`SVC` on a Dask cluster: the same machine, trained on rows that stay on the workers.

    Parameters
    ----------
    client : distributed.Client, default=None
        The cluster; None is the current client, and without one the fit is that of `SVC`, in this
        process. All other parameters are those of `SVC`; `n_jobs` and `memory` are for this
        process.

    Attributes
    ----------
    cluster_stats_ : list of dict
        Of each shard of the rows: its worker, rounds, vectors that it was sent and that it had,
        bytes sent and received, seconds of computing and of waiting, and how many workers died
        with it.

    All other attributes are those of `SVC`.

    Examples
    --------
    >>> from distributed import Client, LocalCluster  # doctest: +SKIP
    >>> client = Client(LocalCluster())  # doctest: +SKIP
    >>> model = DaskSVC(C=10.0).fit(X, y)  # doctest: +SKIP
    >>> largemargin.save(model.to_local(), "model.safetensors")  # doctest: +SKIP
    """


class DaskNuSVC(MachineOnCluster, NuSVC):
    """`NuSVC` on a Dask cluster; see `DaskSVC`.

    Parameters
    ----------
    client : distributed.Client, default=None
        As for `DaskSVC`. All other parameters are those of `NuSVC`.
    """
