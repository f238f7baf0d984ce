"""The report of a fit as data, and as one HTML page that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from os import PathLike
from typing import Any

from largemargin.certificates import Certificate
from largemargin.report.charts import Chart, svg
from largemargin.report.fit.confusion import Confusion
from largemargin.report.fit.error_axis import ErrorAxis
from largemargin.report.fit.examples import Gallery
from largemargin.report.fit.importance import Bars
from largemargin.report.fit.picture import Picture
from largemargin.report.fit.search import Surface
from largemargin.report.fit.thresholds import Thresholds
from largemargin.report.fit.use import Use
from largemargin.report.intervals import METHOD, ErrorRate, outward
from largemargin.report.measures import Measures
from largemargin.report.templates import environment, figure, style_sheet
from largemargin.runtime.files import write_atomically

FRAME_HEIGHT = 800  # pixels of the page in a notebook
FAR_BEYOND = 1000  # a bound on an error from here on says no more by its digits

KINDS = {
    "measured": "measured",
    "always": "always",
    "probability": "with probability",
    "expectation": "in expectation (an estimate)",
}
LOOK = "report/fit/page.css"

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True, repr=False)
class FitReport:
    """What was trained on what, how good it is, and what the theory says of it.

    `fit_report` makes one. In a notebook it shows itself.

    Attributes
    ----------
    html : str
        The page: one HTML file that needs nothing else.
    machine : str
        The name of the class.
    data : str
        The name of the training data.
    error : ErrorRate
        On the rows that it was tested on, or on the training set if there are none.
    tested : bool
        Whether these are other rows than the training set.
    training_error : ErrorRate or None
    guessing : float
        The error of always answering with the commonest class of those rows.
    certificate : Certificate or None
        None where the rows of the training set are not there.
    measures : Measures
        The error with that of a guess, the balanced error, recalls and the AUC.
    held_out : dict or None
        What the model file notes of rows that were held out before the model was fitted.
    decisions : tuple of str
        What is done with the columns of a table.
    confusion : Confusion or None
        Counts by true and predicted class, with the commonest confusions; None for a detector.
    detects : bool
        Whether the model is an outlier detector: then `error` is the share of rows outside.
    """

    machine: str
    data: str
    command: str
    facts: Facts
    parameters: Facts
    timings: Facts
    error: ErrorRate
    tested: bool
    training_error: ErrorRate | None
    guessing: float
    unknown_labels: int
    confusion: Confusion | None
    charts: tuple[Chart, ...]
    galleries: tuple[Gallery, ...]
    certificate: Certificate | None
    search: tuple[dict[str, Any], ...] = ()
    chosen: dict[str, Any] | None = None
    folds: int = 0
    searched: str = ""
    warnings: tuple[str, ...] = ()
    measures: Measures | None = None
    held_out: dict[str, Any] | None = None
    decisions: tuple[str, ...] = ()
    axis: ErrorAxis | None = None
    picture: Picture | None = None
    thresholds: Thresholds | None = None
    bars: Bars | None = None
    surface: Surface | None = None
    use: Use | None = None
    detects: bool = False

    def chart(self, *ids: str) -> list[Chart]:
        """The charts with these names, of those that there are."""
        return [chart for chart in self.charts if chart.id in ids]

    @property
    def title(self) -> str:
        return f"{self.machine} on {self.data}"

    @cached_property
    def html(self) -> str:
        return render(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        write_atomically(path, [self.html.encode("utf-8", "backslashreplace")])

    def __repr__(self) -> str:
        kind = "test" if self.tested else "training"
        if self.detects:
            return f"FitReport({self.title}: {self.error} of the {kind} rows are outliers)"
        return f"FitReport({self.title}: {kind} error {self.error})"

    def _repr_html_(self) -> str:
        """The page in a frame, so that its style stays its own."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.title)}" '
            f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 0"></iframe>'
        )


def render(report: FitReport) -> str:
    from largemargin import __version__

    low, high = outward(report.error.interval)
    templates = environment()
    templates.filters |= {"stated": stated, "by_problem": by_problem, "interval": interval_bar}
    templates.filters |= {"pictured": pictured}
    page: str = templates.get_template("report/fit/page.html.j2").render(
        report=report,
        low=low,
        high=high,
        interval_method=METHOD,
        kinds=KINDS,
        version=__version__,
        own_look=style_sheet(LOOK),
    )
    return page


def pictured(picture: Picture) -> Any:
    """The picture of the decision as an element."""
    from markupsafe import Markup

    return Markup(svg(picture.id, picture.says, picture.body))


def stated(statement: Any) -> str:
    """The number of a statement; a bound is rounded outward, never in the reader's favour."""
    if statement.value is None or statement.counts:
        return str(statement.written)
    if statement.vacuous and statement.value >= FAR_BEYOND:
        return f"over {FAR_BEYOND:,}"
    return figure(statement.value, side=statement.side)


def by_problem(statement: Any) -> str:
    """The numbers of its problems, likewise."""
    if statement.counts:
        return ", ".join(
            replace(statement, value=v, by_problem=()).written for v in statement.by_problem
        )
    return ", ".join(figure(value, side=statement.side) for value in statement.by_problem)


def interval_bar(error: ErrorRate) -> Any:
    """The interval as a bar on a scale that begins at zero."""
    from markupsafe import Markup

    low, high = error.interval
    top = min(1.0, max(1.25 * high, 0.01))
    at = [100 * value / top for value in (low, high, error.share)]
    low_text, high_text = outward(error.interval)
    says = escape(f"Interval from {low_text} to {high_text} percent")
    return Markup(
        f'<div class="interval" role="img" aria-label="{says}">'
        f'<i class="span" style="left: {at[0]:.2f}%; width: {at[1] - at[0]:.2f}%"></i>'
        f'<i class="point" style="left: {at[2]:.2f}%"></i></div>'
        f'<div class="scale" aria-hidden="true"><span>0</span><span>{100 * top:.3g} %</span></div>'
    )
