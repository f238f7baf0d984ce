"""What `largemargin train` writes and shows of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from largemargin.base.pipelines import final_step
from largemargin.cli.clusters import cluster_words
from largemargin.cli.measuring import TEST_ERROR, error_words, guess_words, imbalance_facts
from largemargin.cli.output import command_line, emit_json
from largemargin.cli.tabulating import emit_facts
from largemargin.report.fit.words import kernel_words, learned_words, machine_words
from largemargin.runtime.showing import listed, percent

if TYPE_CHECKING:
    from largemargin.cli.training import Order, Run
    from largemargin.data import Dataset
    from largemargin.report.measures import Measures

_UNTOLD = ("verbose", "warm_start", "validation_fraction")  # parameters that are not told

Facts = list[tuple[str, Any]]


def write(estimator: Any, order: Order, data: Dataset, result: dict[str, Any]) -> dict[str, Any]:
    """Write the model; returns the notes that are in the file with it."""
    import platform
    from datetime import UTC, datetime

    import numpy
    import sklearn

    import largemargin

    info = {
        **result,
        "scale": order.scale,
        "seed": order.seed,
        "trained": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "python": platform.python_version(),
            "numpy": numpy.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }
    if data.feature_names:
        info["feature_names"] = list(data.feature_names)
    largemargin.save(estimator, order.file, info=info)
    return info


def show(
    order: Order,
    estimator: Any,
    result: dict[str, Any],
    tested: Facts,
    facts: Facts | None = None,
    words: dict[str, str] | None = None,
) -> None:
    """Print what was found: as JSON, or first what the test said, then what every model has and
    other facts; `words` take the place of some values.
    """
    if order.quiet:
        return
    parameters = final_step(estimator).get_params(deep=False)
    chosen = {name: value for name, value in parameters.items() if name not in _UNTOLD}
    if order.json:
        asked = {"model": order.model, "scale": order.scale}
        emit_json({**result, **asked, "parameters": chosen, "file": order.file})
        return
    own = [(n, (words or {}).get(n, v)) for n, v in _machine_facts(order, result, chosen)]
    emit_facts(
        [*tested, *own, *(facts or []), ("model file", order.file)],
        title=f"{order.data}, trained", strong=(TEST_ERROR,),
    )  # fmt: skip


def show_next_steps(order: Order) -> None:
    """Print what to do next, after all else."""
    if not order.quiet and not order.json:
        emit_facts(next_steps(order), title="next steps")


def next_steps(order: Order) -> Facts:
    """What a model can be used for: commands, and what each shows."""
    steps = [("labels of new rows", command_line("predict", order.file, "NEW_FILE"))]
    if order.labelled and order.dask is None:
        labelled = order.test or order.data
        steps = [
            ("classes, confusions", command_line("evaluate", order.file, labelled)),
            *([("a page about the fit", command_line("report", order.file, labelled))]
              if order.report is None else []),
            *steps,
        ]  # fmt: skip
    return [*steps, ("what is in the file", command_line("inspect", order.file))]


def _machine_facts(order: Order, result: dict[str, Any], parameters: dict[str, Any]) -> Facts:
    return [
        ("rows", f"{result['rows']} x {result['features']}"),
        *([("label", result["label"])] if "label" in result else []),
        *decision_facts(result.get("decisions", [])),
        *([("classes", result["classes"])] if "classes" in result else []),
        ("model", f"{order.model}, {machine_words(parameters)}"),
        *([("kernel", kernel_words(parameters))] if "kernel" in parameters else []),
        ("scale", order.scale),
        *learned_words(result),
        *([("cluster", cluster_words(result["cluster"]))] if result.get("cluster") else []),
        ("seconds", f"{result['seconds']:.2f}"),
    ]


def decision_facts(decisions: list[str]) -> Facts:
    """What is done with the columns, a line for each group of them."""
    return [("" if k else "columns", sentence) for k, sentence in enumerate(decisions)]


def tested_facts(result: dict[str, Any], measures: Measures | None, missing: str) -> Facts:
    """The error on rows that were not trained on, beside that of a guess; or why there is none."""
    if result["test_rows"] is None and result.get("held_out"):
        return []  # of a model that was gone on with
    if "outliers" in result:
        return [("outliers", f"{percent(result['outliers'])} of the training rows")]
    if result["test_rows"] is None:
        return [(TEST_ERROR, f"- ({missing}; give some with --test)")]
    if measures is None:
        return [(TEST_ERROR, "- (interrupted)")]
    held = " held-out" if result.get("held_out") else ""
    return [
        (TEST_ERROR, f"{error_words(measures)} of {result['test_rows']}{held} rows"),
        ("guess's error", guess_words(measures)),
        *imbalance_facts(measures),
    ]


def held_out_facts(run: Run) -> Facts:
    """How rows were held out, and what became of the model then."""
    if run.earlier is not None and not run.parts.held_out and run.earlier.held_out:
        noted = run.earlier.held_out
        error = f"{percent(noted['error'])} of {noted['rows']} rows, as the model file noted"
        return [("held-out error", error)]
    if not run.parts.held_out:
        return []
    n, order = run.parts.training.X_test.shape[0], run.order
    drawn = f"{n} of {run.parts.whole.X.shape[0]} rows, drawn by class with --seed {order.seed}"
    facts = [("held out", f"{drawn}; --test-size 0 for none"), ("model kept", run.words)]
    if single := run.parts.untested:
        facts.insert(1, ("not tested", f"classes of one row only: {listed(single, 5)[1:-1]}"))
    return facts


def page_command(order: Order, trained: bool) -> str:
    """What makes the page again: training, or the model file beside its data."""
    if trained:
        return command_line(
            "train", order.data, label=order.reading.label, **order.reading.given,
            drop=order.table.drop, categorical=order.table.categorical,
            missing=None if order.table.missing == "impute" else order.table.missing,
            scale=order.scale, model=order.model, **order.given, cv=order.cv,
            scoring=None if order.scoring == "error" else order.scoring, seed=order.seed,
            test_size=order.test_size, output=order.file, report=order.report,
        )  # fmt: skip
    return command_line(
        "report", order.file, order.test or order.data,
        training=order.data if order.test else None, label=order.reading.label,
    )  # fmt: skip
