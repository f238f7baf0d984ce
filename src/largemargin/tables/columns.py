"""Any table as columns of four types of arrays.

    float64       numbers, and spans of time in days; nan where a value is missing
    bool          truth values, none of them missing
    datetime64    moments, in UTC; NaT where a value is missing
    object        text without spaces around it; None where a value is missing

Which library a table comes from is told by the module of its class, so that none is imported.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.data.cells import is_missing
from largemargin.runtime.showing import listed, shown

_MOMENTS = "datetime64[us]"


def columns_of(X: Any) -> tuple[dict[str, np.ndarray], bool]:
    """The columns of a table by their names, in order, and whether the names are its own.

    The columns of an array have the names x0, x1 and so on.
    """
    library = type(X).__module__.partition(".")[0]
    if sp.issparse(X):
        raise ValueError(
            "a TablePreprocessor needs a table, got sparse rows, which are numbers already: use "
            "MaxAbsScaler instead"
        )
    if library in ("pandas", "polars", "pyarrow"):
        pairs = _FRAMES[library](X)
    elif isinstance(X, Mapping):
        pairs = [(name, _normal(_line(name, values))) for name, values in X.items()]
    elif isinstance(getattr(X, "columns", None), Mapping):
        pairs = [(name, _normal(values)) for name, values in X.columns.items()]
    else:
        return _columns_of_array(X), False
    return _checked(pairs), True


def _checked(pairs: Iterable[tuple[Any, np.ndarray]]) -> dict[str, np.ndarray]:
    """Columns by their names, which must differ, of equal lengths."""
    found = [(str(name), values) for name, values in pairs]
    twice = [name for name, count in Counter(name for name, _ in found).items() if count > 1]
    if twice:
        raise ValueError(
            f"the names of columns must differ, got {listed(twice)} more than once: rename them"
        )
    if not found:
        raise ValueError("a table needs at least one column, got none")
    first, rows = found[0][0], len(found[0][1])
    for name, values in found:
        if len(values) != rows:
            raise ValueError(
                f"columns must be equally long, got {len(values)} values of {shown(name)} and "
                f"{rows} of {shown(first)}"
            )
    return dict(found)


def _columns_of_array(X: Any) -> dict[str, np.ndarray]:
    if isinstance(X, str | PathLike):
        raise ValueError(
            f"a table must be a data frame or a dict of columns, got {shown(X)}: read the file "
            "with largemargin.data.read(path, mixed=True)"
        )
    array = np.asarray(X) if hasattr(X, "dtype") else np.array(X, object)
    if array.ndim != 2:
        raise ValueError(
            "a table must be a data frame, a dict of columns or an array of rows and columns, got "
            f"{type(X).__name__} of {array.ndim} dimensions. Reshape your data: X.reshape(-1, 1) "
            "for one column, X.reshape(1, -1) for one row"
        )
    if not array.shape[1]:
        raise ValueError(f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    return {f"x{i}": _normal(column) for i, column in enumerate(array.T)}


def _line(name: Any, values: Any) -> np.ndarray:
    """The values of one column, as an array of one dimension."""
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise ValueError(
            f"the column {shown(name)} must be a list or an array, got {shown(values)}: for a "
            "table of one row, lists of one value"
        )
    if not hasattr(values, "dtype"):
        line = np.empty(len(values), object)
        line[:] = list(values)
        return line
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(
            f"the column {shown(name)} must have one dimension, got an array of shape {array.shape}"
        )
    return array


def _columns_of_pandas(X: Any) -> list[tuple[Any, np.ndarray]]:
    if not hasattr(X, "columns"):
        raise ValueError(f"a table must be a data frame, got a pandas {type(X).__name__}")
    return [(name, _pandas_column(X.iloc[:, i])) for i, name in enumerate(X.columns)]


def _pandas_column(column: Any) -> np.ndarray:
    kind = getattr(column.dtype, "kind", "O")
    if kind in "iuf":
        return np.asarray(column.to_numpy(np.float64, na_value=np.nan))
    if kind == "M" and getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    if kind in "mM":
        return _normal(column.to_numpy())
    if kind == "b" and not column.isna().any():
        return np.asarray(column.to_numpy(np.bool_))
    return _normal(column.to_numpy(object))


def _columns_of_polars(X: Any) -> list[tuple[Any, np.ndarray]]:
    if not hasattr(X, "height"):
        raise ValueError(
            f"a table must be a data frame, got a polars {type(X).__name__}: for a LazyFrame, call "
            "collect() first"
        )
    return [(series.name, _polars_column(series)) for series in X]


def _polars_column(series: Any) -> np.ndarray:
    import polars as pl

    if series.dtype.is_numeric():
        return np.asarray(series.cast(pl.Float64).to_numpy(), np.float64)
    if series.dtype.is_temporal():
        return _normal(np.asarray(series.to_numpy()))
    return _normal(_line(series.name, series.to_list()))


def _columns_of_arrow(X: Any) -> list[tuple[Any, np.ndarray]]:
    if not hasattr(X, "schema"):
        raise ValueError(f"a table must have columns, got a pyarrow {type(X).__name__}")
    names = X.schema.names
    return [(name, _arrow_column(X.column(i))) for i, name in enumerate(names)]


def _arrow_column(column: Any) -> np.ndarray:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    if pa.types.is_timestamp(kind):
        return _normal(np.asarray(column.to_numpy(zero_copy_only=False)))
    return _normal(_line("", column.to_pylist()))


_FRAMES = {
    "pandas": _columns_of_pandas,
    "polars": _columns_of_polars,
    "pyarrow": _columns_of_arrow,
}


def _normal(values: np.ndarray) -> np.ndarray:
    """An array of one dimension as one of the four types."""
    kind = values.dtype.kind
    if kind == "f" or kind in "iu":
        return values.astype(np.float64)
    if kind == "b":
        return values
    if kind == "M":
        return values.astype(_MOMENTS)
    if kind == "m":
        days = values / np.timedelta64(1, "D")
        return np.where(np.isnat(values), np.nan, days)
    if kind == "c":
        raise ValueError("Complex data not supported: use the real and the imaginary part")
    return _normal_objects(values.astype(object))


def _normal_objects(values: np.ndarray) -> np.ndarray:
    """Python objects as numbers, truth values or moments, if all of them are, and else as text."""
    kinds = set(map(type, values.tolist()))
    if not kinds <= {str, type(None)}:
        missing = np.fromiter(map(_is_missing, values), bool, len(values))
        present = values[~missing]
        kinds = set(map(type, present))
        if all(issubclass(kind, bool | np.bool_) for kind in kinds) and not missing.any():
            return values.astype(bool)
        if kinds and all(_is_number(kind) for kind in kinds):
            return _filled(values, missing, np.nan, np.float64)
        if kinds and all(issubclass(kind, datetime.timedelta) for kind in kinds):
            spans = np.empty(len(values), object)
            spans[~missing] = present / datetime.timedelta(days=1)
            return _filled(spans, missing, np.nan, np.float64)
        if kinds and all(issubclass(kind, datetime.date | np.datetime64) for kind in kinds):
            moments = np.empty(len(values), object)
            moments[~missing] = [_moment(value) for value in present]
            return _filled(moments, missing, np.datetime64("NaT"), _MOMENTS)
        _check_simple(present)
        values = values.copy()
        values[missing] = None
    texts = {value: _text(value) for value in set(values)}
    normal = np.empty(len(values), object)
    normal[:] = [texts[value] for value in values]
    return normal


def _check_simple(values: np.ndarray) -> None:
    for value in values:
        if isinstance(value, dict | list | set | np.ndarray):
            raise TypeError(
                "the argument must be a string or a number: a value of a table is a number, text, "
                f"a date or a truth value, got {shown(value)}"
            )


def _filled(values: np.ndarray, missing: np.ndarray, mark: Any, dtype: Any) -> np.ndarray:
    filled = np.full(len(values), mark, dtype)
    filled[~missing] = values[~missing].astype(dtype)
    return filled


def _is_number(kind: type) -> bool:
    from decimal import Decimal

    if issubclass(kind, complex | np.complexfloating):
        raise ValueError("Complex data not supported: use the real and the imaginary part")
    return issubclass(kind, Real | Decimal) and not issubclass(kind, bool | np.bool_)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    if isinstance(value, str):
        return is_missing(value.strip())
    return isinstance(value, float | np.floating) and bool(value != value)


def _moment(value: Any) -> np.datetime64:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def _text(value: Any) -> str | None:
    """A value as text; a number as `plain_number` has it."""
    if isinstance(value, str):
        value = value.strip()
        return None if is_missing(value) else str(value)
    if value is None:
        return None
    if _is_number(type(value)):
        return plain_number(float(value))
    return str(value)


def plain_number(number: float) -> str:
    """A number as short as can be, without a fraction if it has none.

    >>> plain_number(7.0), plain_number(0.5)
    ('7', '0.5')
    """
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
