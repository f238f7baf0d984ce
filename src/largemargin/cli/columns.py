"""The columns that a model knows, found again in other data: by name, in their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from largemargin.cli.output import note
from largemargin.cli.tables import as_table, is_table, preprocessor_of
from largemargin.runtime.showing import listed, shown

if TYPE_CHECKING:
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

    if not is_named(source) and reading.label is None and not no_label:
        reading, no_label = _remembered(source, reading, columns)
    by_name = columns.mixed or bool(columns.names)
    try:
        data = read_data(
            source, reading, no_label=no_label, as_text=columns.as_text, mixed=columns.mixed,
            n_features=None if by_name else columns.width,
        )  # fmt: skip
    except ValueError as error:
        raise _with_a_hint(error, columns, no_label) from error
    return _matched(data, columns, source, no_label)


def _remembered(source: str, reading: Reading, columns: Columns) -> tuple[Reading, bool]:
    """The column of the labels by its position, or that there is none."""
    names = names_in(source, reading)
    if columns.label is None or not names:
        return reading, False
    if columns.label in names:
        return replace(reading, label=str(names.index(columns.label))), False
    return reading, len(names) <= columns.width or bool(columns.names)


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
    names = data.feature_names
    if columns.mixed:
        table, X_test = _in_order(as_table(data), columns, source), None
        if data.X_test is not None:
            X_test = _in_order(as_table(replace(data, X=data.X_test)), columns, source)
        return replace(data, X=table, X_test=X_test, feature_names=columns.names)
    X = data.X if data.X_test is None else data.X_test
    if names and columns.names and names != columns.names:
        _check_names(names, columns, source)
        order = [names.index(name) for name in columns.names]
        return replace(data, X=data.X[:, order], feature_names=columns.names)
    if X.shape[1] != columns.width:
        hint = "" if no_label else ": if the file has no column of labels, add --no-label"
        raise ValueError(
            f"{source} has {X.shape[1]} features, and the model was trained on {columns.width}"
            f"{hint if not X.shape[1] > columns.width else ''}"
        )
    return data


def _in_order(table: Table, columns: Columns, source: str) -> Table:
    from largemargin.data import Table

    if _only_positions(table.names) and len(table.names) == columns.width:
        table = Table(dict(zip(columns.names, table.columns.values(), strict=True)))
    _check_names(table.names, columns, source)
    return table.select(columns.names)


def _only_positions(names: tuple[str, ...]) -> bool:
    """Whether columns have no names but those that their positions give them."""
    return all(name[:1] == "x" and name[1:].isdecimal() for name in names)


def _check_names(names: tuple[str, ...], columns: Columns, source: str) -> None:
    """Name the columns that are missing, which is an error, and those that are new."""
    missing = [name for name in columns.names if name not in names]
    extra = [name for name in names if name not in columns.names]
    if missing:
        beside = f"; it has {listed(extra)[1:-1]} instead" if extra else ""
        many = "columns" if len(missing) > 1 else "column"
        raise ValueError(
            f"{source} lacks the {many} {listed(missing)[1:-1]} that the model was trained on"
            f"{beside}: give data with the columns of training"
        )
    if extra:
        note(f"warning: {source} has columns that training did not have, which are left out: "
             f"{', '.join(map(shown, extra))}")  # fmt: skip
