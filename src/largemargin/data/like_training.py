"""Reading a table for a model: the columns that it was trained on, in their order and kinds."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from largemargin.data.cells import numbers_of, truths_of
from largemargin.data.dataset import Dataset
from largemargin.data.errors import DataError, EncodingError, broken
from largemargin.data.features import check_numbers
from largemargin.data.files import Source
from largemargin.data.formats import Reader, ReadOptions
from largemargin.data.label_rule import LabelChoice, check_labels, default_name
from largemargin.data.labels import LabelKind, parse_labels
from largemargin.data.mixed import Table
from largemargin.data.mixed_reading import LATIN
from largemargin.data.opening import open_reader
from largemargin.runtime.showing import listed, shown


def read_like(
    path: str | PathLike[str],
    names: Sequence[str],
    label_name: str | None = None,
    *,
    kinds: Mapping[str, str] | None = None,
    need_labels: bool = False,
    header: bool | None = None,
    format: str | None = None,
    labels: LabelKind | None = None,
    sep: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> Dataset:
    """Read a table as a model expects it, whether or not it has the column of the labels.

    Columns are found by their names, in whatever order they are. Columns that the model does not
    know are left out and named in `Dataset.notes`. A file without names has its columns in the
    order of `names`, with the label among them or without it.

    Parameters
    ----------
    path : str or path-like
        The file: a table in text, JSON lines, Parquet or Arrow, also compressed.
    names : sequence of str
        The columns of the training data, in order, without the label. Columns that had no name are
        x0, x1 and so on.
    label_name : str, default=None
        The column of the labels, as `Dataset.label_name` has it.
    kinds : mapping of str to {"number", "bool", "text"}, default=None
        What the columns of the training data were, as `Table.kinds` has it.
    need_labels : bool, default=False
        Whether a file without labels, or with rows that have none, is refused.
    header, format, labels, sep, encoding, decimal
        As for `read`.

    Returns
    -------
    Dataset
        `X` is a `Table` with the columns `names`, `y` the labels or None.

    Raises
    ------
    DataError
        If columns are missing, or hold what they did not hold in the training data.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "new.csv"
    >>> _ = path.write_text("town,job,age\\nUlm,clerk,39\\nBonn,?,50\\n")
    >>> data = read_like(path, ["age", "job"], "class", kinds={"age": "number", "job": "text"})
    >>> data.X.columns
    {'age': array([39., 50.]), 'job': array(['clerk', None], dtype=object)}
    >>> data.notes
    ("the column 'town' is not used",)
    """
    wanted = (*names, *([label_name] if label_name is not None else []))
    options = ReadOptions(False, header, None, True, sep, decimal, wanted)
    told: tuple[str, ...] = ()
    try:
        found = _read_all(path, options, format, encoding, label_name, kinds or {})
    except EncodingError:
        if encoding is not None:
            raise
        found = _read_all(path, options, format, "latin-1", label_name, kinds or {})
        told = (LATIN,)
    data, raw = found
    data = replace(data, notes=(*data.notes, *told))
    if raw is None and not need_labels:
        return data
    return _with_labels(path, data, raw, label_name, labels, need_labels)


def _read_all(
    path: str | PathLike[str],
    options: ReadOptions,
    format: str | None,
    encoding: str | None,
    label_name: str | None,
    kinds: Mapping[str, str],
) -> tuple[Dataset, Any]:
    """The columns that are wanted, and the raw labels if they are there."""
    source, reader = open_reader(path, options, format, None, encoding)
    if not reader.column_names:
        raise broken(
            source.path,
            "expected a table of named columns (CSV, JSON lines, Parquet or Arrow), as the model "
            "was trained on one, saw a format of numbers",
        )
    places = _places(source, reader, options.names, label_name)
    there = {place: kinds[name] for name, place in places.items() if name in kinds}
    if label_name in places:
        there[places[label_name]] = "label"
    columns = reader.read_columns(there)
    source.check_unchanged()
    raw = columns[places[label_name]] if label_name in places else None
    table = Table(
        {
            name: _as_kind(source, name, columns[places[name]], kinds.get(name))
            for name in options.names
            if name != label_name
        }
    )
    unused = [name for name in reader.column_names if name not in set(places.values())]
    notes = (*reader.notes, *_left_out(unused))
    data = Dataset(table, None, name=source.path.name, feature_names=table.names, notes=notes)
    return replace(data, label_name=label_name), raw


def _left_out(unused: list[str]) -> list[str]:
    if not unused:
        return []
    if len(unused) == 1:
        return [f"the column {shown(unused[0])} is not used"]
    return [f"the columns {listed(unused)[1:-1]} are not used"]


def _places(
    source: Source, reader: Reader, wanted: Sequence[str], label_name: str | None
) -> dict[str, str]:
    """Under which name the file has each column, the label's included if it is there."""
    present = reader.column_names
    names = [name for name in wanted if name != label_name]
    missing = [name for name in names if name not in present]
    if reader.feature_names is None or (missing and _are_positions(names)):
        return _places_by_order(source, present, names, label_name)
    if missing:
        raise _missing(source, missing, present)
    return {name: name for name in wanted if name in present}


def _places_by_order(
    source: Source, present: Sequence[str], names: list[str], label_name: str | None
) -> dict[str, str]:
    if len(present) == len(names):
        return dict(zip(names, present, strict=True))
    labelled = [*names, *([label_name] if label_name is not None else [])]
    if len(present) == len(labelled) and _are_positions(labelled):
        return {name: present[int(name[1:])] for name in labelled}
    raise broken(
        source.path,
        f"expected {len(names)} columns without names, or a header line with the names of the "
        f"training data ({listed(names)[1:-1]}), saw {len(present)} columns without them; add the "
        "header line",
    )


def _are_positions(names: Sequence[str]) -> bool:
    """Whether these are columns that had no names."""
    return all(name[:1] == "x" and name[1:].isdecimal() for name in names) and set(names) <= {
        default_name(j) for j in range(len(names) + 1)
    }


def _missing(source: Source, missing: list[str], present: Sequence[str]) -> DataError:
    close = difflib.get_close_matches(missing[0], present, n=1)
    hint = f"; did you mean {shown(close[0])} by {shown(missing[0])}?" if close else ""
    many = f"the column {shown(missing[0])} is" if len(missing) == 1 else (
        f"the columns {listed(missing)[1:-1]} are"
    )  # fmt: skip
    return broken(
        source.path,
        f"{many} missing, on which the model was trained{hint}; the file has "
        f"{listed(present)[1:-1]}; add what is missing, empty where it is not known",
    )


def _as_kind(source: Source, name: str, column: np.ndarray, kind: str | None) -> np.ndarray:
    """A column as the kind that it had in the training data."""
    has = {"f": "number", "b": "bool", "O": "text"}[column.dtype.kind]
    if kind is None or has == kind:
        return column
    if kind == "number":
        return _as_numbers(source, name, column)
    if kind == "bool":
        return _as_truths(column)
    return _as_text(column)


def _as_numbers(source: Source, name: str, column: np.ndarray) -> np.ndarray:
    if column.dtype == np.bool_:
        return column.astype(np.float64)
    numbers = numbers_of(["" if cell is None else cell for cell in column])
    if numbers is not None:
        return check_numbers(source.path, name, numbers)
    cell = next(c for c in column if c is not None and numbers_of([c]) is None)
    raise broken(
        source.path,
        f"expected a number, as in the training data, saw {shown(cell)}; correct it, or leave it "
        "out if the value is not known",
        column=name,
    )


def _as_truths(column: np.ndarray) -> np.ndarray:
    """Truth values where there is nothing else; 1 is true and 0 false."""
    if column.dtype == np.float64:
        return column == 1 if np.isin(column, (0, 1)).all() else _as_text(column)
    truths = truths_of(column, {cell for cell in column if cell is not None})
    return column if truths is None else truths


def _as_text(column: np.ndarray) -> np.ndarray:
    if column.dtype == np.bool_:
        return np.where(column, "True", "False").astype(object)
    texts = np.empty(len(column), object)
    texts[:] = [
        None if value != value else str(int(value)) if value.is_integer() else str(value)
        for value in column.tolist()
    ]
    return texts


def _with_labels(
    path: str | PathLike[str],
    data: Dataset,
    raw: Any,
    label_name: str | None,
    labels: LabelKind | None,
    need_labels: bool,
) -> Dataset:
    if raw is None:
        missing = "" if label_name is None else f", {shown(label_name)}, is missing"
        raise broken(
            path, f"the column of the labels{missing or ' is not known'}; add it to the file"
        )
    try:
        check_labels(path, LabelChoice(None), str(label_name), raw, {}, measurements=True)
    except DataError:
        if need_labels:
            raise
        note = f"rows of the column {shown(label_name)} have no label, so that it is not used"
        return replace(data, notes=(*data.notes, note))
    return replace(data, y=parse_labels(raw, labels, path))
