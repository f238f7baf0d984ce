"""`largemargin report`: a page about a model."""

from __future__ import annotations

from typing import Annotated

import typer

from largemargin.cli.fit_report import Training, check_report, parts_for, write_report
from largemargin.cli.options import Header, Label
from largemargin.cli.output import command_line


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
) -> None:
    """Write a page about a model: how good it is, where it errs, what the theory says of it.

    One HTML file that needs nothing else.

    \b
    Examples:
      largemargin report digits.safetensors digits
      largemargin report heart.safetensors later.csv --training heart.csv -o heart.html
    """
    from largemargin.cli.inputs import read_whole_for
    from largemargin.cli.notes import read_model

    fitted, info = read_model(model)
    file = output or f"{model.removesuffix('.safetensors')}.html"
    check_report(file, model, data, training)
    found = read_whole_for(fitted, info, data, label=label, header=header)
    test, known = parts_for(fitted, info, found, data, training, label, header)
    command = command_line("report", model, data, training=training, label=label, output=output)
    write_report(file, fitted, info, test=test, training=known, command=command)
