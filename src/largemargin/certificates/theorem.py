"""A theorem with its name and kind, and how it says a number, or why it has none to say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.certificates.certificate import Assumption, Kind, Side, Statement, not_applicable


@dataclass(frozen=True)
class Condition(Assumption):
    """An assumption with what is to be said where it fails, or, if the theorem is silent `unless
    known` to hold, where nobody can tell.
    """

    otherwise: str = ""
    unless_known: bool = False

    @property
    def silences(self) -> bool:
        return self.holds is False or (self.unless_known and self.holds is None)


@dataclass(frozen=True)
class Theorem:
    """What statements of one kind share."""

    name: str
    source: str
    kind: Kind
    bounds_error: bool = False
    bounds_from: Side | None = None

    def refuted_by(self, conditions: Sequence[Condition]) -> Statement | None:
        """The statement that it does not apply, if one of its conditions fails."""
        for condition in conditions:
            if condition.silences:
                return self.fails(condition.otherwise, conditions)
        return None

    def fails(self, reason: str, conditions: Iterable[Assumption] = ()) -> Statement:
        return not_applicable(self.name, self.source, self.kind, reason, tuple(conditions))

    def says(
        self,
        value: float,
        sentence: str,
        conditions: Iterable[Assumption] = (),
        by_problem: Any = (),
    ) -> Statement:
        """The number, with those of the problems if there are several."""
        each = np.atleast_1d(np.asarray(by_problem, float))
        return Statement(
            self.name, float(value), sentence, self.source, self.kind, tuple(conditions),
            self.bounds_error, tuple(each.tolist()) if len(each) > 1 else (), self.bounds_from,
        )  # fmt: skip


INDEPENDENT = Condition("the examples were drawn independently from one distribution", None)
