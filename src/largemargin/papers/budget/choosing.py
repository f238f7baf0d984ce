"""What the paper leaves open, chosen on held-out training data.

A fifth of the training examples, or of as many as the plan chooses with, is held out. One view is
for all online learners, as one set of parameters was in the paper: that with which the variable
cache does best. The machine has its own, with its C. Of equal ones the first wins.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.budget import published
from largemargin.papers.budget.experiments import Problem, View, count_wrong
from largemargin.papers.experiments import interruptions_raised

HELD_OUT = 0.2
MULTICLASS = "crammer-singer"
ONLINE, MACHINE = "online", "machine"


@dataclass(frozen=True)
class Setting:
    """A view, and for the machine a C."""

    view: View
    C: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {**self.view.as_json(), "C": self.C}

    @property
    def words(self) -> str:
        return self.view.words + (f", C = {self.C:g}" if self.C is not None else "")


@dataclass(frozen=True)
class ChoiceExperiment:
    """The held-out error of every candidate, with `rows` examples; `kind` is ONLINE or MACHINE."""

    problem: Problem
    kind: str
    rows: int

    @property
    def candidates(self) -> tuple[Setting, ...]:
        task = self.problem.task
        if self.kind == ONLINE:
            return tuple(Setting(view) for view in task.views)
        return tuple(Setting(view, C) for view in task.views for C in task.Cs)

    @property
    def who(self) -> str:
        """For whom."""
        return "Online learners" if self.kind == ONLINE else "Machine"

    @property
    def name(self) -> str:
        return f"{self.problem.task.title}, choices for the {self.who.lower()}"

    @property
    def cost(self) -> float:
        each = 2.0 if self.kind == ONLINE else 8.0
        return each * len(self.candidates) * (min(self.rows, self.problem.images.n_train) / 8_000)

    @property
    def file_name(self) -> str:
        n_train = self.problem.images.n_train
        return f"{self.problem.task.name}_choice-{self.kind}_rows-{n_train}-{self.rows}.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": f"choice-{self.kind}",
            "data": self.problem.images.identity,
            "kernel": self.problem.task.kernel,
            "candidates": [setting.as_json() for setting in self.candidates],
            "rows": self.rows,
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Train on four fifths with each candidate and count errors on the fifth."""
        started = time.perf_counter()
        train, test = split(self.problem.images.n_train, self.rows)
        wrong = []
        for setting in self.candidates:
            data = self.problem.seen_through(setting.view)
            assert data.y is not None
            model = make_model(self.problem, setting)
            with interruptions_raised():
                model.fit(data.X[train], data.y[train])
            wrong.append(int(np.count_nonzero(model.predict(data.X[test]) != data.y[test])))
        return {"wrong": wrong, "n": len(test)}, {"choose": time.perf_counter() - started}

    def chosen(self, results: dict[str, Any]) -> Setting:
        return self.candidates[int(np.argmin(results["wrong"]))]

    def words(self, results: dict[str, Any]) -> str:
        """All candidates with their held-out errors."""
        errors = (100 * wrong / results["n"] for wrong in results["wrong"])
        tried = zip(self.candidates, errors, strict=True)
        return "; ".join(f"{setting.words}: {error:.2f} %" for setting, error in tried)


@dataclass(frozen=True)
class MachineExperiment:
    """The multiclass machine on all training examples, with what was chosen."""

    problem: Problem
    setting: Setting

    @property
    def name(self) -> str:
        return f"{self.problem.task.title}, support vector machine"

    @property
    def cost(self) -> float:
        return 40 * float((self.problem.images.n_train / 16_000) ** 1.2)

    @property
    def file_name(self) -> str:
        return f"{self.problem.task.name}_machine_rows-{self.problem.images.n_train}.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "machine",
            "data": self.problem.images.identity,
            "kernel": self.problem.task.kernel,
            "setting": self.setting.as_json(),
            "multiclass": MULTICLASS,
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Train, and count support vectors and test errors."""
        data = self.problem.seen_through(self.setting.view)
        model = make_model(self.problem, self.setting)
        started = time.perf_counter()
        with interruptions_raised():
            model.fit(data.X, data.y)
        trained = time.perf_counter()
        results = {
            "wrong": count_wrong(model, data),
            "n_test": len(data.X_test),
            "size": int(model.n_support_),
        }
        return results, {"fit": trained - started, "predict": time.perf_counter() - trained}


def make_model(problem: Problem, setting: Setting) -> Any:
    """The machine if there is a C, and else MIRA with the variable cache."""
    parameters = problem.task.parameters(setting.view)
    if setting.C is None:
        from largemargin.online import MIRA

        return MIRA(
            margin=published.MARGIN, policy="distill", average=False, shuffle=False, **parameters
        )
    from largemargin.svm import SVC

    return SVC(C=setting.C, multiclass=MULTICLASS, **parameters)


def split(n: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions to train on and to hold out, of at most so many rows."""
    chosen = np.random.RandomState(0).permutation(n)[:rows]  # its stream is frozen
    n_test = max(1, round(HELD_OUT * len(chosen)))
    return chosen[n_test:], chosen[:n_test]
