"""What a preprocessor does with the columns of a table, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from largemargin.runtime.showing import shown
from largemargin.tables.parsing import COMMA, MONTH_FIRST
from largemargin.tables.plans import (
    BOOLEAN,
    CATEGORY,
    CHOSEN,
    CONSTANT,
    COUNTER,
    DATE,
    DISTINCT,
    DROPPED,
    EMPTY,
    NUMBER,
    RARE,
    Plan,
)

_MANY = 12  # the most names in a sentence
_SCALED = {
    "standard": "scaled to mean 0 and variance 1",
    "minmax": "scaled to the range from 0 to 1",
    "none": "not scaled",
}


@dataclass(frozen=True)
class Findings:
    """What a fit found in the columns that are used."""

    scale: str
    n_missing: dict[str, int] = field(default_factory=dict)
    n_values: dict[str, int] = field(default_factory=dict)  # of each column of text
    n_pooled: dict[str, int] = field(default_factory=dict)
    least_count: int = 1
    sparse: bool = False


def sentences(plans: Sequence[Plan], found: Findings) -> list[str]:
    """One sentence for each group of columns."""
    groups = {kind: [p for p in plans if p.kind == kind] for kind in (NUMBER, DATE, BOOLEAN)}
    told = [
        _told(groups[NUMBER], "is taken as numbers|are taken as numbers", _SCALED[found.scale]),
        _told([p for p in groups[NUMBER] if p.form == COMMA], "has|have", "a decimal comma"),
        _told(
            groups[DATE],
            "is a date|are dates",
            f"counted in days since 1970-01-01 and {_SCALED[found.scale]}",
        ),
        _told(
            [p for p in groups[DATE] if any(p.form.startswith(form) for form in MONTH_FIRST)],
            "is read|are read",
            "with the month before the day",
        ),
        _told(groups[BOOLEAN], "is a truth value|are truth values", "written as 0 and 1"),
        *_told_categories([p for p in plans if p.kind == CATEGORY], found),
        *_told_missing(plans, found),
    ]
    for why, reason in _REASONS.items():
        group = [p for p in plans if p.kind == DROPPED and p.why == why]
        told.append(_told(group, "is dropped|are dropped", reason))
    if found.sparse:
        told.append("The rows are sparse, because most of their many values are zero.")
    return [sentence for sentence in told if sentence]


_REASONS = {
    CHOSEN: "as asked for",
    EMPTY: "because all values are missing",
    CONSTANT: "because all values are equal",
    COUNTER: "because its integers count the rows",
    DISTINCT: "because nearly every value is different, as if it named the rows",
    RARE: "because no value is frequent enough",
}


def _told(group: Sequence[Plan], verbs: str, what: str) -> str:
    if not group:
        return ""
    verb = verbs.split("|")[len(group) > 1]
    join = ", " if what.startswith(("scaled", "not", "counted", "written", "with")) else " "
    return f"{_names(group)} {verb}{join}{what}."


def _names(group: Sequence[Plan], more: Callable[[Plan], str] = lambda plan: "") -> str:
    names = [shown(plan.name) + more(plan) for plan in group[:_MANY]]
    if len(group) > _MANY:
        names.append(f"{len(group) - _MANY} more columns")
    start = "The column" if len(group) == 1 else "The columns"
    both = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{start} {both}"


def _told_categories(group: Sequence[Plan], found: Findings) -> list[str]:
    whole = [p for p in group if not found.n_pooled[p.name]]
    pooled = [p for p in group if found.n_pooled[p.name]]
    told = []
    if whole:
        verb = "is" if len(whole) == 1 else "are"
        names = _names(whole, lambda p: f" ({found.n_values[p.name]} values)")
        told.append(f"{names} {verb} one-hot encoded.")
    if pooled:
        verb = "is" if len(pooled) == 1 else "are"
        names = _names(
            pooled, lambda p: f" ({found.n_pooled[p.name]} of {found.n_values[p.name]} values)"
        )
        told.append(f"{names} {verb} one-hot encoded, with rare values pooled.")
    return told


def _told_missing(plans: Sequence[Plan], found: Findings) -> list[str]:
    told = []
    ways = {
        (NUMBER, DATE): "are replaced by the median, and marked",
        (BOOLEAN,): "are replaced by the commonest value, and marked",
        (CATEGORY,): "are a category of their own",
    }
    for kinds, way in ways.items():
        group = [p for p in plans if p.kind in kinds and p.name in found.n_missing]
        if group:
            names = _names(group, lambda p: f" ({found.n_missing[p.name]})")
            told.append(f"Missing values of {names[0].lower()}{names[1:]} {way}.")
    return told
