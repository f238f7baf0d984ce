"""What the pictures have in common: colours, points, lines, and SVG that suits both schemes.

A picture is part of its page, so it takes the page's own colours: ink, paper and grey are written
as variables of the theme. The two classes are blue and orange of middle brightness, which are told
apart on white and on black, and by those who do not see red or green.
"""

import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

IMAGES = Path(__file__).parents[1] / "images"

INK, PAPER, GREY = "#010203", "#fdfcfb", "#7a7b7c"
ORANGE, BLUE, GREEN = "#d9822b", "#3f86cf", "#2a9d7f"
CLASSES = (ORANGE, BLUE)
VARIABLES = {
    INK: "currentColor",
    PAPER: "var(--color-background-primary, white)",
    GREY: "var(--color-foreground-secondary, #5a5c63)",
}
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "largemargin",
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "text.color": INK,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


def draw(name, drawing, width=7.2, height=3.2):
    """Write what `drawing(figure)` draws as docs/images/NAME.svg."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        drawing(figure)
        path = IMAGES / f"{name}.svg"
        figure.savefig(path, format="svg", metadata={"Date": None})
    path.write_text(themed(path.read_text()))


def themed(text):
    """The SVG without its head, in the page's font and colours."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.S)
    text = re.sub(r"<[^>]*>", lambda tag: _shorter(tag[0]), text)
    text = re.sub(r"(font: [\d.]+px )[^;\"]+", r"\1var(--font-stack, sans-serif)", text)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text)
    for color, variable in VARIABLES.items():
        text = text.replace(color, variable)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _shorter(tag):
    """Two digits after the point are enough for coordinates."""
    return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", tag)


def bare(ax, title=""):
    """A plane without numbers."""
    ax.set(xticks=[], yticks=[], title=title)
    ax.spines[:].set_visible(False)


def points(ax, X, y, size=26, **style):
    for label, color in enumerate(CLASSES):
        part = X[y == label]
        ax.scatter(*part.T, s=size, c=color, edgecolors=PAPER, linewidths=0.7, zorder=3, **style)


def rings(ax, X, size=95):
    ax.scatter(*np.asarray(X).T, s=size, c="none", edgecolors=INK, linewidths=1.3, zorder=4)


def window(ax, X, pad=0.12):
    """Limits around the points."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = pad * (high - low)
    ax.set(xlim=(low[0] - room[0], high[0] + room[0]), ylim=(low[1] - room[1], high[1] + room[1]))


def decision(ax, score, margin=1.0, regions=True, steps=110):
    """Regions, the decision line and, unless `margin` is None, the margins of score(rows)."""
    across, up = np.meshgrid(np.linspace(*ax.get_xlim(), steps), np.linspace(*ax.get_ylim(), steps))
    values = score(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    if regions:
        bounds = [values.min() - 1, 0, values.max() + 1]
        ax.contourf(across, up, values, bounds, colors=CLASSES, alpha=0.14, zorder=0)
    ax.contour(across, up, values, [0], colors=[INK], linewidths=1.8, zorder=2)
    if margin is not None:
        ax.contour(
            across, up, values, [-margin, margin], colors=[GREY], linewidths=1.1,
            linestyles="dashed", zorder=2,
        )  # fmt: skip


def note(ax, text, xy, xytext, **style):
    """Words with a thin line to what they are about."""
    arrow = {"arrowstyle": "-", "color": GREY, "linewidth": 0.9, "shrinkB": 3}
    ax.annotate(text, xy, xytext, arrowprops=arrow, zorder=6, **{"ha": "center", **style})
