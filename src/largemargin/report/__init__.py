"""The page of a fit, and pictures of classifiers.

`plot_decision` draws a classifier of points in the plane. `fit` is the report of one trained model.
What its page and the page of a comparison share: `charts` are charts as data and their SVG,
`intervals` say how sure an error is, `machine` what a number was measured on, `templates` finds the
templates, and the pages look as `look.css` says.

Names are imported when they are first used, since the command line needs only words at first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from largemargin.report.decision import plot_decision

__all__ = ["plot_decision"]


def __getattr__(name: str) -> Any:
    if name == "plot_decision":
        from largemargin.report.decision import plot_decision

        return plot_decision
    raise AttributeError(f"module 'largemargin.report' has no attribute {name!r}")
