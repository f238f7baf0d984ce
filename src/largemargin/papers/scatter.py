"""Our numbers against the published ones, with the line on which both are equal.

One drawing for errors and one for counts. What a pair was judged to be is told by the shape of its
mark and by a colour of the page; pointing at a mark tells the numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from largemargin.papers.cells import HIGHER, LOWER, OTHER, SAME, STATES, UNJUDGED, WITHIN
from largemargin.papers.report import Report
from largemargin.report.charts import Axis

SIZE, LEFT, BOTTOM, EDGE = 400, 58, 46, 10
UNITS = {"percent": "test errors in percent", "count": "counts"}
ORDER = (OTHER, UNJUDGED, WITHIN, SAME, LOWER, HIGHER)  # what matters most is drawn last
MARKS = {
    WITHIN: "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0z",
    SAME: "M0 -4.6L4.6 0L0 4.6L-4.6 0z",
    LOWER: "M-4.6 -3.4L4.6 -3.4L0 4.6z",
    HIGHER: "M-4.6 3.4L4.6 3.4L0 -4.6z",
    OTHER: "M-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z",
    UNJUDGED: "M-3 -3L3 3M-3 3L3 -3",
}


@dataclass(frozen=True)
class Point:
    ours: float
    published: float
    state: str
    says: str


@dataclass(frozen=True)
class Scatter:
    """The pairs of one unit that can be shown on logarithmic axes."""

    unit: str
    points: tuple[Point, ...]

    @property
    def title(self) -> str:
        return f"Ours against published: {UNITS[self.unit]}"

    @property
    def states(self) -> dict[str, int]:
        """How many points are in each state that occurs."""
        found = {state: sum(p.state == state for p in self.points) for state in reversed(ORDER)}
        return {state: n for state, n in found.items() if n}

    @property
    def says(self) -> str:
        counted = ", ".join(f"{n} {STATES[state]}" for state, n in self.states.items())
        return f"{self.title}, {len(self.points)} pairs on logarithmic axes: {counted}."


def scatters(report: Report) -> list[Scatter]:
    """One for each unit that has at least two pairs."""
    found = [Scatter(unit, tuple(_points(report, unit))) for unit in UNITS]
    return [one for one in found if len(one.points) > 1]


def _points(report: Report, unit: str) -> Iterable[Point]:
    for table in report.tables:
        for group in table.groups:
            for row in group.rows:
                for column, cell in zip(table.columns, row.cells, strict=True):
                    if cell.unit != unit or cell.state is None or cell.published is None:
                        continue
                    if cell.ours and cell.ours > 0 and cell.published.value > 0:
                        where = " ".join((group.title, row.name, table.corner, column))
                        says = f"{where}: {cell.sentence}; {cell.words}"
                        yield Point(cell.ours, cell.published.value, cell.state, says)


def draw(chart: Scatter) -> str:
    """The SVG element; the style sheet of the page has the colours."""
    values = [v for point in chart.points for v in (point.ours, point.published)]
    low, high = 0.85 * min(values), 1.18 * max(values)
    across = Axis(low, high, LEFT, SIZE - EDGE, log=True)
    up = Axis(low, high, SIZE - BOTTOM, EDGE, log=True)
    parts = [_frame(across, up, chart.unit)]
    for state in ORDER:
        for point in chart.points:
            if point.state == state:
                x, y = across.at(point.published), up.at(point.ours)
                parts.append(
                    f'<path class="mark {state}" transform="translate({x:.1f} {y:.1f})" '
                    f'd="{MARKS[state]}"><title>{escape(point.says)}</title></path>'
                )
    return (
        f'<svg class="scatter" viewBox="0 0 {SIZE} {SIZE}" role="img" '
        f'aria-label="{escape(chart.says)}">{"".join(parts)}</svg>'
    )


def key(state: str) -> str:
    """The mark of a state, for a legend."""
    return (
        '<svg class="key" viewBox="-7 -7 14 14" aria-hidden="true">'
        f'<path class="mark {state}" d="{MARKS[state]}"/></svg>'
    )


def _frame(across: Axis, up: Axis, unit: str) -> str:
    parts = []
    bottom = SIZE - BOTTOM
    for value in across.ticks:
        x, y = across.at(value), up.at(value)
        shown = f"{value:,.0f}" if unit == "count" else f"{value:g}"
        parts += [
            f'<path class="grid" d="M{LEFT} {y:.1f}H{SIZE - EDGE}"/>',
            f'<path class="tick" d="M{x:.1f} {bottom}v4"/>',
            f'<text class="number end" x="{LEFT - 7}" y="{y + 4:.1f}">{shown}</text>',
            f'<text class="number mid" x="{x:.1f}" y="{bottom + 17}">{shown}</text>',
        ]
    middle = (LEFT + SIZE - EDGE) / 2
    parts += [
        f'<path class="axis" d="M{LEFT} {bottom}H{SIZE - EDGE}"/>',
        f'<path class="identity" d="M{LEFT} {bottom}L{SIZE - EDGE} {EDGE}"/>',
        f'<text class="name mid" x="{middle:.0f}" y="{SIZE - 7}">published</text>',
        f'<text class="name mid" transform="translate(12 {bottom / 2:.0f}) rotate(-90)">'
        "ours</text>",
    ]
    return "".join(parts)
