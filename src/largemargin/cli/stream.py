"""`largemargin stream`: JSON Lines in, predictions out, a model that learns in between."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from largemargin.cli import model_options as options
from largemargin.cli.models import MODELS, ONLINE, make_estimator
from largemargin.cli.output import READER_GONE, note, percent, progress_wanted

if TYPE_CHECKING:
    import numpy as np

    from largemargin.streaming.checkpoint import Place
    from largemargin.streaming.driver import Driver
    from largemargin.streaming.schema import Schema

SIGNALLED = 128  # and the signal: the exit code of what a signal ended
MAX_FEATURES = 1000


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
        typer.Option(help="Write model and place here as it goes.", show_default=False),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(help="Lines between two checkpoints. [default: 1000]", show_default=False),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from the checkpoint: pass over the lines it has learned, which must come "
            "again, and cut the output file, which must be the same, back to match.",
        ),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Begin anew and write over the checkpoint, the output and the model that are "
            "there. Without it nothing that exists is lost.",
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
            help="New model: all the labels that may occur. Without it a class is there from its "
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
    C: options.Cost = None,
    kernel: options.Kernel = None,
    degree: options.Degree = None,
    gamma: options.Gamma = None,
    coef0: options.Coef0 = None,
    margin: options.Margin = None,
    aggressive: options.Aggressive = None,
    alpha: options.Alpha = None,
    B: options.MarginScale = None,
    budget: options.Budget = None,
    policy: options.Policy = None,
    average: options.Average = None,
    seed: Annotated[
        int | None, typer.Option(help="For random removal. [default: 0]", show_default=False)
    ] = None,
    n_jobs: options.Jobs = None,
    memory: options.Memory = None,
    precision: options.Precision = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Tell nothing but what ends the stream.")
    ] = False,
) -> None:
    """Predict and learn from events as they arrive on standard input.

    Each line is {"x": [1.5, 2] or {"name": 1.5, ...}, "y": label, "id": anything}. Its answer,
    {"id": ..., "prediction": ...}, is what the model says before it learns from the line; without
    y it only predicts. A label is text, a whole number, or true or false. Names become columns in
    the order in which they are first seen, and one that is left out is 0; x is then as wide as
    --max-features. Every line but a blank one is answered, with {"id": ..., "error": ...} if it
    was skipped.

    What has arrived is answered at once. Neither the answers nor the model depend on how it
    arrived. Ctrl-C, SIGTERM and SIGHUP end the stream after the lines at hand: checkpoint and
    model are written, and the exit code is 130, 143 or 129; a second signal ends it at once. A
    line that ends the stream leaves a checkpoint of the lines before it, and no model. So does a
    reader of the answers that goes away, with the exit code 141.

    A checkpoint knows the lines it has consumed and the output it was written with: --resume
    refuses others. One process at a time can use a checkpoint or an output file.

    \b
    Examples:
      largemargin stream mira --gamma 0.1 --budget 500 --save m.safetensors < events.jsonl
      largemargin stream m.safetensors -o answers.jsonl --on-error skip < more.jsonl
      largemargin stream mira --checkpoint c.safetensors --every 5000 -o out.jsonl < events.jsonl
      largemargin stream mira --checkpoint c.safetensors --resume -o out.jsonl < events.jsonl
      largemargin stream mira --checkpoint c.safetensors --overwrite -o out.jsonl < events.jsonl
    """
    given = {
        "C": C, "kernel": kernel, "degree": degree, "gamma": options.number_or_word(gamma),
        "coef0": coef0, "margin": margin, "aggressive": aggressive, "alpha": alpha, "B": B,
        "budget": budget, "policy": policy, "average": average or None, "n_jobs": n_jobs,
        "memory": memory, "precision": precision, "random_state": seed,
    }  # fmt: skip
    _check(on_error, checkpoint, every, resume, overwrite, max_features)
    _check_files(model, output, save, checkpoint)

    from largemargin.streaming.driver import Driver
    from largemargin.streaming.output import Output, check_new

    named = _named_classes(classes)
    kept = {
        "scores": scores, "classes": None if named is None else named.tolist(),
        "max_features": max_features,
    }  # fmt: skip
    with _locked(checkpoint, output, save):  # before MODEL is read, which --save may replace
        machine, schema = _begin(model, given, named, max_features)
        place: Place | None = None
        if checkpoint is not None and not (resume or overwrite):
            check_new("--checkpoint", checkpoint)
        if resume:
            assert checkpoint is not None
            machine, schema, place = _resume(checkpoint, machine, model, kept)
        elif model in ONLINE:
            kept["max_features"] = schema.max_features
        if save is not None and not overwrite:
            _check_save(save, model, place)
        source = _input({"-o": output, "--checkpoint": checkpoint, "--save": save})
        driver = Driver(
            machine, schema,
            Output(output, None if place is None else place.written, overwrite=overwrite),
            place=place, classes=named, scores=scores, checkpoint=checkpoint, every=every or 1000,
            report=None if on_error == "fail" else _reporter(quiet), options={**kept, "save": save},
        )  # fmt: skip
        code = _run(driver, source, save, progress_wanted(quiet))
    if not quiet:
        note(_summary(driver))
    raise typer.Exit(code)


def _check(
    on_error: str,
    checkpoint: str | None,
    every: int | None,
    resume: bool,
    overwrite: bool,
    max_features: int | None,
) -> None:
    if on_error not in ("skip", "fail"):
        raise ValueError(f"--on-error must be skip or fail, got {on_error!r}")
    if resume and overwrite:
        raise ValueError("--resume goes on and --overwrite begins anew: give one of them")
    if checkpoint is None and (resume or every is not None):
        raise ValueError(
            f"--{'resume' if resume else 'every'} needs --checkpoint: name the file to write"
        )
    if every is not None and every < 1:
        raise ValueError(f"--every must be at least 1, got {every}")
    if max_features is not None and max_features < 1:
        raise ValueError(f"--max-features must be at least 1, got {max_features}")


def _check_files(model: str, output: str | None, save: str | None, checkpoint: str | None) -> None:
    """No file may be written over another; only the model may take the place of the old one."""
    import os

    from largemargin.runtime.files import check_writable
    from largemargin.streaming.output import is_kept

    named = {"--save": save, "--checkpoint": checkpoint, "-o": output}
    seen: dict[str, str] = {}
    for option, path in named.items():
        if path is None or (option == "-o" and not is_kept(path)):
            continue
        check_writable(path)
        real = os.path.realpath(path)
        if real in seen or (option == "-o" and real == os.path.realpath(model)):
            other = seen.get(real, "MODEL")
            raise ValueError(f"{option} and {other} are both {path}: give them different files")
        seen[real] = option


@contextlib.contextmanager
def _locked(*paths: str | None) -> Iterator[None]:
    """Keep other processes from the files that are written, and tidy up beside them."""
    import os

    from largemargin.runtime.files import remove_leftovers
    from largemargin.streaming.lock import locked
    from largemargin.streaming.output import is_kept

    with contextlib.ExitStack() as stack:
        for path in paths:
            if path is not None and is_kept(path):
                stack.enter_context(locked(path))
                remove_leftovers(os.path.dirname(os.path.realpath(path)))
        yield


def _check_save(save: str, model: str, place: Place | None) -> None:
    """Refuse to write over a model but MODEL itself and the one that the stream has written."""
    import os
    from dataclasses import asdict

    from largemargin import describe
    from largemargin.streaming.output import check_new

    if os.path.realpath(save) == os.path.realpath(model):
        return
    if place is not None:
        if (place.options or {}).get("save") == save:
            return
        with contextlib.suppress(ValueError):
            info = describe(save)["info"]
            if "checkpoint" not in info and info.get("stream") == asdict(place.counts):
                return
        if os.path.exists(save):
            raise ValueError(
                f"{save} exists, and this stream has not written it: give another --save"
            )
    check_new("--save", save)


def _named_classes(text: str | None) -> np.ndarray | None:
    """The labels of --classes: integers if they all are."""
    if text is None:
        return None
    import numpy as np

    from largemargin.data.limits import MAX_LABEL

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
        machine = make_estimator(model, {"random_state": 0, **_only_given(given)})
        import numpy as np

        machine.check_parameters()
        machine.check_streaming()
        machine.new_state(np.zeros((1, 1)), True)  # says what is wrong with the other parameters
        schema = Schema(max_features or MAX_FEATURES, classes=named, given=named is not None)
        return machine, schema
    if model in MODELS:
        raise ValueError(f"{model} does not learn from a stream: use one of {', '.join(ONLINE)}")
    from largemargin.model_file.saving import load_with_info

    extra = [name for name, value in given.items() if value is not None]
    extra += ["classes"] * (named is not None) + ["max_features"] * (max_features is not None)
    if extra:
        option = {"random_state": "seed"}.get(extra[0], extra[0].replace("_", "-"))
        raise ValueError(f"--{option} is for a new model, and {model} is a file with its own")
    machine, info = load_with_info(model)
    return machine, _schema_of(machine, info, model)


def _only_given(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _schema_of(machine: Any, info: dict[str, Any], path: str, sparse: bool | None = None) -> Schema:
    """What a fitted model knows of its stream."""
    import scipy.sparse as sp

    from largemargin.online.estimator import OnlineLearner
    from largemargin.streaming.checkpoint import stored_names
    from largemargin.streaming.schema import Schema

    learner = machine[-1] if hasattr(machine, "steps") else machine
    if not isinstance(learner, OnlineLearner):
        raise ValueError(
            f"{path} is a {type(learner).__name__}, which does not learn from a stream: give the "
            f"file of one of {', '.join(MODELS[name] for name in ONLINE)}"
        )
    learner.check_streaming()
    names = stored_names(info, learner.n_features_in_, path)
    if names is None and hasattr(learner, "feature_names_in_"):
        names = [str(name) for name in learner.feature_names_in_]
    if sparse is None:
        stored = learner.learner_state.stored.rows
        open_names = names is not None and len(names) < learner.n_features_in_
        sparse = open_names if stored is None else sp.issparse(stored)
    return Schema(
        learner.n_features_in_, width=learner.n_features_in_, names=names, sparse=sparse,
        classes=learner.classes_, given=learner.classes_given,
    )  # fmt: skip


def _resume(
    checkpoint: str, machine: Any, model: str, kept: dict[str, Any]
) -> tuple[Any, Schema, Place]:
    """The model of the checkpoint, if it is the one that was asked for, with the same options."""
    from largemargin.base.training_record import ASIDE
    from largemargin.streaming.checkpoint import read_checkpoint

    found, place = read_checkpoint(checkpoint)
    asked, there = _description(machine), _description(found)
    learner = _learner(found)
    learner.set_params(**{name: asked[name] for name in ASIDE & asked.keys() & there.keys()})
    for name in asked | there:
        if name not in ASIDE and asked.get(name) != there.get(name):
            raise _changed(checkpoint, model, name, there.get(name), asked.get(name))
    for name, value in kept.items():
        # what an earlier version did not note, and what is left out, is as it was
        before = (place.options or kept).get(name)
        if value is None:
            kept[name] = before
        elif value != before:
            option = f"--{name.replace('_', '-')}"
            raise _changed(checkpoint, model, option, _told(before), _told(value))
    info = {} if place.names is None else {"feature_names": place.names}
    return found, _schema_of(found, info, checkpoint, place.sparse), place


def _changed(checkpoint: str, model: str, name: str, before: Any, asked: Any) -> ValueError:
    return ValueError(
        f"{checkpoint} cannot go on as {model}: its {name} is {before}, and {asked} was asked for; "
        "resume with the model and the options that it began with"
    )


def _told(value: Any) -> str:
    """The value of an option as people write it."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not given" if value is None else str(value)


def _learner(machine: Any) -> Any:
    return machine[-1] if hasattr(machine, "steps") else machine


def _description(machine: Any) -> dict[str, Any]:
    """The class and the parameters of a model."""
    learner = _learner(machine)
    steps = [type(step).__name__ for _, step in getattr(machine, "steps", [])[:-1]]
    return {"model": " after ".join([type(learner).__name__, *steps]), **learner.get_params()}


def _reporter(quiet: bool) -> Any:
    return (lambda message: None) if quiet else (lambda message: note(f"{message}; skipped"))


def _run(driver: Driver, source: int, save: str | None, shows: bool) -> int:
    """Go along the stream and write the model; returns the exit code."""
    from largemargin.streaming.stopping import Stopping

    with Stopping() as stopping:
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


def _input(files: dict[str, str | None]) -> int:
    """The descriptor of standard input, which must not be one of the files that are written."""
    import os
    import sys

    if sys.stdin is None:
        raise ValueError("there is no standard input: give events with < events.jsonl")
    source = sys.stdin.fileno()
    for option, path in files.items():
        if (
            path is not None
            and os.path.isfile(path)
            and os.path.samestat(os.fstat(source), os.stat(path))
        ):
            raise ValueError(f"{path} is the input and the output: give {option} another file")
    if files["-o"] is None and _is_one_file(source, 1):
        raise ValueError("standard input and output are the same file: send answers elsewhere")
    return source


def _is_one_file(*descriptors: int) -> bool:
    """Whether descriptors are of one regular file; a terminal may well be all of them."""
    import os
    import stat

    try:
        found = [os.fstat(descriptor) for descriptor in descriptors]
    except OSError:  # closed
        return False
    return all(stat.S_ISREG(one.st_mode) and os.path.samestat(one, found[0]) for one in found)


def _summary(driver: Driver) -> str:
    counts = driver.session.counts
    parts = [f"{counts.lines} lines", f"{counts.learned} learned"]
    if counts.learned:
        parts.append(f"progressive error {percent(counts.progressive_error)}")
    if counts.skipped:
        parts.append(f"{counts.skipped} skipped")
    return ", ".join([*parts, f"{driver.session.n_stored} stored"])
