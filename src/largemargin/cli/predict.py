"""`largemargin predict`: labels for new data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from largemargin.cli.options import Decimal, Encoding, Header, Reading, Sep
from largemargin.cli.output import emit
from largemargin.runtime.showing import printable

if TYPE_CHECKING:
    import numpy as np

    from largemargin.runtime.arrays import Matrix


def predict(
    model: Annotated[str, typer.Argument(help="A model file.")],
    data: Annotated[
        str, typer.Argument(help="A file, or a data set by name, of which the test set is taken.")
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Write here instead of printing.", show_default=False),
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="CSV with the decision values beside each label.")
    ] = False,
    proba: Annotated[
        bool,
        typer.Option(
            "--proba",
            help="CSV with the probability of each class beside each label; for models that were "
            "trained with --calibrate.",
        ),
    ] = False,
    no_label: Annotated[
        bool, typer.Option("--no-label", help="The file has no column of labels.")
    ] = False,
    label: Annotated[
        str | None,
        typer.Option(
            help="Column of the labels, which is left out, by name or by position from 0.",
            show_default=False,
        ),
    ] = None,
    header: Header = None,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Predict a label for each row, one a line; 1 or -1, an outlier, if none were learned.

    A label with an end of line in it is written between quotes, as in CSV. On a terminal, what is
    not to be seen in a label is shown as an escape sequence.

    \b
    Examples:
      largemargin predict digits.safetensors digits
      largemargin predict flowers.safetensors new.csv --no-label -o labels.txt
      largemargin predict calibrated.safetensors digits --proba
    """
    if no_label and label is not None:
        raise ValueError("--label and --no-label contradict each other: give one of them")
    if scores and proba:
        raise ValueError("--scores and --proba make different tables: give one of them")
    from largemargin.cli.inputs import read_data_for, read_model
    from largemargin.runtime.files import check_writable, write_atomically

    if output is not None:
        check_writable(output, model, data)
    fitted, info = read_model(model)
    if proba and not hasattr(fitted, "predict_proba"):
        raise ValueError(
            f"{model} has no probabilities: train it with --calibrate, or give the model to "
            "largemargin.calibrated"
        )
    reading = Reading(label, header, sep, encoding, decimal)
    X, _ = read_data_for(fitted, info, data, reading, no_label=no_label)
    # a terminal would obey what is written into a label; a file is to hold it as it is
    written = printable if output is None and sys.stdout.isatty() else str
    if proba:
        text = _with_probabilities(fitted, X, written)
    else:
        text = _with_scores(fitted, X, written) if scores else _lines(fitted.predict(X), written)
    if output is None:
        emit(text)
    else:
        write_atomically(output, [text.encode("utf-8", "backslashreplace")])


def _lines(labels: np.ndarray, written: Callable[[str], str]) -> str:
    return "".join(f"{_line(written(str(label)))}\n" for label in labels.tolist())


def _line(label: str) -> str:
    """A label as a line of its own: as in CSV, if it has an end of line, or begins like that."""
    if label.startswith('"') or (label.splitlines() != [label] and label):
        return '"' + label.replace('"', '""') + '"'
    return label


def _with_scores(model: Any, X: Matrix, written: Callable[[str], str]) -> str:
    """Labels and decision values; `predict` is the argmax of the values, so one pass gives both."""
    from largemargin.cli.inputs import knows_labels

    values = model.decision_function(X)
    known = knows_labels(model)
    classes = [written(str(label)) for label in model.classes_.tolist()] if known else ["-1", "1"]
    if values.ndim == 1:
        inside = values > 0 if known else values >= 0
        names, numbers = ["score"], inside.astype(int)
        values = values[:, None]
    else:
        names, numbers = [f"score {label}" for label in classes], values.argmax(axis=1)
    return _table([classes[k] for k in numbers], names, values)


def _with_probabilities(model: Any, X: Matrix, written: Callable[[str], str]) -> str:
    """Labels, which are those of the largest scores, and probabilities."""
    classes = [written(str(label)) for label in model.classes_.tolist()]
    labels = [written(str(label)) for label in model.predict(X).tolist()]
    return _table(labels, [f"probability {label}" for label in classes], model.predict_proba(X))


def _table(labels: list[str], names: list[str], values: np.ndarray) -> str:
    """Labels and numbers as CSV."""
    import csv
    import io

    buffer = io.StringIO()
    table = csv.writer(buffer, lineterminator="\n")
    table.writerow(["label", *names])
    table.writerows([label, *row] for label, row in zip(labels, values.tolist(), strict=True))
    return buffer.getvalue()
