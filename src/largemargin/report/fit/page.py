"""The report of a fit as one HTML page that needs nothing else."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from largemargin.report.intervals import METHOD, ErrorRate, outward
from largemargin.report.templates import environment, figure

if TYPE_CHECKING:
    from largemargin.report.fit.content import FitReport

MOST_CLASSES = 40  # largest number of classes that a confusion matrix is shown for
KINDS = {
    "measured": "measured",
    "always": "always",
    "probability": "with probability",
    "expectation": "in expectation: an estimate",
}


def render(report: FitReport) -> str:
    from largemargin import __version__

    low, high = outward(report.error.interval)
    templates = environment()
    templates.filters |= {"stated": stated, "by_problem": by_problem, "interval": interval_bar}
    page: str = templates.get_template("report/fit/page.html.j2").render(
        report=report,
        low=low,
        high=high,
        interval_method=METHOD,
        most_classes=MOST_CLASSES,
        kinds=KINDS,
        version=__version__,
        cell=confusion_cell,
    )
    return page


def stated(statement: Any) -> str:
    """The number of a statement; a bound is rounded outward, never in the reader's favour."""
    return "-" if statement.value is None else figure(statement.value, side=statement.side)


def by_problem(statement: Any) -> str:
    """The numbers of its problems, likewise."""
    return ", ".join(figure(value, side=statement.side) for value in statement.by_problem)


def confusion_cell(count: int, right: bool, total: int, most: int) -> Any:
    """A cell of the confusion matrix, the more coloured the more rows are in it."""
    from markupsafe import Markup

    if not count:
        return Markup('<td class="none">·</td>')
    share = 0.12 + 0.4 * count / max(total if right else most, 1)
    colour = "--hit" if right else "--heat"
    return Markup(f'<td style="background: rgba(var({colour}), {share:.2f})">{count:,}</td>')


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
