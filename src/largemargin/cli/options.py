"""Options that several commands share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

import typer

Label = Annotated[
    str | None,
    typer.Option(help="Column of the labels, by name or by position from 0.", show_default=False),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a table names its columns; recognised from the file if "
        "not given.",
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
Sep = Annotated[
    str | None,
    typer.Option(
        "--sep",
        metavar="CHARACTER",
        help="What divides the cells of a table in text, such as ';'; told from the file if not "
        "given.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of a table in text, such as latin-1; recognised from the file if not given.",
        show_default=False,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        help="The decimal mark of a table in text, a point or a comma; told from the file if not "
        "given.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dataclass(frozen=True)
class Reading:
    """How a file is to be read, as far as it was said."""

    label: str | None = None
    header: bool | None = None
    sep: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    @property
    def given(self) -> dict[str, Any]:
        """What was said of the table, but for its labels."""
        every = {
            "header": self.header, "sep": self.sep, "encoding": self.encoding,
            "decimal": self.decimal,
        }  # fmt: skip
        return {name: value for name, value in every.items() if value is not None}


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
    (r"to go on, fit again with warm_start=True", "to go on, train again with --resume"),
    (r"use missing='impute', or drop the column", "give --missing impute, or --drop the column"),
    (
        r"missing is 'drop': a transformer cannot drop rows.*",
        "the model was trained with --missing drop: fill it in, or train with --missing impute",
    ),
    (r"name the column in categorical or in drop", "name the column with --categorical or --drop"),
    (r"pass (sep|encoding|decimal)=", r"give --\1 "),
    (r"\b(sep|encoding|decimal)= (?=if|and|are)", r"--\1 "),
    (
        r"standardise the columns, as sklearn\.preprocessing\.StandardScaler does",
        "give --scale standard",
    ),
    (r", or use gamma='scale'", ", or --gamma scale"),
    (r"expected n_features=(\d+) features", r"expected \1 features"),
)
