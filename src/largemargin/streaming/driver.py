"""The loop of a stream: take what has arrived, answer it, learn from it, and keep a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from largemargin.model_file import save
from largemargin.runtime.threads import Workers, workers
from largemargin.streaming.checkpoint import StreamPosition, model_info, write_checkpoint
from largemargin.streaming.input import Line, LineReader, SignalWatch, add_checksum
from largemargin.streaming.output import Output
from largemargin.streaming.schema import Schema
from largemargin.streaming.session import LineCounts, Session

BLOCK_LINES = 256  # lines of a block: what the learners look ahead
PROGRESS_SECONDS = 0.2  # seconds between two reports of the progress


class Driver:
    """A model, a stream and its output.

    Parameters
    ----------
    model, schema, classes, scores, report
        See `Session`.
    output : Output
    place : StreamPosition or None
        Where the stream goes on; None if it begins.
    checkpoint : str or None
        The file for checkpoints.
    every : int
        Lines between two of them.
    options : dict
        What must be the same when the stream goes on, to note in checkpoints.

    Attributes
    ----------
    failure : str
        What was wrong with the line that ended the stream, if one did.
    """

    def __init__(
        self,
        model: Any,
        schema: Schema,
        output: Output,
        *,
        place: StreamPosition | None,
        classes: np.ndarray | None,
        scores: bool,
        checkpoint: str | None,
        every: int,
        report: Callable[[str], None] | None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.output = output
        self.failure = ""
        self._counts = LineCounts() if place is None else place.counts
        self._checksum = 0 if place is None else place.checksum
        self._secured = 0 if place is None else self._counts.lines
        self._checkpoint = checkpoint
        self._every = every
        self._options = options
        self.session = Session(
            model, schema, self._counts, classes=classes, scores=scores, report=report
        )

    def run(
        self, source: int, stopping: SignalWatch, tell: Callable[[], None] | None = None
    ) -> None:
        """Process the lines of a descriptor until they end, a signal comes or a line fails."""
        lines = LineReader(source, stopping.alarm)
        self._pass_over(lines)
        if stopping.signal:
            return
        self.output.open()
        try:
            with workers(self.session.n_jobs) as team:
                self._follow(lines, stopping, team, tell)
            self._secure()
        finally:
            self.output.close()

    def _follow(
        self,
        lines: LineReader,
        stopping: SignalWatch,
        team: Workers,
        tell: Callable[[], None] | None,
    ) -> None:
        told = time.monotonic()
        while not stopping.signal and not self.failure:
            due = self._every - self._counts.lines % self._every
            block = lines.take(min(BLOCK_LINES, due))
            if not block:
                break
            if lines.cut:
                self._process_cut(block, team)
            else:
                self._process(block, team)
            if self._counts.lines % self._every == 0:
                self._secure()
            if tell is not None and time.monotonic() - told > PROGRESS_SECONDS:
                tell()
                told = time.monotonic()

    def _process_cut(self, block: list[Line], team: Workers) -> None:
        """Process a last line that lacks its end. If it is no event, whoever writes the input may
        not have finished it: no checkpoint includes it, so that a resumed stream sees it whole."""
        self._secure()
        answered = self._counts.answered
        self._process(block, team)
        if self._counts.answered == answered:
            self._secured = self._counts.lines

    def _pass_over(self, lines: LineReader) -> None:
        """Take the lines that the checkpoint has consumed, and see that they are the same."""
        there, checksum = self._counts.lines, 0
        while lines.taken < there and (block := lines.take(there - lines.taken)):
            checksum = add_checksum(checksum, block)
        if lines.alarmed:
            return
        if lines.taken < there:
            raise ValueError(
                f"the input has {lines.taken} lines, and the checkpoint has consumed {there}: give "
                "the same input again, from its beginning"
            )
        if checksum != self._checksum:
            raise ValueError(
                f"the first {there} lines of the input are not those that the checkpoint has "
                "consumed: give the same input again, from its beginning"
            )

    def _process(self, block: list[Line], team: Workers) -> None:
        before = self._counts.lines
        processed = self.session.process(block, team)
        self._checksum = add_checksum(self._checksum, block[: self._counts.lines - before])
        self.output.write(processed.text)
        self.failure = processed.failure

    @property
    def _place(self) -> StreamPosition:
        schema = self.session.schema
        return StreamPosition(
            self._counts, self._checksum, self.output.length, self.output.checksum, schema.sparse,
            schema.names, self._options,
        )  # fmt: skip

    def _secure(self) -> None:
        """Write a checkpoint, if one is wanted and there is something to keep."""
        if (
            self._checkpoint is None
            or self._secured == self._counts.lines
            or not self.session.fitted
        ):
            return
        self.output.secure()
        write_checkpoint(self._checkpoint, self.session.model, self._place)
        self._secured = self._counts.lines

    def save(self, path: str) -> None:
        """Write the model as it is now."""
        if not self.session.fitted:
            raise ValueError(f'no line had a label ("y"), so there is no model to write to {path}')
        save(self.session.model, path, info=model_info(self._place))
