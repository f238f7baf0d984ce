"""What the paper's text says of its plots, and whether ours say so."""

from __future__ import annotations

from collections.abc import Callable

from largemargin.papers.budget import published
from largemargin.papers.budget.experiments import TASKS
from largemargin.papers.budget.tables import NEAR, POINTS
from largemargin.papers.cells import HOLDS, Cell
from largemargin.papers.report import Report
from largemargin.papers.verdicts import (
    NOT_REPRODUCED,
    SAME_CONCLUSIONS,
    Claim,
    Judgement,
    error_noise,
    held,
)

MAIN = ("fixed-beats-machine", "variable-near-machine", "online-chooses")
"""What the paper is about; the others are remarks on the plots."""


def judge(report: Report) -> Judgement:
    claims = tuple(_claims(report))
    main = [cell for name in MAIN for cell in _cells(report, name)]
    same = all(cell.state == HOLDS for cell in main)
    return Judgement(
        SAME_CONCLUSIONS if same else NOT_REPRODUCED,
        "The paper shows plots and prints no numbers, so that what its text says of them is "
        f"checked: {sum(c.state == HOLDS for c in main)} of {len(main)} statements of its main "
        f"claims hold, by data set, and the verdict takes all of them. In all, {held(claims)}: a "
        "claim holds only if it does so on every data set of which the text says it. The data are "
        "the paper's; the cache sizes and the scale of the inputs are ours.",
        claims,
        tuple(_misses(report)),
        "Same main conclusions, in settings of ours" if same else "",
    )


def _cells(report: Report, name: str) -> list[Cell]:
    found = report.find("statements", "by", published.STATEMENTS[name].title)
    return [cell for cell in found.values() if cell.state is not None]


def _claims(report: Report) -> list[Claim]:
    return [
        Claim(
            SENTENCES[name],
            "; ".join(
                f"{TASKS[data].title}: {say(report, data)}"
                for data in published.STATEMENTS[name].about
            )
            + CUT_OFFS.get(name, ""),
            all(cell.state == HOLDS for cell in _cells(report, name)),
        )
        for name, say in NUMBERS.items()
    ]


def _row(report: Report, data: str, name: str) -> dict[str, float]:
    group = "after" if name == "Test error" else "on"
    cells = report.find(data, group, name)
    return {column: cell.ours for column, cell in cells.items() if cell.ours is not None}


def _fixed(row: dict[str, float]) -> dict[str, float]:
    return {c: v for c, v in row.items() if c not in ("variable", "plain", "machine")}


def _best_fixed(report: Report, data: str) -> str:
    errors = _row(report, data, "Test error")
    fixed = _fixed(errors)
    size = min(fixed, key=lambda column: fixed[column])
    noise = error_noise(errors["machine"], published.DATA_SIZES[data][1])
    return (
        f"{fixed[size]:.2f} % with {size} stored, the machine {errors['machine']:.2f} % "
        f"(standard error {noise:.2f})"
    )


def _variable(report: Report, data: str) -> str:
    errors, stored = _row(report, data, "Test error"), _row(report, data, "Stored")
    return (
        f"{errors['variable']:.2f} % with {stored['variable']:,.0f}, the machine "
        f"{errors['machine']:.2f} % with {stored['machine']:,.0f}"
    )


def _plain(report: Report, data: str) -> str:
    errors, stored = _row(report, data, "Test error"), _row(report, data, "Stored")
    return (
        f"{errors['plain']:.2f} % with {stored['plain']:,.0f}, the machine "
        f"{errors['machine']:.2f} % with {stored['machine']:,.0f}"
    )


def _online(report: Report, data: str) -> str:
    online, errors = _fixed(_row(report, data, "Online errors")), _row(report, data, "Test error")
    chosen = min(online, key=lambda column: online[column])
    return f"{chosen} chosen, {errors[chosen]:.2f} %, at best {min(_fixed(errors).values()):.2f} %"


def _inserted(report: Report, data: str) -> str:
    inserted, stored = _row(report, data, "Inserted"), _row(report, data, "Stored")
    fixed = _fixed(stored)
    near = min(fixed, key=lambda column: abs(fixed[column] - stored["variable"]))
    return f"{inserted['variable']:,.0f}, against {inserted[near]:,.0f} of the cache of {near}"


NUMBERS: dict[str, Callable[[Report, str], str]] = {
    "fixed-beats-machine": _best_fixed,
    "variable-near-machine": _variable,
    "online-chooses": _online,
    "plain-worst": _plain,
    "variable-inserts-more": _inserted,
}
"""What decides each statement on a data set, in words."""

SENTENCES = {
    "fixed-beats-machine": "With some fixed cache size the test error is smaller than that of the "
    "support vector machine.",
    "variable-near-machine": "The variable cache comes near the support vector machine, in error "
    "and in size.",
    "online-chooses": "The number of online errors chooses a good cache size.",
    "plain-worst": "MIRA that removes nothing has the largest error and stores the most examples.",
    "variable-inserts-more": "The variable cache inserts more examples than a fixed one.",
}
"""The statements as sentences."""

CUT_OFFS = {
    "variable-near-machine": f"; up to {100 * (NEAR - 1):.0f} % more counts as near",
    "online-chooses": f"; up to {POINTS:g} points more counts as good",
}
"""What counts as what a statement says, where the text has no number."""


def _misses(report: Report) -> list[str]:
    return [
        "Plain MIRA has the largest error on every data set, as the text says. On MNIST and USPS "
        "it does not store the most examples, because our machine stores a little more than it "
        f"(MNIST: {_plain(report, 'mnist')}).",
        "Whether the variable cache inserts more than a fixed one depends on the sizes that are "
        "compared: a fixed cache that is smaller than the variable one removes, and so inserts, "
        "more. The sizes of the paper are not at hand.",
    ]
