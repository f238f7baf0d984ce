"""`largemargin train`: from a data file to a model file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from largemargin.cli.clusters import check_dask
from largemargin.cli.model_options import MODELS, takes_model_options
from largemargin.cli.options import Dask, Decimal, Encoding, Header, Json, Label, Reading, Sep
from largemargin.cli.output import note, tell_reading
from largemargin.cli.report import ReportFile, check_report, write_outlier_report, write_report
from largemargin.cli.tables import Categorical, Drop, Missing, TableOptions
from largemargin.machines import CARDS, CLASSIFIER, by_command
from largemargin.runtime.showing import shown

INTERRUPTED = 130  # the exit code of a command that Ctrl-C ended


@takes_model_options(CARDS)
def train(
    data: Annotated[
        str,
        typer.Argument(
            help="A data set by name, such as digits, or a file; with --dask also a folder, a "
            "pattern such as 'parts/*.parquet' or an address of Parquet or CSV files, which the "
            "workers read."
        ),
    ],
    model: Annotated[
        str, typer.Option(help=f"What to train: {', '.join(MODELS)}.")
    ] = "voted-perceptron",
    *,
    given: dict[str, Any],
    seed: Annotated[int, typer.Option(help="Seed of everything that is random.")] = 0,
    scale: Annotated[
        str,
        typer.Option(
            help="standard (mean 0, variance 1), minmax (0..1), none, or auto: standard for "
            "tables, none for pictures, sparse data and --stream. Sparse data are only divided, "
            "not shifted. What was learned is part of the model."
        ),
    ] = "auto",
    cv: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=V1,V2,...",
            help="Choose a parameter by stratified 5-fold cross-validation on the training set; "
            "several make a grid.",
            show_default=False,
        ),
    ] = None,
    scoring: Annotated[
        str,
        typer.Option(
            help="What --cv makes small: error, balanced (the mean error of the classes), auc or "
            "f1 "
            "(the mean over the classes)."
        ),
    ] = "error",
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Online learners: go over the file once in chunks, without reading it into "
            "memory.",
        ),
    ] = False,
    chunk: Annotated[
        int | None,
        typer.Option(help="--stream: rows of a chunk. [default: 1000]", show_default=False),
    ] = None,
    dask: Dask = None,
    test: Annotated[str | None, typer.Option(help="Data to test on.", show_default=False)] = None,
    test_size: Annotated[
        float,
        typer.Option(
            help="Share of the rows that is held out to measure the model, where there are no "
            "data to test on; 0 for none."
        ),
    ] = 0.25,
    refit: Annotated[
        bool,
        typer.Option(
            "--refit/--no-refit",
            help="Whether the model is fitted again on all rows after rows were held out.",
        ),
    ] = True,
    drop: Drop = None,
    categorical: Categorical = None,
    missing: Missing = "impute",
    label: Label = None,
    header: Header = None,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from the coefficients of the model file, with the same data; for svc, "
            "nu-svc and one-class-svm.",
        ),
    ] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            help="A file for the model so far, written every few minutes and removed when the "
            "model is there; --resume goes on from it after a crash. For the same machines.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="The model file; DATA.safetensors if not given.",
            show_default=False,
        ),
    ] = None,
    report: ReportFile = None,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Train a model and write it to a file.

    Tables may hold numbers, text, dates and truth values, some of them missing; what is done with
    the columns is said. Data without a test set lose a quarter of their rows at first, on which the
    model is measured; then it is fitted again on all rows, with the same settings, and written.

    Ctrl-C stops training, still writes the model of what was seen so far, and exits with 130.
    --max-seconds holds for both fits together.

    \b
    Examples:
      largemargin train digits --report digits.html
      largemargin train flowers.csv --label species --scale standard --cv degree=2,3,4
      largemargin train mnist --model svc --multiclass ovo --C 10 --gamma 0.02 --scale minmax
      largemargin train letters.svm --model svc --cv C=0.1,1,10 --cv gamma=0.01,0.1
      largemargin train heart.csv --model svc --class-weight balanced --cv C=1,10 --scoring auc
      largemargin train heart.csv --model nu-svc --nu 0.2 --scale standard
      largemargin train spam.csv --model max-margin-hyperplane --norm 1 --scale standard --C 0.1
      largemargin train thyroid --model adaptive-margin-svc --scale standard --cv lam=0.5,1,2,5
      largemargin train usps --model mira --budget 500 --policy projectron --average --gamma 0.01
      largemargin train heart.csv --model adaboost --estimator rbf-network --scale standard
      largemargin train sensors.csv --model one-class-svm --nu 0.05 --scale standard
      largemargin train clicks.svm.gz --model mira --stream --budget 500 --test later.svm.gz
      largemargin train digits --model svc --checkpoint so-far.safetensors
      largemargin train digits --model svc --dask local
      largemargin train 'parts/*.parquet' --label kind --model svc --dask tcp://10.0.0.1:8786
    """
    from largemargin.cli.training import Order

    if model not in MODELS:
        raise ValueError(f"--model must be one of {', '.join(MODELS)}, got {shown(model)}")
    if given.get("class_weight", "balanced") != "balanced":
        raise ValueError(f"--class-weight must be balanced, got {shown(given['class_weight'])}")
    if chunk is not None and not stream:
        raise ValueError("--chunk is for --stream: give both options")
    order = Order(
        data, model, given, output if output is not None else default_file(data),
        Reading(label, header, sep, encoding, decimal), seed, scale, tuple(cv or ()), scoring,
        test, test_size, refit, TableOptions.of(drop, categorical, missing), dask, report, json,
        quiet,
        labelled=by_command()[model].kind == CLASSIFIER, resume=resume, checkpoint=checkpoint,
    )  # fmt: skip
    _check(order, stream)
    tell_reading(data, quiet)
    if stream:
        from largemargin.cli.train_stream import check_stream, train_stream

        check_stream(order, chunk)
        interrupted = train_stream(order, chunk)
    else:
        interrupted = _train(order)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _check(order: Any, stream: bool) -> None:
    """Refuse what cannot be, before anything is read."""
    from largemargin.cli.checkpoints import check_checkpoint
    from largemargin.cli.holdout import check_fraction
    from largemargin.cli.scaling import check_scale
    from largemargin.cli.search import check_scoring
    from largemargin.runtime.files import check_writable

    check_scale(order.scale)
    check_fraction(order.test_size)
    check_scoring(order.scoring, order.cv)
    if order.dask is not None:
        unseen = order.report is not None and order.test is None
        check_dask(order.model, order.data, stream, order.cv, unseen)
    if not order.labelled:
        compared = {"--cv": order.cv, "--test": order.test}
        for option, value in compared.items():
            if value:
                raise ValueError(
                    f"{option} compares with labels, and {order.model} learns without them: "
                    "leave it out"
                )
    check_checkpoint(order, stream)
    check_writable(order.file, order.data, order.test)
    check_report(order.report, order.file, order.data, order.test)
    order.machine()


def _train(order: Any) -> bool:
    """Train on rows in memory, write, show; returns whether Ctrl-C ended it."""
    from pathlib import Path

    from largemargin.cli.measuring import advice
    from largemargin.cli.trained import (
        held_out_facts,
        show,
        show_next_steps,
        tested_facts,
        write,
    )
    from largemargin.cli.training import run

    done = run(order)
    order, result = done.order, done.notes()
    told: list[str] = []
    if done.measures and not done.interrupted:
        told = advice(done.measures, done.first.estimator, order.scale)
    for sentence in told:
        note(f"warning: {sentence}")
    if told:
        result["warnings"] = [*result.get("warnings", []), *told]
    info = write(done.kept.estimator, order, done.parts.whole, result)
    if order.checkpoint is not None:
        Path(order.checkpoint).unlink(missing_ok=True)
    why_none = f"no test data, {done.parts.why_none}"
    tested = tested_facts(result, done.measures, why_none)
    show(order, done.kept.estimator, result, tested, held_out_facts(done), done.reasons)
    if order.report is not None:
        _write_page(order, done, info)
    show_next_steps(order)
    return done.interrupted


def _write_page(order: Any, done: Any, info: dict[str, Any]) -> None:
    """The page, of the model that was measured; the model is on disk already."""
    from largemargin.cli.report import rows_for
    from largemargin.cli.trained import page_command

    model, part = done.first.estimator, done.parts.training
    info = {**info, "rows": part.X.shape[0], "seconds": done.first.seconds}
    if not order.labelled:
        write_outlier_report(
            order.report, model, info, training=part.X, quiet=order.quiet, model_file=order.file,
            command=page_command(order, False),
        )  # fmt: skip
        return
    source = order.test or f"the test set of {order.data}"
    if done.parts.held_out:
        source = f"{order.data} that were held out"
    write_report(
        order.report, model, info,
        test=None if part.X_test is None else rows_for(model, source, part.X_test, part.y_test),
        training=None if done.in_shards else rows_for(model, order.data, part.X, part.y),
        command=page_command(order, done.parts.held_out), quiet=order.quiet, model_file=order.file,
    )  # fmt: skip


def default_file(data: str) -> str:
    """The model file for a data set: its name without endings, here.

    >>> default_file("digits"), default_file("folder/train.csv.gz")
    ('digits.safetensors', 'train.safetensors')
    """
    from pathlib import Path

    from largemargin.data.formats import ENDINGS

    name = Path(data).name
    while (ending := Path(name).suffix.lower()) in ENDINGS and Path(name).stem:
        name = name[: -len(ending)]
    return f"{name}.safetensors"
