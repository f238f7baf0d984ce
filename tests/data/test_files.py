import re

import numpy as np
import pytest

from largemargin.data import DataError, read
from largemargin.data.files import Source

from .writers import COMPRESSORS, FORMATS, examples, put, write


@pytest.mark.parametrize("compression", list(COMPRESSORS))
def test_compression_is_told_by_content(tmp_path, compression):
    path = tmp_path / "renamed.dat"
    path.write_bytes(COMPRESSORS[compression](b"1,2,0\n3,4,1\n"))
    assert read(path).X.tolist() == [[1, 2], [3, 4]]


def test_gz_that_is_already_unpacked(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(b"1,2,0\n3,4,1\n")
    assert read(path).y.tolist() == [0, 1]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("compression", [".gz", ".bz2", ".xz"])
def test_cut_off_compression(tmp_path, format, compression):
    rng = np.random.default_rng(0)
    X, y = rng.integers(1, 1000, size=(3000, 5)).astype(float), np.arange(3000)
    path = write(tmp_path, format, compression, X, y)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    message = rf"{path.name}: the \w+ data ends before .* after byte \d+ .*copy or download"
    with pytest.raises(DataError, match=message):
        read(path)


@pytest.mark.parametrize("compression", [".gz", ".xz"])
def test_damaged_compression(tmp_path, compression):
    X, y = examples(2000)
    path = write(tmp_path, "csv", compression, X, y)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 40] = bytes(40)
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{re.escape(path.name)}: the \w+ data .* byte \d+"):
        read(path)


def test_missing_file(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.csv: there is no such file; check the path"):
        read(tmp_path / "nowhere.csv")


def test_directory(tmp_path):
    with pytest.raises(DataError, match="is a directory; give the path of a file"):
        read(tmp_path)


@pytest.mark.parametrize("compression", list(COMPRESSORS))
@pytest.mark.parametrize("name", ["a.csv", "a.svm", "a.npz", "a.parquet", "a-images-idx3-ubyte"])
def test_empty_file(tmp_path, name, compression):
    path = put(tmp_path / f"{name}{compression}", b"")
    with pytest.raises(DataError, match=rf"{re.escape(path.name)}: the file is empty, at byte 0"):
        read(path)


def test_seekable_copy_of_a_compressed_file(tmp_path):
    source = Source(put(tmp_path / "a.gz", b"0123456789"))
    with source.open_seekable() as stream:
        stream.seek(-3, 2)
        assert stream.read() == b"789"
