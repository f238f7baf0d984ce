"""A report with every kind of cell, and small stand-ins for MNIST and USPS."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from largemargin.data.dataset import Dataset
from largemargin.papers.cells import Cell, Published
from largemargin.papers.figures import Figure, Panel
from largemargin.papers.report import Group, Report, Row, Table
from largemargin.report.charts import Curve


@pytest.fixture(scope="session")
def small_mnist():
    X, y = load_digits(return_X_y=True)
    X = (15 * X).astype(np.float32)
    return Dataset(X[:300], y[:300], X[300:450], y[300:450], name="mnist")


@pytest.fixture(scope="session")
def small_usps():
    X, y = load_digits(return_X_y=True)
    X = (X / 8 - 1).astype(np.float32)
    return Dataset(X[:300], y[:300], X[300:450], y[300:450], name="usps")


@pytest.fixture
def report():
    errors = (
        Cell(2.21, 0.04, Published(2.2, "recalled"), runs=10),
        Cell(2.61, None, Published(2.2, "print"), rows=50_000),
        Cell(1.5),
        Cell(),
    )
    counts = (
        Cell(1005.0, 12.0, Published(1000, "recalled"), "count", 10),
        Cell(960.0, 12.0, Published(1000, "recalled"), "count", 10),
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
