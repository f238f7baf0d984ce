"""What each column is taken for, and what is said about it."""

import numpy as np
import pytest

from largemargin.tables import TablePreprocessor
from largemargin.tables.parsing import days, form_of_dates, form_of_numbers, number

N = 40
NOISE = np.random.default_rng(0).normal(size=N)


def fitted(column, **parameters):
    """A preprocessor for a column beside one of numbers."""
    return TablePreprocessor(**parameters).fit({"beside": NOISE, "column": column})


def plan(column, **parameters):
    return fitted(column, **parameters).plans_[1]


def cycle(*values):
    return [values[i % len(values)] for i in range(N)]


@pytest.mark.parametrize(
    ("column", "kind", "form"),
    [
        (NOISE, "number", ""),
        (cycle(0, 1, 2), "number", ""),
        (cycle(0, 1), "number", ""),
        (cycle("1", "2.5", ""), "number", "point"),
        (cycle("1,234.5", "12", "-3e4"), "number", "point"),
        (cycle("12 %", "3%", "?"), "number", "point"),
        (cycle("1 234", "5'678.25", "9"), "number", "point"),
        (cycle("1,5", "2,25", "3"), "number", "comma"),
        (cycle("1.234,5", "2"), "number", "comma"),
        (cycle(True, False), "boolean", ""),
        (cycle(True, None, False), "boolean", ""),
        (cycle("yes", "No"), "boolean", ""),
        (cycle("t", "f", "NA"), "boolean", ""),
        (cycle("y", "f"), "category", ""),
        (cycle("2020-01-01", "2021-12-31T10:00:00Z"), "date", "ISO"),
        (cycle("31.12.2020", "1.2.2021"), "date", "%d.%m.%Y"),
        (cycle("12/31/2020", "1/2/2021"), "date", "%m/%d/%Y"),
        (cycle("31/12/2020", "1/2/2021"), "date", "%d/%m/%Y"),
        (cycle("3 Jan 2020", "14 Feb 2021"), "date", "%d %b %Y"),
        (cycle("12/31/2020 10:30", "1/2/2021 23:59"), "date", "%m/%d/%Y %H:%M"),
        (cycle("a", "b", None), "category", ""),
        (cycle("1", "2", "A"), "category", ""),
        (cycle("2020-01-01", "soon"), "category", ""),
    ],
)
def test_kinds(column, kind, form):
    found = plan(column)
    assert (found.kind, found.form, found.why) == (kind, form, "")


@pytest.mark.parametrize(
    ("column", "why", "words"),
    [
        (cycle(None), "empty", "all values are missing"),
        (cycle("NA", "", "?"), "empty", "all values are missing"),
        (cycle(7), "constant", "all values are equal"),
        (cycle("x"), "constant", "all values are equal"),
        (cycle(True), "constant", "all values are equal"),
        (np.arange(N), "counter", "count the rows"),
        (np.arange(1000, 1000 + N)[::-1], "counter", "count the rows"),
        ([str(i) for i in range(N)], "counter", "count the rows"),
        ([f"customer {i}" for i in range(N)], "distinct", "nearly every value is different"),
    ],
)
def test_dropped(column, why, words):
    found = fitted(column)
    assert (found.plans_[1].kind, found.plans_[1].why) == ("dropped", why)
    (told,) = [line for line in found.decisions_ if words in line]
    assert told.startswith("The column 'column' is dropped because")
    assert found.transform({"beside": NOISE, "column": column}).shape == (N, 1)


@pytest.mark.parametrize(
    "column",
    [
        np.arange(N) + 0.5,
        np.arange(N) ** 3,
        np.arange(N) // 2,
        [*range(N - 1), 0],
        [f"customer {i % 30}" for i in range(N)],
        cycle(7, None),
        cycle("x", None),
    ],
)
def test_not_dropped(column):
    assert plan(column).kind != "dropped"


def test_part_of_the_rows_still_counts_them():
    rows = np.random.default_rng(1).permutation(400)[:300]
    found = TablePreprocessor().fit({"id": rows, "x": np.arange(300) % 7})
    assert found.plans_[0].why == "counter"
    kept = TablePreprocessor(keep=["id"]).fit({"id": rows, "x": np.arange(300) % 7})
    assert kept.plans_[0].kind == "number"


def test_what_the_user_says():
    codes = cycle(1, 2, 3)
    assert plan(codes, categorical=["column"]).kind == "category"
    assert plan(codes, categorical=[1]).kind == "category"
    found = fitted(codes, drop=["column"])
    assert found.plans_[1].why == "chosen"
    assert "The column 'column' is dropped as asked for." in found.decisions_
    names = [f"customer {i}" for i in range(N)]
    assert plan(names, keep=["column"]).kind == "category"
    assert plan(np.arange(N), categorical=["column"]).kind == "category"


def test_stray_text_among_numbers():
    column = [*map(str, NOISE[:-2].round(3)), "n.k.", "n.k."]
    with pytest.raises(
        ValueError, match=r"'column' has numbers, but 'n\.k\.' in row 38, counted from 0, and 1"
    ):
        fitted(column)
    assert plan(column, drop=["column"]).why == "chosen"
    assert plan(column, categorical=["column"]).kind == "category"


def test_ten_thousand_categories_are_pooled():
    draw = np.random.default_rng(0)
    values = [*range(10_000), *draw.zipf(1.3, 5000) % 200]
    column = np.array([f"c{i}" for i in values], object)
    found = TablePreprocessor().fit({"c": column, "x": draw.normal(size=15_000)})
    rows = found.transform({"c": column[:50], "x": np.zeros(50)})
    assert 50 < rows.shape[1] <= 101
    assert np.isfinite(rows).all()
    assert any("rare of them pooled" in line for line in found.decisions_)
    rare = [f"c{i}" for i in range(2000)] * 2
    found = TablePreprocessor().fit({"c": rare, "x": draw.normal(size=4000)})
    assert found.plans_[0].why == "rare"


def test_rare_and_unseen_values_are_one_category():
    column = ["a"] * 20 + ["b"] * 15 + ["c"] * 3 + ["d"] * 2
    found = fitted(column, min_frequency=5)
    assert found.get_feature_names_out().tolist() == [
        "beside", "column_a", "column_b", "column_infrequent_sklearn",
    ]  # fmt: skip
    rows = found.transform({"beside": [0.0] * 4, "column": ["a", "c", "d", "never seen"]})[:, 1:]
    assert rows.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
    rows = fitted(column, min_frequency=1).transform({"beside": [0], "column": ["new"]})
    assert rows[0, 1:].tolist() == [0, 0, 0, 0]
    assert fitted(column, max_categories=2).get_feature_names_out().size == 3
    assert fitted(column, min_frequency=0.3).get_feature_names_out().size == 4


def test_a_category_is_known_however_it_comes():
    """A file of the same table may have a column of numbers or truth values where another, with
    one more value, has text.
    """
    found = fitted(cycle("1", "02", "x", "True", "3.50"))
    for values in (["1", "2", "3.5"], [1.0, 2.0, 3.5], ["1.0", "02", "3.50"]):
        expected = found.transform({"beside": [0] * 3, "column": ["1", "02", "3.50"]})
        np.testing.assert_array_equal(
            found.transform({"beside": [0] * 3, "column": values}), expected
        )
    both = [found.transform({"beside": [0], "column": value}) for value in ([True], ["True"])]
    np.testing.assert_array_equal(*both)
    assert both[0].sum() > 0


@pytest.mark.parametrize(
    "text", ["", "-", "1,23", "12,34,567", "1.2.3", "1_000", "a", "5 %%", "\u0663", "0x1"]
)
def test_what_is_no_number(text):
    assert number(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("+1,234,567.", 1234567), (".5", 0.5), ("-1e-3", -0.001), ("50%", 0.5), ("1\u202f000", 1000)],
)
def test_numbers(text, value):
    assert number(text) == value


def test_forms():
    assert form_of_numbers([]) is form_of_dates([]) is None
    assert form_of_dates(["2020-02-30"]) is None
    assert form_of_dates(["1/2/2020", "13/2/2020"]) == "%d/%m/%Y"
    assert days("1970-01-11", "ISO") == 10


def test_the_order_of_month_and_day_is_said():
    found = fitted(cycle("1/2/2020", "3/4/2020"))
    assert "The column 'column' is read with the month before the day." in found.decisions_
    assert not any("month" in line for line in fitted(cycle("31/12/2020", "1/2/2020")).decisions_)
