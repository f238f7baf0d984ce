"""`largemargin playground`: a page on which points are drawn and machines are seen at work."""

from __future__ import annotations

from typing import Annotated

import typer

from largemargin.cli.output import note

HOST = "127.0.0.1"


def playground(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="Data to begin with: a name or a file.", show_default=False
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8090,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address of the page.")
    ] = False,
) -> None:
    """Open a page on this machine: draw points, choose machines, see margins, replay steps.

    Nobody else can reach it, and it asks for nothing from elsewhere. Ctrl-C ends it.

    \b
    Examples:
      largemargin playground
      largemargin playground iris
      largemargin playground measurements.csv --port 9000 --no-browser
    """
    try:
        from largemargin.web.playground.app import make_app
        from largemargin.web.playground.running import run
        from largemargin.web.running import bound
    except ModuleNotFoundError as error:
        raise ValueError(
            f'largemargin playground needs {error.name}: pip install "largemargin[web]"'
        ) from error
    from largemargin.cli.model_options import parameters_of

    app = make_app(parameters_of, file)  # whatever is wrong with the file is told now
    listening = bound(HOST, port)
    address = f"http://{HOST}:{listening.getsockname()[1]}/"

    def started() -> None:
        note(f"the playground is at {address} - Ctrl-C ends it")
        if not no_browser:
            import webbrowser

            webbrowser.open(address)

    run(app, listening, started)
