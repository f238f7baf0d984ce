"""The page of a fit, and pictures of classifiers.

`fit_report` makes a page about a trained model, and `plot_decision` draws a classifier of points in
the plane. `fit` is what the page is made of. What its page and the page of a comparison share:
`charts` are charts as data and their SVG, `contours` regions and lines of functions, `intervals`
say how sure an error is, `machine` what a number was measured on, `templates` finds the templates,
and the pages look as `look.css` says.

Names are imported when they are first used, since the command line needs only words at first.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from largemargin.report.decision import plot_decision
    from largemargin.report.fit.fit_report import fit_report
    from largemargin.report.fit.page import FitReport

__all__ = ["FitReport", "fit_report", "plot_decision"]

_HOMES = {
    "FitReport": "largemargin.report.fit.page",
    "fit_report": "largemargin.report.fit.fit_report",
    "plot_decision": "largemargin.report.decision",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'largemargin.report' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
