"""All that is known of the error on one axis from 0 to 1: measured, estimated, bounded.

The axis is that of the square root, so that small errors, which most are, lie apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from largemargin.certificates import Certificate
from largemargin.certificates.certificate import Statement
from largemargin.report.intervals import ErrorRate, outward
from largemargin.report.templates import figure

LEAVE_ONE_OUT = "leave-one-out error"
TICKS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
MEANINGS = {
    "measured": "counted",
    "always": "holds always",
    "probability": "holds with high probability",
    "expectation": "estimate",
}
# what statements are about, by their names; all others are about the error on new rows
SUBJECTS = {
    "leave-one-out error": "estimate of the error on new rows",
    "support vectors, leave-one-out": "limit of the leave-one-out error",
    "Jaakkola-Haussler": "limit of the leave-one-out error",
    "xi-alpha": "limit of the leave-one-out error",
    "radius-margin": "limit of the leave-one-out error",
    "needed examples, leave-one-out": "limit of the leave-one-out error",
    "support vectors, expected error": "estimated limit of the expected error",
    "leave-one-out conversion": "estimated limit of the expected error",
    "training to convergence": "estimated limit of the expected error",
}
OF_TRAINING = "margin error bound"


@dataclass(frozen=True)
class Mark:
    """One number on the axis, with what it is about; `low` and `high` are the ends of its interval,
    if it has one.
    """

    name: str
    value: float
    shown: str
    kind: str
    low: float | None = None
    high: float | None = None
    is_bound: bool = False
    about: str = ""

    @property
    def at(self) -> str:
        """Where it is, in percent of the length of the axis."""
        return f"{place(self.value):.2f}"

    @property
    def span(self) -> tuple[str, str] | None:
        """Where its interval begins, and how long it is."""
        if self.low is None or self.high is None:
            return None
        return f"{place(self.low):.2f}", f"{place(self.high) - place(self.low):.2f}"

    @property
    def meaning(self) -> str:
        return MEANINGS[self.kind]


@dataclass(frozen=True)
class ErrorAxis:
    """The numbers, and the names of those bounds that are not below 1."""

    marks: tuple[Mark, ...]
    vacuous: tuple[str, ...]
    silent: tuple[Statement, ...]

    @property
    def ticks(self) -> list[tuple[str, str]]:
        return [(f"{place(tick):.2f}", f"{100 * tick:g} %") for tick in TICKS]


def place(share: float) -> float:
    """Where a share is on the axis, in percent of its length.

    >>> place(0.0), place(0.25), place(1.0), place(7.0)
    (0.0, 50.0, 100.0, 100.0)
    """
    return float(100 * min(max(share, 0.0), 1.0) ** 0.5)


def error_axis(
    test: ErrorRate | None,
    training: ErrorRate | None,
    guess: float | None,
    certificate: Certificate | None,
) -> ErrorAxis:
    """What is known of the error, the measured numbers first and then the bounds by their size."""
    marks = []
    if training is not None:
        marks.append(Mark("training error", training.share, _percent(training.share), "measured"))
    if test is not None:
        low, high = outward(test.interval)
        shown = f"{100 * test.share:.2f} % ({low} to {high})"
        marks.append(Mark("test error", test.share, shown, "measured", *test.interval))
    if guess is not None:
        marks.append(Mark("always the commonest class", guess, _percent(guess), "measured"))
    statements = tuple(certificate or ())
    told = [s for s in statements if s.applies and (s.bounds_error or s.name == LEAVE_ONE_OUT)]
    bounds = [_mark(s) for s in told if not s.vacuous]
    bounds.sort(key=lambda mark: (mark.is_bound, mark.value))
    return ErrorAxis(
        (*marks, *bounds),
        tuple(s.name for s in told if s.vacuous),
        tuple(s for s in statements if not s.applies),
    )


def _mark(statement: Statement) -> Mark:
    value = statement.value
    assert value is not None
    about = SUBJECTS.get(statement.name, "limit of the error on new rows")
    if statement.name.startswith(OF_TRAINING):
        about = "limit for the training rows"
    if not statement.bounds_error:
        return Mark(statement.name, value, _percent(value), statement.kind, about=about)
    shown = f"at most {figure(100 * value, 3, 'above')} %"
    return Mark(statement.name, value, shown, statement.kind, is_bound=True, about=about)


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
