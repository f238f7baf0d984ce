import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from largemargin.data import Table


def people():
    return Table(
        {
            "age": np.array([39.0, np.nan, 20.0, 51.0]),
            "old": np.array([True, False, False, True]),
            "job": np.array(["clerk", None, "smith", "clerk"], object),
        }
    )


def test_what_a_table_tells():
    table = people()
    assert table.names == ("age", "old", "job")
    assert table.shape == (4, 3)
    assert len(table) == 4
    assert table.kinds == {"age": "number", "old": "bool", "job": "text"}
    assert repr(table) == "Table(4 x 3, 1 number, 1 bool, 1 text)"


@pytest.mark.parametrize(
    "rows", [[2, 0], np.array([2, 0]), slice(1, 3), np.array([True, False, True, False]), 3, -1]
)
def test_rows_are_those_of_an_array(rows):
    table = people()
    for found in (table.take(rows), table[rows], table[rows, ...]):
        for name, column in table.columns.items():
            np.testing.assert_array_equal(found.column(name), np.atleast_1d(column[rows]))
    assert len(table[[]]) == 0


def test_scikit_learn_splits_a_table():
    train, test, y_train, y_test = train_test_split(people(), np.arange(4), random_state=0)
    assert isinstance(train, Table)
    assert train.column("job").tolist() == people().column("job")[y_train].tolist()
    assert test.column("job").tolist() == people().column("job")[y_test].tolist()


def test_as_arrays():
    assert np.asarray(people()).tolist()[0] == [39.0, True, "clerk"]
    numbers = np.asarray(people().select(["old", "age"]), np.float64)
    np.testing.assert_array_equal(numbers[:2], [[1, 39], [0, np.nan]])
    with pytest.raises(ValueError, match="could not convert"):
        np.asarray(people(), np.float64)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "at least one column"),
        ({"a": np.zeros(2), "b": np.zeros(3)}, "equally long, got 3 values of 'b' beside 2"),
        ({"a": np.zeros(2, np.float32)}, "the column 'a' must be .* got float32"),
        ({"a": np.zeros((2, 2))}, "the column 'a' must be a one-dimensional array"),
    ],
)
def test_what_is_no_table(columns, message):
    with pytest.raises(ValueError, match=message):
        Table(columns)


def test_columns_are_not_rows():
    with pytest.raises(IndexError, match="column"):
        people()[:, 0]
