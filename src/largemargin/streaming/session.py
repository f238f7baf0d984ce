"""Lines to answers: a block of lines is answered and learned as if one came after the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.base.pipelines import earlier_steps, final_step
from largemargin.online.progressive import Answer, answer_and_learn
from largemargin.runtime.threads import Workers
from largemargin.streaming.events import BadLine, Event, read_event
from largemargin.streaming.input import Line, TooLong
from largemargin.streaming.schema import Schema


@dataclass
class LineCounts:
    """What has become of the lines so far."""

    lines: int = 0  # blank ones included
    answered: int = 0
    learned: int = 0
    errors: int = 0  # wrong answers to what was then learned
    skipped: int = 0

    @property
    def progressive_error(self) -> float | None:
        return self.errors / self.learned if self.learned else None


@dataclass(frozen=True)
class AdmittedEvent:
    """An event that fits into its stream, and the columns of its values."""

    event: Event
    columns: np.ndarray | None


@dataclass(frozen=True)
class BlockAnswers:
    """Answers, one per line, and what was wrong with the line that ended the stream, if one did."""

    text: str
    failure: str = ""


class Session:
    """A model on its way along a stream.

    Parameters
    ----------
    model : estimator
        An online learner, or a pipeline that ends in one.
    schema : Schema
    counts : LineCounts
    classes : array or None
        For a model that begins, the labels that will occur.
    scores : bool
        Whether to give scores too.
    report : callable or None
        Is told what is wrong with a line, which is then skipped. None: it ends the stream.
    """

    def __init__(
        self,
        model: Any,
        schema: Schema,
        counts: LineCounts,
        *,
        classes: np.ndarray | None = None,
        scores: bool = False,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self.model = model
        self.schema = schema
        self.counts = counts
        self._scaler, self._learner = earlier_steps(model), final_step(model)
        self._classes = classes
        self._scores = scores
        self._report = report
        self._label_texts: dict[Any, str] = {}

    @property
    def fitted(self) -> bool:
        return hasattr(self._learner, "learner_state")

    @property
    def n_jobs(self) -> int | None:
        n_jobs: int | None = self._learner.n_jobs
        return n_jobs

    @property
    def n_stored(self) -> int:
        return self._learner.n_support_ if self.fitted else 0

    def process(self, lines: list[Line], team: Workers) -> BlockAnswers:
        """Answer the next lines and learn from them."""
        mark = self.schema.mark()
        entries = self._read(lines)
        placed = [entry for entry in entries if isinstance(entry, AdmittedEvent)]
        try:
            answers = self._answer(placed, team) if placed else []
        except ValueError as error:
            self.schema.back_to(mark)
            if len(lines) > 1:
                return self._process_one_by_one(lines, team)
            answers, entries = [], [BadLine(str(error), placed[0].event.id)]
        return self._tell(entries, answers)

    def _process_one_by_one(self, lines: list[Line], team: Workers) -> BlockAnswers:
        """One of the lines cannot be learned: find out which."""
        texts = []
        for line in lines:
            processed = self.process([line], team)
            texts.append(processed.text)
            if processed.failure:
                return BlockAnswers("".join(texts), processed.failure)
        return BlockAnswers("".join(texts))

    def _read(self, lines: list[Line]) -> list[AdmittedEvent | BadLine | None]:
        """What the lines say, up to one that ends the stream; None for those that are blank."""
        entries: list[AdmittedEvent | BadLine | None] = []
        for line in lines:
            if not isinstance(line, TooLong) and not line.strip():
                entries.append(None)
                continue
            try:
                event = read_event(line)
                try:
                    entries.append(AdmittedEvent(event, self.schema.admit(event)))
                except BadLine as error:
                    error.id = event.id
                    raise
            except BadLine as error:
                entries.append(error)
                if self._report is None:
                    break
        return entries

    def _answer(self, placed: list[AdmittedEvent], team: Workers) -> list[Answer]:
        X = self.schema.rows([(entry.event, entry.columns) for entry in placed])
        if self._scaler is not None:
            X = self._scaler.transform(X)
        labels = [entry.event.label for entry in placed]
        labelled = np.array([label is not None for label in labels])
        y = self.schema.labels([label for label in labels if label is not None])
        return answer_and_learn(self._learner, X, y, labelled, team, self._classes)

    def _tell(
        self, entries: list[AdmittedEvent | BadLine | None], answers: list[Answer]
    ) -> BlockAnswers:
        """Count the entries and put the answers into words."""
        counts, texts, given = self.counts, [], iter(answers)
        for entry in entries:
            if isinstance(entry, AdmittedEvent):
                answer, label = next(given), entry.event.label
                counts.answered += 1
                if label is not None:
                    counts.learned += 1
                    counts.errors += answer.label != label
                texts.append(self._answer_text(entry.event, answer))
            elif isinstance(entry, BadLine):
                message = f"line {counts.lines + 1}: {entry}"
                if self._report is None:
                    return BlockAnswers("".join(texts), message)
                self._report(message)
                counts.skipped += 1
                texts.append(_object(entry.id, f'"error": {json.dumps(message)}'))
            counts.lines += 1
        return BlockAnswers("".join(texts))

    def _answer_text(self, event: Event, answer: Answer) -> str:
        text = f'"prediction": {self._label_text(answer.label)}'
        if self._scores and len(answer.classes) == 2 and answer.scores:
            text += f', "score": {answer.scores[0]!r}'
        elif self._scores and answer.scores:
            labels = (label if type(label) is str else str(label) for label in answer.classes)
            scores = dict(zip(labels, answer.scores, strict=True))
            text += f', "scores": {json.dumps(scores)}'
        return _object(event.id, text)

    def _label_text(self, label: Any) -> str:
        if label not in self._label_texts:
            self._label_texts[label] = json.dumps(label)
        return self._label_texts[label]


def _object(id: str | None, text: str) -> str:
    return f"{{{text}}}\n" if id is None else f'{{"id": {id}, {text}}}\n'
