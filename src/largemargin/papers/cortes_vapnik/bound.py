"""The bound of the paper against the error.

E[Pr(error)] <= E[support vectors] / (training vectors): an expectation over training sets. For one
training set both sides are estimates, so the inequality may fail by chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.papers.cortes_vapnik import published
from largemargin.papers.cortes_vapnik.machines import MNIST_DEGREE
from largemargin.papers.cortes_vapnik.tables import NOT_SMOOTHED, SMOOTHED, Machines, cells_of
from largemargin.report.comparison import Cell, Group, Row, Table
from largemargin.report.figures import Curve, Figure, Panel

NOTE = (
    "The bound is the number of support vectors of a machine over that of its training images; "
    "the error is that of the single machine, class against rest, on the test set. Both in percent."
)


def bounds(results: dict[str, Any]) -> np.ndarray:
    """Support vectors over training images in percent, one number a class."""
    return 100 * np.array(results["n_support"]) / results["train"]["n"]


def errors(results: dict[str, Any]) -> np.ndarray:
    """Test error of each class against the rest in percent."""
    return 100 * np.array(results["test"]["wrong"]) / results["test"]["n"]


def bound_usps(machines: Machines, *, comparable: bool) -> Table:
    """For each degree: mean and largest bound and error of the ten machines."""
    degrees = sorted(machines[True])

    def group(title: str, found: dict[int, dict[str, Any]], compared: bool) -> Group:
        known = [published.usps_bound(d) if compared else None for d in degrees]
        nothing = [None] * len(degrees)
        bound, error = ([read(found[d]) for d in degrees] for read in (bounds, errors))
        exceeded = (np.sum(e > b) for b, e in zip(bound, error, strict=True))

        def percents(name: str, values: list[np.ndarray], reduce: Any, beside: Any) -> Row:
            return Row(name, "percent", cells_of([float(reduce(v)) for v in values], beside))

        return Group(
            title,
            (
                percents("Bound, mean", bound, np.mean, known),
                percents("Error, mean", error, np.mean, nothing),
                percents("Bound, largest", bound, np.max, nothing),
                percents("Error, largest", error, np.max, nothing),
                Row("Exceeded", "count", tuple(Cell(float(n), unit="count") for n in exceeded)),
            ),
        )

    return Table(
        "bound-usps",
        "The support vector bound on USPS, by degree",
        "degree",
        tuple(map(str, degrees)),
        (
            group(SMOOTHED, machines[True], comparable),
            group(NOT_SMOOTHED, machines[False], False),
        ),
        (NOTE, "Exceeded: in how many of the ten machines the error is larger than the bound."),
    )


def bound_mnist(results: dict[str, Any], *, comparable: bool) -> Table:
    """For each class the bound and the error of its machine."""
    nothing = [None] * len(results["classes"])
    known = published.nist_bounds() if comparable else nothing
    known_errors = published.nist_test_errors() if comparable else nothing
    return Table(
        "bound-mnist",
        f"The support vector bound on MNIST, degree {MNIST_DEGREE}, by class",
        "class",
        tuple(map(str, results["classes"])),
        (
            Group(
                "each machine",
                (
                    Row("Bound", "percent", cells_of(bounds(results).tolist(), known)),
                    Row("Test error", "percent", cells_of(errors(results).tolist(), known_errors)),
                ),
            ),
        ),
        (NOTE,),
    )


def bound_figure(machines: Machines, mnist: dict[str, Any]) -> Figure:
    """A point for each single machine: its error across, its bound up."""
    panels = (
        _panel(f"USPS, {NOT_SMOOTHED}", list(machines[False].values())),
        _panel(f"USPS, {SMOOTHED}", list(machines[True].values())),
        _panel(f"MNIST, degree {MNIST_DEGREE}", [mnist]),
    )
    return Figure(
        "bound",
        "The support vector bound against the error",
        "test error in percent",
        "support vectors, percent of training set",
        panels,
        ("One circle for each machine, class against rest. " + NOTE,),
    )


def _panel(title: str, found: list[dict[str, Any]]) -> Panel:
    x = np.concatenate([errors(results) for results in found])
    y = np.concatenate([bounds(results) for results in found])
    both = np.concatenate([x[x > 0], y])  # the axes are logarithmic
    ends = (float(both.min()), float(both.max()))
    below = int(np.sum(x > y))
    return Panel(
        title,
        (
            Curve("bound = error", ends, ends),
            Curve("one machine", tuple(x.tolist()), tuple(y.tolist()), marks=True),
        ),
        f"the error exceeds the bound in {below} of {len(x)} machines",
    )
