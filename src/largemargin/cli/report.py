"""`largemargin report`: a page about a model; also for `train --report` and `evaluate --report`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from largemargin.cli.options import Decimal, Encoding, Header, Label, Reading, Sep
from largemargin.cli.output import command_line, note, progress_wanted

if TYPE_CHECKING:
    from largemargin.data import Dataset
    from largemargin.report.fit.outcome import Rows
    from largemargin.runtime.arrays import Matrix, VectorLike

ReportFile = Annotated[
    str | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write a page about the model: error, confusions, margins, certificate, examples.",
        show_default=False,
    ),
]
Training = Annotated[
    str | None,
    typer.Option(
        "--training",
        help="What the model was trained on, for its certificate, where DATA does not have it.",
        show_default=False,
    ),
]


def report(
    model: Annotated[str, typer.Argument(help="A model file.")],
    data: Annotated[
        str,
        typer.Argument(
            help="A file, or a data set by name: its test set, and its training set for the "
            "certificate."
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="The page; MODEL.html if not given.", show_default=False
        ),
    ] = None,
    training: Training = None,
    label: Label = None,
    header: Header = None,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Write a page about a model: how good it is, where it errs, what the theory says of it.

    One HTML file that needs nothing else.

    \b
    Examples:
      largemargin report digits.safetensors digits
      largemargin report heart.safetensors later.csv --training heart.csv -o heart.html
    """
    from largemargin.cli.holdout import divided_again
    from largemargin.cli.inputs import knows_labels, read_model, read_whole_for

    fitted, info = read_model(model)
    file = output or f"{model.removesuffix('.safetensors')}.html"
    check_report(file, model, data, training)
    reading = Reading(label, header, sep, encoding, decimal)
    found = read_whole_for(fitted, info, data, reading)
    command = command_line("report", model, data, training=training, label=label, output=output)
    if not knows_labels(fitted):
        known = found.X if _is_training_set(info, data, found.X.shape[0]) else None
        if training is not None:
            known = read_whole_for(fitted, info, training, reading).X
        write_outlier_report(
            file, fitted, info, test=None if known is found.X else found.X, training=known,
            command=command, model_file=model, source=data,
        )  # fmt: skip
        return
    if found.y is not None:
        found, _ = divided_again(fitted, info, found)
    test, known = parts_for(fitted, info, found, data, training, reading)
    write_report(file, fitted, info, test=test, training=known, command=command, model_file=model)


def check_report(file: str | None, *others: str | None) -> None:
    """Find out before the work, not after it, that a page cannot be written, or would be over
    another file.
    """
    if file is None:
        return
    from largemargin.report.templates import environment
    from largemargin.runtime.files import check_writable

    environment()
    check_writable(file, *others)


def write_report(
    file: str,
    model: Any,
    info: dict[str, Any],
    *,
    test: Rows | None,
    training: Rows | None,
    command: str,
    quiet: bool = False,
    model_file: str = "",
) -> None:
    """Measure the model and write its page."""
    from largemargin.report.fit.fit_report import describe_fit

    if progress_wanted(quiet):
        note("measuring for the report ...")
    found = describe_fit(
        model, test=test, training=training, info=info, command=command, file=model_file
    )
    found.save(file)
    if not quiet:
        note(f"report written to {file}")


def write_outlier_report(
    file: str,
    model: Any,
    info: dict[str, Any],
    *,
    test: Matrix | None = None,
    training: Matrix | None = None,
    command: str,
    quiet: bool = False,
    model_file: str = "",
    source: str = "",
) -> None:
    """The same for a model that learns without labels."""
    from largemargin.report.fit.detector import describe_detector

    found = describe_detector(
        model, test=test, training=training, info=info, command=command, file=model_file,
        source=source,
    )  # fmt: skip
    found.save(file)
    if not quiet:
        note(f"report written to {file}")


def parts_for(
    model: Any,
    info: dict[str, Any],
    data: Dataset,
    source: str,
    training: str | None,
    reading: Reading,
) -> tuple[Rows | None, Rows | None]:
    """The rows to test on and the training set, of which one may be missing."""
    from largemargin.cli.inputs import read_whole_for

    own = rows_for(model, source, data.X, data.y)
    if training is not None:
        whole = read_whole_for(model, info, training, reading)
        known = rows_for(model, training, whole.X, whole.y)
        if info.get("rows", len(known)) != len(known):
            raise ValueError(
                f"{training} has {len(known)} rows, and the model was trained on {info['rows']}: "
                "give the file that it was trained on"
            )
        if (known.truth < 0).any():
            raise ValueError(
                f"{training} has labels that the model does not know, so it was not trained on it"
            )
    elif data.X_test is not None or _is_training_set(info, source, len(own)):
        known = own
    else:
        return own, None
    if data.X_test is not None:
        return rows_for(model, f"the test set of {source}", data.X_test, data.y_test), known
    return (None if training is None else own), known


def _is_training_set(info: dict[str, Any], source: str, rows: int) -> bool:
    """Whether a file is what the model was trained on, as far as the notes in it say."""
    from pathlib import Path

    trained_on = info.get("data")
    return (
        isinstance(trained_on, str)
        and Path(trained_on).name == Path(source).name
        and info.get("rows") == rows
    )


def rows_for(model: Any, name: str, X: Matrix, y: VectorLike | None) -> Rows:
    """Rows with the class numbers of their labels."""
    from largemargin.cli.inputs import numbers_of
    from largemargin.report.fit.outcome import Rows

    if y is None:
        raise ValueError(f"{name} has no labels to compare with: name their column with --label")
    return Rows(name, X, numbers_of(y, model.classes_, name))
