"""The templates of pages, and how numbers are written in them."""

from __future__ import annotations

from importlib.resources import files
from math import ceil, floor
from typing import Any

from largemargin.certificates.certificate import Side, stated

MISSING = 'a page needs jinja2: pip install "largemargin[report]"'


def environment() -> Any:
    """Where the templates of this package are found, with the style sheet and the charts."""
    try:
        from jinja2 import Environment, FunctionLoader
    except ImportError as error:
        raise ValueError(MISSING) from error
    from markupsafe import Markup

    from largemargin.report.charts import draw

    found = Environment(
        loader=FunctionLoader(_read), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    found.filters |= {"drawn": lambda chart: Markup(draw(chart))}
    found.filters |= {"figure": figure, "percent": percent}
    found.globals["look"] = style_sheet("report/look.css")
    return found


def style_sheet(name: str) -> Any:
    """A style sheet of the package, for a page that holds it."""
    from markupsafe import Markup

    return Markup(_read(name))


def figure(value: float, digits: int = 4, side: Side = "") -> str:
    """A number with so many digits, rounded to the nearest, or a bound outward.

    >>> figure(0.123456), figure(-22643.7, 3), figure(1234567890.0)
    ('0.1235', '-22,600', '1.235e+09')
    >>> figure(0.12341, side="above"), figure(0.12349, side="below"), figure(3.0)
    ('0.1235', '0.1234', '3')
    >>> figure(1234.4, 6, side="above"), figure(1234.6, 6, side="below")
    ('1,235', '1,234')
    """
    written = stated(value, side, digits)
    number = float(written)
    if not 1000 <= abs(number) < 1e8:
        return written
    whole = {"above": ceil, "below": floor}.get(side, round)(number)
    return f"{whole:,}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _read(name: str) -> str:
    return files("largemargin").joinpath(name).read_text(encoding="utf-8")
