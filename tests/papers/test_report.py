"""When a number agrees with the published one, and how both are written."""

import pytest

from largemargin.papers.cells import (
    LABELS,
    Cell,
    Published,
    cell_of,
    difference,
    number,
    published_number,
    short,
)
from largemargin.papers.report import Group, Row, Table


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


@pytest.mark.parametrize(("ours", "agrees"), [(11.3, True), (9.9, True), (11.31, False)])
def test_agreement_within_a_published_deviation(ours, agrees):
    cell = Cell(ours, 0.5, Published(10.6, "print", deviation=0.7))
    assert cell.agrees is agrees
    assert cell.as_json()["published_deviation"] == 0.7
    table = Table("t", "T", "", ("a",), (Group("g", (Row("Error", "percent", (cell,)),)),))
    assert table.verdict.endswith("(within one published deviation).")


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
    assert published_number(Cell(published=Published(1.64, "run"))) == "1.64"
    assert [number(9_999_999, "count"), number(1.9e8, "count"), number(4.2e11, "count")] == [
        "9,999,999", "1.9e8", "4.2e11",
    ]  # fmt: skip
    assert [number(12.34, "seconds"), number(1e-7, "value"), number(10.0, "value")] == [
        "12.3", "1e-07", "10",
    ]  # fmt: skip


def test_short_labels_are_all_different():
    assert len({short(label) for label in LABELS}) == len(LABELS)


def test_a_time_or_a_setting_never_agrees_or_disagrees():
    for unit in ("seconds", "value"):
        assert Cell(1.0, None, Published(2.0, "print"), unit).agrees is None


def test_a_row_lacks_published_numbers_if_others_of_its_group_have_them():
    compared = Row("Error", "percent", (Cell(1.0, None, Published(1.0, "print")),))
    alone = Row("SupVec", "count", (Cell(3.0, unit="count"),))
    setting = Row("C", "value", (Cell(3.0, unit="value"),))
    group = Group("d = 1", (compared, alone, setting))
    assert group.lacks(alone)
    assert not group.lacks(setting)
    assert not Group("d = 2", (alone, setting)).lacks(alone)


def test_table(report):
    (table,) = report.tables
    assert table.verdict.startswith("2 of 4 published numbers reached, 2 not")
    assert table.labels == ["print", "recalled", "derived"]
    assert list(report.labels) == ["print", "recalled", "derived"]


@pytest.mark.parametrize(("ours", "agrees"), [(1.0, True), (0.0, False)])
def test_a_statement_holds_or_not(ours, agrees):
    cell = Cell(ours, None, Published(1.0, "text"), "statement")
    assert cell.agrees is agrees
    assert number(ours, "statement") == ("yes" if agrees else "no")
    assert published_number(cell) == "yes"
    assert difference(cell) == ("as stated" if agrees else "not so")
    table = Table("t", "t", "", ("a",), (Group("g", (Row("r", "statement", (cell,)),)),))
    held = int(agrees)
    assert table.verdict == f"{held} of 1 statements hold here, {1 - held} not."
