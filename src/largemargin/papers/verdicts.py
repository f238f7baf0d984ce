"""What a report comes to: one verdict, the paper's claims as a checklist, and the real misses.

All of it follows from the tables and figures of the report, so that it can be said of an earlier
run as well. Each paper has a module `claims` that knows what the paper concludes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from largemargin.papers import PAPERS
from largemargin.papers.report import Report

REPRODUCED, SAME_CONCLUSIONS, NOT_REPRODUCED, REDUCED = "reproduced", "same", "not", "reduced"
TITLES = {
    REPRODUCED: "Reproduced",
    SAME_CONCLUSIONS: "Same conclusions on other data",
    NOT_REPRODUCED: "Not reproduced",
    REDUCED: "No verdict",
}


@dataclass(frozen=True)
class Claim:
    """Something that the paper concludes, and the number here that decides it.

    `holds` is None where the noise is too large to say.
    """

    text: str
    number: str
    holds: bool | None

    @property
    def words(self) -> str:
        if self.holds is None:
            return "not decided"
        return "holds" if self.holds else "does not hold"

    def as_json(self) -> dict[str, Any]:
        return {"claim": self.text, "number": self.number, "holds": self.holds}


@dataclass(frozen=True)
class Judgement:
    """The verdict, a key of `TITLES`, with a sentence; the claims; and a sentence for each miss."""

    kind: str
    sentence: str
    claims: tuple[Claim, ...] = ()
    misses: tuple[str, ...] = ()
    title: str = field(default="")

    @property
    def heading(self) -> str:
        return self.title or TITLES[self.kind]

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": self.kind,
            "title": self.heading,
            "sentence": self.sentence,
            "claims": [claim.as_json() for claim in self.claims],
            "misses": list(self.misses),
        }


def judge(report: Report) -> Judgement:
    """What the module of the paper says; a run that left something out has no verdict."""
    paper = next((name for name in PAPERS if report.slug.startswith(name)), None)
    if paper is None or report.reduced or report.slug != paper:
        return Judgement(REDUCED, "This run left something out, so it decides nothing.")
    module = import_module(f"largemargin.papers.{paper.replace('-', '_')}.claims")
    found: Judgement = module.judge(report)
    return found


def error_noise(error: float, n_test: int) -> float:
    """The standard error of a test error, both in percent, from so many examples."""
    share = error / 100
    return 100 * math.sqrt(share * (1 - share) / n_test)


def held(claims: tuple[Claim, ...]) -> str:
    """How many of the claims hold, in words."""
    yes = sum(claim.holds is True for claim in claims)
    no = sum(claim.holds is False for claim in claims)
    said = f"{yes} of {len(claims)} of its claims hold here"
    if no:
        said += f", {no} {'does' if no == 1 else 'do'} not"
    open_ = len(claims) - yes - no
    return said + (f", and {open_} cannot be decided" if open_ else "")
