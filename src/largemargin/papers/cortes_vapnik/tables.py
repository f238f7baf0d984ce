"""Tables 2 and 3 and the benchmark, from the records of finished experiments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb
from typing import Any

import numpy as np

from largemargin.papers.cortes_vapnik import published
from largemargin.papers.cortes_vapnik.benchmark import CLASSIFIERS
from largemargin.papers.cortes_vapnik.machines import MNIST_DEGREE, SMOOTHING
from largemargin.report.comparison import LABELS, Cell, Group, Published, Row, Table
from largemargin.report.figures import Bars, Figure

SMOOTHED = f"smoothed, deviation {SMOOTHING:g}"
NOT_SMOOTHED = "not smoothed"
LE_NETS = ("LeNet1", "LeNet4")
CHOSEN = "C was chosen by cross-validation on the training set."

Machines = dict[bool, dict[int, dict[str, Any]]]
"""Results on USPS: smoothed or not, then by degree."""


def table2(machines: Machines, n_features: int, *, comparable: bool) -> Table:
    """USPS: test error, support vectors and dimension for each degree, smoothed and not."""
    degrees = sorted(machines[True])

    def group(title: str, found: dict[int, dict[str, Any]], compared: bool) -> Group:
        def row(name: str, unit: str, read: Callable, known: Callable | None = None) -> Row:
            cells = (
                Cell(read(found[d]), None, known(d) if known and compared else None, unit)
                for d in degrees
            )
            return Row(name, unit, tuple(cells))

        return Group(
            title,
            (
                row("Test error", "percent", combined_error, _printed(published.USPS_ERROR)),
                row("SupVec, mean", "count", mean_support, _printed(published.USPS_SUPPORT)),
                row("C", "value", lambda results: results["C"]),
            ),
        )

    dimensions = tuple(Cell(comb(n_features + d, d), unit="count") for d in degrees)
    others = ", ".join(f"{name} {error:g}" for name, error in published.USPS_OTHERS.items())
    return Table(
        "table2",
        "Table 2: USPS, test error in percent and mean support vectors a class",
        "degree",
        tuple(map(str, degrees)),
        (
            group(SMOOTHED, machines[True], comparable),
            group(NOT_SMOOTHED, machines[False], False),
            Group("feature space", (Row("Dimension", "count", dimensions),)),
        ),
        (
            CHOSEN,
            *_shown_if(
                comparable,
                "The printed numbers are about images that were centred and de-slanted as well as "
                "smoothed, which the public files are not.",
                f"Others on USPS, test error in percent as printed: {others}.",
                f"Dimensions are counted, C({n_features} + d, d); the printed ones are too large "
                "from d = 4 on.",
            ),
        ),
    )


def table3(results: dict[str, Any], *, comparable: bool) -> Table:
    """MNIST with degree 4: support vectors and errors of each class, and all together."""
    train, test = results["train"], results["test"]
    known = {
        "SupVec": published.printed(published.NIST_SUPPORT),
        "Train errors": published.printed(published.NIST_TRAIN_ERRORS),
        "Test errors": published.printed(published.NIST_TEST_ERRORS),
    }
    ours = {
        "SupVec": [*results["n_support"], results["n_distinct"]],
        "Train errors": [*train["wrong"], train["combined"]],
        "Test errors": [*test["wrong"], test["combined"]],
    }
    nothing: list[Published | None] = [None] * (len(results["classes"]) + 1)

    def counts(name: str) -> Row:
        beside = [*known[name], None] if comparable else nothing
        return Row(name, "count", cells_of(ours[name], beside, "count"))

    errors = [100 * wrong / test["n"] for wrong in ours["Test errors"]]
    combined = [*nothing[:-1], published.NIST_COMBINED if comparable else None]
    groups = [
        Group(
            f"C = {results['C']:g}",
            (*map(counts, known), Row("Test error", "percent", cells_of(errors, combined))),
        )
    ]
    if comparable:
        groups.append(_other_solver(results, ours["SupVec"], errors))
    return Table(
        "table3",
        f"Table 3: MNIST, degree {MNIST_DEGREE}, each class against the rest and all together",
        "class",
        (*map(str, results["classes"]), "all"),
        tuple(groups),
        (
            CHOSEN + f" Held-out errors there: {search_of(results)}.",
            "All: the largest output of the ten decides; its support vectors are the distinct ones "
            "of the ten. Test error is in percent.",
            *_shown_if(
                comparable,
                "The images of the paper were prepared differently from the public ones, so its "
                "numbers are not an exact target.",
                "Another solver: what a well-known one gives for the same machines on the public "
                f"images with C = {published.OTHER_SOLVER_C:g}, the best C for it"
                + ("." if same_C(results) else "; ours stand beside that only at the same C."),
            ),
        ),
    )


def _other_solver(results: dict[str, Any], support: list[int], errors: list[float]) -> Group:
    """The same machines from another program, beside ours if C is the same."""
    same = same_C(results)
    vectors = [Published(value, "run") for value in published.OTHER_SOLVER_SUPPORT]
    n = len(vectors)
    return Group(
        "another solver",
        (
            Row(
                "SupVec",
                "count",
                cells_of([*support[:n], None] if same else [None] * (n + 1), [*vectors, None],
                         "count"),
            ),
            Row(
                "Test error",
                "percent",
                cells_of(
                    [*[None] * n, errors[-1] if same else None],
                    [*[None] * n, published.OTHER_SOLVER_COMBINED],
                ),
            ),
        ),
    )  # fmt: skip


def benchmark(
    machine: dict[str, Any],
    seconds: dict[str, float],
    others: dict[str, dict[str, Any]],
    *,
    comparable: bool,
) -> tuple[Table, Figure]:
    """Real classifiers on the same images: error and time, as a table and as bars.

    `machine` and `seconds` are those of our machine; `others` holds whole records.
    """
    errors: dict[str, float | None] = {
        name: 100 * record["results"]["wrong"] / record["results"]["n_test"]
        for name, record in others.items()
    }
    errors["SVC"] = combined_error(machine)
    times = {name: record["seconds"] for name, record in others.items()} | {"SVC": seconds}
    names = (*CLASSIFIERS, "SVC", *(LE_NETS if comparable else ()))
    known = [published.BENCHMARK.get(name) if comparable else None for name in names]

    def row(name: str, step: str) -> Row:
        found = (times.get(column, {}).get(step) for column in names)
        return Row(name, "seconds", tuple(Cell(value, unit="seconds") for value in found))

    table = Table(
        "benchmark-table",
        "Benchmark: classifiers on the same images, test error in percent and time",
        "",
        names,
        (
            Group(
                "MNIST",
                (
                    Row(
                        "Test error", "percent", cells_of([errors.get(n) for n in names], known)
                    ),
                    row("Fit, seconds", "fit"),
                    row("Predict, seconds", "predict"),
                ),
            ),
        ),
        (
            "; ".join(f"{name}: {how}" for name, how in CLASSIFIERS.items()) + ".",
            f"SVC: degree {MNIST_DEGREE}, C = {machine['C']:g}. {CHOSEN} That took another "
            f"{seconds['search']:.0f} seconds.",
        ),
    )  # fmt: skip
    figure = Figure(
        "benchmark",
        "Benchmark: test error of each classifier",
        "",
        "test error in percent",
        (
            Bars(
                "MNIST",
                names,
                tuple(errors.get(name) for name in names),
                tuple(one.value if one else None for one in known),
            ),
        ),
        _shown_if(
            comparable,
            f"The published errors of the others are {LABELS['recalled']}.",
        ),
    )
    return table, figure


def same_C(results: dict[str, Any]) -> bool:
    """Whether our C is that of the other solver."""
    return bool(results["C"] == published.OTHER_SOLVER_C)


def combined_error(results: dict[str, Any]) -> float:
    """Test error of all machines together, in percent."""
    return float(100 * results["test"]["combined"] / results["test"]["n"])


def mean_support(results: dict[str, Any]) -> float:
    return float(np.mean(results["n_support"]))


def search_of(results: dict[str, Any]) -> str:
    """The errors of the cross-validation in words."""
    tried = zip(results["search"]["Cs"], results["search"]["errors"], strict=True)
    return ", ".join(f"{error:.2f} % at C = {C:g}" for C, error in tried)


def cells_of(
    ours: Sequence[float | None], beside: Sequence[Published | None], unit: str = "percent"
) -> tuple[Cell, ...]:
    return tuple(Cell(value, None, known, unit) for value, known in zip(ours, beside, strict=True))


def _printed(values: dict[int, Any]) -> Callable[[int], Published]:
    return lambda degree: Published(values[degree], "print")


def _shown_if(shown: bool, *notes: str) -> tuple[str, ...]:
    return notes if shown else ()
