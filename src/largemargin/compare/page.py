"""A comparison as one HTML page that needs nothing else."""

from __future__ import annotations

from largemargin.compare.content import Comparison
from largemargin.compare.words import certified, heading, size_words, time_words
from largemargin.report.intervals import METHOD, outward
from largemargin.report.templates import environment

OUTLIER = 3.0  # times the middle of the intervals' ends: what lies beyond is cut off


def render(found: Comparison, command: str = "") -> str:
    from largemargin import __version__

    templates = environment()
    templates.filters |= {
        "seconds": time_words, "bytes": size_words, "certified": certified,
        "outward": lambda error: " to ".join(outward(error.interval)),
    }  # fmt: skip
    ends = sorted(result.error.interval[1] for result in found.results if result.error)
    # one machine that failed must not make all the others look alike
    widest = min(ends[-1], OUTLIER * ends[len(ends) // 2]) if ends else 1.0
    return templates.get_template("compare/page.html.j2").render(
        found=found,
        heading=heading(found),
        widest=widest,
        interval_method=METHOD,
        command=command,
        version=__version__,
    )
