"""Reading a table of mixed columns, whole.

A table of nothing but numbers is read as such, an array. Any other is read by columns.
"""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any

from largemargin.data.dataset import Dataset
from largemargin.data.errors import DataError, EncodingError, broken
from largemargin.data.files import Source
from largemargin.data.formats import Reader, ReadOptions
from largemargin.data.label_rule import check_labels
from largemargin.data.labels import (
    LabelKind,
    RawLabels,
    first_bad_label,
    label_problem,
    parse_labels,
)
from largemargin.data.mixed import Table
from largemargin.data.opening import check_width, open_reader, read_blocks

LATIN = "the file is not text in UTF-8 and was read as Latin-1; pass encoding= if letters are wrong"


def read_mixed(
    path: str | PathLike[str],
    options: ReadOptions,
    format: str | None,
    labels: LabelKind | None,
    encoding: str | None,
) -> Dataset:
    """What `read` returns with ``mixed=True``."""
    try:
        return _read(path, options, format, labels, encoding)
    except EncodingError:
        if encoding is not None:
            raise
    return _read(path, options, format, labels, "latin-1", LATIN)


def _read(
    path: str | PathLike[str],
    options: ReadOptions,
    format: str | None,
    labels: LabelKind | None,
    encoding: str | None,
    *notes: str,
) -> Dataset:
    source, reader = open_reader(path, options, format, labels, encoding)
    X, raw = _read_content(source, reader, options.n_features)
    notes = (*reader.notes, *notes)
    names = X.names if isinstance(X, Table) else reader.feature_names
    data = Dataset(X, None, name=source.path.name, feature_names=names, notes=notes)
    if raw is None:
        return data
    return _with_labels(data, raw, labels, source, reader)


def _read_content(
    source: Source, reader: Reader, n_features: int | None
) -> tuple[Any, RawLabels | None]:
    if not reader.column_names:  # a format of numbers
        return read_blocks(source, reader, n_features)
    try:
        return read_blocks(source, reader, n_features)
    except EncodingError:
        raise
    except DataError:  # not numbers alone; or damage, which is met again below
        pass
    label = label_name(reader)
    columns = reader.read_columns({} if label is None else {label: "label"})
    source.check_unchanged()
    raw = None if label is None else columns.pop(label)
    table = Table(columns)
    check_width(source, table.shape[1], n_features)
    return table, raw


def label_name(reader: Reader) -> str | None:
    """The name of the column of the labels, if there is one."""
    choice = reader.label_choice
    if choice is None or choice.position is None:
        return None
    return reader.column_names[choice.position]


def _with_labels(
    data: Dataset, raw: RawLabels, labels: LabelKind | None, source: Source, reader: Reader
) -> Dataset:
    name, reason, position = label_name(reader), "", None
    if name is not None and reader.label_choice is not None:
        position = reader.label_choice.position
        others = _columns(data.X, [n for n in reader.column_names if n != name])
        reason = check_labels(source.path, reader.label_choice, name, raw, others)
        if (at := first_bad_label(raw)) is not None:
            problem = label_problem(str(raw[at])) or "expected a label"
            raise broken(source.path, problem, row=at + 1, column=name)
    y = parse_labels(raw, labels, source.path)
    return replace(data, y=y, label_name=name, label_reason=reason, label_position=position)


def _columns(X: Any, names: list[str]) -> dict[str, Any]:
    if isinstance(X, Table):
        return X.columns
    return {name: X[:, j] for j, name in enumerate(names)}
