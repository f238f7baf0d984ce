"""What users give, cut again at fixed row numbers.

    stretch k   =   rows  k STRETCH  ..  min(n, (k + 1) STRETCH)

A fit adds up stretch by stretch, so that a model does not depend on how its data was partitioned.
A stretch of a Dask collection is delayed and has the collection's own graph below it: after the
death of a worker Dask makes it again. A part is cut where it is, so only the rows of stretches that
lie across a border move. What comes to the client is the outline of each part: its length, width
and type.

Lengths that the collection does not know, as those of data frames and delayed parts, are found by
making each part once, and the stretches make it again: `persist` a collection that is slow to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed, delayed
from distributed import Client, Future, get_client

from largemargin.base.labels import plain_labels
from largemargin.dask.connection import computed_on, make_room
from largemargin.dask.numbers import as_rows, between, by_rows, checked, is_frame, joined
from largemargin.data.features import checked_sparse
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.showing import shown

STRETCH = 2048  # rows: enough that a task is worth its millisecond, few enough to share out evenly


@dataclass(frozen=True)
class Collection:
    """Rows of numbers in stretches, on workers or here.

    Attributes
    ----------
    n, width : int
        Rows and columns.
    sparse : bool
        Whether the stretches are CSR matrices in canonical form; else they are C-contiguous arrays.
    dtype : np.float32 or np.float64
        Of the stretches; float32 if all parts are.
    names : tuple of str or None
        Of the columns, where frames name them.
    stretches : list of Delayed, of arrays or of CSR matrices
    """

    n: int
    width: int
    sparse: bool
    dtype: type[np.floating]
    names: tuple[str, ...] | None
    stretches: list[Any]


@dataclass(frozen=True)
class Outline:
    """What is told of a part before its rows are asked for."""

    rows: int
    width: int
    sparse: bool
    cuttable: bool  # whether a few rows can be read without looking at the others
    dtype: type[np.floating]
    names: tuple[str, ...] | None


def usable(client: Client | None) -> Client | None:
    """The client that was given, else the current one, else None."""
    if client is None:
        try:
            client = get_client()
        except ValueError:
            return None
    if not isinstance(client, Client):
        raise TypeError(f"client must be a distributed.Client or None, got {shown(client)}")
    if client.asynchronous:
        raise ValueError(
            "the client is asynchronous, and a fit waits for its workers: use a Client made "
            "without asynchronous=True, in a thread of its own if need be"
        )
    if client.status in ("closed", "closing"):
        raise ValueError(f"the client is {client.status}: make a new Client")
    return client


def is_lazy(X: Any) -> bool:
    """Whether X is a Dask collection, or a list of parts that are delayed."""
    if isinstance(X, list | tuple):
        return any(isinstance(part, Delayed | Future) for part in X)
    return isinstance(X, Future) or dask.is_dask_collection(X)


def parts_of(X: Any) -> list[Delayed]:
    """The parts of what is lazy, in the order of their rows, each with all its columns."""
    if isinstance(X, Delayed | Future):
        X = [X]
    if isinstance(X, list | tuple):
        return [part if isinstance(part, Delayed) else delayed(part) for part in X]
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X has shape {X.shape}: give an array of rows and columns")
        rows = X.to_delayed()
        return [row[0] if len(row) == 1 else delayed(beside)(*row) for row in rows]
    if hasattr(X, "columns") and X.ndim == 2:
        return list(X.to_delayed())
    raise TypeError(
        f"X is a {type(X).__name__}: give a Dask array or data frame, a list of delayed parts, "
        "or an array"
    )


def collect(X: MatrixLike, client: Client | None) -> Collection:
    """X in stretches. Of a collection only outlines are computed, on the workers."""
    client = usable(client)
    if not is_lazy(X):
        if sp.issparse(X):
            X = checked_sparse(X)
        here = by_rows(as_rows(X))
        return _in_stretches([here], [outline(here)], lazy=False)
    parts = parts_of(X)
    if isinstance(X, da.Array) and not np.isnan(X.shape).any():
        width, meta = X.shape[1], X._meta
        outlines = [
            Outline(int(rows), width, sp.issparse(meta), _is_cuttable(meta), _float(X.dtype), None)
            for rows in X.chunks[0]
        ]
    else:
        outlines = computed([delayed(outline)(part, k) for k, part in enumerate(parts)], client)
    return _in_stretches(parts, outlines, lazy=True)


def gather(values: VectorLike, n: int, name: str, client: Client | None = None) -> np.ndarray:
    """Labels or weights, one per row, as one array at the client."""
    if is_lazy(values):
        if isinstance(values, da.Array):
            _check_length(values.shape[0], n, name)
            values = list(values.to_delayed().ravel())
        elif isinstance(values, Delayed | Future):
            values = [values]
        elif not isinstance(values, list | tuple):
            values = values.to_delayed()
        parts = computed([v if isinstance(v, Delayed) else delayed(v) for v in values], client)
        found = _in_line([_line(part, name) for part in parts])
    else:
        found = _line(values, name)
    _check_length(len(found), n, name)
    return found


def computed(values: Sequence[Delayed], client: Client | None) -> list[Any]:
    """What delayed values are; inside a task too, whose thread makes room meanwhile."""
    client = usable(client)
    if client is None:
        return list(dask.compute(*values))
    make_room()
    return computed_on(client, values)


def outline(part: Any, number: int | None = None) -> Outline:
    """What a part is, told where it is."""
    where = "X" if number is None else f"part {number} of X"
    part = as_rows(part)
    if len(part.shape) == 1 and not part.shape[0]:
        return Outline(0, 0, False, True, np.float32, None)
    if len(part.shape) != 2:
        raise ValueError(
            f"{where} has shape {part.shape}, where rows and columns are expected: "
            "Reshape your data with reshape(-1, 1) if it is one feature, else reshape(1, -1)"
        )
    sparse, names = sp.issparse(part), None
    if is_frame(part):
        dtypes = {str(dtype).lower() for dtype in part.dtypes}
        dtype = np.float32 if dtypes == {"float32"} else np.float64
        names = _names(list(part.columns), where)
    else:
        dtype = _float(part.dtype)
    rows, width = map(int, part.shape)
    return Outline(rows, width, sparse, _is_cuttable(part), dtype, names)


def beside(*blocks: Any) -> Matrix:
    """Blocks of the same rows as one."""
    if any(sp.issparse(block) for block in blocks):
        return sp.hstack(blocks, format="csr")
    return np.hstack(blocks)


def piece(
    part: Any,
    rows: int,
    start: int,
    stop: int,
    first_row: int,
    width: int,
    sparse: bool,
    dtype: type[np.floating],
) -> Matrix:
    """Checked rows `start` to `stop` of a part of so many `rows`, the first of which is row
    `first_row` of X.
    """
    part = as_rows(part)
    if part.shape[0] != rows:
        raise ValueError(
            f"a part of X was said to have {rows} rows, from row {first_row} on, and has "
            f"{part.shape[0]}: give the collection its true chunk sizes, as "
            "X.compute_chunk_sizes() does"
        )
    found = checked(between(part, start, stop), width, first_row + start, sparse, dtype)
    if stop - start < rows and isinstance(found, np.ndarray) and found.base is not None:
        return found.copy()  # a view would keep the whole part in memory
    return found


def stretch(*pieces: Matrix) -> Matrix:
    """Pieces of several parts as one stretch."""
    return joined(list(pieces))


def _in_stretches(parts: list[Any], outlines: list[Outline], lazy: bool) -> Collection:
    filled = [k for k, found in enumerate(outlines) if found.rows]
    if not filled:
        raise ValueError(
            f"X has no rows, that is 0 sample(s) in {len(parts)} part(s): give at least one row"
        )
    seen = [outlines[k] for k in filled]
    first, n = seen[0], sum(found.rows for found in seen)
    if not first.width:
        raise ValueError(
            f"X has 0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required: give a column"
        )
    for k, found in zip(filled, seen, strict=True):
        _check_alike(filled[0], first, k, found)
    sparse = any(found.sparse for found in seen)
    all_single = all(found.dtype is np.float32 for found in seen)
    dtype: type[np.floating] = np.float32 if all_single else np.float64
    cut, join, convert = (map(delayed, (piece, stretch, by_rows)) if lazy
                          else (piece, stretch, by_rows))  # fmt: skip
    pieces: list[list[Any]] = [[] for _ in range(-(-n // STRETCH))]
    row = 0
    for k, found in zip(filled, seen, strict=True):
        part = parts[k] if found.cuttable else convert(parts[k])
        start = 0
        while start < found.rows:
            at = (row + start) // STRETCH
            stop = min(found.rows, (at + 1) * STRETCH - row)
            pieces[at].append(cut(part, found.rows, start, stop, row, first.width, sparse, dtype))
            start = stop
        row += found.rows
    stretches = [few[0] if len(few) == 1 else join(*few) for few in pieces]
    return Collection(n, first.width, sparse, dtype, first.names, stretches)


def _check_alike(number: int, first: Outline, k: int, found: Outline) -> None:
    if found.width != first.width:
        raise ValueError(
            f"part {k} of X has {found.width} columns, and part {number} has {first.width}: "
            "give every part the same columns"
        )
    if found.names != first.names:
        raise ValueError(
            f"part {k} of X has columns named {shown(found.names)}, and part {number} has "
            f"{shown(first.names)}: give every part the same columns in the same order"
        )


def _names(columns: list[Any], where: str) -> tuple[str, ...] | None:
    """Names of columns as scikit-learn sees them: all text, or none."""
    text = [isinstance(name, str) for name in columns]
    if all(text):
        return tuple(columns)
    if any(text):
        other = columns[text.index(False)]
        raise TypeError(
            f"{where} has names of columns that are text and one that is not, {shown(other)}: "
            "make all of them text"
        )
    return None


def _float(dtype: Any) -> type[np.floating]:
    return np.float32 if dtype == np.float32 else np.float64


def _is_cuttable(part: Any) -> bool:
    return not sp.issparse(part) or part.format == "csr"


def _line(values: Any, name: str) -> np.ndarray:
    """Values of one part in one dimension."""
    found = np.asarray(plain_labels(values))
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise ValueError(f"{name} has shape {found.shape}: give one value for each row of X")
    return found


def _in_line(parts: list[np.ndarray]) -> np.ndarray:
    """Parts one after the other. Empty ones have no say in the type."""
    parts = [part for part in parts if len(part)] or parts[:1]
    if not parts:
        return np.empty(0)
    text = [part.dtype.kind in "USTO" for part in parts]
    if any(text) and not all(text):  # NumPy would write the numbers as text
        parts = [part.astype(object) for part in parts]
    found = np.concatenate(parts)
    return np.asarray(plain_labels(found))


def _check_length(length: float, n: int, name: str) -> None:
    if length != n and not np.isnan(length):
        raise ValueError(
            f"{name} has {length} values, and X has {n} rows: give one value for each row"
        )
