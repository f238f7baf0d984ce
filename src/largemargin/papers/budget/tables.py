"""The tables and figures, from the records of finished experiments.

They are the nine panels with a table of their numbers for each data set, what the text says of
them, the policies beside each other with label noise and with small budgets, and the theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from largemargin.papers.budget import published
from largemargin.papers.budget.experiments import (
    N_FEATURES,
    NOISE,
    NOISE_TASK,
    POLICIES,
    TASKS,
    WITH_BUDGET,
    WITHOUT,
    Task,
)
from largemargin.papers.cells import Cell, Published, cell_of
from largemargin.papers.figures import Figure, Panel
from largemargin.papers.report import Group, Row, Table
from largemargin.report.charts import Curve

POINTS = 0.2  # by which two test errors may differ and both be good
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

Runs = dict[tuple[str, float, str, int | None], list[dict[str, Any]]]
"""Results by data set, noise, policy and budget, one per permutation."""

error = QUANTITIES["test error"]

Separable = dict[tuple[float, float], list[dict[str, Any]]]
"""Results by beta and gamma, one per stream."""


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
        tuple(_task_panel(one, name) for name in QUANTITIES for one in found),
        (
            "From above: test error; training examples misclassified when they came; training "
            "examples that did not clear the margin when they came, which were inserted unless "
            "their step was zero. Bars are standard deviations over permutations.",
        ),
    )


def _task_panel(found: TaskResults, name: str) -> Panel:
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
    nothing, last = Cell(), Cell(error(machine), None, known, rows=machine["n_test"])
    return Table(
        task.name,
        f"{task.title}: MIRA with every cache, and the support vector machine",
        "fixed at",
        (*(f"{size:,}" for size in found.fixed), "variable", "plain", "machine"),
        (
            Group(
                "after one pass",
                (row("Test error", "percent", error, last),),
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


def noise_table(found: Runs, budgets: Sequence[int]) -> Table:
    """Test error of each policy at each budget, a group for each share of flipped labels."""

    def cell(noise: float, policy: str, budget: int | None) -> Cell:
        runs = found[NOISE_TASK, noise, policy, budget]
        return cell_of([error(run) for run in runs], None, "percent")

    def row(noise: float, policy: str) -> Row:
        if policy in WITHOUT:
            cells = [*([Cell()] * len(budgets)), cell(noise, policy, None)]
        else:
            cells = [*(cell(noise, policy, budget) for budget in budgets), Cell()]
        return Row(POLICIES[policy], "percent", tuple(cells))

    def stored(noise: float, policy: str) -> Row:
        runs = found[NOISE_TASK, noise, policy, None]
        size = cell_of([run["size"] for run in runs], None, "count")
        nothing = [Cell(unit="count")] * len(budgets)
        return Row(f"{POLICIES[policy]}, stored", "count", (*nothing, size))

    return Table(
        "noise-table",
        f"Label noise on {TASKS[NOISE_TASK].title}: test error in percent",
        "budget",
        (*(f"{budget:,}" for budget in budgets), "none"),
        tuple(
            Group(
                noise_words(noise),
                (
                    *(row(noise, policy) for policy in (*WITH_BUDGET, *WITHOUT)),
                    *(stored(noise, policy) for policy in WITHOUT),
                ),
            )
            for noise in NOISE
        ),
        (
            _worst_case(found, budgets),
            "Training labels are flipped to any other class; test labels are as they were. The "
            "kernel and the view are those chosen for the clean labels.",
        ),
    )


def _worst_case(found: Runs, budgets: Sequence[int]) -> str:
    """What the most noise does to each policy at the largest budget, in words."""
    clean, noisy = min(NOISE), max(NOISE)
    changes = []
    for policy in WITH_BUDGET:
        before, after = (
            cell_of(
                [error(run) for run in found[NOISE_TASK, noise, policy, budgets[-1]]], None, ""
            ).ours
            for noise in (clean, noisy)
        )
        changes.append(f"{POLICIES[policy]} from {before:.1f} to {after:.1f}")
    return (
        f"With {noisy:.0%} of the labels flipped the test error at budget {budgets[-1]:,} goes: "
        + ", ".join(changes)
        + "."
    )


def noise_figure(found: Runs, budgets: Sequence[int]) -> Figure:
    """Test error against the budget, a panel for each share of flipped labels."""

    def curve(noise: float, policy: str) -> Curve:
        groups = [found[NOISE_TASK, noise, policy, budget] for budget in budgets]
        cells = [cell_of([error(run) for run in runs], None, "percent") for runs in groups]
        several = all(cell.deviation is not None for cell in cells)
        return Curve(
            POLICIES[policy],
            tuple(map(float, budgets)),
            tuple(float(cell.ours or 0.0) for cell in cells),
            spread=tuple(float(cell.deviation or 0.0) for cell in cells) if several else (),
        )

    return Figure(
        "noise",
        f"Label noise on {TASKS[NOISE_TASK].title}: where removal degrades",
        "budget",
        "test error in percent",
        tuple(
            Panel(noise_words(noise), tuple(curve(noise, policy) for policy in WITH_BUDGET))
            for noise in NOISE
        ),
        ("Bars are standard deviations over permutations.",),
    )


def noise_words(noise: float) -> str:
    return f"{noise:.0%} of the labels flipped" if noise else "labels as they are"


def one_pass_table(found: Runs, names: Sequence[str], comparable: dict[str, bool]) -> Table:
    """Clean labels, small budgets: our policies, and later one-pass learners as published."""

    def row(name: str, policy: str, beside: Sequence[Published | None]) -> Row:
        cells = (
            replace(
                cell_of([error(run) for run in found[name, 0.0, policy, budget]], one, "percent"),
                other=one is not None,
            )
            for budget, one in zip(published.BUDGETS, beside, strict=True)
        )
        return Row(POLICIES[policy], "percent", tuple(cells))

    def groups(name: str) -> list[Group]:
        title, nothing = TASKS[name].title, [None] * len(published.BUDGETS)
        if not comparable[name]:
            return [Group(title, tuple(row(name, policy, nothing) for policy in WITH_BUDGET))]
        alone = tuple(row(name, p, nothing) for p in WITH_BUDGET if p != "projectron")
        merge = published.one_pass_error(name, "merge-BSGD")
        beside = (
            row(name, "projectron", published.one_pass_error(name, "projectron++")),
            Row("merge-BSGD", "percent", tuple(Cell(published=one) for one in merge)),
        )
        return [Group(title, alone), Group(f"{title}, published", beside)]

    return Table(
        "one-pass",
        "Small budgets in one pass: test error in percent",
        "budget",
        tuple(f"{budget:,}" for budget in published.BUDGETS),
        tuple(group for name in names for group in groups(name)),
        (
            "The policies are ours, on the steps of MIRA with the kernels of this page. Beside the "
            "projectron stands the published projectron++, which is the same idea with other steps "
            "and its own kernel; merge-BSGD, which merges examples, was not run here. Published "
            "errors are 100 less the printed accuracies.",
        )
        if any(comparable.values())
        else ("The policies are ours, on the steps of MIRA with the kernels of this page.",),
    )


def bound_table(found: Separable) -> Table:
    """For each beta and gamma the bound and the sizes of both caches."""
    gammas = sorted({gamma for _, gamma in found})

    def group(beta: float) -> Group:
        runs = [found[beta, gamma] for gamma in gammas]
        exceeded = [sum(run["distill"]["largest"] > run["bound"] for run in one) for one in runs]

        def row(name: str, policy: str, key: str) -> Row:
            cells = (cell_of([run[policy][key] for run in one], None, "count") for one in runs)
            return Row(name, "count", tuple(cells))

        bounds = (cell_of([run["bound"] for run in one], None, "count") for one in runs)
        return Group(
            f"beta = {beta:g}",
            (
                Row("Bound", "count", tuple(bounds)),
                row("Variable, largest", "distill", "largest"),
                row("Variable, last", "distill", "last"),
                row("Variable, inserted", "distill", "insertions"),
                row("Plain", "keep", "largest"),
                Row("Exceeded", "count", tuple(Cell(float(e), unit="count") for e in exceeded)),
            ),
        )

    return Table(
        "bound-table",
        "The theorem: bound and cache sizes on separable data",
        "gamma",
        tuple(f"{gamma:g}" for gamma in gammas),
        tuple(group(beta) for beta in sorted({beta for beta, _ in found})),
        (
            f"Examples of norm 1 in {N_FEATURES} dimensions, separable with margin gamma by a "
            "vector that is known; R and gamma in the bound are those of the examples drawn. The "
            "learner is the aggressive perceptron, with the linear kernel and one pass.",
            "Largest: of the sizes recorded along the stream, at most 1,024 of them. Exceeded: in "
            "how many streams the variable cache was larger than the bound, which the theorem "
            "excludes. The bound holds for the plain perceptron as well.",
        ),
    )


def bound_figure(found: Separable) -> Figure:
    """Bound and cache sizes against gamma, a panel for each beta."""
    return Figure(
        "bound",
        "The theorem's bound and the cache sizes",
        "margin gamma of the data",
        "stored examples",
        tuple(_bound_panel(beta, found) for beta in sorted({beta for beta, _ in found})),
        ("Means over streams; the largest size along the stream.",),
    )


def _bound_panel(beta: float, found: Separable) -> Panel:
    gammas = sorted(gamma for b, gamma in found if b == beta)
    runs = [found[beta, gamma] for gamma in gammas]

    def curve(name: str, sizes: Sequence[Sequence[float]]) -> Curve:
        return Curve(name, tuple(gammas), tuple(float(np.mean(one)) for one in sizes))

    curves = (
        curve("bound", [[run["bound"] for run in one] for one in runs]),
        curve("variable cache", [[run["distill"]["largest"] for run in one] for one in runs]),
        curve("plain", [[run["keep"]["largest"] for run in one] for one in runs]),
    )
    at = ", ".join(f"{curve.name} {curve.y[0]:,.0f}" for curve in curves)
    return Panel(f"beta = {beta:g}", curves, f"at gamma = {gammas[0]:g}: {at}")
