"""Options that several commands share."""

from __future__ import annotations

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
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
