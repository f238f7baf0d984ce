"""What a comparison found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from largemargin.report.intervals import ErrorRate

STAGES = ("searching", "training", "certifying")


@dataclass(frozen=True)
class Certified:
    """The smallest bound of a certificate that says something."""

    name: str
    value: float
    kind: str
    sentence: str


@dataclass
class Result:
    """What was measured of one machine; what is None was not reached, or there is no such thing.

    `seconds` are by the clock, from the search to the certificate, and `processor_seconds` what it
    took of a processor meanwhile; those of fit and predict are the processor's too. `trouble` is
    one line: why it did not finish. `notes` are warnings.
    """

    title: str
    library: str
    name: str
    fixed: dict[str, Any] = field(default_factory=dict)
    chosen: dict[str, Any] = field(default_factory=dict)
    searched: int = 0
    settings: int = 0
    cv_error: float | None = None
    error: ErrorRate | None = None
    support_vectors: int | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    size: int | None = None
    certificate: Certified | None = None
    certificate_seconds: float | None = None
    seconds: float = 0.0
    processor_seconds: float = 0.0
    trouble: str = ""
    notes: tuple[str, ...] = ()

    @property
    def parameters(self) -> str:
        """What was chosen, in words."""
        return ", ".join(f"{k} {_short(v)}" for k, v in self.chosen.items())

    def as_json(self) -> dict[str, Any]:
        found = {k: v for k, v in vars(self).items() if k not in ("error", "certificate", "notes")}
        return {
            **found,
            "notes": list(self.notes),
            "error": self.error.as_json() if self.error else None,
            "certificate": vars(self.certificate) if self.certificate else None,
        }


@dataclass(frozen=True)
class Comparison:
    """All results on one task, the smallest error first and those without one last.

    `search_rows` took part in the search, and `at_once` machines were measured at the same time.
    """

    data: str
    train_rows: int
    test_rows: int
    features: int
    classes: int
    held_out: bool
    scale: str
    folds: int
    search_rows: int
    seed: int
    max_seconds: float
    at_once: int
    seconds: float
    machine: str
    results: tuple[Result, ...]

    @property
    def ranked(self) -> tuple[Result, ...]:
        return tuple(
            sorted(self.results, key=lambda r: (r.error is None, r.error.share if r.error else 0.0))
        )

    def as_json(self) -> dict[str, Any]:
        found = {k: v for k, v in vars(self).items() if k != "results"}
        return {**found, "results": [result.as_json() for result in self.ranked]}


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
