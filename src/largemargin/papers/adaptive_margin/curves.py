"""Figures 2.7 and 2.8: the leave-one-out machine against the width, and errors against lambda."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.data.dataset import Dataset
from largemargin.papers.adaptive_margin import published
from largemargin.papers.adaptive_margin.machines import MACHINES, SECONDS, gamma_of
from largemargin.papers.adaptive_margin.sets import Splits
from largemargin.papers.comparison import cell_of
from largemargin.papers.experiments import interruptions_raised
from largemargin.papers.figures import Figure, Panel
from largemargin.report.charts import Curve

WIDTH_SET = "thyroid"
LOG_WIDTHS = tuple(np.linspace(-3, 3, 25).tolist())
QUICK_LOG_WIDTHS = tuple(np.linspace(-2, 2, 5).tolist())
LAMBDA_SETS = tuple(published.FIGURE8_SPLITS)
LAMBDAS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
QUICK_LAMBDAS = (0.0, 0.5, 1.0, 2.0, 5.0)
QUANTITIES = {"slacks": "slacks", "test": "test error", "train": "training error", "bound": "bound"}


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

    The bound counts i if y_i f(x_i) without the part of i itself is not positive.
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


def width_figure(runs: Sequence[dict[str, Any]], log_widths: Sequence[float]) -> Figure:
    """Sparsity and errors against the width, means over splits."""
    widths = tuple(math.exp(one) for one in log_widths)

    def panel(title: str, names: dict[str, str]) -> Panel:
        curves = tuple(Curve(shown, widths, _mean(runs, name)) for name, shown in names.items())
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
            f"Means over {_splits(len(runs))}. Slacks are their sum over the training examples, in "
            "percent of those; the bound is the leave-one-out bound (2.2), which does not hold for "
            "this machine. The chapter's axis is the logarithm of the width: -1 there is "
            f"{math.exp(-1):.2f} here.",
        ),
    )


def lambda_figure(runs: dict[str, list[list[float]]], lams: Sequence[float]) -> Figure:
    """Test error against lambda; `runs` holds the errors of each split by data set."""

    def panel(name: str, errors: list[list[float]]) -> Panel:
        cells = [cell_of(column, None, "percent") for column in zip(*errors, strict=True)]
        means = tuple(float(cell.ours or 0.0) for cell in cells)
        title = f"{published.SETS[name]}, {_splits(len(errors))}"
        best = int(np.argmin(means))
        summary = f"lowest test error {means[best]:.2f} at lambda {lams[best]:g}"
        return Panel(
            title, (Curve("test error", tuple(lams), means),), summary, log_x=False, log_y=False
        )

    return Figure(
        "figure2-8",
        "Figure 2.8: test error of the adaptive-margin machine against lambda",
        "lambda",
        "test error in percent",
        tuple(panel(name, errors) for name, errors in runs.items()),
        ("Means over splits, with the width that was chosen for the leave-one-out machine.",),
    )


def minima_are_near(runs: Sequence[dict[str, Any]], log_widths: Sequence[float]) -> bool:
    """Whether all four curves are lowest within 1 of the chapter's logarithm of the width."""
    found = (log_widths[int(np.argmin(_mean(runs, name)))] for name in QUANTITIES)
    return all(abs(one - published.BEST_LOG_WIDTH) <= 1 for one in found)


BEST_LAMBDA: dict[str, Callable[[float], bool]] = {
    "banana": lambda lam: lam == 1,
    "heart": lambda lam: 0.5 <= lam <= 1.5,
    "titanic": lambda lam: lam == 0,
}
"""Whether the lambda with the lowest error is where the text has it."""


def best_lambda(errors: Sequence[Sequence[float]], lams: Sequence[float]) -> float:
    return lams[int(np.argmin(np.mean(errors, axis=0)))]


def _mean(runs: Sequence[dict[str, Any]], name: str) -> tuple[float, ...]:
    return tuple(np.mean([run[name] for run in runs], axis=0).tolist())


def _splits(count: int) -> str:
    return "1 split" if count == 1 else f"{count} splits"
