import numpy as np
import pytest

from largemargin.data import DataError
from largemargin.data.columns import check_label_argument, label_position


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
