"""A report as data: what was run, its tables and figures, on what machine and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from largemargin.papers.comparison import LABELS, Table
from largemargin.papers.figures import Figure
from largemargin.report.machine import duration


@dataclass(frozen=True)
class Report:
    """Everything that the terminal, the JSON, the Markdown and the page show.

    Attributes
    ----------
    slug : str
        The name of the files, without an ending.
    command : str
        What to type to get this report again.
    reduced : tuple of str
        What was left out or made smaller; shown on every table. Empty for a full run.
    differences : tuple of str
        What is not as in the paper.
    machines : tuple of str
        What it ran on, in words.
    dates : tuple of str
        The first and the last day of the runs.
    seconds : float
        The time of all runs together.
    ours : str
        What a number of ours in a cell is.
    """

    slug: str
    title: str
    citation: str
    command: str
    settings: dict[str, Any]
    reduced: tuple[str, ...]
    differences: tuple[str, ...]
    machines: tuple[str, ...]
    dates: tuple[str, ...]
    n_runs: int
    seconds: float
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    ours: str = "one run"

    @property
    def labels(self) -> dict[str, str]:
        """The labels that the tables use, with what they mean."""
        used = {label for table in self.tables for label in table.labels}
        return {label: meaning for label, meaning in LABELS.items() if label in used}

    @property
    def nearness(self) -> str:
        """How near ours must be to the published numbers, in words."""
        found = [t.nearness for t in self.tables if t.is_compared and not t.is_of_statements]
        return "; ".join(dict.fromkeys(found))

    @property
    def provenance(self) -> str:
        """When, how long and on what, in one sentence."""
        when = " to ".join(dict.fromkeys(self.dates))
        runs = "1 experiment" if self.n_runs == 1 else f"{self.n_runs} experiments"
        return (
            f"{runs}, {duration(self.seconds)} of computing, {when}, on {'; '.join(self.machines)}."
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "report": self.slug,
            "title": self.title,
            "citation": self.citation,
            "command": self.command,
            "settings": self.settings,
            "reduced": list(self.reduced),
            "differences": list(self.differences),
            "machines": list(self.machines),
            "dates": list(self.dates),
            "n_runs": self.n_runs,
            "seconds": round(self.seconds, 3),
            "labels": self.labels,
            "tables": [table.as_json() for table in self.tables],
            "figures": [figure.as_json() for figure in self.figures],
            "ours": self.ours,
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Report:
        """What `as_json` gave; the labels follow from the tables."""
        return cls(
            slug=found["report"],
            title=found["title"],
            citation=found["citation"],
            command=found["command"],
            settings=found["settings"],
            reduced=tuple(found["reduced"]),
            differences=tuple(found["differences"]),
            machines=tuple(found["machines"]),
            dates=tuple(found["dates"]),
            n_runs=found["n_runs"],
            seconds=found["seconds"],
            tables=tuple(Table.from_json(table) for table in found["tables"]),
            figures=tuple(Figure.from_json(figure) for figure in found["figures"]),
            ours=found["ours"],
        )
