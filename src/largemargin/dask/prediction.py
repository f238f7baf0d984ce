"""Answers of a fitted model on Dask collections: lazy, part by part, where the parts are.

The model is one key of the graph, on which every task depends: it is pickled once, and travels to a
worker once. A cluster keeps its task, so that the model is made again should its worker die.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from distributed import Client

from largemargin.dask.collections import beside, is_lazy, parts_of, usable
from largemargin.dask.numbers import as_rows
from largemargin.runtime.arrays import MatrixLike


def answers(model: Any, method: str, X: MatrixLike, client: Client | None) -> Any:
    """`model.predict` or `model.decision_function`, as `method` says, of the rows of X.

    Of a Dask collection a Dask array, of anything else an array.
    """
    if not is_lazy(X):
        return getattr(model, method)(X)
    parts = None if isinstance(X, da.Array) and X.ndim == 2 else parts_of(X)
    # From here come type and width of the answers. It also fills the caches of the model, which
    # tasks that run side by side in a worker would otherwise fill at the same time.
    known = _answer_to_zeros(model, method, X)
    empty, tail = known[:0], known.shape[1:]
    there = _on_workers(model, usable(client), nameless=isinstance(X, da.Array))
    if parts is None:
        return da.blockwise(
            answer_beside, "ik" if tail else "i", X, "ij", there, None, method, None, empty, None,
            new_axes={"k": tail[0]} if tail else None, meta=empty, token=f"{method}-of-rows",
        )  # fmt: skip
    task = delayed(answer)
    return da.concatenate([
        da.from_delayed(task(part, there, method, empty), (np.nan, *tail), meta=empty)
        for part in parts
    ])  # fmt: skip


def answer_beside(blocks: list[Any], model: Any, method: str, empty: np.ndarray) -> np.ndarray:
    """The answers for rows whose columns are in several blocks."""
    return answer(blocks[0] if len(blocks) == 1 else beside(*blocks), model, method, empty)


def answer(rows: Any, model: Any, method: str, empty: np.ndarray) -> np.ndarray:
    """The answers for a part; `empty` if the part is."""
    rows = as_rows(rows)
    if not rows.shape[0]:
        return empty
    return np.asarray(getattr(model, method)(rows))


def _on_workers(model: Any, client: Client | None, nameless: bool) -> Delayed:
    """The model as tasks get it, with one thread: a worker runs as many tasks as it has threads."""
    alone = copy.copy(model)
    if hasattr(alone, "n_jobs"):
        alone.n_jobs = 1
    if nameless:  # that rows have no names was said at the client, once
        alone.__dict__.pop("feature_names_in_", None)
    there = delayed(alone, traverse=False)
    if client is None:
        return there
    with warnings.catch_warnings():  # a large model is sent now so that no later graph has it
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.persist(there)


def _answer_to_zeros(model: Any, method: str, X: Any) -> np.ndarray:
    """The answer for one row of zeros, with as many columns and the names that X is known to have.

    Wrong widths and names are found here, before anything is computed.
    """
    ask = getattr(model, method)
    if hasattr(X, "columns"):
        meta = X._meta
        return np.asarray(ask(type(meta)(np.zeros((1, meta.shape[1])), columns=meta.columns)))
    if isinstance(X, da.Array) and not np.isnan(X.shape[1]):
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        return np.asarray(ask(np.zeros((1, X.shape[1]), dtype)))
    with warnings.catch_warnings():  # which names the parts have is not known yet
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return np.asarray(ask(np.zeros((1, model.n_features_in_))))
