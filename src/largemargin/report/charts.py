"""Charts as data: lines, and the histogram of a number over rows. `svg` draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from largemargin.report.figures import Curve


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
        One share a bin; bins below zero are drawn as errors.
    outline : tuple of float
        The shares of other rows, drawn as a line over the bars; empty for none.
    names : tuple of str
        What the bars at and above zero, those below it, and the outline are.
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

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "x_label": self.x_label,
            "y_label": self.y_label,
            "edges": list(self.edges),
            "bars": list(self.bars),
            "outline": list(self.outline),
            "notes": list(self.notes),
        }


Chart = LineChart | Histogram
