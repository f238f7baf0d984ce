import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largemargin.data import DataError
from largemargin.data.label_rule import check_distinct, check_labels, choose_label

ROWS = 200
WORDS = ["yes", "no"] * 100
OTHERS = {
    "sex": np.array(["m", "f"] * 100, object),
    "old": np.array([True, False] * 100),
    "rooms": np.arange(ROWS) % 5.0,
    "price": np.arange(ROWS) / 7,
    "always": np.ones(ROWS),
    "town": np.array([f"town {i}" for i in range(ROWS)], object),
}


@pytest.mark.parametrize(
    ("label", "names", "position", "reason"),
    [
        ("b", ["a", "b", "label"], 1, "named as the label"),
        (0, ["a", "b", "label"], 0, "named as the label"),
        (-1, None, 2, "named as the label"),
        ("x1", None, 1, "named as the label"),
        ("x0", ["", "b", "c"], 0, "named as the label"),
        (None, ["a", "Label", "c"], 1, "called Label"),
        (None, ["TARGET", "b", "c"], 0, "called TARGET"),
        (None, ["a", "class", "c"], 1, "called class"),
        (None, ["class", "label", "target"], 1, "called label"),
        (None, ["y", "b", "c"], 0, "called y"),
        (None, ["a", "b", "Y"], 2, "called Y"),
        (None, ["x", "y", "kind"], 2, "last column"),
        (None, ["a", "b", ""], 1, "last column"),
        (None, None, 2, "last column"),
    ],
)
def test_which_column(label, names, position, reason):
    choice = choose_label("a.csv", label, names, 3)
    assert choice.position == position
    assert reason in choice.reason
    assert choice.is_guess == ("last" in reason)


def test_no_labels():
    assert choose_label("a.csv", False, ["a", "label"], 2).position is None


def judged(raw, label=None):
    names = [*OTHERS, "end"]
    choice = choose_label("a.csv", label, names, len(names))
    return check_labels("a.csv", choice, "end", raw, OTHERS)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (WORDS, "last column, and holds 2 classes"),
        (["true", "false"] * 100, "2 classes"),
        ([str(i % 20) for i in range(ROWS)], "20 classes"),
        ([f"{i % 3}.0" for i in range(ROWS)], "3 classes"),
        (np.arange(ROWS) % 7, "7 classes"),
        (np.arange(ROWS) % 7.0, "7 classes"),
        (np.array([True, False] * 100), "2 classes"),
        ([f"letter {i % 26}" for i in range(ROWS)], "26 classes"),
        (["none", "some"] * 100, "2 classes"),
    ],
)
def test_last_columns_that_are_labels(raw, reason):
    assert reason in judged(raw)


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ([str(i % 21) for i in range(ROWS)], "21 different whole numbers"),
        ([str(i / 7) for i in range(ROWS)], "200 different numbers"),
        (["0.5", "1.5"] * 100, "2 different numbers"),
        (np.arange(ROWS) / 7, "200 different numbers"),
        (np.arange(ROWS), "200 different whole numbers"),
        ([f"name {i}" for i in range(ROWS)], "200 different texts"),
    ],
)
def test_last_columns_that_are_none(raw, seen):
    with pytest.raises(DataError) as caught:
        judged(raw)
    message = str(caught.value)
    assert seen in message
    assert "the last one, 'end'" in message
    assert "pass label=NAME" in message
    assert message.endswith("columns with few values are 'sex', 'old', 'rooms'")


def test_no_candidate():
    choice = choose_label("a.csv", None, None, 2)
    with pytest.raises(DataError, match="no column has few values, so add one"):
        check_labels("a.csv", choice, "x1", np.arange(50) / 7, {"x0": np.arange(50) / 3})


@pytest.mark.parametrize(
    "raw",
    [
        [str(i / 7) for i in range(ROWS)],
        np.arange(ROWS) / 7,
        np.arange(ROWS),
        np.concatenate([np.arange(101), np.zeros(99)]) + 0.5,
        [str(i) for i in range(150)] + ["0"] * 50,
        np.arange(30) / 7,
    ],
)
def test_measurements_are_refused_even_by_name(raw):
    count = len(np.unique(raw))
    with pytest.raises(DataError, match=rf"column end: {count} different .*numbers in .*groups"):
        judged(raw, label="end")


@pytest.mark.parametrize(
    "raw",
    [
        [str(i % 100) for i in range(ROWS)],
        np.arange(5000) % 500,
        [f"face {i}" for i in range(ROWS)],
        np.arange(ROWS) % 40 / 2,
        ["0.5", "1.5"] * 100,
    ],
)
def test_many_classes_are_taken_by_name(raw):
    assert "named as the label" in judged(raw, label="end")


@pytest.mark.parametrize("mark", ["", "?", "NA", "n/a", "NaN", "null"])
def test_missing_labels(mark):
    raw = [*WORDS]
    raw[4] = raw[9] = mark
    for label in (None, "end"):
        with pytest.raises(DataError, match=r"column end: .*2 of 200 rows have no label.* row 5; "):
            judged(raw, label)
    numbers = np.arange(ROWS) % 2.0
    numbers[3] = np.nan
    with pytest.raises(DataError, match=r"column end: .*1 of 200 .* row 4; .*such as 'sex'"):
        judged(numbers)


def test_names_that_occur_twice():
    check_distinct("a.csv", ["a", "A", "b"])
    with pytest.raises(DataError, match=r"'a' \(columns 1, 3\), 'b' \(columns 2, 4\); give each"):
        check_distinct("a.csv", ["a", "b", "a", "b"])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "1", "2.5", "", "?"]), min_size=1, max_size=12))
def test_what_is_taken_has_no_gap(raw):
    """The count of missing labels is that of a plain loop, and nothing passes with one."""
    missing = sum(cell in ("", "?") for cell in raw)
    choice = choose_label("a.csv", "end", ["end"], 1)
    if not missing:
        assert check_labels("a.csv", choice, "end", raw, {})
        return
    with pytest.raises(DataError, match=f"{missing} of {len(raw)} rows have no label"):
        check_labels("a.csv", choice, "end", raw, {})
