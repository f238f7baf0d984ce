"""The picture of a comparison: the error of each machine, with its interval, against its fit time.

The best place is at the bottom on the left. Time is on a logarithmic axis. Names stand beside the
marks where there is room; pointing at a mark tells its numbers. Colours are those of the page, and
peers have another shape too.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from largemargin.compare.candidates import OURS
from largemargin.compare.results import Comparison, Result, time_words
from largemargin.report.charts import Axis, linear_ticks, log_ticks

WIDTH, HEIGHT = 860, 430
LEFT, RIGHT, TOP, BOTTOM = 62, 20, 16, 48
LETTER, LINE = 6.6, 14.0  # of a name, on average
Box = tuple[float, float, float, float]


def shown(found: Comparison) -> list[Result]:
    """The machines that have both numbers, the best first."""
    return [r for r in found.ranked if r.error is not None and r.fit_seconds]


def beyond(found: Comparison, widest: float) -> list[Result]:
    """Those whose error is off the picture."""
    return [r for r in shown(found) if r.error and r.error.share > widest]


def draw(found: Comparison, widest: float) -> str:
    """The SVG element; empty if no machine has an error and a time."""
    results = [r for r in shown(found) if r.error and r.error.share <= widest]
    if not results:
        return ""
    times = [r.fit_seconds or 0.0 for r in results]
    across = Axis(0.7 * min(times), 1.4 * max(times), LEFT, WIDTH - RIGHT, log=True)
    up = Axis(0.0, 100 * widest, HEIGHT - BOTTOM, TOP)
    places = [(across.at(r.fit_seconds or 0.0), up.at(100 * _share(r))) for r in results]
    parts = [_frame(across, up)]
    parts += [_mark(r, x, y, up) for r, (x, y) in zip(results, places, strict=True)]
    parts += _names(results, places)
    best = results[0]
    says = (
        f"Test error against fit time of {len(results)} machines. The smallest error is that of "
        f"{best.title}, {100 * _share(best):.2f} %."
    )
    return (
        f'<svg class="picture" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(says)}">{"".join(parts)}</svg>'
    )


def _share(result: Result) -> float:
    assert result.error is not None
    return result.error.share


def _mark(result: Result, x: float, y: float, up: Axis) -> str:
    assert result.error is not None
    low, high = (up.at(100 * end) for end in result.error.interval)
    kind = "ours" if result.library == OURS else "peer"
    shape = "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z" if kind == "ours" else "M-4.5 -4.5h9v9h-9z"
    says = f"{result.title}: {result.error}, fit {time_words(result.fit_seconds)}"
    return (
        f'<g class="machine {kind}"><title>{escape(says)}</title>'
        f'<path class="whisker" d="M{x:.1f} {low:.1f}V{max(high, TOP):.1f}"/>'
        f'<path class="spot" transform="translate({x:.1f} {y:.1f})" d="{shape}"/></g>'
    )


def _names(results: Sequence[Result], places: Sequence[tuple[float, float]]) -> list[str]:
    """Each name beside its mark, in the first place where it hides nothing; some have no room."""
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    parts = []
    for result, (x, y) in zip(results, places, strict=True):
        width = LETTER * len(result.title)
        for anchor, dx, dy in (("", 9, 4), ("end", -9, 4), ("", 7, -8), ("end", -7, -8),
                               ("", 7, 16), ("end", -7, 16)):  # fmt: skip
            left = x + dx - (width if anchor else 0)
            box = (left, y + dy - LINE + 3, left + width, y + dy + 3)
            inside = box[0] >= LEFT and box[2] <= WIDTH - 2 and box[3] <= HEIGHT - BOTTOM
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                parts.append(
                    f'<text class="name {anchor}" x="{x + dx:.1f}" y="{y + dy:.1f}">'
                    f"{escape(result.title)}</text>"
                )
                break
    return parts


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _frame(across: Axis, up: Axis) -> str:
    bottom, parts = HEIGHT - BOTTOM, []
    for value in linear_ticks(up.low, up.high):
        y = up.at(value)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="number end" x="{LEFT - 8}" y="{y + 4:.1f}">{value:g}</text>')
    for value in log_ticks(across.low, across.high, (1, 2, 5) if across.high < 200 * across.low
                           else (1,)):  # fmt: skip
        if across.low <= value <= across.high:
            x = across.at(value)
            parts.append(f'<path class="tick" d="M{x:.1f} {bottom}v5"/>')
            parts.append(
                f'<text class="number mid" x="{x:.1f}" y="{bottom + 18}">{time_words(value)}</text>'
            )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<path class="axis" d="M{LEFT} {bottom}H{WIDTH - RIGHT}"/>')
    parts.append(f'<text class="name mid" x="{middle:.0f}" y="{HEIGHT - 8}">time of the fit</text>')
    parts.append(
        f'<text class="name mid" transform="translate(15 {bottom / 2:.0f}) rotate(-90)">'
        "test error in percent</text>"
    )
    return "".join(parts)
