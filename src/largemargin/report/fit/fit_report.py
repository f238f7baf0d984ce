"""`fit_report`: the page about a fitted model, from arrays.

`describe_fit` measures everything that there is to say of a fit.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sklearn.base import is_outlier_detector

from largemargin.base.pipelines import before_final_step, final_step
from largemargin.certificates import Certificate
from largemargin.certificates.certificate import Condition
from largemargin.certificates.fitted import FOREIGN, checked, recorded
from largemargin.report.fit import curves
from largemargin.report.fit import examples as galleries
from largemargin.report.fit.checking import (
    checked_model,
    checked_names,
    checked_numbers,
    checked_rows,
    decisions_of,
)
from largemargin.report.fit.confusion import confusion_of
from largemargin.report.fit.detector import describe_detector
from largemargin.report.fit.error_axis import error_axis
from largemargin.report.fit.examples import Album, Gallery, album_of
from largemargin.report.fit.facts import facts_of, parameter_text, timings_of
from largemargin.report.fit.importance import importance_bars, names_before_final, ranking
from largemargin.report.fit.outcome import Outcome, Rows, answer, confusion_matrix
from largemargin.report.fit.page import FitReport
from largemargin.report.fit.picture import decision_picture
from largemargin.report.fit.search import search_chart, search_notes, searched, surface_of
from largemargin.report.fit.sizes import progressive_chart, size_curve
from largemargin.report.fit.thresholds import thresholds_of
from largemargin.report.fit.training_rows import SOME, held_out_of, trained_on
from largemargin.report.fit.use import use_of
from largemargin.report.fit.words import known_notes
from largemargin.report.measures import guess_error, measure
from largemargin.report.templates import environment
from largemargin.runtime.arrays import MatrixLike, VectorLike


def fit_report(
    model: Any,
    X_test: MatrixLike | None = None,
    y_test: VectorLike | None = None,
    X_train: MatrixLike | None = None,
    y_train: VectorLike | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    name: str | None = None,
    info: dict[str, Any] | None = None,
) -> FitReport:
    """Measure a fitted model and make a page about it.

    The page is the one that ``largemargin train --report`` writes: the test error with its
    interval, beside every bound of it; a picture of the decision, margins, confusions, thresholds,
    weights, learning curves, the certificate, the hardest examples, what was found in training and
    how to use the model. It is one HTML file that needs nothing else.

    Parameters
    ----------
    model : classifier or outlier detector
        Fitted: one of this package, or a pipeline or a search that ends in one. A detector is
        given rows without labels.
    X_test : array, sparse matrix or data frame of shape (n_samples, n_features), default=None
        Rows to test on. Without them the error is that of the training set, and the page says so.
    y_test : array of shape (n_samples,), default=None
        Their labels. One that the model does not know counts as an error.
    X_train, y_train : as X_test and y_test, default=None
        What the model was trained on. Without it there is no certificate.
    feature_names : list of str, default=None
        Names of the columns; None is those of the data frame that the model was trained on.
    name : str, default=None
        What to call the data on the page.
    info : dict, default=None
        Notes of the training to show: ``largemargin.describe(file)["info"]`` for a model that
        `largemargin train` wrote.

    Returns
    -------
    report : FitReport
        With the page as `html`, and `save(path)`. A notebook shows it.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If there are no labelled rows, or they are not such as the model was trained on; or if
        jinja2 is missing.

    See Also
    --------
    plot_decision : A picture of a classifier of two features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> from largemargin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    >>> report = fit_report(SVC().fit(X, y), X_test, y_test, X, y, name="iris")
    >>> report
    FitReport(SVC on iris: test error 2.63 % (0.06 to 13.81))
    >>> report.html[:15]
    '<!doctype html>'

    ``report.save("iris.html")`` writes the page to a file.
    """
    environment()  # jinja2 is missed before the work, not after it
    searched = search_notes(model)
    model = checked_model(model)
    if is_outlier_detector(final_step(model)):
        return _detector_report(
            model, (X_test, X_train), (y_test, y_train), feature_names, name, info
        )
    given = {**({"cv": searched} if searched else {}), **(info or {})}
    notes = known_notes(model, {**given, **({"data": name} if name else {})})
    if feature_names is not None:
        notes["feature_names"] = checked_names(model, feature_names)
    data = str(notes.get("data") or "")
    tested = f"the test set of {data}" if data else "the test set"
    test = checked_rows(model, tested, X_test, y_test, "test")
    training = checked_rows(model, data or "the training set", X_train, y_train, "train")
    if training is not None and (training.truth < 0).any():
        raise ValueError(
            "y_train has labels that the model does not know, so it was not trained on it"
        )
    with _names_compared():
        return describe_fit(model, test=test, training=training, info=notes)


def _detector_report(
    model: Any, rows: Any, labels: Any, names: Any, name: str | None, info: dict[str, Any] | None
) -> FitReport:
    if any(y is not None for y in labels):
        raise ValueError(
            f"{type(final_step(model)).__name__} learns without labels: leave out y_test and "
            "y_train"
        )
    notes = known_notes(model, {**(info or {}), **({"data": name} if name else {})})
    if names is not None:
        notes["feature_names"] = checked_names(model, names)
    test, training = (
        None if X is None else checked_numbers(model, X, which)
        for X, which in zip(rows, ("X_test", "X_train"), strict=True)
    )
    with _names_compared():
        return describe_detector(model, test=test, training=training, info=notes)


@contextmanager
def _names_compared() -> Iterator[None]:
    """The columns have been compared already."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def describe_fit(
    model: Any,
    *,
    test: Rows | None = None,
    training: Rows | None = None,
    info: dict[str, Any] | None = None,
    command: str = "",
    file: str = "",
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
    file : str
        The model file, if there is one.
    """
    info = info or {}
    if not (test or training):
        raise ValueError("a report needs labelled rows, of a test or of the training set")
    final = final_step(model)
    test, training, mistaken = _told_apart(model, final, test, training, info)
    shown = test or training
    assert shown is not None
    outcome = answer(model, shown)
    before = outcome if test is None else answer(model, training) if training else None
    certificate, seconds = _certificate(model, final, training)
    labels = [str(label) for label in model.classes_.tolist()]
    names = info.get("feature_names") or []
    cv = info.get("cv")
    measures = measure(shown.truth, outcome.predicted, model.classes_, outcome.scores)
    pairwise = getattr(final, "kernel", None) == "precomputed"
    album = album_of(shown.X, names, () if pairwise else ranking(outcome).tolist())
    counts = confusion_matrix(shown.truth, outcome.predicted, len(labels))
    seen = (before, "training") if before else (outcome, "test")
    return FitReport(
        machine=type(final).__name__,
        data=str(info.get("data") or shown.name),
        command=command,
        facts=facts_of(info, model, shown),
        parameters=tuple((k, parameter_text(v)) for k, v in final.get_params(deep=False).items()),
        timings=timings_of(info, outcome, seconds),
        error=outcome.error,
        tested=test is not None,
        training_error=before.error if before else None,
        guessing=guess_error(shown.truth),
        unknown_labels=int((shown.truth < 0).sum()),
        confusion=confusion_of(outcome, counts, labels, album),
        charts=_charts(model, final, outcome if test else None, before, training, info),
        galleries=() if pairwise else _galleries(model, album, outcome, training, labels),
        certificate=certificate,
        search=tuple(cv["table"]) if cv else (),
        chosen=cv["chosen"] if cv else None,
        folds=cv["folds"] if cv else 0,
        searched=searched(cv) if cv else "",
        warnings=(*mistaken, *(info.get("warnings") or ())),
        measures=measures,
        held_out=held_out_of(info) or None,
        decisions=decisions_of(model),
        axis=error_axis(
            outcome.error if test else None, before.error if before else None,
            guess_error(shown.truth), certificate,
        ),
        picture=decision_picture(
            model, final, seen[0], labels, names_before_final(model, final, names), seen[1], counts
        ),
        thresholds=thresholds_of(outcome, labels, measures.auc),
        bars=importance_bars(model, final, names, labels, album.pictures),
        surface=surface_of(cv) if cv else None,
        use=use_of(file),
    )  # fmt: skip


def _told_apart(
    model: Any, final: Any, test: Rows | None, training: Rows | None, info: dict[str, Any]
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
        elif trained_on(model, info, test.X, test.truth) == SOME:
            mistaken = (*mistaken, f"A part of {test.name} is what the model was trained on.")
            test, training = None, test
    return test, training, mistaken


def _record(model: Any, final: Any, rows: Rows) -> Condition | None:
    """Whether these are the training data; None for rows that cannot be, by their labels."""
    if (rows.truth < 0).any():
        return None
    X, labels = checked(final, before_final_step(model, rows.X), model.classes_[rows.truth])
    return recorded(final, X, labels)[0]


def _certificate(
    model: Any, final: Any, training: Rows | None
) -> tuple[Certificate | None, float | None]:
    if training is None:
        return None, None
    start = time.perf_counter()
    found = final.certificate(before_final_step(model, training.X), model.classes_[training.truth])
    return found, time.perf_counter() - start


def _charts(
    model: Any,
    final: Any,
    test: Outcome | None,
    before: Outcome | None,
    training: Rows | None,
    info: dict[str, Any],
) -> tuple[Any, ...]:
    outcome = test or before
    assert outcome is not None
    rows, cv = outcome.rows, info.get("cv")
    seen = Rows("test" if test else "training", before_final_step(model, rows.X), rows.truth)
    found = (
        curves.margin_histogram(test, before),
        curves.learning_curve(final, seen),
        size_curve(model, training, test, before, info.get("seconds")),
        progressive_chart(model, training, info.get("progress")),
        curves.cache_chart(final),
        search_chart(cv) if cv else None,
    )
    return tuple(chart for chart in found if chart is not None)


def _galleries(
    model: Any, album: Album, outcome: Outcome, training: Rows | None, labels: list[str]
) -> tuple[Gallery, ...]:  # fmt: skip
    found = (
        galleries.wrong_gallery(album, outcome, labels),
        galleries.hard_gallery(album, outcome, labels),
        galleries.kept_gallery(model, album, training, labels),
    )
    return tuple(gallery for gallery in found if gallery is not None)
