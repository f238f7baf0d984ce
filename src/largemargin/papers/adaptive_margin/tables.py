"""The tables and figures, from the records of finished experiments.

They are table 2.1 with its further columns, the points in the plane, the curves against width and
lambda, the distributions of margins, and what the text says of the table and the figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from largemargin.papers.adaptive_margin import published
from largemargin.papers.adaptive_margin.choosing import WIDTH_SET
from largemargin.papers.adaptive_margin.experiments import (
    CENTRES,
    GRID,
    MARGIN_SET,
    MARGIN_WIDTH,
    OUTLIER,
    PICTURES,
    PLANE_WIDTH,
    PRICE,
)
from largemargin.papers.adaptive_margin.machines import (
    MACHINES,
    NOTHING,
    ROUNDS,
    Setting,
)
from largemargin.papers.cells import LIMIT, Cell, Published, cell_of
from largemargin.papers.figures import Conic, Figure, Gaussians, Panel, Plane
from largemargin.papers.report import Group, Row, Table
from largemargin.report.charts import Curve

BESIDE = {"svm-published": "svm"}
"""Columns that stand beside the published numbers of another one."""

SOLVED = 0.01  # relative duality gap above which a fit does not count as solved
QUANTITIES = {"slacks": "slacks", "test": "test error", "train": "training error", "bound": "bound"}


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
            *_by_column(groups),
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


def _by_column(groups: Sequence[Group]) -> tuple[str, ...]:
    """How many of the published numbers of each column are within two standard errors, in words."""
    found = []
    errors = [group.rows[0].cells for group in groups]
    for machine, cells in zip(MACHINES.values(), zip(*errors, strict=True), strict=True):
        pairs = [cell.agrees for cell in cells if cell.agrees is not None]
        if pairs:
            found.append(f"{machine.title} {sum(pairs)} of {len(pairs)}")
    return (f"Within two standard errors, by column: {', '.join(found)}.",) if found else ()


def _setting(value: float) -> Cell:
    return Cell(float(f"{value:.3g}"), unit="value")


def _count(columns: Columns) -> str:
    n = min(len(column.errors) for column in columns.values())
    return f"{n} random splits"


def _notes(comparable: dict[str, bool]) -> tuple[str, ...]:
    deviations = ", ".join(f"{published.SETS[n]} {d:g}" for n, d in published.DEVIATIONS.items())
    beside = (
        "The chapter prints no deviations over splits; those remembered from its benchmark are "
        f"taken for them: {deviations}.",
        "SVM_P has the width and the C that were published for the column SVM, as remembered, in "
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


def figure_of(name: str, found: dict[str, Any]) -> Figure:
    picture = PICTURES[name]
    points = tuple((x, y) for x, y in found["points"])

    def panel(title: str, machine: dict[str, Any]) -> Plane:
        decision = Gaussians(
            PLANE_WIDTH,
            tuple(points[i] for i in machine["support"]),
            tuple(machine["coefficients"]),
            machine["constant"],
        )
        return Plane(
            title,
            points,
            tuple(found["labels"]),
            tuple(machine["support"]),
            tuple(machine["errors"]),
            decision,
            machine["margin"],
        )

    machines = zip(picture.machines, found["machines"], strict=True)
    return Figure(
        picture.id,
        picture.title,
        "",
        "",
        tuple(panel(title, machine) for (title, _, _), machine in machines),
        (f"{picture.note} Gaussian of width {PLANE_WIDTH:g}.",),
    )


def outlier_is_given_up(found: dict[str, Any]) -> bool:
    """Whether of the three machines of figure 2.2 only the first has the outlier wrong."""
    return [OUTLIER in machine["errors"] for machine in found["machines"]] == [True, False, False]


def width_figure(runs: Sequence[dict[str, Any]], log_widths: Sequence[float]) -> Figure:
    """Sparsity and errors against the width, means over splits."""
    widths = tuple(math.exp(one) for one in log_widths)

    def panel(title: str, names: dict[str, str]) -> Panel:
        curves = tuple(Curve(shown, widths, _median(runs, name)) for name, shown in names.items())
        lowest = (
            f"{curve.name} {min(curve.y):.1f} at {widths[int(np.argmin(curve.y))]:.2g}"
            for curve in curves
        )
        return Panel(title, curves, "lowest " + ", ".join(lowest), log_y=False)

    return Figure(
        "figure2-7",
        f"Figure 2.7: the leave-one-out machine on {WIDTH_SET} against the width",
        "width",
        "percent",
        (panel("support vectors", {"support": "support vectors"}), panel("errors", QUANTITIES)),
        (
            f"Medians over {_splits(len(runs))}. Slacks are their sum over the training examples, "
            "in percent of those; the bound is the leave-one-out bound (2.2), which does not hold "
            "for this machine. The chapter's axis is the logarithm of the width: -1 there is "
            f"{math.exp(-1):.2f} here.",
            *_unsolved(runs, log_widths),
        ),
    )


def _unsolved(runs: Sequence[dict[str, Any]], log_widths: Sequence[float]) -> tuple[str, ...]:
    """Where fits have no solution that numbers can hold, in words."""
    if "gap" not in runs[0]:
        return ()
    bad = np.array([run["gap"] for run in runs]) > SOLVED
    if not bad.any():
        return ()
    widths = [
        math.exp(w) for w, any_bad in zip(log_widths, bad.any(axis=0), strict=True) if any_bad
    ]
    largest = max(max(run["largest"]) for run in runs)
    return (
        "With narrow kernels all values off the diagonal are nearly 0, and the coefficients of a "
        f"solution grow without a limit, here up to {largest:.0e}. {int(bad.sum())} of the "
        f"{bad.size} fits, at widths from {min(widths):.2g} to {max(widths):.2g}, ended with a "
        "duality gap above 1 %, since double precision holds no solution there. A median is not "
        "moved by a few such fits, as a mean is.",
    )


def lambda_figure(runs: dict[str, list[list[float]]], lams: Sequence[float]) -> Figure:
    """Test error against lambda; `runs` holds the errors of each split by data set."""

    def panel(name: str, errors: list[list[float]]) -> Panel:
        cells = [cell_of(column, None, "percent") for column in zip(*errors, strict=True)]
        means = tuple(float(cell.ours or 0.0) for cell in cells)
        _, noise = beyond_lowest(errors)
        title = f"{published.SETS[name]}, {_splits(len(errors))}"
        best = int(np.argmin(means))
        summary = f"lowest test error {means[best]:.2f} at lambda {lams[best]:g}"
        return Panel(
            title, (Curve("test error", tuple(lams), means, spread=noise),), summary, log_x=False,
            log_y=False,
        )  # fmt: skip

    return Figure(
        "figure2-8",
        "Figure 2.8: test error of the adaptive-margin machine against lambda",
        "lambda",
        "test error in percent",
        tuple(panel(name, errors) for name, errors in runs.items()),
        (
            "Means over splits, with the width that was chosen for the leave-one-out machine. Bars "
            "are standard errors of the difference from the lowest point, over the same splits.",
        ),
    )


def minima_are_near(runs: Sequence[dict[str, Any]], log_widths: Sequence[float]) -> bool:
    """Whether each curve, within 1 of the chapter's logarithm of the width, is as low as anywhere
    up to two standard errors.
    """
    near = [abs(one - published.BEST_LOG_WIDTH) <= 1 for one in log_widths]
    return all(is_lowest([run[name] for run in runs], near) for name in QUANTITIES)


BEST_LAMBDA: dict[str, Callable[[float], bool]] = {
    "banana": lambda lam: lam == 1,
    "heart": lambda lam: 0.5 <= lam <= 1.5,
    "titanic": lambda lam: lam == 0,
}
"""Where the text has the lambda with the lowest error."""


def best_is_stated(name: str, errors: Sequence[Sequence[float]], lams: Sequence[float]) -> bool:
    """Whether a lambda of which the text says so is the best, up to two standard errors."""
    return is_lowest(errors, [BEST_LAMBDA[name](lam) for lam in lams])


def is_lowest(runs: Sequence[Sequence[float]], where: Sequence[bool]) -> bool:
    """Whether a column of `runs` with `where` is not above the lowest by two standard errors."""
    above, noise = beyond_lowest(runs)
    columns = zip(above, noise, where, strict=True)
    return any(a <= LIMIT * max(n, 1e-12) for a, n, here in columns if here)


def beyond_lowest(
    runs: Sequence[Sequence[float]],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """By how much each column is above the one with the lowest mean of `runs`, and the
    standard error of that, over the same splits. Of one run it is 0.
    """
    values = np.asarray(runs, float)
    lowest = int(np.argmin(values.mean(axis=0)))
    beyond = values - values[:, [lowest]]
    n = len(values)
    noise = beyond.std(axis=0, ddof=1) / math.sqrt(n) if n > 1 else np.zeros(values.shape[1])
    return tuple(beyond.mean(axis=0).tolist()), tuple(noise.tolist())


def _median(runs: Sequence[dict[str, Any]], name: str) -> tuple[float, ...]:
    return tuple(np.median([run[name] for run in runs], axis=0).tolist())


def _splits(count: int) -> str:
    return "1 split" if count == 1 else f"{count} splits"


def hyperplane_figure(found: dict[str, Any]) -> Figure:
    points = tuple((x, y) for x, y in found["points"])

    def panel(line: dict[str, Any]) -> Plane:
        return Plane(
            line["title"],
            points,
            tuple(line["labels"]),
            tuple(line["support"]),
            tuple(line["errors"]),
            Conic((line["b"], *line["w"], 0.0, 0.0, 0.0)),
            line["margin"],
        )

    distances = ", ".join(
        f"{line['title']} {line['distance']:.3f}" for line in found["lines"] if not line["errors"]
    )
    return Figure(
        "figure1-1",
        "Figure 1.1: lines that separate, and their margins",
        "",
        "",
        tuple(map(panel, found["lines"])),
        (
            "Points on a margin or within it are ringed. Euclidean distance of the nearest point: "
            f"{distances}.",
        ),
    )


def margin_figure(found: dict[str, Any]) -> Figure:
    def panel(title: str, shares: dict[str, list[float]]) -> Panel:
        curves = tuple(Curve(name, GRID, tuple(share)) for name, share in shares.items())
        at_zero = GRID.index(0.0)
        summary = "training errors in percent: " + ", ".join(
            f"{curve.name} {curve.y[at_zero]:.1f}" for curve in curves
        )
        return Panel(title, curves, summary, log_x=False, log_y=False)

    boosted = (panel(name, stages) for name, stages in found["boosted"].items())
    return Figure(
        "margin-distribution",
        f"Margins of the training examples of {published.SETS[MARGIN_SET]}",
        "margin",
        "percent with at most that margin",
        (*boosted, panel("kernel machines", found["kernel"])),
        (
            "The margin of a convex combination lies between -1 and 1. The outputs of the kernel "
            "machines, none of which has a threshold, are divided by the largest of them. Networks "
            f"with {CENTRES} centres are boosted, at most {ROUNDS} of them, AdaBoost_Reg has C = "
            f"{PRICE:g}, and the width of the kernel is {MARGIN_WIDTH:g}.",
        ),
    )
