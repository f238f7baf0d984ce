"""What is free in a machine: chosen as the chapter says, tested, and varied.

On each of the first five training sets the best setting is found by cross-validation, on a coarse
grid and then between its neighbours; of equal ones the smoothest wins. The median over the training
sets of each free number is the setting for all splits, with which test errors are counted.

The curves of figures 2.7 and 2.8 vary one number: the width of the leave-one-out machine, and
lambda of the adaptive-margin machine.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.data.dataset import Dataset
from largemargin.papers.adaptive_margin import published
from largemargin.papers.adaptive_margin.machines import (
    MACHINES,
    SECONDS,
    Axis,
    Machine,
    Setting,
    Splits,
    folds,
    gamma_of,
)
from largemargin.papers.experiments import interruptions_raised

WIDTH_SET = "thyroid"
LOG_WIDTHS = tuple(np.linspace(-3, 3, 25).tolist())
QUICK_LOG_WIDTHS = tuple(np.linspace(-2, 2, 5).tolist())
LAMBDA_SETS = tuple(published.FIGURE8_SPLITS)
LAMBDAS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
QUICK_LAMBDAS = (0.0, 0.5, 1.0, 2.0, 5.0)


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


@dataclass(frozen=True)
class WidthExperiment:
    """The leave-one-out machine on one split, at several widths."""

    splits: Splits
    log_widths: tuple[float, ...]

    @property
    def name(self) -> str:
        return f"{self.splits.name}, widths, split {self.splits.first}"

    @property
    def cost(self) -> float:
        return MACHINES["loo"].cost_on(self.splits) * len(self.log_widths)

    @property
    def file_name(self) -> str:
        return f"{self.splits.name}_widths-{len(self.log_widths)}_split-{self.splits.first}.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "widths",
            "data": self.splits.identity,
            "log_widths": list(self.log_widths),
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        started = time.perf_counter()
        (data,) = self.splits.parts
        found: list[dict[str, float]] = []
        for log_width in self.log_widths:
            with warnings.catch_warnings(), interruptions_raised():
                warnings.simplefilter("ignore")
                found.append(describe_leave_one_out(math.exp(log_width), data))
        results = {name: [one[name] for one in found] for name in found[0]}
        return results, {"fit and predict": time.perf_counter() - started}


def describe_leave_one_out(width: float, data: Dataset) -> dict[str, float]:
    """In percent: support vectors, mean slack, errors, and the bound (2.2).

    The bound counts i if y_i f(x_i) without the part of i itself is not positive. Also the largest
    coefficient and the duality gap that was reached, by which a fit without a solution is known.
    """
    from largemargin import LeaveOneOutSVC

    model = LeaveOneOutSVC(gamma=gamma_of(width), n_jobs=1, max_seconds=SECONDS)
    model.fit(data.X, data.y)
    signs = np.where(data.y == model.classes_[1], 1.0, -1.0)
    alone = np.zeros(len(data.X))
    alone[model.support_] = model.dual_coef_[0]  # k(x, x) = 1
    outputs = signs * model.decision_function(data.X)
    without = outputs - signs * alone
    return {
        "support": 100 * int(model.n_support_) / len(data.X),
        "slacks": 100 * float(np.maximum(0, 1 - without).mean()),
        "train": 100 * float(np.mean(model.predict(data.X) != data.y)),
        "test": 100 * float(np.mean(model.predict(data.X_test) != data.y_test)),
        "bound": 100 * float(np.mean(without <= 0)),
        "largest": float(np.abs(alone).max()),
        "gap": float(np.max(model.dual_gap_)),
    }


@dataclass(frozen=True)
class LambdaExperiment:
    """The adaptive-margin machine at several lambdas, with the width of the leave-one-out one."""

    splits: Splits
    width: float
    lams: tuple[float, ...]

    @property
    def name(self) -> str:
        return f"{self.splits.name}, lambdas, splits {self.splits.words}"

    @property
    def cost(self) -> float:
        fits = len(self.lams) * len(self.splits.parts)
        return MACHINES["am"].cost_on(self.splits) * fits

    @property
    def file_name(self) -> str:
        return f"{self.splits.name}_lambdas-{len(self.lams)}_splits-{self.splits.words}.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "lambdas",
            "data": self.splits.identity,
            "width": self.width,
            "lams": list(self.lams),
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Test errors in percent, one list of lambdas per split."""
        started = time.perf_counter()
        errors = []
        for part in self.splits.parts:
            trials, _ = MACHINES["am"].trials(self.width, self.lams, part)
            errors.append([100 * trial.wrong / len(part.X_test) for trial in trials])
        return {"errors": errors}, {"fit and predict": time.perf_counter() - started}
