"""The report of a fit as data: everything that its page shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from os import PathLike
from typing import Any

from largemargin.certificates import Certificate
from largemargin.report.charts import Chart
from largemargin.report.fit.examples import Gallery
from largemargin.report.intervals import ErrorRate
from largemargin.runtime.files import write_atomically

FRAME_HEIGHT = 800  # pixels of the page in a notebook

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Confusion:
    """Counts, one row per true class and one column per predicted class."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def most(self) -> int:
        """The largest count of errors."""
        n = range(len(self.labels))
        return max((self.counts[i][j] for i in n for j in n if i != j), default=0)

    @property
    def by_class(self) -> list[tuple[str, int, float | None, float | None]]:
        """Label, rows, recall and precision of each class."""
        found = [sum(column) for column in zip(*self.counts, strict=True)]
        return [
            (
                label,
                sum(row),
                row[k] / sum(row) if sum(row) else None,
                row[k] / found[k] if found[k] else None,
            )
            for k, (label, row) in enumerate(zip(self.labels, self.counts, strict=True))
        ]

    def pairs(self, at_most: int) -> list[tuple[str, str, int]]:
        """True class, predicted class and count of the commonest errors."""
        n = range(len(self.labels))
        found = [(i, j) for i in n for j in n if i != j and self.counts[i][j]]
        found.sort(key=lambda pair: -self.counts[pair[0]][pair[1]])
        return [(self.labels[i], self.labels[j], self.counts[i][j]) for i, j in found[:at_most]]


@dataclass(frozen=True, repr=False)
class FitReport:
    """What was trained on what, how good it is, and what the theory says of it.

    `fit_report` makes one. In a notebook it shows itself.

    Attributes
    ----------
    html : str
        The page: one HTML file that needs nothing else.
    machine : str
        The name of the class.
    data : str
        The name of the training data.
    error : ErrorRate
        On the rows that it was tested on, or on the training set if there are none.
    tested : bool
        Whether these are other rows than the training set.
    training_error : ErrorRate or None
    guessing : float
        The error of always answering with the commonest class of those rows.
    certificate : Certificate or None
        None where the rows of the training set are not there.
    """

    machine: str
    data: str
    command: str
    facts: Facts
    parameters: Facts
    timings: Facts
    error: ErrorRate
    tested: bool
    training_error: ErrorRate | None
    guessing: float
    unknown_labels: int
    confusion: Confusion
    charts: tuple[Chart, ...]
    galleries: tuple[Gallery, ...]
    certificate: Certificate | None
    search: tuple[dict[str, Any], ...] = ()
    chosen: dict[str, Any] | None = None
    folds: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.machine} on {self.data}"

    @cached_property
    def html(self) -> str:
        from largemargin.report.fit.page import render

        return render(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        write_atomically(path, [self.html.encode("utf-8", "backslashreplace")])

    def __repr__(self) -> str:
        kind = "test" if self.tested else "training"
        return f"FitReport({self.title}: {kind} error {self.error})"

    def _repr_html_(self) -> str:
        """The page in a frame, so that its style stays its own."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.title)}" '
            f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 0"></iframe>'
        )
