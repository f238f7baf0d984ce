"""Rows of a request as the columns of a model: lists, objects by name, or a table in text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from largemargin.data import Table
from largemargin.web.problems import Problem
from largemargin.web.serving.models import Served

SHOWN = 5  # names of columns that a sentence has


def parse_json(body: bytes) -> Any:
    """What a body says; numbers that JSON does not have are refused."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is not a number that JSON has")

    try:
        return json.loads(body, parse_constant=refuse)
    except RecursionError:
        raise Problem(400, "the request is nested too deeply: send rows as lists") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise Problem(400, f"the request is not JSON: {_short(str(error))}") from None


def events_of(body: bytes) -> list[str]:
    """The examples of a request, a line of JSON each: one object, or one in each line."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise Problem(400, "the request is not UTF-8: send JSON in UTF-8") from None
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1:
        with suppress(ValueError, RecursionError):  # one object, over several lines
            return [json.dumps(json.loads(text))]
    return lines


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:197] + "..."


def _listed(names: Sequence[str]) -> str:
    few = ", ".join(_short(json.dumps(name)) for name in names[:SHOWN])
    return few + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def check_count(count: int, most: int) -> None:
    if count == 0:
        raise Problem(400, "there are no rows: send at least one")
    if count > most:
        raise Problem(413, f"{count} rows are more than {most}: send them in several requests")


def rows_of_records(served: Served, records: Any, most: int) -> np.ndarray | Table:
    """Rows from a list of lists, or of objects by the names of columns."""
    if not isinstance(records, list):
        raise Problem(400, f"rows must be a list, got {type(records).__name__}")
    check_count(len(records), most)
    kinds = {type(record) for record in records}
    if kinds == {dict}:
        records = _lists_of_objects(served, records)
    elif kinds == {list}:
        _check_lengths(served, records)
    else:
        raise Problem(
            400, "every row must be a list of values, or every row an object by feature name"
        )
    return _table(served, records) if served.takes_table else _array(served, records)


def check_width(served: Served, number: int, width: int) -> None:
    """Refuse a row that has another number of values than the model takes."""
    if width != served.n_features:
        raise Problem(
            400,
            f"row {number} has {width} values, and the model {served.name} takes "
            f"{served.n_features}" + (f": {_listed(served.names)}" if served.names else ""),
        )


def _check_lengths(served: Served, records: list[list[Any]]) -> None:
    for number, record in enumerate(records):
        check_width(served, number, len(record))


def _lists_of_objects(served: Served, records: list[dict[str, Any]]) -> list[list[Any]]:
    names = served.names
    if names is None:
        raise Problem(
            400,
            f"the model {served.name} knows no names of columns: send each row as a list of "
            f"{served.n_features} values",
        )
    check_names(served, {name for record in records for name in record})
    for number, record in enumerate(records):
        missing = [name for name in names if name not in record]
        if missing:
            raise Problem(400, f"row {number} lacks {_listed(missing)}")
    return [[record[name] for name in names] for record in records]


def check_names(served: Served, given: set[str]) -> None:
    """Refuse names that the model does not know, and ask for those that it needs."""
    known = served.names or ()
    unknown = sorted(given - set(known))
    missing = [name for name in known if name not in given]
    told = []
    if missing:
        told.append(f"the columns {_listed(missing)} are missing")
    if unknown:
        told.append(f"the columns {_listed(unknown)} are not known to the model")
    if told:
        raise Problem(400, " and ".join(told))


def _names(served: Served) -> tuple[str, ...]:
    return served.names or tuple(map(str, range(served.n_features)))


def _table(served: Served, rows: list[list[Any]]) -> Table:
    columns = zip(_names(served), zip(*rows, strict=True), strict=True)
    return Table({name: _column(list(values)) for name, values in columns})


def _array(served: Served, rows: list[list[Any]]) -> np.ndarray:
    for number, row in enumerate(rows):
        if not set(map(type, row)) <= {int, float}:
            k = next(k for k, value in enumerate(row) if type(value) not in (int, float))
            raise Problem(
                400,
                f"row {number} has {_short(json.dumps(row[k]))} in the column "
                f"{_short(json.dumps(_names(served)[k]))}: send a number",
            )
    try:
        return checked(np.array(rows, np.float64))
    except OverflowError:
        raise Problem(400, "a number is too large: send finite numbers") from None


def _column(values: list[Any]) -> np.ndarray:
    """A column of numbers, of truth values, or of text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        try:
            return np.array([np.nan if value is None else value for value in values], np.float64)
        except OverflowError:
            raise Problem(400, "a number is too large: send finite numbers") from None
    if kinds == {bool} and None not in values:
        return np.array(values, bool)
    column = np.empty(len(values), object)
    column[:] = [None if value is None else _text(value) for value in values]
    return column


def _text(value: Any) -> str:
    if isinstance(value, list | dict):
        raise Problem(400, f"{_short(json.dumps(value))} is no value of a column")
    return value if isinstance(value, str) else str(value)


def checked(X: np.ndarray) -> np.ndarray:
    """Rows whose values are all finite."""
    if not np.isfinite(X).all():
        row, column = map(int, np.argwhere(~np.isfinite(X))[0])
        raise Problem(
            400, f"row {row} has {X[row, column]} in column {column}: send finite numbers"
        )
    return X


def rows_of_csv(served: Served, body: bytes, most: int) -> np.ndarray | Table:
    """Rows of a table in text; its first line names the columns if the model knows names."""
    try:
        lines = [line for line in csv.reader(io.StringIO(body.decode("utf-8-sig"))) if line]
    except (UnicodeDecodeError, csv.Error) as error:
        raise Problem(400, f"the request is no table in text: {_short(str(error))}") from None
    if not lines:
        raise Problem(400, "there are no rows: send at least one")
    header = [cell.strip() for cell in lines[0]]
    if served.names is not None and set(header) & set(served.names):
        check_count(len(lines) - 1, most)
        check_names(served, set(header))
        if len(set(header)) < len(header):
            raise Problem(400, "two columns of the first line have the same name")
        order = [header.index(name) for name in served.names]
        if any(len(line) != len(header) for line in lines):
            raise Problem(400, f"every line must have {len(header)} cells, as the first one has")
        cells = [[line[k].strip() for k in order] for line in lines[1:]]
    else:
        check_count(len(lines), most)
        cells = [[cell.strip() for cell in line] for line in lines]
    if served.takes_table:
        return rows_of_records(served, [[cell or None for cell in row] for row in cells], most)
    return rows_of_records(served, [[_number(cell) for cell in row] for row in cells], most)


def _number(cell: str) -> Any:
    """A cell as a number, or as it is, to be refused by its place; 1_000 is no number here."""
    try:
        return cell if "_" in cell else float(cell)
    except ValueError:
        return cell
