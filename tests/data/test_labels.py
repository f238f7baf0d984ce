import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largemargin.data import DataError
from largemargin.data.labels import (
    check_label_argument,
    first_bad_label,
    join_labels,
    label_kind,
    label_position,
    parse_labels,
)

KINDS = [
    (["1", "+2", "-3"], [1, 2, -3]),
    (["1.0", "2e0", "-0.0"], [1, 2, 0]),
    (["0.5", "1"], ["0.5", "1"]),
    (["a", "1"], ["a", "1"]),
    (["1_0", "10"], ["1_0", "10"]),
    (["99999999999999999999", "1"], ["99999999999999999999", "1"]),
    (["inf", "1"], ["inf", "1"]),
    (np.array([3, 4], dtype=np.uint8), [3, 4]),
    (np.array([2**63], dtype=np.uint64), [str(2**63)]),
    (np.array([1.0, -2.0], dtype=np.float32), [1, -2]),
    (np.array([0.1, 2.0], dtype=np.float32), ["0.1", "2.0"]),
    (np.array([1e300]), ["1e+300"]),
    (np.array([True, False]), ["True", "False"]),
    (np.array(["é", "b"]), ["é", "b"]),
    (np.array(["é".encode(), b"b"]), ["é", "b"]),
]


@pytest.mark.parametrize(("raw", "expected"), KINDS)
def test_labels_of_any_type(raw, expected):
    labels = parse_labels(raw)
    assert labels.tolist() == expected
    assert labels.dtype.kind == ("i" if isinstance(expected[0], int) else "U")


@settings(max_examples=50)
@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1))
def test_integers_survive_as_text(values):
    assert parse_labels([str(v) for v in values]).tolist() == values


@settings(max_examples=50)
@given(st.lists(st.text(), min_size=1), st.lists(st.text(), min_size=1))
def test_kind_of_the_whole_is_int_only_if_of_both_parts(first, second):
    kinds = {label_kind(first), label_kind(second)}
    assert label_kind(join_labels([first, second])) == ("int" if kinds == {"int"} else "str")


def test_kind_is_forced():
    assert parse_labels(["007"], "str").tolist() == ["007"]
    assert parse_labels(np.array(["007"]), "int").tolist() == [7]
    with pytest.raises(DataError, match=r"a\.csv: expected integer labels, saw 'cat'"):
        parse_labels(["1", "cat"], "int", "a.csv")


def test_missing():
    assert first_bad_label(["a", "NaN"]) == 1
    assert first_bad_label(np.array([0.0, 1.0, np.inf])) == 2
    assert first_bad_label(["a", "none"]) is None
    assert first_bad_label(np.array([0, 1])) is None


@pytest.mark.parametrize(
    ("label", "names", "expected"),
    [
        (None, None, 3),
        (None, ["a", "b", "c", "d"], 3),
        (None, ["a", "Target", "c", "d"], 1),
        (None, ["y", "label", "c", "d"], 1),
        (False, ["a", "b", "c", "label"], None),
        ("b", ["a", "b", "c", "d"], 1),
        (0, None, 0),
        (-2, None, 2),
        (np.int64(1), None, 1),
    ],
)
def test_position(label, names, expected):
    assert label_position("a.csv", label, names, 4) == expected


@pytest.mark.parametrize(
    ("label", "names", "message"),
    [
        (4, None, r"a\.csv: label=4 is not a column; the file has 4"),
        (-5, None, "label=-5 is not a column"),
        ("kind", None, "no header line to find label='kind'"),
        ("kin", ["kind", "b", "c", "d"], "no column called 'kin'; did you mean 'kind'"),
        ("nope", ["age", "income"], "'nope'; the columns are 'age', 'income'"),
        ("zzz", ["a", "b", "c", "d"], "the columns are 'a', 'b', 'c', 'd'"),
        ("a", ["a", "a", "c", "d"], "2 columns are called 'a'"),
    ],
)
def test_no_such_column(label, names, message):
    with pytest.raises(DataError, match=message):
        label_position("a.csv", label, names, 4)


@pytest.mark.parametrize("label", [True, 1.5, ["a"]])
def test_not_a_column(label):
    with pytest.raises(ValueError, match="label must be the name or position"):
        check_label_argument(label)
