"""A comparison as one HTML page."""

from __future__ import annotations

from largemargin.compare.measuring import SHORT_SECONDS
from largemargin.compare.picture import beyond, draw
from largemargin.compare.results import (
    Comparison,
    certified,
    heading,
    rare_cells,
    size_words,
    time_words,
)
from largemargin.report.intervals import METHOD, outward
from largemargin.report.templates import environment

# the scale ends at this multiple of the median upper end of the intervals: the rest is cut off
OUTLIER = 3.0


def widest_error(found: Comparison) -> float:
    """Where the scale of errors ends: one that failed must not make all others look alike."""
    ends = sorted(result.error.interval[1] for result in found.results if result.error)
    return min(ends[-1], OUTLIER * ends[len(ends) // 2]) if ends else 1.0


def render(found: Comparison, command: str = "") -> str:
    from markupsafe import Markup

    from largemargin import __version__

    templates = environment()
    templates.filters |= {
        "seconds": time_words, "bytes": size_words, "certified": certified,
        "outward": lambda error: " to ".join(outward(error.interval)), "rare": rare_cells,
    }  # fmt: skip
    widest = widest_error(found)
    page: str = templates.get_template("compare/page.html.j2").render(
        found=found,
        heading=heading(found),
        widest=widest,
        picture=Markup(draw(found, widest)),
        beyond=beyond(found, widest),
        interval_method=METHOD,
        short_seconds=time_words(SHORT_SECONDS),
        command=command,
        version=__version__,
    )
    return page
