"""What a comparison found: as data, and as the words of its table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Any

from largemargin.report.intervals import ErrorRate, outward
from largemargin.report.measures import Measures
from largemargin.report.templates import figure

STAGES = ("searching", "training", "certifying")
INTERRUPTED = "interrupted"

COLUMNS = (
    "machine", "error, %", "95 % interval", "support vectors", "fit", "predict", "model",
    "certified error", "chosen",
)  # fmt: skip
RARE_COLUMNS = ("balanced error, %", "AUC")  # where a class is rare


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
    measures: Measures | None = None

    @property
    def parameters(self) -> str:
        """What was chosen, in words."""
        return ", ".join(f"{k} {_short(v)}" for k, v in self.chosen.items())

    def as_json(self) -> dict[str, Any]:
        apart = ("error", "certificate", "notes", "measures")
        found = {k: v for k, v in vars(self).items() if k not in apart}
        measures = self.measures.as_json() if self.measures else {}
        return {
            **found,
            **{name: measures.get(name) for name in ("balanced_error", "recalls", "auc")},
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
    guess_errors: int = 0
    commonest: Any = None
    imbalanced: bool = False
    label: str | None = None

    @property
    def guess(self) -> ErrorRate | None:
        """The error of always answering with the commonest class."""
        return ErrorRate(self.guess_errors, self.test_rows) if self.guess_errors else None

    @property
    def ranked(self) -> tuple[Result, ...]:
        return tuple(ranked(self.results))

    @property
    def unfinished(self) -> int:
        """How many machines Ctrl-C left unmeasured."""
        return sum(result.trouble == INTERRUPTED for result in self.results)

    def as_json(self) -> dict[str, Any]:
        found = {k: v for k, v in vars(self).items() if k not in ("results", "guess_errors")}
        found["guess_error"] = self.guess.share if self.guess else None
        found["unfinished"] = self.unfinished
        return {**found, "results": [result.as_json() for result in self.ranked]}


def ranked(results: Iterable[Result]) -> list[Result]:
    """The smallest error first, of equals the smallest balanced error; none at all comes last."""

    def place(result: Result) -> tuple[float, float]:
        if result.error is None:
            return inf, inf
        return result.error.share, result.measures.balanced_error if result.measures else inf

    return sorted(results, key=place)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def heading(found: Comparison) -> str:
    return (
        f"{found.data}: {found.train_rows:,} rows of {found.features:,} features to train on, "
        f"{found.test_rows:,} to test on{' (held out)' if found.held_out else ''}, "
        f"{found.classes} classes{f' of {found.label}' if found.label else ''}"
    )


def columns(found: Comparison) -> tuple[str, ...]:
    """`COLUMNS`, with what an error hides where a class is rare."""
    return (*COLUMNS[:3], *RARE_COLUMNS, *COLUMNS[3:]) if found.imbalanced else COLUMNS


def rows(found: Comparison) -> list[tuple[str, ...]]:
    """The cells of all machines, and among them those of a guess, by their errors."""
    cells = [row(result, found.imbalanced) for result in found.ranked]
    if found.guess is None:
        return cells
    low, high = outward(found.guess.interval)
    rare = (f"{100 * (1 - 1 / found.classes):.2f}", "0.5000" if found.classes == 2 else "-")
    guess = (
        f"(always answering {found.commonest})", f"{100 * found.guess.share:.2f}",
        f"{low} to {high}", *(rare if found.imbalanced else ()), *("-" * 5), "",
    )  # fmt: skip
    better = sum(r.error is not None and r.error.share < found.guess.share for r in found.ranked)
    return [*cells[:better], guess, *cells[better:]]


def rare_cells(result: Result) -> tuple[str, str]:
    """The cells of `RARE_COLUMNS`."""
    measures = result.measures
    if measures is None:
        return "-", "-"
    auc = "-" if measures.auc is None else f"{measures.auc:.4f}"
    return f"{100 * measures.balanced_error:.2f}", auc


def row(result: Result, imbalanced: bool = False) -> tuple[str, ...]:
    """The cells of a machine, as in `columns`."""
    low, high = outward(result.error.interval) if result.error else ("", "")
    return (
        result.title,
        f"{100 * result.error.share:.2f}" if result.error else "-",
        f"{low} to {high}" if result.error else "-",
        *(rare_cells(result) if imbalanced else ()),
        "-" if result.support_vectors is None else f"{result.support_vectors:,}",
        time_words(result.fit_seconds),
        time_words(result.predict_seconds),
        size_words(result.size),
        certified(result),
        chosen(result) if result.error else result.trouble,
    )


def chosen(result: Result) -> str:
    """The parameters, and how much of the search was done if not all of it."""
    if result.settings <= 1 or result.searched == result.settings:
        return result.parameters
    return f"{result.parameters} ({result.searched} of {result.settings} settings tried)"


def certified(result: Result) -> str:
    """The bound, rounded up; ~ marks one that holds in expectation only.

    >>> from largemargin.compare.results import Certified
    >>> bound = Certified("support-vector bound", 0.12341, "expectation", "")
    >>> certified(Result("SVC", "largemargin", "SVC", certificate=bound))
    '~0.124 (support-vector bound)'
    """
    if result.certificate is None:
        return "-"
    estimate = "~" if result.certificate.kind == "expectation" else ""
    value = figure(result.certificate.value, 3, "above")
    return f"{estimate}{value} ({result.certificate.name})"


def time_words(seconds: float | None) -> str:
    """
    >>> time_words(0.0123), time_words(2.345), time_words(None)
    ('12 ms', '2.3 s', '-')
    """
    if seconds is None:
        return "-"
    return f"{1e3 * seconds:.2g} ms" if seconds < 0.0995 else f"{seconds:.2g} s"


def size_words(size: int | None) -> str:
    """
    >>> size_words(812), size_words(81234), size_words(8123456)
    ('812 B', '81 kB', '8.1 MB')
    """
    if size is None:
        return "-"
    if size < 1000:
        return f"{size} B"
    return f"{size / 1e3:.0f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"
