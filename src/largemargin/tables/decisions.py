"""What a preprocessor does with the columns of a table, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
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
_DROPPED = {
    CHOSEN: "as asked for",
    EMPTY: "because all values are missing",
    CONSTANT: "because all values are equal",
    COUNTER: "because its integers count the rows",
    DISTINCT: "because nearly every value is different, as names of rows are",
    RARE: "because no value is frequent enough",
}
_IMPUTED = {
    (NUMBER, DATE): "are replaced by the median, and marked",
    (BOOLEAN,): "are replaced by the commonest value, and marked",
    (CATEGORY,): "are a category of their own",
}


@dataclass(frozen=True)
class Findings:
    """What a fit found in the columns that are used."""

    n_missing: dict[str, int] = field(default_factory=dict)
    n_values: dict[str, int] = field(default_factory=dict)  # of each column of text
    n_pooled: dict[str, int] = field(default_factory=dict)  # of these values
    percents: Collection[str] = ()  # columns of numbers that have percent signs
    separated: Collection[str] = ()  # columns of numbers that have separators of thousands
    sparse: bool = False
    money: Collection[str] = ()  # columns of numbers that have signs of money


def sentences(plans: Sequence[Plan], scale: str, found: Findings) -> list[str]:
    """One sentence for each group of columns."""
    scaled = _SCALED[scale]
    numbers = [p for p in plans if p.kind == NUMBER]
    dates = [p for p in plans if p.kind == DATE]
    told = [
        _told(numbers, "is a number", "are numbers", f", {scaled}"),
        _told([p for p in numbers if p.form == COMMA], "has", "have", " a decimal comma"),
        _told([p for p in numbers if p.name in found.separated], "has", "have",
              " separators of thousands"),
        _told([p for p in numbers if p.name in found.percents], "has", "have",
              " percent signs: 12 % is read as 0.12"),
        _told([p for p in numbers if p.name in found.money], "has", "have",
              " signs of money, which are left out"),
        _told(dates, "is a date", "are dates", f", in days since 1970-01-01, {scaled}"),
        _told([p for p in dates if p.form.split(" ")[0] in MONTH_FIRST], "is", "are",
              " read with the month before the day"),
        _told([p for p in plans if p.kind == BOOLEAN], "is a truth value", "are truth values",
              ", written as 0 and 1"),
        _told([p for p in plans if p.kind == CATEGORY], "is", "are",
              " one-hot encoded", lambda plan: _values(plan, found)),
        *(_told_missing([p for p in plans if p.kind in kinds], way, found)
          for kinds, way in _IMPUTED.items()),
        *(_told([p for p in plans if p.why == why], "is", "are", f" dropped {reason}")
          for why, reason in _DROPPED.items()),
    ]  # fmt: skip
    if found.sparse:
        told.append("The rows are sparse, because most of their many values are zero.")
    return [sentence for sentence in told if sentence]


def _told(
    group: Sequence[Plan],
    one: str,
    several: str,
    what: str,
    more: Callable[[Plan], str] = lambda plan: "",
) -> str:
    if not group:
        return ""
    return f"The {_names(group, more)} {one if len(group) == 1 else several}{what}."


def _names(group: Sequence[Plan], more: Callable[[Plan], str]) -> str:
    names = [shown(plan.name) + more(plan) for plan in group[:_MANY]]
    if len(group) > _MANY:
        names.append(f"{len(group) - _MANY} more")
    if len(names) == 1:
        return f"column {names[0]}"
    return f"columns {', '.join(names[:-1])} and {names[-1]}"


def _values(plan: Plan, found: Findings) -> str:
    n_values, n_pooled = found.n_values[plan.name], found.n_pooled[plan.name]
    pooled = f", {n_pooled} rare of them pooled" if n_pooled else ""
    return f" ({n_values} value{'s' * (n_values != 1)}{pooled})"


def _told_missing(group: Sequence[Plan], way: str, found: Findings) -> str:
    group = [plan for plan in group if plan.name in found.n_missing]
    if not group:
        return ""
    return (
        f"Missing values of the {_names(group, lambda p: f' ({found.n_missing[p.name]})')} {way}."
    )
