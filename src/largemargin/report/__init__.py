"""Reports: tables of published and own numbers, curves, and the forms in which they are shown.

`comparison` and `document` hold the content; `terminal`, `markdown`, `page` and `plots` show it;
`files` writes a folder. Nothing here knows of a particular paper. `plot_decision` draws a
classifier of points in the plane.

`fit` is the report of one trained model; its charts are in `charts`, drawn by `svg`, its small
pictures are made by `png`, and its pages look as `look.css` says.
"""

from largemargin.report.decision import plot_decision

__all__ = ["plot_decision"]
