"""`largemargin inspect`: what a model file holds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from largemargin.cli.measuring import TEST_ERROR, rate_words
from largemargin.cli.options import Json
from largemargin.cli.output import emit_json
from largemargin.cli.tabulating import emit_facts, emit_table
from largemargin.report.fit.words import machine_words
from largemargin.runtime.showing import percent, shown, text

# Notes that are told before the others, in words
_TOLD_APART = (
    "cv", "versions", "feature_names", "warnings", "decisions", "held_out",
    "column_kinds", "data", "rows", "features", "trained", "seconds", "test_error", "test_rows",
    "guess_error", "label", "classes", "converged", "epochs", "mistakes", "support_vectors",
    "scale",
)  # fmt: skip
_LABELS_SHOWN = 12


def inspect(
    model: Annotated[str, typer.Argument(help="A model file.")],
    json: Json = False,
) -> None:
    """Show what a model file holds: parameters, sizes, scaling, how it was trained.

    \b
    Example:
      largemargin inspect digits.safetensors
    """
    from largemargin.model_file import describe
    from largemargin.model_file.container import refusal

    found = describe(model)
    if json:
        emit_json(found)
        return
    try:
        _show(found)
    except (KeyError, TypeError, AttributeError) as error:
        raise refusal(model, "what it says of itself makes no sense") from error


def _show(found: dict[str, Any]) -> None:
    from largemargin.report.fit.training_rows import held_out_of

    *scalers, final = found["steps"]
    facts, info, labels = final["facts"], found["info"], final["labels"] or []
    told = info.get("warnings") or []
    emit_facts(
        [
            *_tested_words(info),
            *(("warning", message) for message in (told if isinstance(told, list) else [told])),
            ("class", final["class"]),
            ("machine", machine_words(final["parameters"])),
            *([("kernel", _kernel_words(facts["kernel"]))] if "kernel" in facts else []),
            *_data_words(info),
            ("features", final["n_features"]),
            ("labels", _label_words(labels, final["label_type"])),
            ("scaling", text([_scaler_words(step) for step in scalers]) or "none"),
            *([("support vectors", facts["n_support"])] if "n_support" in facts else []),
            *_training_words(facts),
            *([("precision", facts["precision"])] if "precision" in facts else []),
            *_calibration_words(final.get("calibration")),
        ],
        title=found["path"],
        strong=(TEST_ERROR,),
    )
    if held_out := held_out_of(info):
        emit_facts(_held_out_words(held_out), title="held out in training")
    if isinstance(info.get("decisions"), list):
        emit_facts([("", sentence) for sentence in info["decisions"]], title="columns")
    if info.get("feature_names"):
        emit_facts([("columns", info["feature_names"])])
    if info.get("cv"):
        _show_search(info["cv"])
    _show_mistakes(labels, facts.get("n_mistakes", []))
    emit_facts(final["parameters"].items(), title="parameters")
    notes = [(key, value) for key, value in info.items() if key not in _TOLD_APART]
    if notes:
        emit_facts(notes, title="other notes of the training")
    versions = info.get("versions")
    emit_facts(
        [
            ("size", f"{found['size']} bytes"),
            ("format", found["format"]),
            ("written by", f"largemargin {found['library']}"),
            *([("with", versions)] if versions else []),
            ("sha256", found["sha256"]),
        ],
        title="file",
    )


def _tested_words(info: dict[str, Any]) -> list[tuple[str, Any]]:
    """The error that was measured in training, with its interval, beside that of a guess."""
    from largemargin.report.intervals import ErrorRate

    error, rows, guess = (info.get(name) for name in ("test_error", "test_rows", "guess_error"))
    if not isinstance(error, float) or not isinstance(rows, int) or rows < 1:
        return []
    rate = ErrorRate(round(min(max(error, 0.0), 1.0) * rows), rows)
    told: list[tuple[str, Any]] = [(TEST_ERROR, f"{rate_words(rate)} of {rows} rows")]
    return [*told, ("guess's error", percent(guess))] if isinstance(guess, float) else told


def _data_words(info: dict[str, Any]) -> list[tuple[str, Any]]:
    if "data" not in info:
        return []
    size = f", {info['rows']} rows" if isinstance(info.get("rows"), int) else ""
    told: list[tuple[str, Any]] = [("trained on", f"{text(info['data'])}{size}")]
    if info.get("label"):
        told.append(("label", text(info["label"])))
    took = info.get("seconds")
    if "trained" in info:
        seconds = f", in {took:.2f} s" if isinstance(took, float) else ""
        told.append(("trained at", f"{text(info['trained'])}{seconds}"))
    return told


def _label_words(labels: list[Any], kind: Any) -> str:
    """
    >>> _label_words(["a", "b"], "<U1"), _label_words([], None)
    ('a, b (2 of type <U1)', 'none')
    """
    if not labels:
        return "none"
    more = ", ..." if len(labels) > _LABELS_SHOWN else ""
    named = ", ".join(shown(label).strip("'") for label in labels[:_LABELS_SHOWN])
    return f"{named}{more} ({len(labels)} of type {kind})"


def _held_out_words(noted: dict[str, Any]) -> list[tuple[str, Any]]:
    kept = "all rows, afterwards" if noted["refitted"] else "the other rows"
    return [
        ("rows", f"{noted['rows']}, a share of {noted['fraction']:g}, with seed {noted['seed']}"),
        ("error", percent(noted["error"])),
        ("guess's error", percent(noted.get("guess_error"))),
        ("model of", kept),
    ]


def _training_words(facts: dict[str, Any]) -> list[tuple[str, Any]]:
    if "n_kept" in facts:
        return [("rounds", facts["n_kept"]), ("ended by", facts["ended"])]
    if "n_basis" in facts:
        return [("centres", facts["n_basis"])]
    if "online_errors" in facts:
        names = ("n_seen", "online_errors", "margin_errors", "n_insertions", "n_removals")
        told = [(name.removeprefix("n_").replace("_", " "), facts.get(name)) for name in names]
        chosen = [(name, facts[name]) for name in ("policy", "averages") if name in facts]
        return told + chosen
    if "largest_gap" not in facts:
        mistakes = sum(facts.get("n_mistakes", []))
        rows = [("mistakes", mistakes), ("epochs", facts.get("n_epochs"))]
    else:
        rows = [
            ("problems", facts.get("n_problems")),
            ("duality gap", _gap_words(facts["largest_gap"])),
        ]
        rows += [] if facts.get("separable", True) else [("separable", False)]
    return [*rows, ("converged", facts.get("converged"))]


def _calibration_words(calibration: dict[str, Any] | None) -> list[tuple[str, Any]]:
    if calibration is None:
        return []
    rows, folds = calibration["n_rows"], calibration["n_folds"]
    told = f"{rows} training rows in {folds} folds" if folds else f"{rows} other rows"
    return [("probabilities", f"sigmoids of scores, from {told}")]


def _gap_words(gap: float | str) -> str:
    """What no machine is better by: rounded up, like every bound."""
    from largemargin.certificates.rounding import at_most

    return at_most(float(gap), 6)


def _show_mistakes(labels: list[Any], mistakes: list[int]) -> None:
    if len(labels) == 2:
        labels = [f"{labels[1]} against {labels[0]}"]
    rows = list(zip(labels, mistakes, strict=False))
    if rows:
        emit_table(("class", "mistakes"), rows, title="mistakes in training", right=True)


def _show_search(cv: Any) -> None:
    """The table of the search, if the notes are those that `train` wrote."""
    from largemargin.cli.search import emit_search

    try:
        emit_search(cv)
    except (KeyError, TypeError, IndexError, ValueError):
        emit_facts([("cv", cv)])


def _kernel_words(kernel: dict[str, Any] | None) -> str:
    if not kernel:
        return "-"
    if kernel["name"] == "constant":
        return f"{_kernel_words(kernel['of'])}, plus 1 for the threshold"
    numbers = (f"{name} {text(value)}" for name, value in kernel.items() if name != "name")
    return ", ".join([kernel["name"], *numbers])


def _scaler_words(step: dict[str, Any]) -> str:
    seen = step["facts"].get("n_samples_seen")
    return f"{step['class']} ({seen} rows seen)" if seen is not None else str(step["class"])
