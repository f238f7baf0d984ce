"""A table in many files, of which the workers read one part each.

    frame of all columns  ->  parts  ->  labels, gathered here;  numbers, which stay on the workers

A part is read twice: for its labels and its length, and for its numbers when the fit asks for them.
In between it is forgotten.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import PurePosixPath
from typing import Any

import dask.array as da
import dask.dataframe as dd
import fsspec
import numpy as np
from dask.delayed import delayed
from distributed import Client

from largemargin.base.labels import TEXT as LABEL_TEXT
from largemargin.dask.collections import computed
from largemargin.dask.numbers import checked
from largemargin.data.columnar import PANDAS_INDEX
from largemargin.data.dataset import Dataset
from largemargin.data.errors import broken
from largemargin.data.labels import (
    LabelColumn,
    RawLabels,
    first_bad_label,
    label_position,
    label_problem,
    parse_labels,
)
from largemargin.data.layout import find_layout

PARQUET = (".parquet", ".pq")
TABLES = (".csv", ".tsv", ".txt")
PACKED = (".gz", ".bz2", ".xz")  # what cannot be read from the middle
MISSING = ["", "?", "NA", "N/A", "nan", "NaN", "null"]  # in a column of numbers


@dataclass(frozen=True)
class Look:
    """What is told of a part before its numbers are asked for."""

    labels: np.ndarray
    missing: int | None  # the first row of the part that has no label
    single: bool  # whether all numbers are float32


def read_parts(
    source: str, label: LabelColumn, header: bool | None, client: Client | None
) -> Dataset:
    """The rows of all files of a folder or a pattern; X is a Dask array of known chunks."""
    files, kind = find_parts(source)
    frame = _parquet(files) if kind == "parquet" else _text(files, header, label)
    names = [str(name) for name in frame.columns]
    named = kind == "parquet" or frame.columns.dtype.kind not in "iu"
    position = label_position(source, label, names if named else None, len(names))
    if len(names) < 2:
        raise broken(source, "expected a column of labels and columns of numbers, saw one column")
    parts = frame.to_delayed()
    try:
        looks = computed([delayed(look)(part, position) for part in parts], client)
    except KeyError as error:
        raise broken(
            source, f"expected the same columns in all files, saw one without: {error.args[0]}"
        ) from error
    y = _labels(looks, source)
    single = all(found.single for found in looks if len(found.labels))
    dtype = np.float32 if single else np.float64
    blocks, row = [], 0
    for part, found in zip(parts, looks, strict=True):
        shape = (len(found.labels), len(names) - 1)
        if shape[0]:
            numbers = delayed(numbers_of)(part, position, shape[1], row, dtype)
            blocks.append(da.from_delayed(numbers, shape, dtype))
        row += shape[0]
    features = tuple(name for k, name in enumerate(names) if k != position)
    return Dataset(
        da.concatenate(blocks), y, name=source, feature_names=features if named else None
    )


def find_parts(source: str) -> tuple[list[str], str]:
    """The files that a folder or a pattern means, in the order of their names, and their kind."""
    try:
        system, path = fsspec.core.url_to_fs(source)
        found = system.find(path) if system.isdir(path) else system.glob(path)
    except (ImportError, ValueError) as error:
        raise broken(source, f"this address cannot be opened: {error}") from error
    kinds: dict[str, list[str]] = {"parquet": [], "text": []}
    for file in sorted(found):
        name = PurePosixPath(file).name
        if name.startswith((".", "_")):  # what programs leave beside the data
            continue
        packed = name.lower().endswith(PACKED)
        ending = PurePosixPath(PurePosixPath(name).stem if packed else name).suffix.lower()
        if ending in PARQUET and not packed:
            kinds["parquet"].append(system.unstrip_protocol(file))
        elif ending in TABLES:
            kinds["text"].append(system.unstrip_protocol(file))
    if kinds["parquet"] and kinds["text"]:
        raise broken(
            source, "expected files of one kind, saw Parquet and text; name one kind, as in "
            f"'{source.rstrip('/')}/*.parquet'",
        )  # fmt: skip
    for kind, files in kinds.items():
        if files:
            return files, kind
    raise broken(source, f"expected files that end with {', '.join(PARQUET + TABLES)}, saw none")


def look(part: Any, position: int) -> Look:
    """On a worker: the labels of a part, and what its numbers are."""
    others = part.drop(columns=part.columns[position])
    single = {str(dtype).lower() for dtype in others.dtypes} == {"float32"}
    labels = part.iloc[:, position]
    missing = np.flatnonzero(labels.isna().to_numpy())
    return Look(np.asarray(labels.to_numpy()), int(missing[0]) if len(missing) else None, single)


def numbers_of(part: Any, position: int, width: int, row: int, dtype: type[np.floating]) -> Any:
    """On a worker: the numbers of a part, the first row of which is row `row` of all."""
    return checked(part.drop(columns=part.columns[position]), width, row, dtype=dtype)


def scaled(X: da.Array, scaler: Any, client: Client | None) -> tuple[da.Array, Any]:
    """X after a scaler that has learned from one part after the other, and that scaler."""
    fitted: Any = scaler
    for block in X.to_delayed().ravel():
        fitted = delayed(_learn)(fitted, block)
    [scaler] = computed([fitted], client)
    return X.map_blocks(scaler.transform, dtype=X.dtype, meta=X._meta), scaler


def _learn(scaler: Any, block: np.ndarray) -> Any:
    return copy.deepcopy(scaler).partial_fit(block)


def _parquet(files: list[str]) -> Any:
    frame = dd.read_parquet(files, index=False)
    index = [name for name in frame.columns if PANDAS_INDEX.fullmatch(str(name))]
    return frame.drop(columns=index) if index else frame


def _text(files: list[str], header: bool | None, label: LabelColumn) -> Any:
    """Tables in text; the first file tells the delimiter and whether files have a header line."""
    with fsspec.open(files[0], "rb", compression="infer") as stream:
        suffix = ".tsv" if ".tsv" in files[0] else ".csv"
        lines = TextIOWrapper(stream, encoding="utf-8-sig")
        layout = find_layout(files[0], suffix, lines, header, label)
    columns: Any = layout.names if layout.names else range(layout.width)
    position = label_position(files[0], label, layout.names, layout.width)
    features = [name for k, name in enumerate(columns) if k != position]
    packed = any(file.lower().endswith(PACKED) for file in files)
    return dd.read_csv(
        files, sep=layout.delimiter or r"\s+", header=0 if layout.names else None,
        dtype={**dict.fromkeys(features, np.float64), columns[position]: str},
        na_values=dict.fromkeys(features, MISSING), keep_default_na=False, skipinitialspace=True,
        enforce=True, **({"blocksize": None} if packed else {}),
    )  # fmt: skip


def _labels(looks: list[Look], source: str) -> np.ndarray:
    """As `largemargin.data.read` has them: integers where all are whole numbers, else text."""
    row, parts = 0, []
    for found in looks:
        if found.missing is not None:
            raise broken(
                source, "expected a label, saw none; remove the row or fill in its label",
                row=row + found.missing + 1,
            )  # fmt: skip
        row += len(found.labels)
        if len(found.labels):
            parts.append(found.labels)
    if not parts:
        raise broken(source, "expected at least one row, saw none")
    raw: RawLabels
    if any(part.dtype.kind in LABEL_TEXT for part in parts):
        raw = [str(value) for part in parts for value in part.tolist()]
    else:
        raw = np.concatenate(parts)
    bad = first_bad_label(raw)
    if bad is not None:
        problem = label_problem(str(raw[bad])) or f"expected a finite label, saw {raw[bad]}"
        raise broken(source, problem, row=bad + 1)
    return parse_labels(raw, None, source)
