"""Arrow IPC files, also called Feather, and Arrow IPC streams, a record batch at a time.

pyarrow believes the offsets and the indices into dictionaries that a batch brings along, so each
batch is validated before anything is read from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from largemargin.data.columnar import ColumnarReader

_FILE_MAGIC = b"ARROW1"  # with it begins a file; a stream begins with its first message


class ArrowColumns:
    """The columns of an Arrow IPC file or stream."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.schema = self._open().schema

    @property
    def has_rows(self) -> bool:
        return any(batch.num_rows for batch in self._batches(self.schema.names[:1]))

    def batches(self, rows: int, columns: list[str]) -> Iterator[Any]:
        for batch in self._batches(columns):
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        """The batches as they were written."""
        from pyarrow import ipc

        fields = [self.schema.get_field_index(name) for name in columns]
        reader = self._open(ipc.IpcReadOptions(included_fields=fields))
        is_file = isinstance(reader, ipc.RecordBatchFileReader)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
        for batch in batches:
            batch.validate(full=True)
            yield batch

    def _open(self, options: Any = None) -> Any:
        from pyarrow import ipc

        self._stream.seek(0)
        is_file = self._stream.read(len(_FILE_MAGIC)) == _FILE_MAGIC
        self._stream.seek(0)
        return (ipc.open_file if is_file else ipc.open_stream)(self._stream, options=options)


class ArrowReader(ColumnarReader):
    """An Arrow IPC file or stream."""

    title = "Arrow"
    columns = ArrowColumns
