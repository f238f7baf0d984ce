"""One pass of MIRA with each cache policy, and the policies beside each other.

An experiment is one policy on one random order of a training set. The rule of the paper's fixed
cache drops what would be classified best without itself. A wrong label never is, so it stays, and
with noise the cache fills with it.

Noise is in the training labels only: each is, with the probability that is given, replaced by one
of the other classes, all alike.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.budget import published
from largemargin.papers.budget.choosing import count_wrong
from largemargin.papers.budget.panels import QUANTITIES
from largemargin.papers.budget.tasks import TASKS, Problem, View
from largemargin.papers.comparison import Cell, Group, Published, Row, Table, cell_of
from largemargin.papers.experiments import interruptions_raised
from largemargin.papers.figures import Figure, Panel
from largemargin.report.charts import Curve

FIXED, VARIABLE, PLAIN = "margin", "distill", "keep"
POLICIES = {
    FIXED: "fixed cache",
    VARIABLE: "variable cache",
    PLAIN: "plain MIRA",
    "random": "random removal",
    "forgetron": "forgetron",
    "projectron": "projectron",
}
"""Names of the policies on the page."""

WITH_BUDGET = (FIXED, "forgetron", "random", "projectron")
WITHOUT = (VARIABLE, PLAIN)
NOISE = (0.0, 0.1, 0.2)
NOISE_TASK = "usps"
NOISE_BUDGETS = (100, 250, 500, 1000)
QUICK_NOISE_BUDGETS = (100, 300)

Runs = dict[tuple[str, float, str, int | None], list[dict[str, Any]]]
"""Results by data set, noise, policy and budget, one per permutation."""

error = QUANTITIES["test error"]


@dataclass(frozen=True)
class StreamExperiment:
    """A policy with its budget (None: it has none) on one permutation."""

    problem: Problem
    view: View
    policy: str
    budget: int | None
    permutation: int
    noise: float = 0.0

    @property
    def name(self) -> str:
        size = "" if self.budget is None else f" {self.budget:,}"
        noise = f", {self.noise:.0%} noise" if self.noise else ""
        title = f"{self.problem.task.title}, {POLICIES[self.policy]}{size}{noise}"
        return f"{title}, permutation {self.permutation + 1}"

    @property
    def cost(self) -> float:
        n = self.problem.images.n_train
        stored = self.budget or n / 3
        work = n * stored * (1.5 if self.policy in (VARIABLE, FIXED) else 0.7)
        if self.policy == "projectron":
            work *= 1 + stored / 200
        return work / 2e7

    @property
    def file_name(self) -> str:
        budget = "" if self.budget is None else f"-{self.budget}"
        return (
            f"{self.problem.task.name}_{self.policy}{budget}_permutation-{self.permutation}"
            f"_noise-{self.noise:g}_rows-{self.problem.images.n_train}.json"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "stream",
            "data": self.problem.images.identity,
            "kernel": self.problem.task.kernel,
            "view": self.view.as_json(),
            "margin": published.MARGIN,
            "policy": self.policy,
            "budget": self.budget,
            "permutation": self.permutation,
            "noise": self.noise,
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """One pass, then the test set.

        A pass that Ctrl-C cut short is no experiment: it raises KeyboardInterrupt.
        """
        from largemargin.online import MIRA

        data = self.problem.seen_through(self.view)
        assert data.y is not None
        order, labels = draw_stream(data.y, self.permutation, self.noise)
        model = MIRA(
            margin=published.MARGIN, policy=self.policy, budget=self.budget,
            random_state=self.permutation, **self.problem.task.parameters(self.view),
        )  # fmt: skip
        started = time.perf_counter()
        with interruptions_raised():
            model.fit(data.X[order], labels)
        trained = time.perf_counter()
        results = {
            "n_train": len(order),
            "n_test": len(data.X_test),
            "wrong": count_wrong(model, data),
            "online_errors": int(model.online_errors_),
            "margin_errors": int(model.margin_errors_),
            "insertions": int(model.n_insertions_),
            "removals": int(model.n_removals_),
            "size": int(model.n_support_),
        }
        return results, {"fit": trained - started, "predict": time.perf_counter() - trained}


def draw_stream(y: np.ndarray, permutation: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """An order of the training set, and its labels in that order, some of them flipped."""
    random = np.random.RandomState(permutation)  # its stream is frozen
    order = random.permutation(len(y))
    classes, labels = np.unique(y[order], return_inverse=True)
    flipped = random.uniform(size=len(y)) < noise
    shifts = random.randint(1, len(classes), size=len(y))
    return order, classes[np.where(flipped, (labels + shifts) % len(classes), labels)]


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
