"""Files of named columns that pyarrow reads in batches: what Parquet and its kin have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import IO, Any, Protocol

import numpy as np

from largemargin.data.arrow_columns import column_of, present_and_missing
from largemargin.data.errors import MAX_NAME, broken
from largemargin.data.features import check_finite, float_type
from largemargin.data.files import Source
from largemargin.data.formats import Block, Reader, ReadOptions
from largemargin.data.label_rule import choose_label
from largemargin.data.labels import (
    LabelKind,
    RawLabels,
    first_bad_label,
    label_kind,
    label_position,
    label_problem,
)
from largemargin.runtime.showing import shown

# Where pandas keeps an index that is not simply 0, 1, 2, ...
PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_SURVEY_ROWS = 1 << 16  # labels that a survey reads together
_NULL = "expected a value, saw a null; remove the row or fill it in"


class Columns(Protocol):
    """An open file, as pyarrow reads it.

    Damage is an exception of pyarrow, an `OSError`, a `MemoryError` or a `UnicodeDecodeError`.
    """

    def __init__(self, stream: IO[bytes]) -> None: ...

    @property
    def schema(self) -> Any:
        """The names and types of the columns, a `pyarrow.Schema`."""
        ...

    @property
    def has_rows(self) -> bool: ...

    def batches(self, rows: int, columns: list[str]) -> Iterator[Any]:
        """The `pyarrow.RecordBatch`es of some columns, each of at most `rows` rows."""
        ...


class ColumnarReader(Reader):
    """A file of columns; every one but the label is a number or a truth value.

    Attributes
    ----------
    title : str
        What messages call the format.
    columns : type
        How pyarrow reads it.
    """

    title: str
    columns: type[Columns]
    feature_names: tuple[str, ...]

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self._source = source
        with self._open() as file:
            schema = file.schema
            columns = [n for n in schema.names if not PANDAS_INDEX.fullmatch(n)]
            if not file.has_rows:
                raise broken(source.path, "expected at least one row, saw none")
        if not columns:
            raise broken(source.path, "expected at least one column, saw none")
        self._check_names(columns)
        if options.mixed:
            self.column_names = tuple(columns)
            self.label_choice = choose_label(source.path, options.label, columns, len(columns))
            position = self.label_choice.position
        else:
            position = label_position(source.path, options.label, columns, len(columns))
        self._label = None if position is None else columns[position]
        self.feature_names = tuple(n for i, n in enumerate(columns) if i != position)
        if not self.feature_names:
            raise broken(source.path, "expected features beside the label, saw a single column")
        self._schema = schema
        self._dtype = None if options.mixed else self._feature_type(schema)

    def _check_names(self, columns: list[str]) -> None:
        """Columns are read by their names, so each must have one of its own."""
        seen: set[str] = set()
        for name in columns:
            if name in seen:
                raise broken(
                    self._source.path,
                    f"two columns are called {shown(name)}; give each a name of its own",
                )
            seen.add(name)
            if len(name) > MAX_NAME:
                raise broken(
                    self._source.path,
                    f"expected names of at most {MAX_NAME} characters, saw {shown(name)}",
                )

    def survey(self) -> LabelKind | None:
        if self._label is None:
            return None
        kinds = set()
        with self._open() as file:
            for batch in file.batches(_SURVEY_ROWS, [self._label]):
                kinds.add(label_kind(self._raw_labels(batch.column(0))))
        return "str" if "str" in kinds else "int"

    def blocks(self, rows: int) -> Iterator[Block]:
        first = 1
        dtype = self._dtype or self._feature_type(self._schema)
        for table in self._tables(rows):
            X = np.empty((table.num_rows, len(self.feature_names)), dtype=dtype)
            for j, name in enumerate(self.feature_names):
                self._check_present(table, name, first)
                X[:, j] = table.column(name).to_numpy()
            check_finite(self._source.path, X, first, self.feature_names)
            yield Block(X, self._labels(table, first))
            first += table.num_rows

    def read_columns(self, kinds: Mapping[str, str]) -> dict[str, Any]:
        import pyarrow as pa

        with self._open() as file:
            batches = list(file.batches(_SURVEY_ROWS, list(self.column_names)))
            table = pa.Table.from_batches(batches)
            return {name: self._column(name, table, kinds) for name in self.column_names}

    def _column(self, name: str, table: Any, kinds: Mapping[str, str]) -> Any:
        column = table.column(name)
        if kinds.get(name) == "label":
            return self._raw_labels(present_and_missing(column).combine_chunks())
        return column_of(self._source.path, name, column)

    def _tables(self, rows: int) -> Iterator[Any]:
        """Tables of `rows` rows; a batch may end before it has as many."""
        import pyarrow as pa

        wanted = [*self.feature_names, *([self._label] if self._label is not None else [])]
        pending: list[Any] = []
        count = 0
        with self._open() as file:
            if gone := set(wanted) - set(file.schema.names):
                raise broken(
                    self._source.path,
                    f"there is no column {shown(min(gone))} any more: the file changed while it "
                    "was read",
                )
            for batch in file.batches(rows, wanted):
                pending.append(batch)
                count += batch.num_rows
                if count >= rows:
                    table = pa.Table.from_batches(pending)
                    yield table.slice(0, rows)
                    pending = table.slice(rows).to_batches()
                    count -= rows
        if count:
            yield pa.Table.from_batches(pending)

    def _labels(self, table: Any, first: int) -> RawLabels | None:
        if self._label is None:
            return None
        self._check_present(table, self._label, first)
        labels = self._raw_labels(table.column(self._label).combine_chunks())
        if (at := first_bad_label(labels)) is not None:
            problem = label_problem(str(labels[at])) or (
                f"expected a label, saw {str(labels[at])!r}; remove the row or fill in its label"
            )
            raise broken(self._source.path, problem, row=first + at, column=self._label)
        return labels

    def _raw_labels(self, column: Any) -> RawLabels:
        """Numbers as an array, anything else as text."""
        import pyarrow as pa

        kind = column.type
        if pa.types.is_dictionary(kind):
            if column.dictionary.null_count:
                raise broken(self._source.path, _NULL, column=self._label)
            kind = kind.value_type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            numbers = column.dictionary_decode() if kind is not column.type else column
            return np.asarray(numbers.to_numpy(zero_copy_only=False))
        if pa.types.is_nested(kind):
            raise broken(
                self._source.path,
                f"expected labels that are numbers or text, saw the type {shown(str(kind))}; pass "
                "label= to name another column",
                column=self._label,
            )
        values = _python_values(column)
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            return [_decoded(value, self._source.path) for value in values]
        return [str(value) for value in values]

    def _check_present(self, table: Any, name: str, first: int) -> None:
        column = table.column(name)
        if column.null_count:
            at = int(np.flatnonzero(column.is_null().to_numpy())[0])
            raise broken(
                self._source.path,
                _NULL,
                row=first + at,
                column=name,
            )

    def _feature_type(self, schema: Any) -> type[np.floating]:
        dtypes = []
        for name in self.feature_names:
            dtype = _numpy_type(schema.field(name).type)
            if dtype is None:
                raise broken(
                    self._source.path,
                    f"expected numbers, saw the type {shown(str(schema.field(name).type))[1:-1]}; "
                    "write it as numbers, leave it out, or pass "
                    f"label={shown(name)} if it is the label",
                    column=name,
                )
            dtypes.append(float_type(dtype))
        return float_type(np.result_type(*set(dtypes)))

    @contextmanager
    def _open(self) -> Iterator[Columns]:
        try:
            import pyarrow as pa
        except ImportError as error:
            raise ImportError(
                f"{self._source.path}: reading {self.title} needs pyarrow; "
                'pip install "largemargin[parquet]"'
            ) from error
        with self._source.open_seekable() as stream:
            try:
                yield self.columns(stream)
            except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError) as error:
                size = stream.seek(0, 2)
                raise broken(
                    self._source.path,
                    f"expected a complete {self.title} file, saw {size} bytes that are damaged or "
                    f"cut off ({_first_sentence(error)}); copy or write the file again",
                ) from error


def _numpy_type(arrow_type: Any) -> Any:
    """The NumPy type of a column of numbers, or None for any other column."""
    import pyarrow as pa

    numeric = pa.types.is_integer(arrow_type) or pa.types.is_floating(arrow_type)
    return arrow_type.to_pandas_dtype() if numeric or pa.types.is_boolean(arrow_type) else None


def _python_values(column: Any) -> list[Any]:
    """The values of a column; each value of a dictionary is made once."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return list(column.to_pylist())
    values = column.dictionary.to_pylist()
    return [None if index is None else values[index] for index in column.indices.to_pylist()]


def _decoded(value: bytes | None, path: PathLike[str]) -> str:
    try:
        return str(value) if value is None else value.decode()
    except UnicodeDecodeError:
        raise broken(
            path, f"expected labels in UTF-8, saw {shown(value)}; save them as text"
        ) from None


def _first_sentence(error: Exception) -> str:
    text = str(error) or type(error).__name__
    return text.strip().split("\n")[0].split(". ")[0].rstrip(".")
