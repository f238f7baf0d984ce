"""Parquet files, a row group at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from largemargin.data.columnar import ColumnarReader


class ParquetColumns:
    """The columns of a Parquet file."""

    def __init__(self, stream: IO[bytes]) -> None:
        import pyarrow.parquet as pq

        self._file = pq.ParquetFile(stream)

    @property
    def schema(self) -> Any:
        return self._file.schema_arrow

    @property
    def has_rows(self) -> bool:
        return bool(self._file.metadata.num_rows)

    def batches(self, rows: int, columns: list[str]) -> Iterator[Any]:
        yield from self._file.iter_batches(rows, columns=columns)


class ParquetReader(ColumnarReader):
    """A Parquet file."""

    title = "Parquet"
    columns = ParquetColumns
