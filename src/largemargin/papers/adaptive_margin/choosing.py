"""What is free in a machine, chosen as the chapter says, and test errors with what was chosen.

On each of the first five training sets the best setting is found by cross-validation, on a coarse
grid and then between its neighbours; of equal ones the smoothest wins. The median over the training
sets of each free number is the setting for all splits.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.data.dataset import Dataset
from largemargin.papers.adaptive_margin.machines import Axis, Machine, Setting
from largemargin.papers.adaptive_margin.sets import Splits, folds


@dataclass(frozen=True)
class ChoiceExperiment:
    """The best setting of a machine on one training set."""

    splits: Splits
    machine: Machine
    n_folds: int
    refined: bool = True

    @property
    def name(self) -> str:
        return f"{self.splits.name}, choices for {self.machine.title}"

    @property
    def cost(self) -> float:
        grid = len(self.machine.outer) * len(self.machine.inner)
        quicker = 0.25 if self.machine.try_out else 1.0
        return quicker * self.machine.cost_on(self.splits) * grid * self.n_folds

    @property
    def file_name(self) -> str:
        kind = f"choice-{self.machine.name}_split-{self.splits.first}"
        return f"{self.splits.name}_{kind}_folds-{self.n_folds}.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "choice",
            "data": self.splits.identity,
            "machine": self.machine.name,
            "outer": list(self.machine.outer.values),
            "inner": list(self.machine.inner.values),
            "folds": self.n_folds,
            "refined": self.refined,
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Cross-validate on the grid, and around its best."""
        started = time.perf_counter()
        (data,) = self.splits.parts
        search = GridSearch(self.machine, list(folds(data, self.n_folds)))
        outers, inners = self.machine.outer.on(data.X.shape[1]), self.machine.inner.values
        best = search.best_of(outers, inners)
        if self.refined:
            best = search.best_of(
                self.machine.outer.around(best.outer), self.machine.inner.around(best.inner)
            )
        results = {
            "best": best.as_json(),
            "wrong": search.wrong[best],
            "n": len(data.X),
            "tried": len(search.wrong),
            "unfinished": search.unfinished,
        }
        return results, {"choose": time.perf_counter() - started}


class GridSearch:
    """Errors of settings over the folds, kept as they are found."""

    def __init__(self, machine: Machine, parts: Sequence[Dataset]) -> None:
        self.machine = machine
        self.parts = parts
        self.wrong: dict[Setting, int] = {}
        self.unfinished = 0

    def best_of(self, outers: Sequence[float], inners: Sequence[float]) -> Setting:
        """Try these settings as well; the best of all that were tried."""
        for outer in outers:
            new = [inner for inner in inners if Setting(outer, inner) not in self.wrong]
            if new:
                self._try(outer, new)
        return min(self.wrong, key=self._rank)

    def _try(self, outer: float, inners: Sequence[float]) -> None:
        total = np.zeros(len(inners), int)
        for part in self.parts:
            trials, unfinished = self.machine.trials(outer, inners, part, choosing=True)
            total += [trial.wrong for trial in trials]
            self.unfinished += unfinished
        for inner, wrong in zip(inners, total, strict=True):
            self.wrong[Setting(outer, inner)] = int(wrong)

    def _rank(self, setting: Setting) -> tuple[float, ...]:
        outer, inner = self.machine.outer, self.machine.inner
        return (
            self.wrong[setting],
            smoothness(outer, setting.outer),
            smoothness(inner, setting.inner),
        )


def smoothness(axis: Axis, value: float) -> float:
    """Smaller is smoother: candidates begin with the smoothest."""
    return value if axis.values[0] < axis.values[-1] else -value


def median_of(settings: Sequence[Setting]) -> Setting:
    """The median of each number."""
    outer, inner = np.median([setting.as_json() for setting in settings], axis=0)
    return Setting(float(outer), float(inner))


@dataclass(frozen=True)
class TestExperiment:
    """One machine on some splits."""

    splits: Splits
    machine: Machine
    setting: Setting

    __test__ = False  # for pytest

    @property
    def name(self) -> str:
        return f"{self.splits.name}, {self.machine.title}, splits {self.splits.words}"

    @property
    def cost(self) -> float:
        return self.machine.cost_on(self.splits) * len(self.splits.parts)

    @property
    def file_name(self) -> str:
        return f"{self.splits.name}_{self.machine.name}_splits-{self.splits.words}.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "test",
            "data": self.splits.identity,
            "machine": self.machine.name,
            "setting": self.setting.as_json(),
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Train on each split and count errors on its test part."""
        started = time.perf_counter()
        errors, sizes, unfinished = [], [], 0
        for part in self.splits.parts:
            (trial,), warned = self.machine.trials(self.setting.outer, [self.setting.inner], part)
            errors.append(100 * trial.wrong / len(part.X_test))
            sizes.append(trial.size)
            unfinished += warned
        results = {"errors": errors, "sizes": sizes, "unfinished": unfinished}
        return results, {"fit and predict": time.perf_counter() - started}
