"""`largemargin reproduce`: a paper's tables and figures beside the published numbers."""

from __future__ import annotations

import io
import sys
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from largemargin.cli.clusters import cluster
from largemargin.cli.options import Dask, Json
from largemargin.cli.output import emit, emit_json, note, progress_wanted
from largemargin.runtime.showing import shown
from largemargin.runtime.suggesting import did_you_mean

if TYPE_CHECKING:
    from largemargin.papers.report import Report

NARROWEST = 100  # columns that the tables need
INTERRUPTED = 130


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            help="freund-schapire, cortes-vapnik, adaptive-margin or budget", show_default=False
        ),
    ],
    part: Annotated[
        str | None,
        typer.Argument(
            help="One part of it, such as table2; all of them by default. freund-schapire: table1, "
            "table2, table3, figure2, misses. cortes-vapnik: planes, table2, table3, benchmark, bound, "
            "slack. "
            "adaptive-margin: table, planes, width, lambda, margins. "
            "budget: panels, one-pass, bound, noise.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller experiments, which take about a minute.")
    ] = False,
    permutations: Annotated[
        int | None,
        typer.Option(
            help="freund-schapire and budget: random orders of the training data; by default as "
            "many as in the paper.",
            show_default=False,
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            help="adaptive-margin: random splits of each data set; 100 in the chapter.",
            show_default=False,
        ),
    ] = None,
    degrees: Annotated[
        str | None,
        typer.Option(
            help="Degrees of the kernel, such as 1,2,4; by default those of the paper.",
            show_default=False,
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            help="freund-schapire: the largest number of epochs; 30 in the paper.",
            show_default=False,
        ),
    ] = None,
    dask: Dask = None,
    work: Annotated[
        Path | None,
        typer.Option(
            help="Folder of finished experiments; by default in the user's cache.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the page, tables, figures and JSON.")
    ] = Path("reproduction"),
    render: Annotated[
        bool,
        typer.Option(
            "--render",
            help="Run nothing: write page, tables and figures again from the JSON of an earlier "
            "run.",
        ),
    ] = False,
    results: Annotated[
        Path | None,
        typer.Option(
            help="--render: that JSON, or the folder that it is in; by default the folder of "
            "--output.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Run a paper's experiments again and show them beside the published numbers.

    Finished experiments are kept, and the same command goes on after an interruption.

    \b
    Example:
      largemargin reproduce freund-schapire table1 --quick
      largemargin reproduce cortes-vapnik --quick
      largemargin reproduce adaptive-margin table --quick
      largemargin reproduce budget noise --quick
      largemargin reproduce adaptive-margin planes --quick --dask local
      largemargin reproduce budget --render --results docs/reproduction -o pages
    """
    package = _package(paper, part)
    given = {
        "permutations": permutations,
        "splits": splits,
        "degrees": degrees,
        "epochs": epochs,
    }
    if results is not None and not render:
        raise ValueError("--results is for --render: give both options")
    plan = _plan(paper, package.Plan, part, quick, given)

    if render:
        _check_nothing_to_run({**given, "work": work, "dask": dask})
        report = _read(_results_file(results or output, paper, part, quick), paper)
    else:
        report = _run(package, plan, work or _kept(paper), output, dask)
    from largemargin.papers import rendering

    written = rendering.write(report, output)
    if json:
        names = [str(path) for path in written.paths]
        emit_json({**report.as_json(), "files": names})
    else:
        _show(report)
    if written.missing:
        note(written.missing)
    note(f"written to {output}: {', '.join(path.name for path in written.paths)}")


def _read(file: Path, paper: str) -> Any:
    """The results of an earlier run of this paper."""
    from largemargin.papers import rendering

    report = rendering.read(file)
    if not report.slug.startswith(paper):
        raise ValueError(f"{file} holds the results of {report.slug}, not of {paper}")
    return report


def _kept(paper: str) -> Path:
    """Where finished experiments are, if no folder was named."""
    from largemargin.data.named import cache_folder

    return cache_folder() / "reproduce" / paper


def _run(package: Any, plan: Any, folder: Path, output: Path, dask: str | None) -> Any:
    """Run the experiments, or what is left of them."""
    from largemargin import data
    from largemargin.papers import rendering

    rendering.make_folder(output)  # now, not after an hour
    try:
        with cluster(dask) as client:
            return package.run(plan, data.load, folder, progress=progress_wanted(), client=client)
    except KeyboardInterrupt:
        note("interrupted; finished experiments are kept: the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from None


def _package(paper: str, part: str | None) -> Any:
    """The package of a paper, if there is such a paper with such a part."""
    from largemargin.papers import PAPERS

    if paper not in PAPERS:
        raise ValueError(
            f"there is no paper {shown(paper)}; the papers are {', '.join(PAPERS)}"
            f"{did_you_mean(paper, PAPERS)}"
        )
    if part is not None and part not in PAPERS[paper]:
        raise ValueError(
            f"{paper} has no {shown(part)}; its parts are {', '.join(PAPERS[paper])}"
            f"{did_you_mean(part, PAPERS[paper])}"
        )
    return import_module(f"largemargin.papers.{paper.replace('-', '_')}")


def _plan(paper: str, plan: Any, part: str | None, quick: bool, options: dict[str, Any]) -> Any:
    """What to run; what is not given is as in the paper, or as `--quick` has it."""
    known = {field.name for field in fields(plan)}
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in known:
            raise ValueError(f"--{name} is not for {paper}: leave it out")
    if "degrees" in given:
        given["degrees"] = _numbers(given["degrees"])
    default = plan.quick() if quick else plan()
    return replace(default, part=part, **given)


def _check_nothing_to_run(options: dict[str, Any]) -> None:
    """Refuse the options that change what is run."""
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"--{name} is for running experiments, not for --render: leave it out")


def _results_file(place: Path, paper: str, part: str | None, quick: bool) -> Path:
    """The JSON of an earlier run: that file, or the one in that folder, a full run if there is."""
    if place.is_file() or place.suffix == ".json":
        return place
    stem = "-".join([paper, *([part] if part else [])])
    names = [f"{stem}-reduced.json"] if quick else [f"{stem}.json", f"{stem}-reduced.json"]
    for name in names:
        if (place / name).exists():
            return place / name
    raise ValueError(
        f"there is no {' or '.join(names)} in {place}: leave out --render to run the experiments, "
        "or name the JSON of an earlier run with --results"
    )


def _numbers(degrees: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(degree) for degree in degrees.split(",")}))
    except ValueError:
        raise ValueError(
            "--degrees must be numbers with commas between them, such as 1,2,4; got "
            f"{shown(degrees)}"
        ) from None


def _show(report: Report) -> None:
    from rich.console import Console

    from largemargin.papers import rendering

    is_terminal = sys.stdout.isatty()
    width = max(Console().width, NARROWEST) if is_terminal else NARROWEST
    buffer = io.StringIO()
    rendering.show(report, Console(file=buffer, force_terminal=is_terminal, width=width))
    emit("\n".join(line.rstrip() for line in buffer.getvalue().splitlines()))
