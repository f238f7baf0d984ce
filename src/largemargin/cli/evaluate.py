"""`largemargin evaluate`: how good a model is on labelled data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from largemargin.base.pipelines import before_final_step, final_step
from largemargin.cli.measuring import advice, error_words, guess_words, imbalance_facts
from largemargin.cli.options import Decimal, Encoding, Header, Json, Label, Reading, Sep
from largemargin.cli.output import command_line, emit_json, note, tell_reading
from largemargin.cli.report import ReportFile, Training, check_report, parts_for, write_report
from largemargin.cli.tabulating import emit_facts, emit_table, fits
from largemargin.runtime.showing import percent, shown

if TYPE_CHECKING:
    import numpy as np

    from largemargin.report.measures import Measures
    from largemargin.runtime.arrays import Matrix

MOST_CONFUSIONS = 10  # pairs of classes that are shown where a matrix is too wide
RULES = tuple(
    (method, unit) for method in ("vote", "average", "last", "random") for unit in (False, True)
)
RULES = (*(rule for rule in RULES if rule != ("vote", True)), ("longest", False))


def evaluate(
    model: Annotated[str, typer.Argument(help="A model file.")],
    data: Annotated[
        str, typer.Argument(help="A file, or a data set by name, of which the test set is taken.")
    ],
    label: Label = None,
    header: Header = None,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    json: Json = False,
    report: ReportFile = None,
    training: Training = None,
) -> None:
    """Test a model on labelled data: error, each class, confusions, and each way to decide.

    Rows that the model was trained on are known again: their error says little of new rows, and is
    called what it is. Where training held rows out of a file, these are what is tested on.

    \b
    Examples:
      largemargin evaluate digits.safetensors digits
      largemargin evaluate digits.safetensors digits --report digits.html
    """
    from largemargin.cli.holdout import divided_again
    from largemargin.cli.inputs import numbers_of, read_classifier, read_whole_for
    from largemargin.report.fit.training_rows import held_out_of
    from largemargin.report.measures import measure

    if training is not None and report is None:
        raise ValueError("--training is for the page that --report writes: name that too")
    tell_reading(data, json)
    fitted, info = read_classifier(model)
    check_report(report, model, data, training)
    reading = Reading(label, header, sep, encoding, decimal)
    found = read_whole_for(fitted, info, data, reading)
    if found.y is None and found.y_test is None:
        raise _no_labels(data, info.get("label"))
    found, seen = divided_again(fitted, info, found)
    X, y = (found.X, found.y) if found.X_test is None else (found.X_test, found.y_test)
    if y is None:
        raise _no_labels(data, info.get("label"))
    truth = numbers_of(y, fitted.classes_, data, found.label_name)
    unknown = int((truth < 0).sum())
    if unknown:
        note(
            f"warning: {unknown} rows have labels that the model does not know; they count as "
            "errors"
        )
    predicted, scores, rules = _predictions(fitted, X, truth)
    measures = measure(truth, predicted, fitted.classes_, scores)
    result = {
        "model": model,
        "data": data,
        "label": found.label_name,
        "rows": len(truth),
        "errors": int((predicted != truth).sum()),
        "error": float((predicted != truth).mean()),
        **measures.as_json(),
        "training_rows": seen,
        "held_out": held_out_of(info) or None,
        "unknown_labels": unknown,
        "rules": rules,
        **_by_class(truth, predicted, fitted.classes_),
    }
    if json:
        emit_json(result)
    else:
        _show(result, measures)
    for sentence in advice(measures, fitted, "" if hasattr(fitted, "steps") else "none"):
        note(f"warning: {sentence}")
    if report is not None:
        test, known = parts_for(fitted, info, found, data, training, reading)
        command = command_line(
            "evaluate", model, data, report=report, training=training, label=label
        )
        write_report(
            report, fitted, info, test=test, training=known, command=command, model_file=model
        )


def _no_labels(data: str, label: Any) -> ValueError:
    there_was = f" (that of the training data is called {shown(label)})" if label else ""
    return ValueError(
        f"{data} has no labels to compare with: name their column with --label{there_was}"
    )


def _predictions(
    model: Any, X: Matrix, truth: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[dict[str, Any]]]:
    """The predicted class numbers, the decision values, and the error of every rule that the model
    can decide by.
    """
    from largemargin.report.fit.outcome import classes_of

    final = final_step(model)
    if not hasattr(final, "decision_functions"):
        values = model.decision_function(X)
        return classes_of(values), values, []
    X = before_final_step(model, X)
    own = (final.method, bool(final.normalize) and final.method != "vote")
    rules = list(dict.fromkeys([own, *RULES]))
    scores = final.decision_functions(X, rules)
    errors = [
        {
            "method": method,
            "normalize": unit,
            "error": float((classes_of(scores[method, unit]) != truth).mean()),
            "own": (method, unit) == own,
        }
        for method, unit in rules
    ]
    return classes_of(scores[own]), scores[own], errors


def _by_class(truth: np.ndarray, predicted: np.ndarray, classes: np.ndarray) -> dict[str, Any]:
    """Precision and recall of each class, and the confusion matrix: one row per true class."""
    from largemargin.report.fit.outcome import confusion_matrix

    confusion = confusion_matrix(truth, predicted, len(classes))
    labels = classes.tolist()
    table = []
    for k, label in enumerate(labels):
        right, found, there = confusion[k, k], (predicted == k).sum(), confusion[k].sum()
        table.append(
            {
                "label": label,
                "rows": int(there),
                "precision": float(right / found) if found else None,
                "recall": float(right / there) if there else None,
            }
        )
    return {"classes": table, "labels": labels, "confusion": confusion.tolist()}


def _error_facts(result: dict[str, Any], measures: Measures) -> list[tuple[str, Any]]:
    """The error, called after the rows that it is of, beside that of a guess."""
    from largemargin.report.fit.training_rows import ALL, SOME

    counted = f"{result['errors']} of {result['rows']} rows"
    error = f"{error_words(measures)}, {counted}"
    name, held_out = "error", result["held_out"]
    told: list[tuple[str, Any]] = []
    if result["training_rows"] == SOME:
        name, error = "held-out error", f"{error} that the model was not trained on"
    if result["training_rows"] == ALL:
        name, error = "training error", f"{percent(measures.error)}, {counted}"
        told.append(("", "The model was trained on these rows: this says little of new rows."))
    if result["training_rows"] == ALL and held_out:
        recorded = f"{percent(held_out['error'])} of {held_out['rows']} rows"
        told.append(("held-out error", f"{recorded}, measured before it was fitted on all rows"))
    return [
        (name, error),
        *told,
        ("guess's error", guess_words(measures)),
        *imbalance_facts(measures),
        *([("label", result["label"])] if result["label"] else []),
    ]


def _show(result: dict[str, Any], measures: Measures) -> None:
    title = f"{result['model']} on {result['data']}"
    facts = _error_facts(result, measures)
    emit_facts(facts, title=title, strong=(facts[0][0],))
    if result["rules"]:
        rows = [
            (
                "*" if r["own"] else "",
                r["method"],
                "yes" if r["normalize"] else "",
                percent(r["error"]),
            )
            for r in result["rules"]
        ]
        emit_table(
            ("", "rule", "normalized", "error"), rows, title="every rule (* the model's own)"
        )
    rows = [
        (c["label"], c["rows"], percent(c["precision"]), percent(c["recall"]))
        for c in result["classes"]
    ]
    emit_table(("class", "rows", "precision", "recall"), rows, title="classes", right=True)
    labels = result["labels"]
    matrix = [
        (label, *(count or "." for count in counts))
        for label, counts in zip(labels, result["confusion"], strict=True)
    ]
    columns = ("true \\ predicted", *map(str, labels))
    if fits(columns, matrix):
        emit_table(columns, matrix, title="confusions", right=True)
        return
    emit_table(
        ("true class", "predicted class", "rows"), _commonest(labels, result["confusion"]),
        title=f"the {MOST_CONFUSIONS} commonest confusions of {len(labels)} classes",
    )  # fmt: skip


def _commonest(labels: list[Any], confusion: list[list[int]]) -> list[tuple[Any, Any, int]]:
    """The wrong answers that were given most often."""
    wrong = [
        (truth, answer, count)
        for k, (truth, counts) in enumerate(zip(labels, confusion, strict=True))
        for j, (answer, count) in enumerate(zip(labels, counts, strict=True))
        if count and k != j
    ]
    return sorted(wrong, key=lambda pair: -pair[2])[:MOST_CONFUSIONS]
