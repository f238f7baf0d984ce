"""What was trained and how long it took, as pairs of a name and words."""

from __future__ import annotations

from typing import Any

from largemargin.base.pipelines import final_step
from largemargin.report.fit.outcome import Outcome, Rows
from largemargin.report.fit.page import Facts
from largemargin.report.fit.training_rows import held_out_of
from largemargin.report.fit.words import kernel_words, learned, learned_words, machine_words
from largemargin.report.machine import describe_machine, duration
from largemargin.runtime.showing import text


def facts_of(info: dict[str, Any], model: Any, shown: Rows) -> Facts:
    rows = f"{info['rows']:,} rows of {model.n_features_in_:,} features" if "rows" in info else ""
    scalers = [_scaler_words(step) for _, step in getattr(model, "steps", [])[:-1]]
    every = (
        ("training data", info.get("data", "")),
        ("trained on", rows or f"{model.n_features_in_:,} features"),
        ("classes", _classes(model.classes_.tolist()) if hasattr(model, "classes_") else ""),
        ("label", str(info.get("label") or "")),
        ("tested on", f"{len(shown):,} rows of {shown.name}"),
        ("model file", _kept_words(info)),
        ("scaling", ", ".join(scalers) or "none"),
        *_found(final_step(model)),
        ("seed", parameter_text(info["seed"]) if "seed" in info else ""),
        ("trained", str(info.get("trained", "")).replace("T", " ").removesuffix("+00:00")),
        ("versions", ", ".join(f"{k} {v}" for k, v in (info.get("versions") or {}).items())),
    )
    return tuple((name, str(value)) for name, value in every if value not in ("", None))


def _scaler_words(step: Any) -> str:
    return "as said above" if hasattr(step, "decisions_") else type(step).__name__


def _kept_words(info: dict[str, Any]) -> str:
    """Which model a file has, where it is not the one that this page is about."""
    noted = held_out_of(info)
    if not noted or not noted["refitted"]:
        return ""
    every = (noted.get("fingerprint") or {}).get("n_rows", 0)
    if every == info.get("rows"):  # the page is about that one
        return ""
    return f"fitted again with the same settings on all {every:,} rows"


def _found(final: Any) -> list[tuple[str, str]]:
    """Which machine it is, and what fitting found."""
    parameters = final.get_params(deep=False)
    found = [("machine", machine_words(parameters))]
    if isinstance(parameters.get("kernel"), str):
        found.append(("kernel", kernel_words(parameters)))
    return found + [(name, _counted(value)) for name, value in learned_words(learned(final))]


def _counted(value: Any) -> str:
    """A value as people write it, a count with commas."""
    count = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if count else text(value)


def _classes(classes: list[Any]) -> str:
    few = ", ".join(map(str, classes[:12])) + (", ..." if len(classes) > 12 else "")
    return f"{len(classes)} ({few})"


def timings_of(info: dict[str, Any], outcome: Outcome, certificate: float | None) -> Facts:
    rate = f"{len(outcome.rows) / outcome.seconds:,.0f}" if outcome.seconds >= 1e-3 else ""
    found = [
        ("training", _seconds(info["seconds"]) if info.get("seconds") is not None else ""),
        ("prediction", f"{_seconds(outcome.seconds)} for {len(outcome.rows):,} rows"),
        ("rows per second", rate),
        ("certificate", _seconds(certificate) if certificate is not None else ""),
        ("report made on", describe_machine()),
    ]
    if cv := info.get("cv"):
        found.insert(0, ("search", _seconds(sum(row["seconds"] for row in cv["table"]))))
    return tuple((name, value) for name, value in found if value)


def _seconds(seconds: float) -> str:
    if seconds < 1e-3:
        return "less than 1 ms"
    if seconds < 0.1:
        return f"{1e3 * seconds:.3g} ms"
    return f"{seconds:.2f} s" if seconds < 10 else duration(seconds)


def parameter_text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if value is None or isinstance(value, bool | int | str):
        return str(value)
    return type(value).__name__ if hasattr(value, "get_params") else str(value)[:60]
