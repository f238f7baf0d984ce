"""The policies with a budget beside each other: on clean labels, and where labels are noisy.

The rule of the paper's fixed cache drops what would be classified best without itself. A wrong
label never is, so it stays, and with noise the cache fills with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from largemargin.papers.budget import published
from largemargin.papers.budget.panels import QUANTITIES
from largemargin.papers.budget.streams import FIXED, PLAIN, POLICIES, VARIABLE
from largemargin.papers.budget.tasks import TASKS
from largemargin.report.comparison import Cell, Group, Published, Row, Table, cell_of
from largemargin.report.figures import Curve, Figure, Panel

WITH_BUDGET = (FIXED, "forgetron", "random", "projectron")
WITHOUT = (VARIABLE, PLAIN)
NOISE = (0.0, 0.1, 0.2)
NOISE_TASK = "usps"
NOISE_BUDGETS = (100, 250, 500, 1000)
QUICK_NOISE_BUDGETS = (100, 300)

Runs = dict[tuple[str, float, str, int | None], list[dict[str, Any]]]
"""Results by data set, noise, policy and budget, one a permutation."""

error = QUANTITIES["test error"]


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
            cell_of([error(run) for run in found[name, 0.0, policy, budget]], one, "percent")
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
