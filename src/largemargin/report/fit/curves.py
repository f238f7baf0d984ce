"""The charts of a fit: margins, the learning curve, the cache of a stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from largemargin.machines import ENSEMBLE, STREAM, TRACE, card_of
from largemargin.report.charts import Curve, Histogram, LineChart
from largemargin.report.fit.outcome import Outcome, Rows, classes_of

BINS = 36
OUTLIER_SHARE = 0.005  # share of the rows, at the upper end, that may be in the last bin
DEEPEST = 2.0  # largest negative margin shown, as a multiple of the largest margin
STAGES = 14
SAMPLE_ROWS = 2000  # rows that a learning curve is measured on
METHODS = ("vote", "average", "last", "random")


def margin_histogram(test: Outcome | None, training: Outcome | None) -> Histogram:
    """How margins are spread: bars for what the model was tested on, a line for the training set.

    Without a test the bars are the training set.
    """
    shown = test or training
    assert shown is not None
    behind = training if test else None
    parts = [outcome.margins for outcome in (shown, behind) if outcome]
    margins = [part[np.isfinite(part)] for part in parts]
    edges = bins_of(np.concatenate(margins))
    shares = [
        np.histogram(part.clip(edges[0], edges[-1]), edges)[0] / max(len(part), 1)
        for part in margins
    ]
    # an answer is right or wrong by itself: on a margin of zero it can be either
    erred = shown.wrong[np.isfinite(parts[0])]
    wrong = np.histogram(margins[0][erred].clip(edges[0], edges[-1]), edges)[0]
    middle, below = (float(np.median(margins[0])), float(erred.mean())) if len(erred) else (0, 0)
    what = "test rows" if test else "training rows"
    return Histogram(
        "margins",
        "Margins",
        "margin (lead of the true class)",
        f"share of the {what}",
        tuple(edges.tolist()),
        tuple(shares[0].tolist()),
        tuple(shares[1].tolist()) if behind else (),
        (
            f"{what}, classified correctly",
            f"{what}, classified wrongly",
            *(["training rows"] if behind else []),
        ),
        f"Histogram of margins: {100 * below:.3g} % of the {what} are classified wrongly, and half "
        f"of them have a margin below {middle:.3g}.",
        (
            "The margin says how clearly the true class wins: it is y f(x) for two classes, and "
            "otherwise the score of the true class minus the best other score. An answer with a "
            "negative margin is wrong.",
        ),
        tuple((wrong / max(len(margins[0]), 1)).tolist()),
    )


def bins_of(margins: np.ndarray) -> np.ndarray:
    """Bins of one width, of which zero is an edge."""
    low, high = (margins.min(), np.quantile(margins, 1 - OUTLIER_SHARE)) if len(margins) else (0, 1)
    high = max(high, 0.0)
    low = min(max(low, -DEEPEST * high) if high else low, 0.0)
    high = high if high > low else low + 1.0
    width = (high - low) / BINS
    return width * np.arange(np.floor(low / width), np.ceil(high / width) + 1)


def learning_curve(model: Any, rows: Rows) -> LineChart | None:
    """The error along training, for the models that can still say what they would have answered."""
    outcome = card_of(model).outcome
    if outcome == TRACE:
        return _perceptron_curve(model, _some(rows))
    if outcome == ENSEMBLE:
        return _boosting_curve(model, _some(rows))
    return None


def _perceptron_curve(model: Any, rows: Rows) -> LineChart:
    """Every method at a dozen times, all from one pass over kernel values (the trace)."""
    end = model.trace_.n_steps / max(model.trace_.epoch_length, 1)
    at = np.geomspace(min(0.1, end), end, STAGES)
    rules = [(method, bool(model.normalize) and method != "vote") for method in METHODS]
    if model.method not in METHODS:
        rules.append((model.method, bool(model.normalize)))
    staged = model.staged_decision_functions(rows.X, at.tolist(), rules)
    curves = [
        Curve(method, tuple(at.tolist()), tuple(_errors((s[method, u] for s in staged), rows)))
        for method, u in rules
    ]
    return _error_chart(curves, "epochs", rows, "every method is computed from one trace")


def _boosting_curve(model: Any, rows: Rows) -> LineChart:
    n = len(model.alphas_)
    wanted = set(np.unique(np.geomspace(1, n, 4 * STAGES).round().astype(int)).tolist())
    staged = ((t, s) for t, s in enumerate(model.staged_decision_function(rows.X), 1))
    kept = [(t, s) for t, s in staged if t in wanted]
    errors = _errors((scores for _, scores in kept), rows)
    curve = Curve("boosting", tuple(float(t) for t, _ in kept), tuple(errors))
    return _error_chart([curve], "rounds", rows, "the first rounds are combined")


def _error_chart(curves: list[Curve], x_label: str, rows: Rows, how: str) -> LineChart:
    last = curves[0].x[-1]
    ends = ", ".join(f"{curve.y[-1]:.2f} % ({curve.name})" for curve in curves)
    ends = f"{curves[0].y[-1]:.2f} %" if len(curves) == 1 else ends
    says = (
        f"The error on {len(rows):,} {rows.name} rows, if training had stopped earlier: {how}. "
        f"After {last:.3g} {x_label} it is {ends}."
    )
    return LineChart(
        "learning", "Learning curve", x_label, "error, %", tuple(curves), says, log_x=True,
        notes=(says,),
    )  # fmt: skip


def cache_chart(model: Any) -> LineChart | None:
    """The examples stored by an online learner, over its stream."""
    if card_of(model).outcome != STREAM or not len(model.cache_sizes_):
        return None
    seen, stored = (tuple(map(float, column)) for column in np.asarray(model.cache_sizes_).T)
    budget = f" The budget is {model.budget}." if model.budget is not None else ""
    says = (
        f"{stored[-1]:,.0f} examples are stored after {seen[-1]:,.0f} rows; the most at a recorded "
        f"time were {max(stored):,.0f}.{budget}"
    )
    return LineChart(
        "cache", "Cache size", "examples seen", "examples stored",
        (Curve("stored", seen, stored),), says, notes=(says,),
    )  # fmt: skip


def _errors(scores: Iterable[np.ndarray], rows: Rows) -> list[float]:
    return [100 * float((classes_of(s) != rows.truth).mean()) for s in scores]


def _some(rows: Rows) -> Rows:
    """The rows, or a sample of many."""
    if len(rows) <= SAMPLE_ROWS:
        return rows
    chosen = np.sort(np.random.default_rng(0).permutation(len(rows))[:SAMPLE_ROWS])
    return Rows(rows.name, rows.X[chosen], rows.truth[chosen])
