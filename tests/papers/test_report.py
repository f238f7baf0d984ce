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


def by_hand(ours, theirs, deviation, theirs_deviation, n, step):
    """z from its definition: two means over n runs, and a number rounded to a step."""
    variance = deviation**2 / n + theirs_deviation**2 / n + step**2 / 12
    return (ours - theirs) / variance**0.5


@pytest.mark.parametrize(
    ("ours", "published", "unit", "state"),
    [
        (2.4, 2.2, "percent", "within"),
        (2.41, 2.2, "percent", "higher"),
        (1.99, 2.2, "percent", "lower"),
        (1008, 1000, "count", "within"),
        (1010, 1000, "count", "higher"),
        (990, 1000, "count", "lower"),
    ],
)
def test_two_standard_errors(ours, published, unit, state):
    deviation, step = (0.2159, 0.1) if unit == "percent" else (10.0, 1)
    cell = Cell(ours, deviation, Published(published, "print"), unit, 10)
    assert cell.z == pytest.approx(by_hand(ours, published, deviation, deviation, 10, step))
    assert cell.state == state
    assert cell.agrees is (state == "within")
    assert cell.difference == ours - published


def test_the_rounding_of_the_print_counts():
    cell = Cell(2.25, 0.0, Published(2.2, "print"), runs=10)
    assert cell.z == pytest.approx(0.05 / 0.0288675, rel=1e-5)
    assert cell.state == "within"
    finer = Cell(2.25, 0.0, Published(2.21, "print"), runs=10)
    assert finer.z == pytest.approx(0.04 * 12**0.5 / 0.01)


def test_a_published_deviation_and_number_of_runs_are_taken():
    cell = Cell(11.0, 0.5, Published(10.6, "print", deviation=0.7, runs=100), runs=50)
    noise = (0.5**2 / 50 + 0.7**2 / 100 + 0.1**2 / 12) ** 0.5
    assert cell.z == pytest.approx(0.4 / noise)
    assert cell.as_json()["published_deviation"] == 0.7
    assert Cell.from_json(cell.as_json(), "percent") == cell


def test_a_single_run_has_the_noise_of_its_test_set():
    cell = Cell(1.3, None, Published(1.4, "print"), rows=10_000)
    noise = (2 * 1.35 * 98.65 / 10_000 + 0.1**2 / 12) ** 0.5
    assert cell.z == pytest.approx(-0.1 / noise)


@pytest.mark.parametrize(
    ("cell", "state"),
    [
        (Cell(109.0, None, Published(1, "print"), "count", rows=60_000, other=True), "other"),
        (Cell(3464.0, None, Published(3460, "run"), "count"), "same"),
        (Cell(3480.0, None, Published(3460, "run"), "count"), "higher"),
        (Cell(1.64, None, Published(1.64, "run")), "same"),
        (Cell(2.4, None, Published(2.2, "print")), "unjudged"),
        (Cell(2.4, 0.1, Published(2.2, "print")), "unjudged"),
    ],
)
def test_other_states(cell, state):
    assert cell.state == state
    assert Cell.from_json(cell.as_json(), cell.unit) == cell


def test_counts_are_said_as_counts():
    cell = Cell(109.0, None, Published(1, "print"), "count", rows=60_000, other=True)
    assert cell.sentence == "109 against 1 of 60,000"
    assert "%" not in difference(Cell(109.0, None, Published(1, "print"), "count"))
    assert difference(Cell(109.0, None, Published(1, "print"), "count")) == "+108"
    assert difference(cell) == "-"
    assert Cell(960.0, 12.0, Published(1000, "print"), "count", 10).words == "fewer"


def test_without_a_pair_there_is_no_difference():
    for cell in (Cell(), Cell(1.0), Cell(published=Published(1.0, "print"))):
        assert cell.difference is None
        assert cell.agrees is None
        assert difference(cell) == "-"


def test_cell_of_runs():
    cell = cell_of([1, 2, 3], None, "percent")
    assert (cell.ours, cell.deviation, cell.runs) == (2.0, 1.0, 3)
    assert cell_of([4], None, "count").deviation is None
    assert cell_of([], None, "count").ours is None


def test_writing():
    error = Cell(2.314, 0.1, Published(2.2, "print"))
    count = Cell(25673.4, 1.0, Published(25461, "print"), "count")
    assert [number(error.ours, "percent"), published_number(error), difference(error)] == [
        "2.31", "2.2", "+0.11",
    ]  # fmt: skip
    assert [number(count.ours, "count"), published_number(count), difference(count)] == [
        "25,673", "25,461", "+212",
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
    assert table.verdict == (
        "2 of 4 published numbers are within two standard errors of ours; of the others 1 are "
        "better or fewer here and 1 worse or more."
    )
    assert not table.remembered
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
    do = "do" if held else "does"
    assert table.verdict == f"{held} of 1 statements hold here, {1 - held} {do} not."
