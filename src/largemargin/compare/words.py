"""The table of a comparison, in words; the terminal and the page have the same."""

from __future__ import annotations

from largemargin.compare.content import Comparison, Result
from largemargin.report.templates import figure

COLUMNS = (
    "machine", "error, %", "95 % interval", "support vectors", "fit", "predict", "model",
    "certified error", "chosen",
)  # fmt: skip


def heading(found: Comparison) -> str:
    return (
        f"{found.data}: {found.train_rows:,} rows of {found.features:,} features to train on, "
        f"{found.test_rows:,} to test on{' (held out)' if found.held_out else ''}, "
        f"{found.classes} classes"
    )


def row(result: Result) -> tuple[str, ...]:
    """The cells of a machine, as in `COLUMNS`."""
    from largemargin.report.intervals import outward

    low, high = outward(result.error.interval) if result.error else ("", "")
    return (
        result.title,
        f"{100 * result.error.share:.2f}" if result.error else "-",
        f"{low} to {high}" if result.error else "-",
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

    >>> from largemargin.compare.content import Certified
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
