"""A report as data: tables that put published numbers beside our own, and figures.

A cell holds the mean of our runs, its deviation over them, and the published number with a label
that says how well we know it; `cells` judges the two.

A `Report` is all that a run found: its tables and figures, what was run, on what machine and when.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from largemargin.papers.cells import (
    CHANCE,
    COMPARED,
    FAILS,
    HIGHER,
    HOLDS,
    LABELS,
    LOWER,
    OTHER,
    SAME,
    UNJUDGED,
    WITHIN,
    Cell,
)
from largemargin.papers.figures import Figure
from largemargin.report.machine import duration

COMMIT_UNKNOWN = "at a commit that was not recorded."


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
    def remembered(self) -> bool:
        """Whether all published numbers are remembered and not read again."""
        return self.labels == ["recalled"]

    def count(self, *states: str) -> int:
        """How many cells are in one of these states."""
        return sum(cell.state in states for cell in self.cells)

    @property
    def verdict(self) -> str:
        """How ours and the published numbers agree, in a sentence or two."""
        found = [self._judged(), self._other(), self._same(), self._unjudged()]
        if self.is_of_statements and self.count(HOLDS, FAILS):
            holds, fails = self.count(HOLDS), self.count(FAILS)
            do = "does" if fails == 1 else "do"
            found.insert(0, f"{holds} of {holds + fails} statements hold here, {fails} {do} not.")
        return " ".join(filter(None, found)) or "There is no published number to compare ours with."

    def _judged(self) -> str:
        within = self.count(WITHIN)
        better, worse = (self.count(s) - self._of_solver(s) for s in (LOWER, HIGHER))
        n = within + better + worse
        if not n:
            return ""
        whose = " as remembered" if self.remembered else ""
        outside = f"; of the others {better} are better or fewer here and {worse} worse or more"
        chance = f" By chance alone about {CHANCE * n:.0f} would be outside." if n >= 20 else ""
        return (
            f"{within} of {n} published numbers{whose} are within two standard errors of ours"
            f"{outside if better + worse else ''}.{chance}"
        )

    def _other(self) -> str:
        n = self.count(OTHER)
        whose = "one published number is" if n == 1 else f"{n} published numbers are"
        return f"{whose.capitalize()} about other data and not comparable." if n else ""

    def _same(self) -> str:
        n, others = self.count(SAME), self._of_solver(LOWER, HIGHER)
        return f"{n} of {n + others} numbers of another solver are the same." if n + others else ""

    def _unjudged(self) -> str:
        n = self.count(UNJUDGED)
        return f"{n} differences are not judged, since their noise is not known." if n else ""

    def _of_solver(self, *states: str) -> int:
        cells = (c for c in self.cells if c.published and c.published.label == "run")
        return sum(cell.state in states for cell in cells)

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
    commits : tuple of str
        Of the code that ran; empty if that was not recorded.
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
    commits: tuple[str, ...] = ()

    @property
    def labels(self) -> dict[str, str]:
        """The labels that the tables use, with what they mean."""
        used = {label for table in self.tables for label in table.labels}
        return {label: meaning for label, meaning in LABELS.items() if label in used}

    def find(self, table: str, group: str, row: str) -> dict[str, Cell]:
        """The cells of a row by column; empty if the report does not have it."""
        for one in self.tables:
            for part in one.groups if one.id == table else ():
                for found in part.rows if part.title.startswith(group) else ():
                    if found.name == row:
                        return dict(zip(one.columns, found.cells, strict=True))
        return {}

    @property
    def provenance(self) -> str:
        """When, how long and on what, in one sentence."""
        when = " to ".join(dict.fromkeys(self.dates))
        runs = "1 experiment" if self.n_runs == 1 else f"{self.n_runs} experiments"
        where = "; ".join(self.machines)
        commit = f"at commit {', '.join(self.commits)}." if self.commits else COMMIT_UNKNOWN
        return f"{runs}, {duration(self.seconds)} of computing, {when}, on {where}, {commit}"

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
            **({"commits": list(self.commits)} if self.commits else {}),
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
            commits=tuple(found.get("commits", ())),
        )
