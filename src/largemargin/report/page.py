"""A report as one HTML page that needs nothing else: style and plots are inside it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from largemargin.report.comparison import difference, number, published_number
from largemargin.report.document import Report


def render(report: Report, pictures: Mapping[str, str]) -> str:
    """The page; `pictures` holds the SVG element of each figure by its id."""
    from jinja2 import Environment
    from markupsafe import Markup

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "number": number,
        "published_number": published_number,
        "difference": difference,
    }
    template = files("largemargin.report").joinpath("page.html.j2").read_text(encoding="utf-8")
    return environment.from_string(template).render(
        report=report,
        pictures={name: Markup(picture) for name, picture in pictures.items()},
    )
