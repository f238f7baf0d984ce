"""Figures as data: what is drawn in each panel, and the line that stands for it in a terminal.

Three kinds of panels: curves on logarithmic axes, bars, and points in the plane with the conic that
separates them. Each holds numbers only; `plots` draws them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


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
class Panel:
    """Curves on logarithmic axes; `summary` is said in a terminal, by default where they end."""

    title: str
    curves: tuple[Curve, ...]
    summary: str = ""

    size: ClassVar = (3.3, 2.75)

    def line(self, x_label: str, y_label: str) -> str:
        if self.summary:
            return f"{self.title}: {self.summary}"
        ends = ", ".join(f"{c.name} {c.y[-1]:.2f}" for c in self.curves if not c.marks)
        last = max(curve.x[-1] for curve in self.curves)
        return f"{self.title}, {y_label} at {x_label} = {last:g}: {ends}"

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "curves": [curve.as_json() for curve in self.curves],
        }


@dataclass(frozen=True)
class Bars:
    """One bar a name, and beside it the published value; None where there is none."""

    title: str
    names: tuple[str, ...]
    ours: tuple[float | None, ...]
    published: tuple[float | None, ...]

    size: ClassVar = (7.5, 2.75)

    def line(self, x_label: str, y_label: str) -> str:
        found = zip(self.names, self.ours, strict=True)
        shown = ", ".join(f"{name} {value:.2f}" for name, value in found if value is not None)
        return f"{y_label}: {shown}"

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "names": list(self.names),
            "ours": list(self.ours),
            "published": list(self.published),
        }


@dataclass(frozen=True)
class Plane:
    """Points of two classes, and the polynomial of degree 2 whose sign separates them.

    Attributes
    ----------
    points : tuple of pairs
    labels : tuple of int
        1 or -1 for each point.
    support : tuple of int
        Positions of the points that are ringed.
    errors : tuple of int
        Positions of the points that are crossed.
    conic : tuple of six float
        a, b, c, d, e, f of a + b x + c y + d x^2 + e xy + f y^2. It is zero on the decision line
        and one or minus one on the margins.
    """

    title: str
    points: tuple[tuple[float, float], ...]
    labels: tuple[int, ...]
    support: tuple[int, ...]
    errors: tuple[int, ...]
    conic: tuple[float, ...]

    size: ClassVar = (3.3, 3.1)

    def line(self, x_label: str, y_label: str) -> str:
        return (
            f"{self.title}: {len(self.points)} points, {len(self.support)} support vectors, "
            f"{len(self.errors)} errors"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "points": [list(point) for point in self.points],
            "labels": list(self.labels),
            "support": list(self.support),
            "errors": list(self.errors),
            "conic": list(self.conic),
        }


@dataclass(frozen=True)
class Figure:
    """Panels of one kind that share the meaning of their axes."""

    id: str
    title: str
    x_label: str
    y_label: str
    panels: tuple[Panel, ...] | tuple[Bars, ...] | tuple[Plane, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "x_label": self.x_label,
            "y_label": self.y_label,
            "notes": list(self.notes),
            "panels": [panel.as_json() for panel in self.panels],
        }
