"""Tables 1 to 3 and figure 2, from the records of finished experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from largemargin.papers.cells import Cell, Published, cell_of
from largemargin.papers.figures import Figure, Panel
from largemargin.papers.freund_schapire import published
from largemargin.papers.freund_schapire.experiments import BINARY_RULES, RULES, TABLE_EPOCHS
from largemargin.papers.report import Group, Row, Table
from largemargin.report.charts import Curve

TABLE_2_DEGREE = 4
TABLE_3_CLASS = 9
ROW_NAMES = {
    "vote": "Vote",
    "average": "Avg",
    "average normalized": "Avg norm",
    "last": "Last",
    "last normalized": "Last norm",
    "random": "Rand",
    "random normalized": "Rand norm",
}

Records = dict[int, list[dict[str, Any]]]
"""For each degree the results of its experiments, one per permutation, with `n_test`."""


def by_degree(records: Sequence[dict[str, Any]]) -> Records:
    """Stored experiments, sorted by what the tables have in their rows."""
    found: Records = {}
    for record in records:
        n_test = record["settings"]["data"]["n_test"]
        results = {**record["results"], "n_test": n_test}
        found.setdefault(record["settings"]["degree"], []).append(results)
    return found


def is_comparable(n_train: int, n_test: int) -> bool:
    """Whether the published numbers are about as much data."""
    return (n_train, n_test) == (published.N_TRAIN, published.N_TEST)


def table1(records: Records, *, comparable: bool) -> Table:
    """Ten classes: test error of the seven rules, support vectors and mistakes, for each degree."""
    columns = _columns(records)

    def row(degree: int, name: str, key: str, unit: str) -> Row:
        cells = []
        for epochs in columns:
            known = published.table_1(degree, key, epochs) if comparable else None
            runs = [_at(results, key, epochs) for results in records[degree]]
            cells.append(cell_of([value for value in runs if value is not None], known, unit))
        return Row(name, unit, tuple(cells))

    groups = [
        Group(
            f"d = {degree}",
            (
                *(row(degree, name, rule, "percent") for rule, name in ROW_NAMES.items()),
                row(degree, "SupVec", "n_support", "count"),
                row(degree, "Mistake", "n_mistakes", "count"),
            ),
        )
        for degree in sorted(records)
    ]
    alone = comparable and all(len(runs) == 1 for runs in records.values())
    notes = (
        ("From one permutation there is no deviation to judge a difference by.",) if alone else ()
    )
    return Table(
        "table1", "Table 1: ten classes, test error in percent", "T =", _headings(columns),
        tuple(groups), notes,
    )  # fmt: skip


def table2(records: Records, *, comparable: bool) -> Table:
    """Each class against the rest with degree 4, beside the machine of Cortes and Vapnik."""
    runs = records[TABLE_2_DEGREE]
    classes = range(len(runs[0]["classes"]))
    groups = [
        Group(f"T = {epochs:g}", _binary_rows(runs, [(epochs, c) for c in classes]))
        for epochs in _columns({TABLE_2_DEGREE: runs})
    ]
    notes: tuple[str, ...] = ()
    if comparable:
        groups.append(
            Group(
                "Cortes & Vapnik",
                (
                    _published_row("SVM error", "percent", published.svm_test_errors()),
                    _published_row("SVM SupVec", "count", published.svm_support_vectors()),
                ),
            )
        )
        notes = ("The paper's own numbers for the perceptron in this table are not at hand.",)
    return Table(
        "table2", f"Table 2: class against rest, d = {TABLE_2_DEGREE}, test error in percent",
        "class", tuple(str(name) for name in runs[0]["classes"]), tuple(groups), notes,
    )  # fmt: skip


def table3(records: Records, *, comparable: bool) -> Table:
    """Nine against the rest, for each degree."""
    columns = _columns(records)
    groups = []
    for degree in sorted(records):
        runs = records[degree]
        nine = runs[0]["classes"].index(TABLE_3_CLASS)
        rows = _binary_rows(runs, [(epochs, nine) for epochs in columns])
        groups.append(Group(f"d = {degree}", rows))
    notes = ("The paper's own numbers for this table are not at hand.",) if comparable else ()
    return Table(
        "table3", f"Table 3: {TABLE_3_CLASS} against the rest, test error in percent", "T =",
        _headings(columns), tuple(groups), notes,
    )  # fmt: skip


def figure2(records: Records, *, comparable: bool) -> Figure:
    """Test error against epochs, a point every tenth of an epoch, one panel per degree."""
    panels = []
    for degree in sorted(records):
        runs = records[degree]
        at = tuple(runs[0]["stages"])
        curves = []
        for rule in ("random", "last", "average", "vote"):
            errors = np.mean(
                [_percent(results, results["wrong"][rule]) for results in runs], axis=0
            )
            curves.append(Curve(rule, at, tuple(errors.round(6).tolist())))
        if comparable:
            known = {epochs: published.table_1(degree, "vote", epochs) for epochs in TABLE_EPOCHS}
            points = {e: p.value for e, p in known.items() if p is not None and e <= at[-1]}
            curves.append(
                Curve("vote, published", tuple(points), tuple(points.values()), marks=True)
            )
        panels.append(Panel(f"d = {degree}", tuple(curves)))
    notes = (
        "Mean test error over permutations, a point every tenth of an epoch.",
        *(["Circles are the published test errors of vote, as remembered."] * comparable),
    )
    return Figure(
        "figure2",
        "Figure 2: learning curves",
        "epochs",
        "test error in percent",
        tuple(panels),
        notes,
    )


def _columns(records: Records) -> list[float]:
    """The numbers of epochs that at least one degree has reached."""
    reached = {
        at for runs in records.values() for results in runs for at in results["table_epochs"]
    }
    return [at for at in TABLE_EPOCHS if at in reached]


def _headings(columns: list[float]) -> tuple[str, ...]:
    return tuple(f"{at:g}" for at in columns)


def _percent(results: dict[str, Any], wrong: Any) -> np.ndarray:
    return np.asarray(100 * np.asarray(wrong) / results["n_test"])


def _at(results: dict[str, Any], key: str, epochs: float) -> float | None:
    """A number of table 1, or None if the run was shorter."""
    if epochs not in results["table_epochs"]:
        return None
    if key in RULES:
        return float(_percent(results, results["wrong"][key][results["stages"].index(epochs)]))
    return float(results[key][results["table_epochs"].index(epochs)])


def _binary_rows(runs: list[dict[str, Any]], columns: list[tuple[float, int]]) -> tuple[Row, ...]:
    """The rows of tables 2 and 3; each column is a number of epochs and a class."""

    def row(name: str, unit: str, read: Any) -> Row:
        cells = []
        for epochs, c in columns:
            found = [
                read(results)[results["table_epochs"].index(epochs)][c]
                for results in runs
                if epochs in results["table_epochs"]
            ]
            cells.append(cell_of(found, None, unit))
        return Row(name, unit, tuple(cells))

    return (
        *(
            row(
                ROW_NAMES[rule],
                "percent",
                lambda r, rule=rule: _percent(r, r["binary_wrong"][rule]),
            )
            for rule in BINARY_RULES
        ),
        row("SupVec", "count", lambda r: r["binary_n_support"]),
        row("Mistake", "count", lambda r: r["binary_n_mistakes"]),
    )


def _published_row(name: str, unit: str, numbers: list[Published]) -> Row:
    return Row(name, unit, tuple(Cell(published=known, unit=unit) for known in numbers))
