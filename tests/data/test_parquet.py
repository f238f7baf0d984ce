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
