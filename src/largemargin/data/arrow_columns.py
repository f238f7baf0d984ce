"""Columns of pyarrow as a `Table` has them.

Numbers become float64, nulls nan; truth values bool, or text if one is null; dates and times the
text of ISO 8601. Text stays text, also where it is digits, since such a file has types.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from largemargin.data.cells import Texts
from largemargin.data.errors import broken
from largemargin.data.features import check_numbers
from largemargin.runtime.showing import shown


def column_of(path: str | PathLike[str], name: str, column: Any) -> np.ndarray:
    """A `pyarrow.ChunkedArray` as an array of float64, bool or objects."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = kind.value_type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _numbers(path, name, column)
    if pa.types.is_boolean(kind) and not column.null_count:
        return np.asarray(column.to_numpy(), dtype=np.bool_)
    if pa.types.is_nested(kind):
        raise broken(
            path,
            f"expected numbers, truth values or text, saw the type {shown(str(kind))[1:-1]}; make "
            "a column of each part, or leave the column out",
            column=name,
        )
    return _texts(path, name, column)


def present_and_missing(column: Any) -> Any:
    """A column of labels without nulls: they become nan, or empty text."""
    import pyarrow as pa

    if not column.null_count:
        return column
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.cast(pa.float64(), safe=False).fill_null(float("nan"))
    values = ["" if value is None else str(value) for value in column.to_pylist()]
    return pa.chunked_array([pa.array(values, pa.string())])


def _numbers(path: str | PathLike[str], name: str, column: Any) -> np.ndarray:
    import pyarrow as pa

    numbers = np.asarray(
        column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64
    )
    return check_numbers(path, name, numbers)


def _texts(path: str | PathLike[str], name: str, column: Any) -> np.ndarray:
    """Each different value is made once."""
    import pyarrow as pa

    unit = getattr(column.type, "unit", None)
    if unit == "ns":  # which Python has no type for
        column = column.cast(_in_microseconds(column.type), safe=False)
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        try:
            column = column.cast(pa.string())
        except pa.ArrowInvalid:
            raise broken(
                path,
                "expected text in UTF-8, saw other bytes; save the column as text, or leave it out",
                column=name,
            ) from None
    coded = column.dictionary_encode().combine_chunks()
    if isinstance(coded, pa.ChunkedArray):  # older versions leave chunks
        coded = coded.chunk(0) if coded.num_chunks else pa.array([], column.type)
    texts = Texts()
    values = np.array([*map(_text_of, coded.dictionary.to_pylist()), None], object)
    values[:-1] = [None if value is None else texts[value] for value in values[:-1]]
    indices = coded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
    return np.asarray(values[indices])


def _in_microseconds(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.time64("us") if pa.types.is_time(kind) else pa.duration("us")


def _text_of(value: Any) -> str | None:
    if value is None:
        return None
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
