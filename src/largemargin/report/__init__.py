"""Reports: tables of published and own numbers, curves, and the forms in which they are shown.

`comparison` and `document` hold the content; `terminal`, `markdown`, `page` and `plots` show it;
`files` writes a folder. Nothing here knows of a particular paper. `plot_decision` draws a
classifier of points in the plane.

`fit` is the report of one trained model; its charts are in `charts`, drawn by `svg`, its small
pictures are made by `png`, and its pages look as `look.css` says.

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
