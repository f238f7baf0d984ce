import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import largemargin
from largemargin.data import DataError, read, stream

from .writers import COMPRESSORS, FORMATS, examples, put, write


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize("compression", list(COMPRESSORS))
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_and_compression(tmp_path, format, compression):
    X, y = examples()
    path = write(tmp_path, format, compression, X, y)
    data = read(path)
    np.testing.assert_array_equal(dense(data.X), X)
    np.testing.assert_array_equal(data.y, y)
    assert data.X.dtype == np.float64
    assert data.y.dtype == np.int64
    assert data.name == path.name
    assert sp.issparse(data.X) == (format in ("svmlight", "sparse-npz"))
    for chunk in (1, 5, 23, 1000):
        parts = list(stream(path, chunk))
        assert [part.X.shape for part in parts[:-1]] == [(chunk, 5)] * (len(parts) - 1)
        np.testing.assert_array_equal(np.vstack([dense(part.X) for part in parts]), X)
        np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), y)


@pytest.mark.parametrize("format", ["svmlight", "csv", "parquet", "npz"])
def test_a_late_word_makes_all_labels_words(tmp_path, format):
    X, _ = examples(9)
    y = np.array(["1"] * 8 + ["cat"])
    path = write(tmp_path, format, "", X, y)
    assert read(path).y.tolist() == y.tolist()
    assert [part.y.tolist() for part in stream(path, 5)] == [["1"] * 5, ["1"] * 3 + ["cat"]]
    with pytest.raises(DataError, match="expected integer labels, saw 'cat'"):
        list(stream(path, 5, labels="int"))


def test_more_rows_than_a_block(tmp_path):
    X, y = examples(10_000, 3)
    for format in ("svmlight", "csv"):
        data = read(write(tmp_path, format, "", X, y))
        np.testing.assert_array_equal(dense(data.X), X)
        np.testing.assert_array_equal(data.y, y)


@pytest.mark.parametrize("format", ["csv", "parquet", "npz", "idx"])
def test_width_is_checked(tmp_path, format):
    path = write(tmp_path, format, "", *examples())
    assert read(path, n_features=5).X.shape[1] == 5
    with pytest.raises(DataError, match=r"a.*: expected n_features=7 features, saw 5"):
        read(path, n_features=7)


def damaged(content, rng):
    """The same bytes with some lost, changed, added or cut off."""
    at = int(rng.integers(len(content)))
    stop = at + int(rng.integers(1, 20))
    return [
        content[:at],
        content[:at] + rng.bytes(1) + content[at + 1 :],
        content[:at] + content[stop:],
        content[:at] + rng.bytes(5) + content[at:],
    ][rng.integers(4)]


def refusal(path):
    """What reading a file is refused with, or None."""
    try:
        read(path)
    except DataError as error:
        return str(error)
    return None


@pytest.mark.parametrize("compression", ["", ".gz"])
@pytest.mark.parametrize("format", FORMATS)
def test_damage_is_named_or_harmless(tmp_path, format, compression):
    rng = np.random.default_rng(0)
    path = write(tmp_path, format, compression, *examples(40))
    content = path.read_bytes()
    for _ in range(40):
        path.write_bytes(damaged(content, rng))
        if (message := refusal(path)) is not None:
            assert str(tmp_path) in message
            assert "\n" not in message
            with pytest.raises(DataError):
                list(stream(path, 7))
        else:
            X, y = read(path)
            parts = list(stream(path, 7))
            np.testing.assert_array_equal(np.vstack([dense(part.X) for part in parts]), dense(X))
            np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), y)


def test_stream_gives_damage_when_it_is_reached(tmp_path):
    path = put(tmp_path / "a.csv", "1,0\n2,1\nx,1\n")
    chunks = stream(path, 2)
    assert next(chunks).X.tolist() == [[1], [2]]
    with pytest.raises(DataError, match="line 3"):
        next(chunks)


def test_stream_complains_before_the_first_chunk(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        stream(tmp_path / "nowhere.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chunk": 0}, "chunk must be at least 1, got 0"),
        ({"labels": "float"}, "labels must be 'int', 'str' or None, got 'float'"),
        ({"n_features": 0}, "n_features must be at least 1, got 0"),
        ({"label": True}, "label must be .* got True"),
    ],
)
def test_wrong_options(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        stream(put(tmp_path / "a.csv", "1,0\n"), **options)


def test_import_is_cheap():
    # The package around it is stood in for, since it is not what is looked at here.
    code = (
        "import sys, types; package = types.ModuleType('largemargin'); "
        f"package.__path__ = {list(largemargin.__path__)!r}; sys.modules['largemargin'] = package; "
        "import largemargin.data; print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "largemargin.data" in loaded
    assert not {"pyarrow", "pandas", "sklearn"} & loaded
