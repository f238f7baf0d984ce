"""Tables 2 and 3 with the slack of the paper: C times the square of the sum of all slacks.

In the dual the upper bound of the coefficients is then a free variable, delta = 2 C (sum of
slacks), which all examples share. So each machine is one of the usual kind with a C of its own, and
what the two families can differ in is which of them cross-validation chooses for each class.
"""

from __future__ import annotations

from typing import Any

from largemargin.papers.cells import Cell, Published
from largemargin.papers.cortes_vapnik import published
from largemargin.papers.cortes_vapnik.experiments import MNIST_DEGREE
from largemargin.papers.cortes_vapnik.tables import (
    CHOSEN,
    SMOOTHED,
    cells_of,
    combined_error,
    mean_support,
    search_of,
)
from largemargin.papers.report import Group, Row, Table

OWN, USUAL = "squared sum of slacks, as in the paper", "sum of slacks, as is usual"
NOTE = (
    "With this slack each machine is one of the usual kind whose C is 2 C times its own sum of "
    "slacks. The other images, not the slack, are the reason that numbers differ from the printed "
    "ones."
)


def slack_usps(
    own: dict[int, dict[str, Any]], usual: dict[int, dict[str, Any]], *, comparable: bool
) -> Table:
    """Table 2 for both kinds of slack, on smoothed images."""
    degrees = sorted(own)
    nothing = [None] * len(degrees)
    errors = [Published(published.USPS_ERROR[d], "print") for d in degrees]
    counts = [Published(published.USPS_SUPPORT[d], "print") for d in degrees]

    def group(title: str, found: dict[int, dict[str, Any]]) -> Group:
        rows = [found[d] for d in degrees]
        return Group(
            title,
            (
                Row(
                    "Test error", "percent",
                    cells_of(list(map(combined_error, rows)), errors if comparable else nothing),
                ),
                Row(
                    "SupVec, mean", "count",
                    cells_of(
                        list(map(mean_support, rows)), counts if comparable else nothing, "count"
                    ),
                ),
                Row("C", "value", tuple(Cell(row["C"], unit="value") for row in rows)),
            ),
        )  # fmt: skip

    groups = [group(OWN, own)]
    if set(degrees) <= set(usual):
        groups.append(group(USUAL, usual))
    return Table(
        "table2-slack",
        f"Table 2 with the paper's slack: USPS, {SMOOTHED}",
        "degree",
        tuple(map(str, degrees)),
        tuple(groups),
        (CHOSEN, NOTE),
    )


def slack_mnist(own: dict[str, Any], usual: dict[str, Any] | None, *, comparable: bool) -> Table:
    """Table 3 for both kinds of slack."""
    known = {
        "SupVec": published.printed(published.NIST_SUPPORT),
        "Train errors": published.printed(published.NIST_TRAIN_ERRORS),
        "Test errors": published.printed(published.NIST_TEST_ERRORS),
    }
    nothing = [None] * (len(own["classes"]) + 1)

    def group(title: str, results: dict[str, Any]) -> Group:
        train, test = results["train"], results["test"]
        ours = {
            "SupVec": ([*results["n_support"], results["n_distinct"]], train["n"]),
            "Train errors": ([*train["wrong"], train["combined"]], train["n"]),
            "Test errors": ([*test["wrong"], test["combined"]], test["n"]),
        }
        rows = [
            Row(
                name, "count",
                cells_of(counts, [*known[name], None] if comparable else nothing, "count", n),
            )
            for name, (counts, n) in ours.items()
        ]  # fmt: skip
        combined = [*nothing[:-1], published.NIST_COMBINED if comparable else None]
        errors = [100 * wrong / test["n"] for wrong in ours["Test errors"][0]]
        return Group(
            f"{title}, C = {results['C']:g}",
            (*rows, Row("Test error", "percent", cells_of(errors, combined))),
        )

    return Table(
        "table3-slack",
        f"Table 3 with the paper's slack: MNIST, degree {MNIST_DEGREE}",
        "class",
        (*map(str, own["classes"]), "all"),
        (group(OWN, own), *([group(USUAL, usual)] if usual else [])),
        (CHOSEN + f" Held-out errors there: {search_of(own)}.", NOTE),
    )
