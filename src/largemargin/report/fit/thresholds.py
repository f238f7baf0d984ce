"""Two classes: what other thresholds of the decision value would give.

A row is taken for the second class, called positive here, where f(x) > t; the model's own t is 0.
The curves and the table are counted on the rows of the page, by one sort of their decision values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largemargin.report.charts import Curve, LineChart
from largemargin.report.fit.outcome import Outcome
from largemargin.report.measures import all_alike
from largemargin.report.templates import figure

CURVE_POINTS = 120  # points of a curve


@dataclass(frozen=True)
class Choice:
    """One threshold, why it is of interest, and what it gives."""

    why: str
    threshold: str
    recall: float
    precision: float | None
    false_alarms: float
    error: float
    own: bool = False


@dataclass(frozen=True)
class Thresholds:
    """The curves and the table, with the label of the positive class."""

    positive: str
    negative: str
    charts: tuple[LineChart, LineChart]
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Counts:
    """True and false positives where f(x) >= t, for each t that occurs, from the largest on; first
    of all none.
    """

    t: np.ndarray
    hits: np.ndarray
    alarms: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, positive: np.ndarray) -> Counts:
        order = np.argsort(-scores, kind="stable")
        f, y = scores[order], positive[order]
        last = np.append(np.flatnonzero(f[1:] != f[:-1]), len(f) - 1)
        hits, alarms = np.cumsum(y)[last], np.cumsum(~y)[last]
        return cls(np.append(np.inf, f[last]), np.append(0, hits), np.append(0, alarms))

    @property
    def recall(self) -> np.ndarray:
        return np.asarray(self.hits / self.hits[-1])

    @property
    def false_alarms(self) -> np.ndarray:
        return np.asarray(self.alarms / self.alarms[-1])

    @property
    def precision(self) -> np.ndarray:
        return np.asarray(self.hits / np.maximum(self.hits + self.alarms, 1))

    @property
    def errors(self) -> np.ndarray:
        wrong = self.alarms + self.hits[-1] - self.hits
        return np.asarray(wrong / (self.hits[-1] + self.alarms[-1]))

    @property
    def own(self) -> int:
        """The position of the model's own threshold: f(x) > 0."""
        return int((self.t > 0).sum()) - 1

    def between(self, k: int) -> float:
        """A threshold halfway between what is taken at position k and what is not."""
        if k + 1 == len(self.t):
            return float(np.nextafter(self.t[-1], -np.inf))
        return float((self.t[k] + self.t[k + 1]) / 2) if k else float(self.t[1])

    def written(self, k: int) -> str:
        """That threshold in words, where all rows or none are taken."""
        if k == self.own:
            return "0"
        if not k:
            return f"{figure(self.between(k), 3, side='above')} or more"
        if k + 1 == len(self.t):
            return f"below {figure(float(self.t[-1]), 3, side='below')}"
        return figure(self.between(k), 3)


def thresholds_of(outcome: Outcome, labels: list[str], auc: float | None) -> Thresholds | None:
    """None but for two classes of which both occur, and decision values that differ."""
    if auc is None or outcome.scores is None:
        return None
    known = outcome.rows.truth >= 0
    scores = np.asarray(outcome.scores, np.float64)[known]
    if all_alike(scores):
        return None
    counts = Counts.of(scores, outcome.rows.truth[known] == 1)
    return Thresholds(labels[1], labels[0], _charts(counts, auc, labels[1]), _choices(counts))


def _choices(counts: Counts) -> tuple[Choice, ...]:
    """The model's own threshold, and those that people ask for, in their order."""
    recall, precision, errors = counts.recall, counts.precision, counts.errors
    balanced = recall - counts.false_alarms
    wanted = [
        ("threshold of this model", counts.own),
        ("smallest error", int(errors.argmin())),
        ("smallest balanced error", int(balanced.argmax())),
    ]
    wanted += [
        (f"recall of at least {100 * share:.0f} %", int((recall >= share).argmax()))
        for share in (0.9, 0.95, 0.99)
    ]
    exact = np.flatnonzero((precision >= 0.95) & (counts.hits > 0))
    wanted += [("precision of at least 95 %", int(exact[-1]))] if len(exact) else []
    by_place: dict[int, list[str]] = {}
    for why, k in wanted:
        by_place.setdefault(k, []).append(why)
    return tuple(
        Choice(
            ", ".join(names),
            counts.written(k),
            float(recall[k]),
            float(precision[k]) if counts.hits[k] + counts.alarms[k] else None,
            float(counts.false_alarms[k]),
            float(errors[k]),
            k == counts.own,
        )
        for k, names in sorted(by_place.items())
    )


def _charts(counts: Counts, auc: float, label: str) -> tuple[LineChart, LineChart]:
    recall, precision, alarms = counts.recall, counts.precision, counts.false_alarms
    own, base = counts.own, float(counts.hits[-1] / (counts.hits[-1] + counts.alarms[-1]))
    says = (
        f"The area under the curve (AUC) is {auc:.3f}: this is the probability that a row of "
        f"class {label} has a larger decision value than a row of the other class."
    )
    roc = LineChart(
        "roc", "ROC curve", "false positive rate", "recall (true positive rate)",
        (Curve("decision value", *_thinned(alarms, recall)),
         Curve("this model", (float(alarms[own]),), (float(recall[own]),), marks=True),
         Curve("guessing", (0.0, 1.0), (0.0, 1.0))),
        says, notes=(says,),
    )  # fmt: skip
    some = counts.hits + counts.alarms > 0
    told = (
        f"At its own threshold the model finds {100 * recall[own]:.1f} % of the rows of class "
        f"{label}, and {100 * precision[own]:.1f} % of the rows that it takes for {label} are."
        if some[own]
        else f"At its own threshold the model takes no row for {label}, so that it has no "
        "precision, and no mark in this picture."
    ) + f" Guessing has a precision of {100 * base:.1f} %."
    curve = Curve("decision value", *_thinned(recall[some], precision[some]))
    mark = [own] if some[own] else []
    here = Curve(
        "this model", tuple(recall[mark].tolist()), tuple(precision[mark].tolist()), marks=True
    )
    guessing = Curve("guessing", (0.0, 1.0), (base, base))
    return roc, LineChart(
        "precision-recall", "Precision and recall", "recall", "precision",
        (curve, here, guessing), told, notes=(told,),
    )  # fmt: skip


def _thinned(x: np.ndarray, y: np.ndarray) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Some points of a curve, with its ends."""
    places = np.linspace(0, len(x) - 1, min(len(x), CURVE_POINTS)).round().astype(int)
    return tuple(x[places].tolist()), tuple(y[places].tolist())
