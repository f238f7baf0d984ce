"""Time against the number of rows, as a picture for light and for dark pages: plain SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 62, 178, 34, 46
# Colours that are told apart with any sight, and names at the ends of the lines.
LOOKS = {
    "light": {"text": "#24292f", "grid": "#d0d7de", "lines": ("#0b62c4", "#c2410c", "#6b7280",
                                                             "#7c3aed")},
    "dark": {"text": "#e6edf3", "grid": "#3d444d", "lines": ("#58a6ff", "#f0883e", "#9aa4b2",
                                                            "#bc8cff")},
}  # fmt: skip

Curves = dict[str, list[tuple[float, float]]]  # by name: rows and seconds


@dataclass(frozen=True)
class Axes:
    """Logarithms of both axes to points of the picture."""

    xs: tuple[float, float]
    ys: tuple[float, float]

    def point(self, x: float, y: float) -> tuple[float, float]:
        across = share(x, *self.xs) * (WIDTH - LEFT - RIGHT)
        down = (1 - share(y, *self.ys)) * (HEIGHT - TOP - BOTTOM)
        return round(LEFT + across, 1), round(TOP + down, 1)


def share(value: float, low: float, high: float) -> float:
    return math.log(value / low) / math.log(high / low)


def drawn(curves: Curves, title: str, scheme: str) -> str:
    """The picture; the first curve is ours, and thicker."""
    look = LOOKS[scheme]
    xs = sorted({x for curve in curves.values() for x, _ in curve})
    ys = [y for curve in curves.values() for _, y in curve]
    low, high = (10 ** f(math.log10(y)) for f, y in ((math.floor, min(ys)), (math.ceil, max(ys))))
    axes = Axes((xs[0], xs[-1]), (low, max(high, 10 * low)))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{title}" font-family="system-ui, sans-serif" font-size="13" '
        f'fill="{look["text"]}">',
        f"<title>{title}</title>",
        f'<text x="{LEFT}" y="18" font-weight="600">{title}</text>',
        *grid(axes, xs, str(look["grid"])),
        *lines(axes, curves, look["lines"]),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def grid(axes: Axes, xs: list[float], colour: str) -> list[str]:
    """A line for each power of ten of seconds, and the numbers of rows below."""
    found, seconds = [], axes.ys[0]
    while seconds <= axes.ys[1] * 1.001:
        _, y = axes.point(xs[0], seconds)
        found.append(f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="{colour}"/>')
        found.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{seconds:g} s</text>')
        seconds *= 10
    for rows in xs:
        x, _ = axes.point(rows, axes.ys[0])
        place = HEIGHT - BOTTOM + 18
        found.append(f'<text x="{x}" y="{place}" text-anchor="middle">{rows:,.0f}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    found.append(f'<text x="{middle:g}" y="{HEIGHT - 8}" text-anchor="middle">training rows</text>')
    return found


def lines(axes: Axes, curves: Curves, colours: object) -> list[str]:
    found = []
    ends = spread([axes.point(*curve[-1])[1] for curve in curves.values()])
    for k, (name, curve) in enumerate(curves.items()):
        colour = colours[k % len(colours)]  # type: ignore[index, arg-type]
        points = [axes.point(*pair) for pair in curve]
        joined = " ".join(f"{x},{y}" for x, y in points)
        thick = 3 if k == 0 else 1.8
        found.append(
            f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="{thick}"/>'
        )
        for (x, y), (rows, seconds) in zip(points, curve, strict=True):
            told = f"{name}, {rows:,.0f} rows: {seconds:.3g} s"
            found.append(
                f'<circle cx="{x}" cy="{y}" r="{thick + 1:g}" fill="{colour}">'
                f"<title>{told}</title></circle>"
            )
        bold = ' font-weight="700"' if k == 0 else ""
        label = f"{name}, {curve[-1][1]:.3g} s"
        x = points[-1][0] + 10
        found.append(f'<text x="{x}" y="{ends[k] + 4}" fill="{colour}"{bold}>{label}</text>')
    return found


def spread(heights: list[float], apart: float = 17.0) -> list[float]:
    """Heights of labels near to where they belong, and not on each other."""
    order = sorted(range(len(heights)), key=lambda k: heights[k])
    placed, last = list(heights), -math.inf
    for k in order:
        last = placed[k] = round(max(heights[k], last + apart), 1)
    return placed
