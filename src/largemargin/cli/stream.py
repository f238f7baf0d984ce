"""`largemargin stream`: JSON Lines in, predictions out, a model that learns in between."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from largemargin.cli.help import ALONE, ALONE_OR_AUTO
from largemargin.cli.model_options import MODELS, ONLINE, make_estimator, takes_model_options
from largemargin.cli.output import READER_GONE, note, progress_wanted
from largemargin.machines import CARDS
from largemargin.runtime.showing import percent, shown
from largemargin.runtime.suggesting import did_you_mean

if TYPE_CHECKING:
    import numpy as np

    from largemargin.streaming.checkpoint import StreamPosition
    from largemargin.streaming.driver import Driver
    from largemargin.streaming.schema import Schema

SIGNALLED = 128  # exit code of what a signal ended, to which the signal is added
AUTO = "auto"  # of --resume: go on if there is a checkpoint
MAX_FEATURES = 1000  # columns of a stream of named numbers


@takes_model_options([card for card in CARDS if card.streams], without=["calibrate", "max_seconds"])
def stream(
    model: Annotated[
        str,
        typer.Argument(
            help=f"The file of an online learner, which goes on learning, or, to begin anew, "
            f"{', '.join(ONLINE[:-1])} or {ONLINE[-1]}."
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="Write predictions here instead of printing.", show_default=False
        ),
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(
            "--save", "-m", help="Write the model here when the stream ends.", show_default=False
        ),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            help="Write the model and its place in the stream to this file from time to time.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(help="Lines between two checkpoints. [default: 1000]", show_default=False),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar=ALONE_OR_AUTO,
            help="Go on from the checkpoint: pass over the lines it has learned, which must come "
            "again, and cut the output file, which must be the same, back to match. With auto: "
            "begin if there is no checkpoint.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Begin anew and write over the checkpoint, the output and the model that are "
            "there. Without it nothing that exists is lost. With --resume auto: only if there is "
            "no checkpoint.",
        ),
    ] = False,
    on_error: Annotated[
        str,
        typer.Option(
            help="A line that is malformed or does not fit in: fail ends the stream before it, "
            "skip learns nothing from it and answers with an error."
        ),
    ] = "fail",
    scores: Annotated[
        bool, typer.Option("--scores", help="Give the decision values beside each prediction.")
    ] = False,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="New model: all the labels that may occur. Without it a class exists from its "
            "first example on.",
            show_default=False,
        ),
    ] = None,
    max_features: Annotated[
        int | None,
        typer.Option(
            help="New model: columns of a stream whose x have names; gamma auto is 1 divided by "
            f"it. [default: {MAX_FEATURES}]",
            show_default=False,
        ),
    ] = None,
    *,
    given: dict[str, Any],
    seed: Annotated[
        int | None,
        typer.Option(help="Seed of the random removal. [default: 0]", show_default=False),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only what ends the stream.")
    ] = False,
) -> None:
    """Predict and learn from events as they arrive on standard input.

    Each line is {"x": [1.5, 2] or {"name": 1.5, ...}, "y": label, "id": anything}. Its answer,
    {"id": ..., "prediction": ...}, is what the model says before it learns from the line;
    without y it only predicts. A label is text, a whole number, or true or false. Names become
    columns in the order in which they are first seen, and one that is left out is 0; x is then
    as wide as --max-features. A value that has a name may be text, a category: {"color": "red"}
    is a 1 in the column color=red, and in color=(other) once all columns are taken. Every line
    but a blank one is answered, with {"id": ..., "error": ...} if it was skipped.

    What has arrived is answered at once. Neither the answers nor the model depend on how it
    arrived. Ctrl-C, SIGTERM and SIGHUP end the stream after the lines at hand: checkpoint and
    model are written, and the exit code is 130, 143 or 129; a second signal ends it at once. A
    line that ends the stream leaves a checkpoint of the lines before it, and no model. So does a
    reader of the answers that goes away, with the exit code 141.

    A checkpoint knows the lines it has consumed and the output it was written with: --resume
    refuses others. One process at a time can use a checkpoint or an output file. A service that
    is started again and again has --resume auto --overwrite: it goes on from its checkpoint, and
    begins anew if it was stopped before there was one.

    \b
    Examples:
      largemargin stream mira --gamma 0.1 --budget 500 --save m.safetensors < events.jsonl
      largemargin stream m.safetensors -o answers.jsonl --on-error skip < more.jsonl
      largemargin stream mira --checkpoint c.safetensors --every 5000 -o out.jsonl < events.jsonl
      largemargin stream mira --checkpoint c.safetensors --resume -o out.jsonl < events.jsonl
      largemargin stream mira --checkpoint c.safetensors --resume auto -o out.jsonl < events.jsonl
      largemargin stream mira --checkpoint c.safetensors --overwrite -o out.jsonl < events.jsonl
    """
    if seed is not None:
        given["random_state"] = seed
    _check(on_error, checkpoint, every, resume, overwrite, max_features)

    from largemargin.streaming.checkpoint import resume_stream
    from largemargin.streaming.driver import Driver
    from largemargin.streaming.files import all_locked, check_distinct, check_save
    from largemargin.streaming.input import standard_input
    from largemargin.streaming.output import Output

    check_distinct(model, output, save, checkpoint)
    named = _named_classes(classes)
    kept = {
        "scores": scores, "classes": None if named is None else named.tolist(),
        "max_features": max_features,
    }  # fmt: skip
    with all_locked(checkpoint, output, save):  # before MODEL is read, which --save may replace
        machine, schema = _begin(model, given, named, max_features)
        place: StreamPosition | None = None
        goes_on = _goes_on(resume, overwrite, checkpoint, output)
        overwrite = overwrite and not goes_on
        if goes_on:
            assert checkpoint is not None
            machine, schema, place = resume_stream(checkpoint, machine, model, kept)
        elif model in ONLINE:
            kept["max_features"] = schema.max_features
        if save is not None and not overwrite:
            check_save(save, model, place)
        source = standard_input({"-o": output, "--checkpoint": checkpoint, "--save": save})
        driver = Driver(
            machine, schema,
            Output(output, None if place is None else place.written, overwrite=overwrite),
            place=place, classes=named, scores=scores, checkpoint=checkpoint, every=every or 1000,
            report=None if on_error == "fail" else _reporter(quiet), options={**kept, "save": save},
        )  # fmt: skip
        if not quiet and sys.stdin.isatty():
            note(
                "events are read from the keyboard: type one line of JSON for each event, then "
                "Ctrl-D; or give a file with < FILE"
            )
        code = _run(driver, source, save, progress_wanted(quiet))
    if not quiet:
        note(_summary(driver))
    raise typer.Exit(code)


def _check(
    on_error: str,
    checkpoint: str | None,
    every: int | None,
    resume: str | None,
    overwrite: bool,
    max_features: int | None,
) -> None:
    if on_error not in ("skip", "fail"):
        raise ValueError(f"--on-error must be skip or fail, got {on_error!r}")
    if resume not in (None, ALONE, AUTO):
        raise ValueError(f"--resume stands alone or has the value auto, got {resume!r}")
    if resume == ALONE and overwrite:
        raise ValueError(
            "--resume goes on and --overwrite begins anew: give one of them, or --resume auto with "
            "--overwrite to begin anew only if there is no checkpoint"
        )
    if checkpoint is None and (resume or every is not None):
        raise ValueError(
            f"--{'resume' if resume else 'every'} needs --checkpoint: name the file to write"
        )
    if every is not None and every < 1:
        raise ValueError(f"--every must be at least 1, got {every}")
    if max_features is not None and max_features < 1:
        raise ValueError(f"--max-features must be at least 1, got {max_features}")


def _goes_on(
    resume: str | None, overwrite: bool, checkpoint: str | None, output: str | None
) -> bool:
    """Whether there is a checkpoint to go on from; if not, nothing that exists may be lost."""
    from largemargin.streaming.output import check_new, is_kept, is_there

    if resume == ALONE or (resume == AUTO and is_there(checkpoint)):
        return True
    if checkpoint is None or overwrite:
        return False
    check_new("--checkpoint", checkpoint)
    if resume == AUTO and is_there(output) and is_kept(output):
        raise FileExistsError(
            f"{output} exists, and there is no checkpoint {checkpoint} to go on from: give -o "
            "another file, or begin anew and write over it with --overwrite"
        )
    return False


def _named_classes(text: str | None) -> np.ndarray | None:
    """The labels of --classes: integers if they all are."""
    if text is None:
        return None
    import numpy as np

    from largemargin.data.errors import MAX_LABEL

    words = [word.strip() for word in text.split(",")]
    if max(map(len, words)) > MAX_LABEL:
        raise ValueError(f"--classes has a label of more than {MAX_LABEL} characters: shorten it")
    if "" in words or len(set(words)) < max(2, len(words)):
        raise ValueError(f"--classes must be two different labels or more, A,B,..., got {text!r}")
    try:
        return np.unique(np.array([int(word) for word in words]))
    except ValueError:
        return np.unique(np.array(words))


def _begin(
    model: str, given: dict[str, Any], named: np.ndarray | None, max_features: int | None
) -> tuple[Any, Schema]:
    """The model to go on with or to begin, and what is known of its stream."""
    from largemargin.streaming.schema import Schema

    if model in ONLINE:
        machine = make_estimator(model, {"random_state": 0, **given})
        import numpy as np

        machine.check_parameters()
        machine.check_streaming()
        machine.new_state(np.zeros((1, 1)), True)  # says what is wrong with the other parameters
        schema = Schema(max_features or MAX_FEATURES, classes=named, given=named is not None)
        return machine, schema
    if model in MODELS:
        raise ValueError(f"{model} does not learn from a stream: use one of {', '.join(ONLINE)}")
    import os

    from largemargin.model_file.saving import load_with_info
    from largemargin.streaming.checkpoint import schema_of

    if not os.path.exists(model):
        raise ValueError(
            f"there is no file {shown(model)[1:-1]}: give a file that largemargin saved, or one of "
            f"{', '.join(ONLINE)} to begin anew{did_you_mean(model, ONLINE)}"
        )

    extra = list(given)
    extra += ["classes"] * (named is not None) + ["max_features"] * (max_features is not None)
    if extra:
        option = {"random_state": "seed"}.get(extra[0], extra[0].replace("_", "-"))
        raise ValueError(f"--{option} is for a new model, and {model} is a file with its own")
    machine, info = load_with_info(model)
    return machine, schema_of(machine, info, model)


def _reporter(quiet: bool) -> Any:
    return (lambda message: None) if quiet else (lambda message: note(f"{message}; skipped"))


def _run(driver: Driver, source: int, save: str | None, shows: bool) -> int:
    """Go along the stream and write the model; returns the exit code."""
    from largemargin.streaming.input import SignalWatch

    with SignalWatch() as stopping:
        try:
            if not shows:
                driver.run(source, stopping)
            else:
                from rich.console import Console

                console = Console(stderr=True)
                with console.status("waiting for events") as status:
                    driver.run(source, stopping, lambda: status.update(_summary(driver)))
        except BrokenPipeError:
            raise typer.Exit(READER_GONE) from None
        if driver.failure:
            raise ValueError(driver.failure)
        if save is not None and (driver.session.fitted or not stopping.signal):
            driver.save(save)
    return SIGNALLED + stopping.signal if stopping.signal else 0


def _summary(driver: Driver) -> str:
    counts = driver.session.counts
    parts = [f"{counts.lines} lines", f"{counts.learned} learned"]
    if counts.learned:
        parts.append(f"progressive error {percent(counts.progressive_error)}")
    if counts.skipped:
        parts.append(f"{counts.skipped} skipped")
    return ", ".join([*parts, f"{driver.session.n_stored} stored"])
