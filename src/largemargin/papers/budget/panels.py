"""The nine panels, a table of their numbers for each data set, and what the text says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.budget import published
from largemargin.papers.budget.tasks import Task
from largemargin.papers.comparison import POINTS, Cell, Group, Published, Row, Table, cell_of
from largemargin.papers.figures import Figure, Panel
from largemargin.report.charts import Curve

NEAR = 1.25
"""The variable cache is near the machine if neither error nor size is larger by this factor."""

Results = dict[str, Any]
"""What one run of a learner gave."""

QUANTITIES: dict[str, Callable[[Results], float]] = {
    "test error": lambda run: 100 * run["wrong"] / run["n_test"],
    "online errors": lambda run: 100 * run["online_errors"] / run["n_train"],
    "margin errors": lambda run: 100 * run["margin_errors"] / run["n_train"],
}
"""The rows of the figure, in percent of the examples that they are counted on."""


@dataclass(frozen=True)
class TaskResults:
    """What was found on one data set: the runs of each learner, one per permutation.

    Attributes
    ----------
    fixed : by cache size
    machine : of the support vector machine, which sees the data in no order
    notes : how views and C were chosen
    """

    task: Task
    fixed: dict[int, list[Results]]
    variable: list[Results]
    plain: list[Results]
    machine: Results
    comparable: bool
    notes: tuple[str, ...] = ()

    @property
    def best_fixed(self) -> int:
        """The fixed cache with the smallest test error."""
        return min(self.fixed, key=lambda size: mean_error(self.fixed[size]))

    @property
    def chosen_online(self) -> int:
        """The fixed cache with the fewest online errors."""
        return min(self.fixed, key=lambda size: mean(self.fixed[size], "online_errors"))

    @property
    def as_large(self) -> int:
        """The fixed cache nearest in size to the variable one."""
        size = mean(self.variable, "size")
        return min(self.fixed, key=lambda fixed: abs(fixed - size))


def mean(runs: Sequence[Results], key: str) -> float:
    return float(np.mean([run[key] for run in runs]))


def mean_error(runs: Sequence[Results]) -> float:
    """Test error in percent."""
    return float(np.mean([QUANTITIES["test error"](run) for run in runs]))


def panels(found: Sequence[TaskResults]) -> Figure:
    """Test error, online errors and margin errors against cache size, one column per data set."""
    return Figure(
        "panels",
        "Nine panels: error against cache size",
        "stored examples",
        "percent",
        tuple(_panel(one, name) for name in QUANTITIES for one in found),
        (
            "From above: test error; training examples misclassified when they came; training "
            "examples that did not clear the margin when they came, which were inserted unless "
            "their step was zero. Bars are standard deviations over permutations.",
        ),
    )


def _panel(found: TaskResults, name: str) -> Panel:
    read = QUANTITIES[name]

    def curve(title: str, groups: Sequence[Sequence[Results]], marks: bool) -> Curve:
        cells = [cell_of([read(run) for run in runs], None, "percent") for runs in groups]
        several = all(cell.deviation is not None for cell in cells)
        return Curve(
            title,
            tuple(mean(runs, "size") for runs in groups),
            tuple(float(cell.ours or 0.0) for cell in cells),
            marks,
            tuple(float(cell.deviation or 0.0) for cell in cells) if several else (),
        )

    curves = [
        curve("fixed cache", list(found.fixed.values()), False),
        curve("variable cache", [found.variable], True),
        curve("plain MIRA", [found.plain], True),
    ]
    if name == "test error":
        curves.append(curve("machine", [[found.machine]], True))
    best = int(np.argmin(curves[0].y))
    shown = [f"fixed {curves[0].y[best]:.2f} at {curves[0].x[best]:,.0f}"]
    shown += [f"{c.name} {c.y[0]:.2f} at {c.x[0]:,.0f}" for c in curves[1:]]
    return Panel(f"{found.task.title}, {name}", tuple(curves), ", ".join(shown))


def table_of(found: TaskResults) -> Table:
    """The numbers of a data set's three panels, with sizes, and the machine's published error."""
    task = found.task
    learners = [*found.fixed.values(), found.variable, found.plain]
    machine = found.machine
    known = published.MACHINE_ERROR[task.name] if found.comparable else None

    def row(name: str, unit: str, read: Callable[[Results], float], last: Cell) -> Row:
        cells = (cell_of([read(run) for run in runs], None, unit) for runs in learners)
        return Row(name, unit, (*cells, last))

    error = QUANTITIES["test error"]
    nothing = Cell()
    return Table(
        task.name,
        f"{task.title}: MIRA with every cache, and the support vector machine",
        "fixed at",
        (*(f"{size:,}" for size in found.fixed), "variable", "plain", "machine"),
        (
            Group(
                "after one pass",
                (row("Test error", "percent", error, Cell(error(machine), None, known)),),
            ),
            Group(
                "on the way",
                (
                    row("Online errors", "percent", QUANTITIES["online errors"], nothing),
                    row("Margin errors", "percent", QUANTITIES["margin errors"], nothing),
                    row("Inserted", "count", lambda run: run["insertions"], Cell(unit="count")),
                    row(
                        "Stored", "count", lambda run: run["size"],
                        Cell(machine["size"], unit="count"),
                    ),
                ),
            ),
        ),
        found.notes,
    )  # fmt: skip


HOLDS: dict[str, Callable[[TaskResults], bool]] = {
    "fixed-beats-machine": lambda f: mean_error(f.fixed[f.best_fixed]) < mean_error([f.machine]),
    "variable-near-machine": lambda f: (
        mean_error(f.variable) <= NEAR * mean_error([f.machine])
        and mean(f.variable, "size") <= NEAR * f.machine["size"]
    ),
    "plain-worst": lambda f: (
        mean_error(f.plain)
        > max(mean_error(f.variable), mean_error([f.machine]), mean_error(f.fixed[f.best_fixed]))
        and mean(f.plain, "size") > max(mean(f.variable, "size"), f.machine["size"])
    ),
    "online-chooses": lambda f: (
        mean_error(f.fixed[f.chosen_online]) <= mean_error(f.fixed[f.best_fixed]) + POINTS
    ),
    "variable-inserts-more": lambda f: (
        mean(f.variable, "insertions") > mean(f.fixed[f.as_large], "insertions")
    ),
}
"""Whether a statement of the text holds, by comparing means over permutations."""


def statements(found: Sequence[TaskResults]) -> Table:
    """What the text says of the plots, beside whether our numbers say so."""

    def row(name: str) -> Row:
        said: list[Published | None] = [
            published.statement(name, one.task.name) if one.comparable else None for one in found
        ]
        cells = (
            Cell(float(HOLDS[name](one)), None, known, "statement")
            for one, known in zip(found, said, strict=True)
        )
        return Row(published.STATEMENTS[name].title, "statement", tuple(cells))

    return Table(
        "statements",
        "What the text says of the plots, and whether it holds here",
        "",
        tuple(one.task.title for one in found),
        (Group("by the means over permutations", tuple(map(row, HOLDS))),),
        (
            "Beats: a smaller test error for at least one fixed size. Near: neither test error nor "
            f"stored examples more than {NEAR - 1:.0%} above those of the machine. Worst: larger "
            "than for the variable cache, the machine and the best fixed size. Good size: the one "
            f"with the fewest online errors is within {POINTS:g} points of the best one's test "
            "error. Inserts more: than the fixed cache nearest in size.",
            "The text says the first two of MNIST and USPS only, and of LETTER that the machine is "
            "somewhat better.",
        ),
    )
