"""The page of an outlier detector: which rows are outside, and how far."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from largemargin.base.pipelines import before_final_step, final_step
from largemargin.report.charts import Histogram
from largemargin.report.fit import examples as galleries
from largemargin.report.fit.checking import decisions_of
from largemargin.report.fit.curves import bins_of
from largemargin.report.fit.examples import Album, Gallery, album_of, most_of
from largemargin.report.fit.facts import facts_of, parameter_text, timings_of
from largemargin.report.fit.importance import names_before_final, ranking
from largemargin.report.fit.outcome import Outcome, Rows
from largemargin.report.fit.page import FitReport
from largemargin.report.fit.picture import decision_picture
from largemargin.report.fit.use import use_of
from largemargin.report.templates import figure
from largemargin.runtime.arrays import Matrix

LABELS = ["outlier", "inside"]


def describe_detector(
    model: Any,
    *,
    test: Matrix | None = None,
    training: Matrix | None = None,
    info: dict[str, Any] | None = None,
    command: str = "",
    file: str = "",
    source: str = "",
) -> FitReport:
    """Measure a fitted outlier detector on rows without labels, as `describe_fit` a classifier.

    `source` is what the rows are called.
    """
    info, final = info or {}, final_step(model)
    X = training if test is None else test
    if X is None:
        raise ValueError("a report needs rows, of a test or of the training set")
    tested, data = test is not None, str(info.get("data") or source or "the training set")
    outcome = _answers(model, source or (f"the test set of {data}" if tested else data), X)
    start = time.perf_counter()
    certificate = None
    if training is not None:
        certificate = final.certificate(before_final_step(model, training))
    seconds = time.perf_counter() - start if certificate else None
    names = info.get("feature_names") or []
    album = album_of(X, names, ranking(outcome).tolist())
    return FitReport(
        machine=type(final).__name__,
        data=data,
        command=command,
        facts=facts_of(info, model, outcome.rows),
        parameters=tuple((k, parameter_text(v)) for k, v in final.get_params(deep=False).items()),
        timings=timings_of(info, outcome, seconds),
        error=outcome.error,
        tested=tested,
        training_error=None,
        guessing=0.0,
        unknown_labels=0,
        confusion=None,
        charts=(_histogram(outcome, "test rows" if tested else "training rows"),),
        galleries=_galleries(model, album, outcome),
        certificate=certificate,
        warnings=tuple(info.get("warnings") or ()),
        decisions=decisions_of(model),
        picture=decision_picture(
            model, final, replace(outcome, rows=replace(outcome.rows, truth=outcome.predicted)),
            LABELS, names_before_final(model, final, names),
            "test" if tested else "training",
        ),
        use=use_of(file, labelled=False),
        detects=True,
    )  # fmt: skip


def _answers(model: Any, name: str, X: Matrix) -> Outcome:
    """The answers, as if every row was to be inside: an outlier is what is told of as an error."""
    start = time.perf_counter()
    scores = np.asarray(model.decision_function(X), np.float64)
    seconds = time.perf_counter() - start
    inside = (scores >= 0).astype(int)
    return Outcome(Rows(name, X, np.ones(len(scores), int)), inside, scores, seconds, scores)


def _histogram(outcome: Outcome, what: str) -> Histogram:
    edges = bins_of(outcome.margins)
    clipped = outcome.margins.clip(edges[0], edges[-1])
    n = len(clipped)
    bars, outside = (np.histogram(part, edges)[0] / n for part in (clipped, clipped[outcome.wrong]))
    says = (
        f"{outcome.error.errors:,} of {n:,} {what} have a negative decision value: they are "
        "outside of the region that the model has learned."
    )
    return Histogram(
        "margins", "Decision values", "decision value f(x)", f"share of the {what}",
        tuple(edges.tolist()), tuple(bars.tolist()), (), (f"{what}, inside", f"{what}, outliers"),
        says, (says,), tuple(outside.tolist()),
    )  # fmt: skip


def _galleries(model: Any, album: Album, outcome: Outcome) -> tuple[Gallery, ...]:
    if getattr(final_step(model), "kernel", None) == "precomputed":
        return ()
    chosen = np.argsort(outcome.margins, kind="stable")[: most_of(album)].tolist()
    captions = [
        (
            LABELS[outcome.predicted[i]],
            f"decision value {figure(outcome.margins[i], 3)}",
            f"row {i}",
        )
        for i in chosen
    ]
    unusual = Gallery(
        "wrong", "Most unusual", "The rows with the smallest decision values: the least like the "
        "rows that the model was trained on.", album.show(outcome.rows.X[chosen], captions),
    )  # fmt: skip
    kept = galleries.kept_gallery(model, album, None, LABELS)
    return (unusual,) if kept is None else (unusual, kept)
