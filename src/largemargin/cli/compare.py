"""`largemargin compare`: every machine on the same data, in one table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from largemargin.cli.clusters import cluster
from largemargin.cli.options import (
    Dask,
    Decimal,
    Encoding,
    Header,
    Json,
    Label,
    Reading,
    Sep,
    in_options,
)
from largemargin.cli.output import command_line, emit, emit_json, note, tell_reading
from largemargin.cli.tables import (
    Categorical,
    Drop,
    Missing,
    TableOptions,
    is_table,
    prepared,
    preprocessor,
)
from largemargin.cli.tabulating import emit_table, emit_words

if TYPE_CHECKING:
    from largemargin.compare import Comparison, Result, Task

# Columns that a narrow terminal does without, in this order
LEAST_FIRST = (
    "chosen", "predict", "model", "support vectors", "certified error", "AUC", "balanced error, %",
    "fit",
)  # fmt: skip


def compare(
    data: Annotated[str, typer.Argument(help="A data set by name, such as digits, or a file.")],
    test: Annotated[
        str | None,
        typer.Option(
            help="Data to test on; without it and without a test set of its own, a part of the "
            "rows is held out, as --test-size says.",
            show_default=False,
        ),
    ] = None,
    test_size: Annotated[
        float,
        typer.Option(
            help="Share of the rows that is held out, where there are no data to test on."
        ),
    ] = 0.25,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME,...",
            help="Only these machines, such as svc,mira,logistic-regression.",
            show_default=False,
        ),
    ] = None,
    kernel: Annotated[
        str,
        typer.Option(
            help="Kernel of every machine that has one: rbf, matern, laplacian, poly or linear."
        ),
    ] = "rbf",
    scale: Annotated[
        str, typer.Option(help="minmax (0..1), standard (mean 0, variance 1) or none.")
    ] = "minmax",
    max_seconds: Annotated[
        float,
        typer.Option(
            help="Processor time for each machine, in seconds; the search may use half of it."
        ),
    ] = 30.0,
    at_once: Annotated[
        int | None,
        typer.Option(
            help="Machines that run at the same time, each on one thread. [default: one per "
            "core, at most 4]",
            show_default=False,
            min=1,
        ),
    ] = None,
    dask: Dask = None,
    folds: Annotated[int, typer.Option(help="Folds of the search for parameters.")] = 3,
    search_rows: Annotated[
        int,
        typer.Option(
            help="Training rows that the search uses; the machine that it finds is trained on all."
        ),
    ] = 600,
    seed: Annotated[int, typer.Option(help="Seed of everything that is random.")] = 0,
    drop: Drop = None,
    categorical: Categorical = None,
    missing: Missing = "impute",
    label: Label = None,
    header: Header = None,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    json: Json = False,
    report: Annotated[
        str | None,
        typer.Option("--report", metavar="FILE", help="Also write a page.", show_default=False),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Train every machine on the same data and show them in one table.

    The machines of this package and those of scikit-learn have the same splits, choose their
    parameters by the same small cross-validation, and have the same time and one thread.

    \b
    Examples:
      largemargin compare digits
      largemargin compare heart.csv --label disease --scale standard --report heart.html
      largemargin compare letter --only svc,lp-svc,voted-perceptron --max-seconds 120
      largemargin compare digits --only svc,mira --dask local
    """
    from largemargin.cli.report import check_report
    from largemargin.compare import candidates
    from largemargin.compare import compare as run

    if dask is not None and at_once is not None:
        raise ValueError(
            "--at-once is for this computer, and --dask is for a cluster: leave one of them out"
        )
    check_report(report, data, test)
    if not 0 < test_size < 1:
        raise ValueError(
            "--test-size must be a share of the rows between 0 and 1, since machines are compared "
            f"on rows that they were not trained on, got {test_size:g}"
        )
    tell_reading(data, quiet)
    task = _task(
        data, test, Reading(label, header, sep, encoding, decimal),
        TableOptions.of(drop, categorical, missing),
        scale=scale, folds=folds, seed=seed, max_seconds=max_seconds, search_rows=search_rows,
        held_out=test_size,
    )  # fmt: skip
    names = [name.strip() for name in only.split(",") if name.strip()] if only else []
    machines = candidates(kernel, task.scale_gamma, names, task.n_classes)
    with cluster(dask) as client, _progress(len(machines), quiet) as (progress, heard):
        found = run(task, machines, progress, at_once, client, heard)
    if found.unfinished:
        note(
            f"interrupted: {found.unfinished} of {len(machines)} machines were not measured; the "
            "others are kept"
        )
    if json:
        emit_json(found.as_json())
    else:
        _show(found)
    if report is not None:
        from largemargin.compare.page import render
        from largemargin.runtime.files import write_atomically

        command = command_line(
            "compare", data, test=test, test_size=None if test else test_size, label=label,
            only=only, kernel=kernel, scale=scale,
            max_seconds=max_seconds, folds=folds, search_rows=search_rows, seed=seed, report=report,
        )  # fmt: skip
        write_atomically(report, [render(found, command).encode("utf-8", "backslashreplace")])
        note(f"report written to {report}")


def _task(
    data: str, test: str | None, reading: Reading, table: TableOptions, **settings: Any
) -> Task:
    from largemargin.cli.inputs import read_test_data, read_training_data
    from largemargin.compare.task import make_task

    training = prepared(read_training_data(data, reading), table)
    assert training.y is not None
    for sentence in training.notes:
        note(f"note: {in_options(sentence)}")
    if is_table(training.X):
        settings["preprocessor"] = preprocessor(
            training.X, table.named(training), settings["scale"]
        )
    X_test, y_test = training.X_test, training.y_test
    if test is not None:
        X_test, y_test = read_test_data(test, training, reading)
    return make_task(
        training.name or data, training.X, training.y, X_test, y_test,
        label=training.label_name, **settings,
    )  # fmt: skip


def _show(found: Comparison) -> None:
    from largemargin.compare.measuring import SHORT_SECONDS
    from largemargin.compare.results import columns, heading, rows, time_words

    emit_table(columns(found), rows(found), title=heading(found), right=True, drop=LEAST_FIRST)
    for result in found.ranked:
        _tell(result)
    emit("")
    emit_words(
        "The interval of an error is that of Clopper and Pearson. The times are those of a "
        f"processor on one thread; below {time_words(SHORT_SECONDS)} they are by the clock. The "
        "size of a model is that of its file, or of its pickle for scikit-learn. "
        "The certified error is the smallest bound of the certificate that says something, on the "
        "error or on the leave-one-out error; with ~ it holds in expectation only, so that it is "
        "an estimate."
    )


def _tell(result: Result) -> None:
    if result.trouble:
        note(f"{result.title}: {result.trouble}")
    for warning in result.notes:
        known = warning.startswith(result.title)
        note(f"warning: {warning if known else f'{result.title}: {warning}'}")


@contextmanager
def _progress(total: int, quiet: bool) -> Iterator[Any]:
    """What is told of each stage and of each result: a table that fills for somebody who looks, and
    one line per machine for a log.
    """
    import sys

    if quiet:
        yield None, None
        return
    if not sys.stderr.isatty():

        def tell(done: int, title: str, stage: str) -> None:
            if stage == "done":
                note(f"{done} of {total}: {title}")

        yield tell, None
        return
    from rich.console import Console

    from largemargin.compare.watching import FillingTable

    with FillingTable(total, Console(stderr=True)) as table:
        yield table.told, table.heard
