"""Options that several commands share."""

from __future__ import annotations

import re
from typing import Annotated

import typer

Label = Annotated[
    str | None,
    typer.Option(help="Column of the labels, by name or by position from 0.", show_default=False),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether a table's first line names its columns; told from the file if not given.",
        show_default=False,
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Do the work on a Dask cluster: the address of its scheduler, such as "
        "tcp://10.0.0.1:8786, or local for processes on this machine.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def in_options(message: str) -> str:
    """What the readers of data say to callers in Python, as the command line has it.

    >>> in_options("saw 'red'; write categories as numbers, or pass label=4 if it is the label")
    "saw 'red'; write categories as numbers, or give --label 4 if it is the label"
    """
    for there, here in _IN_OPTIONS:
        message = re.sub(there, here, message)
    return message


_IN_OPTIONS = (
    (r"pass label=False", "give predict --no-label"),
    (r"pass label=", "give --label "),
    (r"(: )label=(?=\S+ is not a column)", r"\1--label "),
    (r"pass header=True", "give --header"),
    (r", or pass format= if it is not a table in text", ""),
    (r"expected n_features=(\d+) features", r"expected \1 features"),
)
