"""What a certificate is: statements, each a number with the theorem that it comes from, what kind
of truth it is, what it assumes and whether that holds here. A `Theorem` has its name and kind, and
says a number, or why it has none to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import floor, isfinite
from typing import Any, Literal

import numpy as np

from largemargin.certificates.rounding import at_least, at_most
from largemargin.runtime.arrays import VectorLike

Kind = Literal["measured", "always", "probability", "expectation"]
KINDS: dict[Kind, str] = {
    "measured": "measured on the data given",
    "always": "holds always",
    "probability": "holds with probability 1 - delta over the draw of the training set",
    "expectation": "holds in expectation over training sets; the value is a plug-in estimate",
}


# The truth is at most this ("above"), at least this ("below"), or the number itself, to rounding.
Side = Literal["above", "below", ""]


def stated(value: float, side: Side, digits: int = 4) -> str:
    """A number with `digits` digits; a bound is rounded outward.

    >>> stated(0.12341, "above"), stated(0.12349, "below"), stated(0.12341, "")
    ('0.1235', '0.1234', '0.1234')
    """
    if side == "above":
        return at_most(value, digits)
    return at_least(value, digits) if side == "below" else f"{value:.{digits}g}"


@dataclass(frozen=True)
class Assumption:
    """Something that a theorem assumes, and whether it holds here; None if no fit can tell."""

    text: str
    holds: bool | None


@dataclass(frozen=True)
class Statement:
    """One number that the theory has to say of a fit.

    Attributes
    ----------
    name : str
        Short, and unique within a certificate.
    value : float or None
        None if the theorem does not apply.
    sentence : str
        What the number means, for a person; if it does not apply, why not.
    source : str
        The theorem.
    kind : str
        One of `KINDS`.
    assumptions : tuple of Assumption
    bounds_error : bool
        Whether the value bounds a probability of error, so that above 1 it says nothing.
    by_problem : tuple of float
        With more than two classes, the number of each problem.
    bounds_from : str or None
        "above" or "below" if the value bounds the truth from there, empty if it is the number
        itself. None is "above" but for what is measured.
    counts : bool
        Whether it is about a whole number, which cannot lie between the value and the next whole
        number below.
    """

    name: str
    value: float | None
    sentence: str
    source: str
    kind: Kind
    assumptions: tuple[Assumption, ...] = ()
    bounds_error: bool = False
    by_problem: tuple[float, ...] = ()
    bounds_from: Side | None = None
    counts: bool = False

    @property
    def written(self) -> str:
        """The value as text: a bound is rounded outward, and a bound of a whole number is one."""
        if self.value is None:
            return "-"
        if self.counts and isfinite(self.value):
            return f"{sum(map(floor, self.by_problem or (self.value,))):,}"
        return stated(self.value, self.side)

    @property
    def side(self) -> Side:
        """The side to which the value is rounded: outward, away from the truth."""
        if self.bounds_from is not None:
            return self.bounds_from
        return "" if self.kind == "measured" else "above"

    @property
    def applies(self) -> bool:
        return self.value is not None

    @property
    def vacuous(self) -> bool:
        """Whether it is a bound on an error that says nothing."""
        return self.bounds_error and self.value is not None and self.value >= 1.0

    def as_dict(self) -> dict[str, Any]:
        """A dict that JSON can write."""
        return {
            "name": self.name,
            "value": self.value,
            "applies": self.applies,
            "vacuous": self.vacuous,
            "kind": self.kind,
            "side": self.side,
            "sentence": self.sentence,
            "source": self.source,
            "assumptions": [{"text": a.text, "holds": a.holds} for a in self.assumptions],
            "by_problem": list(self.by_problem),
        }


def not_applicable(
    name: str, source: str, kind: Kind, reason: str, assumptions: tuple[Assumption, ...] = ()
) -> Statement:
    """A theorem that says nothing here, and why."""
    return Statement(name, None, f"Not applicable: {reason}.", source, kind, assumptions)


@dataclass(frozen=True)
class Certificate:
    """What the theory says of a fit: `certificate["margin"].value`, or print it."""

    model: str
    n_examples: int
    delta: float
    statements: tuple[Statement, ...]
    _by_name: dict[str, Statement] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_name = {statement.name: statement for statement in self.statements}
        if len(by_name) < len(self.statements):
            raise ValueError("two statements of a certificate have the same name")
        object.__setattr__(self, "_by_name", by_name)

    def __getitem__(self, name: str) -> Statement:
        if name not in self._by_name:
            raise KeyError(f"no statement {name!r}: there are {', '.join(self._by_name)}")
        return self._by_name[name]

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    def __len__(self) -> int:
        return len(self.statements)

    def as_dict(self) -> dict[str, Any]:
        """A dict that JSON can write."""
        return {
            "model": self.model,
            "n_examples": self.n_examples,
            "delta": self.delta,
            "statements": [statement.as_dict() for statement in self.statements],
        }

    def __str__(self) -> str:
        lines = [f"{self.model}, {self.n_examples:,} examples, delta {self.delta:g}"]
        width = max((len(s.name) for s in self.statements), default=0)
        for s in self.statements:
            number = s.written + (" (vacuous)" if s.vacuous else "")
            lines.append(f"{s.name:{width}}  {number:>12}  {s.sentence} [{s.source}; {s.kind}]")
        return "\n".join(lines)


@dataclass(frozen=True)
class Condition(Assumption):
    """An assumption, with what is to be said where it fails; if `unless_known`, also where nobody
    can tell whether it holds.
    """

    otherwise: str = ""
    unless_known: bool = False

    @property
    def silences(self) -> bool:
        """Whether the theorem has nothing to say, because of this condition."""
        return self.holds is False or (self.unless_known and self.holds is None)


@dataclass(frozen=True)
class Theorem:
    """What all statements of one theorem share; see `Statement` for the attributes."""

    name: str
    source: str
    kind: Kind
    bounds_error: bool = False
    bounds_from: Side | None = None
    counts: bool = False

    def refuted_by(self, conditions: Sequence[Condition]) -> Statement | None:
        """The statement that it does not apply, if one of its conditions fails."""
        for condition in conditions:
            if condition.silences:
                return self.fails(condition.otherwise, conditions)
        return None

    def fails(self, reason: str, conditions: Iterable[Assumption] = ()) -> Statement:
        """The statement that it does not apply."""
        return not_applicable(self.name, self.source, self.kind, reason, tuple(conditions))

    def says(
        self,
        value: float,
        sentence: str,
        conditions: Iterable[Assumption] = (),
        by_problem: VectorLike = (),
    ) -> Statement:
        """The statement of a number, with those of the problems if there are several."""
        each = np.atleast_1d(np.asarray(by_problem, float))
        return Statement(
            self.name, float(value), sentence, self.source, self.kind, tuple(conditions),
            self.bounds_error, tuple(each.tolist()) if len(each) > 1 else (), self.bounds_from,
            self.counts,
        )  # fmt: skip


INDEPENDENT = Condition("the examples were drawn independently from one distribution", None)
