"""What the frames of every replay have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.machines import DETECTOR
from largemargin.web.playground.picture import leads, rows_of_scores
from largemargin.web.playground.tasks import Task

MOST_FRAMES = 60


def chosen(count: int) -> list[int]:
    """At most so many of some positions, evenly, the last always."""
    if count <= MOST_FRAMES:
        return list(range(count))
    return sorted({round(k) for k in np.linspace(0, count - 1, MOST_FRAMES)})


def wrong_of(task: Task, scores: np.ndarray, classes: Any) -> list[int]:
    lead = leads(rows_of_scores(scores))
    if task.card.kind == DETECTOR:
        return np.flatnonzero(lead[1] < 0).tolist()
    answers = np.asarray(classes)[lead.argmax(axis=0)]
    return np.flatnonzero(answers != task.y).tolist()


def counted(count: int, what: str) -> str:
    """
    >>> counted(1, "error"), counted(2, "error")
    ('1 error', '2 errors')
    """
    return f"{count} {what}{'' if count == 1 else 's'}"


def few_digits(value: Any) -> str:
    return f"{float(value):.3g}"
