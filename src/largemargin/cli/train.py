"""`largemargin train`: from a data file to a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from largemargin.base.pipelines import final_step
from largemargin.cli.clusters import (
    check_dask,
    cluster,
    cluster_words,
    for_cluster,
    in_parts,
    scaled_parts,
    summary,
    to_local,
)
from largemargin.cli.model_options import MODELS, make_estimator, takes_model_options
from largemargin.cli.options import Dask, Header, Json, Label
from largemargin.cli.output import emit_facts, emit_json, note, progress_wanted
from largemargin.cli.report import ReportFile, check_report, write_report
from largemargin.machines import CARDS, CLASSIFIER, by_command
from largemargin.report.fit.words import kernel_words, learned, learned_words, machine_words
from largemargin.runtime.showing import percent, shown

if TYPE_CHECKING:
    from largemargin.data import Dataset

SCALES = ("standard", "minmax", "none")
_UNTOLD = ("verbose", "warm_start", "validation_fraction")  # parameters that are not told


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
    seed: Annotated[int, typer.Option(help="For everything that is drawn.")] = 0,
    scale: Annotated[
        str,
        typer.Option(
            help="standard (mean 0, variance 1), minmax (0..1) or none. Sparse data are only "
            "divided, not shifted. What was learned is part of the model."
        ),
    ] = "none",
    cv: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=V1,V2,...",
            help="Choose a parameter by stratified 5-fold cross-validation on the training set; "
            "several make a grid.",
            show_default=False,
        ),
    ] = None,
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
    label: Label = None,
    header: Header = None,
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

    Ctrl-C stops training and still writes the model of what was seen so far.

    \b
    Examples:
      largemargin train digits --report digits.html
      largemargin train flowers.csv --label species --scale standard --cv degree=2,3,4
      largemargin train mnist --model svc --multiclass ovo --C 10 --gamma 0.02 --scale minmax
      largemargin train letters.svm --model svc --cv C=0.1,1,10 --cv gamma=0.01,0.1
      largemargin train heart.csv --model nu-svc --nu 0.2 --scale standard
      largemargin train spam.csv --model max-margin-hyperplane --norm 1 --scale standard --C 0.1
      largemargin train thyroid --model adaptive-margin-svc --scale standard --cv lam=0.5,1,2,5
      largemargin train usps --model mira --budget 500 --policy projectron --average --gamma 0.01
      largemargin train heart.csv --model adaboost --estimator rbf-network --scale standard
      largemargin train sensors.csv --model one-class-svm --nu 0.05 --scale standard
      largemargin train clicks.svm.gz --model mira --stream --budget 500 --test later.svm.gz
      largemargin train digits --model svc --dask local
      largemargin train 'parts/*.parquet' --label kind --model svc --dask tcp://10.0.0.1:8786
    """
    if model not in MODELS:
        raise ValueError(f"--model must be one of {', '.join(MODELS)}, got {shown(model)}")
    if scale not in SCALES:
        raise ValueError(f"--scale must be one of {', '.join(SCALES)}, got {shown(scale)}")
    if given.get("class_weight", "balanced") != "balanced":
        raise ValueError(f"--class-weight must be balanced, got {shown(given['class_weight'])}")
    if chunk is not None and not stream:
        raise ValueError("--chunk is for --stream: give both")
    file = output if output is not None else default_file(data)
    if dask is not None:
        check_dask(model, data, stream, cv, report is not None and test is None)

    from largemargin.cli.inputs import (
        read_parts,
        read_test_data,
        read_training_data,
        read_unlabelled_data,
    )
    from largemargin.cli.search import parse_grid
    from largemargin.runtime.files import check_writable

    labelled = by_command()[model].kind == CLASSIFIER
    if not labelled:
        _check_unlabelled(model, {"--cv": cv, "--test": test, "--report": report})
    check_writable(file, data, test)
    check_report(report, file, data, test)
    machine = make_estimator(model, given)
    if "random_state" in machine.get_params():
        machine.set_params(random_state=seed)
    if stream:
        from largemargin.cli.train_stream import check_stream, learn_file

        check_stream(model, data, chunk, scale, cv, report is not None and test is None)
        training, result = learn_file(machine, data, label, header, chunk, quiet)
        try:
            X_test, y_test = _test_on(test, machine, training, label, header, result)
        finally:  # whatever is wrong with the test, what was learned is kept
            info = _write(machine, file, training, result, scale, seed)
        _show(machine, result, model, scale, data, file, json, quiet)
        if report is not None:
            _report(report, machine, info, None, X_test, y_test, test, label, file, quiet)
        return
    grid = parse_grid(cv or [])
    read = read_training_data if labelled else read_unlabelled_data
    with cluster(dask) as client:
        parts = client is not None and in_parts(data)
        training = read_parts(data, label, header, client) if parts else read(data, label, header)
        X_test, y_test = training.X_test, training.y_test
        if test is not None:
            X_test, y_test = read_test_data(test, training, label, header)
        if client is not None:
            machine = for_cluster(machine, model, client)
        estimator = _scaled(machine, scale, training)
        result = {
            "data": data, "rows": training.X.shape[0], "features": training.X.shape[1],
        }  # fmt: skip
        if grid:
            result["cv"] = _choose(estimator, training, grid, seed, json, quiet)
        fitting = scaled_parts(estimator, training, client) if parts else training
        result |= _fit(final_step(estimator) if parts else estimator, fitting, quiet)
        if client is not None:
            estimator, result["cluster"] = to_local(estimator), summary(machine)
            machine = final_step(estimator)
    _test(estimator, X_test, y_test, result)
    info = _write(estimator, file, training, result, scale, seed)
    _show(machine, result, model, scale, data, file, json, quiet)
    if report is not None:
        seen = None if parts else training
        _report(report, estimator, info, seen, X_test, y_test, test, label, file, quiet)


def _check_unlabelled(model: str, options: dict[str, Any]) -> None:
    """Refuse what compares with labels."""
    for option, given in options.items():
        if given:
            raise ValueError(
                f"{option} compares with labels, and {model} learns without: leave it out"
            )


def _report(
    report: str,
    estimator: Any,
    info: dict[str, Any],
    training: Dataset | None,
    X_test: Any,
    y_test: Any,
    test: str | None,
    label: str | None,
    file: str,
    quiet: bool,
) -> None:
    """The page; the model is on disk already. A stream leaves no training set, nor do parts."""
    from largemargin.cli.output import command_line
    from largemargin.cli.report import rows_for

    data = info["data"]
    command = command_line(
        "report", file, test or data, training=data if test and training else None, label=label
    )
    write_report(
        report, estimator, info,
        test=None if X_test is None
        else rows_for(estimator, test or f"the test set of {data}", X_test, y_test),
        training=rows_for(estimator, data, training.X, training.y) if training else None,
        command=command, quiet=quiet,
    )  # fmt: skip


def _show(
    machine: Any,
    result: dict[str, Any],
    model: str,
    scale: str,
    data: str,
    file: str,
    json: bool,
    quiet: bool,
) -> None:
    if quiet:
        return
    parameters = machine.get_params(deep=False)
    chosen = {name: value for name, value in parameters.items() if name not in _UNTOLD}
    if json:
        emit_json({**result, "model": model, "scale": scale, "parameters": chosen, "file": file})
        return
    facts = [*_facts(result, model, scale, chosen), ("model file", file)]
    emit_facts(facts, title=f"{data}, trained")


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


def _scaled(estimator: Any, scale: str, training: Dataset) -> Any:
    """The estimator, after a scaler if one is wanted."""
    import scipy.sparse as sp

    if scale == "none":
        return estimator
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    sparse = sp.issparse(training.X)
    if scale == "standard":
        scaler = StandardScaler(with_mean=not sparse)
    else:
        scaler = MaxAbsScaler() if sparse else MinMaxScaler()
    return Pipeline([("scale", scaler), ("model", estimator)])


def _choose(
    estimator: Any,
    training: Dataset,
    grid: dict[str, list[Any]],
    seed: int,
    json: bool,
    quiet: bool,
) -> dict[str, Any]:
    """Search the grid, set the best parameters, and return what was found."""
    from largemargin.cli.search import emit_search, search

    found = search(
        estimator, training.X, training.y, grid, seed=seed, progress=progress_wanted(quiet)
    )
    if not json and not quiet:
        emit_search(found)
    final = final_step(estimator)
    final.set_params(**found["chosen"])
    return found


def _fit(estimator: Any, training: Dataset, quiet: bool) -> dict[str, Any]:
    """Train, telling warnings as they are; returns what there is to say about it."""
    import time
    import warnings

    final = final_step(estimator)
    final.set_params(verbose=int(progress_wanted(quiet)))
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        estimator.fit(training.X, training.y)
    seconds = time.perf_counter() - start
    final.set_params(verbose=0)
    told = list(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))
    for message in told:
        note(f"warning: {message}")
    result = {**learned(final), "seconds": seconds}
    if training.y is None:
        result["outliers"] = float((estimator.predict(training.X) == -1).mean())
    return {**result, "warnings": told} if told else result


def _test_on(
    test: str | None,
    estimator: Any,
    training: Dataset,
    label: str | None,
    header: bool | None,
    result: dict[str, Any],
) -> tuple[Any, Any]:
    """Note the test error on data that are read only now, and return them."""
    from largemargin.cli.inputs import read_test_data

    X, y = None, None
    if test is not None:
        X, y = read_test_data(test, training, label, header)
    _test(estimator, X, y, result)
    return X, y


def _test(estimator: Any, X: Any, y: Any, result: dict[str, Any]) -> None:
    """Note the test error. Ctrl-C here gives it up, not the model."""
    result["test_rows"] = result["test_error"] = None
    if X is None:
        return
    from largemargin.cli.inputs import numbers_of

    result["test_rows"] = X.shape[0]
    truth = numbers_of(y, estimator.classes_, "the test data")
    try:
        predicted = numbers_of(estimator.predict(X), estimator.classes_, "the model")
        result["test_error"] = float((predicted != truth).mean())
    except KeyboardInterrupt:
        note("warning: the test was interrupted; the model is written without it")


def _write(
    estimator: Any, file: str, training: Dataset, result: dict[str, Any], scale: str, seed: int
) -> dict[str, Any]:
    """Write the model; returns the notes that are in the file with it."""
    import platform
    from datetime import UTC, datetime

    import numpy
    import sklearn

    import largemargin

    info = {
        **result,
        "scale": scale,
        "seed": seed,
        "trained": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "python": platform.python_version(),
            "numpy": numpy.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }
    if training.feature_names:
        info["feature_names"] = list(training.feature_names)
    largemargin.save(estimator, file, info=info)
    return info


def _facts(
    result: dict[str, Any], model: str, scale: str, parameters: dict[str, Any]
) -> list[tuple[str, Any]]:
    if "outliers" in result:
        tested = ("outliers", f"{percent(result['outliers'])} of the training rows")
    elif result["test_rows"] is None:
        tested = ("test error", "- (no test data; give some with --test)")
    elif result["test_error"] is None:
        tested = ("test error", "- (interrupted)")
    else:
        error = f"{percent(result['test_error'])} of {result['test_rows']} rows"
        tested = ("test error", error)
    return [
        ("rows", f"{result['rows']} x {result['features']}"),
        *([("classes", result["classes"])] if "classes" in result else []),
        ("model", f"{model}, {machine_words(parameters)}"),
        *([("kernel", kernel_words(parameters))] if "kernel" in parameters else []),
        ("scale", scale),
        *learned_words(result),
        *([("cluster", cluster_words(result["cluster"]))] if result.get("cluster") else []),
        ("seconds", f"{result['seconds']:.2f}"),
        tested,
    ]
