"""A report as data: tables that put published numbers beside our own, and figures.

A cell holds the mean of our runs, its deviation over them, and the published number with a label
that says how well we know it. Whether the two agree depends on the unit: test errors within 0.2
points, or within one published deviation where there is one, counts within 3 percent. A statement
holds, 1, or does not, 0, and must be the same.

A `Report` is all that a run found: its tables and figures, what was run, on what machine and when.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.figures import Figure
from largemargin.report.machine import duration

LABELS = {
    "print": "read in a copy of the printed paper",
    "recalled": "remembered, not re-read: compare loosely",
    "derived": "worked out from other published numbers",
    "run": "measured on the same data with another program",
    "text": "stated in the text of the paper, in words",
}

COMPARED = (
    "percent",
    "count",
    "statement",
)  # units in which ours can agree with a published number
POINTS = 0.2  # difference of test errors that agree; they are published with one digit
SHARE = 0.03  # difference of counts that agree, as a share of the published one
LARGE = 1e7  # counts from here on are written with a power of ten


@dataclass(frozen=True)
class Published:
    """A published number, with its deviation if known; `label` is a key of `LABELS`."""

    value: float
    label: str
    deviation: float | None = None


@dataclass(frozen=True)
class Cell:
    """Our number and the published one. `deviation` is None where there was one run only."""

    ours: float | None = None
    deviation: float | None = None
    published: Published | None = None
    unit: str = "percent"

    @property
    def difference(self) -> float | None:
        if self.ours is None or self.published is None:
            return None
        return self.ours - self.published.value

    @property
    def agrees(self) -> bool | None:
        """Whether ours is near enough to the published number; None if there is no pair."""
        if self.difference is None or self.published is None or self.unit not in COMPARED:
            return None
        if self.unit == "statement":
            return self.difference == 0
        allowed = POINTS if self.unit == "percent" else SHARE * self.published.value
        if self.published.deviation is not None:
            allowed = self.published.deviation
        return abs(self.difference) <= allowed + 1e-9

    def _published_deviation(self) -> dict[str, float]:
        if self.published is None or self.published.deviation is None:
            return {}
        return {"published_deviation": self.published.deviation}

    def as_json(self) -> dict[str, Any]:
        return {
            "ours": self.ours,
            "deviation": self.deviation,
            "published": self.published.value if self.published else None,
            "label": self.published.label if self.published else None,
            **self._published_deviation(),
            "difference": self.difference,
            "agrees": self.agrees,
        }

    @classmethod
    def from_json(cls, found: dict[str, Any], unit: str) -> Cell:
        """What `as_json` gave, in a row of this unit."""
        published = None
        if found["published"] is not None:
            published = Published(
                found["published"], found["label"], found.get("published_deviation")
            )
        return cls(found["ours"], found["deviation"], published, unit)


@dataclass(frozen=True)
class Row:
    """A named row; `unit` is one of COMPARED, "seconds" or "value", a setting such as C."""

    name: str
    unit: str
    cells: tuple[Cell, ...]

    @property
    def has_ours(self) -> bool:
        return any(cell.ours is not None for cell in self.cells)

    @property
    def labels(self) -> list[str]:
        """The labels that occur, in the order of `LABELS`."""
        found = {cell.published.label for cell in self.cells if cell.published}
        return [label for label in LABELS if label in found]

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "unit": self.unit,
            "cells": [cell.as_json() for cell in self.cells],
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Row:
        unit = found["unit"]
        cells = tuple(Cell.from_json(cell, unit) for cell in found["cells"])
        return cls(found["name"], unit, cells)


@dataclass(frozen=True)
class Group:
    """Rows under one heading, such as all those of one degree."""

    title: str
    rows: tuple[Row, ...]

    def lacks(self, row: Row) -> bool:
        """Whether published numbers could be expected in a row: others of the group have them."""
        compared = any(r.labels and r.has_ours for r in self.rows)
        return compared and row.unit in COMPARED

    def as_json(self) -> dict[str, Any]:
        return {"title": self.title, "rows": [row.as_json() for row in self.rows]}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Group:
        return cls(found["title"], tuple(Row.from_json(row) for row in found["rows"]))


@dataclass(frozen=True)
class Table:
    """A table as the paper has it: one heading row of columns, and groups of rows."""

    id: str
    title: str
    corner: str
    columns: tuple[str, ...]
    groups: tuple[Group, ...]
    notes: tuple[str, ...] = ()

    @property
    def cells(self) -> list[Cell]:
        return [cell for group in self.groups for row in group.rows for cell in row.cells]

    @property
    def has_published(self) -> bool:
        return any(cell.published is not None for cell in self.cells)

    @property
    def has_deviations(self) -> bool:
        return any(cell.deviation is not None for cell in self.cells)

    @property
    def is_compared(self) -> bool:
        """Whether some number of ours stands beside a published one."""
        return any(cell.difference is not None for cell in self.cells)

    @property
    def is_of_statements(self) -> bool:
        return all(cell.unit == "statement" for cell in self.cells if cell.agrees is not None)

    @property
    def labels(self) -> list[str]:
        """The labels that occur, in the order of `LABELS`."""
        found = {label for group in self.groups for row in group.rows for label in row.labels}
        return [label for label in LABELS if label in found]

    @property
    def verdict(self) -> str:
        """One sentence: how many of the published numbers were reached."""
        pairs = [cell for cell in self.cells if cell.agrees is not None]
        if not pairs:
            return "There is no published number to compare ours with."
        reached = sum(cell.agrees is True for cell in pairs)
        missed = len(pairs) - reached
        if self.is_of_statements:
            return f"{reached} of {len(pairs)} statements hold here, {missed} not."
        return (
            f"{reached} of {len(pairs)} published numbers reached, {missed} not ({self.nearness})."
        )

    @property
    def nearness(self) -> str:
        """How near ours must be to a published number, in words."""
        known = [cell.published for cell in self.cells if cell.published is not None]
        if any(one.deviation is not None for one in known):
            return "within one published deviation"
        return f"test errors within {POINTS:g} points, counts within {SHARE:.0%}"

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "corner": self.corner,
            "columns": list(self.columns),
            "notes": list(self.notes),
            "verdict": self.verdict,
            "groups": [group.as_json() for group in self.groups],
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Table:
        """What `as_json` gave; the verdict follows from the cells."""
        return cls(
            found["id"],
            found["title"],
            found["corner"],
            tuple(found["columns"]),
            tuple(Group.from_json(group) for group in found["groups"]),
            tuple(found["notes"]),
        )


def cell_of(runs: Any, published: Published | None, unit: str) -> Cell:
    """The cell for the numbers that several runs gave."""
    values = np.asarray(runs, float)
    if not len(values):
        return Cell(published=published, unit=unit)
    deviation = float(values.std(ddof=1)) if len(values) > 1 else None
    return Cell(float(values.mean()), deviation, published, unit)


def short(label: str) -> str:
    """A label where there is little room: its first letter, or all of it if it is a short word."""
    return label if len(label) <= 3 else label[0]


def number(value: float | None, unit: str) -> str:
    """Our number as it is shown: errors with two digits after the point, counts whole."""
    if value is None:
        return "-"
    if unit == "percent":
        return f"{value:.2f}"
    if unit == "statement":
        return "yes" if value else "no"
    if unit == "seconds":
        return f"{value:.1f}"
    if unit == "value":
        return f"{value:g}"
    return f"{value:,.0f}" if value < LARGE else f"{value:.1e}".replace("e+0", "e").replace("+", "")


def published_number(cell: Cell) -> str:
    """The published number with as many digits as were printed."""
    if cell.published is None:
        return "-"
    value = cell.published.value
    if cell.unit == "percent":
        return f"{value:.1f}" if value == round(value, 1) else f"{value:.2f}"
    return number(value, cell.unit)


def difference(cell: Cell) -> str:
    """Ours less the published one: in points for errors, in percent of the published for counts."""
    if cell.difference is None or cell.published is None:
        return "-"
    if cell.unit == "percent":
        return f"{cell.difference:+.2f}"
    if cell.unit == "statement":
        return "as stated" if cell.agrees else "not so"
    return f"{cell.difference / cell.published.value:+.1%}"


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
