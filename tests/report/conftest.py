"""A small report with every kind of cell."""

import warnings

import pytest

from largemargin.report.comparison import Cell, Group, Published, Row, Table
from largemargin.report.document import Report
from largemargin.report.figures import Curve, Figure, Panel


@pytest.fixture
def report():
    errors = (
        Cell(2.31, 0.04, Published(2.2, "recalled")),
        Cell(2.61, None, Published(2.2, "print")),
        Cell(1.5),
        Cell(),
    )
    counts = (
        Cell(1030.0, 12.0, Published(1000, "recalled"), "count"),
        Cell(1031.0, 12.0, Published(1000, "recalled"), "count"),
        Cell(25461.4, 12.0, unit="count"),
        Cell(None, None, Published(7, "derived"), "count"),
    )
    table = Table(
        "table1",
        "Table 1: <errors> & counts",
        "T =",
        ("1", "2", "3", "4"),
        (Group("d = 1", (Row("Vote", "percent", errors), Row("Mistake", "count", counts))),),
        ("A note.",),
    )
    curves = (
        Curve("vote", (0.1, 1.0, 10.0), (20.0, 5.0, 2.0)),
        Curve("published", (1.0,), (5.5,), marks=True),
    )
    figure = Figure("figure2", "Figure 2", "epochs", "error", (Panel("d = 1", curves),) * 4)
    return Report(
        slug="paper",
        title="A paper <again>",
        citation="Somebody (1999).",
        command="largemargin reproduce paper",
        settings={"permutations": 2},
        reduced=("2 permutations in place of 10",),
        differences=("Other seeds.",),
        machines=("a processor, 2 cores",),
        dates=("2026-01-01", "2026-01-02"),
        n_runs=3,
        seconds=4000.0,
        tables=(table,),
        figures=(figure,),
    )


@pytest.fixture(scope="session")
def browser():
    """Chromium, for all pages; without one the tests that need it say so in a warning."""
    from .browser import Browser, find_chromium

    if find_chromium() is None:
        said = "no chromium on this machine, so no page was rendered: apt-get install chromium"
        warnings.warn(said, stacklevel=1)
        pytest.skip(said)
    opened = Browser()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def three_digits():
    """Small pictures of three classes: rows to train on and rows to test on."""
    from sklearn.datasets import load_digits

    X, y = load_digits(n_class=3, return_X_y=True)
    X = X / 16.0
    return (X[:120], y[:120]), (X[120:200], y[120:200])
