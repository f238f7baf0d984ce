"""A table is the same table, whichever library holds it."""

import datetime
import decimal
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from largemargin.data import Table
from largemargin.tables import TablePreprocessor
from largemargin.tables.columns import columns_of

from .samples import mixed

TABLE, _ = mixed(60)
TEXT = {**TABLE, "since": np.array([str(day) for day in TABLE["since"]], object)}


def frames():
    frame = pd.DataFrame(TABLE)
    yield "pandas", frame
    yield "pandas objects", frame.astype(object)
    yield "pandas arrow", frame.convert_dtypes(dtype_backend="pyarrow")
    yield "pandas nullable", frame.convert_dtypes()
    yield "pandas category", frame.astype({"job": "category"})
    yield "pandas zone", frame.assign(since=frame["since"].dt.tz_localize("UTC"))
    lists = {
        name: [None if value != value else value for value in column.tolist()]
        for name, column in TABLE.items()
    }
    yield "polars", pl.DataFrame(lists)
    yield "polars category", pl.DataFrame(lists).with_columns(pl.col("job").cast(pl.Categorical))
    yield "arrow", pa.table(lists)
    yield "arrow batch", pa.RecordBatch.from_pydict(lists)
    yield "arrow dictionary", pa.table({**lists, "job": pa.array(lists["job"]).dictionary_encode()})
    yield "lists", lists
    yield "objects", np.array(list(zip(*lists.values(), strict=True)), object)
    yield "rows", [list(row) for row in zip(*lists.values(), strict=True)]
    yield "table", Table(TEXT)
    yield "text", {name: [str(v) for v in column] for name, column in TEXT.items()}


FRAMES = dict(frames())


@pytest.mark.parametrize("name", FRAMES)
def test_the_same_numbers(name):
    expected = TablePreprocessor().fit(TABLE)
    found = TablePreprocessor().fit(FRAMES[name])
    np.testing.assert_array_equal(found.transform(FRAMES[name]), expected.transform(TABLE))
    assert found.n_features_in_ == len(TABLE)
    if name not in ("objects", "rows"):
        assert found.feature_names_in_.tolist() == list(TABLE)
        assert found.decisions_ == expected.decisions_
        np.testing.assert_array_equal(expected.transform(FRAMES[name]), expected.transform(TABLE))


def test_python_values():
    zone = datetime.timezone(datetime.timedelta(hours=1))
    moments = [datetime.datetime(2020, 1, 1, 1, tzinfo=zone)]
    columns, named = columns_of(
        {
            "decimal": [decimal.Decimal("1.5")],
            "date": [datetime.date(2020, 1, 1)],
            "moment": moments,
            "span": np.array([36], "m8[h]"),
            "hours": [datetime.timedelta(hours=12)],
            "mixed": [1.0],
            "unicode": np.array([" a "]),
            "truth": [True],
            5: [np.int8(3)],
        }
    )
    assert named
    assert columns["decimal"].tolist() == [1.5]
    assert columns["date"] == columns["moment"] == np.datetime64("2020-01-01")
    assert columns["span"].tolist() == [1.5]
    assert columns["hours"].tolist() == [0.5]
    assert columns["unicode"].tolist() == ["a"]
    assert columns["truth"].dtype == bool
    assert columns["5"].tolist() == [3.0]


def test_moments_are_the_same_in_every_library():
    frame = pd.DataFrame(
        {
            "naive": pd.to_datetime(["2020-01-01 12:30", None, "1969-12-31 00:00"]),
            "zone": pd.to_datetime(["2020-01-01 12:30", None, "2020-06-01 00:00"]).tz_localize(
                "Asia/Tokyo"
            ),
            "span": pd.to_timedelta([1.5, None, 3], unit="h"),
        }
    )
    day = [datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1)]
    arrow = pa.Table.from_pandas(frame).append_column("day", pa.array(day))
    expected, _ = columns_of({**frame, "day": day})
    assert expected["zone"][0] == np.datetime64("2020-01-01T03:30")
    for table in (arrow, pl.from_arrow(arrow), frame.assign(day=day), arrow.to_batches()[0]):
        found, _ = columns_of(table)
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, strict=True)


def test_marks_of_missing_values():
    marks = [None, np.nan, "", " ", "?", "NA", "N/A", "null", "none", "NaN", pd.NA, pd.NaT]
    (column,) = columns_of({"a": [*marks, "x"]})[0].values()
    assert column.tolist() == [None] * len(marks) + ["x"]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (sp.csr_array(np.eye(3)), "sparse"),
        (pd.Series([1, 2]), "data frame"),
        (pl.LazyFrame({"a": [1]}), "collect"),
        (pl.Series([1]), "data frame"),
        (pa.array([1]), "columns"),
        ({}, "at least one column"),
        ({"a": [1, 2], "b": [1]}, "equally long, got 1 values of 'b' and 2 of 'a'"),
        ({"a": np.eye(2)}, "one dimension"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), r"\['a'\] more than once"),
        ({"a": 5}, "'a' must be a list or an array, got 5"),
        ({"a": "text"}, "'a' must be a list or an array, got 'text'"),
        ("file.csv", r"'file.csv': read the file with largemargin.data.read"),
        (np.zeros(3), "Reshape your data"),
        (5, "data frame"),
        (np.zeros((3, 0)), "0 feature"),
        ({"a": []}, "0 sample"),
    ],
)
def test_what_is_no_table(X, words):
    with pytest.raises(ValueError, match=words) as error:
        TablePreprocessor().fit(X)
    assert "\n" not in str(error.value)


def test_a_list_inside_a_column():
    with pytest.raises(TypeError, match=r"got \[1, 2\]"):
        TablePreprocessor().fit({"a": [[1, 2], [3]]})


@pytest.mark.full
def test_no_library_of_frames_is_needed():
    code = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('pandas', 'polars', 'pyarrow'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from largemargin.tables import TablePreprocessor\n"
        "TablePreprocessor().fit({'a': [1, 2], 'b': ['x', 'y']})\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
