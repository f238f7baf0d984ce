"""A file for a model of a stream whose values have names: cells find their columns by name.

The file is a table in text with a line of names, or JSON: one object a line, or a list of objects;
an object is a row, or an event of a stream, {"x": {...}, "y": ...}. A row is what it would be if it
came next in the stream: columns stand in any order, an empty cell or a name that is left out is 0,
text is a category where the stream had categories. Cells are taken as they are written, since the
category "007" is no number.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.data.errors import broken
from largemargin.data.files import Source, find_file
from largemargin.data.labels import LABEL_NAMES
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.showing import listed, shown
from largemargin.streaming.events import BadLine, Event
from largemargin.streaming.schema import OTHERS, Schema

_TRUTH = {"true": 1.0, "false": 0.0}
_BINARY = (".npz", ".parquet", ".pq", ".feather", ".arrow", ".ipc", ".idx", ".svm", ".libsvm")


@dataclass(frozen=True)
class NamedRow:
    """A row of a file: values by name, the label of an event, and the number of its line."""

    values: dict[str, Any]
    label: Any
    line: int


@dataclass(frozen=True)
class ServedRows:
    """Rows for a model, and what the file had beside what the model knows.

    Attributes
    ----------
    X : Matrix
    labels : list or None
        As the file has them.
    label_name : str or None
    missing, extra : list of str
        Names that the model knows and the file lacks, and the other way round.
    """

    X: Matrix
    labels: list[Any] | None
    label_name: str | None
    missing: list[str]
    extra: list[str]


def is_named_stream(info: dict[str, Any], width: int) -> bool:
    """Whether a model comes from a stream whose columns are not those of a table."""
    names = info.get("feature_names") or ()
    categories = any(name.endswith(OTHERS) for name in names)
    return "stream" in info and bool(names) and (len(names) < width or categories)


def serves(path: str) -> bool:
    """Whether a file is one of those that have names in text."""
    return find_file(path).suffix not in _BINARY


def read_for_stream(
    path: str, schema: Schema, *, label: str | int | None = None, no_label: bool = False
) -> ServedRows:
    """The rows of a file as the model of a stream takes them."""
    rows = list(_rows(find_file(path)))
    if not rows:
        raise broken(path, "there are no rows; expected at least one")
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    owners = {name.removesuffix(OTHERS) for name in schema.columns or () if name.endswith(OTHERS)}
    numbers = {
        name
        for name in schema.columns or ()
        if not (name.endswith(OTHERS) or any(name.startswith(f"{owner}=") for owner in owners))
    }
    known = [name for name in names if name in numbers or name in owners]
    if not known and any(names):
        raise broken(
            path,
            f"none of its columns, {listed(names)[1:-1]}, is one that the model knows from its "
            f"stream, {listed(sorted(numbers | owners))[1:-1]}; give data with these names",
        )
    extra = [name for name in names if name not in known]
    label_name = None if no_label else _label_column(path, names, extra, label)
    admitted = []
    for row in rows:
        mark = schema.mark()
        try:
            event = _event(row, known, numbers, owners, label_name)
            admitted.append((event, schema.admit(event)))
        except BadLine as error:
            raise broken(path, str(error), line=row.line) from None
        schema.back_to(mark)
    return ServedRows(
        schema.rows(admitted), None if no_label else _labels(path, rows, label_name), label_name,
        missing=[name for name in sorted(numbers | owners) if name not in names],
        extra=[name for name in extra if name != label_name],
    )  # fmt: skip


def _label_column(
    path: str, names: list[str], extra: list[str], label: str | int | None
) -> str | None:
    """The column of the labels: the one that is named, or called so, or the only one that the
    model does not know."""
    if isinstance(label, int) and -len(names) <= label < len(names):
        return names[label]
    if label is not None:
        if label not in names:
            raise broken(
                path, f"label={shown(label)} is not a column; there are {listed(names)[1:-1]}"
            )
        return str(label)
    called = [name for name in extra if name.lower() in LABEL_NAMES]
    return called[0] if called else extra[0] if len(extra) == 1 else None


def _labels(path: str, rows: list[NamedRow], column: str | None) -> list[Any] | None:
    """The labels of events, or of a column; None if there are none."""
    labels = [row.label if column is None else row.values.get(column) for row in rows]
    if column is None and all(value is None for value in labels):
        return None
    for row, value in zip(rows, labels, strict=True):
        if value is None or value == "":
            told = "the label is missing; give every row one, or leave them all out"
            raise broken(path, told, line=row.line)
    return labels


def _event(
    row: NamedRow, known: list[str], numbers: set[str], owners: set[str], label: str | None
) -> Event:
    """The event that a row is."""
    found: dict[str, float] = {}
    categories = {}
    for name in known:
        value = row.values.get(name)
        if name == label or value is None or value == "":
            continue
        number = _number(value)
        if name in numbers and number is not None:
            found[name] = number
        elif name in owners:
            column = f"{name}={value}"
            found[column], categories[column] = 1.0, name
        else:
            raise BadLine(f"{shown(name)} is {shown(value)}: give finite numbers")
    values = np.array(list(found.values()), np.float64)
    return Event(values, list(found), None, None, categories)


def _number(value: Any) -> float | None:
    """What a cell means if it is a finite number."""
    if isinstance(value, str):
        value = _TRUTH.get(value.strip().lower(), value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if np.isfinite(number) else None


def _rows(source: Source) -> Iterator[NamedRow]:
    """The rows of a file."""
    head = source.head(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    with source.open() as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        try:
            if head[:1] == b"[":
                yield from _objects(source, enumerate(_loaded(source, text.read(), 1), 1))
            elif head[:1] == b"{":
                lines = ((i, line) for i, line in enumerate(text, 1) if line.strip())
                yield from _objects(source, ((i, _loaded(source, line, i)) for i, line in lines))
            else:
                yield from _cells(source, text)
        except UnicodeDecodeError as error:
            raise broken(source.path, f"is not UTF-8 ({error.reason}); save it as UTF-8") from None


def _loaded(source: Source, text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        told = getattr(error, "msg", "nested too deeply").lower()
        raise broken(source.path, f"is not JSON: {told}", line=line) from None


def _objects(source: Source, objects: Iterator[tuple[int, Any]]) -> Iterator[NamedRow]:
    for line, found in objects:
        row = found["x"] if isinstance(found, dict) and isinstance(found.get("x"), dict) else found
        if not isinstance(row, dict):
            raise broken(
                source.path,
                f'expected an object of named values, or {{"x": {{...}}}}, saw {shown(found)}',
                line=line,
            )
        yield NamedRow(row, found.get("y") if row is not found else None, line)


def _cells(source: Source, text: io.TextIOWrapper) -> Iterator[NamedRow]:
    """The rows of a table, whose first line has the names."""
    first = text.readline()
    delimiter = max(",;\t|", key=first.count)
    names = next(csv.reader([first], delimiter=delimiter), [])
    if len(set(names)) < len(names):
        raise broken(source.path, "two columns have one name; rename one", line=1)
    reader = csv.reader(text, delimiter=delimiter)
    for cells in reader:
        if not cells:
            continue
        line = reader.line_num + 1
        if len(cells) != len(names):
            raise broken(
                source.path, f"expected {len(names)} cells, saw {len(cells)}; check it", line=line
            )
        yield NamedRow(dict(zip(names, cells, strict=True)), None, line)
