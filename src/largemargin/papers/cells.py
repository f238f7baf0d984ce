"""A number of ours beside a published one, and whether the two differ by more than their noise.

The difference is divided by its standard error, z. The noise of a mean over runs is its deviation
over them, divided by the root of their number; where the paper prints no deviation, ours is taken
for it. A test error of a single run has the noise of a test set of that size. A number printed with
one decimal is rounded by up to 0.05, which is 0.1 / sqrt(12) = 0.029 of standard error. Up to two
standard errors nothing can be told apart, and beyond them ours is better or worse.

Some pairs are not of the same thing: the images of the paper were others. They stand beside each
other in grey and are not judged. Counts are compared as counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

LABELS = {
    "print": "read in a copy of the printed paper",
    "recalled": "remembered, not read again: compare loosely",
    "derived": "worked out from other published numbers",
    "run": "measured on the same data with another program",
    "text": "stated in the text of the paper, in words",
}

# units in which ours can be compared with a published number
COMPARED = ("percent", "count", "statement")
LARGE = 1e7  # counts from here on are written with a power of ten

LIMIT = 2.0  # standard errors within which two numbers cannot be told apart
CHANCE = 0.0455  # share of equal numbers that is outside of that, by chance
SAME_SHARE = 0.002  # by which the counts of two solvers of one problem may differ

WITHIN, LOWER, HIGHER, OTHER, SAME, UNJUDGED = (
    "within", "lower", "higher", "other", "same", "unjudged",
)  # fmt: skip
HOLDS, FAILS = "holds", "fails"
STATES = {
    WITHIN: "within two standard errors",
    LOWER: "better",
    HIGHER: "worse",
    SAME: "the same as another solver",
    OTHER: "other data or another method: not comparable",
    UNJUDGED: "not judged: its noise is not known",
    HOLDS: "as stated",
    FAILS: "not so",
}
"""What the pair of a cell may be, in words."""

MARKS = {LOWER: "*", HIGHER: "!", FAILS: "!"}
"""What stands behind a difference where there are no colours."""


@dataclass(frozen=True)
class Published:
    """A published number, with its deviation over so many runs if known.

    `label` is a key of `LABELS`.
    """

    value: float
    label: str
    deviation: float | None = None
    runs: int | None = None


@dataclass(frozen=True)
class Cell:
    """Our number and the published one.

    Attributes
    ----------
    deviation : float or None
        Over runs; None where there was one run only.
    runs : int or None
        How many runs ours is the mean of; None if that was not recorded.
    rows : int or None
        How many examples it is counted on.
    other : bool
        Whether the published number is of other data, or of another method, by construction.
    """

    ours: float | None = None
    deviation: float | None = None
    published: Published | None = None
    unit: str = "percent"
    runs: int | None = None
    rows: int | None = None
    other: bool = False

    @property
    def difference(self) -> float | None:
        if self.ours is None or self.published is None:
            return None
        return self.ours - self.published.value

    @property
    def z(self) -> float | None:
        """The difference in standard errors; None if they are not known."""
        noise = self._standard_error()
        if self.difference is None or noise is None or self.unit == "statement":
            return None
        return self.difference / math.hypot(noise, self._step() / math.sqrt(12))

    @property
    def state(self) -> str | None:
        """A key of `STATES`; None if there is no pair to compare."""
        if self.difference is None or self.published is None or self.unit not in COMPARED:
            return None
        if self.unit == "statement":
            return FAILS if self.difference else HOLDS
        if self.other:
            return OTHER
        if self.published.label == "run":
            allowed = SAME_SHARE * self.published.value if self.unit == "count" else 0.005
            if abs(self.difference) <= allowed:
                return SAME
            return HIGHER if self.difference > 0 else LOWER
        if self.z is None:
            return UNJUDGED
        if abs(self.z) <= LIMIT:
            return WITHIN
        return HIGHER if self.z > 0 else LOWER

    @property
    def agrees(self) -> bool | None:
        """Whether nothing tells the two apart; None if they cannot be compared."""
        if self.state in (WITHIN, SAME, HOLDS):
            return True
        return False if self.state in (LOWER, HIGHER, FAILS) else None

    @property
    def words(self) -> str:
        """The state in words; of counts, fewer or more."""
        return words_of(self.state or "", self.unit)

    @property
    def sentence(self) -> str:
        """All that is known of the pair, for those who point at it."""
        if self.published is None or self.ours is None or self.unit == "statement":
            return ""
        of = f" of {self.rows:,}" if self.rows and self.unit == "count" else ""
        said = f"{number(self.ours, self.unit)} against {published_number(self)}{of}"
        return said + (f", z = {self.z:+.1f}" if self.z is not None and not self.other else "")

    def _standard_error(self) -> float | None:
        """Of the difference, without the rounding of the print."""
        assert self.published is not None or self.difference is None
        if self.published is None or self.ours is None:
            return None
        if self.deviation is not None and self.runs:
            theirs = self.published.deviation
            theirs = self.deviation if theirs is None else theirs
            return math.hypot(
                self.deviation / math.sqrt(self.runs),
                theirs / math.sqrt(self.published.runs or self.runs),
            )
        if self.unit == "percent" and self.rows and self.deviation is None:
            share = min(max((self.ours + self.published.value) / 200, 0.0), 1.0)
            return 100 * math.sqrt(2 * share * (1 - share) / self.rows)
        return None

    def _step(self) -> float:
        """Between two numbers with as many digits as were printed."""
        assert self.published is not None
        if self.unit == "count":
            return 1.0
        return 0.1 if self.published.value == round(self.published.value, 1) else 0.01

    def as_json(self) -> dict[str, Any]:
        known = self.published
        more = {
            "published_deviation": known.deviation if known else None,
            "published_runs": known.runs if known else None,
            "runs": self.runs,
            "rows": self.rows,
            "other": self.other or None,
            "z": None if self.z is None else round(self.z, 3),
            "state": self.state,
        }
        return {
            "ours": self.ours,
            "deviation": self.deviation,
            "published": known.value if known else None,
            "label": known.label if known else None,
            "difference": self.difference,
            "agrees": self.agrees,
            **{name: value for name, value in more.items() if value is not None},
        }

    @classmethod
    def from_json(cls, found: dict[str, Any], unit: str) -> Cell:
        """What `as_json` gave, in a row of this unit; how it is judged follows from the numbers."""
        published = None
        if found["published"] is not None:
            published = Published(
                found["published"], found["label"], found.get("published_deviation"),
                found.get("published_runs"),
            )  # fmt: skip
        return cls(
            found["ours"], found["deviation"], published, unit, found.get("runs"),
            found.get("rows"), found.get("other", False),
        )  # fmt: skip


def cell_of(runs: Any, published: Published | None, unit: str) -> Cell:
    """The cell for the numbers that several runs gave."""
    values = np.asarray(runs, float)
    if not len(values):
        return Cell(published=published, unit=unit)
    deviation = float(values.std(ddof=1)) if len(values) > 1 else None
    return Cell(float(values.mean()), deviation, published, unit, len(values))


def words_of(state: str, unit: str) -> str:
    """A state in words; of counts, fewer or more."""
    if unit == "count" and state in (LOWER, HIGHER):
        return "fewer" if state == LOWER else "more"
    return STATES.get(state, "")


def short(label: str) -> str:
    """A label where there is little room: its first letter, or all of it if it is a short word."""
    return label if len(label) <= 3 else label[0]


def number(value: float | None, unit: str) -> str:
    """Our number as it is shown: errors with two digits after the point, counts whole."""
    if value is None:
        return "-"
    if unit == "percent":
        return f"{value:.2f}"
    if unit == "statement":
        return "yes" if value else "no"
    if unit == "seconds":
        return f"{value:.1f}"
    if unit == "value":
        return f"{value:g}"
    return f"{value:,.0f}" if value < LARGE else f"{value:.1e}".replace("e+0", "e").replace("+", "")


def published_number(cell: Cell) -> str:
    """The published number with as many digits as were printed."""
    if cell.published is None:
        return "-"
    value = cell.published.value
    if cell.unit == "percent":
        return f"{value:.1f}" if value == round(value, 1) else f"{value:.2f}"
    return number(value, cell.unit)


def difference(cell: Cell) -> str:
    """Ours less the published one, in points for errors; of other data there is none."""
    if cell.difference is None or cell.published is None or cell.other:
        return "-"
    if cell.unit == "statement":
        return cell.words
    if cell.unit == "percent":
        shown = f"{cell.difference:+.2f}"
        return f"{shown}, same" if cell.state == SAME else shown
    shown = f"{cell.difference:+,.0f}" if abs(cell.difference) >= 0.5 else "0"
    return f"{shown}, same" if cell.state == SAME else shown
