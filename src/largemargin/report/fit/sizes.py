"""How the error falls with the number of examples: of a machine that is trained again on parts of
its training set, and of an online learner along its stream.

Both are made only where that takes no time to speak of. What decides it is known before, the time
that training took or the number of rows, so that the same fit always has the same page.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from largemargin.base.pipelines import before_final_step, final_step
from largemargin.machines import STREAM, card_of
from largemargin.report.charts import Curve, LineChart
from largemargin.report.fit.outcome import Outcome, Rows, classes_of

QUICK = 0.5  # seconds of a training that may be done again on parts
FEW_ROWS = 400  # rows of one whose time is not known
PARTS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
SMALLEST = 2  # rows of each class in the smallest part
TEST_ROWS = 2000
STREAM_ROWS = 5000  # rows of a stream that is run again
STREAM_STEPS, STEP_ROWS = 30, 25  # the most points of its curve, and the fewest rows of one


def size_curve(
    model: Any, training: Rows | None, test: Outcome | None, before: Outcome | None, seconds: Any
) -> LineChart | None:
    """Test error and training error by the number of training rows."""
    if training is None or test is None or before is None or not _is_quick(training, seconds):
        return None
    if getattr(final_step(model), "kernel", None) == "precomputed":
        return None
    order = _mixed(training.truth)
    X_test, truth = _some(test.rows)
    points = []
    for part in PARTS:
        chosen = np.sort(order[: round(part * len(order))])
        counts = np.bincount(training.truth[chosen], minlength=len(model.classes_))
        if counts.min() >= SMALLEST:
            found = _errors_after(model, training, chosen, X_test, truth)
            if found is None:
                return None
            points.append((float(len(chosen)), *found))
    if len(points) < 2:
        return None
    points.append((float(len(training)), 100 * before.error.share, 100 * test.error.share))
    n, old, new = (tuple(column) for column in zip(*points, strict=True))
    gain = new[-2] - new[-1]
    verdict = (
        f"The last doubling lowered the test error by {gain:.2f} points: more rows may help."
        if gain > 0.1 * new[-2] and gain > 0
        else "The last doubling hardly changed the test error: more rows alone may not help much."
    )
    says = f"The same machine, trained on parts of the training rows. {verdict}"
    return LineChart(
        "sizes", "Error by the number of training rows", "training rows", "error, %",
        (Curve("test rows", n, new), Curve("training rows", n, old)), says, log_x=True,
        notes=(says,),
    )  # fmt: skip


def _is_quick(training: Rows, seconds: Any) -> bool:
    if seconds is None:
        return len(training) <= FEW_ROWS
    return float(seconds) <= QUICK


def _mixed(truth: np.ndarray) -> np.ndarray:
    """All rows in an order whose every beginning has the classes in nearly their shares."""
    shuffled = np.random.default_rng(0).permutation(len(truth))
    place = np.empty(len(truth))
    for k in np.unique(truth):
        mine = shuffled[truth[shuffled] == k]
        place[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    return np.argsort(place, kind="stable")


def _some(rows: Rows) -> tuple[Any, np.ndarray]:
    chosen = np.flatnonzero(rows.truth >= 0)
    if len(chosen) > TEST_ROWS:
        chosen = np.sort(np.random.default_rng(0).permutation(chosen)[:TEST_ROWS])
    return rows.X[chosen], rows.truth[chosen]


def _errors_after(
    model: Any, training: Rows, chosen: np.ndarray, X_test: Any, truth: np.ndarray
) -> tuple[float, float] | None:
    """Training and test error, in percent, of the machine trained on some of the rows; None where
    it cannot be.
    """
    X, y = training.X[chosen], training.truth[chosen]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            again = clone(model).fit(X, model.classes_[y])
            scores = [again.decision_function(rows) for rows in (X, X_test)]
        except (ValueError, FloatingPointError):
            return None
    if len(again.classes_) != len(model.classes_):
        return None
    old, new = (
        100 * float((classes_of(s) != t).mean()) for s, t in zip(scores, (y, truth), strict=True)
    )
    return old, new


def progressive_chart(model: Any, training: Rows | None, noted: Any) -> LineChart | None:
    """The share of rows of a stream that were answered wrongly before they were learned from: as
    `largemargin train --stream` noted it, or as a second pass over few rows finds it.
    """
    final = final_step(model)
    if card_of(final).outcome != STREAM:
        return None
    steps = noted if noted else _replayed(model, final, training)
    if len(steps) < 3:
        return None
    seen, errors = np.asarray(steps, float).T
    so_far = 100 * errors / seen
    lately = 100 * np.diff(errors, prepend=0.0) / np.diff(seen, prepend=0.0)
    says = (
        f"Each row is answered before the model learns from it. {errors[-1]:,.0f} of "
        f"{seen[-1]:,.0f} answers were wrong ({so_far[-1]:.2f} %); of the latest "
        f"{seen[-1] - seen[-2]:,.0f} rows, {lately[-1]:.2f} %."
    )
    return LineChart(
        "progressive", "Progressive error", "rows seen", "error, %",
        (Curve("all rows so far", tuple(seen.tolist()), tuple(so_far.tolist())),
         Curve("latest rows", tuple(seen.tolist()), tuple(lately.tolist()))),
        says, notes=(says,),
    )  # fmt: skip


def _replayed(model: Any, final: Any, training: Rows | None) -> list[tuple[int, int]]:
    if training is None or len(training) > STREAM_ROWS or final.kernel == "precomputed":
        return []
    again, steps = clone(final).set_params(verbose=0), []
    inner = before_final_step(model, training.X)
    labels = final.classes_[training.truth]
    n_steps = min(STREAM_STEPS, max(3, len(training) // STEP_ROWS))
    ends = np.unique(np.linspace(0, len(training), n_steps + 1).astype(int))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
                again.partial_fit(inner[start:end], labels[start:end], classes=final.classes_)
                # The rows until gamma is fixed are answered once more when it is.
                if not again.begins:
                    steps.append((end, int(again.online_errors_)))
        except ValueError:  # such as gamma="scale", of which a stream knows nothing
            return []
    return steps
