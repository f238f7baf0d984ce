"""Table 2.1 with its further columns, and what the text says of the figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from largemargin.papers.adaptive_margin import published
from largemargin.papers.adaptive_margin.machines import MACHINES, NOTHING, ROUNDS, Setting
from largemargin.papers.comparison import Cell, Group, Published, Row, Table, cell_of

BESIDE = {"svm-published": "svm"}
"""Columns that stand beside the published numbers of another one."""


@dataclass
class Column:
    """What was found of one machine on one data set."""

    setting: Setting
    errors: list[float] = field(default_factory=list)
    sizes: list[int | None] = field(default_factory=list)
    unfinished: int = 0

    def add(self, results: dict[str, Any]) -> None:
        self.errors += results["errors"]
        self.sizes += results["sizes"]
        self.unfinished += results["unfinished"]


Columns = dict[tuple[str, str], Column]
"""By data set and machine."""


def table_of(
    columns: Columns, names: Sequence[str], comparable: dict[str, bool], unfinished_choices: int
) -> Table:
    """A group of rows for each data set, a column for each machine."""
    groups = tuple(_group(columns, name, comparable[name]) for name in names)
    return Table(
        "table2-1",
        f"Table 2.1: test error in percent over {_count(columns)}",
        "",
        tuple(machine.title for machine in MACHINES.values()),
        groups,
        (
            *_notes(comparable),
            *_reached(groups),
            *_unfinished(columns, unfinished_choices),
        ),
    )


def _group(columns: Columns, name: str, comparable: bool) -> Group:
    found = {machine: columns[name, machine] for machine in MACHINES}

    def known(machine: str) -> Published | None:
        return published.error(name, BESIDE.get(machine, machine)) if comparable else None

    def size(column: Column) -> Cell:
        known = [size for size in column.sizes if size is not None]
        return Cell(round(sum(known) / len(known)) if known else None, unit="value")

    errors = (cell_of(column.errors, known(m), "percent") for m, column in found.items())
    outer = (_setting(column.setting.outer) for column in found.values())
    inner = (
        Cell(unit="value") if MACHINES[m].inner == NOTHING else _setting(column.setting.inner)
        for m, column in found.items()
    )
    return Group(
        published.SETS[name],
        (
            Row("Test error", "percent", tuple(errors)),
            Row("Width", "value", tuple(outer)),
            Row("Regular.", "value", tuple(inner)),
            Row("SupVec", "value", tuple(map(size, found.values()))),
        ),
    )


def _reached(groups: Sequence[Group]) -> tuple[str, ...]:
    """How many of the published numbers each column reached, in words."""
    found = []
    errors = [group.rows[0].cells for group in groups]
    for machine, cells in zip(MACHINES.values(), zip(*errors, strict=True), strict=True):
        pairs = [cell.agrees for cell in cells if cell.agrees is not None]
        if pairs:
            found.append(f"{machine.title} {sum(pairs)} of {len(pairs)}")
    return (f"Reached, by column: {', '.join(found)}.",) if found else ()


def _setting(value: float) -> Cell:
    return Cell(float(f"{value:.3g}"), unit="value")


def _count(columns: Columns) -> str:
    n = min(len(column.errors) for column in columns.values())
    return f"{n} random splits"


def _notes(comparable: dict[str, bool]) -> tuple[str, ...]:
    deviations = ", ".join(f"{published.SETS[n]} {d:g}" for n, d in published.DEVIATIONS.items())
    beside = (
        "A published number is reached if ours is within one published deviation of it, above or "
        f"below. The chapter prints none; recalled for its benchmark: {deviations}.",
        "SVM_P has the width and the C that were published for the column SVM, as recalled, in "
        "place of chosen ones. LP-SVM, AM-SVM and VP are not in the chapter's table.",
    )
    return (
        "Width is that of the gaussian exp(-|x - y|^2 / (2 width^2)); for AB and AB_R it is the "
        f"number of centres of the boosted networks, of which there are {ROUNDS} at most. Regular. "
        "is C for AB_R, SVM and LP-SVM, lambda for AM-SVM, and epochs for VP, the voted "
        "perceptron. SupVec is the mean number of support vectors.",
        *(beside if any(comparable.values()) else ()),
    )


def _unfinished(columns: Columns, choices: int) -> tuple[str, ...]:
    count = sum(column.unfinished for column in columns.values())
    if not count and not choices:
        return ()
    return (
        f"Fits that warned that they did not quite converge, for rounding or for their time limit: "
        f"{count} in the table, {choices} while choosing; they count as they are.",
    )


def statements_table(found: dict[str, bool]) -> Table:
    """What the text says, beside whether it is so here; `found` by statement."""
    groups: dict[str, list[Row]] = {}
    for name, holds in found.items():
        statement = published.STATEMENTS[name]
        cell = Cell(float(holds), None, Published(1.0, "text"), "statement")
        groups.setdefault(statement.where, []).append(Row(statement.text, "statement", (cell,)))
    return Table(
        "statements",
        "What the text says of the table and the figures",
        "",
        ("here",),
        tuple(Group(where, tuple(rows)) for where, rows in groups.items()),
        ("The points of figure 2.2 are ours; the chapter does not print its own.",)
        if "outlier" in found
        else (),
    )


def boosting_loses(columns: Columns, names: Sequence[str]) -> bool:
    """Whether AdaBoost has the largest error, averaged over data sets, of the printed columns."""
    means = {
        machine: sum(float(cell_of(columns[n, machine].errors, None, "").ours or 0) for n in names)
        for machine in published.COLUMNS
    }
    return max(means, key=lambda machine: means[machine]) == "ab"
