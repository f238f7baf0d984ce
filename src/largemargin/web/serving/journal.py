"""What a learning server was taught, one line per example, on the disk before it is acknowledged.

A journal is a folder of segments, files whose names are the number of their first line. A line is
an object: its number n, the event as it was sent, and the answer. A line that is cut off at the end
was never acknowledged, and is dropped. Segments are deleted when a checkpoint has all their lines
and they are not among those whose ids are kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from largemargin.runtime.files import flush_folder

SUFFIX = ".jsonl"
SEGMENT = 10_000  # lines of a segment


@dataclass(frozen=True)
class Line:
    """A line of the journal; `id` is JSON text, or None if the event has none."""

    n: int
    id: str | None
    event: str
    answer: str


class Journal:
    """The segments of a folder, of which the last is written to.

    Parameters
    ----------
    folder : path
        It is made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._descriptor = -1
        self._first = 0  # number of the first line of the open segment
        self.next = 0  # number of the next line

    def lines(self) -> Iterator[Line]:
        """All lines that are whole, in order; what is cut off at the end is removed."""
        segments = self._segments()
        for path in segments:
            length = 0
            with open(path, "rb") as file:
                for text in file:
                    if not text.endswith(b"\n"):
                        break
                    try:
                        content = json.loads(text)
                        line = Line(**content)
                    except (ValueError, TypeError):
                        break
                    length += len(text)
                    self.next = line.n + 1
                    yield line
            if length < path.stat().st_size:
                if path != segments[-1]:
                    raise ValueError(
                        f"{path} is damaged in its middle: restore it from a copy, or move the "
                        "folder away to begin anew"
                    )
                os.truncate(path, length)

    def append(self, lines: list[Line]) -> None:
        """Have lines on the disk."""
        if not lines:
            return
        if self._descriptor < 0 or self.next - self._first >= SEGMENT:
            self._open(lines[0].n)
        data = "".join(json.dumps(vars(line)) + "\n" for line in lines).encode()
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        os.fsync(self._descriptor)
        self.next = lines[-1].n + 1

    def _open(self, first: int) -> None:
        self.close()
        path = self._folder / f"{first:020d}{SUFFIX}"
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        flush_folder(path)
        self._first = first

    def forget(self, before: int) -> None:
        """Delete segments all of whose lines have smaller numbers."""
        segments = self._segments()
        for path, later in pairwise(segments):
            if int(later.stem) <= before:
                path.unlink()

    def _segments(self) -> list[Path]:
        return sorted(self._folder.glob(f"*{SUFFIX}"))

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
