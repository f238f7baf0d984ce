"""`fit_report`: the page about a fitted model, from arrays.

`describe_fit` measures everything that there is to say of a fit.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array

from largemargin.base.labels import numbers_in
from largemargin.base.pipelines import before_final_step, best_model, final_step
from largemargin.certificates import Certificate
from largemargin.certificates.certificate import Condition
from largemargin.certificates.fitted import FOREIGN, checked, recorded
from largemargin.data import Table
from largemargin.report.fit import curves
from largemargin.report.fit import examples as galleries
from largemargin.report.fit.examples import Gallery, album_of
from largemargin.report.fit.outcome import Outcome, Rows, answer, confusion_matrix
from largemargin.report.fit.page import Confusion, Facts, FitReport
from largemargin.report.fit.training_rows import SOME, held_out_of, trained_on
from largemargin.report.fit.words import (
    kernel_words,
    known_notes,
    learned,
    learned_words,
    machine_words,
)
from largemargin.report.machine import describe_machine, duration
from largemargin.report.measures import guess_error, measure
from largemargin.report.templates import environment
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.showing import listed, shown, text

LABELS_SHOWN = 10  # labels of the model in a sentence


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
    interval, confusions, margins, learning curves, the certificate, the hardest examples and what
    was found in training. It is one HTML file that needs nothing else.

    Parameters
    ----------
    model : classifier
        Fitted: one of this package, or a pipeline or a search that ends in one.
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
    model = _checked_model(model)
    notes = known_notes(model, {**(info or {}), **({"data": name} if name else {})})
    if feature_names is not None:
        notes["feature_names"] = _checked_names(model, feature_names)
    data = str(notes.get("data") or "")
    tested = f"the test set of {data}" if data else "the test set"
    test = _rows(model, tested, X_test, y_test, "test")
    training = _rows(model, data or "the training set", X_train, y_train, "train")
    if training is not None and (training.truth < 0).any():
        raise ValueError(
            "y_train has labels that the model does not know, so it was not trained on it"
        )
    with warnings.catch_warnings():
        # the columns have been compared already
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return describe_fit(model, test=test, training=training, info=notes)


def _checked_model(model: Any) -> Any:
    """The model, inside a search the best one; it must be fitted, and one of this package."""
    model = best_model(model)
    final = final_step(model)
    if not hasattr(final, "certificate") or not is_classifier(final):
        raise ValueError(
            "model must be a classifier of largemargin, or a pipeline or a search that ends in "
            f"one, got {shown(model)}"
        )
    if not hasattr(final, "classes_"):
        raise NotFittedError(
            f"this {type(final).__name__} is not fitted: call its fit before fit_report"
        )
    return model


def _checked_names(model: Any, feature_names: Sequence[str]) -> list[str]:
    names = [str(one) for one in feature_names]
    if len(names) != model.n_features_in_:
        raise ValueError(
            f"feature_names has {len(names)} names, and the model was trained with "
            f"{model.n_features_in_} features: give one name for each"
        )
    return names


def _rows(
    model: Any, name: str, X: MatrixLike | None, y: VectorLike | None, which: str
) -> Rows | None:
    """Labelled rows, with the class numbers of their labels; None if none are given."""
    if X is None and y is None:
        return None
    if y is None:
        raise ValueError(f"X_{which} has no labels to compare with: give y_{which} as well")
    if X is None:
        raise ValueError(f"y_{which} has no rows that it belongs to: give X_{which} as well")
    rows = _checked_rows(model, X, f"X_{which}")
    numbers = numbers_in(model.classes_, y)
    if numbers.shape != (rows.shape[0],):
        raise ValueError(
            f"X_{which} has {rows.shape[0]} rows, and y_{which} is of shape {numbers.shape}: give "
            "one label for each row"
        )
    if not (numbers >= 0).any():
        known = listed(model.classes_.tolist(), LABELS_SHOWN)
        raise ValueError(f"the labels of y_{which} are not those the model knows, {known}")
    return Rows(name, rows, numbers)


def _checked_rows(model: Any, X: MatrixLike, which: str) -> Matrix:
    """Numbers in an array or a CSR matrix, in the columns that the model was trained with."""
    if _decisions(model):
        return table_of(X)
    trained = getattr(model, "feature_names_in_", None)
    if trained is not None and hasattr(X, "columns") and list(X.columns) != list(trained):
        raise ValueError(
            f"the columns of {which} are {listed(list(X.columns))}, and the model was trained with "
            f"{listed(list(trained))}: give the same columns in the same order"
        )
    rows = check_array(X, accept_sparse="csr", dtype="numeric", input_name=which)
    if rows.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{which} has {rows.shape[1]} features, and the model was trained with "
            f"{model.n_features_in_}: give the same features"
        )
    return np.asarray(rows) if isinstance(rows, np.ndarray) else rows


def table_of(X: Any) -> Any:
    """A data frame, or a dict of columns, as a table of which rows can be taken."""
    if isinstance(X, Table):
        return X
    columns = {str(name): np.asarray(X[name]) for name in getattr(X, "columns", X)}
    return Table({name: _column(values) for name, values in columns.items()})


def _column(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind == "b":
        return values
    return np.array(
        [None if value is None or value != value else str(value) for value in values.tolist()],
        object,
    )


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
    final = final_step(model)
    test, training, mistaken = _told_apart(model, final, test, training, info)
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
        guessing=guess_error(shown.truth),
        unknown_labels=int((shown.truth < 0).sum()),
        confusion=_confusion(outcome, labels),
        charts=_charts(model, final, outcome, before if test else None, test is not None, cv),
        galleries=_galleries(model, final, outcome, training, info, labels),
        certificate=certificate,
        search=tuple(cv["table"]) if cv else (),
        chosen=cv["chosen"] if cv else None,
        folds=cv["folds"] if cv else 0,
        warnings=(*mistaken, *(info.get("warnings") or ())),
        measures=measure(shown.truth, outcome.predicted, model.classes_, outcome.scores),
        held_out=held_out_of(info) or None,
        decisions=_decisions(model),
    )


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
    outcome: Outcome,
    before: Outcome | None,
    tested: bool,
    cv: Any,
) -> tuple[Any, ...]:
    rows = outcome.rows
    seen = Rows("test" if tested else "training", before_final_step(model, rows.X), rows.truth)
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
        ("label", str(info.get("label") or "")),
        ("tested on", f"{len(shown):,} rows of {shown.name}"),
        ("model file", _kept_words(info)),
        ("scaling", ", ".join(scalers) or "none"),
        *_found(final_step(model)),
        ("seed", _text(info["seed"]) if "seed" in info else ""),
        ("trained", str(info.get("trained", "")).replace("T", " ").removesuffix("+00:00")),
        ("versions", ", ".join(f"{k} {v}" for k, v in (info.get("versions") or {}).items())),
    )
    return tuple((name, str(value)) for name, value in every if value not in ("", None))


def _kept_words(info: dict[str, Any]) -> str:
    """Which model a file has, where it is not the one that this page is about."""
    noted = held_out_of(info)
    if not noted or not noted["refitted"]:
        return ""
    every = (noted.get("fingerprint") or {}).get("n_rows", 0)
    if every == info.get("rows"):  # the page is about that one
        return ""
    return f"fitted again with the same settings on all {every:,} rows"


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


def _decisions(model: Any) -> tuple[str, ...]:
    """What the first step says that it does with the columns of a table."""
    steps = getattr(model, "steps", [])[:-1]
    return tuple(getattr(steps[0][1], "decisions_", ())) if steps else ()


def _confusion(outcome: Outcome, labels: list[str]) -> Confusion:
    counts = confusion_matrix(outcome.rows.truth, outcome.predicted, len(labels))
    return Confusion(tuple(labels), tuple(tuple(row) for row in counts.tolist()))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if value is None or isinstance(value, bool | int | str):
        return str(value)
    return type(value).__name__ if hasattr(value, "get_params") else str(value)[:60]
