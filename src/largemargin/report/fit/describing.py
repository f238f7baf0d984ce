"""Everything that there is to say of a fit, measured."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from largemargin.certificates import Certificate
from largemargin.certificates.certificate import Condition
from largemargin.certificates.fitted import FOREIGN, checked, recorded
from largemargin.report.fit import curves
from largemargin.report.fit import examples as galleries
from largemargin.report.fit.content import Confusion, Facts, FitReport
from largemargin.report.fit.examples import Gallery, album_of
from largemargin.report.fit.outcome import Outcome, Rows, answer, confusion_matrix
from largemargin.report.fit.words import kernel_words, learned, learned_words, machine_words
from largemargin.report.machine import describe_machine, duration
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.showing import text


def describe_fit(
    model: Any,
    *,
    test: Rows | None = None,
    training: Rows | None = None,
    info: dict[str, Any] | None = None,
    command: str = "",
) -> FitReport:
    """Measure a fitted model, alone or at the end of a pipeline.

    Parameters
    ----------
    model : estimator
    test, training : Rows
        At least one of them. Without a test the error is that of the training set, and says so;
        without the training set there is no certificate of the fit. A model that knows what it
        was trained on tells which is which.
    info : dict
        What `largemargin train` notes in the model file.
    command : str
        What makes this report again.
    """
    info = info or {}
    if not (test or training):
        raise ValueError("a report needs labelled rows, of a test or of the training set")
    final = model[-1] if hasattr(model, "steps") else model
    test, training, mistaken = _told_apart(model, final, test, training)
    shown = test or training
    assert shown is not None
    outcome = answer(model, shown)
    before = outcome if test is None else answer(model, training) if training else None
    certificate, seconds = _certificate(model, final, training)
    labels = [str(label) for label in model.classes_.tolist()]
    cv = info.get("cv")
    return FitReport(
        machine=type(final).__name__,
        data=str(info.get("data") or shown.name),
        command=command,
        facts=_facts(info, model, shown),
        parameters=tuple((k, _text(v)) for k, v in final.get_params(deep=False).items()),
        timings=_timings(info, outcome, seconds),
        error=outcome.error,
        tested=test is not None,
        training_error=before.error if before else None,
        guessing=_guessing(shown.truth),
        unknown_labels=int((shown.truth < 0).sum()),
        confusion=_confusion(outcome, labels),
        charts=_charts(model, final, outcome, before if test else None, test is not None, cv),
        galleries=_galleries(model, final, outcome, training, info, labels),
        certificate=certificate,
        search=tuple(cv["table"]) if cv else (),
        chosen=cv["chosen"] if cv else None,
        folds=cv["folds"] if cv else 0,
        warnings=(*mistaken, *(info.get("warnings") or ())),
    )


def _told_apart(
    model: Any, final: Any, test: Rows | None, training: Rows | None
) -> tuple[Rows | None, Rows | None, tuple[str, ...]]:
    """The test and the training set, as far as the model knows what it was trained on, and a
    sentence on rows that were taken for the training set and are not.
    """
    mistaken: tuple[str, ...] = ()
    if training is not None:
        record = _record(model, final, training)
        if record is not None and record.otherwise.startswith(FOREIGN):
            mistaken = (
                f"{training.name} is not what the model was trained on: {record.otherwise}.",
            )
            test, training = test or training, None
    if test is not None:
        record = _record(model, final, test)
        if record is not None and record.holds:
            test, training = None, test
    return test, training, mistaken


def _record(model: Any, final: Any, rows: Rows) -> Condition | None:
    """Whether these are the training data; None for rows that cannot be, by their labels."""
    if (rows.truth < 0).any():
        return None
    X, labels = checked(final, _scaled(model, rows.X), model.classes_[rows.truth])
    return recorded(final, X, labels)[0]


def _certificate(
    model: Any, final: Any, training: Rows | None
) -> tuple[Certificate | None, float | None]:
    if training is None:
        return None, None
    start = time.perf_counter()
    found = final.certificate(_scaled(model, training.X), model.classes_[training.truth])
    return found, time.perf_counter() - start


def _charts(
    model: Any,
    final: Any,
    outcome: Outcome,
    before: Outcome | None,
    tested: bool,
    cv: Any,
) -> tuple[Any, ...]:
    rows = outcome.rows
    seen = Rows("test" if tested else "training", _scaled(model, rows.X), rows.truth)
    found = (
        curves.margin_histogram(outcome if tested else None, before if tested else outcome),
        curves.learning_curve(final, seen),
        curves.cache_chart(final),
        curves.search_chart(cv) if cv else None,
    )
    return tuple(chart for chart in found if chart is not None)


def _galleries(
    model: Any,
    final: Any,
    outcome: Outcome,
    training: Rows | None,
    info: dict[str, Any],
    labels: list[str],
) -> tuple[Gallery, ...]:
    if getattr(final, "kernel", None) == "precomputed":
        return ()  # rows are kernel values, which nobody can look at
    album = album_of(outcome.rows.X, info.get("feature_names") or ())
    found = (
        galleries.wrong_gallery(album, outcome, labels),
        galleries.hard_gallery(album, outcome, labels),
        galleries.kept_gallery(model, album, training, labels),
    )
    return tuple(gallery for gallery in found if gallery is not None)


def _facts(info: dict[str, Any], model: Any, shown: Rows) -> Facts:
    rows = f"{info['rows']:,} rows of {model.n_features_in_:,} features" if "rows" in info else ""
    scalers = [type(step).__name__ for _, step in getattr(model, "steps", [])[:-1]]
    every = (
        ("training data", info.get("data", "")),
        ("trained on", rows or f"{model.n_features_in_:,} features"),
        ("classes", _classes(model.classes_.tolist())),
        ("tested on", f"{len(shown):,} rows of {shown.name}"),
        ("scaling", ", ".join(scalers) or "none"),
        *_found(model[-1] if hasattr(model, "steps") else model),
        ("seed", _text(info["seed"]) if "seed" in info else ""),
        ("trained", str(info.get("trained", "")).replace("T", " ").removesuffix("+00:00")),
        ("versions", ", ".join(f"{k} {v}" for k, v in (info.get("versions") or {}).items())),
    )
    return tuple((name, str(value)) for name, value in every if value not in ("", None))


def _found(final: Any) -> list[tuple[str, str]]:
    """Which machine it is, and what fitting found."""
    parameters = final.get_params(deep=False)
    found = [("machine", machine_words(parameters))]
    if isinstance(parameters.get("kernel"), str):
        found.append(("kernel", kernel_words(parameters)))
    return found + [(name, text(value)) for name, value in learned_words(learned(final))]


def _classes(classes: list[Any]) -> str:
    few = ", ".join(map(str, classes[:12])) + (", ..." if len(classes) > 12 else "")
    return f"{len(classes)} ({few})"


def _timings(info: dict[str, Any], outcome: Outcome, certificate: float | None) -> Facts:
    rate = len(outcome.rows) / max(outcome.seconds, 1e-9)
    found = [
        ("training", _seconds(info["seconds"]) if info.get("seconds") is not None else ""),
        ("prediction", f"{_seconds(outcome.seconds)} for {len(outcome.rows):,} rows"),
        ("rows a second", f"{rate:,.0f}"),
        ("certificate", _seconds(certificate) if certificate is not None else ""),
        ("report made on", describe_machine()),
    ]
    if cv := info.get("cv"):
        found.insert(0, ("search", _seconds(sum(row["seconds"] for row in cv["table"]))))
    return tuple((name, value) for name, value in found if value)


def _seconds(seconds: float) -> str:
    if seconds < 0.1:
        return f"{1e3 * seconds:.3g} ms"
    return f"{seconds:.2f} s" if seconds < 10 else duration(seconds)


def _guessing(truth: np.ndarray) -> float:
    known = truth[truth >= 0]
    return 1.0 - (float(np.bincount(known).max()) / len(truth) if len(known) else 0.0)


def _confusion(outcome: Outcome, labels: list[str]) -> Confusion:
    counts = confusion_matrix(outcome.rows.truth, outcome.predicted, len(labels))
    return Confusion(tuple(labels), tuple(tuple(row) for row in counts.tolist()))


def _scaled(model: Any, X: Matrix) -> Matrix:
    """Rows as the last step of a pipeline sees them."""
    scaled: Matrix = model[:-1].transform(X) if hasattr(model, "steps") else X
    return scaled


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if value is None or isinstance(value, bool | int | str):
        return str(value)
    return type(value).__name__ if hasattr(value, "get_params") else str(value)[:60]
