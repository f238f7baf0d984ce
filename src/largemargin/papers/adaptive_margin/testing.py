"""Test errors of a machine over splits, with the setting that was chosen."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from largemargin.papers.adaptive_margin.machines import Machine, Setting
from largemargin.papers.adaptive_margin.sets import Splits


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
