"""Figures drawn with matplotlib: no window, no global state, equal bytes for equal numbers."""

from __future__ import annotations

import io
import math
import re
from typing import Any

from largemargin.report.document import Figure, Panel

COLORS = ("#b8860b", "#c0504d", "#2a7f62", "#1f4e9c", "#6b4c9a", "#555555")
INK = "#222222"
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


def svg(figure: Figure, columns: int = 3) -> str:
    """The figure as an SVG element that can stand inside a page, beside others.

    So it has no XML declaration and no metadata, and its ids begin with that of the figure.
    """
    text = _render(figure, columns, "svg").decode()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{figure.id}-", text)


def png(figure: Figure, columns: int = 3) -> bytes:
    return _render(figure, columns, "png")


def _render(figure: Figure, columns: int, kind: str) -> bytes:
    from matplotlib import rc_context

    with rc_context(SETTINGS):
        drawn = draw(figure, columns)
        out = io.BytesIO()
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        drawn.savefig(out, format=kind, dpi=150, metadata=metadata, facecolor="white")
    return out.getvalue()


def draw(figure: Figure, columns: int = 3) -> Any:
    """A matplotlib figure: a grid of panels with logarithmic axes, and one legend for all."""
    from matplotlib.figure import Figure as Canvas
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = min(columns, len(figure.panels))
    rows = math.ceil(len(figure.panels) / columns)
    canvas = Canvas(
        figsize=(3.3 * columns, 2.75 * rows + 0.5), layout=ConstrainedLayoutEngine(hspace=0.08)
    )
    grid = canvas.subplots(rows, columns, squeeze=False)
    names = list(dict.fromkeys(c.name for panel in figure.panels for c in panel.curves))
    handles: dict[str, Any] = {}
    for place, axes in enumerate(grid.flat):
        if place >= len(figure.panels):
            axes.set_visible(False)
            continue
        handles |= _draw_panel(axes, figure.panels[place], names)
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


def _draw_panel(axes: Any, panel: Panel, names: list[str]) -> dict[str, Any]:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    handles = {}
    for curve in panel.curves:
        if curve.marks:
            style = {
                "linestyle": "none",
                "marker": "o",
                "ms": 4.5,
                "mfc": "none",
                "mec": INK,
                "zorder": 5,
            }
        else:
            style = {"color": COLORS[names.index(curve.name) % len(COLORS)], "linewidth": 1.3}
        (handles[curve.name],) = axes.plot(curve.x, curve.y, **style)
    axes.set_title(panel.title, fontsize=10, loc="left")
    axes.set_xscale("log")
    axes.set_yscale("log")
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_major_formatter(plain)
    axes.xaxis.set_minor_formatter(NullFormatter())
    values = [y for curve in panel.curves for y in curve.y if y > 0]
    if values:
        axes.set_yticks(_ticks(min(values), max(values)))
    axes.yaxis.set_major_formatter(plain)
    axes.minorticks_off()
    axes.grid(True, color="#e4e4e4", linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return handles


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers on a logarithmic axis: enough of them for a short range or for decades."""
    steps: tuple[float, ...] = (1, 1.5, 2, 3, 5, 7) if high < 200 * low else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    return [tick for tick in ticks if low * 0.97 <= tick <= high * 1.03] or [low, high]
