"""JSON lines, an object a line, and arrays of objects; each object is an example.

The names of all objects together are the columns, in the order in which they are first met. An
object without a name has no value there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from largemargin.data.cells import Texts, numbers_of, truths_of
from largemargin.data.errors import MAX_NAME, DataError, broken
from largemargin.data.features import check_finite, check_numbers
from largemargin.data.files import Source, each_line
from largemargin.data.formats import Block, Reader, ReadOptions
from largemargin.data.label_rule import choose_label
from largemargin.data.labels import (
    LabelKind,
    first_bad_label,
    label_kind,
    label_position,
    label_problem,
)
from largemargin.data.text import open_text
from largemargin.runtime.showing import shown


class JsonReader(Reader):
    """A file of JSON objects, which is read whole."""

    feature_names: tuple[str, ...]

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self._path = source.path
        self._values = _columns_of(_records(source))
        names = list(self._values)
        if not names:
            raise broken(self._path, "expected at least one example with a value, saw none")
        if len(longest := max(names, key=len)) > MAX_NAME:
            told = f"expected names of at most {MAX_NAME} characters, saw {shown(longest)}"
            raise broken(self._path, told)
        if options.mixed:
            self.column_names = tuple(names)
            self.label_choice = choose_label(self._path, options.label, names, len(names))
            position = self.label_choice.position
        else:
            position = label_position(self._path, options.label, names, len(names))
        self._label = None if position is None else names[position]
        self.feature_names = tuple(name for name in names if name != self._label)
        if not self.feature_names:
            raise broken(
                self._path,
                "expected features beside the label, saw a single name in all objects; pass "
                "label=False if there are no labels",
            )

    def survey(self) -> LabelKind | None:
        return None if self._label is None else label_kind(_raw_labels(self._values[self._label]))

    def blocks(self, rows: int) -> Iterator[Block]:
        X = np.column_stack([self._numbers(name) for name in self.feature_names])
        check_finite(self._path, X, 1, self.feature_names)
        labels = None if self._label is None else _raw_labels(self._values[self._label])
        if labels is not None and (at := first_bad_label(labels)) is not None:
            told = label_problem(labels[at]) or "expected a label"
            raise broken(self._path, told, row=at + 1, column=self._label)
        for start in range(0, len(X), rows):
            part = slice(start, start + rows)
            yield Block(X[part], None if labels is None else labels[part])

    def _numbers(self, name: str) -> np.ndarray:
        values = self._values[name]
        for row, value in enumerate(values, 1):
            if not isinstance(value, int | float):
                seen = "no value" if value is None else shown(value)
                raise broken(
                    self._path,
                    f"expected a number, saw {seen}; remove the row or fill in a number, or pass "
                    f"label={shown(name)} if it is the label",
                    row=row,
                    column=name,
                )
        return self._floats(name)

    def _floats(self, name: str) -> np.ndarray:
        try:
            return np.array(self._values[name], np.float64)
        except OverflowError:
            raise broken(
                self._path, "expected finite numbers, saw an integer that is larger", column=name
            ) from None

    def read_columns(self, kinds: Mapping[str, str]) -> dict[str, Any]:
        return {name: self._column(name, kinds.get(name)) for name in self._values}

    def _column(self, name: str, kind: str | None) -> Any:
        values = self._values[name]
        types = {type(value) for value in values}
        if types & {dict, list}:
            row = next(i for i, value in enumerate(values) if isinstance(value, dict | list))
            raise broken(
                self._path,
                f"expected a number, a truth value or text, saw {shown(values[row])}; give each "
                "part a name of its own, or leave it out",
                row=row + 1,
                column=name,
            )
        if kind == "label":
            return _raw_labels(values)
        if types <= {int, float, type(None)} and kind != "text":
            return check_numbers(self._path, name, self._floats(name))
        if types == {bool} and kind != "text":
            return np.array(values, np.bool_)
        cells = _raw_labels(values)
        if types <= {str, type(None)} and kind != "text":
            numbers = numbers_of(cells)
            if numbers is not None:
                return check_numbers(self._path, name, numbers)
        texts = Texts()
        column = texts.of(cells)
        truths = truths_of(column, {text for text in texts.values() if text is not None})
        return column if truths is None or kind == "text" else truths


def _raw_labels(values: list[Any]) -> list[str]:
    """Values as text, nothing where there is none."""
    return [_text_of(value) for value in values]


def _text_of(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.strip() if isinstance(value, str) else str(value)


def _columns_of(records: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    count = -1
    for count, record in enumerate(records):
        for name, value in record.items():
            column = columns.setdefault(name, [])
            if len(column) < count:
                column.extend([None] * (count - len(column)))
            column.append(value)
    for column in columns.values():
        column.extend([None] * (count + 1 - len(column)))
    return columns


def _records(source: Source) -> Iterator[dict[str, Any]]:
    """The objects of a file."""
    with open_text(source) as stream:
        is_array = None
        for number, line in enumerate(each_line(stream, "", source.path), 1):
            begin = line.lstrip()[:1]
            if begin and is_array is None:
                is_array = begin == "["
            if is_array:
                break
            if begin:
                yield _parse_object(source, line, number)
    if is_array:
        yield from _array(source)


def _array(source: Source) -> Iterator[dict[str, Any]]:
    with open_text(source) as stream:
        found = _parse(source, stream.read(), None)
    for row, record in enumerate(found, 1):
        if not isinstance(record, dict):
            told = f"expected an array of objects, saw {shown(record)} in it"
            raise broken(source.path, told, row=row)
        yield record


def _parse_object(source: Source, line: str, number: int) -> dict[str, Any]:
    record = _parse(source, line, number)
    if not isinstance(record, dict):
        told = f'expected an object such as {{"age": 39}}, saw {shown(record)}'
        raise broken(source.path, told, line=number)
    return record


def _parse(source: Source, text: str, number: int | None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _not_json(source, error, number) from None


def _not_json(source: Source, error: Exception, number: int | None) -> DataError:
    if number is None:
        return broken(
            source.path,
            f"expected an array of JSON objects ({error}); write the file again",
            line=getattr(error, "lineno", None),
        )
    told = getattr(error, "msg", str(error))
    return broken(
        source.path,
        f"expected a JSON object in each line, or one array of objects ({told}); write the "
        "examples as JSON lines",
        line=number,
    )
