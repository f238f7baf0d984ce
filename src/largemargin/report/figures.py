"""Figures as data: what is drawn in each panel, and the line that stands for it in a terminal.

Three kinds of panels: curves, bars, and points in the plane with the function whose sign separates
them. Each holds numbers only; `plots` draws them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np


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
    """Curves; `summary` is said in a terminal, by default where they end.

    The axes are logarithmic unless `log_x` or `log_y` says otherwise.
    """

    title: str
    curves: tuple[Curve, ...]
    summary: str = ""
    log_x: bool = True
    log_y: bool = True

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


class Decision:
    """A function of points in the plane whose sign is the class, as `plot_decision` reads it."""

    classes_ = np.array([-1, 1])

    def values(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def decision_function(self, points: np.ndarray) -> np.ndarray:
        return self.values(*np.asarray(points).T)

    def predict(self, points: np.ndarray) -> np.ndarray:
        return np.where(self.decision_function(points) > 0, 1, -1)


@dataclass(frozen=True)
class Conic(Decision):
    """The polynomial a + b x + c y + d x^2 + e xy + f y^2 of `coefficients` a to f."""

    coefficients: tuple[float, ...]

    def values(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        a, b, c, d, e, f = self.coefficients
        return np.asarray(a + b * x + c * y + d * x * x + e * x * y + f * y * y)

    def as_json(self) -> dict[str, Any]:
        return {"conic": list(self.coefficients)}


@dataclass(frozen=True)
class Gaussians(Decision):
    """The sum of a_i exp(-|p - c_i|^2 / (2 width^2)) over the centres c_i, plus a constant."""

    width: float
    centres: tuple[tuple[float, float], ...]
    coefficients: tuple[float, ...]
    constant: float = 0.0

    def values(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        found = np.full(np.shape(x), self.constant)
        for (s, t), a in zip(self.centres, self.coefficients, strict=True):
            found += a * np.exp(-((x - s) ** 2 + (y - t) ** 2) / (2 * self.width**2))
        return found

    def as_json(self) -> dict[str, Any]:
        return {
            "width": self.width,
            "centres": [list(centre) for centre in self.centres],
            "coefficients": list(self.coefficients),
            "constant": self.constant,
        }


@dataclass(frozen=True)
class Plane:
    """Points of two classes, and the function whose sign separates them.

    Attributes
    ----------
    points : tuple of pairs
    labels : tuple of int
        1 or -1 for each point.
    support : tuple of int
        Positions of the points that are ringed.
    errors : tuple of int
        Positions of the points that are crossed.
    decision : Conic or Gaussians
        Zero on the decision line.
    margin : float
        Its value on the margins, and less that; they are drawn unless it is 0.
    """

    title: str
    points: tuple[tuple[float, float], ...]
    labels: tuple[int, ...]
    support: tuple[int, ...]
    errors: tuple[int, ...]
    decision: Conic | Gaussians
    margin: float = 1.0

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
            "decision": self.decision.as_json(),
            "margin": self.margin,
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
