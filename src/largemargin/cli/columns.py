"""The columns that a model knows, found again in other data: by name, in their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from largemargin.cli.output import note
from largemargin.cli.tables import as_table, is_table, preprocessor_of
from largemargin.runtime.showing import listed, shown

if TYPE_CHECKING:
    import numpy as np

    from largemargin.cli.options import Reading
    from largemargin.data import Dataset, Table


@dataclass(frozen=True)
class Columns:
    """What training data had.

    Attributes
    ----------
    width : int
    names : tuple of str
        Empty if the columns had none.
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
    label: str | None
    as_text: bool
    mixed: bool
    labelled: bool = True

    @classmethod
    def of_model(cls, model: Any, info: dict[str, Any]) -> Columns:
        step, classes = preprocessor_of(model), getattr(model, "classes_", None)
        known = step.feature_names_in_ if step is not None else info.get("feature_names") or ()
        return cls(
            int(model.n_features_in_), tuple(map(str, known)), info.get("label"),
            classes is None or classes.dtype.kind in "UTO", step is not None, classes is not None,
        )  # fmt: skip

    @classmethod
    def of_data(cls, data: Dataset) -> Columns:
        as_text = data.y is not None and data.y.dtype.kind in "UO"
        names, mixed = data.feature_names or (), is_table(data.X)
        return cls(data.X.shape[1], names, data.label_name, as_text, mixed)


def read_like(
    source: str, reading: Reading, columns: Columns, *, no_label: bool = False
) -> Dataset:
    """Data with the columns of training, put in their order.

    The column of the labels is the one of training if the file has it; else there are no labels.
    """
    from largemargin.cli.inputs import is_named, read_data

    by_name = columns.mixed or bool(columns.names)
    if not is_named(source):
        names = names_in(source, reading) if by_name or columns.label else ()
        if reading.label is None and not no_label:
            reading, no_label = _remembered(names, reading, columns)
        if names and columns.names and not _only_positions(names):
            _check_none_missing(names, columns, source)
    try:
        data = read_data(
            source, reading, no_label=no_label, as_text=columns.as_text, mixed=by_name,
            n_features=None if by_name else columns.width,
        )  # fmt: skip
    except ValueError as error:
        raise _with_a_hint(error, columns, no_label) from error
    return _matched(data, columns, source, no_label)


def _remembered(names: tuple[str, ...], reading: Reading, columns: Columns) -> tuple[Reading, bool]:
    """The column of the labels by its position, or that there is none."""
    if columns.label is None or not names:
        return reading, False
    if columns.label in names:
        return replace(reading, label=str(names.index(columns.label))), False
    if not _only_positions(names):
        return reading, True
    has_label = len(names) > columns.width
    return (replace(reading, label=str(len(names) - 1)) if has_label else reading), not has_label


def names_in(source: str, reading: Reading) -> tuple[str, ...]:
    """The names of all columns of a table in a file; empty for other formats."""
    from largemargin.data.formats import ReadOptions
    from largemargin.data.opening import open_reader

    options = ReadOptions(False, reading.header, None, True, reading.sep, reading.decimal)
    _, reader = open_reader(source, options, None, None, reading.encoding)
    return tuple(reader.column_names)


def _with_a_hint(error: ValueError, columns: Columns, no_label: bool) -> ValueError:
    """What a reader says of the width, with what to do about it here."""
    if f"n_features={columns.width}" not in str(error):
        return error
    if not no_label:
        return ValueError(
            f"{error}: if the file has no column of labels, add --no-label; if it is not the "
            "last one, name it with --label"
        )
    if not columns.labelled:
        return ValueError(f"{error}: if a column is to be left out, name it with --label")
    return error


def _matched(data: Dataset, columns: Columns, source: str, no_label: bool) -> Dataset:
    """The columns of training, in their order."""
    if columns.mixed or is_table(data.X):
        table, X_test = _in_order(as_table(data), columns, source, no_label), None
        if data.X_test is not None:
            parts = replace(data, X=data.X_test)
            X_test = _in_order(as_table(parts), columns, source, no_label)
        X = table if columns.mixed else _numbers(table, source)
        return replace(data, X=X, X_test=X_test, feature_names=columns.names)
    names = data.feature_names
    if names and columns.names and names != columns.names and not _only_positions(names):
        _tell_new(names, columns, source)
        order = [names.index(name) for name in columns.names]
        return replace(data, X=data.X[:, order], feature_names=columns.names)
    X = data.X if data.X_test is None else data.X_test
    if X.shape[1] != columns.width:
        raise _wrong_width(source, X.shape[1], columns, no_label)
    return data


def _wrong_width(source: str, width: int, columns: Columns, no_label: bool) -> ValueError:
    hint = ""
    if not columns.labelled:
        hint = ": if a column is to be left out, name it with --label"
    elif not no_label:
        hint = (
            ": if the file has no column of labels, add --no-label; if it is not the last one, "
            "name it with --label"
        )
    return ValueError(
        f"{source} has {width} features, and the model was trained on {columns.width}{hint}"
    )


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
                "model was trained without: fill it in, or train with such a file"
            )
    return np.column_stack(list(table.columns.values()))


def _in_order(table: Table, columns: Columns, source: str, no_label: bool) -> Table:
    from largemargin.data import Table

    if not columns.names or (_only_positions(table.names) and table.names != columns.names):
        if len(table.names) != columns.width:
            raise _wrong_width(source, len(table.names), columns, no_label)
        if not columns.names:
            return table
        table = Table(dict(zip(columns.names, table.columns.values(), strict=True)))
    _check_none_missing(table.names, columns, source)
    _tell_new(table.names, columns, source)
    return table.select(columns.names)


def _only_positions(names: tuple[str, ...]) -> bool:
    """Whether columns have no names but those that their positions give them."""
    return all(name[:1] == "x" and name[1:].isdecimal() for name in names)


def _check_none_missing(names: tuple[str, ...], columns: Columns, source: str) -> None:
    """Refuse a file that lacks columns of training, and name them."""
    missing = [name for name in columns.names if name not in names]
    extra = [name for name in names if name not in columns.names and name != columns.label]
    if missing:
        beside = f"; it has {listed(extra)[1:-1]} instead" if extra else ""
        many = "columns" if len(missing) > 1 else "column"
        raise ValueError(
            f"{source} lacks the {many} {listed(missing)[1:-1]} that the model was trained on"
            f"{beside}: give data with the columns of training"
        )


def _tell_new(names: tuple[str, ...], columns: Columns, source: str) -> None:
    """Name the columns that training did not have."""
    extra = [name for name in names if name not in columns.names]
    if extra:
        told = f"{source} has columns that training did not have, which are left out"
        note(f"warning: {told}: {listed(extra)[1:-1]}")
