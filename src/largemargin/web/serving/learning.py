"""A model that learns what it is taught, and forgets nothing that it has acknowledged.

An example is answered by the model as it was before, learned, written to the journal, and only then
acknowledged. Now and then the model is written as a checkpoint of a stream; whoever starts again
loads it and learns the lines of the journal that came after it once more, with the same result,
since a learner does not depend on how its stream was cut.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from largemargin.runtime.threads import workers
from largemargin.streaming.checkpoint import (
    StreamPosition,
    read_checkpoint,
    schema_of,
    write_checkpoint,
)
from largemargin.streaming.events import BadLine, read_event
from largemargin.streaming.input import TooLong
from largemargin.streaming.session import LineCounts, Session
from largemargin.web.problems import Problem
from largemargin.web.serving.journal import Journal, Line

IDS = 100_000  # ids whose answers are kept
EVERY = 1000  # examples between two checkpoints
BROKEN = "an example could not be learned for a reason unknown to the server: start it again"
STOPPED = (
    "the disk did not take the last examples, so nothing more is learned: make room, and start the "
    "server again"
)


class _Lesson:
    """Events that are answered and learned together, as if one came after the other.

    Attributes
    ----------
    lines : list of Line
        What was learned, for the journal.
    """

    def __init__(self, session: Session, known: Mapping[str, tuple[bytes, str]]) -> None:
        self._session, self._known = session, known
        self._now: dict[str, tuple[bytes, str]] = {}  # of these events, as in `known`
        self._block: list[tuple[int, str, str | None]] = []  # place, event, id: not learned yet
        self._answers: list[str | Problem] = []
        self.lines: list[Line] = []

    def answers(self, events: list[str]) -> list[str | Problem]:
        waiting: set[str] = set()  # ids in the block
        for place, event in enumerate(events):
            self._answers.append("")
            try:
                id = read_event(event.encode()).id
                id = None if id == "null" else id
            except BadLine as error:
                self._answers[place] = Problem(400, str(error))
                continue
            if id is not None and id in waiting:
                self._learn()
                waiting.clear()
            found = None if id is None else self._again(id, event)
            if found is not None:
                self._answers[place] = found
                continue
            self._block.append((place, event, id))
            if id is not None:
                waiting.add(id)
        self._learn()
        return self._answers

    def _again(self, id: str, event: str) -> str | Problem | None:
        """The answer to an event that was learned already."""
        digest, answer = self._now.get(id) or self._known.get(id) or (b"", "")
        if not digest:
            return None
        if digest != _digest(event):
            return Problem(409, f"the id {id[:80]} was used by another example: use a new one")
        return answer

    def _learn(self) -> None:
        """Learn the block; events that cannot be learned leave nothing behind, nor a number."""
        if not self._block:
            return
        counts = self._session.counts
        number, skipped = counts.lines, counts.skipped
        # a thread costs more than an example
        with workers(1 if len(self._block) < 16 else self._session.n_jobs) as team:
            text = self._session.process([event.encode() for _, event, _ in self._block], team).text
        for (place, event, id), answer in zip(self._block, text.splitlines(), strict=True):
            problem = json.loads(answer).get("error")
            if problem is not None:
                self._answers[place] = Problem(400, problem.partition(": ")[2])
                continue
            self.lines.append(Line(number, id, event, answer))
            self._answers[place] = answer
            number += 1
            if id is not None:
                self._now[id] = _digest(event), answer
        counts.lines, counts.skipped = number, skipped
        self._block = []


class Learner:
    """An online learner on the disk.

    Parameters
    ----------
    path : path
        Its model file, from which it begins; what it learns is in the folder PATH.learning.
    model : estimator
    info : dict
        The notes of the model file.
    """

    def __init__(self, path: Path, model: Any, info: dict[str, Any]) -> None:
        schema_of(model, info, str(path))  # what cannot learn is refused before anything is made
        self._folder = Path(f"{path}.learning")
        self._folder.mkdir(exist_ok=True)
        self.lock = threading.Lock()  # whoever reads the model takes it
        self._alone = self._claim()
        self._checkpoint = str(self._folder / "checkpoint.safetensors")
        sparse, counts = None, LineCounts()
        if os.path.exists(self._checkpoint):
            model, place = read_checkpoint(self._checkpoint)
            info = {} if place.names is None else {"feature_names": place.names}
            sparse, counts = place.sparse, place.counts
        self._session = Session(
            model, schema_of(model, info, str(path), sparse), counts, scores=True, report=_ignored
        )
        self._answers: OrderedDict[str, tuple[bytes, str]] = OrderedDict()  # by id: digest, answer
        self._secured, self._trouble = counts.lines, ""
        self._journal = Journal(self._folder / "journal")
        self._replay()

    def _claim(self) -> int:
        """See that no other server learns the same model."""
        found = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(found)
            raise ValueError(
                f"another server learns in {self._folder}: end it first, or serve a copy"
            ) from None
        return found

    def _replay(self) -> None:
        """Learn what the journal has and the checkpoint has not."""
        behind = []
        for line in self._journal.lines():
            self._remember(line)
            if line.n >= self._session.counts.lines:
                behind.append(line)
        if behind and behind[0].n != self._session.counts.lines:
            raise ValueError(
                f"the journal in {self._folder} begins at example {behind[0].n}, and its "
                f"checkpoint ends before {self._session.counts.lines}: restore both from one copy"
            )
        with workers(self._session.n_jobs) as team:
            for first in range(0, len(behind), 256):
                block: list[bytes | TooLong] = [
                    line.event.encode() for line in behind[first : first + 256]
                ]
                self._session.process(block, team)
        self._journal.next = max(self._journal.next, self._session.counts.lines)

    def _remember(self, line: Line) -> None:
        if line.id is not None:
            self._answers[line.id] = _digest(line.event), line.answer
            if len(self._answers) > IDS:
                self._answers.popitem(last=False)

    @property
    def n_learned(self) -> int:
        return self._session.counts.lines

    @property
    def model(self) -> Any:
        return self._session.model

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of the model as it is now."""
        with self.lock:
            return np.asarray(self._session.model.decision_function(X))

    def learn(self, events: list[str]) -> list[str | Problem]:
        """Answer and learn events, each a line of JSON; they are on the disk when this returns.

        An answer is JSON text, or what is wrong with the event, of which nothing was learned.
        """
        with self.lock:
            if self._trouble:
                return [Problem(503, self._trouble) for _ in events]
            try:
                lesson = _Lesson(self._session, self._answers)
                answers = lesson.answers(events)
            except Exception:
                self._trouble = BROKEN
                raise
            self._write(lesson.lines)
            return answers

    def _write(self, lines: list[Line]) -> None:
        try:
            self._journal.append(lines)
            for line in lines:
                self._remember(line)
            if self._session.counts.lines - self._secured >= EVERY:
                self._secure()
        except OSError as error:
            self._trouble = STOPPED
            raise Problem(503, f"{STOPPED} ({error.strerror})") from error

    def _secure(self) -> None:
        """Write a checkpoint, and let go of what it makes needless."""
        counts, schema = self._session.counts, self._session.schema
        place = StreamPosition(counts, sparse=schema.sparse, names=schema.names)
        write_checkpoint(self._checkpoint, self._session.model, place)
        self._secured = counts.lines
        self._journal.forget(counts.lines - IDS)

    def close(self) -> None:
        """Write a checkpoint and end."""
        with self.lock:
            if not self._trouble and self._session.counts.lines > self._secured:
                self._secure()
            self._journal.close()
            os.close(self._alone)


def _digest(event: str) -> bytes:
    """By what the same event is recognised, however it is written."""
    content = json.dumps(json.loads(event), sort_keys=True)
    return blake2b(content.encode(), digest_size=16).digest()


def _ignored(message: str) -> None:
    """What is wrong with an event is told to whoever sent it."""
