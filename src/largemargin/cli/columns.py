"""The columns that a model knows, found again in other data: by name, in their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from largemargin.cli.options import in_options
from largemargin.cli.output import note
from largemargin.cli.sources import is_named, read_data
from largemargin.cli.tables import as_table, is_table, preprocessor_of
from largemargin.runtime.showing import shown

if TYPE_CHECKING:
    import numpy as np

    from largemargin.cli.options import Reading
    from largemargin.data import Dataset, Table

_LABELS = ("label", "target", "class", "y")  # names of labels where a model does not say its own


@dataclass(frozen=True)
class Columns:
    """What training data had.

    Attributes
    ----------
    width : int
    names : tuple of str
        Empty if the columns had none.
    kinds : dict
        What columns held, as far as it is known: number, bool or text.
    label : str or None
        The column of the labels, where it is known.
    as_text : bool
        Whether labels are text.
    mixed : bool
        Whether rows are those of a table, and not numbers alone.
    labelled : bool
        Whether there were labels.
    """

    width: int
    names: tuple[str, ...]
    kinds: dict[str, str]
    label: str | None
    as_text: bool
    mixed: bool
    labelled: bool = True

    @classmethod
    def of_model(cls, model: Any, info: dict[str, Any]) -> Columns:
        step, classes = preprocessor_of(model), getattr(model, "classes_", None)
        known = step.feature_names_in_ if step is not None else info.get("feature_names") or ()
        names = tuple(map(str, known))
        kinds = info.get("column_kinds", {}) if step is not None else dict.fromkeys(names, "number")
        return cls(
            int(model.n_features_in_), names, kinds, info.get("label"),
            classes is None or classes.dtype.kind in "UTO", step is not None, classes is not None,
        )  # fmt: skip

    @classmethod
    def of_data(cls, data: Dataset) -> Columns:
        as_text = data.y is not None and data.y.dtype.kind in "UO"
        names, mixed = data.feature_names or (), is_table(data.X)
        kinds = as_table(data).kinds if mixed else dict.fromkeys(names, "number")
        return cls(data.X.shape[1], names, kinds, data.label_name, as_text, mixed)


def read_for(source: str, reading: Reading, columns: Columns, *, no_label: bool = False) -> Dataset:
    """Data with the columns of training, put in their order.

    The column of the labels is the one of training if the file has it; else there are no labels.
    """
    there = () if is_named(source) else names_in(source, reading)
    if there and columns.names and not _are_positions(there):
        return _by_name(source, reading, columns, there, no_label)
    if reading.label is None and not no_label:
        reading, no_label = _label_by_position(there, reading, columns)
    return _by_position(source, reading, columns, no_label)


def names_in(source: str, reading: Reading) -> tuple[str, ...]:
    """The names of all columns of a table in a file; empty for other formats."""
    from largemargin.data.errors import EncodingError
    from largemargin.data.formats import ReadOptions
    from largemargin.data.opening import open_reader

    options = ReadOptions(False, reading.header, None, True, reading.sep, reading.decimal)
    try:
        _, reader = open_reader(source, options, None, None, reading.encoding)
    except EncodingError:
        if reading.encoding is not None:
            raise
        _, reader = open_reader(source, options, None, None, "latin-1")
    return tuple(reader.column_names)


def _by_name(
    source: str, reading: Reading, columns: Columns, there: tuple[str, ...], no_label: bool
) -> Dataset:
    from largemargin.data import read_like

    label = None if no_label else _label_by_name(there, reading, columns)
    data = read_like(
        source, columns.names, label, kinds=columns.kinds,
        labels="str" if columns.as_text else None, **reading.given,
    )  # fmt: skip
    for sentence in data.notes:
        note(f"note: {source}: {in_options(sentence)}")
    X = data.X if columns.mixed else _numbers(data.X, source)
    return replace(data, X=X)


def _label_by_name(there: tuple[str, ...], reading: Reading, columns: Columns) -> str | None:
    """The column that was named, or that of training; of older models, which do not say it, the
    column that they do not know.
    """
    named = reading.label
    if named is not None and named not in there and named.lstrip("-").isdecimal():
        position = int(named)
        if -len(there) <= position < len(there):
            return there[position]
    if named is not None or columns.label is not None or not columns.labelled:
        return named if named is not None else columns.label
    others = [name for name in there if name not in columns.names]
    called = [name for name in others if name.lower() in _LABELS]
    return next(iter(called or others[-1:]), None)


def _label_by_position(
    there: tuple[str, ...], reading: Reading, columns: Columns
) -> tuple[Reading, bool]:
    """The column of the labels of a file without names, or that there is none."""
    if columns.label is None or not there:
        return reading, False
    if columns.label in there and len(there) > columns.width:
        return replace(reading, label=str(there.index(columns.label))), False
    if len(there) > columns.width:
        return replace(reading, label=str(len(there) - 1)), False
    return reading, len(there) == columns.width


def _by_position(source: str, reading: Reading, columns: Columns, no_label: bool) -> Dataset:
    by_name = columns.mixed or bool(columns.names)
    try:
        data = read_data(
            source, reading, no_label=no_label, as_text=columns.as_text, mixed=by_name,
            n_features=None if by_name else columns.width,
        )  # fmt: skip
    except ValueError as error:
        if f"n_features={columns.width}" not in str(error):
            raise
        raise ValueError(f"{error}{_hint(columns, no_label)}") from error
    X = data.X if data.X_test is None else data.X_test
    if X.shape[1] != columns.width:
        raise ValueError(
            f"{source} has {X.shape[1]} features, and the model was trained on {columns.width}"
            f"{_hint(columns, no_label)}"
        )
    if not columns.mixed:
        return replace(data, X=_numbers(data.X, source)) if is_table(data.X) else data
    parts = {"X": as_table(data)}
    if data.X_test is not None:
        parts["X_test"] = as_table(replace(data, X=data.X_test))
    named: Any = {part: _renamed(table, columns.names) for part, table in parts.items()}
    return replace(data, feature_names=columns.names, **named)


def _hint(columns: Columns, no_label: bool) -> str:
    if not columns.labelled:
        return ": if a column is to be left out, name it with --label"
    if no_label:
        return ""
    return (
        ": if the file has no column of labels, add --no-label; if it is not the last one, name it "
        "with --label"
    )


def _renamed(table: Table, names: tuple[str, ...]) -> Table:
    from largemargin.data import Table

    return Table(dict(zip(names, table.columns.values(), strict=True)))


def _numbers(table: Table, source: str) -> np.ndarray:
    """A table for a model of numbers: each column must be of numbers, none of them missing."""
    import numpy as np

    for name, column in table.columns.items():
        if column.dtype.kind != "f":
            raise ValueError(
                f"{source}: the column {shown(name)} has text such as {shown(str(column[0]))}, and "
                "the model was trained on numbers: write numbers, or train with such a file"
            )
        if np.isnan(column).any():
            row = int(np.isnan(column).argmax()) + 1
            raise ValueError(
                f"{source}: the column {shown(name)} has a missing value in row {row}, and the "
                "model was trained without missing values: fill it in, or train with such a file"
            )
    return np.column_stack(list(table.columns.values()))


def _are_positions(names: tuple[str, ...]) -> bool:
    """Whether columns have no names but those that their positions give them."""
    return all(name[:1] == "x" and name[1:].isdecimal() for name in names)
