"""Margins of the training examples: what boosting and the kernel machines make of them."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.adaptive_margin import published
from largemargin.papers.adaptive_margin.machines import ROUNDS, SEED, gamma_of
from largemargin.papers.adaptive_margin.sets import Splits
from largemargin.papers.interruption import interruptions_raised
from largemargin.report.figures import Curve, Figure, Panel

MARGIN_SET = "banana"
CENTRES = 8
PRICE = 1000.0
STAGES = (5, 20)
GRID = tuple(np.linspace(-1, 1, 81).round(4).tolist())
KERNEL_MACHINES = ("SVM, C = 1", "LOO-SVM", "AM-SVM, lambda = 5")
WIDTH = 0.7


@dataclass(frozen=True)
class MarginExperiment:
    """The machines on one training set."""

    splits: Splits

    cost = 400.0

    @property
    def name(self) -> str:
        return f"{self.splits.name}, margins"

    @property
    def file_name(self) -> str:
        return f"{self.splits.name}_margins.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "margins",
            "data": self.splits.identity,
            "centres": CENTRES,
            "C": PRICE,
            "stages": list(STAGES),
            "width": WIDTH,
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """The share of training examples with at most each margin, for each machine."""
        started = time.perf_counter()
        (data,) = self.splits.parts
        with warnings.catch_warnings(), interruptions_raised():
            warnings.simplefilter("ignore")
            boosted = {
                "AdaBoost": boosted_margins(data.X, data.y, 0.0),
                "AdaBoost_Reg": boosted_margins(data.X, data.y, PRICE),
            }
            kernel = kernel_margins(data.X, data.y)
        results = {
            "boosted": {
                name: {stage: share_below(margins) for stage, margins in stages.items()}
                for name, stages in boosted.items()
            },
            "kernel": {name: share_below(margins) for name, margins in kernel.items()},
        }
        return results, {"fit": time.perf_counter() - started}


def boosted_margins(X: np.ndarray, y: Any, price: float) -> dict[str, np.ndarray]:
    """Margins after some rounds, as far as they were reached, and after all."""
    from largemargin import AdaBoost, RBFNetwork

    model = AdaBoost(
        RBFNetwork(n_centers=CENTRES), n_rounds=ROUNDS, regularization=price, random_state=SEED
    ).fit(X, y)
    stages = list(model.staged_margins(X, y))
    some = {f"{rounds} rounds": stages[rounds - 1] for rounds in STAGES if rounds < len(stages)}
    return {**some, "all rounds": stages[-1]}


def kernel_margins(X: np.ndarray, y: Any) -> dict[str, np.ndarray]:
    """y f(x) over the largest |f| of a training example."""
    from largemargin import SVC, AdaptiveMarginSVC, LeaveOneOutSVC

    common: dict[str, Any] = {"gamma": gamma_of(WIDTH), "n_jobs": 1}
    models: tuple[Any, ...] = (
        SVC(C=1.0, fit_intercept=False, **common),
        LeaveOneOutSVC(**common),
        AdaptiveMarginSVC(lam=5.0, **common),
    )
    found = {}
    for name, model in zip(KERNEL_MACHINES, models, strict=True):
        model.fit(X, y)
        signs = np.where(y == model.classes_[1], 1.0, -1.0)
        outputs = model.decision_function(X)
        found[name] = signs * outputs / np.abs(outputs).max()
    return found


def share_below(margins: np.ndarray) -> list[float]:
    """The percentage of the margins that are at most each value of GRID."""
    counts = np.searchsorted(np.sort(margins), GRID, side="right")
    return (100 * counts / len(margins)).tolist()


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
            f"{PRICE:g}, and the width of the kernel is {WIDTH:g}.",
        ),
    )
