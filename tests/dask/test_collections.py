"""Stretches hold the rows that were given, however they were partitioned."""

import os
import signal

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from dask import delayed
from dask.delayed import Delayed
from distributed import Client, Future, wait

from largemargin.dask.collections import (
    STRETCH,
    checked,
    collect,
    computed,
    gather,
    outline,
    usable,
)  # fmt: skip

from .conftest import wait_for_all

pytestmark = pytest.mark.cluster

N, WIDTH = 4 * STRETCH + 1500, 4
NAMES = tuple("abcd")
LENGTHS = {
    "dividing": [2 * STRETCH, 2 * STRETCH, 1500],
    "not dividing": [1000] * 9 + [N - 9000],
    "one giant": [N],
    "empty ones": [0, 5000, 0, 0, N - 5000, 0],
    "lopsided": [1, N - 3, 2],
}


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, WIDTH))
    X[rng.random(X.shape) < 0.5] = 0
    return X


def cut(X, lengths):
    ends = np.cumsum(lengths)
    return [X[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def frame(part):
    return pd.DataFrame(part, columns=NAMES)


def frames(X, lengths):
    return dd.from_delayed([delayed(frame)(p) for p in cut(X, lengths)], meta=frame(X[:0]))


def array(X, lengths, columns=WIDTH):
    return da.from_array(X, chunks=(tuple(lengths), columns))


def unscattered(X, lengths, make):
    return [delayed(make)(part) for part in cut(X, lengths)]


KINDS = {
    "array": array,
    "columns": lambda X, lengths: array(X, lengths, 3),
    "unknown": lambda X, lengths: frames(X, lengths).to_dask_array(),
    "csr blocks": lambda X, lengths: array(X, lengths).map_blocks(sp.csr_matrix),
    "csr columns": lambda X, lengths: array(X, lengths, 3).map_blocks(sp.csr_array),
    "frame": frames,
    "delayed arrays": lambda X, lengths: unscattered(X, lengths, np.array),
    "delayed csr": lambda X, lengths: unscattered(X, lengths, sp.csr_matrix),
    "delayed coo": lambda X, lengths: unscattered(X, lengths, sp.coo_array),
    "delayed pandas": lambda X, lengths: tuple(unscattered(X, lengths, frame)),
    "delayed polars": lambda X, lengths: unscattered(
        X, lengths, lambda part: pl.from_numpy(part, schema=NAMES, orient="row")
    ),
}
PLAIN = {
    "array": np.asarray,
    "columns first": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "csr": sp.csr_matrix,
    "csc": sp.csc_array,
    "pandas": frame,
    "polars": lambda X: pl.from_numpy(X, schema=NAMES, orient="row"),
}


def check_stretches(found, X, stretches):
    """The twin: rows k STRETCH to (k + 1) STRETCH, bit for bit, in the promised form."""
    assert (found.n, found.width) == X.shape
    assert len(stretches) == len(found.stretches) == -(-len(X) // STRETCH)
    for k, rows in enumerate(stretches):
        if found.sparse:
            assert isinstance(rows, sp.csr_array)
            assert rows.indices.dtype == rows.indptr.dtype == np.int32
            again = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)
            assert again.has_canonical_format
            values = rows.toarray()
        else:
            assert type(rows) is np.ndarray
            assert rows.flags.c_contiguous
            values = rows
        assert rows.dtype == found.dtype
        np.testing.assert_array_equal(values, X[k * STRETCH : (k + 1) * STRETCH])


@pytest.mark.parametrize(
    ("kind", "lengths"),
    [(k, n) for i, k in enumerate(KINDS) for j, n in enumerate(LENGTHS) if (i + j) % 2 == 0],
)
def test_stretches_of_collections(client, X, kind, lengths):
    found = collect(KINDS[kind](X, LENGTHS[lengths]), client)
    assert all(isinstance(rows, Delayed) for rows in found.stretches)
    assert found.sparse == ("csr" in kind or "coo" in kind)
    assert found.names == (NAMES if kind.split()[-1] in ("frame", "pandas", "polars") else None)
    assert found.dtype is np.float64
    check_stretches(found, X, computed(found.stretches, client))


@pytest.mark.parametrize("kind", PLAIN)
def test_stretches_of_plain_data_are_slices(X, kind):
    found = collect(PLAIN[kind](X), None)
    assert found.sparse == (kind in ("csr", "csc"))
    assert found.names == (NAMES if kind in ("pandas", "polars") else None)
    check_stretches(found, X, found.stretches)


def test_futures_are_parts(client, X):
    parts = client.scatter([X[:5000], X[5000:]])
    assert isinstance(parts[0], Future)
    found = collect(parts, client)
    check_stretches(found, X, computed(found.stretches, client))
    alone = collect(delayed(X), client)
    check_stretches(alone, X, computed(alone.stretches, client))


def test_without_a_client_dask_computes_as_it_does(X, monkeypatch):
    monkeypatch.setattr("largemargin.dask.collections.get_client", no_client)
    found = collect(unscattered(X[:5000], [2000, 3000], np.array), None)
    check_stretches(found, X[:5000], computed(found.stretches, None))


def no_client():
    raise ValueError("no client")


@pytest.mark.parametrize("given", ["int64", "uint8", "bool", "float16", "float32", "object"])
def test_types_of_numbers(client, given):
    X = np.arange(12).reshape(4, 3).astype(given)
    expected = np.float32 if given == "float32" else np.float64
    several = [delayed(X[:1]), delayed(X[1:])]
    frames = [] if given == "object" else [dd.from_pandas(pd.DataFrame(X))]  # Dask makes it text
    for data in (X, da.from_array(X, chunks=(3, 2)), several, *frames):
        found = collect(data, client)
        assert found.dtype is expected
        rows = found.stretches[0]
        rows = computed([rows], client)[0] if isinstance(rows, Delayed) else rows
        assert rows.dtype == expected
        np.testing.assert_array_equal(rows, X.astype(expected))


def test_one_part_of_float64_makes_all_float64():
    single = outline(np.zeros((2, 2), np.float32))
    assert single.dtype is np.float32
    assert outline(pd.DataFrame({"a": np.zeros(2, np.float32), "b": [1, 2]})).dtype is np.float64
    assert outline(pl.DataFrame({"a": [1.0]}, schema={"a": pl.Float32})).dtype is np.float32


def test_numbers_of_frames_that_are_not_numpys():
    pandas = pd.DataFrame({
        "a": pd.array([1, 2], "Int64"), "b": pd.array([True, False], "boolean"),
        "c": pd.Categorical([3, 4]), "d": pd.array([0.5, 1.5], "float[pyarrow]"),
    })  # fmt: skip
    polars = pl.DataFrame({"a": [1, 2], "b": [True, False], "c": [3, 4], "d": [0.5, 1.5]})
    for rows in (pandas, polars):
        np.testing.assert_array_equal(checked(rows, 4, 0), [[1, 1, 3, 0.5], [2, 0, 4, 1.5]])


def test_a_sparse_part_is_not_changed():
    X = sp.csr_matrix(([1.0, 2.0, 3.0], [1, 0, 1], [0, 3]), shape=(1, 2))
    rows = checked(X, 2, 0, sparse=True)
    np.testing.assert_array_equal(rows.toarray(), [[2.0, 4.0]])
    assert rows.nnz == 2
    assert X.nnz == 3
    assert X.indices.tolist() == [1, 0, 1]


def test_a_cut_does_not_keep_the_part_in_memory(X):
    rows = collect(X, None).stretches
    assert not any(np.shares_memory(part, X) for part in rows)
    whole = X[:STRETCH]
    assert collect(whole, None).stretches[0] is whole


def test_nothing_of_the_data_comes_to_the_client(client, X, monkeypatch):
    """What is computed while collecting is a few bytes a part, and nothing if lengths are known."""
    seen = []

    def watched(values, client):
        seen.extend(computed(values, client))
        return seen

    monkeypatch.setattr("largemargin.dask.collections.computed", watched)
    collect(array(X, LENGTHS["not dividing"]), client)
    assert seen == []
    collect(frames(X, LENGTHS["not dividing"]), client)
    assert [part.rows for part in seen] == LENGTHS["not dividing"]
    assert {type(part).__name__ for part in seen} == {"Outline"}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"a": [1.0, np.nan], "age": [1, 2]}, r"row 11 of X has NaN in column 0 \('a'\): impute"),
        ({"a": [1.0, 2], "b": [np.inf, 2]}, r"row 10 of X has inf in column 1 \('b'\): replace"),
        ({"a": [1, 2], "b": [3, None]}, r"row 11 of X has NaN in column 1 \('b'\)"),
        ({"a": [1, 2], "b": ["Oslo", "Bern"]}, r"column 1 \('b'\) of X holds 'Oslo' in row 10"),
    ],
)  # fmt: skip
def test_sentences_about_frames(data, sentence):
    for make in (pd.DataFrame, pl.DataFrame):
        with pytest.raises(ValueError, match=sentence):
            checked(make(data), 2, 10)


@pytest.mark.parametrize(
    ("block", "failure", "sentence"),
    [
        (np.zeros((2, 3)), ValueError, r"from row 10 on have shape \(2, 3\), where 2 columns"),
        (np.zeros(2), ValueError, r"from row 10 on have shape \(2,\), where 2 columns"),
        ([[1, 2], [3, -np.inf]], ValueError, "row 11 of X has -inf in column 1: replace"),
        (np.array([["1", "2"]]), ValueError, "column 0 of X holds .*'1'.* in row 10"),
        (np.array([[1.0, {}]], dtype=object), TypeError, "column 1 of X holds {} in row 10"),
        (np.array([[1.0, None]], dtype=object), ValueError, "row 10 of X has NaN in column 1"),
        (np.zeros((1, 2), "datetime64[s]"), ValueError, "column 0 of X holds .* in row 10"),
        (np.zeros((1, 2), complex), ValueError, "Complex data not supported"),
        (sp.csr_array([[0, 1.0]]), ValueError, "are sparse, and the collection says that .* meta="),
    ],
)  # fmt: skip
def test_sentences_about_arrays(block, failure, sentence):
    with pytest.raises(failure, match=sentence):
        checked(block, 2, 10)


def test_sentences_about_sparse_blocks():
    X = sp.csr_array([[0, 1.0, 0], [0, 0, 0], [2.0, 0, np.nan]])
    with pytest.raises(ValueError, match="row 9 of X has NaN in column 2: impute or drop it"):
        checked(X, 3, 7, sparse=True)
    X.data[:] = 1
    X.indices[0] = 9
    with pytest.raises(ValueError, match="column index 9, but 3 columns"):
        checked(X, 3, 7, sparse=True)


def test_a_bad_value_is_found_on_its_worker(client, X):
    bad = X.copy()
    bad[N - 7, 3] = np.nan
    for kind in ("array", "columns", "frame", "delayed csr"):
        found = collect(KINDS[kind](bad, LENGTHS["not dividing"]), client)
        with pytest.raises(ValueError, match=f"row {N - 7} of X has NaN in column 3"):
            computed(found.stretches, client)
    with pytest.raises(ValueError, match=f"row {N - 7} of X has NaN in column 3"):
        collect(bad, None)


def refused_collections():
    zeros = delayed(np.zeros)
    named = delayed(pd.DataFrame)
    wrong = da.from_delayed(zeros((3, 2)), shape=(4, 2), dtype=float)
    return [
        ([zeros((2, 3)), zeros((0, 9)), zeros((2, 4))], "part 2 of X has 4 columns, and part 0"),
        ([named({"a": [1]}), named({"b": [1]})], r"part 1 of X has columns named \('b',\)"),
        ([named({"a": [1], 3: [1]})], "part 0 of X has names of columns that are text and one"),
        ([zeros((2, 3)), zeros(4)], r"part 1 of X has shape \(4,\), where rows and columns"),
        ([zeros((0, 3)), zeros(0)], r"X has no rows, that is 0 sample\(s\) in 2 part\(s\)"),
        (np.zeros((0, 3)), "X has no rows"),
        (np.zeros((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (np.zeros(3), r"X has shape \(3,\).*Reshape your data"),
        (da.zeros(3), r"X has shape \(3,\): give an array of rows and columns"),
        (dd.from_pandas(pd.Series([1.0])), "X is a Series: give a Dask array or data frame"),
        (wrong, "was said to have 4 rows, from row 0 on, and has 3: give the collection its true"),
    ]  # fmt: skip


@pytest.mark.parametrize("case", range(11))
def test_what_is_refused(client, case):
    X, sentence = refused_collections()[case]
    with pytest.raises((ValueError, TypeError), match=sentence):
        computed(collect(X, client).stretches, client)


@pytest.mark.parametrize("labels", [[3, 1, 2, 1], ["a", "bc", "a", "b"], [0.5, 1.0, 2.0, 0.25]])
def test_gathered_values(client, labels):
    y = np.array(labels)
    column = pd.Series(labels)
    given = [
        y, labels, column, pl.Series(labels), y[:, None],
        dd.from_pandas(column, npartitions=2),
        dd.from_pandas(column.to_frame("y"), npartitions=2),
        dd.from_pandas(column.astype("category"), npartitions=2),
        [delayed(y[:1]), delayed(np.empty(0)), delayed(column[1:3]), delayed(labels[3:])],
        client.scatter([y[:1], y[1:]]),
    ]  # fmt: skip
    if y.dtype.kind != "U":
        given += [da.from_array(y, chunks=3), da.from_array(y[:, None], chunks=(3, 1))]
    for values in given:
        found = gather(values, 4, "y", client)
        assert type(found) is np.ndarray
        assert found.tolist() == labels


def test_gathered_values_of_a_wrong_length_or_type(client):
    series = dd.from_pandas(pd.Series([1, 2, 3]), npartitions=2)
    for values in ([1, 2, 3], da.zeros(3), series, [delayed([1]), delayed([1, 2])]):
        with pytest.raises(ValueError, match="y has 3 values, and X has 4 rows: give one value"):
            gather(values, 4, "y", client)
    with pytest.raises(ValueError, match=r"weights has shape \(2, 2\): give one value for each"):
        gather([delayed(np.ones)((2, 2))], 4, "weights", client)
    with pytest.raises(ValueError, match="several types"):
        gather([delayed(np.array([1, 2])), delayed(np.array(["a", "b"]))], 4, "y", client)


def test_which_client_is_used(client):
    assert usable(client) is client
    assert usable(None) is client
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client or None, got 'tcp"):
        usable("tcp://127.0.0.1:8786")
    with Client(client.scheduler.address, set_as_default=False) as other:
        assert usable(other) is other
    with pytest.raises(ValueError, match="the client is closed: make a new Client"):
        usable(other)


def test_asynchronous_clients_are_refused(client):
    async def ask():
        address = client.scheduler.address
        async with Client(address, asynchronous=True, set_as_default=False) as other:
            with pytest.raises(ValueError, match="the client is asynchronous, and a fit waits"):
                usable(other)

    client.sync(ask)


def test_collecting_inside_a_task_does_not_wait_for_its_own_thread(client):
    def inside():
        found = collect([delayed(np.ones)((3, 2)), delayed(np.ones)((2, 2))], None)
        return found.n, computed(found.stretches, None)[0].sum()

    tasks = [client.submit(inside, pure=False) for _ in range(4)]  # more than there are threads
    assert client.gather(tasks) == [(5, 10.0)] * 4


def test_a_stretch_is_made_again_after_a_worker_died(client, X):
    found = collect(unscattered(X, LENGTHS["not dividing"], np.array), client)
    held = client.compute(found.stretches)
    wait(held)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    check_stretches(found, X, client.gather(held))
    wait_for_all(client, 2)
