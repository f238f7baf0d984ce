"""Which classes are taken for which: the matrix, what it says of each class, the commonest errors.

Up to a dozen classes are a table of numbers. More are a drawing that fits the page, each cell of
which says its numbers when the mouse is over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from largemargin.report.fit.examples import Album, Example
from largemargin.report.fit.outcome import Outcome

LARGEST_TABLE = 12  # classes of a matrix that is a table
LARGEST_DRAWING = 60  # classes of a matrix that is drawn
WRITTEN_IN = 30  # classes of a drawing whose cells hold numbers
PAIRS = 10  # commonest errors
PICTURES = 4  # of each of them
LONGEST_LABEL = 9  # characters of a label beside the drawing
SIDE = 1000  # of the drawing, in its own units


@dataclass(frozen=True)
class Pair:
    """Rows of one class that are taken for another, with pictures of some."""

    true: str
    taken: str
    count: int
    share: float
    pictures: tuple[Example, ...] = ()


@dataclass(frozen=True)
class Confusion:
    """Counts, one row per true class and one column per predicted class."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    commonest: tuple[Pair, ...] = ()

    @property
    def most(self) -> int:
        """The largest count of errors."""
        n = range(len(self.labels))
        return max((self.counts[i][j] for i in n for j in n if i != j), default=0)

    @property
    def is_table(self) -> bool:
        return len(self.labels) <= LARGEST_TABLE

    @property
    def is_drawn(self) -> bool:
        return LARGEST_TABLE < len(self.labels) <= LARGEST_DRAWING

    @property
    def by_class(self) -> list[tuple[str, int, float | None, float | None]]:
        """Label, rows, recall and precision of each class."""
        found = [sum(column) for column in zip(*self.counts, strict=True)]
        return [
            (
                label,
                sum(row),
                row[k] / sum(row) if sum(row) else None,
                row[k] / found[k] if found[k] else None,
            )
            for k, (label, row) in enumerate(zip(self.labels, self.counts, strict=True))
        ]

    def rows(self) -> list[tuple[str, list[Any]]]:
        """The label of each row of the table, with its cells."""
        return [
            (label, [self._cell(i, j) for j in range(len(self.labels))])
            for i, label in enumerate(self.labels)
        ]

    def told(self, i: int, j: int) -> str:
        """What a cell says."""
        count, rows = self.counts[i][j], sum(self.counts[i])
        return (
            f"true class {self.labels[i]}, predicted class {self.labels[j]}: {count:,} of "
            f"{rows:,} rows ({100 * count / max(rows, 1):.1f} %)"
        )

    def _cell(self, i: int, j: int) -> Any:
        from markupsafe import Markup

        count = self.counts[i][j]
        if not count:
            return Markup('<td class="none">·</td>')
        rate = 100 * count / sum(self.counts[i])
        return Markup(
            f'<td class="{"hit" if i == j else "heat"}" style="--a: {self._depth(i, j):.2f}" '
            f'title="{escape(self.told(i, j))}"><span class="count">{count:,}</span>'
            f'<span class="rate">{rate:.1f}</span></td>'
        )

    def _depth(self, i: int, j: int) -> float:
        """How much colour a cell has, from 0 to 1: by its share of the class, or of the errors."""
        whole = sum(self.counts[i]) if i == j else self.most
        return 0.2 + 0.8 * self.counts[i][j] / max(whole, 1)

    def drawing(self) -> Any:
        """The matrix of many classes, in SVG."""
        from markupsafe import Markup

        n, longest = len(self.labels), max(map(len, self.labels))
        room = 24 + 12 * min(longest, LONGEST_LABEL)
        step = (SIDE - room) / n
        parts = [
            f'<text class="label end" x="{room - 8}" y="{room + (k + 0.5) * step + 6:.1f}">{name}'
            f'</text><text class="label {"mid" if longest < 3 else ""}" transform="translate('
            f"{room + (k + 0.5) * step + (0 if longest < 3 else 6):.1f} {room - 8})"
            f'{"" if longest < 3 else " rotate(-90)"}">{name}</text>'
            for k, name in enumerate(escape(label[:LONGEST_LABEL]) for label in self.labels)
        ]
        for i, row in enumerate(self.counts):
            for j in (j for j, count in enumerate(row) if count):
                parts.append(self._drawn_cell(i, j, room, step))
        says = f"Matrix of {n} classes. Rows: true class. Columns: predicted class."
        return Markup(
            f'<svg class="matrix" viewBox="0 0 {SIDE} {SIDE}" role="img" aria-label="{says}">'
            f'<rect class="ground" x="{room}" y="{room}" width="{SIDE - room}" '
            f'height="{SIDE - room}"/>{"".join(parts)}</svg>'
        )

    def _drawn_cell(self, i: int, j: int, room: int, step: float) -> str:
        x, y, count = room + j * step, room + i * step, self.counts[i][j]
        kind = "hit" if i == j else "heat"
        written = ""
        if len(self.labels) <= WRITTEN_IN:
            place = f'x="{x + step / 2:.1f}" y="{y + step / 2 + 4:.1f}"'
            rate = 100 * count / sum(self.counts[i])
            written = (
                f'<text class="mid count" {place}>{count}</text>'
                f'<text class="mid rate" {place}>{rate:.0f}</text>'
            )
        return (
            f'<g><title>{escape(self.told(i, j))}</title><rect class="{kind}" '
            f'style="--a: {self._depth(i, j):.2f}" x="{x:.1f}" y="{y:.1f}" '
            f'width="{step:.1f}" height="{step:.1f}"/>{written}</g>'
        )


def confusion_of(
    outcome: Outcome, counts: np.ndarray, labels: list[str], album: Album
) -> Confusion:
    """The matrix, with the commonest errors; where rows are pictures, with the clearest of each."""
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS].tolist()
    pairs = []
    for i, j in (divmod(place, len(labels)) for place in order):
        if wrong[i, j]:
            shown = _pictures(outcome, album, i, j) if album.pictures else ()
            share = wrong[i, j] / counts[i].sum()
            pairs.append(Pair(labels[i], labels[j], int(wrong[i, j]), float(share), shown))
    return Confusion(tuple(labels), tuple(tuple(row) for row in counts.tolist()), tuple(pairs))


def _pictures(outcome: Outcome, album: Album, i: int, j: int) -> tuple[Example, ...]:
    mine = np.flatnonzero((outcome.rows.truth == i) & (outcome.predicted == j))
    chosen = mine[np.argsort(outcome.margins[mine], kind="stable")][:PICTURES]
    return album.show(outcome.rows.X[chosen], [("", "", f"row {k}") for k in chosen.tolist()])
