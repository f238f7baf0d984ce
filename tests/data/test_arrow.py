"""Arrow IPC files and streams, as pyarrow, pandas and polars write them, and damaged."""

import io
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc

from largemargin.data import DataError, read, stream

from .test_reading import damaged, refusal
from .writers import COMPRESSORS, examples, put

KINDS = {".arrow": ipc.new_file, ".arrows": ipc.new_stream}


def arrow_bytes(columns, new=ipc.new_file, batch=None, compression=None):
    table, buffer = pa.table(columns), io.BytesIO()
    options = ipc.IpcWriteOptions(compression=compression)
    with new(buffer, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=batch)
    return buffer.getvalue()


def example_bytes(kind=".arrow", n=23):
    X, y = examples(n)
    columns = {f"f{j}": X[:, j] for j in range(X.shape[1])} | {"label": y}
    return X, y, arrow_bytes(columns, KINDS[kind], batch=7)


@pytest.mark.parametrize("compression", list(COMPRESSORS))
@pytest.mark.parametrize("kind", list(KINDS))
def test_whole_and_in_chunks(tmp_path, kind, compression):
    X, y, content = example_bytes(kind)
    path = put(tmp_path / f"a{kind}{compression}", content)
    data = read(path)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)
    assert data.feature_names == ("f0", "f1", "f2", "f3", "f4")
    for chunk in (1, 5, 23, 1000):
        parts = list(stream(path, chunk))
        assert all(len(part.y) == chunk for part in parts[:-1])
        np.testing.assert_array_equal(np.vstack([part.X for part in parts]), X)
        np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), y)


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("kind", list(KINDS))
def test_compressed_inside_and_without_an_ending(tmp_path, kind, compression):
    columns = {"a": np.arange(50.0), "y": ["u", "v"] * 25}
    data = read(put(tmp_path / "a", arrow_bytes(columns, KINDS[kind], 8, compression)))
    assert data.X.ravel().tolist() == list(range(50))
    assert data.y.tolist() == ["u", "v"] * 25


def test_from_pandas_and_polars(tmp_path):
    columns = {"a": [1.5, 2.5], "kind": ["x", "y"], "b": [True, False]}
    pd.DataFrame(columns).to_feather(tmp_path / "pandas.feather")
    frame = pl.DataFrame(columns)
    frame.write_ipc(tmp_path / "polars.ipc")
    frame.cast({"kind": pl.Categorical}).write_ipc(tmp_path / "category.arrow")
    frame.cast({"kind": pl.Categorical}).write_ipc_stream(tmp_path / "category.arrows")
    for path in sorted(tmp_path.iterdir()):
        data = read(path, label="kind")
        assert data.feature_names == ("a", "b")
        assert data.X.tolist() == [[1.5, 1], [2.5, 0]]
        assert data.y.tolist() == ["x", "y"]


def test_dictionaries_that_change_from_batch_to_batch(tmp_path):
    parts = [["a", "b"], ["c", "a"], ["d", "c"]]
    batches = [
        pa.record_batch({"x": [1.0, 2.0], "y": pa.array(part).dictionary_encode()})
        for part in parts
    ]
    with ipc.new_stream(tmp_path / "a.arrows", batches[0].schema) as writer:
        for batch in batches:
            writer.write(batch)
    assert read(tmp_path / "a.arrows").y.tolist() == ["a", "b", "c", "a", "d", "c"]
    chunks = stream(tmp_path / "a.arrows", 5)
    assert [part.y.tolist() for part in chunks] == [["a", "b", "c", "a", "d"], ["c"]]


def test_dictionaries_of_numbers(tmp_path):
    labels = pa.array([3, 1, 3]).dictionary_encode()
    path = put(tmp_path / "a.feather", arrow_bytes({"x": [1.0, 2.0, 3.0], "y": labels}))
    assert read(path).y.tolist() == [3, 1, 3]


@pytest.mark.parametrize("format", ["arrow", "feather", "IPC"])
def test_format_is_forced(tmp_path, format):
    path = put(tmp_path / "a.dat", arrow_bytes({"a": [1.0, 2.0], "y": [0, 1]}))
    assert read(path, format=format).y.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1.0, None], "y": [0, 1]}, "row 2, column a: expected a value, saw a null"),
        ({"a": [1.0, np.nan], "y": [0, 1]}, "row 2, column a: expected a finite number, saw nan"),
        ({"a": ["u", "v"], "y": [0, 1]}, "column a: expected numbers, saw the type string"),
        ({"a": [[1], [2]], "y": [0, 1]}, "column a: expected numbers, saw the type list"),
        ({"a": [1, 2], "y": ["u", None]}, "row 2, column y: expected a value, saw a null"),
        ({"a": [1, 2], "y": [{"b": 1}, {"b": 2}]}, "column y: expected labels that are numbers"),
        ({"y": [0, 1]}, "expected features beside the label"),
        ({"a": np.empty(0), "y": np.empty(0)}, "expected at least one row"),
        ({}, "expected at least one row"),
    ],
)
@pytest.mark.parametrize("kind", list(KINDS))
def test_bad_values(tmp_path, kind, columns, message):
    path = put(tmp_path / f"a{kind}", arrow_bytes(columns, KINDS[kind]))
    with pytest.raises(DataError, match=rf"a\{kind}[:,] ?{message}"):
        read(path)


def test_a_null_among_the_values_of_a_dictionary(tmp_path):
    labels = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["u", None]))
    path = put(tmp_path / "a.arrow", arrow_bytes({"a": [1.0, 2.0], "y": labels}))
    with pytest.raises(DataError, match=r"column y: expected a value, saw a null"):
        read(path)


def test_an_index_beyond_its_dictionary(tmp_path):
    labels = pa.DictionaryArray.from_arrays(pa.array([0, 9]), pa.array(["u", "v"]), safe=False)
    path = put(tmp_path / "a.arrow", arrow_bytes({"a": [1.0, 2.0], "y": labels}))
    with pytest.raises(DataError, match=r"a\.arrow: expected a complete Arrow file, saw \d+ bytes"):
        read(path)


@pytest.mark.parametrize("content", [b"FEA1 of an old version", b"ARROW2\0\0", b"\xff\xff\xff"])
def test_wrong_magic(tmp_path, content):
    path = put(tmp_path / "a.feather", content)
    with pytest.raises(DataError, match=r"a\.feather, byte 0: expected an Arrow .*'ARROW1'.*saw b"):
        read(path)


@pytest.mark.parametrize("kind", list(KINDS))
def test_cut_off(tmp_path, kind):
    content = example_bytes(kind)[2]
    size = len(content) // 2
    path = put(tmp_path / f"a{kind}", content[:size])
    with pytest.raises(DataError, match=rf"a\{kind}: .* saw {size} bytes that are damaged or cut"):
        read(path)


@pytest.mark.parametrize("kind", list(KINDS))
def test_damage(tmp_path, kind):
    rng = np.random.default_rng(0)
    content = example_bytes(kind, 40)[2]
    path = tmp_path / f"a{kind}"
    for _ in range(100):
        path.write_bytes(damaged(content, rng))
        if (message := refusal(path)) is not None:
            assert str(tmp_path) in message
            assert "\n" not in message
            with pytest.raises(DataError):
                list(stream(path, 7))
        else:
            parts = list(stream(path, 7))
            np.testing.assert_array_equal(np.vstack([part.X for part in parts]), read(path).X)


def test_a_file_that_changes_while_it_is_read(tmp_path):
    columns = {"x": [1.0, 2.0], "z": [1.0, 2.0], "y": ["a", "b"]}
    path = put(tmp_path / "a.arrow", arrow_bytes(columns))
    chunks = stream(path, 1)
    del columns["z"]
    put(path, arrow_bytes(columns))
    with pytest.raises(DataError, match="changed while it was read"):
        list(chunks)


def test_says_what_to_install(tmp_path, monkeypatch):
    path = put(tmp_path / "a.feather", arrow_bytes({"a": [1.0], "y": [0]}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'Arrow needs .*pip install "largemargin\[parquet\]"'):
        read(path)
