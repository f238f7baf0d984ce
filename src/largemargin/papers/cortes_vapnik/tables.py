"""The tables and figures, from the records of finished experiments.

They are the points in the plane, tables 2 and 3, the benchmark, and the bound.

The bound of the paper is an expectation over training sets:

    E[Pr(error)] <= E[support vectors] / (training vectors)

For one training set both sides are estimates, so the inequality may fail by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb
from typing import Any

import numpy as np

from largemargin.papers.cells import LABELS, Cell, Published
from largemargin.papers.cortes_vapnik import published
from largemargin.papers.cortes_vapnik.experiments import (
    CLASSIFIERS,
    MNIST_DEGREE,
    SMOOTHING,
    SOFT_C,
)
from largemargin.papers.figures import Bars, Conic, Figure, Panel, Plane
from largemargin.papers.report import Group, Row, Table
from largemargin.report.charts import Curve

SMOOTHED = f"smoothed, deviation {SMOOTHING:g}"
NOT_SMOOTHED = "not smoothed"
LE_NETS = ("LeNet1", "LeNet4")
CHOSEN = "C was chosen by cross-validation on the training set."

Machines = dict[bool, dict[int, dict[str, Any]]]
"""Results on USPS: smoothed or not, then by degree."""

Read = Callable[[dict[str, Any]], float]  # a number of some results
Known = Callable[[int], Published]  # the published one of a degree

NOTE = (
    "The bound is the number of support vectors of a machine over that of its training images; "
    "the error is that of the single machine, class against rest, on the test set. Both in percent."
)

TITLES = {
    "ellipse": "separable: an ellipse",
    "parabola": "separable: a parabola",
    "overlap": f"not separable, C = {SOFT_C:g}",
}


def planes(records: dict[str, dict[str, Any]]) -> Figure:
    """The pictures, from what `PlaneExperiment.run` found for each set of points."""
    panels = tuple(
        Plane(
            TITLES[name],
            tuple((x, y) for x, y in found["points"]),
            tuple(found["labels"]),
            tuple(found["support"]),
            tuple(found["errors"]),
            Conic(tuple(found["conic"])),
        )
        for name, found in records.items()
    )
    return Figure(
        "planes",
        "In the plane: polynomials of degree 2",
        "",
        "",
        panels,
        (
            "Support vectors are ringed and errors crossed; the line is where the decision "
            "function is zero, the dashed ones where it is 1 and -1. The points are ours, drawn "
            "with a fixed seed.",
            "The separable sets have the optimal hyperplane, of which no point is on the wrong "
            "side; in the third set the labels are noisy.",
        ),
    )


def table2(machines: Machines, n_features: int, *, comparable: bool) -> Table:
    """USPS: test error, support vectors and dimension for each degree, smoothed and not."""
    degrees = sorted(machines[True])

    def group(title: str, found: dict[int, dict[str, Any]], compared: bool) -> Group:
        def row(name: str, unit: str, read: Read, known: Known | None = None) -> Row:
            cells = (
                Cell(
                    read(found[d]),
                    None,
                    known(d) if known and compared else None,
                    unit,
                    other=known is not None and compared,
                )
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
        rows = test["n"] if name == "Test errors" else train["n"]
        return Row(name, "count", cells_of(ours[name], beside, "count", rows))

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
                         "count", other=False),
            ),
            Row(
                "Test error",
                "percent",
                cells_of(
                    [*[None] * n, errors[-1] if same else None],
                    [*[None] * n, published.OTHER_SOLVER_COMBINED],
                    other=False,
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
    ours: Sequence[float | None],
    beside: Sequence[Published | None],
    unit: str = "percent",
    rows: int | None = None,
    *,
    other: bool = True,
) -> tuple[Cell, ...]:
    """Cells whose published numbers are of other images, unless they are of another solver."""
    return tuple(
        Cell(value, None, known, unit, rows=rows, other=other and known is not None)
        for value, known in zip(ours, beside, strict=True)
    )


def _printed(values: dict[int, Any]) -> Callable[[int], Published]:
    return lambda degree: Published(values[degree], "print")


def _shown_if(shown: bool, *notes: str) -> tuple[str, ...]:
    return notes if shown else ()


def bounds(results: dict[str, Any]) -> np.ndarray:
    """Support vectors over training images in percent, one number per class."""
    return np.asarray(100 * np.array(results["n_support"]) / results["train"]["n"])


def errors(results: dict[str, Any]) -> np.ndarray:
    """Test error of each class against the rest in percent."""
    return np.asarray(100 * np.array(results["test"]["wrong"]) / results["test"]["n"])


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
