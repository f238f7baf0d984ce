"""One pass of MIRA over one random order of a training set, with a cache policy.

Noise is in the training labels only: each is, with the probability that is given, replaced by one
of the other classes, all alike.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.budget import published
from largemargin.papers.budget.choosing import count_wrong
from largemargin.papers.budget.tasks import Problem, View
from largemargin.papers.interruption import interruptions_raised

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
