import datetime
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from largemargin.data import DataError, read, stream

from .writers import parquet_bytes, put


def test_from_pandas_and_polars(tmp_path):
    columns = {"a": [1.5, 2.5], "kind": ["x", "y"], "b": [True, False]}
    pd.DataFrame(columns, index=["p", "q"]).to_parquet(tmp_path / "pandas.parquet")
    pl.DataFrame(columns).write_parquet(tmp_path / "polars.parquet")
    for name in ("pandas", "polars"):
        data = read(tmp_path / f"{name}.parquet", label="kind")
        assert data.feature_names == ("a", "b")
        assert data.X.tolist() == [[1.5, 1], [2.5, 0]]
        assert data.y.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1, 2], [1, 2]),
        ([1.0, 2.0], [1, 2]),
        ([0.5, 2.0], ["0.5", "2.0"]),
        (["x", "y"], ["x", "y"]),
        ([True, False], ["True", "False"]),
        (pd.Categorical(["x", "y"]), ["x", "y"]),
        ([datetime.date(2020, 1, 2)] * 2, ["2020-01-02"] * 2),
    ],
)
def test_labels_of_any_type(tmp_path, labels, expected):
    pd.DataFrame({"a": [1.0, 2.0], "label": labels}).to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").y.tolist() == expected


def test_float32_is_kept(tmp_path):
    columns = {"a": np.float32([1, 2]), "b": np.int8([1, 2]), "y": [0, 1]}
    assert read(put(tmp_path / "a.parquet", parquet_bytes(columns))).X.dtype == np.float32


@pytest.mark.parametrize("chunk", [1, 3, 4, 5, 100])
def test_chunks_do_not_follow_row_groups(tmp_path, chunk):
    columns = {"a": np.arange(11.0), "y": np.arange(11)}
    path = put(tmp_path / "a.parquet", parquet_bytes(columns, row_group_size=4))
    parts = list(stream(path, chunk))
    assert all(len(part.y) == chunk for part in parts[:-1])
    assert np.concatenate([part.y for part in parts]).tolist() == list(range(11))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1.0, None], "y": [0, 1]}, "row 2, column a: expected a value, saw a null"),
        ({"a": [1.0, np.nan], "y": [0, 1]}, "row 2, column a: expected a finite number, saw nan"),
        ({"a": [1.0, np.inf], "y": [0, 1]}, "row 2, column a: expected a finite number, saw inf"),
        ({"a": ["u", "v"], "y": [0, 1]}, "column a: expected numbers, saw the type .*string"),
        ({"a": [[1], [2]], "y": [0, 1]}, "column a: expected numbers, saw the type list"),
        ({"a": [1, 2], "y": ["u", None]}, "row 2, column y: expected a value, saw a null"),
        ({"a": [1, 2], "y": [np.nan, 1]}, "row 1, column y: expected a label, saw 'nan'"),
        ({"y": [0, 1]}, "expected features beside the label"),
    ],
)
def test_bad_values(tmp_path, columns, message):
    path = put(tmp_path / "a.parquet", parquet_bytes(columns))
    with pytest.raises(DataError, match=rf"a\.parquet[:,] ?{message}"):
        read(path)


def test_no_rows(tmp_path):
    path = put(tmp_path / "a.parquet", parquet_bytes({"a": np.empty(0), "y": np.empty(0)}))
    with pytest.raises(DataError, match=r"a\.parquet: expected at least one row"):
        read(path)


def test_no_columns(tmp_path):
    pd.DataFrame(index=["p", "q"]).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet: expected at least one column"):
        read(tmp_path / "a.parquet")


def test_cut_off(tmp_path):
    whole = parquet_bytes({"a": np.arange(100.0), "y": np.arange(100)})
    path = put(tmp_path / "a.parquet", whole[:-50])
    size = len(whole) - 50
    with pytest.raises(DataError, match=rf"a\.parquet: .* saw {size} bytes that are damaged"):
        read(path)


def test_says_what_to_install(tmp_path, monkeypatch):
    path = put(tmp_path / "a.parquet", parquet_bytes({"a": [1.0], "y": [0]}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "largemargin\[parquet\]"'):
        read(path)


def test_mixed_columns(tmp_path):
    from datetime import date, datetime
    from decimal import Decimal

    import pyarrow as pa

    columns = {
        "n": [1, None, 3],
        "f": pa.array([1.5, float("nan"), None], pa.float32()),
        "money": [Decimal("1.50"), None, Decimal("2")],
        "old": [True, False, True],
        "gap": [True, None, False],
        "day": [date(2024, 1, 2), None, date(2024, 3, 4)],
        "at": [datetime(2024, 1, 2, 3, 4, 5), None, datetime(2024, 3, 4)],
        "fine": pa.array([0, None, 1], pa.timestamp("ns")),
        "job": ["clerk", "?", None],
        "code": ["01", "2", "3"],
        "town": pa.array(["Ulm", None, "Ulm"]).dictionary_encode(),
        "bytes": [b"a", None, b"c"],
        "nothing": pa.nulls(3),
        "class": ["a", "b", "a"],
    }
    path = put(tmp_path / "a.parquet", parquet_bytes(columns, row_group_size=2))
    data = read(path, mixed=True)
    found = {name: column.tolist() for name, column in data.X.columns.items()}
    nan = pytest.approx(float("nan"), nan_ok=True)
    assert found == {
        "n": [1, nan, 3],
        "f": [1.5, nan, nan],
        "money": [1.5, nan, 2],
        "old": [True, False, True],
        "gap": ["True", None, "False"],
        "day": ["2024-01-02", None, "2024-03-04"],
        "at": ["2024-01-02T03:04:05", None, "2024-03-04T00:00:00"],
        "fine": ["1970-01-01T00:00:00", None, "1970-01-01T00:00:00"],
        "job": ["clerk", None, None],
        "code": ["01", "2", "3"],
        "town": ["Ulm", None, "Ulm"],
        "bytes": ["a", None, "c"],
        "nothing": [nan] * 3,
    }
    assert data.y.tolist() == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [[1], [2]], "class": [0, 1]}, "column a: expected numbers, truth values or text"),
        ({"a": ["x", "y"], "b": [1.0, float("inf")], "class": [0, 1]}, "row 2, column b: .*finite"),
        ({"a": [b"\xff", b"x"], "class": [0, 1]}, "column a: expected text in UTF-8"),
        ({"a": ["x", "y"], "class": [0, None]}, "column class: 1 of 2 rows have no label"),
        ({"a": ["x", "y"], "class": ["u", None]}, "column class: 1 of 2 rows have no label"),
        ({"a": ["x"] * 30, "b": [i / 7 for i in range(30)]}, "the last one, 'b', has 30 different"),
    ],
)
def test_mixed_columns_that_are_refused(tmp_path, columns, message):
    with pytest.raises(DataError, match=message):
        read(put(tmp_path / "a.parquet", parquet_bytes(columns)), mixed=True)
