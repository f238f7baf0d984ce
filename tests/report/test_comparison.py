"""When a number agrees with the published one, and how both are written."""

import pytest

from largemargin.report.comparison import (
    LABELS,
    Cell,
    Published,
    cell_of,
    difference,
    number,
    published_number,
)


@pytest.mark.parametrize(
    ("ours", "published", "unit", "agrees"),
    [
        (2.4, 2.2, "percent", True),
        (2.41, 2.2, "percent", False),
        (1.9, 2.2, "percent", False),
        (1030, 1000, "count", True),
        (1031, 1000, "count", False),
        (960, 1000, "count", False),
    ],
)
def test_agreement(ours, published, unit, agrees):
    cell = Cell(ours, None, Published(published, "print"), unit)
    assert cell.agrees is agrees
    assert cell.difference == ours - published


def test_without_a_pair_there_is_no_difference():
    for cell in (Cell(), Cell(1.0), Cell(published=Published(1.0, "print"))):
        assert cell.difference is None
        assert cell.agrees is None
        assert difference(cell) == "-"


def test_cell_of_runs():
    cell = cell_of([1, 2, 3], None, "percent")
    assert (cell.ours, cell.deviation) == (2.0, 1.0)
    assert cell_of([4], None, "count").deviation is None
    assert cell_of([], None, "count").ours is None


def test_writing():
    error = Cell(2.314, 0.1, Published(2.2, "print"))
    count = Cell(25673.4, 1.0, Published(25461, "print"), "count")
    assert [number(error.ours, "percent"), published_number(error), difference(error)] == [
        "2.31", "2.2", "+0.11",
    ]  # fmt: skip
    assert [number(count.ours, "count"), published_number(count), difference(count)] == [
        "25,673", "25,461", "+0.8%",
    ]  # fmt: skip
    assert number(None, "count") == published_number(Cell()) == "-"


def test_table(report):
    (table,) = report.tables
    assert table.verdict.startswith("2 of 4 published numbers reached, 2 not")
    assert table.labels == list(LABELS)
    assert list(report.labels) == list(LABELS)
