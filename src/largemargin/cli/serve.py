"""`largemargin serve`: models that answer requests over HTTP."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from largemargin.cli.output import note

LOOPBACK = ("127.0.0.1", "::1", "localhost")
TOKEN = "LARGEMARGIN_TOKEN"


def serve(
    models: Annotated[
        list[str], typer.Argument(help="Model files, or folders of them.", show_default=False)
    ],
    host: Annotated[
        str, typer.Option(help="The address to listen on; one that others reach needs --token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8080,
    token: Annotated[
        str | None,
        typer.Option(
            help=f"What requests must bring as Authorization: Bearer TOKEN; also from {TOKEN}.",
            show_default=False,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A name of this server besides localhost, as it stands in the Host header.",
            show_default=False,
        ),
    ] = None,
    reload: Annotated[
        bool, typer.Option("--reload", help="Load a model file anew when it changed and is whole.")
    ] = False,
    learn: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The model, an online learner, that learns from POST /learn/NAME.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes that share the port.")] = 1,
    max_body: Annotated[int, typer.Option(help="Bytes of a request at most.")] = 16 << 20,
    max_rows: Annotated[int, typer.Option(help="Rows of a request at most.")] = 10_000,
    max_in_flight: Annotated[int, typer.Option(help="Requests at the same time at most.")] = 256,
    max_seconds: Annotated[float, typer.Option(help="Seconds of a request at most.")] = 30.0,
) -> None:
    """Serve models over HTTP: the Open Inference Protocol, and rows as people send them.

    SIGTERM and Ctrl-C finish the requests that are being answered.

    \b
    Examples:
      largemargin serve digits.safetensors
      largemargin serve models/ --reload --workers 2
      largemargin serve clicks.safetensors --learn clicks
      curl -d '[[5.1, 3.5, 1.4, 0.2]]' http://127.0.0.1:8080/predict/iris
    """
    token = token or os.environ.get(TOKEN) or None
    if host not in LOOPBACK and token is None:
        raise ValueError(f"--host {host} can be reached by others: give a --token, or set {TOKEN}")
    for option, value in (("--workers", workers), ("--max-body", max_body),
                          ("--max-rows", max_rows), ("--max-in-flight", max_in_flight),
                          ("--max-seconds", max_seconds)):  # fmt: skip
        if not value > 0:
            raise ValueError(f"{option} must be larger than 0, got {value}")
    if learn is not None and workers > 1:
        raise ValueError("--learn needs one process, which has the model: leave out --workers")
    try:
        from largemargin.web.running import Settings, bound, run
        from largemargin.web.several import run_several
    except ModuleNotFoundError as error:
        raise ValueError(
            f'largemargin serve needs {error.name}: pip install "largemargin[web]"'
        ) from error

    settings = Settings(
        models, token, ["localhost", *(allow_host or [])], reload, learn,
        {"body": max_body, "rows": max_rows, "in_flight": max_in_flight, "seconds": max_seconds},
    )  # fmt: skip
    at = f"[{host}]" if ":" in host else host
    with bound(host, port) as listening:

        def started() -> None:
            note(f"serving on http://{at}:{listening.getsockname()[1]}/ - Ctrl-C ends it")

        if workers > 1:
            run_several(settings, listening, workers, started)
        else:
            run(settings, listening, started)
