"""What commands say of an error: beside that of a guess, and with what to try where it is bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from largemargin.base.pipelines import final_step
from largemargin.runtime.showing import percent, shown

if TYPE_CHECKING:
    from largemargin.report.intervals import ErrorRate
    from largemargin.report.measures import Measures
    from largemargin.runtime.arrays import Matrix, VectorLike

TEST_ERROR = "test error"
RECALLS_SHOWN = 10  # classes of which the recall is told; of more, those of the smallest


def measured(model: Any, X: Matrix, y: VectorLike, source: str) -> Measures:
    """What the answers of a model on labelled rows are worth."""
    from largemargin.cli.inputs import numbers_of
    from largemargin.report.fit.outcome import classes_of
    from largemargin.report.measures import measure

    truth = numbers_of(y, model.classes_, source)
    scores = model.decision_function(X)
    return measure(truth, classes_of(scores), model.classes_, scores)


def error_words(found: Measures) -> str:
    """
    >>> from largemargin.report.measures import Measures
    >>> from largemargin.report.intervals import ErrorRate
    >>> error_words(Measures(ErrorRate(6, 450), 0.9, 1, 8, 0.1, False, 0.1, {}, None))
    '1.33 % (95 % interval 0.49 to 2.88)'
    """
    return rate_words(found.rate)


def rate_words(rate: ErrorRate) -> str:
    """An error with its interval."""
    from largemargin.report.intervals import outward

    low, high = outward(rate.interval)
    confidence = f"{100 * rate.confidence:g} %"
    return f"{percent(rate.share)} ({confidence} interval {low} to {high})"


def guess_words(found: Measures) -> str:
    """
    >>> from largemargin.report.measures import Measures
    >>> from largemargin.report.intervals import ErrorRate
    >>> guess_words(Measures(ErrorRate(1, 9), 1 / 3, "no", "yes", 1 / 3, False, 0.1, {}, None))
    "33.33 % (always answering 'no')"
    """
    return f"{percent(found.guess_error)} (always answering {shown(found.commonest)})"


def imbalance_facts(found: Measures) -> list[tuple[str, Any]]:
    """What an error hides where a class is rare; nothing where none is."""
    if not found.imbalanced:
        return []
    by_recall = sorted(found.recalls.items(), key=lambda pair: pair[1])
    chosen = by_recall[:RECALLS_SHOWN]
    recalls = ", ".join(f"{label} {percent(recall)}" for label, recall in chosen)
    more = len(by_recall) - len(chosen)
    return [
        ("rarest class", f"{found.rarest}, {percent(found.rarest_share)} of the rows"),
        ("balanced error", percent(found.balanced_error)),
        ("recall", recalls + (f" and {more} more" if more else "")),
        *([("AUC", f"{found.auc:.4f}")] if found.auc is not None else []),
    ]


def advice(found: Measures, model: Any, scale: str) -> list[str]:
    """Warnings where a model is no better than a guess, or a rare class may be lost."""
    told = []
    if not found.beats_guess and found.finds_rare and not _weights_missing(model):
        told.append(
            f"the model errs on {percent(found.error)} of the rows, and always answering "
            f"{shown(found.commonest)} on {percent(found.guess_error)}: with class weights it "
            f"finds {percent(found.recalls[found.rarest])} of the class {shown(found.rarest)} "
            "instead; leave out --class-weight if every error counts alike"
        )
    elif not found.beats_guess:
        told.append(
            "the model is no better than a guess: it errs on "
            f"{percent(found.error)}, and always answering {shown(found.commonest)} on "
            f"{percent(found.guess_error)}; try {_listed(_remedies(model, scale))}"
        )
    elif found.imbalanced and _weights_missing(model):
        told.append(
            f"the class {shown(found.rarest)} has {percent(found.rarest_share)} of the rows and "
            f"{percent(found.recalls[found.rarest])} of them are found: look at the balanced "
            f"error, and try {_weighing(model)} if rows of this class must not be missed"
        )
    return told


def _remedies(model: Any, scale: str) -> list[str]:
    parameters = final_step(model).get_params(deep=False)
    found = []
    if scale == "none":
        found.append("--scale standard")
    if "kernel" in parameters:
        found.append("--kernel linear" if parameters["kernel"] == "rbf" else "--kernel rbf")
    if "epochs" in parameters:
        found.append("more --epochs")
    name = next((name for name in ("C", "nu", "lam") if name in parameters), None)
    if name:
        found.append(f"other values of --{name} with --cv")
    if _weights_missing(model):
        found.append(_weighing(model))
    return found or ["another --model, such as svc"]


def _weights_missing(model: Any) -> bool:
    return final_step(model).get_params(deep=False).get("class_weight") is None


def _weighing(model: Any) -> str:
    has = "class_weight" in final_step(model).get_params(deep=False)
    return "--class-weight balanced" if has else "--model svc --class-weight balanced"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
