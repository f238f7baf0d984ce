"""Charts of the pages: lines and histograms as data, and the SVG elements that show them.

The colours are those of the page, by day and by night: the text is text, in the fonts of the page,
and nothing in a drawing has a colour of its own. Classes such as `s0` (the first series), `grid`
and `wrong` are what the page's style sheet paints.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

WIDTH, HEIGHT = 440, 264
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 44
N_SERIES = 6  # colours of series in the style sheet


@dataclass(frozen=True)
class Curve:
    """One line of a panel, or single points with `marks`; `spread` is up and down from each y."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    marks: bool = False
    spread: tuple[float, ...] = ()

    def as_json(self) -> dict[str, Any]:
        spread = {"spread": list(self.spread)} if self.spread else {}
        return {"name": self.name, "x": list(self.x), "y": list(self.y), **spread}


@dataclass(frozen=True)
class LineChart:
    """Curves over one axis; `says` is what a person who cannot see it is told.

    A curve with `marks` is drawn as points, one with a `spread` with bars up and down.
    """

    id: str
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    says: str
    log_x: bool = False
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(curve.name for curve in self.curves)

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "x_label": self.x_label,
            "y_label": self.y_label,
            "curves": [curve.as_json() for curve in self.curves],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Histogram:
    """How rows are spread over a number: shares of them between the edges of bins.

    Attributes
    ----------
    bars : tuple of float
        One share per bin.
    outline : tuple of float
        The shares of other rows, drawn as a line over the bars; empty for none.
    names : tuple of str
        What the bars, the parts of them that are errors, and the outline are.
    wrong : tuple of float
        The part of each share that is errors, drawn at the foot of its bar.
    """

    id: str
    title: str
    x_label: str
    y_label: str
    edges: tuple[float, ...]
    bars: tuple[float, ...]
    outline: tuple[float, ...]
    names: tuple[str, ...]
    says: str
    notes: tuple[str, ...] = ()
    wrong: tuple[float, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "x_label": self.x_label,
            "y_label": self.y_label,
            "edges": list(self.edges),
            "bars": list(self.bars),
            "outline": list(self.outline),
            "wrong": list(self.wrong),
            "notes": list(self.notes),
        }


Chart = LineChart | Histogram


@dataclass(frozen=True)
class Axis:
    """Where a number is on the page: `at(low)` is `start` and `at(high)` is `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        if not self.log:
            return linear_ticks(self.low, self.high)
        short = self.high < 100 * self.low
        ticks = log_ticks(self.low, self.high, (1, 2, 5) if short else ())
        return ticks[:: math.ceil(len(ticks) / 6)]


def draw(chart: Chart) -> str:
    """The element; it says what it shows to those who cannot see it."""
    body = _lines(chart) if isinstance(chart, LineChart) else _histogram(chart)
    return svg(chart.id, chart.says, body)


def svg(name: str, says: str, body: str) -> str:
    """The element of a drawing, with what it says."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{name}-says">'
        f'<title id="{name}-says">{escape(says)}</title>{body}</svg>'
    )


def _lines(chart: LineChart) -> str:
    xs = [x for curve in chart.curves for x in curve.x]
    tops = [y + s for curve in chart.curves for y, s in zip(curve.y, _spread(curve), strict=True)]
    across = Axis(min(xs), max(xs), LEFT, WIDTH - RIGHT, chart.log_x and min(xs) > 0)
    up = _up(tops)
    parts = [_frame(chart, across, up)]
    for i, curve in enumerate(chart.curves):
        points = [(across.at(x), up.at(y)) for x, y in zip(curve.x, curve.y, strict=True)]
        series = f"s{i % N_SERIES}"
        for (x, _), y, s in zip(points, curve.y, _spread(curve), strict=True):
            if s:
                low, high = up.at(max(y - s, 0.0)), up.at(y + s)
                parts.append(
                    f'<path class="line thin {series}" d="M{x:.1f} {low:.1f}V{high:.1f}"/>'
                )
        if not curve.marks:
            parts.append(f'<path class="line {series}" d="{_path(points)}"/>')
        if curve.marks or len(points) <= 16:
            size = 4.6 if curve.marks else 2.6
            parts += [
                f'<circle class="dot {series}" cx="{x:.1f}" cy="{y:.1f}" r="{size}">'
                f"<title>{escape(_told(chart, curve, k))}</title></circle>"
                for k, (x, y) in enumerate(points)
            ]
    return "".join(parts)


def _told(chart: LineChart, curve: Curve, k: int) -> str:
    """What is said of a point when the mouse is over it."""
    return f"{curve.name}: {chart.x_label} {curve.x[k]:.4g}, {chart.y_label} {curve.y[k]:.4g}"


def _up(tops: Sequence[float]) -> Axis:
    """The axis upwards, from zero; of nothing but zeros it goes to one."""
    return Axis(0.0, 1.05 * max(tops, default=0.0) or 1.0, HEIGHT - BOTTOM, TOP)


def _histogram(chart: Histogram) -> str:
    across = Axis(chart.edges[0], chart.edges[-1], LEFT, WIDTH - RIGHT)
    up = _up([*chart.bars, *chart.outline])
    parts = [_frame(chart, across, up)]
    places = [across.at(edge) for edge in chart.edges]
    for i, share in enumerate(chart.bars):
        wrong = chart.wrong[i] if chart.wrong else 0.0
        width = max(places[i + 1] - places[i] - 0.8, 0.5)
        for kind, low, high in (("wrong", 0.0, wrong), ("right", wrong, share)):
            if high > low:
                name = chart.names[kind == "wrong"] if chart.names else kind
                parts.append(
                    f'<rect class="bar {kind}" x="{places[i] + 0.4:.1f}" y="{up.at(high):.1f}" '
                    f'width="{width:.1f}" height="{up.at(low) - up.at(high):.1f}"><title>'
                    f"{escape(name)}: {100 * (high - low):.3g} % between {chart.edges[i]:.3g} and "
                    f"{chart.edges[i + 1]:.3g}</title></rect>"
                )
    if chart.outline:
        steps = [(places[0], up.start)]
        for i, share in enumerate(chart.outline):
            steps += [(places[i], up.at(share)), (places[i + 1], up.at(share))]
        parts.append(f'<path class="line outline" d="{_path([*steps, (places[-1], up.start)])}"/>')
    if chart.edges[0] < 0 < chart.edges[-1]:
        parts.append(f'<path class="axis" d="M{across.at(0.0):.1f} {up.start}V{up.end}"/>')
    return "".join(parts)


def _frame(chart: Chart, across: Axis, up: Axis) -> str:
    return frame(chart.x_label, chart.y_label, across, up)


def frame(x_label: str, y_label: str, across: Axis, up: Axis, *, grid: bool = True) -> str:
    """Grid, numbers and names of both axes."""
    bottom, middle = HEIGHT - BOTTOM, (LEFT + WIDTH - RIGHT) / 2
    parts = []
    for value in up.ticks:
        y = up.at(value)
        if grid:
            parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="number end" x="{LEFT - 7}" y="{y + 4:.1f}">{value:g}</text>')
    for value in across.ticks:
        x = across.at(value)
        parts.append(f'<path class="tick" d="M{x:.1f} {bottom}v4"/>')
        parts.append(f'<text class="number mid" x="{x:.1f}" y="{bottom + 17}">{value:g}</text>')
    parts.append(f'<path class="axis" d="M{LEFT} {bottom}H{WIDTH - RIGHT}"/>')
    parts.append(
        f'<text class="name mid" x="{middle:.0f}" y="{HEIGHT - 6}">{escape(x_label)}</text>'
    )
    parts.append(
        f'<text class="name mid" transform="translate(13 {(TOP + bottom) / 2:.0f}) rotate(-90)">'
        f"{escape(y_label)}</text>"
    )
    return "".join(parts)


def _spread(curve: Curve) -> tuple[float, ...]:
    return curve.spread or (0.0,) * len(curve.y)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def log_ticks(low: float, high: float, steps: tuple[float, ...] = ()) -> list[float]:
    """Round numbers on a logarithmic axis: enough of them for a short range or for decades."""
    if not steps and high < 2.5 * low:
        steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    elif not steps:
        steps = (1, 1.5, 2, 3, 5, 7) if high < 200 * low else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    return [tick for tick in ticks if low * 0.97 <= tick <= high * 1.03] or [low, high]


def linear_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, about so many, between two numbers.

    >>> linear_ticks(0.0, 0.9)
    [0.0, 0.2, 0.4, 0.6, 0.8]
    """
    if not high > low:
        return [low]
    rough = (high - low) / about
    decade = 10.0 ** math.floor(math.log10(rough))
    step = decade * min((1, 2, 5, 10), key=lambda s: abs(math.log(s * decade / rough)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]
