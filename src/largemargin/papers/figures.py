"""The figures of the papers as data, and their drawings by matplotlib.

Three kinds of panels: curves, bars, and points in the plane with the function whose sign separates
them. Each holds numbers only, and says a line that stands for it in a terminal. Drawing opens no
window, has no global state, and gives equal bytes for equal numbers.
"""

from __future__ import annotations

import io
import math
import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from largemargin.report.charts import Curve, log_ticks
from largemargin.report.decision import CROSS, GREY, INK, RING, plot_decision

MARKERS = ("o", "s", "^", "D", "v", "x")
# After Okabe and Ito, darker where a line would be too light; dashes tell the lines apart as well.
COLORS = ("#0072b2", "#d55e00", "#00805d", "#a8508a", "#946300", "#555555")
DASHES = ("-", (0, (6, 2)), (0, (2, 1.6)), (0, (7, 2, 1.5, 2)), (0, (4, 2)), (0, (1, 1.5)))
BESIDE = "#8aa0bd"
# what a page has in place of a colour, so that it may be light or dark
OF_PAGE = {
    **{color: f"--f{i}" for i, color in enumerate(COLORS)},
    BESIDE: "--beside", "#ffffff": "--card", INK: "--ink", GREY: "--soft", "#999999": "--soft",
    "#e4e4e4": "--line", RING: "--accent", CROSS: "--bad",
}  # fmt: skip
SETTINGS: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "svg.fonttype": "path",  # no font of the reader is needed
    "svg.hashsalt": "largemargin",
    "axes.edgecolor": "#999999",
    "axes.linewidth": 0.7,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


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
            "marks": [place for place, curve in enumerate(self.curves) if curve.marks],
            "summary": self.summary,
            "log_x": self.log_x,
            "log_y": self.log_y,
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Panel:
        """What `as_json` gave; `marks` are the places of the curves that are single points."""
        curves = tuple(
            Curve(
                one["name"], tuple(one["x"]), tuple(one["y"]), place in found["marks"],
                tuple(one.get("spread", ())),
            )
            for place, one in enumerate(found["curves"])
        )  # fmt: skip
        return cls(found["title"], curves, found["summary"], found["log_x"], found["log_y"])


@dataclass(frozen=True)
class Bars:
    """One bar per name, and beside it the published value; None where there is none."""

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

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Bars:
        return cls(
            found["title"],
            tuple(found["names"]),
            tuple(found["ours"]),
            tuple(found["published"]),
        )


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

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Conic:
        return cls(tuple(found["conic"]))


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

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Gaussians:
        centres = tuple((x, y) for x, y in found["centres"])
        return cls(found["width"], centres, tuple(found["coefficients"]), found["constant"])


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

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Plane:
        decision = found["decision"]
        return cls(
            found["title"],
            tuple((x, y) for x, y in found["points"]),
            tuple(found["labels"]),
            tuple(found["support"]),
            tuple(found["errors"]),
            (Conic if "conic" in decision else Gaussians).from_json(decision),
            found["margin"],
        )


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

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Figure:
        return cls(
            found["id"],
            found["title"],
            found["x_label"],
            found["y_label"],
            tuple(map(_panel_from_json, found["panels"])),
            tuple(found["notes"]),
        )


def _panel_from_json(found: dict[str, Any]) -> Any:
    """A panel, whose kind is told by what it holds."""
    if "curves" in found:
        return Panel.from_json(found)
    return (Plane if "points" in found else Bars).from_json(found)


def svg(figure: Figure, columns: int | None = None) -> str:
    """The figure as an SVG element that can stand inside a page, beside others.

    So it has no XML declaration and no metadata, and its ids begin with that of the figure.
    """
    text = _render(figure, columns, "svg").decode()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{figure.id}-", text)


def of_page(picture: str) -> str:
    """What `svg` gave, with the colours of the page that it stands in."""
    for color, name in OF_PAGE.items():
        picture = re.sub(rf"(fill|stroke): {color}\b", rf"\1: var({name}, {color})", picture)
    return picture


def png(figure: Figure, columns: int | None = None) -> bytes:
    return _render(figure, columns, "png")


def _render(figure: Figure, columns: int | None, kind: str) -> bytes:
    from matplotlib import rc_context

    with rc_context(SETTINGS):
        drawn = draw(figure, columns)
        out = io.BytesIO()
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        drawn.savefig(out, format=kind, dpi=150, metadata=metadata, facecolor="white")
    return out.getvalue()


def draw(figure: Figure, columns: int | None = None) -> Any:
    """A matplotlib figure: a grid of panels, and one legend for all."""
    from matplotlib.figure import Figure as Canvas
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = min(columns or (4 if len(figure.panels) == 4 else 3), len(figure.panels))
    rows = math.ceil(len(figure.panels) / columns)
    width, height = figure.panels[0].size
    if columns == 2:
        width *= 1.5  # as wide as three, since a page shows all figures equally wide
    canvas = Canvas(
        figsize=(width * columns, height * rows + 0.5), layout=ConstrainedLayoutEngine(hspace=0.08)
    )
    grid = canvas.subplots(rows, columns, squeeze=False)
    handles: dict[str, Any] = {}
    for place, axes in enumerate(grid.flat):
        if place >= len(figure.panels):
            axes.set_visible(False)
            continue
        handles |= _draw_panel(axes, figure, place)
        if place % columns == 0:
            axes.set_ylabel(figure.y_label)
        if place + columns >= len(figure.panels):
            axes.set_xlabel(figure.x_label)
    canvas.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=len(handles),
        frameon=False,
    )
    return canvas


def _draw_panel(axes: Any, figure: Figure, place: int) -> dict[str, Any]:
    panel = figure.panels[place]
    axes.set_title(panel.title, fontsize=10, loc="left")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if isinstance(panel, Plane):
        return _draw_plane(axes, panel)
    if isinstance(panel, Bars):
        return _draw_bars(axes, panel)
    curves = [c for p in figure.panels if isinstance(p, Panel) for c in p.curves]
    names = list(dict.fromkeys(curve.name for curve in curves))
    marked = list(dict.fromkeys(curve.name for curve in curves if curve.marks))
    return _draw_curves(axes, panel, names, marked)


def _draw_curves(axes: Any, panel: Panel, names: list[str], marked: list[str]) -> dict[str, Any]:
    """`names` are those of all curves of the figure, `marked` of those that are points."""
    handles = {}
    for curve in panel.curves:
        if curve.marks:
            style = {
                "linestyle": "none",
                "marker": MARKERS[marked.index(curve.name) % len(MARKERS)],
                "ms": 4.5,
                "mfc": "none",
                "mec": INK,
                "zorder": 5,
            }
            if len(marked) > 1:
                style["mec"] = COLORS[names.index(curve.name) % len(COLORS)]
        else:
            place = names.index(curve.name) % len(COLORS)
            style = {"color": COLORS[place], "linestyle": DASHES[place], "linewidth": 1.5}
        (handles[curve.name],) = axes.plot(curve.x, curve.y, **style)
        if curve.spread:
            color = style.get("color", style.get("mec"))
            axes.errorbar(curve.x, curve.y, curve.spread, fmt="none", ecolor=color, elinewidth=0.9)
    _set_scales(axes, panel)
    axes.grid(True, color="#e4e4e4", linewidth=0.6)
    return handles


def _set_scales(axes: Any, panel: Panel) -> None:
    """Logarithmic axes with round numbers on them, or plain ones."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    plain = FuncFormatter(lambda value, _: f"{value:g}")
    if panel.log_x:
        axes.set_xscale("log")
        across = [x for curve in panel.curves for x in curve.x if x > 0]
        if across and max(across) < 100 * min(across):
            sparse = max(across) > 10 * min(across)  # else the numbers run into each other
            axes.set_xticks(log_ticks(min(across), max(across), (1, 2, 5) if sparse else ()))
    if panel.log_y:
        axes.set_yscale("log")
        values = [y for curve in panel.curves for y in curve.y if y > 0]
        if values:
            axes.set_yticks(log_ticks(min(values), max(values)))
    axes.xaxis.set_major_formatter(plain)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(plain)
    axes.minorticks_off()


def _draw_bars(axes: Any, panel: Bars) -> dict[str, Any]:
    handles = {}
    places = range(len(panel.names))
    beside = 0.2 if any(value is not None for value in panel.published) else 0.0
    for name, values, shift, color in (
        ("ours", panel.ours, -beside, COLORS[0]),
        ("published", panel.published, beside, BESIDE),
    ):
        shown = [place for place in places if values[place] is not None]
        heights = [values[place] for place in shown]
        bars = axes.bar([place + shift for place in shown], heights, 0.38, color=color)
        axes.bar_label(bars, [f"{height:.3g}" for height in heights], fontsize=8, padding=1)
        if shown:
            handles[name] = bars
    axes.set_xticks(places, panel.names)
    axes.tick_params(axis="x", length=0)
    axes.grid(True, axis="y", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    return handles


def _draw_plane(axes: Any, panel: Plane) -> dict[str, Any]:
    plot_decision(
        panel.decision, panel.points, panel.labels, axes, regions=False,
        margin=panel.margin or None, support=panel.support,
    )  # fmt: skip
    axes.set_aspect("equal", adjustable="box")
    axes.set_xticks([])
    axes.set_yticks([])
    handles, names = axes.get_legend_handles_labels()
    return dict(zip(names, handles, strict=True))
